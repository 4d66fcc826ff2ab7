// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RopeConfig.h"
#include "ConfigFields.h"
#include "Families.h"
#include "StrictJSON.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tp;

/// Base of the rotary frequencies if none is given.
static constexpr double defaultTheta = 10000;

namespace {

/// The contents of "rope_parameters" or "rope_scaling".
struct Rope {
  std::string type = "default";
  std::optional<double> theta;
  std::optional<Llama3RopeScaling> scaling;
  std::optional<double> part;
};

class RopeReader {
public:
  RopeReader(const Family &family, Fields &fields, Findings &findings,
             DecoderConfig &config)
      : family(family), fields(fields), findings(findings), config(config) {}

  double read();

private:
  std::optional<Rope> readObject(StringRef key);
  std::string readKind(Fields &inner);
  Llama3RopeScaling readLlama3(Fields &rope);
  Llama3RopeScaling readLinear(Fields &rope);
  int64_t readOriginalContext(Fields &rope);
  std::optional<double> readPartial(Fields &holder);
  void mergeThetas(const std::optional<Rope> &current,
                   const std::optional<Rope> &old);
  double mergeParts(const std::optional<Rope> &current,
                    const std::optional<Rope> &old);

  const Family &family;
  Fields &fields;
  Findings &findings;
  DecoderConfig &config;
};

} // namespace

/// The pretraining length is in the rope object or, in some checkpoints, at
/// the top.
int64_t RopeReader::readOriginalContext(Fields &rope) {
  StringRef key = "original_max_position_embeddings";
  bool inside = rope.find(key), outside = fields.findSet(key);
  if (!inside && !outside)
    findings.problem("", "no " + rope.path(key) +
                             ": rope type \"llama3\" needs it");
  int64_t context = (inside ? rope : fields).integer(key, 8192, maxSize);
  if (inside && outside && fields.integer(key, context, maxSize) != context)
    rope.problemAt(key, rope.path(key) + " is " + printed(*rope.find(key)) +
                            " and " + fields.path(key) + " is " +
                            printed(*fields.find(key)) + ": keep one of them");
  return context;
}

Llama3RopeScaling RopeReader::readLlama3(Fields &rope) {
  for (StringRef key : {"factor", "low_freq_factor", "high_freq_factor"})
    if (!rope.find(key))
      findings.problem("", "no " + rope.path(key) +
                               ": rope type \"llama3\" needs it");
  Llama3RopeScaling scaling;
  scaling.factor = rope.positive("factor", 1);
  scaling.lowFrequency = rope.positive("low_freq_factor", 1);
  scaling.highFrequency = rope.positive("high_freq_factor", 4);
  scaling.originalContext = readOriginalContext(rope);
  if (scaling.factor < 1)
    rope.wrong("factor", "expected a number of at least 1");
  // With a wrong field this would compare defaults.
  if (!findings.hasProblems() && scaling.highFrequency <= scaling.lowFrequency)
    rope.problemAt("low_freq_factor",
                   rope.path("low_freq_factor") + " is " +
                       printed(scaling.lowFrequency) + " and " +
                       rope.path("high_freq_factor") + " is " +
                       printed(scaling.highFrequency) +
                       ": expected the first below the second");
  return scaling;
}

/// All frequencies are divided by the factor. Wavelengths are 2 pi and more, so
/// that all of them are long for a context of one position.
Llama3RopeScaling RopeReader::readLinear(Fields &rope) {
  if (!rope.find("factor"))
    findings.problem("", "no " + rope.path("factor") +
                             ": rope type \"linear\" needs it");
  return {.factor = rope.positive("factor", 1),
          .lowFrequency = 1,
          .highFrequency = 2,
          .originalContext = 1};
}

std::string RopeReader::readKind(Fields &inner) {
  std::string expected =
      "not a supported rope type: " + quoted(family.name) + " takes " +
      join(map_range(family.ropeTypes, [](StringRef t) { return quoted(t); }),
           ", ");
  std::optional<StringRef> type = inner.text("rope_type", expected);
  std::optional<StringRef> oldType = inner.text("type", expected);
  if (type && oldType && *type != *oldType)
    inner.problemAt("rope_type", inner.path("rope_type") + " is " +
                                     quoted(*type) + " and " +
                                     inner.path("type") + " is " +
                                     quoted(*oldType) + ": keep one of them");
  std::string kind = type.value_or(oldType.value_or("default")).str();
  if (!is_contained(family.ropeTypes, kind))
    inner.wrong(type ? "rope_type" : "type", expected);
  return kind;
}

std::optional<double> RopeReader::readPartial(Fields &holder) {
  StringRef key = "partial_rotary_factor";
  if (!holder.findSet(key))
    return std::nullopt;
  double part = holder.positive(key, 1);
  if (part > 1)
    holder.wrong(key, "expected a number of at most 1");
  else if (part != 1 && !family.partialRotary)
    holder.wrong(key, "the models of " + quoted(family.name) +
                          " rotate whole heads: expected 1");
  return part;
}

std::optional<Rope> RopeReader::readObject(StringRef key) {
  const json::Value *value = fields.findSet(key);
  if (!value)
    return std::nullopt;
  const json::Object *object = value->getAsObject();
  if (!object) {
    fields.wrong(key, "expected an object or null");
    return std::nullopt;
  }
  if (object->empty())
    return std::nullopt;

  Fields inner(*object, key, findings);
  Rope rope;
  rope.type = readKind(inner);
  if (rope.type == "llama3")
    rope.scaling = readLlama3(inner);
  if (rope.type == "linear")
    rope.scaling = readLinear(inner);
  // Up to the positions that the model has, which no sequence may exceed, the
  // factor has no effect.
  if (rope.type == "dynamic" && inner.findSet("factor"))
    inner.positive("factor", 1);
  if (inner.find("rope_theta"))
    rope.theta = inner.positive("rope_theta", 0);
  rope.part = readPartial(inner);
  for (StringRef layerType : {"full_attention", "sliding_attention"})
    if (inner.findSet(layerType))
      inner.wrong(layerType, "rotary parameters that depend on the layer are "
                             "not supported");
  inner.warnOfUnknown({}, "rope type " + quoted(rope.type));
  return rope;
}

/// The base of the frequencies may be given in three places.
void RopeReader::mergeThetas(const std::optional<Rope> &current,
                             const std::optional<Rope> &old) {
  std::optional<double> theta;
  std::string where;
  auto merge = [&](std::optional<double> value, StringRef path) {
    // 0 stands for a value that has been reported.
    if (!value || *value == 0)
      return;
    if (theta && *theta != *value)
      findings.problem("rope_theta",
                       where + " is " + printed(*theta) + " and " + path +
                           " is " + printed(*value) + ": keep one of them");
    theta = value;
    where = path.str();
  };
  if (current)
    merge(current->theta, "\"rope_parameters.rope_theta\"");
  if (old)
    merge(old->theta, "\"rope_scaling.rope_theta\"");
  if (fields.find("rope_theta"))
    merge(fields.positive("rope_theta", 0), "\"rope_theta\"");
  config.ropeTheta = theta.value_or(defaultTheta);
  // Then the wavelengths are 2 pi and more.
  if (config.ropeTheta < 1)
    findings.problem("rope_theta", (where.empty() ? "\"rope_theta\"" : where) +
                                       " is " + printed(config.ropeTheta) +
                                       ": expected a number of at least 1");

  // transformers reads "rope_scaling" alone if both are there, and takes the
  // default where it says nothing.
  if (current && old && current->theta && !old->theta &&
      !fields.find("rope_theta") && *current->theta != defaultTheta)
    findings.problem("rope_parameters.rope_theta",
                     "\"rope_parameters.rope_theta\" is " +
                         printed(*current->theta) +
                         " and \"rope_scaling\" leaves it at " +
                         printed(defaultTheta) + ": keep one of them");
}

/// The part that is rotated may be given in three places, too.
double RopeReader::mergeParts(const std::optional<Rope> &current,
                              const std::optional<Rope> &old) {
  std::optional<double> part;
  for (std::optional<double> given :
       {readPartial(fields), current ? current->part : std::nullopt,
        old ? old->part : std::nullopt}) {
    if (part && given && *part != *given)
      findings.problem("partial_rotary_factor",
                       "\"partial_rotary_factor\" is " + printed(*part) +
                           " and " + printed(*given) + ": keep one of them");
    if (given)
      part = given;
  }
  return part.value_or(1);
}

double RopeReader::read() {
  // Known to Phi-3, and without effect unless the rope type is "longrope".
  if (family.partialRotary)
    fields.find("original_max_position_embeddings");
  std::optional<Rope> current = readObject("rope_parameters");
  std::optional<Rope> old = readObject("rope_scaling");
  if (current && old && current->type != old->type)
    findings.problem("rope_scaling",
                     "\"rope_parameters\" has type " + quoted(current->type) +
                         " and \"rope_scaling\" has type " + quoted(old->type) +
                         ": keep one of them");
  else if (current && old && current->scaling != old->scaling)
    findings.problem(
        "rope_scaling",
        "\"rope_parameters\" is " + printed(*fields.find("rope_parameters")) +
            " and \"rope_scaling\" is " +
            printed(*fields.find("rope_scaling")) + ": keep one of them");
  mergeThetas(current, old);

  if (current || old)
    config.ropeScaling = (current ? current : old)->scaling;
  if (config.ropeScaling &&
      config.ropeScaling->originalContext >= config.maxPositions)
    findings.warning("", "\"original_max_position_embeddings\" " +
                             Twine(config.ropeScaling->originalContext) +
                             " is not below \"max_position_embeddings\" " +
                             Twine(config.maxPositions));
  return mergeParts(current, old);
}

double tp::readRope(const Family &family, Fields &fields, Findings &findings,
                    DecoderConfig &config) {
  return RopeReader(family, fields, findings, config).read();
}

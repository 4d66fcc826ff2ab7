// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RopeConfig.h"
#include "ConfigFields.h"
#include "StrictJSON.h"

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
};

class RopeReader {
public:
  RopeReader(Fields &fields, Findings &findings, DecoderConfig &config)
      : fields(fields), findings(findings), config(config) {}

  void read();

private:
  std::optional<Rope> readObject(StringRef key);
  std::string readKind(Fields &inner);
  Llama3RopeScaling readLlama3(Fields &rope);
  int64_t readOriginalContext(Fields &rope);
  void refusePartial(Fields &holder);
  void mergeThetas(const std::optional<Rope> &current,
                   const std::optional<Rope> &old);

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
    findings.problem("no " + rope.path(key) +
                     ": rope type \"llama3\" needs it");
  int64_t context = (inside ? rope : fields).integer(key, 8192, maxSize);
  if (inside && outside && fields.integer(key, context, maxSize) != context)
    findings.problem(rope.path(key) + " is " + printed(*rope.find(key)) +
                     " and " + fields.path(key) + " is " +
                     printed(*fields.find(key)) + ": keep one of them");
  return context;
}

Llama3RopeScaling RopeReader::readLlama3(Fields &rope) {
  for (StringRef key : {"factor", "low_freq_factor", "high_freq_factor"})
    if (!rope.find(key))
      findings.problem("no " + rope.path(key) +
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
    findings.problem(rope.path("low_freq_factor") + " is " +
                     printed(scaling.lowFrequency) + " and " +
                     rope.path("high_freq_factor") + " is " +
                     printed(scaling.highFrequency) +
                     ": expected the first below the second");
  return scaling;
}

std::string RopeReader::readKind(Fields &inner) {
  StringRef expected =
      "not a supported rope type: expected \"default\" or \"llama3\"";
  std::optional<StringRef> type = inner.text("rope_type", expected);
  std::optional<StringRef> oldType = inner.text("type", expected);
  if (type && oldType && *type != *oldType)
    findings.problem(inner.path("rope_type") + " is " + quoted(*type) +
                     " and " + inner.path("type") + " is " + quoted(*oldType) +
                     ": keep one of them");
  std::string kind = type.value_or(oldType.value_or("default")).str();
  if (kind != "default" && kind != "llama3")
    inner.wrong(type ? "rope_type" : "type", expected);
  return kind;
}

void RopeReader::refusePartial(Fields &holder) {
  StringRef key = "partial_rotary_factor";
  if (holder.findSet(key) && holder.positive(key, 1) != 1)
    holder.wrong(key,
                 "rotating a part of each head is not supported: expected 1");
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
  if (inner.find("rope_theta"))
    rope.theta = inner.positive("rope_theta", 0);
  refusePartial(inner);
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
      findings.problem(where + " is " + printed(*theta) + " and " + path +
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

  // transformers reads "rope_scaling" alone if both are there, and takes the
  // default where it says nothing.
  if (current && old && current->theta && !old->theta &&
      !fields.find("rope_theta") && *current->theta != defaultTheta)
    findings.problem("\"rope_parameters.rope_theta\" is " +
                     printed(*current->theta) +
                     " and \"rope_scaling\" leaves it at " +
                     printed(defaultTheta) + ": keep one of them");
}

void RopeReader::read() {
  std::optional<Rope> current = readObject("rope_parameters");
  std::optional<Rope> old = readObject("rope_scaling");
  if (current && old && current->type != old->type)
    findings.problem("\"rope_parameters\" has type " + quoted(current->type) +
                     " and \"rope_scaling\" has type " + quoted(old->type) +
                     ": keep one of them");
  else if (current && old && current->scaling != old->scaling)
    findings.problem(
        "\"rope_parameters\" is " + printed(*fields.find("rope_parameters")) +
        " and \"rope_scaling\" is " + printed(*fields.find("rope_scaling")) +
        ": keep one of them");
  mergeThetas(current, old);
  refusePartial(fields);

  if (current || old)
    config.ropeScaling = (current ? current : old)->scaling;
  if (config.ropeScaling &&
      config.ropeScaling->originalContext >= config.maxPositions)
    findings.warning("\"original_max_position_embeddings\" " +
                     Twine(config.ropeScaling->originalContext) +
                     " is not below \"max_position_embeddings\" " +
                     Twine(config.maxPositions));
}

void tp::readRope(Fields &fields, Findings &findings, DecoderConfig &config) {
  RopeReader(fields, findings, config).read();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Machine files: the schema, and what is refused, at its line.

#include "tp/Check/SourceText.h"
#include "tp/Cost/Machine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/YAMLTraits.h"
#include <cmath>
#include <set>

using namespace llvm;
using namespace tp;

LLVM_YAML_IS_SEQUENCE_VECTOR(tp::AlgorithmConstants)
LLVM_YAML_IS_SEQUENCE_VECTOR(tp::Link)
LLVM_YAML_IS_SEQUENCE_VECTOR(tp::MeasuredCollective)
LLVM_YAML_IS_SEQUENCE_VECTOR(tp::MeasuredPoint)
LLVM_YAML_IS_SEQUENCE_VECTOR(tp::Peak)

//===- Numbers ------------------------------------------------------------===//

namespace {

/// Above 0 and finite.
struct Positive {
  double value = 0;
  bool isGood() const { return value > 0; }
  static constexpr const char *complaint = "the number must be above 0";
};
/// 0 or above and finite.
struct NotNegative {
  double value = 0;
  bool isGood() const { return value >= 0; }
  static constexpr const char *complaint = "the number must not be negative";
};
/// Above 0 and at most 1.
struct Share {
  double value = 1;
  bool isGood() const { return value > 0 && value <= 1; }
  static constexpr const char *complaint =
      "a share of the peak is above 0 and at most 1";
};

/// A whole number above 0.
struct ByteCount {
  int64_t value = 0;
};

} // namespace

/// Reads a number; the complaint, if any, is reported at its place.
static StringRef readNumber(StringRef text, double &value) {
  StringRef complaint = yaml::ScalarTraits<double>::input(text, nullptr, value);
  if (!complaint.empty() || std::isfinite(value))
    return complaint;
  return "the number must be finite";
}

//===- Schema -------------------------------------------------------------===//

namespace {
template <class Number> struct NumberTraits {
  static void output(const Number &number, void *, raw_ostream &os) {
    os << number.value;
  }
  static StringRef input(StringRef text, void *, Number &number) {
    StringRef complaint = readNumber(text, number.value);
    if (complaint.empty() && !number.isGood())
      return Number::complaint;
    return complaint;
  }
  static yaml::QuotingType mustQuote(StringRef) {
    return yaml::QuotingType::None;
  }
};
} // namespace

namespace llvm::yaml {

template <> struct ScalarTraits<Positive> : NumberTraits<Positive> {};
template <> struct ScalarTraits<NotNegative> : NumberTraits<NotNegative> {};
template <> struct ScalarTraits<Share> : NumberTraits<Share> {};

template <> struct ScalarTraits<ByteCount> {
  static void output(const ByteCount &count, void *, raw_ostream &os) {
    os << count.value;
  }
  static StringRef input(StringRef text, void *, ByteCount &count) {
    if (text.getAsInteger(0, count.value) || count.value < 1)
      return "bytes are a whole number from 1 to 2^63 - 1, as 80000000000";
    return "";
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

} // namespace llvm::yaml

/// Maps a number that must be what `Number` says.
template <class Number>
static void mapRequired(yaml::IO &io, const char *key, double &value) {
  Number number{value};
  io.mapRequired(key, number);
  value = number.value;
}

template <class Number>
static void mapOptional(yaml::IO &io, const char *key, double &value) {
  Number number{value};
  io.mapOptional(key, number);
  value = number.value;
}

static void mapBytes(yaml::IO &io, const char *key, int64_t &value) {
  ByteCount count{value};
  io.mapRequired(key, count);
  value = count.value;
}

static std::string checkGroup(int64_t ranks) {
  if (ranks >= 2)
    return "";
  return formatv("group_ranks is {0}; a group has at least 2", ranks);
}

namespace {
/// One of the names of some values.
template <class Value> struct NameTraits {
  static void output(const Value &value, void *, raw_ostream &os) {
    os << tp::toString(value);
  }
  static StringRef find(StringRef text, ArrayRef<Value> values, Value &found,
                        StringRef complaint) {
    for (Value value : values)
      if (text == tp::toString(value)) {
        found = value;
        return "";
      }
    return complaint;
  }
  static yaml::QuotingType mustQuote(StringRef) {
    return yaml::QuotingType::None;
  }
};
} // namespace

namespace llvm::yaml {

template <> struct ScalarTraits<tp::Algorithm> : NameTraits<tp::Algorithm> {
  static StringRef input(StringRef text, void *, tp::Algorithm &algorithm) {
    return find(text,
                {tp::Algorithm::Ring, tp::Algorithm::Tree,
                 tp::Algorithm::Hierarchical, tp::Algorithm::InSwitch},
                algorithm,
                "an algorithm is ring, tree, hierarchical or in_switch");
  }
};

template <>
struct ScalarTraits<tp::CollectiveKind> : NameTraits<tp::CollectiveKind> {
  static StringRef input(StringRef text, void *, tp::CollectiveKind &kind) {
    return find(text,
                {tp::CollectiveKind::AllReduce, tp::CollectiveKind::AllGather,
                 tp::CollectiveKind::ReduceScatter,
                 tp::CollectiveKind::AllToAll},
                kind,
                "a table is of all_reduce, all_gather, reduce_scatter or "
                "all_to_all");
  }
};

template <> struct MappingTraits<tp::AlgorithmConstants> {
  static void mapping(IO &io, tp::AlgorithmConstants &entry) {
    io.mapRequired("algorithm", entry.algorithm);
    io.mapOptional("group_ranks", entry.groupRanks);
    mapOptional<Positive>(io, "bandwidth", entry.bandwidth);
    mapOptional<NotNegative>(io, "latency", entry.latency);
    mapOptional<NotNegative>(io, "base", entry.base);
    io.mapOptional("multi_rail", entry.multiRail);
  }
  static std::string validate(IO &io, tp::AlgorithmConstants &entry) {
    // What is missing may be what could not be read.
    if (io.error())
      return "";
    if (entry.groupRanks != 0)
      if (std::string complaint = checkGroup(entry.groupRanks);
          !complaint.empty())
        return complaint;
    if (entry.algorithm == tp::Algorithm::Hierarchical)
      return entry.bandwidth == 0 && entry.latency == 0 && entry.base == 0
                 ? ""
                 : "hierarchical takes the constants of the levels that it "
                   "goes over; it has none of its own";
    if (entry.multiRail && entry.algorithm != tp::Algorithm::Ring)
      return "multi_rail is for rings";
    if (entry.bandwidth == 0)
      return "the bandwidth is missing";
    return "";
  }
};

template <> struct MappingTraits<tp::MeasuredPoint> {
  static const bool flow = true;
  static void mapping(IO &io, tp::MeasuredPoint &point) {
    mapBytes(io, "bytes", point.bytes);
    mapRequired<Positive>(io, "seconds", point.seconds);
  }
};

template <> struct MappingTraits<tp::MeasuredCollective> {
  static void mapping(IO &io, tp::MeasuredCollective &table) {
    io.mapRequired("collective", table.collective);
    io.mapRequired("group_ranks", table.groupRanks);
    io.mapRequired("points", table.points);
  }
  static std::string validate(IO &io, tp::MeasuredCollective &table) {
    if (io.error())
      return "";
    if (table.points.size() < 2)
      return formatv("{0} points; a table has at least 2", table.points.size());
    for (size_t i = 1; i < table.points.size(); ++i) {
      tp::MeasuredPoint &point = table.points[i];
      const tp::MeasuredPoint &before = table.points[i - 1];
      if (point.bytes <= before.bytes)
        return formatv("a point of {0} bytes follows one of {1}; sizes must "
                       "grow",
                       point.bytes, before.bytes);
      point.seconds = std::max(point.seconds, before.seconds);
    }
    return checkGroup(table.groupRanks);
  }
};

template <> struct MappingTraits<tp::Link> {
  static void mapping(IO &io, tp::Link &link) {
    io.mapRequired("name", link.name);
    io.mapRequired("ranks", link.ranks);
    mapRequired<Positive>(io, "bandwidth", link.bandwidth);
    mapRequired<NotNegative>(io, "latency", link.latency);
    io.mapOptional("algorithms", link.algorithms);
    io.mapOptional("measured", link.measured);
  }
  static std::string validate(IO &io, tp::Link &link) {
    if (io.error())
      return "";
    if (link.name.empty())
      return "the name of a link is empty";
    // The block of the level before, a 1 at the start.
    int64_t &block = *static_cast<int64_t *>(io.getContext());
    int64_t before = std::exchange(block, link.ranks);
    if (before == 0)
      return "follows a level that joins all ranks";
    if (link.ranks != 0 && (link.ranks <= before || link.ranks % before != 0))
      return formatv("joins {0} ranks, the level before {1}; blocks must be "
                     "multiples of it, and the last 0, for all there are",
                     link.ranks, before);
    std::set<std::pair<tp::CollectiveKind, int64_t>> seen;
    for (const tp::MeasuredCollective &table : link.measured)
      if (!seen.insert({table.collective, table.groupRanks}).second)
        return formatv("two tables of {0} for groups of {1}",
                       tp::toString(table.collective), table.groupRanks);
    return "";
  }
};

template <> struct MappingTraits<tp::Peak> {
  static void mapping(IO &io, tp::Peak &peak) {
    io.mapRequired("type", peak.type);
    mapRequired<Positive>(io, "flops", peak.flops);
  }
  static std::string validate(IO &io, tp::Peak &peak) {
    static const StringRef types[] = {"bf16", "f16", "f32", "f64"};
    if (io.error() || is_contained(types, peak.type))
      return "";
    return formatv("'{0}' is not one of the types of products, {1:$[, ]}",
                   peak.type, make_range(std::begin(types), std::end(types)));
  }
};

template <> struct MappingTraits<tp::ProductEfficiency> {
  static void mapping(IO &io, tp::ProductEfficiency &products) {
    mapRequired<Share>(io, "efficiency", products.efficiency);
    mapOptional<NotNegative>(io, "half_m", products.halfRows);
    mapOptional<NotNegative>(io, "half_n", products.halfColumns);
    mapOptional<NotNegative>(io, "half_k", products.halfDepth);
    mapOptional<Share>(io, "attention", products.attention);
    mapOptional<NotNegative>(io, "attention_half_head",
                             products.attentionHalfHead);
  }
};

template <> struct MappingTraits<tp::LaunchFloor> {
  static void mapping(IO &io, tp::LaunchFloor &launch) {
    mapRequired<Positive>(io, "seconds", launch.seconds);
    io.mapRequired("on", launch.on);
  }
};

} // namespace llvm::yaml

/// Reports tell levels apart by their names, prices peaks by their types.
static std::string findRepetition(const Machine &machine) {
  std::set<StringRef> seen;
  for (const Peak &peak : machine.peaks)
    if (!seen.insert(peak.type).second)
      return formatv("two peaks of {0}", peak.type);
  seen.clear();
  for (const Link &link : machine.links)
    if (!seen.insert(link.name).second)
      return formatv("two links are called '{0}'", link.name);
  return "";
}

namespace llvm::yaml {

template <> struct MappingTraits<tp::Machine> {
  static void mapping(IO &io, tp::Machine &machine) {
    io.mapRequired("name", machine.name);
    io.mapRequired("peaks", machine.peaks);
    mapOptional<Positive>(io, "vector_flops", machine.vectorFlops);
    mapRequired<Positive>(io, "memory_bandwidth", machine.memoryBandwidth);
    mapBytes(io, "memory_bytes", machine.memoryBytes);
    io.mapOptional("products", machine.products);
    io.mapOptional("launch_floor", machine.launch);
    io.mapRequired("links", machine.links);
  }
  static std::string validate(IO &io, tp::Machine &machine) {
    if (io.error())
      return "";
    if (machine.name.empty())
      return "the name of the machine is empty";
    if (machine.peaks.empty() || machine.links.empty())
      return "a machine needs at least one peak and one link";
    if (machine.links.back().ranks != 0)
      return formatv("the last level of links, {0}, joins {1} ranks; it must "
                     "be 0, for all there are",
                     machine.links.back().name, machine.links.back().ranks);
    return findRepetition(machine);
  }
};

} // namespace llvm::yaml

//===- Reading ------------------------------------------------------------===//

/// The YAML parser recurses on flow brackets and on nested block sequences.
static Error checkNesting(StringRef file, StringRef text) {
  constexpr size_t mostBytes = 1 << 16;
  if (text.size() > mostBytes)
    return createStringError("%s: %zu bytes; a machine description has at most "
                             "%zu",
                             file.str().c_str(), text.size(), mostBytes);
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (auto [index, line] : enumerate(lines)) {
    unsigned dashes = 0;
    while (line.consume_front("- ") || line.consume_front("? ") ||
           line.consume_front(" "))
      ++dashes;
    if (dashes > maxNesting)
      return createStringError("%s:%zu: nested more than %u deep",
                               file.str().c_str(), index + 1, maxNesting);
  }
  if (std::optional<size_t> place = findDeepNesting(text))
    return createStringError("%s: byte %zu: nested more than %u deep",
                             file.str().c_str(), *place, maxNesting);
  return Error::success();
}

Expected<Machine> Machine::parse(StringRef text, StringRef fileName) {
  if (Error error = checkNesting(fileName, text))
    return std::move(error);
  Machine machine;
  std::string message;
  int64_t block = 1;
  yaml::Input input(
      MemoryBufferRef(text, fileName), &block,
      [](const SMDiagnostic &diagnostic, void *context) {
        raw_string_ostream os(*static_cast<std::string *>(context));
        diagnostic.print(nullptr, os, /*ShowColors=*/false);
      },
      &message);
  if (StringRef(text).trim().empty())
    return createStringError("%s is empty; a machine description has a name, "
                             "peaks and links",
                             fileName.str().c_str());
  input >> machine;
  if (!input.error() && input.nextDocument())
    return createStringError("%s has more than one YAML document; a machine "
                             "description has one",
                             fileName.str().c_str());
  if (input.error())
    return createStringError(
        "%s is not a machine description: %s", fileName.str().c_str(),
        message.empty() ? input.error().message().c_str() : message.c_str());
  return machine;
}

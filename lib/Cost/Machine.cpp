// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Cost/Machine.h"
#include "tp/IR/SourceText.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/YAMLTraits.h"
#include <cmath>

using namespace llvm;
using namespace tp;

LLVM_YAML_IS_SEQUENCE_VECTOR(tp::Link)
LLVM_YAML_IS_SEQUENCE_VECTOR(tp::Peak)

namespace llvm::yaml {

template <> struct MappingTraits<tp::Link> {
  static void mapping(IO &io, tp::Link &link) {
    io.mapRequired("name", link.name);
    io.mapRequired("ranks", link.ranks);
    io.mapRequired("bandwidth", link.bandwidth);
    io.mapRequired("latency", link.latency);
  }
};

template <> struct MappingTraits<tp::Peak> {
  static void mapping(IO &io, tp::Peak &peak) {
    io.mapRequired("type", peak.type);
    io.mapRequired("flops", peak.flops);
  }
};

template <> struct MappingTraits<tp::Machine> {
  static void mapping(IO &io, tp::Machine &machine) {
    io.mapRequired("name", machine.name);
    io.mapRequired("peaks", machine.peaks);
    io.mapRequired("memory_bandwidth", machine.memoryBandwidth);
    io.mapRequired("memory_bytes", machine.memoryBytes);
    io.mapRequired("links", machine.links);
  }
};

} // namespace llvm::yaml

double Machine::getPeak(StringRef type) const {
  double lowest = peaks.front().flops;
  for (const Peak &peak : peaks) {
    if (peak.type == type)
      return peak.flops;
    lowest = std::min(lowest, peak.flops);
  }
  return lowest;
}

static Error checkPositive(StringRef file, const Twine &what, double value) {
  if (value > 0 && std::isfinite(value))
    return Error::success();
  return createStringError("%s: %s is %g; it must be positive and finite",
                           file.str().c_str(), what.str().c_str(), value);
}

static Error checkLinks(StringRef file, const Machine &machine) {
  int64_t previous = 1;
  for (const auto &[index, link] : enumerate(machine.links)) {
    if (Error error = checkPositive(file, "bandwidth of link " + link.name,
                                    link.bandwidth))
      return error;
    if (!(link.latency >= 0) || !std::isfinite(link.latency))
      return createStringError("%s: latency of link %s is %g seconds",
                               file.str().c_str(), link.name.c_str(),
                               link.latency);
    bool isLast = index + 1 == machine.links.size();
    if (isLast ? link.ranks != 0 : link.ranks <= previous)
      return createStringError(
          "%s: link %s joins %lld ranks; blocks must grow and the last be 0, "
          "for all there are",
          file.str().c_str(), link.name.c_str(),
          static_cast<long long>(link.ranks));
    previous = link.ranks;
  }
  return Error::success();
}

static Error checkMachine(StringRef file, const Machine &machine) {
  if (machine.peaks.empty() || machine.links.empty())
    return createStringError("%s: a machine needs at least one peak and one "
                             "link",
                             file.str().c_str());
  for (const Peak &peak : machine.peaks)
    if (Error error = checkPositive(file, "peak of " + peak.type, peak.flops))
      return error;
  if (Error error =
          checkPositive(file, "memory_bandwidth", machine.memoryBandwidth))
    return error;
  if (Error error = checkPositive(file, "memory_bytes",
                                  static_cast<double>(machine.memoryBytes)))
    return error;
  return checkLinks(file, machine);
}

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
  yaml::Input input(
      MemoryBufferRef(text, fileName), nullptr,
      [](const SMDiagnostic &diagnostic, void *context) {
        raw_string_ostream os(*static_cast<std::string *>(context));
        diagnostic.print(nullptr, os, /*ShowColors=*/false);
      },
      &message);
  input >> machine;
  if (input.error())
    return createStringError(
        "%s is not a machine description: %s", fileName.str().c_str(),
        message.empty() ? input.error().message().c_str() : message.c_str());
  if (Error error = checkMachine(fileName, machine))
    return std::move(error);
  return machine;
}

/// Where the machines lie: beside the build folder, or in the installation.
static std::string findInShare(StringRef name) {
  static int anchor;
  std::string program = sys::fs::getMainExecutable(nullptr, &anchor);
  SmallString<256> folder(sys::path::parent_path(program));
  for (int level = 0; level < 3; ++level) {
    sys::path::remove_filename(folder);
    SmallString<256> file(folder);
    sys::path::append(file, "share", "machines", name + ".yaml");
    if (sys::fs::exists(file))
      return std::string(file);
  }
  return "";
}

Expected<Machine> Machine::load(StringRef nameOrFile) {
  std::string file(nameOrFile);
  bool isName = !nameOrFile.contains('/') && !nameOrFile.ends_with(".yaml");
  if (isName)
    file = findInShare(nameOrFile);
  if (file.empty())
    return createStringError("machine '%s' is not in share/machines; name one "
                             "of its files, or give a YAML file",
                             nameOrFile.str().c_str());
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(file);
  if (!buffer)
    return createStringError("machine file '%s': %s", file.c_str(),
                             buffer.getError().message().c_str());
  return parse((*buffer)->getBuffer(), file);
}

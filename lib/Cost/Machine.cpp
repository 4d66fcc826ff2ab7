// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Cost/Machine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace tp;

double Machine::getPeak(StringRef type) const {
  double lowest = peaks.front().flops;
  for (const Peak &peak : peaks) {
    if (peak.type == type)
      return peak.flops;
    lowest = std::min(lowest, peak.flops);
  }
  return lowest;
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
  sys::fs::file_status status;
  bool isDevice = !sys::fs::status(file, status) &&
                  status.type() == sys::fs::file_type::character_file;
  // Some, as /dev/zero, have no end.
  if (isDevice)
    return createStringError("machine file '%s' is a device", file.c_str());
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(file);
  if (!buffer)
    return createStringError("machine file '%s': %s", file.c_str(),
                             buffer.getError().message().c_str());
  return parse((*buffer)->getBuffer(), file);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// A machine as the cost model sees it, read from YAML.

#ifndef TP_COST_MACHINE_H
#define TP_COST_MACHINE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace tp {

/// Links that join a block of neighbouring ranks.
struct Link {
  std::string name;
  /// Ranks in a block, as 8 in a node; 0: all there are.
  int64_t ranks = 0;
  /// Bytes a second that one rank sends, one direction.
  double bandwidth = 0;
  /// Seconds a step of a ring.
  double latency = 0;
};

/// Dense peak of one element type.
struct Peak {
  /// As bf16.
  std::string type;
  /// Floating-point operations a second.
  double flops = 0;
};

/// One kind of device and how its ranks are joined.
struct Machine {
  std::string name;
  std::vector<Peak> peaks;
  /// Bytes a second.
  double memoryBandwidth = 0;
  /// Bytes of a device.
  int64_t memoryBytes = 0;
  /// From the smallest block to the largest.
  std::vector<Link> links;

  /// Peak for element type `type`; for a type without one, the lowest.
  double getPeak(llvm::StringRef type) const;

  /// Reads `nameOrFile`: a file, or the name of one in share/machines beside
  /// the build or the installation. Every field is checked.
  static llvm::Expected<Machine> load(llvm::StringRef nameOrFile);
  static llvm::Expected<Machine> parse(llvm::StringRef text,
                                       llvm::StringRef fileName);
};

} // namespace tp

#endif // TP_COST_MACHINE_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// All figures of a cost report as one struct, and its writers.

#ifndef TP_REPORT_REPORT_H
#define TP_REPORT_REPORT_H

#include "tp/Cost/CostModel.h"
#include "llvm/ADT/MapVector.h"

namespace tp {

/// Where an operation stands.
struct Place {
  /// Name of the function.
  std::string function;
  /// As "matmul"; of the tp and func dialects without the dialect.
  std::string operation;
  /// The location's name; without one, file, line and column; else empty.
  std::string name;
};

/// One operation that computes. The figures are those of one execution on the
/// rank with the largest shards.
struct OperationFigures {
  Place place;
  /// Executions in one step.
  int64_t count = 1;
  Cost cost;
};

/// One collective, local slices and masks included; those cost nothing.
struct CollectiveFigures {
  /// `place.operation` is the kind, as "all_reduce".
  Place place;
  int64_t count = 1;
  /// Axis parts that the group runs along, major to minor: "tp", "tp:(1)4".
  std::vector<std::string> axes;
  /// Ranks of a group.
  int64_t ranks = 1;
  /// Of the whole tensor.
  mlir::RankedTensorType type;
  /// The dimension that is gathered, split or reordered, if there is one.
  std::optional<unsigned> dim;
  /// The dimension that an all-to-all splits.
  std::optional<unsigned> target;
  /// The slowest link that the group needs.
  std::string link;
  /// One execution. Bytes sent are to the nearest byte.
  Cost cost;
  /// The first operation, in program order, that waits for the result.
  std::optional<Place> firstUser;
};

/// Sums over one step.
struct Totals {
  double computeSeconds = 0;
  double communicationSeconds = 0;
  double flops = 0;
  double memoryBytes = 0;
  /// Bytes that a rank sends.
  double sentBytes = 0;
  /// Number of collectives that communicate, by kind.
  llvm::MapVector<llvm::StringRef, int64_t> collectives;

  /// Nothing overlaps.
  double seconds() const { return computeSeconds + communicationSeconds; }
};

/// The entry's arguments that are marked tp.parameter.
struct ParameterFigures {
  int64_t tensors = 0;
  /// Numbers of the model in all tensors.
  int64_t total = 0;
  /// Numbers beside these, in rows that no file has: a padded vocabulary.
  int64_t padding = 0;
  /// Numbers, and their bytes, on the rank with the largest shards, padding
  /// included.
  int64_t perRank = 0;
  int64_t bytesPerRank = 0;
  /// Numbers on the rank with the smallest shards: fewer where shards are
  /// uneven.
  int64_t fewestPerRank = 0;
};

/// What one step of a typed program is predicted to take. One rank with the
/// largest shards of everything stands for all.
struct Report {
  std::string machine;
  /// Bytes of the device's memory.
  int64_t deviceBytes = 0;
  /// Null if the program has no tensors.
  MeshAttr mesh;
  /// In the order of the functions from the entry on, then of the program.
  std::vector<OperationFigures> operations;
  std::vector<CollectiveFigures> collectives;
  Totals totals;
  ParameterFigures parameters;
};

/// Prices the functions that the entry, the one public function, reaches; each
/// once, times the number of its calls. Diagnoses a module that is not typed:
/// open, local, with violations, or with reshards still to be decomposed.
mlir::FailureOr<Report> collectReport(mlir::ModuleOp module,
                                      const Machine &machine);

/// Tables of at most 100 columns.
void printText(const Report &report, llvm::raw_ostream &os);

/// One object. Keys carry the units: seconds, bytes, flops.
void printJSON(const Report &report, llvm::raw_ostream &os);

} // namespace tp

#endif // TP_REPORT_REPORT_H

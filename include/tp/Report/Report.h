// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// All figures of a cost report as one struct, and its writers.

#ifndef TP_REPORT_REPORT_H
#define TP_REPORT_REPORT_H

#include "tp/Cost/CostModel.h"
#include "tp/Explain/Alternatives.h"
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

/// Where in a model: what stands before the layers, the layers, what stands
/// behind them, and the loss. A program without calls is all layers but for
/// look-ups in front and the loss.
enum class StepPart { Embedding, Layers, Head, Loss };
llvm::StringRef toString(StepPart part);

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
  StepPart part = StepPart::Layers;
  /// The first operation that takes the result, calls followed; `return` if
  /// only the entry's does. Of the first execution.
  std::optional<Place> firstUser;
  /// Executions during which the computation stands still, and for how long in
  /// all, operations and collectives each running in program order.
  int64_t blocking = 0;
  double heldSeconds = 0;
};

/// "causal" and "full".
llvm::StringRef toString(FlopConvention convention);

/// Products of one step by one convention, attention included, those of padding
/// too.
struct ProductFigures {
  /// FLOPs of the model.
  double flops = 0;
  /// Seconds that these take on one rank at its peak, and those that the
  /// products of the rank with the largest shards take.
  double peakSeconds = 0, rankPeakSeconds = 0;
};

/// Sums over one step.
struct Totals {
  double computeSeconds = 0;
  double communicationSeconds = 0;
  double flops = 0;
  double memoryBytes = 0;
  /// Bytes that a rank sends.
  double sentBytes = 0;
  ProductFigures causal, full;
  /// Number of collectives that communicate, by kind.
  llvm::MapVector<llvm::StringRef, int64_t> collectives;
  /// Of `communicationSeconds`, those in which the computation stands still.
  double heldSeconds = 0;
  /// Executions of collectives that it stands still for, one after the other.
  int64_t blocking = 0;
  /// Where collectives run beside what does not wait for them.
  double overlappedSeconds = 0;
  /// Of all ranks: the indices that one step looks up in a parameter.
  int64_t tokens = 0;

  /// Nothing overlaps.
  double seconds() const { return computeSeconds + communicationSeconds; }
  /// Of all ranks, with overlap; 0 if nothing is looked up.
  double tokensPerSecond() const {
    return overlappedSeconds > 0
               ? static_cast<double>(tokens) / overlappedSeconds
               : 0;
  }
};

/// What is assumed of a training of which the program is the forward pass.
struct TrainingSettings {
  /// Adam: two moments, in f32 or what is wider, and for parameters that are
  /// narrower than f32 a copy in f32. 16 bytes a parameter in f32 or bf16 with
  /// the parameter and its gradient.
  bool usesAdam = false;
  /// Bytes of an element of a gradient; 0: as the parameter.
  uint64_t gradientBytes = 0;
  /// What is dealt over the data axes: 1 optimizer states, 2 gradients too, 3
  /// parameters too (S. Rajbhandari et al., "ZeRO", SC 2020).
  int zero = 0;
  /// Axes of the mesh along which parameters are replicated for other data.
  llvm::SmallVector<unsigned> dataAxes;
  /// Of what the entry calls only the operands are kept.
  bool recomputesLayers = false;

  bool isOn() const { return usesAdam; }
};

/// What the rank with the largest shards holds, in bytes.
struct MemoryFigures {
  uint64_t parameters = 0;
  uint64_t gradients = 0;
  uint64_t optimizer = 0;
  /// Inputs that the step lengthens: keys and values of earlier tokens.
  uint64_t cache = 0;
  /// Arguments that are no parameters.
  uint64_t inputs = 0;
  /// What a backward pass would need of the values that the step makes.
  /// Statistics of norms and of attention's rows are not counted.
  uint64_t saved = 0;
  /// The most that values made during the step take at once; with training,
  /// beside what is saved.
  uint64_t temporaries = 0;
  /// The first operation during which they do.
  std::optional<Place> peakAt;
  /// Without training, what is saved is not part of it.
  uint64_t total = 0;
};

/// A stretch of a step, as it runs on two queues.
struct TimelineEntry {
  Place place;
  /// Seconds from the start of the stretch.
  double start = 0, end = 0;
  bool communicates = false;
};

struct Timeline {
  static constexpr size_t maxEntries = 2048;
  /// The call that it shows; none for a whole step.
  std::optional<Place> what;
  std::vector<TimelineEntry> entries;
  /// Entries left out behind these.
  int64_t omitted = 0;
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

/// A value of a function and the operation that makes it.
struct LayerNode {
  /// `place.operation` is "input" for an argument.
  Place place;
  /// The sharding of the first result as it is written in IR.
  std::string layout;
  /// The first dimension that is split; none for a whole value.
  std::optional<unsigned> splitDim;
  bool isUnreduced = false;
  bool communicates = false;
  double seconds = 0;
  /// Names of the parameters it reads.
  std::vector<std::string> weights;
  /// Indices of earlier nodes.
  llvm::SmallVector<unsigned> operands;
};

/// How the values of one function lie.
struct LayerGraph {
  static constexpr size_t maxNodes = 256;
  std::string function;
  std::vector<LayerNode> nodes;
  /// Operations left out behind these.
  int64_t omitted = 0;
};

/// What other plans cost.
struct AlternativeFigures {
  /// Nothing if they were not asked for, or there are none.
  std::optional<Alternatives> found;
  /// Why there are none, if they were asked for.
  std::string missing;
};

/// What one step of a typed program is predicted to take. One rank with the
/// largest shards of everything stands for all.
struct Report {
  int64_t countRanks() const { return mesh ? mesh.getNumRanks() : 1; }
  const ProductFigures &getProducts(FlopConvention convention) const {
    return convention == FlopConvention::Full ? totals.full : totals.causal;
  }
  /// Model and hardware FLOPs utilisation (V. Korthikanti et al., "Reducing
  /// Activation Recomputation", 2022), as shares; 0 for a step that takes no
  /// time.
  struct Utilisation {
    double model = 0, hardware = 0;
  };
  Utilisation getUtilisation(FlopConvention convention) const;

  std::string machine;
  /// The one that was asked for.
  FlopConvention convention = FlopConvention::Causal;
  /// Bytes of the device's memory.
  int64_t deviceBytes = 0;
  /// Null if the program has no tensors.
  MeshAttr mesh;
  /// In the order of the functions from the entry on, then of the program.
  std::vector<OperationFigures> operations;
  std::vector<CollectiveFigures> collectives;
  Totals totals;
  ParameterFigures parameters;
  TrainingSettings training;
  MemoryFigures memory;
  Timeline timeline;
  LayerGraph graph;
  AlternativeFigures alternatives;
};

/// What a report is asked for beside the program.
struct ReportSettings {
  /// "none" or "adam".
  std::string optimizer = "none";
  /// Type of gradients: empty (as the parameters), "f32".
  std::string gradientType;
  int64_t zero = 0;
  /// Names with commas; empty: dp, data and fsdp.
  std::string dataAxes;
  /// "none" or "layers".
  std::string recompute = "none";
  /// How FLOPs of the model are counted: "causal" or "full".
  std::string flops = "causal";
  /// Whether the module is planned again for what other plans cost: "off",
  /// "on", or "auto", which takes it if there are none.
  std::string alternatives = "off";
};

/// Prices the functions that the entry, the one public function, reaches; each
/// once, times the number of its calls. Diagnoses a module that is not typed:
/// open, local, with violations, or with reshards still to be decomposed; and
/// settings that are unknown or do not fit.
mlir::FailureOr<Report> collectReport(mlir::ModuleOp module,
                                      const Machine &machine,
                                      const ReportSettings &settings);

/// Tables of at most 100 columns.
void printText(const Report &report, llvm::raw_ostream &os);

/// One object, of the schema in docs/report.schema.json. Keys carry the units.
void printJSON(const Report &report, llvm::raw_ostream &os);

/// One page that needs nothing else: no script, no request. With `other`, both
/// plans' figures are compared on it.
void printHTML(const Report &report, const Report *other,
               llvm::raw_ostream &os);

/// The figures of two plans and their differences, in the forms above.
void printComparison(const Report &first, const Report &second,
                     llvm::raw_ostream &os);
void printComparisonJSON(const Report &first, const Report &second,
                         llvm::raw_ostream &os);

} // namespace tp

#endif // TP_REPORT_REPORT_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What an operation and what a collective cost: the one place that knows.

#ifndef TP_COST_COSTMODEL_H
#define TP_COST_COSTMODEL_H

#include "tp/Cost/CollectiveCost.h"
#include "tp/Cost/Price.h"
#include "tp/IR/TP.h"

namespace tp {

/// What one step of one rank takes. For the rank with the largest shards.
struct Cost {
  double seconds = 0;
  /// Floating-point operations.
  double flops = 0;
  /// Bytes read and written in the device's memory.
  double memoryBytes = 0;
  /// Bytes that the rank sends.
  double sentBytes = 0;
  /// Whether ranks talk to one another.
  bool communicates = false;
  /// Bytes that the rank receives.
  double receivedBytes = 0;
  /// How they talk.
  Algorithm algorithm = Algorithm::None;
};

/// How the FLOPs of causal attention are counted in what a model is said to do:
/// those of the pairs that the mask leaves, or of all, as the papers of
/// Megatron count.
enum class FlopConvention { Causal, Full };

/// Prices on one machine and mesh.
class CostModel {
public:
  CostModel(Machine machine, MeshAttr mesh)
      : machine(std::move(machine)), mesh(mesh) {}

  const Machine &getMachine() const { return machine; }
  MeshAttr getMesh() const { return mesh; }

  /// An operation of this rule and work: roofline of its FLOPs at the peak of
  /// the result's element type and of the bytes of its tensors (S. Williams et
  /// al., "Roofline", CACM 2009). A product reaches the share of the peak that
  /// ProductEfficiency says. `types` and `layouts` are those of the operands,
  /// then of the results.
  Cost priceOperation(const ShardingRule &rule, const Work &work,
                      mlir::TypeRange types,
                      llvm::ArrayRef<Layout> layouts) const;

  /// FLOPs of the largest shard of a product, attention included; 0 for other
  /// operations.
  static double countProductFlops(const ShardingRule &rule, const Work &work,
                                  llvm::ArrayRef<Layout> layouts,
                                  FlopConvention convention);

  /// A collective step applied to a tensor of `type` that lies as `before`, by
  /// `priceCollective`. Where pieces differ, each counts as the largest.
  Cost priceStep(const LayoutStep &step, mlir::RankedTensorType type,
                 const Layout &before) const;

  /// Bytes of the largest shard; nothing if they exceed 63 bits.
  static double getShardBytes(mlir::RankedTensorType type,
                              const Layout &layout);

  /// The link that joins the ranks of a group along `parts`.
  const Link &getLink(llvm::ArrayRef<AxisPart> parts) const;

  /// How the ranks of a group along `parts` lie.
  RankGroup getGroup(llvm::ArrayRef<AxisPart> parts) const;

private:
  Machine machine;
  MeshAttr mesh;
};

/// A cost as a lexicographic price: time, collectives, steps. Infinite if the
/// time does not fit.
Price toPrice(const Cost &cost, bool isReshardStep);

/// Size of an element in bytes; an i1 takes one.
int64_t getElementBytes(mlir::Type elementType);

/// The machine called `name`; without a name the one that `module` was planned
/// for (tp.machine), or h100. Diagnoses what cannot be read.
mlir::FailureOr<Machine> loadMachine(mlir::ModuleOp module,
                                     llvm::StringRef name);

} // namespace tp

#endif // TP_COST_COSTMODEL_H

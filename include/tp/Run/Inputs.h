// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUN_INPUTS_H
#define TP_RUN_INPUTS_H

#include "tp/Import/Safetensors.h"
#include "tp/Reference/Evaluator.h"
#include "tp/Run/Signature.h"

namespace tp {

/// What made floating-point arguments are.
enum class MadeValues {
  /// For parameters of rank 1 near 1 (gains) or, where the name ends in "bias",
  /// near 0; for other parameters normal with variance 1 over the last
  /// dimension, which is the fan-in of a checkpoint's matrices; else standard
  /// normal.
  Normal,
  /// Whole numbers from -2 to 2. Sums and products of few of them are exact in
  /// any order, so a program of such operations gives the same bits however it
  /// is split.
  Integers
};

/// Where the arguments of a program come from: a file that names them, else a
/// checkpoint that does, else numbers made from a seed. A number depends on the
/// seed, on the name of the tensor that the argument is or is a part of, on how
/// many of that name are before it, and on the index in that tensor, so a rank
/// can make its own part and all parts fit together. Integers also depend on
/// the number of the draw: the draws from 0 to `countDraws` have all `edges`
/// among them. Elements that are in no file (padding) are 0.
class Inputs {
public:
  explicit Inputs(uint64_t seed, MadeValues values = MadeValues::Normal)
      : seed(seed), values(values) {}

  /// Arguments named in `file` are taken from it. Kept by reference.
  void useFile(const SafetensorsFile &file) { this->file = &file; }
  /// The same for the folder of a model; `file` goes first.
  void useCheckpoint(const Checkpoint &checkpoint);

  /// The same with the integers of another draw.
  Inputs drawn(uint64_t draw) const {
    Inputs result(*this);
    result.draw = draw;
    return result;
  }
  /// Draws until every edge of every argument has been used, at least one.
  uint64_t countDraws(llvm::ArrayRef<Port> arguments) const;

  /// The part of an argument in `ranges`. Made integers are uniform in [0,
  /// bound) (0 or 1 without bound). Parameters are not made if there is a
  /// checkpoint: one that it lacks is an error.
  llvm::Expected<Array> read(const Port &port,
                             llvm::ArrayRef<Span> ranges) const;

  /// A whole argument as `read` gives it, for the reference.
  llvm::Expected<TensorOf<double>> readWhole(const Port &port) const;

  /// A whole argument for evaluation in the field: random elements, but
  /// integers as `read` gives them.
  llvm::Expected<TensorOf<Field>> readField(const Port &port,
                                            uint64_t key) const;

private:
  const StoredTensor *find(llvm::StringRef name) const;
  void make(const Port &port, llvm::ArrayRef<Span> ranges, Array &part) const;
  llvm::Error readPiece(const Port &port, llvm::ArrayRef<Span> ranges,
                        Array &piece) const;

  uint64_t seed, draw = 0;
  MadeValues values;
  const SafetensorsFile *file = nullptr;
  bool hasCheckpoint = false;
  llvm::StringMap<const StoredTensor *> stored;
};

/// A tensor of the kind that the evaluator computes with.
TensorOf<double> toReference(const Array &array);

/// For every integer argument without `tp.bound`: the least bound that the
/// operations which read it as an index give (getIndexBound), through calls,
/// casts and changes of shape. `signature` is that of `entry`.
void inferBounds(mlir::func::FuncOp entry, Signature &signature);

/// What the integers of `signature`, the whole program's, must contain for a
/// program of ranks of `mesh`: the first and the last index of every shard of
/// what they are looked up in, and the index that is ignored. Which shards
/// there are does not come from the layouts that the partitioner chose: they
/// are all that the axes of the mesh, or parts of them, in some order make of
/// the dimension, and those of the layouts in `local` that have a unit.
void findEdges(mlir::func::FuncOp entry, const Signature &local,
               Signature &signature);

/// The bounds and edges of the arguments of the same names.
void takeBounds(const Signature &from, Signature &to);

} // namespace tp

#endif // TP_RUN_INPUTS_H

// What cannot be planned, and why.
// RUN: split-file %s %t
// RUN: not tp-opt %t/heads.mlir --tp-plan="mesh=tp=12" 2>&1 | FileCheck %s --check-prefix=HEADS
// RUN: not tp-opt %t/heads.mlir --tp-plan="mesh=tp=64" 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not tp-opt %t/one-kv-head.mlir --tp-plan="mesh=tp=4" 2>&1 | FileCheck %s --check-prefix=QUERIES
// RUN: not tp-opt %t/odd.mlir --tp-plan="mesh=tp=4" 2>&1 | FileCheck %s --check-prefix=ODD
// RUN: not tp-opt %t/odd.mlir --tp-plan="mesh=tp=0" 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not tp-opt %t/odd.mlir --tp-plan="mesh=tp" 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: not tp-opt %t/odd.mlir --tp-plan="mesh=a=4611686018427387904,b=4" 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: not tp-opt %t/odd.mlir --tp-plan 2>&1 | FileCheck %s --check-prefix=NOMESH
// RUN: not tp-opt %t/mesh.mlir --tp-plan="mesh=tp=4" 2>&1 | FileCheck %s --check-prefix=DIFFER
// RUN: not tp-opt %t/odd.mlir --tp-plan="mesh=tp=5 machine=tpu" 2>&1 | FileCheck %s --check-prefix=MACHINE
// RUN: not tp-opt %t/odd.mlir --tp-plan="mesh=tp=5 weights=loose" 2>&1 | FileCheck %s --check-prefix=WEIGHTS
// RUN: not tp-opt %t/odd.mlir --tp-plan="mesh=tp=5 uneven=maybe" 2>&1 | FileCheck %s --check-prefix=MAYBE
// RUN: not tp-opt %t/odd.mlir --tp-plan="mesh=tp=5 model-axes=pp" 2>&1 | FileCheck %s --check-prefix=AXES
// RUN: not tp-opt %t/odd.mlir --tp-plan="mesh=dp=2,tp=5" 2>&1 | FileCheck %s --check-prefix=BATCH
// RUN: not tp-opt %t/recursion.mlir --tp-plan="mesh=tp=2" 2>&1 | FileCheck %s --check-prefix=RECURSION
// RUN: not tp-opt %t/public.mlir --tp-plan="mesh=tp=2" 2>&1 | FileCheck %s --check-prefix=PUBLIC
// RUN: not tp-opt %t/pins.mlir --tp-plan 2>&1 | FileCheck %s --check-prefix=PINS

//--- heads.mlir
// HEADS: error: 'tp.attention' op 32 query heads and 8 KV heads do not fit axis "tp" of 12 ranks: 12 does not divide 32
// HEADS: note: fix: use one of the legal degrees 1, 2, 4, 8, 16, 32
// HEADS: note: fix: deal whole heads unevenly with uneven=allow
// MANY: 64 does not divide 32
// MANY: legal degrees 1, 2, 4, 8, 16, 32
func.func @main(%q: tensor<1x3x32x2xf32>, %k: tensor<1x3x8x2xf32>) -> tensor<1x3x32x2xf32> {
  %o = tp.attention %q, %k, %k {scale = 1.0 : f64} : (tensor<1x3x32x2xf32>, tensor<1x3x8x2xf32>, tensor<1x3x8x2xf32>) -> tensor<1x3x32x2xf32>
  return %o : tensor<1x3x32x2xf32>
}

//--- one-kv-head.mlir
// QUERIES: error: 'tp.attention' op 6 query heads and 1 KV heads do not fit axis "tp" of 4 ranks: 4 does not divide 6
// QUERIES: note: fix: use one of the legal degrees 1, 2, 3, 6
func.func @main(%q: tensor<1x3x6x2xf32>, %k: tensor<1x3x1x2xf32>) -> tensor<1x3x6x2xf32> {
  %o = tp.attention %q, %k, %k {scale = 1.0 : f64} : (tensor<1x3x6x2xf32>, tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32>) -> tensor<1x3x6x2xf32>
  return %o : tensor<1x3x6x2xf32>
}

//--- odd.mlir
// ODD: error: 'func.func' op 'argument 1' of shape [5, 10] has no layout over "tp" that the constraints allow: shards must be even
// ODD: note: the axes have 4 ranks
// ODD: note: fix: use ranks that divide a dimension, or weights=free, or uneven=allow
// ODD: note: the same excludes 1 more, the next 'tp.matmul'
// ZERO: mesh axis "tp" has 0 ranks; at least 1 is needed
// SYNTAX: mesh 'tp': an axis is written name=ranks, as in dp=2,tp=4; 'tp' is not
// RANKS: the number of ranks of the mesh exceeds 2^63 - 1 at axis "b"
// NOMESH: has no tp.mesh; name one with mesh=, as mesh=tp=8
// MACHINE: machine 'tpu' is not in share/machines
// WEIGHTS: weights='loose' must be one of stationary, stored, free
// MAYBE: uneven='maybe' must be one of refuse, allow
// AXES: model-axes names "pp", which is not an axis of
// BATCH: none meets {{.*}}data axes carry the batch
// BATCH: note: fix: make the batch a multiple of 2
func.func @main(%x: tensor<3x5xf32>, %w: tensor<5x10xf32> {tp.parameter}) -> tensor<3x10xf32> {
  %y = tp.matmul %x, %w : (tensor<3x5xf32>, tensor<5x10xf32>) -> tensor<3x10xf32>
  return %y : tensor<3x10xf32>
}

//--- mesh.mlir
// DIFFER: error: 'tp.mesh' op is #tp.mesh<["tp"=2]>, but mesh=tp=4 was asked for
tp.mesh @mesh = <["tp"=2]>
func.func @main(%x: tensor<4xf32>) {
  return
}

//--- recursion.mlir
// RECURSION: 'f' calls itself; recursion cannot be planned
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

//--- public.mlir
// PUBLIC: the module has 2 public functions (@a, @b); make all but the entry private
func.func @a() {
  return
}
func.func @b() {
  return
}

//--- pins.mlir
// PINS: error: 'argument 0' of shape [4, 4] is pinned as #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>: an argument may not come in partial, here unreduced over "tp": nothing in the program makes its 2 summands
tp.mesh @mesh = <["tp"=2]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
func.func @main(%x: tensor<4x4xf32, #sum>) -> tensor<4x4xf32> {
  %r = tp.reshard %x : (tensor<4x4xf32, #sum>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

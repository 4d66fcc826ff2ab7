// RUN: not tp-run %s --check 2>&1 | FileCheck %s --check-prefix=LOCAL
// RUN: not tp-run %s --mesh=tp=2 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: not tp-run %s --entry=absent 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not tp-run %s.absent 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: tp-run %s --seed=3 | FileCheck %s --check-prefix=RAN
// RUN: not tp-run %S/mlp.mlir --mesh=tp=2 --threads-per-rank=0 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not tp-run %S/mlp.mlir --mesh=tp=2 --threads-per-rank=9223372036854775807 2>&1 | FileCheck %s --check-prefix=MANYTHREADS
// THREADS: error: rank 0: threads: the number of threads of a rank, 0, is not between 1 and 1024
// MANYTHREADS: error: rank 0: threads: the number of threads of a rank, 9223372036854775807, is not between 1 and 1024

// LOCAL: error: --check compares with the program before tp-partition; this one is in the local phase already
// MESH: error: the program is written for its ranks already; leave out --mesh
// ENTRY: error: there is no function @absent with a body
// FILE: error: cannot read '{{.*}}.absent': {{.*}}
// RAN: @main on 3 ranks:
// RAN: y [2, 3]: largest magnitude {{[0-9.]+}}
func.func @main(%x: tensor<2x3xf32> {tp.name = "x"})
    -> (tensor<2x3xf32> {tp.name = "y"}) attributes {tp.local, tp.ranks = 3} {
  %y = tp.local_all_reduce %x sum groups dense<[[0, 1, 2]]> : tensor<1x3xi64>
      : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

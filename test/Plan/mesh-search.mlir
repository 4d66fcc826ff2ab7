// Which mesh a number of ranks should be, on a described cluster.
// UNSUPPORTED: roundtrip
// RUN: split-file %s %t
// RUN: tp-opt %t/grid.mlir --tp-plan="ranks=16 machine=%t/switch.yaml weights=free" --tp-explain -o /dev/null 2>&1 | FileCheck %s --check-prefix=GRID
// RUN: tp-opt %t/mlp.mlir --tp-plan="ranks=16 machine=%t/nodes.yaml" 2>&1 | FileCheck %s --check-prefix=NODES
// RUN: tp-opt %t/mlp.mlir --tp-plan="ranks=16 machine=%t/small.yaml" 2>&1 | FileCheck %s --check-prefix=SMALL
// RUN: not tp-opt %t/mlp.mlir --tp-plan="ranks=8 machine=%t/small.yaml" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: tp-opt %t/mlp.mlir --tp-plan="ranks=1" 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not tp-opt %t/mlp.mlir --tp-plan="ranks=0" 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not tp-opt %t/mlp.mlir --tp-plan="ranks=65537" 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: not tp-opt %t/mlp.mlir --tp-plan="ranks=4 mesh=tp=4" 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not tp-opt %t/mlp.mlir --tp-plan="ranks=4 model-axes=tp" 2>&1 | FileCheck %s --check-prefix=AXES
// RUN: not tp-opt %t/mesh.mlir --tp-plan="ranks=4" 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: not tp-opt %t/mlp.mlir --tp-plan="ranks=4 weights=loose" 2>&1 | FileCheck %s --check-prefix=LOOSE --implicit-check-not=error: --implicit-check-not=note:
// RUN: not tp-opt %t/called.mlir --tp-plan="ranks=4" 2>&1 | FileCheck %s --check-prefix=CALLED --implicit-check-not=error: --implicit-check-not=note:

//--- grid.mlir
// A matrix product and its gradients, 4096^3, all 16 ranks alike. One axis: one
// of the three products is summed, 2 * 15/16 * 4096^2 = 31,457,280 elements of
// 2 bytes a rank. A grid of 4 x 4: two of them, each over 4 ranks a quarter of
// the matrix, 2 * 2 * 3/4 * 4096^2 / 4 = 12,582,912 elements. 2 x 8:
// 2 * (1/2 / 8 + 7/8 / 2) * 4096^2 = 16,777,216.
// GRID: remark: mesh tp=4,tp2=4 is the fastest of 15 for 16 ranks
// GRID: note: tp=4,tp2=4: {{.*}} us a step, 25,165,824 bytes sent and 0 bytes of parameters a rank; tp over switch, tp2 over switch
// GRID: note: tp=2,tp2=8: {{.*}} us a step, 33,554,432 bytes sent
// GRID: note: tp=8,tp2=2: {{.*}} us a step, 33,554,432 bytes sent
// GRID: note: tp=16: {{.*}} us a step, 62,914,560 bytes sent
// GRID: note: dp=16: no: 'tp.matmul' op cannot be split over "dp"
// GRID: plan for #tp.mesh<["tp"=4, "tp2"=4]>
// GRID: {{^}}all_reduce of [4096, 4096] bf16
// GRID-NEXT: over "tp", 4 groups of 4 ranks: {0, 4, 8, 12}, {1, 5, 9, 13}, {2, 6, 10, 14}, {3, 7, 11, 15}; 12,582,912 bytes sent a rank
// GRID: {{^}}all_reduce of [4096, 4096] bf16
// GRID-NEXT: over "tp2", 4 groups of 4 ranks: {0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}; 12,582,912 bytes sent a rank
func.func @main(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>, %g: tensor<4096x4096xbf16>)
    -> (tensor<4096x4096xbf16> {tp.like = 2 : i64}, tensor<4096x4096xbf16> {tp.like = 0 : i64}, tensor<4096x4096xbf16> {tp.like = 1 : i64}) {
  %c = tp.matmul %a, %b : (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %da = tp.matmul %g, %b {transpose_b} : (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %db = tp.matmul %a, %g {transpose_a} : (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  return %c, %da, %db : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>, tensor<4096x4096xbf16>
}

//--- mlp.mlir
// Two nodes of 8: the sum stays inside a node, the batch goes over both. It is
// over 8 ranks, of half the tokens: 2 * 7/8 * 2048 * 8192 * 2 = 58,720,256
// bytes. Over all 16 ranks: 2 * 15/16 * 4096 * 8192 * 2 = 125,829,120. Copies of
// the weights, 2 * 8192 * 32768 * 2 bytes, would be faster but do not fit.
// NODES: remark: mesh dp=2,tp=8 is the fastest of 15 for 16 ranks
// NODES: note: dp=2,tp=8: {{.*}} us a step, 58,720,256 bytes sent and 134,217,728 bytes of parameters a rank; dp over network, tp over node
// NODES-DAG: note: tp=8,dp=2: {{.*}} tp over network, dp over node
// NODES-DAG: note: tp=16: {{.*}} us a step, 125,829,120 bytes sent {{.*}} tp over network
// NODES-DAG: note: dp=16: no: 1,073,741,824 bytes of parameters a rank do not fit the 200,000,000 bytes of nodes
// NODES: tp.mesh @mesh = <["dp"=2, "tp"=8]>
// Where 8 ranks cannot hold the weights, all 16 do, and 8 ranks alone have no
// mesh.
// SMALL: remark: mesh {{tp=16|tp=[248],tp2=[248]}} is the fastest of 15
// SMALL: note: dp=2,tp=8: no: 134,217,728 bytes of parameters a rank do not fit the 100,000,000 bytes of small
// SMALL: tp.mesh @mesh = <["tp"={{.*}}]>
// NONE: error: none of 11 meshes of 8 ranks of {{.*}} has a plan
// NONE: note: tp=8: no: 134,217,728 bytes of parameters a rank do not fit the 100,000,000 bytes of small
// ONE: remark: mesh tp=1 is the fastest of 1 for 1 ranks of h100
// ZERO: error: ranks=0 must be between 1 and 65536
// HUGE: error: ranks=65537 must be between 1 and 65536
// BOTH: error: mesh=tp=4 and ranks=4 exclude each other: ranks= chooses the mesh
// AXES: error: model-axes=tp names axes that ranks=4 is still to choose
func.func @main(%x: tensor<4096x8192xbf16>, %a: tensor<8192x32768xbf16> {tp.parameter},
    %b: tensor<32768x8192xbf16> {tp.parameter}) -> (tensor<4096x8192xbf16> {tp.like = 0 : i64}) {
  %h = tp.matmul %x, %a : (tensor<4096x8192xbf16>, tensor<8192x32768xbf16>) -> tensor<4096x32768xbf16>
  %r = tp.relu %h : (tensor<4096x32768xbf16>) -> tensor<4096x32768xbf16>
  %y = tp.matmul %r, %b : (tensor<4096x32768xbf16>, tensor<32768x8192xbf16>) -> tensor<4096x8192xbf16>
  return %y : tensor<4096x8192xbf16>
}

//--- mesh.mlir
// MESH: error: the module has a mesh, #tp.mesh<["tp"=4]>, so that ranks=4 has none to choose
tp.mesh @mesh = <["tp"=4]>
func.func @main(%x: tensor<4xf32>) {
  return
}

//--- switch.yaml
name: switch
peaks:
  - {type: bf16, flops: 989.4e12}
memory_bandwidth: 3.35e12
memory_bytes: 80000000000
links:
  - {name: switch, ranks: 0, bandwidth: 370.8e9, latency: 0.6e-6}

//--- nodes.yaml
name: nodes
peaks:
  - {type: bf16, flops: 989.4e12}
memory_bandwidth: 3.35e12
memory_bytes: 200000000
links:
  - {name: node, ranks: 8, bandwidth: 370.8e9, latency: 0.6e-6}
  - {name: network, ranks: 0, bandwidth: 48e9, latency: 2.7e-6}

//--- small.yaml
name: small
peaks:
  - {type: bf16, flops: 989.4e12}
memory_bandwidth: 3.35e12
memory_bytes: 100000000
links:
  - {name: node, ranks: 8, bandwidth: 370.8e9, latency: 0.6e-6}
  - {name: network, ranks: 0, bandwidth: 48e9, latency: 2.7e-6}

//--- called.mlir
// What is wrong on every mesh is said once.
// LOOSE: error: weights='loose' must be one of stationary, stored, free
// CALLED: called.mlir:6:8: error: 'func.call' op calls 'f', which has no body to plan
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

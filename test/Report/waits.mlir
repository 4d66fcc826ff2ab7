// Which collectives hold the computation up. On the machine below a number
// takes an operation a second; a ring step takes half a second and 16 bytes
// one: an all-reduce of 4 numbers over 2 ranks sends 16 bytes in 2 steps, 2 s,
// a gather or scatter of them half of that.
// RUN: split-file %s %t
// RUN: tp-opt %t/beside.mlir --tp-cost-report=machine=%t/slow.yaml -o /dev/null 2>&1 | FileCheck %s --check-prefix=BESIDE
// RUN: tp-opt %t/partly.mlir --tp-cost-report=machine=%t/slow.yaml -o /dev/null 2>&1 | FileCheck %s --check-prefix=PARTLY
// RUN: tp-opt %t/chain.mlir --tp-cost-report=machine=%t/slow.yaml -o /dev/null 2>&1 | FileCheck %s --check-prefix=CHAIN
// RUN: tp-opt %t/end.mlir --tp-cost-report=machine=%t/slow.yaml -o /dev/null 2>&1 | FileCheck %s --check-prefix=END
// RUN: tp-opt %t/gradients.mlir --tp-cost-report=machine=%t/slow.yaml -o /dev/null 2>&1 | FileCheck %s --check-prefix=GRADIENTS
// RUN: tp-opt %t/parts.mlir --tp-plan="mesh=tp=2 sequence-parallel=off" --tp-insert-collectives --tp-cost-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=PARTS

//--- slow.yaml
name: slow
peaks: [{type: f32, flops: 1}]
memory_bandwidth: 1e9
memory_bytes: 1000
links: [{name: wire, ranks: 0, bandwidth: 16, latency: 0.5}]

//--- beside.mlir
// 3 s of other work, which 2 s of communication fit beside.
// BESIDE: for relu after, in @main, ring: overlaps
// BESIDE: total 9000000.000 us
// BESIDE: compute 7000000.000 us
// BESIDE-NEXT: held up 0.000 us by 0 collectives
// BESIDE-NEXT: step 7000000.000 us
// BESIDE: layers wire 1 0 16 2000000.000 0.000
!whole = tensor<4xf32, #tp.sharding<@mesh, [{}]>>
!other = tensor<3xf32, #tp.sharding<@mesh, [{}]>>
!partial = tensor<4xf32, #tp.sharding<@mesh, [{}], unreduced = {"tp"}>>
tp.mesh @mesh = <["tp"=2]>
func.func @main(%p: !partial, %q: !other) -> (!whole, !other) {
  %s = tp.all_reduce %p over {"tp"} : (!partial) -> !whole
  %u = tp.relu %q : (!other) -> !other
  %t = tp.relu %s : (!whole) -> !whole loc("after")
  return %t, %u : !whole, !other
}

//--- partly.mlir
// Work of 1 s in another function, 2 s to wait: 1 s is held up.
// PARTLY: for relu after, in @main, ring: blocks
// PARTLY: held up 1000000.000 us by 1 collectives
// PARTLY-NEXT: step 6000000.000 us
!whole = tensor<4xf32, #tp.sharding<@mesh, [{}]>>
!other = tensor<1xf32, #tp.sharding<@mesh, [{}]>>
!partial = tensor<4xf32, #tp.sharding<@mesh, [{}], unreduced = {"tp"}>>
tp.mesh @mesh = <["tp"=2]>
func.func private @work(%q: !other) -> !other {
  %u = tp.relu %q : (!other) -> !other
  return %u : !other
}
func.func private @after(%s: !whole) -> !whole {
  %t = tp.relu %s : (!whole) -> !whole loc("after")
  return %t : !whole
}
func.func @main(%p: !partial, %q: !other) -> (!whole, !other) {
  %s = tp.all_reduce %p over {"tp"} : (!partial) -> !whole
  %u = call @work(%q) : (!other) -> !other
  %t = call @after(%s) : (!whole) -> !whole
  return %t, %u : !whole, !other
}

//--- chain.mlir
// The second waits for the first, and both block; what runs in between, 1.5 s,
// is beside the first and half of the second.
// CHAIN: reduce_scatter tp 4xf32 0 2 1 8 1000000.000 wire
// CHAIN-NEXT: for all_gather {{.*}}, ring: overlaps
// CHAIN: all_gather tp 4xf32 0 2 1 8 1000000.000 wire
// CHAIN-NEXT: for relu {{.*}}: blocks
// CHAIN: held up 1000000.000 us by 1 collectives
// CHAIN-NEXT: step 6000000.000 us
!whole = tensor<4xf32, #tp.sharding<@mesh, [{}]>>
!split = tensor<4xf32, #tp.sharding<@mesh, [{"tp"}]>>
!other = tensor<1xf32, #tp.sharding<@mesh, [{}]>>
!partial = tensor<4xf32, #tp.sharding<@mesh, [{}], unreduced = {"tp"}>>
tp.mesh @mesh = <["tp"=2]>
func.func @main(%p: !partial, %q: !other) -> (!whole, !other) {
  %h = tp.reduce_scatter %p dim 0 over {"tp"} : (!partial) -> !split
  %s = tp.all_gather %h dim 0 over {"tp"} : (!split) -> !whole
  %u = tp.relu %q : (!other) -> !other
  %t = tp.relu %s : (!whole) -> !whole
  return %t, %u : !whole, !other
}

//--- end.mlir
// Nothing computes, and two block one another and the end of the step.
// END: for all_gather {{.*}}, ring: blocks
// END: for return {{.*}}: blocks
// END: held up 2000000.000 us by 2 collectives
// END-NEXT: step 2000000.000 us
!whole = tensor<4xf32, #tp.sharding<@mesh, [{}]>>
!split = tensor<4xf32, #tp.sharding<@mesh, [{"tp"}]>>
!partial = tensor<4xf32, #tp.sharding<@mesh, [{}], unreduced = {"tp"}>>
tp.mesh @mesh = <["tp"=2]>
func.func @main(%p: !partial) -> !whole {
  %h = tp.reduce_scatter %p dim 0 over {"tp"} : (!partial) -> !split
  %s = tp.all_gather %h dim 0 over {"tp"} : (!split) -> !whole
  return %s : !whole
}

//--- gradients.mlir
// Two layers backward: each layer's gradient of its weights, 2 x 2 from a batch
// of 2 over 2 ranks (8 s), is summed over the replicas beside the next
// product; the last sum has only the update behind it, which waits 2 s.
// GRADIENTS: for sub update2, in @main, ring: overlaps
// GRADIENTS: for sub update1, in @main, ring: blocks
// GRADIENTS: held up 2000000.000 us by 1 collectives
!g = tensor<2x2xf32, #tp.sharding<@mesh, [{"dp"}, {}]>>
!w = tensor<2x2xf32, #tp.sharding<@mesh, [{}, {}]>>
!p = tensor<2x2xf32, #tp.sharding<@mesh, [{}, {}], unreduced = {"dp"}>>
tp.mesh @mesh = <["dp"=2]>
func.func @main(%x1: !g, %x2: !g, %g3: !g, %w1: !w {tp.parameter}, %w2: !w {tp.parameter}) -> (!w, !w) {
  %d2 = tp.matmul %x2, %g3 {transpose_a} : (!g, !g) -> !p
  %s2 = tp.all_reduce %d2 over {"dp"} : (!p) -> !w
  %g2 = tp.matmul %g3, %w2 {transpose_b} : (!g, !w) -> !g
  %d1 = tp.matmul %x1, %g2 {transpose_a} : (!g, !g) -> !p
  %s1 = tp.all_reduce %d1 over {"dp"} : (!p) -> !w
  %u1 = tp.sub %w1, %s1 : (!w, !w) -> !w loc("update1")
  %u2 = tp.sub %w2, %s2 : (!w, !w) -> !w loc("update2")
  return %u1, %u2 : !w, !w
}

//--- parts.mlir
// Embedding, layers, head and loss apart. 15 tokens.
// PARTS: collectives, embedding
// PARTS: collectives, layers
// PARTS: collectives, loss
// PARTS: 15 tokens: {{.*}} a second, {{.*}} a second and rank
// PARTS-NEXT: part link collectives
// PARTS-NEXT: embedding nvlink
// PARTS-NEXT: layers nvlink 2 2
// PARTS-NEXT: loss nvlink
// PARTS-NOT: nvlink
func.func private @layer(%x: tensor<3x5x8xf32> {tp.stream}, %a: tensor<8x64xf32> {tp.parameter}, %b: tensor<64x8xf32> {tp.parameter})
    -> (tensor<3x5x8xf32> {tp.stream}) {
  %h = tp.matmul %x, %a : (tensor<3x5x8xf32>, tensor<8x64xf32>) -> tensor<3x5x64xf32>
  %g = tp.gelu %h : (tensor<3x5x64xf32>) -> tensor<3x5x64xf32>
  %y = tp.matmul %g, %b : (tensor<3x5x64xf32>, tensor<64x8xf32>) -> tensor<3x5x8xf32>
  %z = tp.add %x, %y {tp.stream} : (tensor<3x5x8xf32>, tensor<3x5x8xf32>) -> tensor<3x5x8xf32>
  return %z : tensor<3x5x8xf32>
}
func.func @main(%ids: tensor<3x5xi64>, %targets: tensor<3x5xi64>, %t: tensor<1024x8xf32> {tp.parameter},
    %a1: tensor<8x64xf32> {tp.parameter}, %b1: tensor<64x8xf32> {tp.parameter},
    %a2: tensor<8x64xf32> {tp.parameter}, %b2: tensor<64x8xf32> {tp.parameter}) -> tensor<f32> {
  %x = tp.embedding %t, %ids {tp.stream} : (tensor<1024x8xf32>, tensor<3x5xi64>) -> tensor<3x5x8xf32>
  %y = call @layer(%x, %a1, %b1) : (tensor<3x5x8xf32>, tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<3x5x8xf32>
  %z = call @layer(%y, %a2, %b2) : (tensor<3x5x8xf32>, tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<3x5x8xf32>
  %l = tp.matmul %z, %t {transpose_b} : (tensor<3x5x8xf32>, tensor<1024x8xf32>) -> tensor<3x5x1024xf32>
  %loss = tp.cross_entropy %l, %targets : (tensor<3x5x1024xf32>, tensor<3x5xi64>) -> tensor<f32>
  return %loss : tensor<f32>
}

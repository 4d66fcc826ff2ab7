// What a rank holds, by hand. Sizes are those of the larger shard of two.
// RUN: split-file %s %t
// RUN: tp-opt %t/across.mlir --tp-cost-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=ACROSS
// RUN: tp-opt %t/view.mlir --tp-cost-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=VIEW
// RUN: tp-opt %t/cache.mlir --tp-cost-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=CACHE
// RUN: tp-opt %t/kept.mlir --tp-cost-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=KEPT
// RUN: tp-opt %t/kept.mlir --tp-cost-report=optimizer=adam -o /dev/null 2>&1 | FileCheck %s --check-prefix=ADAM
// RUN: tp-opt %t/across.mlir --tp-cost-report="optimizer=adam zero=3 data-axes=tp" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ZERO3
// RUN: tp-opt %t/across.mlir --tp-cost-report="optimizer=adam zero=3 recompute=layers" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NODATA
// RUN: tp-opt %t/kept.mlir --tp-cost-report="optimizer=adam gradient-type=f32" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: tp-opt %t/types.mlir --tp-cost-report=optimizer=adam -o /dev/null 2>&1 | FileCheck %s --check-prefix=TYPES

//--- across.mlir
// %a has 3 of 5 rows of 7 numbers, 84 bytes; %b and %e 3 x 6, 72 bytes. While
// %d is made, %b lives on: 84 + 72 + 84 = 240.
// ACROSS: memory of a rank, forward only
// ACROSS: parameters 168 1.7e-07 1.6e-07
// ACROSS-NEXT: KV cache 0
// ACROSS-NEXT: other inputs 84
// ACROSS-NEXT: peak temporaries 240
// ACROSS-NEXT: at sigmoid d, in @main
// ACROSS-NEXT: total 492

// Half of the 42 numbers of %w, with a gradient and two moments each. %a and %d
// are kept, 168 bytes; while %e is made, %b and all of %w are there as well:
// 72 + 72 + 168 = 312.
// ZERO3: memory of a rank, training with Adam, ZeRO 3 over tp
// ZERO3: parameters 84
// ZERO3-NEXT: gradients 84
// ZERO3-NEXT: optimizer states 168
// ZERO3: saved activations 168
// ZERO3-NEXT: peak temporaries 312
// ZERO3-NEXT: at matmul e, in @main
// ZERO3-NEXT: total 900
#rows = #tp.sharding<@mesh, [{"tp"}, {}]>
#whole = #tp.sharding<@mesh, [{}, {}]>
tp.mesh @mesh = <["tp"=2]>
func.func @main(%x: tensor<5x7xf32, #rows>, %w: tensor<7x6xf32, #whole> {tp.parameter}) -> tensor<5x6xf32, #rows> {
  %a = tp.relu %x : (tensor<5x7xf32, #rows>) -> tensor<5x7xf32, #rows>
  %b = tp.matmul %a, %w : (tensor<5x7xf32, #rows>, tensor<7x6xf32, #whole>) -> tensor<5x6xf32, #rows>
  %d = tp.sigmoid %a : (tensor<5x7xf32, #rows>) -> tensor<5x7xf32, #rows> loc("d")
  %e = tp.matmul %d, %w : (tensor<5x7xf32, #rows>, tensor<7x6xf32, #whole>) -> tensor<5x6xf32, #rows> loc("e")
  %f = tp.add %b, %e : (tensor<5x6xf32, #rows>, tensor<5x6xf32, #rows>) -> tensor<5x6xf32, #rows>
  return %f : tensor<5x6xf32, #rows>
}

// NODATA: memory of a rank, training with Adam, layers recomputed, ZeRO 3 over no axis: name data-axes
// NODATA: parameters 168

//--- view.mlir
// A reshape is a view, which keeps %y; in the callee as well. 3 x 5 x 4 bytes
// twice; the result of the call is not read by anything, and not returned.
// VIEW: peak temporaries 120
// VIEW-NEXT: at relu z, in @layer
#whole = #tp.sharding<@mesh, [{}]>
#whole2 = #tp.sharding<@mesh, [{}, {}]>
tp.mesh @mesh = <["tp"=2]>
func.func private @layer(%r: tensor<15xf32, #whole>) -> tensor<15xf32, #whole> {
  %z = tp.relu %r : (tensor<15xf32, #whole>) -> tensor<15xf32, #whole> loc("z")
  return %z : tensor<15xf32, #whole>
}
func.func @main(%x: tensor<3x5xf32, #whole2>) {
  %y = tp.relu %x : (tensor<3x5xf32, #whole2>) -> tensor<3x5xf32, #whole2>
  %r = tp.reshape %y : (tensor<3x5xf32, #whole2>) -> tensor<15xf32, #whole>
  %z = call @layer(%r) : (tensor<15xf32, #whole>) -> tensor<15xf32, #whole>
  return
}

//--- cache.mlir
// 2 of 3 heads of 4 numbers for 9 tokens, 288 bytes. The cache grows in place
// by one token of 2 x 4 numbers, 32 bytes.
// CACHE: KV cache 288
// CACHE-NEXT: other inputs 32
// CACHE-NEXT: peak temporaries 32
// CACHE-NEXT: at concat
// CACHE-NEXT: total 352
#heads = #tp.sharding<@mesh, [{}, {}, {"tp"}, {}]>
tp.mesh @mesh = <["tp"=2]>
func.func @main(%n: tensor<1x1x3x4xf32, #heads>, %c: tensor<1x9x3x4xf32, #heads>) -> tensor<1x10x3x4xf32, #heads> {
  %k = tp.concat %c, %n along 1 : (tensor<1x9x3x4xf32, #heads>, tensor<1x1x3x4xf32, #heads>) -> tensor<1x10x3x4xf32, #heads>
  return %k : tensor<1x10x3x4xf32, #heads>
}

//--- kept.mlir
// Of 3 x 4 numbers in bf16, 24 bytes each: %a for the second product, %c (a
// softmax needs its result), %d and %s (a product needs both sides, a sigmoid
// its result: %s is kept once), and 12 bytes of mask; not the inputs, the sum
// or the constant. %v of 32 bytes depends on a parameter: that is 140. In the
// second product %v, %a and %b are there, 80 bytes.
// KEPT: peak temporaries 80
// KEPT-NEXT: at matmul {{.*}}, in @main
// KEPT: total 144
// KEPT: what a backward pass would keep 140

// 16 numbers of 2 + 2 + 12 bytes. %e is there beside all that is kept.
// ADAM: memory of a rank, training with Adam{{$}}
// ADAM: parameters 32
// ADAM-NEXT: gradients 32
// ADAM-NEXT: optimizer states 192
// ADAM: saved activations 140
// ADAM-NEXT: peak temporaries 24
// ADAM-NEXT: at sigmoid
// ADAM-NEXT: total 452

// WIDE: gradients 64
// WIDE-NEXT: optimizer states 192
!t = tensor<3x4xbf16, #tp.sharding<@mesh, [{}, {}]>>
!w = tensor<4x4xbf16, #tp.sharding<@mesh, [{}, {}]>>
!seed = tensor<i64, #tp.sharding<@mesh, []>>
!one = tensor<bf16, #tp.sharding<@mesh, []>>
tp.mesh @mesh = <["tp"=2]>
func.func @main(%x: !t, %seed: !seed, %w: !w {tp.parameter}) -> !t {
  %half = tp.constant dense<0.5> : tensor<bf16> as !one
  %v = tp.mul %w, %half : (!w, !one) -> !w
  %a = tp.matmul %x, %v : (!t, !w) -> !t
  %b = tp.matmul %a, %v : (!t, !w) -> !t
  %c = tp.softmax %b along 1 : (!t) -> !t
  %d = tp.dropout %c, %seed {rate = 0.1 : f64} : (!t, !seed) -> !t
  %e = tp.add %d, %d : (!t, !t) -> !t
  %s = tp.sigmoid %e : (!t) -> !t
  %y = tp.mul %d, %s : (!t, !t) -> !t
  return %y : !t
}

//--- types.mlir
// Three numbers each: f64 has moments in f64 and no copy, f32 no copy either;
// integers are not trained: 3 * (8 + 4 + 4) bytes of parameters, 3 * (8 + 4) of
// gradients, 3 * (16 + 8) of states.
// TYPES: parameters 48
// TYPES-NEXT: gradients 36
// TYPES-NEXT: optimizer states 72
#whole = #tp.sharding<@mesh, [{}]>
tp.mesh @mesh = <["tp"=2]>
func.func @main(%a: tensor<3xf64, #whole> {tp.parameter}, %b: tensor<3xf32, #whole> {tp.parameter},
                %c: tensor<3xi32, #whole> {tp.parameter}) {
  return
}

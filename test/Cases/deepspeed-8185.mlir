// deepspeedai/DeepSpeed 8185: shards of 50257 rows were rounded to a grain of 64,
// and 17 rows were lost. Dealt one by one the shards tile the dimension, the last
// one being odd; a grain must divide the dimension or is refused with both.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=4]>
#rows = #tp.sharding<@mesh, [{"tp"}, {}]>
func.func @one_by_one(%x: tensor<50257x8xf32, #rows>) -> tensor<50257x8xf32, #rows> {
  %y = tp.relu %x : (tensor<50257x8xf32, #rows>) -> tensor<50257x8xf32, #rows>
  return %y : tensor<50257x8xf32, #rows>
}

// -----

tp.mesh @mesh = <["tp"=4]>
#grain = #tp.sharding<@mesh, [{"tp", unit = 64}, {}]>
// expected-error @below {{unit = 64 does not divide dimension 0 of 50257 elements}}
func.func @grain_of_64(%x: tensor<50257x8xf32, #grain>) {
  return
}

// One linear layer, x w, on a batch of 2 sequences of 8 tokens.
//
// There are two ways to split w over an axis: by columns, which gives every
// rank some columns of y, to be gathered at the end; or by rows, which gives
// every rank a term of a sum, to be reduced at the end. The type of the result
// has no sharding, so it is wanted whole and one of the two collectives is
// needed; tp-plan takes the cheaper one.

func.func @main(%x: tensor<2x8x64xf32> {tp.name = "x"},
                %w: tensor<64x256xf32> {tp.name = "w", tp.parameter})
    -> (tensor<2x8x256xf32> {tp.name = "y"}) {
  %y = tp.matmul %x, %w
      : (tensor<2x8x64xf32>, tensor<64x256xf32>) -> tensor<2x8x256xf32>
  return %y : tensor<2x8x256xf32>
}

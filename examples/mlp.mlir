// A feed-forward block: relu(x w1) w2, the smallest program in which tensor
// parallelism pays.
//
// The program is open: no tensor says how it lies on a mesh, tp-plan decides.
// On one axis "tp" it splits the columns of w1 and the rows of w2. The hidden
// activations are then split like the columns of w1, relu works on each piece
// alone, and the second product leaves on every rank a term of a sum: one
// all-reduce at the end is all the communication there is.
//
// `tp.name` is a name that survives every pass; `tp.parameter` marks a weight,
// whose place is a choice of the planner. A result is wanted whole unless its
// type says otherwise.

func.func @main(%x: tensor<8x64xf32> {tp.name = "x"},
                %w1: tensor<64x256xf32> {tp.name = "w1", tp.parameter},
                %w2: tensor<256x64xf32> {tp.name = "w2", tp.parameter})
    -> (tensor<8x64xf32> {tp.name = "y"}) {
  %product = tp.matmul %x, %w1
      : (tensor<8x64xf32>, tensor<64x256xf32>) -> tensor<8x256xf32>
  %hidden = tp.relu %product : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %y = tp.matmul %hidden, %w2
      : (tensor<8x256xf32>, tensor<256x64xf32>) -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

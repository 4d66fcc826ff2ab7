func.func @main(%x: tensor<1x8xbf16>, %w: tensor<8x8750000000xbf16> {tp.parameter}) -> tensor<1x8750000000xbf16> {
  %y = tp.matmul %x, %w : (tensor<1x8xbf16>, tensor<8x8750000000xbf16>) -> tensor<1x8750000000xbf16>
  return %y : tensor<1x8750000000xbf16>
}

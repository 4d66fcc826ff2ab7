// What no mechanical fix puts right stays an error.
// RUN: tp-opt %s --tp-legalize --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
#lost = #tp.sharding<@mesh, [{"pp"}]>
// expected-error @below {{argument 0 is laid out wrongly [R10]: axis "pp" is not one of the mesh's axes}}
// expected-note @below {{the mesh is #tp.mesh<["tp"=2]>}}
func.func @unknown_axis_r10(%x: tensor<4xf32, #lost>, %y: tensor<4xf32, #sum>) -> tensor<4xf32, #sum> {
  // expected-remark @below {{fixed [R1]: all-reduce it over "tp" before this operation; the result is then #tp.sharding<@mesh, [{}]>}}
  %z = tp.relu %y : (tensor<4xf32, #sum>) -> tensor<4xf32, #sum>
  // expected-remark @below {{fixed [R13]: reshard operand 0 to the layout of the signature of @unknown_axis_r10}}
  return %z : tensor<4xf32, #sum>
}

// -----

tp.mesh @mesh = <["tp"=2]>
#split = #tp.sharding<@mesh, [{"tp"}]>
// expected-note @below {{its operand is laid out here: #tp.sharding<@mesh, [{"tp"}]>}}
func.func @foreign_operation_r12(%x: tensor<4xf32, #split>) -> tensor<4xf32, #split> {
  // expected-error @below {{'arith.negf' meets a sharded value, whose layout it would ignore [R12]}}
  // expected-note @below {{fix: use the tp operation, or partition first}}
  %y = arith.negf %x : tensor<4xf32, #split>
  return %y : tensor<4xf32, #split>
}

// -----

tp.mesh @a = <["tp"=2]>
tp.mesh @b = <["tp"=3]>
#on_a = #tp.sharding<@a, [{}]>
#on_b = #tp.sharding<@b, [{}]>
func.func @two_meshes_r10(%x: tensor<5xf32, #on_a>) -> tensor<5xf32, #on_b> {
  // expected-error @below {{'tp.reshard' mixes values of different meshes [R10]}}
  // expected-note @below {{this value lies on @b}}
  // expected-note @below {{fix: lay all of them out on one mesh}}
  %y = tp.reshard %x : (tensor<5xf32, #on_a>) -> tensor<5xf32, #on_b>
  return %y : tensor<5xf32, #on_b>
}

// -----

func.func @not_even_well_formed(%x: tensor<5xf32>) -> tensor<6xf32> {
  // expected-error @below {{'tp.relu' op result type 'tensor<6xf32>' differs from the operand's 'tensor<5xf32>'}}
  %y = tp.relu %x : (tensor<5xf32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}

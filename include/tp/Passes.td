// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Every pass, in the order of the pipeline.

#ifndef TP_PASSES_TD
#define TP_PASSES_TD

include "mlir/Pass/PassBase.td"

def Check : Pass<"tp-check", "::mlir::ModuleOp"> {
  let summary = "reports every sharding violation, each once";
  let description = [{
    The type checker: every rank must be able to compute its pieces of an
    operation's results from its pieces of the operands. Reads nothing but the
    operations' rules. Each violation comes with its cause and with fixes that
    type-check. `tp-opt` runs it on what it reads, unless the first pass is
    `tp-legalize`, and, under `--verify-each`, after every pass.

    Before:
    ```mlir
    tp.mesh @mesh = <["tp"=2]>
    #sum = #tp.sharding<@mesh, [ {} ], unreduced = {"tp"}>
    func.func @main(%x: tensor<4xf32, #sum>) -> tensor<4xf32, #sum> {
      %0 = tp.relu %x : (tensor<4xf32, #sum>) -> tensor<4xf32, #sum>
      return %0 : tensor<4xf32, #sum>
    }
    ```
    Run: --tp-check

    After:
    ```text
    'tp.relu' is applied to a sum that is not finished: operand 0 is unreduced over "tp" [R1]
    fix: all-reduce it over "tp" before this operation
    ```
  }];
}

def PrintShardingRules : Pass<"tp-print-sharding-rules", "::mlir::ModuleOp"> {
  let summary = "writes the sharding rule of every operation beside it";
  let description = [{
    Adds the attribute `tp.sharding_rule`: the factors of each dimension, their
    sizes and kinds, and the sets of operands in which the operation is linear.
    `moves` says that elements stay what they are, `maximum` that it takes the
    larger of elements, so that an unfinished maximum passes, and `zero` that the
    results are zero, so that they may be unreduced.

    Before:
    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = tp.relu %x : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
    Run: --tp-print-sharding-rules

    After:
    ```mlir
    module {
      func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
        %0 = tp.relu %arg0 {tp.sharding_rule = "([d0]) -> ([d0]) {d0=4}"} : (tensor<4xf32>) -> tensor<4xf32>
        return %0 : tensor<4xf32>
      }
    }
    ```
  }];
}

def Legalize : Pass<"tp-legalize", "::mlir::ModuleOp"> {
  let summary = "applies the mechanical fixes of sharding violations";
  let description = [{
    Puts a program right that tp-check refuses: a collective before a
    nonlinearity, a reshard where operands disagree or a call or return differs
    from the signature; a collective that does not fit is replaced or left out.
    Of the fixes that tp-check offers the first one is taken; a remark says so
    for each. What has none stays an error.

    Before:
    ```mlir
    tp.mesh @mesh = <["tp"=2]>
    #sum = #tp.sharding<@mesh, [ {} ], unreduced = {"tp"}>
    #whole = #tp.sharding<@mesh, [ {} ]>
    func.func @main(%x: tensor<4xf32, #sum>) -> tensor<4xf32, #whole> {
      %0 = tp.relu %x : (tensor<4xf32, #sum>) -> tensor<4xf32, #sum>
      %1 = tp.all_reduce %0 over {"tp"} : (tensor<4xf32, #sum>) -> tensor<4xf32, #whole>
      return %1 : tensor<4xf32, #whole>
    }
    ```
    Run: --tp-legalize

    After:
    ```mlir
    tp.mesh @mesh = <["tp"=2]>
    #sum = #tp.sharding<@mesh, [ {} ], unreduced = {"tp"}>
    #whole = #tp.sharding<@mesh, [ {} ]>
    func.func @main(%x: tensor<4xf32, #sum>) -> tensor<4xf32, #whole> {
      %0 = tp.all_reduce %x over {"tp"} : (tensor<4xf32, #sum>) -> tensor<4xf32, #whole>
      %1 = tp.relu %0 : (tensor<4xf32, #whole>) -> tensor<4xf32, #whole>
      return %1 : tensor<4xf32, #whole>
    }
    ```
  }];
  let dependentDialects = ["::tp::TPDialect"];
}

def LegalDegrees : Pass<"tp-legal-degrees", "::mlir::ModuleOp"> {
  let summary = "lists the numbers of ranks that a model may be split over";
  let description = [{
    For an open program: every number of ranks up to `max` on one axis, with what
    excludes it: query heads, KV heads that neither divide nor are divided by it,
    weights of which it divides no dimension. It is the arithmetic by which
    tp-plan refuses a mesh, weights being stationary and shards even. A legal
    degree may still leave a dimension undivided, which is listed: the weight is
    then split along another one, which costs more. With `uneven=allow` nothing
    is excluded, for tp-plan deals whole heads and columns out then; listed is
    how few and how many heads a rank gets.

    Before:
    ```mlir
    func.func @main(%x: tensor<4x6xf32>, %a: tensor<6x8xf32> {tp.parameter}) -> tensor<4x8xf32> {
      %0 = tp.matmul %x, %a : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
      return %0 : tensor<4x8xf32>
    }
    ```
    Run: --tp-legal-degrees="max=8" -o /dev/null

    After:
    ```text
    legal degrees up to 8: 1, 2, 3, 4, 6, 8
    4: not divided: 6 (dimension 0 of argument 1)
    excluded
    5: 5 divides no dimension of argument 1 [6, 8]
    ```
  }];
  let options = [
    Option<"max", "max", "int64_t", "128", "the largest number of ranks">,
    Option<"uneven", "uneven", "std::string", "\"refuse\"",
           "refuse (shards are equal) or allow, as in tp-plan">,
    Option<"format", "format", "std::string", "\"text\"", "text or json">,
    Option<"output", "output", "std::string", "",
           "file for the report; - is standard output, default standard error">,
  ];
}

def ImportShardy : Pass<"tp-import-shardy", "::mlir::ModuleOp"> {
  let summary = "reads Shardy's annotations as pins";
  let description = [{
    `sdy.mesh` becomes `tp.mesh`; `sdy.sharding` on arguments, results and
    operations becomes the encoding of that value; `sdy.sharding_constraint` and
    `sdy.reshard` become `tp.reshard`. A tensor whose dimensions are all open
    and bare (`{?}`) stays undecided. Axes in `replicated` are checked; in a
    closed sharding they say nothing more.

    Errors, because no tp.sharding says the same: a dimension that is open in
    part (`{"a", ?}`), a priority, a mesh with an order of devices of its own or
    without axes, a dimension that its axes do not divide (Shardy pads it, tp
    deals it evenly).

    Before:
    ```mlir
    sdy.mesh @mesh = <["tp"=2]>
    func.func @main(%x: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [ {}, {"tp"} ]>}) -> tensor<4x6xf32> {
      %0 = tp.relu %x : (tensor<4x6xf32>) -> tensor<4x6xf32>
      return %0 : tensor<4x6xf32>
    }
    ```
    Run: --tp-import-shardy

    After:
    ```mlir
    #cols = #tp.sharding<@mesh, [ {}, {"tp"} ]>
    tp.mesh @mesh = <["tp"=2]>
    func.func @main(%x: tensor<4x6xf32, #cols>) -> tensor<4x6xf32> {
      %0 = tp.relu %x : (tensor<4x6xf32, #cols>) -> tensor<4x6xf32>
      return %0 : tensor<4x6xf32>
    }
    ```
  }];
  let dependentDialects = ["::tp::TPDialect"];
}

def DecomposeCrossEntropy
    : Pass<"tp-decompose-cross-entropy", "::mlir::ModuleOp"> {
  let summary = "writes each tp.cross_entropy by its parts";
  let description = [{
    Over the classes only a maximum, sums and a lookup remain, each of which may
    be split, with one number a token to reduce. `tp-plan` does this first.

    Before:
    ```mlir
    func.func @main(%x: tensor<5x7xf32>, %t: tensor<5xi64>) -> tensor<f32> {
      %0 = tp.cross_entropy %x, %t : (tensor<5x7xf32>, tensor<5xi64>) -> tensor<f32>
      return %0 : tensor<f32>
    }
    ```
    Run: --tp-decompose-cross-entropy

    After:
    ```mlir
    module {
      func.func @main(%arg0: tensor<5x7xf32>, %arg1: tensor<5xi64>) -> tensor<f32> {
        %0 = tp.reduce max %arg0 over [1] : (tensor<5x7xf32>) -> tensor<5xf32>
        %1 = tp.broadcast %0 along [1] : (tensor<5xf32>) -> tensor<5x7xf32>
        %2 = tp.sub %arg0, %1 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
        %3 = tp.exp %2 : (tensor<5x7xf32>) -> tensor<5x7xf32>
        %4 = tp.reduce sum %3 over [1] : (tensor<5x7xf32>) -> tensor<5xf32>
        %5 = tp.log %4 : (tensor<5xf32>) -> tensor<5xf32>
        %6 = tp.take_target %2, %arg1 : (tensor<5x7xf32>, tensor<5xi64>) -> tensor<5xf32>
        %7 = tp.sub %5, %6 : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
        %8 = tp.constant dense<1.000000e+00> : tensor<5xf32>
        %9 = tp.reduce sum %7 over [0] : (tensor<5xf32>) -> tensor<f32>
        %10 = tp.reduce sum %8 over [0] : (tensor<5xf32>) -> tensor<f32>
        %11 = tp.div %9, %10 : (tensor<f32>, tensor<f32>) -> tensor<f32>
        return %11 : tensor<f32>
      }
    }
    ```
  }];
  let dependentDialects = ["::tp::TPDialect"];
}

def SplitFusedWeights : Pass<"tp-split-fused-weights", "::mlir::ModuleOp"> {
  let summary = "parameters that hold several weights become these";
  let description = [{
    Checkpoints keep the q, k and v projections, or gate and up, in one tensor
    of which a program takes slices after the product. Ranks that split such a
    tensor would hold half of q and k in place of half of each. This pass takes
    the slices of the parameters (and of their biases) in place of the product,
    so that each block is a parameter of its own; `tp.stored` says which rows of
    which tensor of the checkpoint it is. Run it before tp-plan; tp-run does.

    Blocks in any order and of any number are found, taken after the product or
    of the parameter itself (by two slices or more: one reads a table), also
    those that lie group by group ([kv_heads, 2 + heads/kv_heads, head_dim] rows,
    taken apart after a reshape). What else is taken of a product, or a block
    that overlaps another, leaves the parameter as it is, with a warning.
    A parameter that is pinned so that ranks hold whole groups of blocks stays as
    it is, too; a pin across blocks is an error.

    Before:
    ```mlir
    func.func @main(%x: tensor<4x6xf32>, %w: tensor<8x6xf32> {tp.name = "gate_up", tp.parameter})
        -> tensor<4x4xf32> {
      %0 = tp.matmul %x, %w {transpose_b} : (tensor<4x6xf32>, tensor<8x6xf32>) -> tensor<4x8xf32>
      %1 = tp.slice %0 at [0, 0] : (tensor<4x8xf32>) -> tensor<4x4xf32>
      %2 = tp.slice %0 at [0, 4] : (tensor<4x8xf32>) -> tensor<4x4xf32>
      %3 = tp.mul %1, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      return %3 : tensor<4x4xf32>
    }
    ```
    Run: --tp-split-fused-weights

    After:
    ```mlir
    module {
      func.func @main(%arg0: tensor<4x6xf32> {tp.name = "argument 0"}, %arg1: tensor<4x6xf32> {tp.name = "gate_up[0:4]", tp.parameter, tp.stored = #tp.stored<"gate_up" [8, 6], dim 0 from 0 size 4>}, %arg2: tensor<4x6xf32> {tp.name = "gate_up[4:8]", tp.parameter, tp.stored = #tp.stored<"gate_up" [8, 6], dim 0 from 4 size 4>}) -> tensor<4x4xf32> {
        %0 = tp.matmul %arg0, %arg1 {transpose_b} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x4xf32>
        %1 = tp.matmul %arg0, %arg2 {transpose_b} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x4xf32>
        %2 = tp.mul %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
        return %2 : tensor<4x4xf32>
      }
    }
    ```
  }];
  let dependentDialects = ["::tp::TPDialect"];
}

def Plan : Pass<"tp-plan", "::mlir::ModuleOp"> {
  let summary = "chooses the layout of every value, at the least predicted time";
  let description = [{
    Open IR in, typed IR out: every tensor gets an encoding, and where a use
    wants another layout than its value has, a `tp.reshard` stands in between.
    An encoding that is there already pins its value. The optimum is over the
    inlined program; calls that end with equal types share a function.

    Ties: fewest collectives, then least memory, then the first choice.

    `memory-limit` bounds what a rank holds for the whole step (parameters,
    other inputs) plus the most that one operation works with: its operands and
    results, and copies of weights gathered for it. Values that merely live on
    while an operation runs are not counted.

    `ranks=16` in place of a mesh plans on every mesh of data and model axes of
    16 ranks, either inside the other, on two model axes, and on fewer ranks, and
    takes the fastest whose parameters fit; a remark lists them all, and what
    excludes one. Neighbours in the last axis are neighbours in the machine.

    Before:
    ```mlir
    func.func @main(%x: tensor<4x6xf32>, %a: tensor<6x8xf32> {tp.parameter},
                    %b: tensor<8x6xf32> {tp.parameter}) -> tensor<4x6xf32> {
      %0 = tp.matmul %x, %a : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
      %1 = tp.relu %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
      %2 = tp.matmul %1, %b : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
      return %2 : tensor<4x6xf32>
    }
    ```
    Run: --tp-plan="mesh=tp=2"

    After:
    ```mlir
    #rank2_sum_tp = #tp.sharding<@mesh, [ {}, {} ], unreduced = {"tp"}>
    #split0_tp_rank2 = #tp.sharding<@mesh, [ {"tp"}, {} ]>
    #split1_tp_rank2 = #tp.sharding<@mesh, [ {}, {"tp"} ]>
    #whole2 = #tp.sharding<@mesh, [ {}, {} ]>
    module attributes {tp.machine = "h100", tp.plan = {lower_bound = 7801529 : i64, model_axes = "\22tp\22", picoseconds = 7801529 : i64, sequence_parallel = "auto", weights = "stationary"}} {
      tp.mesh @mesh = <["tp"=2]>
      func.func @main(%arg0: tensor<4x6xf32, #whole2>, %arg1: tensor<6x8xf32, #split1_tp_rank2> {tp.parameter}, %arg2: tensor<8x6xf32, #split0_tp_rank2> {tp.parameter}) -> tensor<4x6xf32, #whole2> {
        %0 = tp.matmul %arg0, %arg1 : (tensor<4x6xf32, #whole2>, tensor<6x8xf32, #split1_tp_rank2>) -> tensor<4x8xf32, #split1_tp_rank2>
        %1 = tp.relu %0 : (tensor<4x8xf32, #split1_tp_rank2>) -> tensor<4x8xf32, #split1_tp_rank2>
        %2 = tp.matmul %1, %arg2 : (tensor<4x8xf32, #split1_tp_rank2>, tensor<8x6xf32, #split0_tp_rank2>) -> tensor<4x6xf32, #rank2_sum_tp>
        %3 = tp.reshard %2 : (tensor<4x6xf32, #rank2_sum_tp>) -> tensor<4x6xf32, #whole2>
        return %3 : tensor<4x6xf32, #whole2>
      }
    }
    ```
  }];
  let dependentDialects = ["::tp::TPDialect"];
  let options = [
    Option<"mesh", "mesh", "std::string", "",
           "axes, as tp=8 or dp=2,tp=4; not needed if the module has a tp.mesh">,
    Option<"ranks", "ranks", "int64_t", "0",
           "in place of mesh: the fastest mesh of this many ranks is found">,
    Option<"machine", "machine", "std::string", "\"h100\"",
           "a machine of share/machines, or a YAML file">,
    Option<"sequenceParallel", "sequence-parallel", "std::string", "\"auto\"",
           "values marked tp.stream: off (whole), on (split along the "
           "sequence) or auto (by cost)">,
    Option<"weights", "weights", "std::string", "\"stationary\"",
           "stationary (split over all model axes, used where they lie), "
           "stored (split, may be gathered) or free">,
    Option<"modelAxes", "model-axes", "std::string", "",
           "axes that split the model; default: all but dp, data and fsdp">,
    Option<"uneven", "uneven", "std::string", "\"refuse\"",
           "refuse (shards are equal) or allow (ranks that do not divide a size "
           "get whole units of it, as many as can be, some of them none)">,
    Option<"memoryLimit", "memory-limit", "std::string", "",
           "the most bytes that a plan may take on a rank, as 80GB, 80GiB, "
           "80000000000 or machine (what the machine has); default: none">,
    Option<"bytesPerParameter", "bytes-per-parameter", "int64_t", "0",
           "bytes that a step keeps for each element of a parameter, as 16 for "
           "Adam in mixed precision; default: those of its type">,
    Option<"memorySearch", "memory-search", "std::string", "\"quick\"",
           "within a memory limit: quick (about a second, may leave a gap to the "
           "bound) or exhaustive (up to minutes, which may close it)">,
    Option<"nth", "nth", "int64_t", "1",
           "which plan to take: 2 is the cheapest but for one">,
    Option<"certificate", "certificate", "bool", "false",
           "leave the proof of the lower bound in the module">,
  ];
}

def CheckPlan : Pass<"tp-check-plan", "::mlir::ModuleOp"> {
  let summary = "prices a plan again and proves its lower bound";
  let description = [{
    For a module that tp-plan has written. The plan is read from the types, its
    price is worked out from the machine, and the bound below which no plan under
    the recorded settings can be is computed from a certificate, by code that
    shares nothing with the solver but the statement of the problem. What the
    module says of its plan must agree with both. The certificate is the one that
    `tp-plan="certificate"` left in the module, or else one that is found again;
    it need not be trusted, as any numbers give a true bound and good ones a high
    one. Where bound and price differ, the report gives the gap.

    Before:
    ```mlir
    func.func @main(%x: tensor<4x6xf32>, %a: tensor<6x8xf32> {tp.parameter},
                    %b: tensor<8x6xf32> {tp.parameter}) -> tensor<4x6xf32> {
      %0 = tp.matmul %x, %a : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
      %1 = tp.matmul %0, %b : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
      return %1 : tensor<4x6xf32>
    }
    ```
    Run: --tp-plan="mesh=tp=2 certificate" --tp-check-plan -o /dev/null

    After:
    ```text
    plan: 7.801 us a step, by its types
    bound: 7.801 us, proven by a certificate of 44 bytes in the module
    gap: 0, no plan is cheaper
    ```
  }];
  let options = [
    Option<"output", "output", "std::string", "",
           "file for the report; - is standard output, default standard error">,
  ];
}

def Explain : Pass<"tp-explain", "::mlir::ModuleOp"> {
  let summary = "says why weights and collectives are as they are, and what else costs";
  let description = [{
    For a module that tp-plan has written. Each weight: its layout (`column`:
    what its product makes is split, `row`: what it sums over), where the split
    goes, the constraint without which it would lie elsewhere, the layouts that
    are excluded, and the next best one with its price. Each collective: where it
    stands, its bytes and time, who wants the value otherwise than it is made,
    and the best plan without it, or the constraint that leaves none. Then what
    each constraint, the pins and each setting of `sequence-parallel` cost. All
    alternatives are solved, not estimated.

    `why-not=wq:row` prices a layout that was not chosen, in all layers: `row`,
    `column`, `whole` or a list of axes as a sharding has it, without blanks; of a
    weight by a part of its name that only one has, numbers of layers apart. Commas join layouts that go
    together, semicolons separate questions.

    Before:
    ```mlir
    func.func @main(%x: tensor<4x6xf32>, %a: tensor<6x8xf32> {tp.parameter},
                    %b: tensor<8x6xf32> {tp.parameter}) -> tensor<4x6xf32> {
      %0 = tp.matmul %x, %a : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
      %1 = tp.relu %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
      %2 = tp.matmul %1, %b : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
      return %2 : tensor<4x6xf32>
    }
    ```
    Run: --tp-plan="mesh=tp=2" --tp-explain -o /dev/null

    After:
    ```text
    plan for #tp.mesh<["tp"=2]>, machine h100, weights=stationary
    argument 1 [6, 8]
    column, dimension 1 of 8 over "tp", 4 a rank
    why: each rank makes its part of what tp.matmul with argument 1 gives; it stays split through tp.relu up to tp.matmul with argument 2, which sums over the split; no collective on the way
    forced by weights=stationary: with weights=free it is whole
    next best: row
    all_reduce of [4, 6] f32 after tp.matmul with argument 2, before result 0
    without it: no plan, forced by weights=stationary
    ```
  }];
  let options = [
    Option<"whyNot", "why-not", "std::string", "",
           "layouts to price in place of the explanation, as wq:row;wo:column">,
    Option<"output", "output", "std::string", "",
           "file for the report; - is standard output, default standard error">,
  ];
}

def PrintPlan : Pass<"tp-print-plan", "::mlir::ModuleOp"> {
  let summary = "prints a plan as a table or as JSON";
  let description = [{
    For a module that tp-plan has written: each weight, how it is split, which
    part of which tensor of the checkpoint a rank holds, and the collectives that
    what it makes meets next. Layers that are alike share a row. `format=json`
    lists every weight, rank and group; docs/plan.md names its fields.

    Before:
    ```mlir
    func.func @main(%x: tensor<4x6xf32>, %a: tensor<6x8xf32> {tp.parameter},
                    %b: tensor<8x6xf32> {tp.parameter}) -> tensor<4x6xf32> {
      %0 = tp.matmul %x, %a : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
      %1 = tp.matmul %0, %b : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
      return %1 : tensor<4x6xf32>
    }
    ```
    Run: --tp-plan="mesh=tp=2" --tp-print-plan -o /dev/null

    After:
    ```text
    weight shape split first rank last rank then
    argument 1 [6, 8] column "tp" [:, 0:4] [:, 4:8] -
    argument 2 [8, 6] row "tp" [0:4, :] [4:8, :] 1
    1 all_reduce of [4, 6] f32 after tp.matmul with argument 2, before result 0
    ```
  }];
  let options = [
    Option<"format", "format", "std::string", "\"text\"", "text or json">,
    Option<"output", "output", "std::string", "",
           "file for the table; - is standard output, default standard error">,
  ];
}

def InsertCollectives : Pass<"tp-insert-collectives", "::mlir::ModuleOp"> {
  let summary = "replaces each tp.reshard by the cheapest collectives";
  let description = [{
    The reshards of one value become one tree: steps that several uses need
    happen once. The tree is the one that the planner priced.

    Before:
    ```mlir
    tp.mesh @mesh = <["tp"=2]>
    #sum = #tp.sharding<@mesh, [ {} ], unreduced = {"tp"}>
    #whole = #tp.sharding<@mesh, [ {} ]>
    func.func @main(%x: tensor<4xf32, #sum>) -> tensor<4xf32, #whole> {
      %0 = tp.reshard %x : (tensor<4xf32, #sum>) -> tensor<4xf32, #whole>
      return %0 : tensor<4xf32, #whole>
    }
    ```
    Run: --tp-insert-collectives

    After:
    ```mlir
    #rank1_sum_tp = #tp.sharding<@mesh, [ {} ], unreduced = {"tp"}>
    #whole1 = #tp.sharding<@mesh, [ {} ]>
    module {
      tp.mesh @mesh = <["tp"=2]>
      func.func @main(%arg0: tensor<4xf32, #rank1_sum_tp>) -> tensor<4xf32, #whole1> {
        %0 = tp.all_reduce %arg0 over {"tp"} : (tensor<4xf32, #rank1_sum_tp>) -> tensor<4xf32, #whole1>
        return %0 : tensor<4xf32, #whole1>
      }
    }
    ```
  }];
  let options = [
    Option<"machine", "machine", "std::string", "",
           "a machine to price with; default: the plan's, or h100">,
  ];
}

def CostReport : Pass<"tp-cost-report", "::mlir::ModuleOp"> {
  let summary = "predicts time, bytes sent and memory of a typed program";
  let description = [{
    Per operation and per collective: FLOPs, bytes and time of the rank with the
    largest shards; which collectives hold the computation up, and for how long;
    per rank: the ledger of its memory. Counts follow calls. docs/report.md says
    what each figure is.

    Before:
    ```mlir
    tp.mesh @mesh = <["tp"=2]>
    #sum = #tp.sharding<@mesh, [ {} ], unreduced = {"tp"}>
    #whole = #tp.sharding<@mesh, [ {} ]>
    func.func @main(%x: tensor<4xf32, #sum>) -> tensor<4xf32, #whole> {
      %0 = tp.all_reduce %x over {"tp"} : (tensor<4xf32, #sum>) -> tensor<4xf32, #whole>
      return %0 : tensor<4xf32, #whole>
    }
    ```
    Run: --tp-cost-report -o /dev/null

    After:
    ```text
    machine h100, mesh tp=2, 2 ranks
    all_reduce
    16 bytes sent per rank
    ```
  }];
  let options = [
    Option<"format", "format", "std::string", "\"text\"", "text, json or html">,
    Option<"output", "output", "std::string", "",
           "file for the report; - is standard output, default standard error">,
    Option<"machine", "machine", "std::string", "",
           "a machine to price with; default: the plan's, or h100">,
    Option<"optimizer", "optimizer", "std::string", "\"none\"",
           "none (the program alone) or adam: what a rank holds if the program "
           "is the forward pass of a training; 16 bytes a parameter in all">,
    Option<"gradientType", "gradient-type", "std::string", "",
           "f32, or as the parameters">,
    Option<"zero", "zero", "int64_t", "0",
           "what ZeRO deals over the data axes: 1 optimizer states, 2 also "
           "gradients, 3 also parameters">,
    Option<"dataAxes", "data-axes", "std::string", "",
           "axes of data parallelism; default: those called dp, data or fsdp">,
    Option<"recompute", "recompute", "std::string", "\"none\"",
           "none, or layers: of what the entry calls a backward pass keeps the "
           "operands only">,
    Option<"flops", "flops", "std::string", "\"causal\"",
           "what MFU and HFU count of attention: causal (the pairs that its mask "
           "leaves) or full (all pairs)">,
    Option<"alternatives", "alternatives", "std::string", "\"auto\"",
           "on or off: what the next best layout of each weight costs, and each "
           "constraint of a planned program; auto: in html, if there is a plan">,
    Option<"compare", "compare", "std::string", "",
           "file with another typed program: the report is both programs' "
           "figures and their differences">,
  ];
}

def PrintSlices : Pass<"tp-print-slices", "::mlir::ModuleOp"> {
  let summary = "lists which part of which tensor of a checkpoint each rank holds";
  let description = [{
    For the parameters of a typed program: under the name of the tensor in the
    checkpoint and its shape, for each rank the rectangles that it holds, with
    ends as in Python. Ranks that hold the same share a line. `format=json` says
    besides where in the rank's own tensor each rectangle goes.

    Before:
    ```mlir
    tp.mesh @mesh = <["tp"=2]>
    func.func @main(%k: tensor<4x6xf32, #tp.sharding<@mesh, [ {"tp"}, {} ]>> {tp.name = "qkv[8:12]",
        tp.parameter, tp.stored = #tp.stored<"qkv" [16, 6], dim 0 from 8 size 4>}) {
      return
    }
    ```
    Run: --tp-print-slices -o /dev/null

    After:
    ```text
    qkv [16, 6]
    rank 0: [8:10, 0:6]
    rank 1: [10:12, 0:6]
    ```
  }];
  let options = [
    Option<"format", "format", "std::string", "\"text\"", "text or json">,
    Option<"output", "output", "std::string", "",
           "file for the list; - is standard output, default standard error">,
  ];
}

def Partition : Pass<"tp-partition", "::mlir::ModuleOp"> {
  let summary = "from global types to the program of one rank";
  let description = [{
    Functions become `tp.local`: tensors of local shape, collectives with
    explicit groups, origins where an operation must know where its shard lies.
    Where the shards of all ranks are equal, one function serves all of them;
    where they differ there is one for each distinct set of local shapes, and a
    `tp.rank_table` in place of the function says which rank runs which.

    Before:
    ```mlir
    tp.mesh @mesh = <["tp"=2]>
    #sum = #tp.sharding<@mesh, [ {} ], unreduced = {"tp"}>
    #whole = #tp.sharding<@mesh, [ {} ]>
    func.func @main(%x: tensor<4xf32, #sum>) -> tensor<4xf32, #whole> {
      %0 = tp.all_reduce %x over {"tp"} : (tensor<4xf32, #sum>) -> tensor<4xf32, #whole>
      return %0 : tensor<4xf32, #whole>
    }
    ```
    Run: --tp-partition

    After:
    ```mlir
    #whole1 = #tp.sharding<@mesh, [ {} ]>
    module {
      tp.mesh @mesh = <["tp"=2]>
      func.func @main(%arg0: tensor<4xf32> {tp.global = tensor<4xf32, #tp.sharding<@mesh, [ {} ], unreduced = {"tp"}>>}) -> (tensor<4xf32> {tp.global = tensor<4xf32, #whole1>}) attributes {tp.local, tp.ranks = 2 : i64} {
        %0 = tp.local_all_reduce %arg0 sum groups dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4xf32>) -> tensor<4xf32>
        return %0 : tensor<4xf32>
      }
    }
    ```
  }];
}

def LowerToCPU : Pass<"tp-lower-to-cpu", "::mlir::ModuleOp"> {
  let summary = "from the program of one rank to the LLVM dialect";
  let description = [{
    Chains of elementwise operations are fused and become loops; products,
    attention, norms, reductions, lookups, dropout and collectives become calls
    of the run-time library. Buffers come from the rank's arena and are freed after their last
    use. Collectives are numbered in program order, the same on all ranks.

    Values of f16 and bf16 are computed, sent and passed as f32: buffers of
    arguments and results hold f32. A cast to such a type rounds to its values.

    Before:
    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tp.local} {
      return %x : tensor<4xf32>
    }
    ```
    Run: --tp-lower-to-cpu

    After:
    ```text
    llvm.func @main
    ```
  }];
}

def ExportShardy : Pass<"tp-export-shardy", "::mlir::ModuleOp"> {
  let summary = "writes encodings as Shardy's annotations";
  let description = [{
    The inverse of `tp-import-shardy`, for open and typed programs; every
    dimension is closed. A `tp.reshard` to a layout becomes
    `sdy.sharding_constraint`. The types of calls are said by their callees.

    Errors, because Shardy cannot say the same: uneven splits, units that change
    who holds what, `unreduced = max{..}`, collectives, the program of one rank.

    Before:
    ```mlir
    #cols = #tp.sharding<@mesh, [ {}, {"tp"} ]>
    tp.mesh @mesh = <["tp"=2]>
    func.func @main(%x: tensor<4x6xf32, #cols>) -> tensor<4x6xf32, #cols> {
      %0 = tp.relu %x : (tensor<4x6xf32, #cols>) -> tensor<4x6xf32, #cols>
      return %0 : tensor<4x6xf32, #cols>
    }
    ```
    Run: --tp-export-shardy

    After:
    ```mlir
    sdy.mesh @mesh = <["tp"=2]>
    func.func @main(%x: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [ {}, {"tp"} ]>}) -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [ {}, {"tp"} ]>}) {
      %0 = tp.relu %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [ {}, {"tp"} ]>]>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
      return %0 : tensor<4x6xf32>
    }
    ```
  }];
  let dependentDialects = ["::tp::sdy::SDYDialect"];
}

#endif // TP_PASSES_TD

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
    type-check. `tp-opt` runs it on what it reads and, under `--verify-each`,
    after every pass.
  }];
}

def PrintShardingRules : Pass<"tp-print-sharding-rules", "::mlir::ModuleOp"> {
  let summary = "writes the sharding rule of every operation beside it";
  let description = [{
    Adds the attribute `tp.sharding_rule`: the factors of each dimension, their
    sizes and kinds, and the operands in which the operation is linear.
  }];
}

def Plan : Pass<"tp-plan", "::mlir::ModuleOp"> {
  let summary = "chooses the layout of every value, at the least predicted time";
  let description = [{
    Open IR in, typed IR out: every tensor gets an encoding, and where a use
    wants another layout than its value has, a `tp.reshard` stands in between.
    An encoding that is there already pins its value. The optimum is over the
    inlined program; calls that end with equal types share a function.

    Ties: fewest collectives, then least memory, then the first choice.
  }];
  let dependentDialects = ["::tp::TPDialect"];
  let options = [
    Option<"mesh", "mesh", "std::string", "",
           "axes, as tp=8 or dp=2,tp=4; not needed if the module has a tp.mesh">,
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
  ];
}

def Explain : Pass<"tp-explain", "::mlir::ModuleOp"> {
  let summary = "says why each weight is split as it is, and what else costs";
  let description = [{
    For a module that tp-plan has written: each weight's layout, what the next
    best layout of it would cost, what the pins cost, and what each setting of
    `sequence-parallel` costs. The alternatives are solved, not estimated.
  }];
  let options = [
    Option<"output", "output", "std::string", "",
           "file for the report; - is standard output, default standard error">,
  ];
}

def InsertCollectives : Pass<"tp-insert-collectives", "::mlir::ModuleOp"> {
  let summary = "replaces each tp.reshard by the cheapest collectives";
  let description = [{
    The reshards of one value become one tree: steps that several uses need
    happen once. The tree is the one that the planner priced.
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
    largest shards; per rank: bytes of the parameters. Counts follow calls.
  }];
  let options = [
    Option<"format", "format", "std::string", "\"text\"", "text or json">,
    Option<"output", "output", "std::string", "",
           "file for the report; - is standard output, default standard error">,
    Option<"machine", "machine", "std::string", "",
           "a machine to price with; default: the plan's, or h100">,
  ];
}

def Partition : Pass<"tp-partition", "::mlir::ModuleOp"> {
  let summary = "from global types to the program of one rank";
  let description = [{
    Functions become `tp.local`: tensors of local shape, collectives with
    explicit groups, origins where an operation must know where its shard lies.
    Shards are even here, so one program serves all ranks.
  }];
}

def LowerToCPU : Pass<"tp-lower-to-cpu", "::mlir::ModuleOp"> {
  let summary = "from the program of one rank to the LLVM dialect";
  let description = [{
    Chains of elementwise operations are fused and become loops; products,
    attention, norms, lookups and collectives become calls of the run-time
    library. Buffers come from the rank's arena and are freed after their last
    use. Collectives are numbered in program order, the same on all ranks.
  }];
}

#endif // TP_PASSES_TD

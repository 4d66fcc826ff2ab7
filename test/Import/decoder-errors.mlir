// What cannot be imported: exit status, cause and fix.

// RUN: rm -rf %t && mkdir %t

// RUN: not tp-translate --import-hf-config %t/none.json 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MISSING
// RUN: not tp-translate --import-hf-config %t 2>&1 \
// RUN:   | FileCheck %s --check-prefix=EMPTY
// MISSING: {{^}}error: {{.*}}none.json: No such file or directory
// EMPTY: {{^}}error: {{.*}}config.json: No such file or directory

// RUN: head -c 200 %models/llama-3-8b.json > %t/cut.json
// RUN: not tp-translate --import-hf-config %t/cut.json 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CUT
// CUT: {{^}}error: {{.*}}cut.json:{{[0-9]+}}:{{[0-9]+}}:
// CUT-NOT: module

// RUN: not tp-translate --import-hf-config %models/mistral-7b-v0.1.json \
// RUN:   --sequence=4097 2>&1 | FileCheck %s --check-prefix=WINDOW
// WINDOW: {{^}}error: sequence is 4097, but the model attends to the last "sliding_window" 4096 positions only, which is not supported: give a sequence of at most 4096{{$}}

// Two things that are wrong are two lines.
// RUN: not tp-translate --import-hf-config %models/llama-3-8b.json \
// RUN:   --sequence=8193 --layers=33 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: {{^}}error: sequence is 8193, but the model has 8192 positions: give a sequence of at most 8192{{$}}
// BOTH-NEXT: {{^}}error: layers is 33: expected an integer from 1 to 32, the number that the config has{{$}}

// RUN: not tp-translate --import-hf-config %models/llama-3-8b.json --layers=0 \
// RUN:   2>&1 | FileCheck %s --check-prefix=LAYERS
// LAYERS: {{^}}error: layers is 0: expected an integer from 1 to 32

// RUN: not tp-translate --import-hf-config %models/llama-3-8b.json --batch=0 \
// RUN:   --dtype=int8 2>&1 | FileCheck %s --check-prefix=BATCH
// BATCH: {{^}}error: batch is 0: expected an integer from 1 to 1099511627776{{$}}
// BATCH-NEXT: {{^}}error: dtype is "int8": expected "bf16", "f16", "f32" or "f64"{{$}}

// RUN: not tp-translate --import-hf-config %models/llama-3-8b.json \
// RUN:   --batch=1099511627776 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: {{^}}error: a tensor of batch 1099511627776, sequence 2048 and width 128256 has more than 2^63 - 1 elements

// RUN: not tp-translate --import-hf-config %models/llama-3-8b.json --shrink=0 \
// RUN:   2>&1 | FileCheck %s --check-prefix=SHRINK
// SHRINK: {{^}}error: cannot shrink by 0: expected an integer of at least 1

// RUN: not tp-translate --import-hf-config %models/llama-3-8b.json \
// RUN:   -o %t/none/out.mlir 2>&1 | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: {{^}}error: {{.*}}out.mlir: No such file or directory

// RUN: not tp-translate 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: --import-hf-config option: must be specified

// A field that nobody knows is a warning, not an error.
// RUN: sed 's/"use_cache"/"use_magic"/' %models/llama-3-8b.json \
// RUN:   > %t/unknown.json
// RUN: tp-translate --import-hf-config %t/unknown.json --layers=1 \
// RUN:   -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: {{^}}warning: {{.*}}unknown.json:{{[0-9]+}}: ignored "use_magic"

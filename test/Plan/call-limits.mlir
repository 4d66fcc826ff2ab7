// Programs whose calls, followed one by one, would fill the memory or the stack.
// UNSUPPORTED: roundtrip
// RUN: %python %S/Inputs/calls.py 40 2 > %t1.mlir
// RUN: not tp-opt %t1.mlir --tp-plan="mesh=tp=2" 2>&1 | FileCheck %s --check-prefix=MANY --implicit-check-not=error:
// RUN: not tp-opt %t1.mlir --tp-legal-degrees 2>&1 | FileCheck %s --check-prefix=MANY --implicit-check-not=error:
// MANY: error: 'func.call' op makes a program of more than 1048576 operations and calls, counted once a call; so many cannot be planned
// MANY: note: fix: plan fewer layers at a time
// RUN: %python %S/Inputs/calls.py 1000 1 > %t2.mlir
// RUN: tp-opt %t2.mlir --tp-plan="mesh=tp=2" -o /dev/null
// RUN: %python %S/Inputs/calls.py 1001 1 > %t3.mlir
// RUN: not tp-opt %t3.mlir --tp-plan="mesh=tp=2" 2>&1 | FileCheck %s --check-prefix=DEEP --implicit-check-not=error:
// DEEP: error: 'func.call' op is inside 1000 others; calls cannot be planned deeper

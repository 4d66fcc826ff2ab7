// Options that do not make sense, and programs without a question.
// RUN: not tp-opt %s --tp-legal-degrees=format=html 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not tp-opt %s --tp-legal-degrees=max=0 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not tp-opt %s --tp-legal-degrees=max=9223372036854775807 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not tp-opt %s --tp-legal-degrees=output=/nowhere/report 2>&1 | FileCheck %s --check-prefix=PATH
// RUN: echo | not tp-opt - --tp-legal-degrees 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not tp-opt %s --tp-legal-degrees=uneven=maybe 2>&1 | FileCheck %s --check-prefix=MAYBE
// MAYBE: uneven='maybe' must be one of refuse, allow
// FORMAT: tp-legal-degrees knows no format 'html'; use text or json
// ZERO: max=0 is not in [1, 1048576]
// MANY: max=9223372036854775807 is not in [1, 1048576]
// PATH: cannot write the report to '/nowhere/report': No such file or directory
// EMPTY: error:
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

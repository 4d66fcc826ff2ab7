// What excludes a number of ranks, and what it leaves undivided.
// RUN: tp-opt %s --tp-legal-degrees=max=14 -o /dev/null 2>&1 | FileCheck %s
// RUN: tp-opt %s --tp-legal-degrees="max=4 format=json output=-" -o /dev/null | FileCheck %s --check-prefix=JSON
// RUN: tp-opt %s --tp-legal-degrees="max=14 uneven=allow" -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNEVEN
// RUN: tp-opt %s --tp-legal-degrees="max=5 uneven=allow format=json output=-" -o /dev/null | FileCheck %s --check-prefix=SHARES

// 12 query heads of 2, 4 KV heads; 6 is left out because neither of 4 and 6
// divides the other. The weight [24, 22] is divided by 11 and no head is.
// CHECK: legal degrees up to 14: 1, 2, 4, 12{{$}}
// CHECK-NEXT: 12 query heads, 4 KV heads
// CHECK-NEXT: {{^}}  4: not divided: 22 (dimension 1 of w)
// CHECK-NEXT: {{^}}  12: each KV head on 3 ranks; not divided: 22 (dimension 1 of w)
// CHECK-NEXT: excluded
// CHECK-NEXT: {{^}}  3: neither of 4 and 3 divides the other
// CHECK-NEXT: {{^}}  5: 5 does not divide 12 query heads; 5 divides no dimension of w [24, 22]
// CHECK-NEXT: {{^}}  6: neither of 4 and 6 divides the other
// CHECK-NEXT: {{^}}  7: 7 does not divide 12 query heads; 7 divides no dimension of w [24, 22]
// CHECK-NEXT: {{^}}  8: 8 does not divide 12 query heads
// CHECK-NEXT: {{^}}  9: 9 does not divide 12 query heads; 9 divides no dimension of w [24, 22]
// CHECK-NEXT: {{^}}  10: 10 does not divide 12 query heads
// CHECK-NEXT: {{^}}  11: 11 does not divide 12 query heads
// CHECK-NEXT: {{^}}  13:
// CHECK-NEXT: {{^}}  14:

// Groups of 3 heads are dealt whole: 2, 1, 1 to 3 ranks; 1, 1, 1, 1, 0 to 5. On 8
// ranks each group lies on two, which have 2 and 1 of its heads.
// UNEVEN: legal degrees up to 14, shards uneven: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14{{$}}
// UNEVEN-NEXT: 12 query heads, 4 KV heads
// UNEVEN-NEXT: {{^}}  3: 3 to 6 of 12 query heads a rank; not divided: 22 (dimension 1 of w)
// UNEVEN-NEXT: {{^}}  4: not divided: 22 (dimension 1 of w)
// UNEVEN-NEXT: {{^}}  5: 0 to 3 of 12 query heads a rank; not divided: 24 (dimension 0 of w), 22 (dimension 1 of w)
// UNEVEN-NEXT: {{^}}  6: 0 to 3 of 12 query heads a rank
// UNEVEN: {{^}}  8: 1 to 2 of 12 query heads a rank; each KV head on 2 ranks; not divided: 22 (dimension 1 of w)
// UNEVEN: {{^}}  12: each KV head on 3 ranks; not divided
// UNEVEN: excluded{{$}}
// UNEVEN-NOT: {{.}}

// SHARES: "ranks": 3,
// SHARES-NEXT: "legal": true,
// SHARES-NEXT: "kv_replicas": 1,
// SHARES: "fewest": 3,
// SHARES-NEXT: "most": 6
// SHARES: "excluded_by": []

// JSON: "query_heads": 12
// JSON-NEXT: "kv_heads": 4
// JSON: "ranks": 3
// JSON-NEXT: "legal": false
// JSON: "kind": "kv_heads"
// JSON-NEXT: "size": 4
// JSON: "ranks": 4
// JSON-NEXT: "legal": true
// JSON-NEXT: "kv_replicas": 1
// JSON: "weight": "w"
// JSON-NEXT: "dimension": 1
// JSON-NEXT: "size": 22
func.func @main(%q: tensor<1x3x12x2xf32>, %k: tensor<1x5x4x2xf32>, %w: tensor<24x22xf32> {tp.parameter, tp.name = "w"}) -> tensor<1x3x22xf32> {
  %o = tp.attention %q, %k, %k {scale = 0.5 : f64} : (tensor<1x3x12x2xf32>, tensor<1x5x4x2xf32>, tensor<1x5x4x2xf32>) -> tensor<1x3x12x2xf32>
  %r = tp.reshape %o : (tensor<1x3x12x2xf32>) -> tensor<1x3x24xf32>
  %y = tp.matmul %r, %w : (tensor<1x3x24xf32>, tensor<24x22xf32>) -> tensor<1x3x22xf32>
  return %y : tensor<1x3x22xf32>
}

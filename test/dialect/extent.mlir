// RUN: fovea-opt %s | FileCheck %s

// CHECK-LABEL: attn.system @lengths
attn.system @lengths {
  attn.length "M"
  attn.length "W" over "M"
  attn.compute (%m: "M") {
    // CHECK: attn.extent "M"{{$}}
    %0 = attn.extent "M"
    // CHECK: attn.extent "W"[%m]
    %1 = attn.extent "W"[%m]
    %2 = arith.muli %0, %1 : index
    // CHECK: attn.extent largest "W"
    %4 = attn.extent largest "W"
    %5 = arith.muli %2, %4 : index
    %3 = arith.index_cast %5 : index to i64
    attn.yield %3 : i64
  } : !attn.array<["M"], i64>
}

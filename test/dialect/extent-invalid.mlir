// RUN: fovea-opt %s --verify-diagnostics

attn.program @rows {
  attn.length "M"
  attn.length "W" over "M"
  %x = attn.compute "x" (%m: "M") {
    // expected-error @+1 {{'attn.extent' op gives the largest 'W', which has no index}}
    %0 = attn.extent largest "W"[%m]
    %1 = arith.index_cast %0 : index to i64
    attn.yield %1 : i64
  } : !attn.array<["M"], i64>
}

// RUN: fovea-opt %s | FileCheck %s

// CHECK: #[[PLUS_ONE:.+]] = affine_map<()[s0] -> (s0 + 1)>
// CHECK-LABEL: attn.system @lengths
attn.system @lengths {
  // CHECK: attn.length "M"{{$}}
  attn.length "M"
  // CHECK: attn.length "W" over "M"{{$}}
  attn.length "W" over "M"
  // CHECK: attn.length "M+1" is #[[PLUS_ONE]] ["M"]{{$}}
  attn.length "M+1" is affine_map<()[s0] -> (s0 + 1)> ["M"]
  // CHECK: attn.length "T" open{{$}}
  attn.length "T" open
}

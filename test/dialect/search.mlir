// RUN: fovea-opt %s | FileCheck %s

// CHECK-LABEL: attn.program @decode
attn.program @decode {
  attn.length "T" open
  %begin = attn.data "begin" : !attn.array<[], i64>
  %table = attn.param "table" : !attn.array<[97, 97], f64>
  // CHECK: attn.search "T" states [{kind = "carried", name = "y", reorder = true, window = 1 : i64}] (%[[STEP:.+]]) carries (%[[Y:.+]] = %begin : !attn.array<[], i64>) axes [0] {
  %last, %all = attn.search "T" states [{name = "y", kind = "carried", window = 1 : i64, reorder = true}] (%t) carries (%before = %begin : !attn.array<[], i64>) axes [0] {
    %logits = attn.compute (%v: 97) {
      %0 = attn.read %before[] : !attn.array<[], i64>
      %1 = arith.index_cast %0 : i64 to index
      %2 = attn.read %table[%1, %v] : !attn.array<[97, 97], f64>
      attn.yield %2 : f64
    } : !attn.array<[97], f64>
    // CHECK: attn.choice "y"
    %y = attn.choice "y" categorical ["logits"] (%logits : !attn.array<[97], f64>) end 1 : i64 -> !attn.array<[], i64>
    attn.yield %y, %y : !attn.array<[], i64>, !attn.array<[], i64>
  } : !attn.array<[], i64>, !attn.array<["T"], i64>
}

// As many steps as the length says, nothing carried.
// CHECK-LABEL: attn.program @tags
attn.program @tags {
  attn.length "S"
  %l = attn.data "l" : !attn.array<["S", 17], f64>
  // CHECK: attn.search "S" states [] known (%{{.+}}) axes [0] {
  %tags = attn.search "S" states [] known (%t) axes [0] {
    %row = attn.compute (%v: 17) {
      %0 = attn.read %l[%t, %v] : !attn.array<["S", 17], f64>
      attn.yield %0 : f64
    } : !attn.array<[17], f64>
    %tag = attn.choice "tag" categorical ["logits"] (%row : !attn.array<[17], f64>) -> !attn.array<[], i64>
    attn.yield %tag : !attn.array<[], i64>
  } : !attn.array<["S"], i64>
}

// RUN: fovea-opt %s --split-input-file --verify-diagnostics --attn-continue-rows

// The rows before are all that a row may read.
attn.system @decoding {
  attn.length "D"
  attn.length "W" over "D"
  %said = attn.data "said" : !attn.array<["D", "W"], i64>
  %x = attn.param "x" : !attn.array<["D"], f64>
  // expected-error @+1 {{decoding: the row of 'said' after the D given ones cannot be generated: an equation reads more than the rows before its own}}
  %logits = attn.compute "logits" (%d: "D", %j: "W", %k: 3) {
    %one = arith.constant 1 : index
    %next = arith.addi %d, %one : index
    %zero = arith.constant 0.0 : f64
    %0 = attn.read %x[%next] default %zero : f64 : !attn.array<["D"], f64>
    attn.yield %0 : f64
  } : !attn.array<["D", "W", 3], f64>
  attn.choice "said" categorical ["logits"] (%logits : !attn.array<["D", "W", 3], f64>) observed %said : !attn.array<["D", "W"], i64> end 1 : i64 {attn.continued}
}

// -----

// How many rows there are in the end nobody knows.
attn.system @decoding {
  attn.length "D"
  attn.length "W" over "D"
  %said = attn.data "said" : !attn.array<["D", "W"], i64>
  // expected-error @+1 {{decoding: the row of 'said' after the D given ones cannot be generated: an equation uses the length D}}
  %logits = attn.compute "logits" (%d: "D", %j: "W", %k: 3) {
    %0 = attn.extent "D"
    %1 = arith.index_cast %0 : index to i64
    %2 = arith.sitofp %1 : i64 to f64
    attn.yield %2 : f64
  } : !attn.array<["D", "W", 3], f64>
  attn.choice "said" categorical ["logits"] (%logits : !attn.array<["D", "W", 3], f64>) observed %said : !attn.array<["D", "W"], i64> end 1 : i64 {attn.continued}
}

// -----

// Other data have nothing for it.
attn.system @decoding {
  attn.length "D"
  attn.length "W" over "D"
  %said = attn.data "said" : !attn.array<["D", "W"], i64>
  %who = attn.data "who" : !attn.array<["D"], f64>
  %logits = attn.compute "logits" (%d: "D", %j: "W", %k: 3) {
    %0 = attn.read %who[%d] : !attn.array<["D"], f64>
    attn.yield %0 : f64
  } : !attn.array<["D", "W", 3], f64>
  // expected-error @+1 {{decoding: the row of 'said' after the D given ones cannot be generated: it needs 'who', which each of the D given rows has, and it has not}}
  attn.choice "said" categorical ["logits"] (%logits : !attn.array<["D", "W", 3], f64>) observed %said : !attn.array<["D", "W"], i64> end 1 : i64 {attn.continued}
}

// -----

attn.system @decoding {
  attn.length "D"
  attn.length "W" over "D"
  %said = attn.data "said" : !attn.array<["D", "W"], i64>
  // expected-error @+1 {{decoding: the row of 'said' after the D given ones cannot be generated: it needs an array, which each of the D given rows has, and it has not}}
  attn.choice "said" categorical ["logits"] (%logits : !attn.array<["D", "W", 3], f64>) observed %said : !attn.array<["D", "W"], i64> end 1 : i64 {attn.continued}
  %logits = attn.param "logits" : !attn.array<["D", "W", 3], f64>
}

// -----

// The new row would be a value more.
attn.system @decoding {
  attn.length "D"
  attn.length "W" over "D"
  %said = attn.data "said" : !attn.array<["D", "W"], i64>
  %logits = attn.compute "logits" (%d: "D", %j: "W", %k: "D") {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<["D", "W", "D"], f64>
  // expected-error @+1 {{decoding: the row of 'said' after the D given ones cannot be generated: it is chosen from as many values as there are rows}}
  attn.choice "said" categorical ["logits"] (%logits : !attn.array<["D", "W", "D"], f64>) observed %said : !attn.array<["D", "W"], i64> end 1 : i64 {attn.continued}
}

// -----

// What is read of the given rows knows no others.
attn.system @decoding {
  attn.length "D"
  attn.length "W" over "D"
  %said = attn.data "said" : !attn.array<["D", "W"], i64>
  %count = attn.compute "count" (%d: "D") {
    %0 = attn.extent "W"[%d]
    %1 = arith.index_cast %0 : index to i64
    %2 = arith.sitofp %1 : i64 to f64
    attn.yield %2 : f64
  } : !attn.array<["D"], f64>
  // expected-error @+1 {{decoding: the row of 'said' after the D given ones cannot be generated: an equation reads more than the rows before its own}}
  %all = attn.compute "all" () sum (%d: "D") {
    %0 = attn.read %count[%d] : !attn.array<["D"], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  %logits = attn.compute "logits" (%d: "D", %j: "W", %k: 3) {
    %0 = attn.read %all[] : !attn.array<[], f64>
    attn.yield %0 : f64
  } : !attn.array<["D", "W", 3], f64>
  attn.choice "said" categorical ["logits"] (%logits : !attn.array<["D", "W", 3], f64>) observed %said : !attn.array<["D", "W"], i64> end 1 : i64 {attn.continued}
}

// -----

// A row that is being generated is judged word by word.
attn.system @decoding {
  attn.length "D"
  attn.length "W" over "D"
  %said = attn.data "said" : !attn.array<["D", "W"], i64>
  %l = attn.param "l" : !attn.array<[3], f64>
  %logits = attn.compute "logits" (%d: "D", %j: "W", %k: 3) {
    %0 = attn.read %l[%k] : !attn.array<[3], f64>
    attn.yield %0 : f64
  } : !attn.array<["D", "W", 3], f64>
  attn.choice "said" categorical ["logits"] (%logits : !attn.array<["D", "W", 3], f64>) observed %said : !attn.array<["D", "W"], i64> end 1 : i64 {attn.continued}
  %long = attn.compute "long" (%d: "D") {
    %0 = attn.extent "W"[%d]
    %1 = arith.constant 3 : index
    %2 = arith.cmpi sgt, %0, %1 : index
    attn.yield %2 : i1
  } : !attn.array<["D"], i1>
  // expected-error @+1 {{decoding: the row of 'said' after the D given ones cannot be generated: the mark 'stop' judges it as a whole}}
  attn.mark "stop" %long : !attn.array<["D"], i1>
}

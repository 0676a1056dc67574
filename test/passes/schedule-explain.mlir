// RUN: fovea-opt %s --attn-schedule=explain -o /dev/null | FileCheck %s

// The whole text, because its order is what must not depend on anything.

// CHECK:      @training
// CHECK-NEXT:   parallel: zero, x
// CHECK-NEXT:   loop over S, up: h
// CHECK-NEXT:     because: h[i-1] -> h (line {{[0-9]+}})
// CHECK-NEXT:     hoisted: zero, x
// CHECK-NEXT:     sunk: energy, c
// CHECK-NEXT:   parallel, for parts of: energy
// CHECK-NEXT:   loop over T, up: energy, align, c, s
// CHECK-NEXT:     because: s[t-1] -> energy (line {{[0-9]+}}) -> align (line {{[0-9]+}}) -> c (line {{[0-9]+}}) -> s (line {{[0-9]+}})
// CHECK-NEXT:     hoisted: zero, part of energy over i, h
// CHECK-NEXT:     sunk: out
// CHECK-NEXT:   parallel: out
// CHECK-NEXT:   dead: unused (line {{[0-9]+}})
attn.system @training {
  attn.length "S"
  attn.length "T"
  %src = attn.data "src" : !attn.array<["S"], f64>
  %zero = attn.compute "zero" () {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  %x = attn.compute "x" (%i: "S") {
    %0 = attn.read %src[%i] : !attn.array<["S"], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["S"], f64>
  %h = attn.compute "h" (%i: "S") {
    %one = arith.constant 1 : index
    %before = arith.subi %i, %one : index
    %0 = attn.read %h[%before] cases [[[0, -1]]] (%zero : !attn.array<[], f64>) : !attn.array<["S"], f64>
    %1 = attn.read %x[%i] : !attn.array<["S"], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S"], f64>
  %key = attn.compute (%i: "S") {
    %0 = attn.read %h[%i] : !attn.array<["S"], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["S"], f64>
  %energy = attn.compute "energy" (%t: "T", %i: "S") {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %s[%before] cases [[[0, -1]]] (%zero : !attn.array<[], f64>) : !attn.array<["T"], f64>
    %1 = attn.read %key[%i] : !attn.array<["S"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "S"], f64>
  %align = attn.compute "align" (%t: "T") softmax (%i: "S") {
    %0 = attn.read %energy[%t, %i] : !attn.array<["T", "S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "S"], f64>
  %c = attn.compute "c" (%t: "T") sum (%i: "S") {
    %0 = attn.read %align[%t, %i] : !attn.array<["T", "S"], f64>
    %1 = attn.read %h[%i] : !attn.array<["S"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  %s = attn.compute "s" (%t: "T") {
    %0 = attn.read %c[%t] : !attn.array<["T"], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %out = attn.compute "out" (%t: "T") {
    %0 = attn.read %s[%t] : !attn.array<["T"], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %unused = attn.compute "unused" (%t: "T") {
    %0 = attn.read %s[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  attn.output "out" %out : !attn.array<["T"], f64>
}

// CHECK-NEXT: @decoding
// CHECK-NEXT:   parallel: begin
// CHECK-NEXT:   search over T, up: place, x, logits, y
// CHECK-NEXT:     because: y[t-1] -> x (line {{[0-9]+}}) -> logits (line {{[0-9]+}}) -> y (line {{[0-9]+}})
// CHECK-NEXT:     hoisted: begin
// CHECK-NEXT:     encoder: begin
// CHECK-NEXT:     per step: place, logits
// CHECK-NEXT:     carried: y (last 1)
// CHECK-NEXT:     growing: x
// CHECK-NEXT:     reordered: y, x
attn.system @decoding {
  attn.length "T" open
  %begin = attn.compute "begin" () {
    %0 = arith.constant 0 : i64
    attn.yield %0 : i64
  } : !attn.array<[], i64>
  %place = attn.compute "place" (%t: "T") {
    %0 = arith.index_cast %t : index to i64
    %1 = arith.sitofp %0 : i64 to f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %x = attn.compute "x" (%t: "T") {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %y[%before] cases [[[0, -1]]] (%begin : !attn.array<[], i64>) : !attn.array<["T"], i64>
    %1 = arith.sitofp %0 : i64 to f64
    %2 = attn.read %place[%t] : !attn.array<["T"], f64>
    %3 = arith.addf %1, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<["T"], f64>
  %logits = attn.compute "logits" (%t: "T", %v: 4) sum (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %x[%u] : !attn.array<["T"], f64>
    %1 = attn.read %x[%t] : !attn.array<["T"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 4], f64>
  %y = attn.choice "y" categorical ["logits"] (%logits : !attn.array<["T", 4], f64>) end 1 : i64 -> !attn.array<["T"], i64>
  attn.output "y" %y : !attn.array<["T"], i64>
}

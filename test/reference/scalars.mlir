// The meaning of scalar ops at the places where they are easy to get wrong.

// RUN: fovea-eval %s --entry whole --input 'a=[-7, 7, -7, 7]' --input 'b=[2, 2, -2, -2]' | FileCheck %s --check-prefix=WHOLE
// Floored and truncated division and remainder of -7, 7 by 2, -2.
// WHOLE:      div [4]: -3 3 3 -3
// WHOLE-NEXT: floordiv [4]: -4 3 3 -4
// WHOLE-NEXT: larger [4]: 2 7 -2 7
// WHOLE-NEXT: rem [4]: -1 1 -1 1
// WHOLE-NEXT: unsigned [4]: 0 0 1 1
attn.system @whole {
  %a = attn.data "a" : !attn.array<[4], i64>
  %b = attn.data "b" : !attn.array<[4], i64>
  %floordiv = attn.compute (%i: 4) {
    %0 = attn.read %a[%i] : !attn.array<[4], i64>
    %1 = attn.read %b[%i] : !attn.array<[4], i64>
    %2 = arith.floordivsi %0, %1 : i64
    attn.yield %2 : i64
  } : !attn.array<[4], i64>
  %div = attn.compute (%i: 4) {
    %0 = attn.read %a[%i] : !attn.array<[4], i64>
    %1 = attn.read %b[%i] : !attn.array<[4], i64>
    %2 = arith.divsi %0, %1 : i64
    attn.yield %2 : i64
  } : !attn.array<[4], i64>
  %rem = attn.compute (%i: 4) {
    %0 = attn.read %a[%i] : !attn.array<[4], i64>
    %1 = attn.read %b[%i] : !attn.array<[4], i64>
    %2 = arith.remsi %0, %1 : i64
    attn.yield %2 : i64
  } : !attn.array<[4], i64>
  %larger = attn.compute (%i: 4) {
    %0 = attn.read %a[%i] : !attn.array<[4], i64>
    %1 = attn.read %b[%i] : !attn.array<[4], i64>
    %2 = arith.maxsi %0, %1 : i64
    attn.yield %2 : i64
  } : !attn.array<[4], i64>
  %unsigned = attn.compute (%i: 4) {
    %0 = attn.read %a[%i] : !attn.array<[4], i64>
    %1 = attn.read %b[%i] : !attn.array<[4], i64>
    %2 = arith.cmpi ult, %0, %1 : i64
    attn.yield %2 : i1
  } : !attn.array<[4], i1>
  attn.output "floordiv" %floordiv : !attn.array<[4], i64>
  attn.output "div" %div : !attn.array<[4], i64>
  attn.output "rem" %rem : !attn.array<[4], i64>
  attn.output "larger" %larger : !attn.array<[4], i64>
  attn.output "unsigned" %unsigned : !attn.array<[4], i1>
}

// RUN: fovea-eval %s --entry real --input 'x=[-1000, 0, 1000, 2.5]' | FileCheck %s --check-prefix=REAL
// No overflow: sigmoid(-1000) = 0 and softplus(1000) = 1000; softplus(0) is
// log 2; sigmoid(2.5) = 1 / (1 + e^-2.5) = 0.9241418200.
// REAL:      even [4]: -1000 0 1000 2
// REAL-NEXT: half [4]: -1000 0 1000 3
// REAL-NEXT: sigmoid [4]: 0 0.5 1 0.92414182
// REAL-NEXT: softplus [4]: 0 0.6931471806 1000 2.578889734
// sqrt(-1000) is NaN: a maximum keeps it, an ordered comparison is false and
// an unordered one true.
// REAL-NEXT: sticky [4]: nan 0 31.6227766 1.58113883
// REAL-NEXT: unordered [4]: 1 0 0 0
attn.system @real {
  %x = attn.data "x" : !attn.array<[4], f64>
  %sigmoid = attn.compute (%i: 4) {
    %0 = attn.read %x[%i] : !attn.array<[4], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[4], f64>
  %softplus = attn.compute (%i: 4) {
    %0 = attn.read %x[%i] : !attn.array<[4], f64>
    %1 = attn.softplus %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[4], f64>
  %half = attn.compute (%i: 4) {
    %0 = attn.read %x[%i] : !attn.array<[4], f64>
    %1 = math.round %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[4], f64>
  %even = attn.compute (%i: 4) {
    %0 = attn.read %x[%i] : !attn.array<[4], f64>
    %1 = math.roundeven %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[4], f64>
  %sticky = attn.compute (%i: 4) {
    %0 = attn.read %x[%i] : !attn.array<[4], f64>
    %zero = arith.constant 0.0 : f64
    %1 = math.sqrt %0 : f64
    %2 = arith.maximumf %zero, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[4], f64>
  %unordered = attn.compute (%i: 4) {
    %0 = attn.read %x[%i] : !attn.array<[4], f64>
    %zero = arith.constant 0.0 : f64
    %1 = math.sqrt %0 : f64
    %2 = arith.cmpf ult, %1, %zero : f64
    %3 = arith.cmpf olt, %1, %zero : f64
    %true = arith.constant true
    %4 = arith.xori %3, %true : i1
    %5 = arith.andi %2, %4 : i1
    attn.yield %5 : i1
  } : !attn.array<[4], i1>
  attn.output "sigmoid" %sigmoid : !attn.array<[4], f64>
  attn.output "softplus" %softplus : !attn.array<[4], f64>
  attn.output "half" %half : !attn.array<[4], f64>
  attn.output "even" %even : !attn.array<[4], f64>
  attn.output "sticky" %sticky : !attn.array<[4], f64>
  attn.output "unordered" %unordered : !attn.array<[4], i1>
}

// A bit is 1 as an unsigned number and -1 as a signed one.
// RUN: fovea-eval %s --entry bit | FileCheck %s --check-prefix=BIT
// BIT:      signed []: -1
// BIT-NEXT: unsigned []: 1
attn.system @bit {
  %true = arith.constant true
  %signed = attn.compute () {
    %0 = arith.sitofp %true : i1 to f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  %unsigned = attn.compute () {
    %0 = arith.uitofp %true : i1 to f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  attn.output "signed" %signed : !attn.array<[], f64>
  attn.output "unsigned" %unsigned : !attn.array<[], f64>
}

// RUN: not fovea-eval %s --entry zero 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: 'arith.remsi' in 'z' divides by zero
attn.system @zero {
  %z = attn.compute "z" () {
    %0 = arith.constant 0 : i64
    %1 = arith.remsi %0, %0 : i64
    attn.yield %1 : i64
  } : !attn.array<[], i64>
  attn.output "z" %z : !attn.array<[], i64>
}

// RUN: not fovea-eval %s --entry nan 2>&1 | FileCheck %s --check-prefix=NAN
// NAN: 'arith.fptosi' in 'n' turns a number outside the whole numbers into one
attn.system @nan {
  %n = attn.compute "n" () {
    %0 = arith.constant 0x7FF8000000000000 : f64
    %1 = arith.fptosi %0 : f64 to i64
    attn.yield %1 : i64
  } : !attn.array<[], i64>
  attn.output "n" %n : !attn.array<[], i64>
}

// An op that has no meaning here is named.
// RUN: not fovea-eval %s --entry strange 2>&1 | FileCheck %s --check-prefix=STRANGE
// STRANGE: error: {{.*}}: the reference interpreter has no meaning for 'math.ctlz'
attn.system @strange {
  %n = attn.compute "n" () {
    %0 = arith.constant 3 : i64
    %1 = math.ctlz %0 : i64
    attn.yield %1 : i64
  } : !attn.array<[], i64>
  attn.output "n" %n : !attn.array<[], i64>
}

// RUN: not fovea-eval %s --entry narrow 2>&1 | FileCheck %s --check-prefix=NARROW
// NARROW: a constant is a number of type f64, i64, i1 or index
attn.system @narrow {
  %n = attn.compute "n" () {
    %0 = arith.constant 3 : i32
    %1 = arith.extsi %0 : i32 to i64
    attn.yield %1 : i64
  } : !attn.array<[], i64>
  attn.output "n" %n : !attn.array<[], i64>
}

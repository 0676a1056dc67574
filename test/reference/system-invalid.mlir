// A cycle of zeros is an error that names the equations on it.

// RUN: not fovea-eval %s --entry self 2>&1 | FileCheck %s --check-prefix=SELF
// SELF: error: {{.*}}system-invalid.mlir:[[@LINE+2]]:8: 's[0]' is defined by itself
attn.system @self {
  %s = attn.compute "s" (%i: 2) {
    %0 = attn.read %s[%i] : !attn.array<[2], f64>
    attn.yield %0 : f64
  } : !attn.array<[2], f64>
  attn.output "s" %s : !attn.array<[2], f64>
}

// a[1] reads b[1], which reads a[1]; a[0] has a value of its own.
// RUN: not fovea-eval %s --entry through 2>&1 | FileCheck %s --check-prefix=THROUGH
// THROUGH: 'a[1]' is defined by itself through 'b[1]'
attn.system @through {
  %a = attn.compute "a" (%i: 1 to 2) {
    %0 = attn.read %b[%i] : !attn.array<[2], f64>
    attn.yield %0 : f64
  } : !attn.array<[2], f64>
  %b = attn.compute "b" (%i: 2) {
    %0 = attn.read %a[%i] : !attn.array<[2], f64>
    attn.yield %0 : f64
  } : !attn.array<[2], f64>
  attn.output "a" %a : !attn.array<[2], f64>
}

// No element of a softmax stands before the others.
// RUN: not fovea-eval %s --entry row 2>&1 | FileCheck %s --check-prefix=ROW
// ROW: 'w[0]' is defined by itself
attn.system @row {
  %w = attn.compute "w" () softmax (%i: 2) {
    %one = arith.constant 1 : index
    %zero = arith.constant 0.0 : f64
    %before = arith.subi %i, %one : index
    %0 = attn.read %w[%before] default %zero : f64 : !attn.array<[2], f64>
    attn.yield %0 : f64
  } : !attn.array<[2], f64>
  attn.output "w" %w : !attn.array<[2], f64>
}

// In a program an array stands before it is read.
// RUN: not fovea-eval %s --entry scan 2>&1 | FileCheck %s --check-prefix=SCAN
// SCAN: error: {{.*}}: the reference interpreter has no meaning for 'attn.scan' in a system
attn.system @scan {
  %zero = attn.compute () {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  %s = attn.scan 3 (%i) carries (%c = %zero : !attn.array<[], f64>) axes [] {
    attn.yield %c : !attn.array<[], f64>
  } : !attn.array<[], f64>
  attn.output "s" %s : !attn.array<[], f64>
}

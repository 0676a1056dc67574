// The order of the choices of a system follows from what reads what.

// Two generated lengths, against the order of the text: `a` needs the whole of
// `b`, so b comes first: b = 1, 1, .. to the largest length 2, a = 2, 2 (the
// sum of b) with one density of a standard normal for each of the four choices.
// RUN: fovea-eval %s --entry two --decode --longest 2 | FileCheck %s --check-prefix=TWO
// 4 * -0.9189385332 = -3.6757541328
// TWO:      logp -3.675754133 score -3.675754133 steps 2 cut
// TWO-NEXT: a [2]: 2 2
// TWO-NEXT: b [2]: 1 1
attn.system @two {
  attn.length "T" open
  attn.length "U" open
  %unit = arith.constant 1.0 : f64
  %a = attn.choice "a" normal ["mean", "sd"] (%p, %q : !attn.array<["T"], f64>, !attn.array<["T"], f64>) -> !attn.array<["T"], f64>
  %p = attn.compute (%t: "T") sum (%u: "U") {
    %0 = attn.read %b[%u] : !attn.array<["U"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %q = attn.compute (%t: "T") {
    attn.yield %unit : f64
  } : !attn.array<["T"], f64>
  %one = attn.compute (%u: "U") {
    attn.yield %unit : f64
  } : !attn.array<["U"], f64>
  %b = attn.choice "b" normal ["mean", "sd"] (%one, %one : !attn.array<["U"], f64>, !attn.array<["U"], f64>) -> !attn.array<["U"], f64>
  attn.output "a" %a : !attn.array<["T"], f64>
  attn.output "b" %b : !attn.array<["U"], f64>
}

// A choice that reads its own future has no order.
// RUN: not fovea-eval %s --entry future --decode --length T=2 2>&1 | FileCheck %s --check-prefix=FUTURE
// FUTURE: error: {{.*}}: 'y' is needed before it is generated
attn.system @future {
  attn.length "T"
  %p = attn.compute (%t: "T") {
    %none = arith.constant 0.0 : f64
    %one = arith.constant 1 : index
    %after = arith.addi %t, %one : index
    %0 = attn.read %y[%after] default %none : f64 : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %q = attn.compute (%t: "T") {
    %0 = arith.constant 1.0 : f64
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %y = attn.choice "y" normal ["mean", "sd"] (%p, %q : !attn.array<["T"], f64>, !attn.array<["T"], f64>) -> !attn.array<["T"], f64>
  attn.output "y" %y : !attn.array<["T"], f64>
}

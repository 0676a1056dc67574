// RUN: fovea-opt %s --split-input-file --attn-derive-objective | FileCheck %s

// A sequence of symbols: log_softmax, read at the observed symbol, summed.
// What the objective does not need is gone, a recurrence that feeds only
// itself included.

// CHECK-LABEL: attn.system @loss
// CHECK-NOT:     attn.choice
// CHECK-NOT:     attn.equation
// CHECK-NOT:     "unused"
// CHECK:         %[[L:.*]] = attn.param "l"
// CHECK:         %[[Y:.*]] = attn.data "y"
// CHECK:         %[[TABLE:.*]] = attn.compute "log_p.y" (%[[T:.*]]: "T") log_softmax (%[[V:.*]]: 97)
// CHECK-NEXT:      attn.read %[[L]][%[[T]], %[[V]]]
// CHECK:         %[[LOGPS:.*]] = attn.compute "logps.y" (%[[T:.*]]: "T")
// CHECK-NEXT:      %[[SYMBOL:.*]] = attn.read %[[Y]][%[[T]]]
// CHECK-NEXT:      %[[PLACE:.*]] = arith.index_cast %[[SYMBOL]]
// CHECK-NEXT:      attn.read %[[TABLE]][%[[T]], %[[PLACE]]]
// CHECK:         %[[LOGP:.*]] = attn.compute "logp.y" () sum (%[[T:.*]]: "T")
// CHECK-NEXT:      attn.read %[[LOGPS]][%[[T]]]
// CHECK:         %[[CHOICES:.*]] = attn.compute "choices.y" () sum (%{{.*}}: "T")
// CHECK:         %[[NLL:.*]] = attn.compute "nll" ()
// CHECK-NEXT:      %[[SUM:.*]] = attn.read %[[LOGP]][]
// CHECK-NEXT:      arith.negf %[[SUM]]
// CHECK:         attn.output "nll" %[[NLL]]
// CHECK-NEXT:    attn.output "logp" %[[LOGP]]
// CHECK-NEXT:    attn.output "choices" %[[CHOICES]]
// CHECK:         attn.output "penalty"
attn.system @training {
  attn.length "T"
  %l = attn.param "l" : !attn.array<["T", 97], f64>
  %y = attn.data "y" : !attn.array<["T"], i64>
  %unused = attn.compute "unused" (%t: "T") {
    %one = arith.constant 1 : index
    %zero = arith.constant 0.0 : f64
    %before = arith.subi %t, %one : index
    %0 = attn.read %unused[%before] default %zero : f64 : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  attn.equation "unused" %unused : !attn.array<["T"], f64>
  attn.choice "y" categorical ["logits"] (%l : !attn.array<["T", 97], f64>) observed %y : !attn.array<["T"], i64>
}

// -----

// Label smoothing trains on a mixture of the symbol and all symbols; `logp`
// stays what it is.

module attributes {attn.train = {smooth = 0.1 : f64}} {
  // CHECK-LABEL: attn.system @loss
  // CHECK:         %[[LOGP:.*]] = attn.compute "logp.y" () {
  // CHECK:         %[[MEAN:.*]] = attn.compute "mean_log_p.y" () mean (%{{.*}}: "N")
  // CHECK:         %[[SMOOTHED:.*]] = attn.compute "smoothed.y"
  // CHECK-DAG:       arith.constant 9.000000e-01
  // CHECK-DAG:       arith.constant 1.000000e-01
  // CHECK:         attn.compute "nll"
  // CHECK-NEXT:      attn.read %[[SMOOTHED]][]
  // CHECK:         attn.output "logp" %[[LOGP]]
  attn.system @training {
    attn.length "N"
    %p = attn.param "p" : !attn.array<["N"], f64>
    %y = attn.data "y" : !attn.array<[], i64>
    attn.choice "y" categorical ["probs"] (%p : !attn.array<["N"], f64>) observed %y : !attn.array<[], i64>
  }
}

// -----

// The log of a softmax, also under another name, is no log of a number that may
// be too small for one; with a condition it is -inf where nothing is, and stays.

// CHECK-LABEL: attn.system @loss
// CHECK-NOT:     {{\) softmax}}
// CHECK:         attn.compute "hidden" ({{.*}}) softmax (%{{.*}}: 97) where
// CHECK-NOT:     {{\) softmax}}
// CHECK:         %[[LOGS:.*]] = attn.compute "p" (%{{.*}}: "T") log_softmax (%{{.*}}: 97) {
// CHECK:         attn.compute "logps.y"
// CHECK:           %[[READ:.*]] = attn.read %[[LOGS]][
// CHECK-NEXT:      attn.yield %[[READ]]
// CHECK:         attn.compute "logps.z"
// CHECK:           math.log
attn.system @training {
  attn.length "T"
  %l = attn.param "l" : !attn.array<["T", 97], f64>
  %y = attn.data "y" : !attn.array<["T"], i64>
  %z = attn.data "z" : !attn.array<["T"], i64>
  %p = attn.compute "p" (%t: "T") softmax (%v: 97) {
    %0 = attn.read %l[%t, %v] : !attn.array<["T", 97], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 97], f64>
  %q = attn.compute "q" (%t: "T", %v: 97) {
    %0 = attn.read %p[%t, %v] : !attn.array<["T", 97], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 97], f64>
  %hidden = attn.compute "hidden" (%t: "T") softmax (%v: 97) where {
    %0 = arith.cmpi sle, %v, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %l[%t, %v] : !attn.array<["T", 97], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 97], f64>
  attn.choice "y" categorical ["probs"] (%q : !attn.array<["T", 97], f64>) observed %y : !attn.array<["T"], i64>
  attn.choice "z" categorical ["probs"] (%hidden : !attn.array<["T", 97], f64>) observed %z : !attn.array<["T"], i64>
}

// -----

// A bit whose probability is a sigmoid.

// CHECK-LABEL: attn.system @loss
// CHECK-NOT:     math.log
// CHECK:         attn.softplus
// CHECK-NOT:     math.log
// CHECK:         attn.output "penalty"
attn.system @training {
  attn.length "T"
  %l = attn.param "l" : !attn.array<["T"], f64>
  %x = attn.data "x" : !attn.array<["T"], i1>
  %p = attn.compute "p" (%t: "T") {
    %0 = attn.read %l[%t] : !attn.array<["T"], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  attn.choice "x" bernoulli ["prob"] (%p : !attn.array<["T"], f64>) observed %x : !attn.array<["T"], i1>
}

// -----

// Only symbols are smoothed.

module attributes {attn.train = {smooth = 0.1 : f64}} {
  // CHECK-LABEL: attn.system @loss
  // CHECK-NOT:     smoothed
  // CHECK:         attn.softplus
  // CHECK-NOT:     smoothed
  // CHECK:         attn.output "penalty"
  attn.system @training {
    attn.length "T"
    %l = attn.param "l" : !attn.array<["T", 8], f64>
    %x = attn.data "x" : !attn.array<["T", 8], i1>
    attn.choice "x" bernoulli ["logit"] (%l : !attn.array<["T", 8], f64>) observed %x : !attn.array<["T", 8], i1>
  }
}

// -----

// The log of the probability that did not happen is never taken, nor that of 0.

// CHECK-LABEL: attn.system @loss
// CHECK:         %[[P:.*]] = attn.read %{{.*}}[] : !attn.array<[], f64>
// CHECK:         scf.if %{{.*}} -> (f64) {
// CHECK:           arith.cmpf ole, %[[P]], %cst
// CHECK:           arith.constant 0xFFF0000000000000 : f64
// CHECK:           math.log %[[P]]
// CHECK:         } else {
// CHECK:           %[[NOT:.*]] = arith.subf %{{.*}}, %[[P]] : f64
// CHECK:           arith.constant 0xFFF0000000000000 : f64
// CHECK:           math.log %[[NOT]]
attn.system @training {
  %p = attn.param "p" : !attn.array<[], f64>
  %x = attn.data "x" : !attn.array<[], i1>
  attn.choice "x" bernoulli ["prob"] (%p : !attn.array<[], f64>) observed %x : !attn.array<[], i1>
}

// -----

// A mixture of bivariate normals is one logsumexp; its choices are pairs, so
// that there are T of them and not 2 T.

// CHECK-LABEL: attn.system @loss
// CHECK:         %[[WEIGHT:.*]] = attn.compute "log_weight.x" (%{{.*}}: "T") log_softmax (%{{.*}}: 20)
// CHECK:         %[[P:.*]] = attn.compute "log_p.x" (%{{.*}}: "T") logsumexp (%{{.*}}: 20)
// CHECK:           attn.read %[[WEIGHT]]
// CHECK:         attn.compute "logp.x" () sum (%{{.*}}: "T")
// CHECK:         attn.compute "choices.x" () sum (%{{[a-z0-9]*}}: "T") {
attn.system @training {
  attn.length "T"
  %w = attn.param "w" : !attn.array<["T", 20], f64>
  %m = attn.param "m" : !attn.array<["T", 20, 2], f64>
  %s = attn.param "s" : !attn.array<["T", 20, 2], f64>
  %r = attn.param "r" : !attn.array<["T", 20], f64>
  %x = attn.data "x" : !attn.array<["T", 2], f64>
  attn.choice "x" mixture ["logit", "mean", "sd", "correlation"] (%w, %m, %s, %r : !attn.array<["T", 20], f64>, !attn.array<["T", 20, 2], f64>, !attn.array<["T", 20, 2], f64>, !attn.array<["T", 20], f64>) observed %x : !attn.array<["T", 2], f64>
}

// -----

// Penalties are added up; without a choice the rest of the objective is 0.

// CHECK-LABEL: attn.system @loss
// CHECK:         %[[A:.*]] = attn.param "a"
// CHECK:         %[[B:.*]] = attn.param "b"
// CHECK:         %[[SUM:.*]] = attn.compute "penalty" () sum (%{{.*}}: "S")
// CHECK-NEXT:      attn.read %[[B]]
// CHECK:         %[[BOTH:.*]] = attn.compute "penalty" () {
// CHECK-DAG:       attn.read %[[A]][]
// CHECK-DAG:       attn.read %[[SUM]][]
// CHECK:         attn.output "penalty" %[[BOTH]]
attn.system @training {
  attn.length "S"
  %a = attn.param "a" : !attn.array<[], f64>
  %b = attn.param "b" : !attn.array<["S"], f64>
  attn.penalty %a : !attn.array<[], f64>
  attn.penalty %b : !attn.array<["S"], f64>
}

// -----

// Must not fire: only `@training` is an objective.

// CHECK-LABEL: attn.system @decoding
// CHECK:         attn.choice "y"
// CHECK:         attn.penalty
attn.system @decoding {
  %l = attn.param "l" : !attn.array<[3], f64>
  %a = attn.param "a" : !attn.array<[], f64>
  %y = attn.choice "y" categorical ["logits"] (%l : !attn.array<[3], f64>) -> !attn.array<[], i64>
  attn.penalty %a : !attn.array<[], f64>
}

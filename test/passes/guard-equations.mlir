// RUN: fovea-opt %s --attn-guard-equations --split-input-file | FileCheck %s

// The quotient is looked at where x is not 0.

// CHECK-LABEL: module @branch
// CHECK:       %[[Q:.*]] = attn.compute (%[[T:.*]]: "T") where {
// CHECK:         attn.read %[[OK:.*]][%[[T]]] : !attn.array<["T"], i1>
// CHECK:       } {
// CHECK:         arith.divf
// CHECK:       attn.compute "b"
// CHECK:         scf.if
// CHECK:           attn.read %[[Q]]
// CHECK:       %[[OK]] = attn.compute (%[[U:.*]]: "T") {
// CHECK:         %[[X:.*]] = attn.read %{{.*}}[%[[U]]]
// CHECK:         %[[HOLDS:.*]] = arith.cmpf une, %[[X]]
// CHECK:         attn.yield %[[HOLDS]] : i1
module @branch {
  attn.system @loss {
    attn.length "T"
    %x = attn.data "x" : !attn.array<["T"], f64>
    %w = attn.param "w" : !attn.array<[], f64>
    %q = attn.compute (%t: "T") {
      %0 = attn.read %w[] : !attn.array<[], f64>
      %1 = attn.read %x[%t] : !attn.array<["T"], f64>
      %2 = arith.divf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<["T"], f64>
    %b = attn.compute "b" (%t: "T") {
      %zero = arith.constant 0.0 : f64
      %0 = attn.read %x[%t] : !attn.array<["T"], f64>
      %1 = arith.cmpf une, %0, %zero : f64
      %2 = scf.if %1 -> f64 {
        %3 = attn.read %q[%t] : !attn.array<["T"], f64>
        scf.yield %3 : f64
      } else {
        scf.yield %zero : f64
      }
      attn.yield %2 : f64
    } : !attn.array<["T"], f64>
    %nll = attn.compute "nll" () sum (%t: "T") {
      %0 = attn.read %b[%t] : !attn.array<["T"], f64>
      attn.yield %0 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// Looked at everywhere, by a reader without a condition: nothing is guarded; and
// neither is what is finite everywhere.

// CHECK-LABEL: module @everywhere
// CHECK-NOT:   where
// CHECK:       attn.compute "nll" () sum (%{{.*}}: "T") where
// CHECK-NOT:   where
module @everywhere {
  attn.system @loss {
    attn.length "T"
    %m = attn.data "m" : !attn.array<["T"], i1>
    %w = attn.param "w" : !attn.array<["T"], f64>
    %r = attn.compute "r" (%t: "T") {
      %0 = attn.read %w[%t] : !attn.array<["T"], f64>
      %1 = math.sqrt %0 : f64
      attn.yield %1 : f64
    } : !attn.array<["T"], f64>
    %s = attn.compute "s" (%t: "T") {
      %0 = attn.read %w[%t] : !attn.array<["T"], f64>
      %1 = math.tanh %0 : f64
      attn.yield %1 : f64
    } : !attn.array<["T"], f64>
    %all = attn.compute "penalty" () sum (%t: "T") {
      %0 = attn.read %r[%t] : !attn.array<["T"], f64>
      attn.yield %0 : f64
    } : !attn.array<[], f64>
    %nll = attn.compute "nll" () sum (%t: "T") where {
      %0 = attn.read %m[%t] : !attn.array<["T"], i1>
      attn.yield %0 : i1
    } {
      %0 = attn.read %r[%t] : !attn.array<["T"], f64>
      %1 = attn.read %s[%t] : !attn.array<["T"], f64>
      %2 = arith.addf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[], f64>
    attn.output "penalty" %all : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// Through a reader that has no condition; one that lacks the index of the guard
// is looked at where any place does.

// CHECK-LABEL: module @through
// CHECK:       attn.compute "q" () where {
// CHECK:         attn.read %[[OFQ:.*]][] : !attn.array<[], i1>
// CHECK:       %[[OFR:.*]] = attn.compute () any (%[[T:.*]]: "T") where {
// CHECK:         attn.read %{{.*}}[%[[T]]] : !attn.array<["T"], i1>
// CHECK:       %[[OFQ]] = attn.compute () {
// CHECK:         %[[HOLDS:.*]] = attn.read %[[OFR]][]
// CHECK-NEXT:    attn.yield %[[HOLDS]]
module @through {
  attn.system @loss {
    attn.length "T"
    %m = attn.data "m" : !attn.array<["T"], i1>
    %w = attn.param "w" : !attn.array<[], f64>
    %q = attn.compute "q" () {
      %0 = attn.read %w[] : !attn.array<[], f64>
      %1 = math.log %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    %r = attn.compute "r" () {
      %0 = attn.read %q[] : !attn.array<[], f64>
      %1 = arith.addf %0, %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    %nll = attn.compute "nll" () sum (%t: "T") where {
      %0 = attn.read %m[%t] : !attn.array<["T"], i1>
      attn.yield %0 : i1
    } {
      %0 = attn.read %r[] : !attn.array<[], f64>
      attn.yield %0 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// What is asked for beside the objective has values everywhere: it is made twice.

// CHECK-LABEL: module @output
// CHECK:       %[[ALL:.*]] = attn.compute "q" (%{{.*}}: "T") {
// CHECK:       %[[SOME:.*]] = attn.compute (%{{.*}}: "T") where {
// CHECK:       attn.compute "nll"
// CHECK:         attn.read %[[SOME]]
// CHECK:       attn.output "q" %[[ALL]]
module @output {
  attn.system @loss {
    attn.length "T"
    %m = attn.data "m" : !attn.array<["T"], i1>
    %w = attn.param "w" : !attn.array<["T"], f64>
    %q = attn.compute "q" (%t: "T") {
      %0 = attn.read %w[%t] : !attn.array<["T"], f64>
      %1 = math.log %0 : f64
      attn.yield %1 : f64
    } : !attn.array<["T"], f64>
    %nll = attn.compute "nll" () sum (%t: "T") where {
      %0 = attn.read %m[%t] : !attn.array<["T"], i1>
      attn.yield %0 : i1
    } {
      %0 = attn.read %q[%t] : !attn.array<["T"], f64>
      attn.yield %0 : f64
    } : !attn.array<[], f64>
    attn.output "q" %q : !attn.array<["T"], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// So is all that is between it and what has a guard; what reads no such thing is
// made once, and what only outputs read is not guarded.

// CHECK-LABEL: module @readers
// CHECK:       %[[ALL:.*]] = attn.compute (%{{.*}}: "T") {
// CHECK-NEXT:    attn.read
// CHECK-NEXT:    math.log
// CHECK:       %[[SOME:.*]] = attn.compute (%{{.*}}: "T") where {
// CHECK:         math.log
// CHECK:       %[[TWICE:.*]] = attn.compute "twice" (%{{.*}}: "T") {
// CHECK-NEXT:    attn.read %[[ALL]]
// CHECK:       %[[OFLOSS:.*]] = attn.compute (%{{.*}}: "T") {
// CHECK-NEXT:    attn.read %[[SOME]]
// CHECK:       %[[APART:.*]] = attn.compute "apart" (%{{.*}}: "T") {
// CHECK-NEXT:    attn.read %[[TWICE]]
// CHECK-NEXT:    math.sqrt
// CHECK:       %[[ONCE:.*]] = attn.compute "once"
// CHECK-NOT:   "once"
// CHECK:       attn.compute "nll"
// CHECK:         attn.read %[[OFLOSS]]
// CHECK:         attn.read %[[ONCE]]
// CHECK:       attn.output "twice" %[[TWICE]]
// CHECK:       attn.output "apart" %[[APART]]
// CHECK:       attn.output "once" %[[ONCE]]
module @readers {
  attn.system @loss {
    attn.length "T"
    %m = attn.data "m" : !attn.array<["T"], i1>
    %w = attn.param "w" : !attn.array<["T"], f64>
    %q = attn.compute (%t: "T") {
      %0 = attn.read %w[%t] : !attn.array<["T"], f64>
      %1 = math.log %0 : f64
      attn.yield %1 : f64
    } : !attn.array<["T"], f64>
    %twice = attn.compute "twice" (%t: "T") {
      %0 = attn.read %q[%t] : !attn.array<["T"], f64>
      %1 = arith.addf %0, %0 : f64
      attn.yield %1 : f64
    } : !attn.array<["T"], f64>
    %apart = attn.compute "apart" (%t: "T") {
      %0 = attn.read %twice[%t] : !attn.array<["T"], f64>
      %1 = math.sqrt %0 : f64
      attn.yield %1 : f64
    } : !attn.array<["T"], f64>
    %once = attn.compute "once" (%t: "T") {
      %0 = attn.read %w[%t] : !attn.array<["T"], f64>
      %1 = math.tanh %0 : f64
      attn.yield %1 : f64
    } : !attn.array<["T"], f64>
    %nll = attn.compute "nll" () sum (%t: "T") where {
      %0 = attn.read %m[%t] : !attn.array<["T"], i1>
      attn.yield %0 : i1
    } {
      %0 = attn.read %twice[%t] : !attn.array<["T"], f64>
      %1 = attn.read %once[%t] : !attn.array<["T"], f64>
      %2 = arith.addf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
    attn.output "twice" %twice : !attn.array<["T"], f64>
    attn.output "apart" %apart : !attn.array<["T"], f64>
    attn.output "once" %once : !attn.array<["T"], f64>
  }
}

// -----

// What stands for a term of the objective in gradients is looked at as it is: it
// reads what has the guard, and no copy.

// CHECK-LABEL: module @surrogate
// CHECK:       %[[Q:.*]] = attn.compute "q" (%{{.*}}: "T") where {
// CHECK:         math.log
// CHECK-NOT:   math.log
// CHECK:       attn.compute "surrogate"
// CHECK:         attn.read %[[Q]]
// CHECK-NOT:   math.log
// CHECK:       attn.output "surrogate.nll"
module @surrogate {
  attn.system @loss {
    attn.length "T"
    %m = attn.data "m" : !attn.array<["T"], i1>
    %w = attn.param "w" : !attn.array<["T"], f64>
    %q = attn.compute "q" (%t: "T") {
      %0 = attn.read %w[%t] : !attn.array<["T"], f64>
      %1 = math.log %0 : f64
      attn.yield %1 : f64
    } : !attn.array<["T"], f64>
    %nll = attn.compute "nll" () sum (%t: "T") where {
      %0 = attn.read %m[%t] : !attn.array<["T"], i1>
      attn.yield %0 : i1
    } {
      %0 = attn.read %q[%t] : !attn.array<["T"], f64>
      attn.yield %0 : f64
    } : !attn.array<[], f64>
    %surrogate = attn.compute "surrogate" () sum (%t: "T") where {
      %0 = attn.read %m[%t] : !attn.array<["T"], i1>
      attn.yield %0 : i1
    } {
      %0 = attn.read %q[%t] : !attn.array<["T"], f64>
      %1 = arith.mulf %0, %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
    attn.output "surrogate.nll" %surrogate : !attn.array<[], f64>
  }
}

// -----

// An equation that has a condition keeps it: it is evaluated where that holds, and
// where it is looked at as well.

// CHECK-LABEL: module @conditional
// CHECK:       attn.compute "q" (%[[T:.*]]: "T") where {
// CHECK-NEXT:    %[[OWN:.*]] = attn.read %n[%[[T]]] : !attn.array<["T"], i1>
// CHECK-NEXT:    %[[BOTH:.*]] = scf.if %[[OWN]] -> (i1) {
// CHECK-NEXT:      %[[SEEN:.*]] = attn.read %{{.*}}[%[[T]]] : !attn.array<["T"], i1>
// CHECK-NEXT:      scf.yield %[[SEEN]]
// CHECK:         attn.yield %[[BOTH]]
// CHECK:         math.log
module @conditional {
  attn.system @loss {
    attn.length "T"
    %m = attn.data "m" : !attn.array<["T"], i1>
    %n = attn.data "n" : !attn.array<["T"], i1>
    %w = attn.param "w" : !attn.array<["T"], f64>
    %q = attn.compute "q" (%t: "T") where {
      %0 = attn.read %n[%t] : !attn.array<["T"], i1>
      attn.yield %0 : i1
    } {
      %0 = attn.read %w[%t] : !attn.array<["T"], f64>
      %1 = math.log %0 : f64
      attn.yield %1 : f64
    } : !attn.array<["T"], f64>
    %nll = attn.compute "nll" () sum (%t: "T") where {
      %0 = attn.read %m[%t] : !attn.array<["T"], i1>
      attn.yield %0 : i1
    } {
      %0 = attn.read %q[%t] : !attn.array<["T"], f64>
      attn.yield %0 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

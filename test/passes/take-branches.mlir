// RUN: fovea-opt %s --attn-take-branches | FileCheck %s

attn.program @loss {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 8], f64>

  // u < t follows from u + 2 <= t, so it is not asked again; the branch inside
  // it asks for more and stays.
  // CHECK-LABEL: attn.compute "decided"
  // CHECK:         attn.read %x
  // CHECK:         %[[VALUE:.*]] = scf.if
  // CHECK:         attn.yield %[[VALUE]]
  %decided = attn.compute "decided" (%t: "T", %k: 8) sum (%u: "T") where {
    %c2 = arith.constant 2 : index
    %0 = arith.addi %u, %c2 : index
    %1 = arith.cmpi sle, %0, %t : index
    attn.yield %1 : i1
  } {
    %c5 = arith.constant 5 : index
    %0 = arith.cmpi sgt, %t, %u : index
    %1 = scf.if %0 -> (f64) {
      %2 = attn.read %x[%u, %k] : !attn.array<["T", 8], f64>
      %3 = arith.addi %u, %c5 : index
      %4 = arith.cmpi sle, %3, %t : index
      %5 = scf.if %4 -> (f64) {
        scf.yield %2 : f64
      } else {
        %cst = arith.constant 1.0 : f64
        scf.yield %cst : f64
      }
      scf.yield %5 : f64
    } else {
      %cst = arith.constant 0.0 : f64
      scf.yield %cst : f64
    }
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>

  // Nothing is known without a condition, and nothing of other indices.
  // CHECK-LABEL: attn.compute "open"
  // CHECK:         scf.if
  %open = attn.compute "open" (%t: "T", %k: 8) sum (%u: "T") {
    %0 = arith.cmpi sle, %u, %t : index
    %1 = scf.if %0 -> (f64) {
      %2 = attn.read %x[%u, %k] : !attn.array<["T", 8], f64>
      scf.yield %2 : f64
    } else {
      %cst = arith.constant 0.0 : f64
      scf.yield %cst : f64
    }
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  // CHECK-LABEL: attn.compute "other"
  // CHECK:         scf.if
  %other = attn.compute "other" (%t: "T", %k: 8) sum (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = arith.cmpi sle, %t, %u : index
    %1 = scf.if %0 -> (f64) {
      %2 = attn.read %x[%u, %k] : !attn.array<["T", 8], f64>
      scf.yield %2 : f64
    } else {
      %cst = arith.constant 0.0 : f64
      scf.yield %cst : f64
    }
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  attn.output "decided" %decided : !attn.array<["T", 8], f64>
  attn.output "open" %open : !attn.array<["T", 8], f64>
  attn.output "other" %other : !attn.array<["T", 8], f64>
}

// What the condition asks is not asked again, whatever it is; what it does not
// ask is.
attn.program @grad {
  %x = attn.data "x" : !attn.array<[9], f64>
  // CHECK-LABEL: attn.compute "repeated"
  // CHECK:         attn.yield %{{.*}} : i1
  // CHECK-NOT:     scf.if
  // CHECK:         attn.read %x
  %repeated = attn.compute "repeated" (%i: 4) max (%k: 3) where {
    %c2 = arith.constant 2 : index
    %c9 = arith.constant 9 : index
    %0 = arith.muli %i, %c2 : index
    %1 = arith.addi %0, %k : index
    %2 = arith.cmpi slt, %1, %c9 : index
    %3 = arith.cmpi sle, %k, %i : index
    %4 = arith.andi %2, %3 : i1
    attn.yield %4 : i1
  } {
    %c9 = arith.constant 9 : index
    %c2 = arith.constant 2 : index
    %0 = arith.muli %i, %c2 : index
    %1 = arith.addi %0, %k : index
    %2 = arith.cmpi slt, %1, %c9 : index
    %3 = scf.if %2 -> (f64) {
      %4 = attn.read %x[%1] : !attn.array<[9], f64>
      scf.yield %4 : f64
    } else {
      %cst = arith.constant 0.0 : f64
      scf.yield %cst : f64
    }
    attn.yield %3 : f64
  } : !attn.array<[4], f64>
  // CHECK-LABEL: attn.compute "narrower"
  // CHECK:         scf.if
  %narrower = attn.compute "narrower" (%i: 4) max (%k: 3) where {
    %c2 = arith.constant 2 : index
    %c9 = arith.constant 9 : index
    %0 = arith.muli %i, %c2 : index
    %1 = arith.addi %0, %k : index
    %2 = arith.cmpi slt, %1, %c9 : index
    attn.yield %2 : i1
  } {
    %c8 = arith.constant 8 : index
    %c2 = arith.constant 2 : index
    %0 = arith.muli %i, %c2 : index
    %1 = arith.addi %0, %k : index
    %2 = arith.cmpi slt, %1, %c8 : index
    %3 = scf.if %2 -> (f64) {
      %4 = attn.read %x[%1] : !attn.array<[9], f64>
      scf.yield %4 : f64
    } else {
      %cst = arith.constant 0.0 : f64
      scf.yield %cst : f64
    }
    attn.yield %3 : f64
  } : !attn.array<[4], f64>
  attn.output "repeated" %repeated : !attn.array<[4], f64>
  attn.output "narrower" %narrower : !attn.array<[4], f64>
}

// RUN: split-file %s %t
// RUN: not fovea-opt %t/systems.mlir --attn-check-phase=phase=derive 2>&1 | FileCheck %s --check-prefix=SYSTEMS
// RUN: not fovea-opt %t/programs.mlir --attn-check-phase=phase=batch 2>&1 | FileCheck %s --check-prefix=PROGRAMS

// Training and decoding add up an equation, which is written in one place, in one
// order.

// SYSTEMS: 'attn.compute' op has another order than in training after phase 'derive'
// SYSTEMS: this is the equation of training

// So does a step, although it has lost an index.

// PROGRAMS: 'attn.compute' op has another order than in training after phase 'batch'

//--- systems.mlir
attn.system @loss {
  %w = attn.param "w" : !attn.array<[8], f64>
  %x = attn.compute "x" () sum (%k: 8) order(chain) {
    %0 = attn.read %w[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64> loc("spec.fov":3:1)
}
attn.system @decode {
  %w = attn.param "w" : !attn.array<[8], f64>
  %x = attn.compute "x" () sum (%k: 8) order(lanes %k) {
    %0 = attn.read %w[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64> loc("spec.fov":3:1)
}

//--- programs.mlir
attn.program @loss {
  %w = attn.param "w" {attn.batch = "once"} : !attn.array<[4, 8], f64>
  %x = attn.compute "x" (%n: 4) sum (%k: 8) order(chain) {
    %0 = attn.read %w[%n, %k] : !attn.array<[4, 8], f64>
    attn.yield %0 : f64
  } {attn.batch = "once"} : !attn.array<[4], f64> loc("spec.fov":3:1)
  attn.output "x" %x : !attn.array<[4], f64>
}
attn.program @step {
  %w = attn.param "w" {attn.batch = "once"} : !attn.array<[8], f64>
  %x = attn.compute "x" () sum (%k: 8) order(lanes %k) {
    %0 = attn.read %w[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.batch = "once"} : !attn.array<[], f64> loc("spec.fov":3:1)
  attn.output "x" %x : !attn.array<[], f64>
}

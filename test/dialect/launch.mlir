// RUN: fovea-opt %s | FileCheck %s

// The schedule of a layer in a loop: its weights are packed ahead of it.

// CHECK-LABEL: launch.program of @loss
launch.program of @loss {
  // CHECK: launch.kernel @pack pack of 3 scalars(1) reads(once [16, 16] x f32) writes(once [256] x f32)
  launch.kernel @pack pack of 3 scalars(1) reads(once [16, 16] x f32) writes(once [256] x f32)
  // CHECK: launch.kernel @z compute of 3 scalars(1) reads({{.*}}) updates(each ["T", 16] x f32) scratch(thread [] x f32)
  launch.kernel @z compute of 3 scalars(1) reads(each ["T", 16] x f32, once [256] x f32, each ["T", 16] x f32) updates(each ["T", 16] x f32) scratch(thread [] x f32)
  // CHECK: %x = launch.memory "x" at 20 : given each ["T", 16] x f32
  %x = launch.memory "x" at 20 : given each ["T", 16] x f32
  %u = launch.memory "u" at 21 : given once [16, 16] x f32
  %packed = launch.memory "u.right" at 22 : kept once [256] x f32
  // CHECK: launch.prepare {
  launch.prepare {
    %terms = arith.constant 16 : i64
    // CHECK: launch.run pack of 3 "z" by @pack scalars(%{{.*}}) at [40] reads(%u) writes(%u.right) units(panels)
    launch.run pack of 3 "z" by @pack scalars(%terms) at [40] reads(%u) writes(%packed) units(panels)
  }
  %s = launch.memory "s" at 23 : made each ["T", 16] x f32
  %room = launch.memory "room" at 24 : made thread [] x f32
  %batch = launch.batch
  // CHECK: launch.for in "T" of 2 over %batch reversed by_rank carries(%s) do (%t) {
  launch.for in "T" of 2 over %batch reversed by_rank carries(%s) do (%t) {
    // CHECK: %n = launch.rows %t
    %n = launch.rows %t
    // CHECK: launch.run compute of 3 "z" by @z scalars(%n) at [41] reads(%x, %u.right, %s) updates(%s) scratch(%room) units(tiles %n)
    launch.run compute of 3 "z" by @z scalars(%n) at [41] reads(%x, %packed, %s) updates(%s) scratch(%room) units(tiles %n)
  }
}

// Numbers of a batch, a choice of tiles, a loop that is one launch, and steps.

// CHECK-LABEL: launch.program of @grad
launch.program of @grad {
  launch.kernel @small compute of 1 reads(each ["T", 16] x f32) writes(each ["T", 16] x f32)
  launch.kernel @medium compute of 1 reads(each ["T", 16] x f32) writes(each ["T", 16] x f32)
  launch.kernel @step compute of 3 reads(each ["T", 16] x f32) updates(each ["T", 16] x f32)
  %x = launch.memory "x" at 20 : given each ["T", 16] x f32
  %y = launch.memory "y" at 21 : made each ["T", 16] x f32
  %s = launch.memory "s" at 22 : made each ["T", 16] x f32
  // CHECK: launch.step 4
  launch.step 4
  // CHECK: launch.longest "T"
  %longest = launch.longest "T"
  // CHECK: launch.places ["T"] layout 1
  %rows = launch.places ["T"] layout 1
  %least = arith.constant 64 : i64
  %few = arith.cmpi slt, %longest, %least : i64
  scf.if %few {
    // CHECK: units(tiles %places) tile "small"
    launch.run compute of 1 by @small reads(%x) writes(%y) units(tiles %rows) tile "small"
  } else {
    launch.run compute of 1 by @medium reads(%x) writes(%y) units(tiles %rows) tile "medium"
  }
  %batch = launch.batch
  // CHECK: launch.persistent of 2 {
  launch.persistent of 2 {
    launch.for in 8 of 2 over %batch do (%t) {
      %n = launch.rows %t
      // CHECK: units(examples %n) phase 1 turn 0
      launch.run compute of 3 by @step reads(%y) updates(%s) units(examples %n) phase 1 turn 0
    }
  }
}

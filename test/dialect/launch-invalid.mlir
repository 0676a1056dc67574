// RUN: fovea-opt %s --split-input-file --verify-diagnostics

// What is read is written before.
launch.program of @loss {
  %u = launch.memory "u" at 20 : given once [16, 16] x f32
  %packed = launch.memory "u.right" at 21 : made once [256] x f32
  %y = launch.memory "y" at 22 : made once [16] x f32
  // expected-error @+1 {{reads 'u.right', which no run before it has written (C3)}}
  launch.run compute of 1 reads(%u, %packed) writes(%y) units(once)
  launch.run pack of 1 reads(%u) writes(%packed) units(panels)
}

// -----

// What another run keeps is not there without its run.
launch.program of @loss {
  %packed = launch.memory "u.right" at 21 : kept once [256] x f32
  %y = launch.memory "y" at 22 : made once [16] x f32
  // expected-error @+1 {{reads 'u.right', which no run before it has written (C3)}}
  launch.run compute of 1 reads(%packed) writes(%y) units(once)
}

// -----

// In a branch that is not taken, nothing is written for the other one.
launch.program of @loss {
  %y = launch.memory "y" at 22 : made once [16] x f32
  %z = launch.memory "z" at 23 : made once [16] x f32
  %yes = arith.constant true
  scf.if %yes {
    launch.run compute of 1 writes(%y) units(once) tile "small"
  } else {
    // expected-error @+1 {{reads 'y', which no run before it has written (C3)}}
    launch.run compute of 1 reads(%y) writes(%z) units(once) tile "large"
  }
}

// -----

launch.program of @loss {
  %y = launch.memory "y" at 22 : made once [16] x f32
  // expected-note @+1 {{the other run}}
  launch.run compute of 1 writes(%y) units(once)
  // expected-error @+1 {{does what another run has done (C2)}}
  launch.run compute of 1 writes(%y) units(once)
}

// -----

launch.program of @loss {
  %y = launch.memory "y" at 22 : made once [16] x f32
  launch.run compute of 2 writes(%y) units(once)
  // expected-error @+1 {{comes after a launch of op 2 that it should precede (C1)}}
  launch.run compute of 1 updates(%y) units(once)
}

// -----

// Zeros of excluded rows come after the product.
launch.program of @loss {
  %y = launch.memory "y" at 22 : made once [16] x f32
  launch.run where of 1 updates(%y) units(once)
  // expected-error @+1 {{comes after a launch of op 1 that it should precede (C1)}}
  launch.run compute of 1 updates(%y) units(once)
}

// -----

launch.program of @loss {
  %y = launch.memory "y" at 22 : made once [16] x f32
  // expected-error @+1 {{writes no memory}}
  launch.run compute of 1 units(once)
}

// -----

launch.program of @loss {
  %y = launch.memory "y" at 22 : made once [16] x f32
  %batch = launch.batch
  // expected-error @+1 {{has 1 scalars at 2 slots}}
  launch.run compute of 1 scalars(%batch) at [30, 31] writes(%y) units(once)
}

// -----

launch.program of @loss {
  %y = launch.memory "y" at 22 : made once [16] x f32
  // expected-error @+1 {{has a phase outside of a 'launch.persistent'}}
  launch.run compute of 1 writes(%y) units(once) phase 0 turn 0
}

// -----

launch.program of @loss {
  %y = launch.memory "y" at 22 : made once [16] x f32
  // expected-error @+1 {{has a phase and a turn, or neither}}
  "launch.run"(%y) <{number = 1 : i64, operandSegmentSizes = array<i32: 0, 0, 1, 0, 0, 0>, phase = 0 : i64, units = 4 : i32, work = 8 : i32}> : (!launch.memory) -> ()
}

// -----

launch.program of @loss {
  %batch = launch.batch
  launch.for in "T" of 2 over %batch do (%t) {
    // expected-error @+1 {{is not an item of a program (C1)}}
    launch.prepare {
    }
  }
}

// -----

launch.program of @loss {
  %y = launch.memory "y" at 22 : made once [16] x f32
  launch.run compute of 1 writes(%y) units(once)
  // expected-error @+1 {{comes after 'launch.run' (C1)}}
  launch.prepare {
  }
}

// -----

launch.program of @loss {
  // expected-error @+1 {{holds one loop (C1)}}
  launch.persistent of 2 {
    launch.step 1
  }
}

// -----

launch.program of @loss {
  %batch = launch.batch
  // expected-error @+1 {{takes the step of a loop (C1)}}
  %n = launch.rows %batch
}

// -----

launch.program of @loss {
  %batch = launch.batch
  // expected-error @+1 {{has a body with one argument, the step}}
  launch.for in "T" of 2 over %batch do (%t, %n) {
  }
}

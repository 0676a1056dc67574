// RUN: fovea-opt %s --split-input-file --verify-diagnostics

// What is read is written before.
launch.program of @loss {
  launch.kernel @k0 compute of 1 reads(once [16, 16] x f32, once [256] x f32) writes(once [16] x f32)
  launch.kernel @k1 pack of 1 reads(once [16, 16] x f32) writes(once [256] x f32)
  %u = launch.memory "u" at 20 : given once [16, 16] x f32
  %packed = launch.memory "u.right" at 21 : made once [256] x f32
  %y = launch.memory "y" at 22 : made once [16] x f32
  // expected-error @+1 {{reads 'u.right', which no run before it has written (C3)}}
  launch.run compute of 1 by @k0 reads(%u, %packed) writes(%y) units(once)
  launch.run pack of 1 by @k1 reads(%u) writes(%packed) units(panels)
}

// -----

// What another run keeps is not there without its run.
launch.program of @loss {
  launch.kernel @k0 compute of 1 reads(once [256] x f32) writes(once [16] x f32)
  %packed = launch.memory "u.right" at 21 : kept once [256] x f32
  %y = launch.memory "y" at 22 : made once [16] x f32
  // expected-error @+1 {{reads 'u.right', which no run before it has written (C3)}}
  launch.run compute of 1 by @k0 reads(%packed) writes(%y) units(once)
}

// -----

// In a branch that is not taken, nothing is written for the other one.
launch.program of @loss {
  launch.kernel @k0 compute of 1 writes(once [16] x f32)
  launch.kernel @k1 compute of 1 reads(once [16] x f32) writes(once [16] x f32)
  %y = launch.memory "y" at 22 : made once [16] x f32
  %z = launch.memory "z" at 23 : made once [16] x f32
  %yes = arith.constant true
  scf.if %yes {
    launch.run compute of 1 by @k0 writes(%y) units(once) tile "small"
  } else {
    // expected-error @+1 {{reads 'y', which no run before it has written (C3)}}
    launch.run compute of 1 by @k1 reads(%y) writes(%z) units(once) tile "large"
  }
}

// -----

launch.program of @loss {
  launch.kernel @k0 compute of 1 writes(once [16] x f32)
  launch.kernel @k1 compute of 1 writes(once [16] x f32)
  %y = launch.memory "y" at 22 : made once [16] x f32
  // expected-note @+1 {{the other run}}
  launch.run compute of 1 by @k0 writes(%y) units(once)
  // expected-error @+1 {{does what another run has done (C2)}}
  launch.run compute of 1 by @k1 writes(%y) units(once)
}

// -----

launch.program of @loss {
  launch.kernel @k0 compute of 2 writes(once [16] x f32)
  launch.kernel @k1 compute of 1 updates(once [16] x f32)
  %y = launch.memory "y" at 22 : made once [16] x f32
  launch.run compute of 2 by @k0 writes(%y) units(once)
  // expected-error @+1 {{comes after a launch of op 2 that it should precede (C1)}}
  launch.run compute of 1 by @k1 updates(%y) units(once)
}

// -----

// Zeros of excluded rows come after the product.
launch.program of @loss {
  launch.kernel @k0 where of 1 updates(once [16] x f32)
  launch.kernel @k1 compute of 1 updates(once [16] x f32)
  %y = launch.memory "y" at 22 : made once [16] x f32
  launch.run where of 1 by @k0 updates(%y) units(once)
  // expected-error @+1 {{comes after a launch of op 1 that it should precede (C1)}}
  launch.run compute of 1 by @k1 updates(%y) units(once)
}

// -----

launch.program of @loss {
  launch.kernel @k0 compute of 1
  %y = launch.memory "y" at 22 : made once [16] x f32
  // expected-error @+1 {{writes no memory}}
  launch.run compute of 1 by @k0 units(once)
}

// -----

launch.program of @loss {
  launch.kernel @k0 compute of 1 scalars(1) writes(once [16] x f32)
  %y = launch.memory "y" at 22 : made once [16] x f32
  %batch = launch.batch
  // expected-error @+1 {{has 1 scalars at 2 slots}}
  launch.run compute of 1 by @k0 scalars(%batch) at [30, 31] writes(%y) units(once)
}

// -----

launch.program of @loss {
  launch.kernel @k0 compute of 1 writes(once [16] x f32)
  %y = launch.memory "y" at 22 : made once [16] x f32
  // expected-error @+1 {{has a phase outside of a 'launch.persistent'}}
  launch.run compute of 1 by @k0 writes(%y) units(once) phase 0 turn 0
}

// -----

launch.program of @loss {
  %y = launch.memory "y" at 22 : made once [16] x f32
  // expected-error @+1 {{has a phase and a turn, or neither}}
  "launch.run"(%y) <{kernel = @k0, number = 1 : i64, operandSegmentSizes = array<i32: 0, 0, 1, 0, 0, 0>, phase = 0 : i64, units = 4 : i32, work = 8 : i32}> : (!launch.memory) -> ()
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
  launch.kernel @k0 compute of 1 writes(once [16] x f32)
  %y = launch.memory "y" at 22 : made once [16] x f32
  launch.run compute of 1 by @k0 writes(%y) units(once)
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

// -----

launch.program of @loss {
  %y = launch.memory "y" at 22 : made once [16] x f32
  // expected-error @+1 {{launches 'y', but the program has no kernel of this name (C1)}}
  launch.run compute of 1 by @y writes(%y) units(once)
}

// -----

launch.program of @loss {
  // expected-note @+1 {{the kernel}}
  launch.kernel @y clear of 1 writes(once [16] x f32)
  %y = launch.memory "y" at 22 : made once [16] x f32
  // expected-error @+1 {{does 'compute', but its kernel does 'clear' (C2)}}
  launch.run compute of 1 by @y writes(%y) units(once)
}

// -----

launch.program of @loss {
  // expected-note @+1 {{the kernel}}
  launch.kernel @y compute of 1 scalars(2) writes(once [16] x f32)
  %y = launch.memory "y" at 22 : made once [16] x f32
  %batch = launch.batch
  // expected-error @+1 {{gives 1 scalars, but its kernel takes 2 (C2)}}
  launch.run compute of 1 by @y scalars(%batch) at [30] writes(%y) units(once)
}

// -----

launch.program of @loss {
  // expected-note @+1 {{the kernel}}
  launch.kernel @y compute of 1 updates(once [16] x f32)
  %y = launch.memory "y" at 22 : made once [16] x f32
  // expected-error @+1 {{writes 1 memories, but its kernel writes 0 (C2)}}
  launch.run compute of 1 by @y writes(%y) units(once)
}

// -----

// Two layers of different sizes have no kernel in common.
launch.program of @loss {
  // expected-note @+1 {{the kernel}}
  launch.kernel @y compute of 1 writes(each ["T", 16] x f32)
  %y = launch.memory "y" at 22 : made each ["T", 16] x f32
  launch.run compute of 1 by @y writes(%y) units(once)
  %z = launch.memory "z" at 23 : made each ["T", 32] x f32
  // expected-error @+1 {{writes 'z', but its kernel writes each ["T", 16] x f32 there (C2)}}
  launch.run compute of 2 by @y writes(%z) units(once)
}

// -----

launch.program of @loss {
  // expected-error @+1 {{expected once, each, thread or block, found 'all'}}
  launch.kernel @y compute of 1 writes(all [16] x f32)
}

// -----

// No attribute beside those of the op decides anything.
launch.program of @loss {
  launch.kernel @y compute of 1 writes(once [16] x f32)
  %y = launch.memory "y" at 22 : made once [16] x f32
  // expected-error @+1 {{has the unknown attribute 'launch.phase'; help: operands and inherent attributes say what runs}}
  launch.run compute of 1 by @y writes(%y) units(once) {launch.phase = 1 : i64}
}

// -----

launch.program of @loss {
  launch.kernel @y compute of 1 places(1) writes(once [16] x f32)
  %y = launch.memory "y" at 22 : made once [16] x f32
  // expected-error @+1 {{has 1 places at 2 slots}}
  launch.run compute of 1 by @y places [3] at [30, 31] writes(%y) units(once)
}

// -----

launch.program of @loss {
  // expected-note @+1 {{the kernel}}
  launch.kernel @y compute of 1 places(2) writes(once [16] x f32)
  %y = launch.memory "y" at 22 : made once [16] x f32
  // expected-error @+1 {{gives 1 places, but its kernel takes 2 (C2)}}
  launch.run compute of 1 by @y places [3] at [30] writes(%y) units(once)
}

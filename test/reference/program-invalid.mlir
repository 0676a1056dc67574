// What a program or a system can have wrong that no verifier sees.

// RUN: not fovea-eval %s --entry orphan --length 'W=[1]' --length M=1 2>&1 | FileCheck %s --check-prefix=ORPHAN
// ORPHAN: error: {{.*}}: extent 'W' of 'x' needs an index over 'M' before it
attn.system @orphan {
  attn.length "M"
  attn.length "W" over "M"
  %x = attn.compute "x" (%w: "W") {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<["W"], f64>
  attn.output "x" %x : !attn.array<["W"], f64>
}

// RUN: not fovea-eval %s --entry which --length 'W=[1]' --length M=1 2>&1 | FileCheck %s --check-prefix=WHICH
// WHICH: error: {{.*}}: the nested length 'W' needs an index over 'M'
attn.system @which {
  attn.length "M"
  attn.length "W" over "M"
  %x = attn.compute "x" () {
    %0 = attn.extent "W"
    %1 = arith.index_cast %0 : index to i64
    attn.yield %1 : i64
  } : !attn.array<[], i64>
  attn.output "x" %x : !attn.array<[], i64>
}

// RUN: not fovea-eval %s --entry length 2>&1 | FileCheck %s --check-prefix=LENGTH
// LENGTH: error: {{.*}}: 'Q' is no length of the model
attn.system @length {
  %x = attn.compute "x" () {
    %0 = attn.extent "Q"
    %1 = arith.index_cast %0 : index to i64
    attn.yield %1 : i64
  } : !attn.array<[], i64>
  attn.output "x" %x : !attn.array<[], i64>
}

// RUN: not fovea-eval %s --entry extent --input 'x=[1]' 2>&1 | FileCheck %s --check-prefix=EXTENT
// EXTENT: error: extent 'Q' is no length of the model
attn.system @extent {
  %x = attn.param "x" : !attn.array<["Q"], f64>
  attn.output "x" %x : !attn.array<["Q"], f64>
}

// RUN: not fovea-eval %s --entry itself 2>&1 | FileCheck %s --check-prefix=ITSELF
// ITSELF: error: {{.*}}: a scalar needs itself
attn.system @itself {
  %a = arith.addf %a, %a : f64
  %x = attn.compute "x" () {
    attn.yield %a : f64
  } : !attn.array<[], f64>
  attn.output "x" %x : !attn.array<[], f64>
}

// RUN: not fovea-eval %s --entry outside 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// OUTSIDE: error: {{.*}}: 'scf.execute_region' stands outside attn.compute
attn.system @outside {
  %one = arith.constant 1.0 : f64
  %a = scf.execute_region -> f64 {
    scf.yield %one : f64
  }
  %x = attn.compute "x" () {
    attn.yield %a : f64
  } : !attn.array<[], f64>
  attn.output "x" %x : !attn.array<[], f64>
}

// One branch of a scalar from outside is computed.
// RUN: fovea-eval %s --entry branch | FileCheck %s --check-prefix=BRANCH
// BRANCH: x []: 2
attn.system @branch {
  %false = arith.constant false
  %one = arith.constant 1.0 : f64
  %a = scf.if %false -> f64 {
    scf.yield %one : f64
  } else {
    %two = arith.constant 2.0 : f64
    scf.yield %two : f64
  }
  %x = attn.compute "x" () {
    attn.yield %a : f64
  } : !attn.array<[], f64>
  attn.output "x" %x : !attn.array<[], f64>
}

// A scalar from outside the body is computed, whatever it needs.
// RUN: fovea-eval %s --entry scalars --input 'x=[3]' | FileCheck %s --check-prefix=SCALARS
// SCALARS: y []: 7
attn.system @scalars {
  %sum = arith.addf %x0, %four : f64
  %y = attn.compute "y" () {
    attn.yield %sum : f64
  } : !attn.array<[], f64>
  attn.output "y" %y : !attn.array<[], f64>
  %x0 = attn.read %x[%zero] : !attn.array<[1], f64>
  %zero = arith.constant 0 : index
  %four = arith.constant 4.0 : f64
  %x = attn.param "x" : !attn.array<[1], f64>
}

// A length that no number is: S // 0.
// RUN: not fovea-eval %s --entry divided --length S=1 2>&1 | FileCheck %s --check-prefix=DIVIDED
// DIVIDED: error: length 'Z' cannot be computed
attn.system @divided {
  attn.length "S"
  attn.length "S-1" is affine_map<()[s0] -> (s0 - 1)> ["S"]
  attn.length "Z" is affine_map<()[s0, s1] -> (s0 floordiv s1)> ["S", "S-1"]
}

// RUN: not fovea-eval %s --entry append 2>&1 | FileCheck %s --check-prefix=APPEND
// APPEND: error: {{.*}}: 'attn.append' writes row 2 of 2
attn.program @append {
  %two = arith.constant 2 : index
  %x = attn.compute (%i: 2) {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[2], f64>
  %row = attn.compute () {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  %y = attn.append %x[%two] axis 0 = %row : !attn.array<[2], f64>, !attn.array<[], f64>
  attn.output "y" %y : !attn.array<[2], f64>
}

// What the tool itself is given.
// RUN: not fovea-eval %s --entry nowhere 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: program-invalid.mlir' has no system or program 'nowhere'
// RUN: not fovea-eval %s --entry orphan --input 'x=[1, [2]]' 2>&1 | FileCheck %s --check-prefix=ARRAY
// ARRAY: error: 'x=[1, [2]]' is no NAME=ARRAY
// RUN: not fovea-eval %s --entry orphan --decode --forced 'x=[' 2>&1 | FileCheck %s --check-prefix=FORCED
// FORCED: error: 'x=[' is no NAME=ARRAY
// RUN: not fovea-eval %s --entry orphan --length 'S=[[1]]' 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: 'S={{.*}}' is no NAME=NUMBER

// RUN: fovea-eval %s --entry right --launches --input 'x=[1, 2, 3]' | FileCheck %s
// RUN: fovea-eval %s --entry right --input 'x=[1, 2, 3]' | FileCheck %s
// RUN: not fovea-eval %s --entry wrong --launches --input 'x=[1, 2, 3]' 2>&1 | FileCheck %s --check-prefix=WRONG

// An element of given data, at a computed place.
// CHECK: y []: 3
attn.program @right {
  %x = attn.data "x" {attn.batch = "each", attn.location = #attn.location<argument 0>} : !attn.array<[3], f64>
  %k = attn.compute "k" () argmax (%i: 3) {
    %0 = attn.read %x[%i] : !attn.array<[3], f64>
    attn.yield %0 : f64
  } {attn.batch = "each", attn.location = #attn.location<own 1>} : !attn.array<[], i64>
  %y = attn.compute "y" () {
    %0 = attn.read %k[] : !attn.array<[], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = attn.read %x[%1] : !attn.array<[3], f64>
    attn.yield %2 : f64
  } {attn.batch = "each", attn.location = #attn.location<own 2>} : !attn.array<[], f64>
  attn.output "y" %y : !attn.array<[], f64>
}
launch.program of @right {
  launch.kernel @k0 compute of 1 reads(each [3] x f64) writes(each [] x i64)
  launch.kernel @k1 compute of 2 reads(each [3] x f64, each [] x i64) writes(each [] x f64)
  %batch = launch.batch
  %x = launch.memory "x" at 5 of memory 0 : given each [3] x f64
  %k = launch.memory "k" at 6 of memory 1 : made each [] x i64
  %y = launch.memory "y" at 7 of memory 2 : made each [] x f64
  launch.run compute of 1 "k" by @k0 reads(%x) writes(%k) units(examples %batch)
  launch.run compute of 2 "y" by @k1 reads(%x, %k) writes(%y) units(examples %batch)
}

// No run has written the place.
// WRONG: error: {{.*}}: 'compute' of op 2, 'y': an index of 'y' depends on an undefined value
attn.program @wrong {
  %x = attn.data "x" {attn.batch = "each", attn.location = #attn.location<argument 0>} : !attn.array<[3], f64>
  %k = attn.compute "k" () argmax (%i: 3) {
    %0 = attn.read %x[%i] : !attn.array<[3], f64>
    attn.yield %0 : f64
  } {attn.batch = "each", attn.location = #attn.location<own 1>} : !attn.array<[], i64>
  %y = attn.compute "y" () {
    %0 = attn.read %k[] : !attn.array<[], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = attn.read %x[%1] : !attn.array<[3], f64>
    attn.yield %2 : f64
  } {attn.batch = "each", attn.location = #attn.location<own 2>} : !attn.array<[], f64>
  attn.output "y" %y : !attn.array<[], f64>
}
launch.program of @wrong {
  launch.kernel @k0 compute of 2 reads(each [3] x f64) writes(each [] x f64) updates(each [] x i64)
  %batch = launch.batch
  %x = launch.memory "x" at 5 of memory 0 : given each [3] x f64
  %k = launch.memory "k" at 6 of memory 1 : made each [] x i64
  %y = launch.memory "y" at 7 of memory 2 : made each [] x f64
  launch.run compute of 2 "y" by @k0 reads(%x) writes(%y) updates(%k) units(examples %batch)
}

// RUN: fovea-opt %s --attn-batch --attn-split-members | FileCheck %s

// A sum of 17 terms with two reads each reads equations of eight terms. What
// they read at constant places are arrays, so both have one form.

// CHECK-LABEL: attn.program @parts
// CHECK:        %[[FIRST:.*]] = attn.compute (%t: "T") {
// CHECK:          attn.read %p[%t, %c0]
// CHECK-COUNT-7: attn.compute (%t: "T") {
// CHECK:        %[[A:.*]] = attn.compute (%t: "T", %d: 8) {
// CHECK-NEXT:     attn.read %[[FIRST]][%t] : !attn.array<["T"], f64>
// CHECK-NOT:      arith.constant
// CHECK:        } {attn.batch = "each", attn.part = "long"} : !attn.array<["T", 8], f64>
// CHECK-COUNT-8: attn.compute (%t: "T") {
// CHECK:        %[[B:.*]] = attn.compute (%t: "T", %d: 8) {
// CHECK-NEXT:     attn.read %[[A]][%t, %d]
// CHECK:        } {attn.batch = "each", attn.part = "long"} : !attn.array<["T", 8], f64>
// CHECK:        attn.compute "long" (%t: "T", %d: 8) {
// CHECK-NEXT:     attn.read %[[B]][%t, %d]
// CHECK:          attn.read %p[%t, %c16]
// CHECK:          arith.addf
// CHECK-NOT:      arith.addf

// One with 16 terms stays whole.

// CHECK:        attn.compute "short" (%t: "T", %d: 8) {
// CHECK-COUNT-15: arith.addf
// CHECK-NEXT:     attn.yield

// A concatenation of 33 parts is one of groups. Equal groups are one.

// CHECK:        %[[GROUP:.*]] = attn.concat %one, %one, %one, %one, %one, %one, %one, %one {attn.batch = "each", attn.part = "joined"}
// CHECK-NOT:    attn.concat
// CHECK:        attn.concat "joined" %[[GROUP]], %[[GROUP]], %[[GROUP]], %[[GROUP]], %one
attn.program @parts {
  attn.length "T"
  %p = attn.data "p" : !attn.array<["T", 17], f64>
  %h = attn.data "h" : !attn.array<["T", 8], f64>
  %one = attn.data "one" : !attn.array<["T", 1], f64>
  %long = attn.compute "long" (%t: "T", %d: 8) {
    %c0 = arith.constant 0 : index
    %p0 = attn.read %p[%t, %c0] : !attn.array<["T", 17], f64>
    %h0 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m0 = arith.mulf %p0, %h0 : f64
    %c1 = arith.constant 1 : index
    %p1 = attn.read %p[%t, %c1] : !attn.array<["T", 17], f64>
    %h1 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m1 = arith.mulf %p1, %h1 : f64
    %s1 = arith.addf %m0, %m1 : f64
    %c2 = arith.constant 2 : index
    %p2 = attn.read %p[%t, %c2] : !attn.array<["T", 17], f64>
    %h2 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m2 = arith.mulf %p2, %h2 : f64
    %s2 = arith.addf %s1, %m2 : f64
    %c3 = arith.constant 3 : index
    %p3 = attn.read %p[%t, %c3] : !attn.array<["T", 17], f64>
    %h3 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m3 = arith.mulf %p3, %h3 : f64
    %s3 = arith.addf %s2, %m3 : f64
    %c4 = arith.constant 4 : index
    %p4 = attn.read %p[%t, %c4] : !attn.array<["T", 17], f64>
    %h4 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m4 = arith.mulf %p4, %h4 : f64
    %s4 = arith.addf %s3, %m4 : f64
    %c5 = arith.constant 5 : index
    %p5 = attn.read %p[%t, %c5] : !attn.array<["T", 17], f64>
    %h5 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m5 = arith.mulf %p5, %h5 : f64
    %s5 = arith.addf %s4, %m5 : f64
    %c6 = arith.constant 6 : index
    %p6 = attn.read %p[%t, %c6] : !attn.array<["T", 17], f64>
    %h6 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m6 = arith.mulf %p6, %h6 : f64
    %s6 = arith.addf %s5, %m6 : f64
    %c7 = arith.constant 7 : index
    %p7 = attn.read %p[%t, %c7] : !attn.array<["T", 17], f64>
    %h7 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m7 = arith.mulf %p7, %h7 : f64
    %s7 = arith.addf %s6, %m7 : f64
    %c8 = arith.constant 8 : index
    %p8 = attn.read %p[%t, %c8] : !attn.array<["T", 17], f64>
    %h8 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m8 = arith.mulf %p8, %h8 : f64
    %s8 = arith.addf %s7, %m8 : f64
    %c9 = arith.constant 9 : index
    %p9 = attn.read %p[%t, %c9] : !attn.array<["T", 17], f64>
    %h9 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m9 = arith.mulf %p9, %h9 : f64
    %s9 = arith.addf %s8, %m9 : f64
    %c10 = arith.constant 10 : index
    %p10 = attn.read %p[%t, %c10] : !attn.array<["T", 17], f64>
    %h10 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m10 = arith.mulf %p10, %h10 : f64
    %s10 = arith.addf %s9, %m10 : f64
    %c11 = arith.constant 11 : index
    %p11 = attn.read %p[%t, %c11] : !attn.array<["T", 17], f64>
    %h11 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m11 = arith.mulf %p11, %h11 : f64
    %s11 = arith.addf %s10, %m11 : f64
    %c12 = arith.constant 12 : index
    %p12 = attn.read %p[%t, %c12] : !attn.array<["T", 17], f64>
    %h12 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m12 = arith.mulf %p12, %h12 : f64
    %s12 = arith.addf %s11, %m12 : f64
    %c13 = arith.constant 13 : index
    %p13 = attn.read %p[%t, %c13] : !attn.array<["T", 17], f64>
    %h13 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m13 = arith.mulf %p13, %h13 : f64
    %s13 = arith.addf %s12, %m13 : f64
    %c14 = arith.constant 14 : index
    %p14 = attn.read %p[%t, %c14] : !attn.array<["T", 17], f64>
    %h14 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m14 = arith.mulf %p14, %h14 : f64
    %s14 = arith.addf %s13, %m14 : f64
    %c15 = arith.constant 15 : index
    %p15 = attn.read %p[%t, %c15] : !attn.array<["T", 17], f64>
    %h15 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m15 = arith.mulf %p15, %h15 : f64
    %s15 = arith.addf %s14, %m15 : f64
    %c16 = arith.constant 16 : index
    %p16 = attn.read %p[%t, %c16] : !attn.array<["T", 17], f64>
    %h16 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m16 = arith.mulf %p16, %h16 : f64
    %s16 = arith.addf %s15, %m16 : f64
    attn.yield %s16 : f64
  } : !attn.array<["T", 8], f64>
  attn.output "long" %long : !attn.array<["T", 8], f64>
  %short = attn.compute "short" (%t: "T", %d: 8) {
    %c0 = arith.constant 0 : index
    %p0 = attn.read %p[%t, %c0] : !attn.array<["T", 17], f64>
    %h0 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m0 = arith.mulf %p0, %h0 : f64
    %c1 = arith.constant 1 : index
    %p1 = attn.read %p[%t, %c1] : !attn.array<["T", 17], f64>
    %h1 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m1 = arith.mulf %p1, %h1 : f64
    %s1 = arith.addf %m0, %m1 : f64
    %c2 = arith.constant 2 : index
    %p2 = attn.read %p[%t, %c2] : !attn.array<["T", 17], f64>
    %h2 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m2 = arith.mulf %p2, %h2 : f64
    %s2 = arith.addf %s1, %m2 : f64
    %c3 = arith.constant 3 : index
    %p3 = attn.read %p[%t, %c3] : !attn.array<["T", 17], f64>
    %h3 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m3 = arith.mulf %p3, %h3 : f64
    %s3 = arith.addf %s2, %m3 : f64
    %c4 = arith.constant 4 : index
    %p4 = attn.read %p[%t, %c4] : !attn.array<["T", 17], f64>
    %h4 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m4 = arith.mulf %p4, %h4 : f64
    %s4 = arith.addf %s3, %m4 : f64
    %c5 = arith.constant 5 : index
    %p5 = attn.read %p[%t, %c5] : !attn.array<["T", 17], f64>
    %h5 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m5 = arith.mulf %p5, %h5 : f64
    %s5 = arith.addf %s4, %m5 : f64
    %c6 = arith.constant 6 : index
    %p6 = attn.read %p[%t, %c6] : !attn.array<["T", 17], f64>
    %h6 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m6 = arith.mulf %p6, %h6 : f64
    %s6 = arith.addf %s5, %m6 : f64
    %c7 = arith.constant 7 : index
    %p7 = attn.read %p[%t, %c7] : !attn.array<["T", 17], f64>
    %h7 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m7 = arith.mulf %p7, %h7 : f64
    %s7 = arith.addf %s6, %m7 : f64
    %c8 = arith.constant 8 : index
    %p8 = attn.read %p[%t, %c8] : !attn.array<["T", 17], f64>
    %h8 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m8 = arith.mulf %p8, %h8 : f64
    %s8 = arith.addf %s7, %m8 : f64
    %c9 = arith.constant 9 : index
    %p9 = attn.read %p[%t, %c9] : !attn.array<["T", 17], f64>
    %h9 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m9 = arith.mulf %p9, %h9 : f64
    %s9 = arith.addf %s8, %m9 : f64
    %c10 = arith.constant 10 : index
    %p10 = attn.read %p[%t, %c10] : !attn.array<["T", 17], f64>
    %h10 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m10 = arith.mulf %p10, %h10 : f64
    %s10 = arith.addf %s9, %m10 : f64
    %c11 = arith.constant 11 : index
    %p11 = attn.read %p[%t, %c11] : !attn.array<["T", 17], f64>
    %h11 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m11 = arith.mulf %p11, %h11 : f64
    %s11 = arith.addf %s10, %m11 : f64
    %c12 = arith.constant 12 : index
    %p12 = attn.read %p[%t, %c12] : !attn.array<["T", 17], f64>
    %h12 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m12 = arith.mulf %p12, %h12 : f64
    %s12 = arith.addf %s11, %m12 : f64
    %c13 = arith.constant 13 : index
    %p13 = attn.read %p[%t, %c13] : !attn.array<["T", 17], f64>
    %h13 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m13 = arith.mulf %p13, %h13 : f64
    %s13 = arith.addf %s12, %m13 : f64
    %c14 = arith.constant 14 : index
    %p14 = attn.read %p[%t, %c14] : !attn.array<["T", 17], f64>
    %h14 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m14 = arith.mulf %p14, %h14 : f64
    %s14 = arith.addf %s13, %m14 : f64
    %c15 = arith.constant 15 : index
    %p15 = attn.read %p[%t, %c15] : !attn.array<["T", 17], f64>
    %h15 = attn.read %h[%t, %d] : !attn.array<["T", 8], f64>
    %m15 = arith.mulf %p15, %h15 : f64
    %s15 = arith.addf %s14, %m15 : f64
    attn.yield %s15 : f64
  } : !attn.array<["T", 8], f64>
  attn.output "short" %short : !attn.array<["T", 8], f64>
  %joined = attn.concat "joined" %one, %one, %one, %one, %one, %one, %one, %one, %one, %one, %one, %one, %one, %one, %one, %one, %one, %one, %one, %one, %one, %one, %one, %one, %one, %one, %one, %one, %one, %one, %one, %one, %one : !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64>, !attn.array<["T", 1], f64> -> !attn.array<["T", 33], f64>
  attn.output "joined" %joined : !attn.array<["T", 33], f64>
}

// The interpreter evaluates once what depends on no choice and no open length.
// 'size', 'area' and 'plain' depend on no choice. The length that is generated
// is the largest one until it is known, so the first two differ between
// hypotheses.

// RUN: fovea-eval %s --entry model --decode --beam 3 --nbest 3 --longest 9 | FileCheck %s
// CHECK:      logp -0.6931471806
// CHECK-NEXT: area []: 2{{$}}
// CHECK-NEXT: plain []: 0.5
// CHECK-NEXT: size []: 1{{$}}
// CHECK-NEXT: y [1]: 0
// CHECK-NEXT: logp
// CHECK-NEXT: area []: 6{{$}}
// CHECK-NEXT: plain []: 0.5
// CHECK-NEXT: size []: 2{{$}}
// CHECK-NEXT: y [2]: 1 0
// CHECK-NEXT: logp
// CHECK-NEXT: area []: 6{{$}}
// CHECK-NEXT: plain []: 0.5
// CHECK-NEXT: size []: 2{{$}}
// CHECK-NEXT: y [2]: 2 0

attn.system @model {
  attn.length "T" open
  attn.length "U" is affine_map<()[s0] -> (s0 + 1)> ["T"]
  %table = attn.compute "table" (%v: 3) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p0 = arith.constant 0.5 : f64
    %p1 = arith.constant 0.3 : f64
    %p2 = arith.constant 0.2 : f64
    %is0 = arith.cmpi eq, %v, %c0 : index
    %is1 = arith.cmpi eq, %v, %c1 : index
    %a = arith.select %is1, %p1, %p2 : f64
    %b = arith.select %is0, %p0, %a : f64
    attn.yield %b : f64
  } : !attn.array<[3], f64>
  %p = attn.compute "p" (%t: "T", %v: 3) {
    %0 = attn.read %table[%v] : !attn.array<[3], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 3], f64>
  %y = attn.choice "y" categorical ["probs"] (%p : !attn.array<["T", 3], f64>) end 0 : i64 -> !attn.array<["T"], i64>
  %size = attn.compute "size" () {
    %n = attn.extent "T"
    %0 = arith.index_cast %n : index to i64
    attn.yield %0 : i64
  } : !attn.array<[], i64>
  %area = attn.compute "area" () sum (%u: "U") {
    %0 = attn.read %size[] : !attn.array<[], i64>
    attn.yield %0 : i64
  } : !attn.array<[], i64>
  %plain = attn.compute "plain" () max (%v: 3) {
    %0 = attn.read %table[%v] : !attn.array<[3], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  attn.output "y" %y : !attn.array<["T"], i64>
  attn.output "size" %size : !attn.array<[], i64>
  attn.output "area" %area : !attn.array<[], i64>
  attn.output "plain" %plain : !attn.array<[], f64>
}

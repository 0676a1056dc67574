// RUN: fovea-opt --fovea-expand-math --split-input-file %s | FileCheck %s

// The exponent of 2 is the low bits of a sum; no branch, no call.
// CHECK-LABEL: func.func @scalar(
// CHECK-SAME:      %[[X:.*]]: f32)
// CHECK:         %[[SHIFTED:.*]] = math.fma %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK:         %[[BITS:.*]] = arith.bitcast %[[SHIFTED]] : f32 to i32
// CHECK:         %[[POWER:.*]] = arith.shli %[[BITS]], %{{.*}} : i32
// CHECK:         %[[SCALE:.*]] = arith.bitcast %[[POWER]] : i32 to f32
// CHECK:         %[[Y:.*]] = arith.mulf %{{.*}}, %[[SCALE]] : f32
// CHECK:         return %[[Y]]
func.func @scalar(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}

// -----

// CHECK-LABEL: func.func @vector(
// CHECK-NOT:     math.tanh
// CHECK:         %[[Y:.*]] = math.copysign %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK:         return %[[Y]]
func.func @vector(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.tanh %x : vector<16xf32>
  return %y : vector<16xf32>
}

// -----

// What is rare in f32 goes through f64.
// CHECK-LABEL: func.func @throughDouble(
// CHECK:         arith.extf %{{.*}} : vector<8xf32> to vector<8xf64>
// CHECK-NOT:     math.sin
// CHECK:         arith.truncf %{{.*}} : vector<8xf64> to vector<8xf32>
func.func @throughDouble(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.sin %x : vector<8xf32>
  return %y : vector<8xf32>
}

// -----

// Small constant exponents are products.
// CHECK-LABEL: func.func @square(
// CHECK-SAME:      %[[X:.*]]: f64)
// CHECK:         %[[Y:.*]] = arith.mulf %[[X]], %[[X]] : f64
// CHECK-NEXT:    return %[[Y]]
func.func @square(%x: f64) -> f64 {
  %two = arith.constant 2.0 : f64
  %y = math.powf %x, %two : f64
  return %y : f64
}

// -----

// What has an instruction stays, and so do other types.
// CHECK-LABEL: func.func @stays(
// CHECK:         math.sqrt %{{.*}} : f32
// CHECK:         math.fma %{{.*}}, %{{.*}}, %{{.*}} : vector<4xf64>
// CHECK:         math.floor %{{.*}} : f32
// CHECK:         math.exp %{{.*}} : f16
func.func @stays(%x: f32, %v: vector<4xf64>, %h: f16)
    -> (f32, vector<4xf64>, f32, f16) {
  %a = math.sqrt %x : f32
  %b = math.fma %v, %v, %v : vector<4xf64>
  %c = math.floor %x : f32
  %d = math.exp %h : f16
  return %a, %b, %c, %d : f32, vector<4xf64>, f32, f16
}

// -----

// CHECK-LABEL: func.func @wholeExponent(
// CHECK-NOT:     math.fpowi
// CHECK-NOT:     math.powf
// CHECK:         return
func.func @wholeExponent(%x: f64, %n: i64) -> f64 {
  %y = math.fpowi %x, %n : f64, i64
  return %y : f64
}

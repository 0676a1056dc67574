// Every op that kernels use has a lowering, and means what MLIR says.
// RUN: fovea-jit %s | FileCheck %s
// RUN: fovea-jit %s -O3 --target=x86-64-v3 | FileCheck %s

func.func private @print_i64(i64)
func.func private @print_f64(f64)

// CHECK: -4
// CHECK-NEXT: -3
// CHECK-NEXT: 4
func.func private @division() {
  %a = arith.constant -7 : i64
  %b = arith.constant 2 : i64
  %floor = arith.floordivsi %a, %b : i64
  func.call @print_i64(%floor) : (i64) -> ()
  %ceil = arith.ceildivsi %a, %b : i64
  func.call @print_i64(%ceil) : (i64) -> ()
  %c = arith.constant 7 : i64
  %up = arith.ceildivui %c, %b : i64
  func.call @print_i64(%up) : (i64) -> ()
  return
}

// CHECK-NEXT: 2
// CHECK-NEXT: 3
// CHECK-NEXT: -2
// CHECK-NEXT: -2.5
// CHECK-NEXT: 1
func.func private @rounding(%x: f64) {
  %even = math.roundeven %x : f64
  func.call @print_f64(%even) : (f64) -> ()
  %up = math.ceil %x : f64
  func.call @print_f64(%up) : (f64) -> ()
  %minus = arith.negf %x : f64
  %cut = math.trunc %minus : f64
  func.call @print_f64(%cut) : (f64) -> ()
  %one = arith.constant -1.0 : f64
  %sign = math.copysign %x, %one : f64
  func.call @print_f64(%sign) : (f64) -> ()
  %bits = arith.bitcast %one : f64 to i64
  %shift = arith.constant 63 : i64
  %top = arith.shrui %bits, %shift : i64
  func.call @print_i64(%top) : (i64) -> ()
  return
}

// A maximum passes on what is not a number, maxnum does not.
// CHECK-NEXT: nan
// CHECK-NEXT: 2.5
func.func private @maximum(%x: f64) {
  %nan = arith.constant 0x7FF8000000000000 : f64
  %max = arith.maximumf %x, %nan : f64
  func.call @print_f64(%max) : (f64) -> ()
  %num = arith.maxnumf %x, %nan : f64
  func.call @print_f64(%num) : (f64) -> ()
  return
}

// CHECK-NEXT: 3
// CHECK-NEXT: 30
// CHECK-NEXT: 6
// CHECK-NEXT: 11
// CHECK-NEXT: 2
func.func private @vectors() {
  %step = vector.step : vector<8xindex>
  %v = arith.index_cast %step : vector<8xindex> to vector<8xi64>
  %w = vector.shuffle %v, %v [7, 6, 5, 4, 3, 2, 1, 0]
      : vector<8xi64>, vector<8xi64>
  %at = arith.constant 4 : index
  %third = vector.extract %w[%at] : i64 from vector<8xi64>
  func.call @print_i64(%third) : (i64) -> ()

  %half = vector.extract_strided_slice %v
      {offsets = [4], sizes = [4], strides = [1]}
      : vector<8xi64> to vector<4xi64>
  %sum = vector.insert_strided_slice %half, %w {offsets = [0], strides = [1]}
      : vector<4xi64> into vector<8xi64>
  // 4 + 5 + 6 + 7 + 3 + 2 + 1 + 0 and 2.
  %more = arith.constant 2 : i64
  %all = vector.reduction <add>, %sum, %more : vector<8xi64> into i64
  func.call @print_i64(%all) : (i64) -> ()

  %mask = vector.constant_mask [4] : vector<8xi1>
  %zero = arith.constant dense<0> : vector<8xi64>
  %some = arith.select %mask, %v, %zero : vector<8xi1>, vector<8xi64>
  %six = vector.reduction <add>, %some : vector<8xi64> into i64
  func.call @print_i64(%six) : (i64) -> ()

  %eleven = arith.constant 11 : i64
  %with = vector.insert %eleven, %v[%at] : i64 into vector<8xi64>
  %largest = vector.reduction <maxsi>, %with : vector<8xi64> into i64
  func.call @print_i64(%largest) : (i64) -> ()

  %minus = arith.constant -1 : index
  %none = vector.create_mask %minus : vector<8xi1>
  %two = vector.create_mask %at : vector<2xi1>
  %a = vector.bitcast %none : vector<8xi1> to vector<1xi8>
  %b = vector.extract %a[0] : i8 from vector<1xi8>
  %c = arith.extui %b : i8 to i64
  %d = vector.extract %two[1] : i1 from vector<2xi1>
  %e = arith.extui %d : i1 to i64
  %f = vector.from_elements %c, %e, %e : vector<3xi64>
  %g = vector.reduction <add>, %f : vector<3xi64> into i64
  func.call @print_i64(%g) : (i64) -> ()
  return
}

// CHECK-NEXT: 40
// CHECK-NEXT: 5
func.func private @memory() {
  %count = arith.constant 8 : i64
  %p = llvm.alloca %count x f32 : (i64) -> !llvm.ptr
  %v = arith.constant dense<[0.0, 10.0, 20.0, 30.0, 0.0, 0.0, 0.0, 0.0]>
      : vector<8xf32>
  %mask = vector.constant_mask [4] : vector<8xi1>
  %none = arith.constant dense<0.0> : vector<8xf32>
  llvm.store %none, %p {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
  llvm.intr.masked.store %v, %p, %mask {alignment = 4 : i32}
      : vector<8xf32>, vector<8xi1> into !llvm.ptr
  %rows = arith.constant dense<[1, 3, 1, 3, 7, 7, 7, 7]> : vector<8xi64>
  %ps = llvm.getelementptr %p[%rows]
      : (!llvm.ptr, vector<8xi64>) -> vector<8x!llvm.ptr>, f32
  %two = vector.constant_mask [2] : vector<8xi1>
  %got = llvm.intr.masked.gather %ps, %two, %none {alignment = 4 : i32}
      : (vector<8x!llvm.ptr>, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
  %sum = vector.reduction <add>, %got : vector<8xf32> into f32
  %wide = arith.extf %sum : f32 to f64
  func.call @print_f64(%wide) : (f64) -> ()

  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %limit = arith.constant 5 : i64
  %last = scf.while (%i = %zero) : (i64) -> i64 {
    %go = arith.cmpi slt, %i, %limit : i64
    scf.condition(%go) %i : i64
  } do {
  ^bb0(%i: i64):
    %next = arith.addi %i, %one : i64
    scf.yield %next : i64
  }
  func.call @print_i64(%last) : (i64) -> ()
  return
}

// CHECK-NEXT: main: 0
func.func @main() -> i64 {
  func.call @division() : () -> ()
  %x = arith.constant 2.5 : f64
  func.call @rounding(%x) : (f64) -> ()
  func.call @maximum(%x) : (f64) -> ()
  func.call @vectors() : () -> ()
  func.call @memory() : () -> ()
  %unused = ub.poison : i64
  %r = arith.constant 0 : i64
  return %r : i64
}

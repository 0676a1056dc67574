// Equal private functions become one; parts declare what they use of others.
// RUN: fovea-jit %s --split=1 --emit=kernels | FileCheck %s
// RUN: fovea-jit %s --split=1 | FileCheck %s --check-prefix=VALUE
// RUN: fovea-jit %s --split=1000 | FileCheck %s --check-prefix=VALUE
// RUN: fovea-jit %s --split=1 --emit=exe -o %t.split
// RUN: %python -c "import subprocess, sys; print('main:', subprocess.call(sys.argv[1:]))" %t.split | FileCheck %s --check-prefix=VALUE
// RUN: llvm-readelf --dyn-symbols %t.split | FileCheck %s --check-prefix=HIDDEN

// Only public functions keep being parts of the interface.
// HIDDEN-NOT: layer.

// A changed kernel leaves the others in the cache: @scale and the other @layer.
// RUN: rm -rf %t.cache && export FOVEA_CACHE=%t.cache
// RUN: fovea-jit %s --split=1 --cache | FileCheck %s --check-prefix=COLD
// RUN: sed '/@layer_1(%x/,/return/s/constant 5/constant 6/' %s > %t.changed
// RUN: fovea-jit %t.changed --split=1 --cache | FileCheck %s --check-prefix=CHANGED
// COLD: cache: 0 hits, 3 misses
// CHANGED: main: 20
// CHANGED: cache: 2 hits, 2 misses

// VALUE: main: 19

// The name follows the text, not the number.
// CHECK: module {
// CHECK-NEXT: func.func @[[SCALE:scale\.[0-9a-f]+]](%{{.*}}) -> i64
// CHECK-SAME: llvm.linkage = #llvm.linkage<weak_odr>
// CHECK: module {
// CHECK-NEXT: func.func @[[LAYER:layer\.[0-9a-f]+]](
// CHECK: call @[[SCALE]]
// CHECK: func.func private @[[SCALE]](i64) -> i64
// CHECK-NOT: func.func @scale
// CHECK: module {
// CHECK-NEXT: func.func @main()
// CHECK: call @[[LAYER]](
// CHECK: constant @[[LAYER]]
// CHECK: func.func private @[[LAYER]](i64) -> i64
// CHECK-NOT: func.func

func.func private @scale_0(%x: i64) -> i64 {
  %c = arith.constant 2 : i64
  %r = arith.muli %x, %c : i64
  return %r : i64
}
func.func private @layer_0(%x: i64) -> i64 {
  %c = arith.constant 5 : i64
  %y = func.call @scale_0(%x) : (i64) -> i64
  %r = arith.addi %y, %c : i64
  return %r : i64
}
func.func private @scale_1(%x: i64) -> i64 {
  %c = arith.constant 2 : i64
  %r = arith.muli %x, %c : i64
  return %r : i64
}
func.func private @layer_1(%x: i64) -> i64 {
  %c = arith.constant 5 : i64
  %y = func.call @scale_1(%x) : (i64) -> i64
  %r = arith.addi %y, %c : i64
  return %r : i64
}
func.func @main() -> i64 {
  %one = arith.constant 1 : i64
  %x = func.call @layer_0(%one) : (i64) -> i64
  %f = func.constant @layer_1 : (i64) -> i64
  %p = builtin.unrealized_conversion_cast %f : (i64) -> i64 to !llvm.ptr
  %r = llvm.call %p(%x) : !llvm.ptr, (i64) -> i64
  return %r : i64
}

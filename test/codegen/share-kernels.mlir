// RUN: fovea-opt --fovea-share-kernels --split-input-file %s | FileCheck %s
// RUN: fovea-opt --fovea-share-kernels --split-input-file %s | FileCheck %s --check-prefix=LEFT

// Two kernels read other slots of the frame: both read the first two places of
// a list, and the launches fill it.
// CHECK-LABEL: func.func private @twice.q.5(
// CHECK-SAME:      %[[LIST:.*]]: !llvm.ptr
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK-DAG:     %[[FIRST:.*]] = llvm.getelementptr %[[LIST]][%[[ZERO]]]
// CHECK-DAG:     llvm.load %[[FIRST]]
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : i64
// CHECK-DAG:     %[[SECOND:.*]] = llvm.getelementptr %[[LIST]][%[[ONE]]]
// CHECK-NOT:     constant 7
// CHECK:       func.func private @twice.q.6(
// CHECK-LABEL: func.func @twice(
// CHECK-SAME:      %[[FRAME:.*]]: !llvm.ptr
// CHECK:         %[[ROOM:.*]] = llvm.alloca %{{.*}} x i64
// CHECK:         constant @twice.q.5
// CHECK:         %[[SEVEN:.*]] = arith.constant 7 : i64
// CHECK:         %[[SLOT:.*]] = llvm.getelementptr %[[FRAME]][%[[SEVEN]]]
// CHECK:         %[[VALUE:.*]] = llvm.load %[[SLOT]]
// CHECK:         llvm.store %[[VALUE]]
// CHECK:         call @fovea_parallel(%{{.*}}, %{{.*}}, %[[ROOM]], %{{.*}}, %{{.*}})
// CHECK:         constant @twice.q.6
// CHECK:         call @fovea_parallel(%{{.*}}, %{{.*}}, %[[ROOM]], %{{.*}}, %{{.*}})
func.func private @fovea_parallel(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64)
func.func @twice.0.q(%frame: !llvm.ptr, %first: i64, %last: i64) {
  %seven = arith.constant 7 : i64
  %at = llvm.getelementptr %frame[%seven] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %to = llvm.load %at : !llvm.ptr -> !llvm.ptr
  %pool = llvm.load %frame : !llvm.ptr -> i64
  llvm.store %pool, %to : i64, !llvm.ptr
  return
}
func.func @twice.1.q(%frame: !llvm.ptr, %first: i64, %last: i64) {
  %eight = arith.constant 8 : i64
  %at = llvm.getelementptr %frame[%eight] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %to = llvm.load %at : !llvm.ptr -> !llvm.ptr
  %pool = llvm.load %frame : !llvm.ptr -> i64
  llvm.store %pool, %to : i64, !llvm.ptr
  return
}
func.func @unrelated(%x: i64) -> i64 { return %x : i64 }
func.func @twice(%frame: !llvm.ptr) {
  %one = arith.constant 1 : i64
  %pool = llvm.load %frame : !llvm.ptr -> !llvm.ptr
  %f = func.constant @twice.0.q : (!llvm.ptr, i64, i64) -> ()
  %a = builtin.unrealized_conversion_cast %f : (!llvm.ptr, i64, i64) -> () to !llvm.ptr
  func.call @fovea_parallel(%pool, %a, %frame, %one, %one) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()
  %g = func.constant @twice.1.q : (!llvm.ptr, i64, i64) -> ()
  %b = builtin.unrealized_conversion_cast %g : (!llvm.ptr, i64, i64) -> () to !llvm.ptr
  func.call @fovea_parallel(%pool, %b, %frame, %one, %one) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()
  return
}

// -----

// A kernel that writes a slot, or reads one whose number is not known, keeps
// its frame, and its name.
// LEFT-LABEL: func.func @writes.0.k(
// LEFT-LABEL: func.func @writes.1.k(
// LEFT-LABEL: func.func @writes(
// LEFT-SAME:      %[[FRAME:.*]]: !llvm.ptr
// LEFT-NOT:     alloca
// LEFT:         call @fovea_parallel(%{{.*}}, %{{.*}}, %[[FRAME]], %{{.*}}, %{{.*}})
// LEFT:         call @fovea_parallel(%{{.*}}, %{{.*}}, %[[FRAME]], %{{.*}}, %{{.*}})
func.func private @fovea_parallel(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64)
func.func @writes.0.k(%frame: !llvm.ptr, %first: i64, %last: i64) {
  %seven = arith.constant 7 : i64
  %at = llvm.getelementptr %frame[%seven] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  llvm.store %first, %at : i64, !llvm.ptr
  return
}
func.func @writes.1.k(%frame: !llvm.ptr, %first: i64, %last: i64) {
  %at = llvm.getelementptr %frame[%first] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %to = llvm.load %at : !llvm.ptr -> !llvm.ptr
  llvm.store %last, %to : i64, !llvm.ptr
  return
}
func.func @writes(%frame: !llvm.ptr) {
  %one = arith.constant 1 : i64
  %pool = llvm.load %frame : !llvm.ptr -> !llvm.ptr
  %f = func.constant @writes.0.k : (!llvm.ptr, i64, i64) -> ()
  %a = builtin.unrealized_conversion_cast %f : (!llvm.ptr, i64, i64) -> () to !llvm.ptr
  func.call @fovea_parallel(%pool, %a, %frame, %one, %one) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()
  %g = func.constant @writes.1.k : (!llvm.ptr, i64, i64) -> ()
  %b = builtin.unrealized_conversion_cast %g : (!llvm.ptr, i64, i64) -> () to !llvm.ptr
  func.call @fovea_parallel(%pool, %b, %frame, %one, %one) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()
  return
}

// -----

// A call whose slots are known launches the kernel of an earlier call, which
// reads these slots instead of its own.
// CHECK-LABEL: func.func private @again.q.3(
// CHECK-NOT:   func.func private @again.q
// CHECK-LABEL: func.func @again(
// CHECK-SAME:      %[[FRAME:.*]]: !llvm.ptr
// CHECK:         constant @again.q.3
// CHECK:         %[[SEVEN:.*]] = arith.constant 7 : i64
// CHECK:         llvm.getelementptr %[[FRAME]][%[[SEVEN]]]
// CHECK:         call @fovea_parallel(
// CHECK:         constant @again.q.3
// CHECK:         %[[NINE:.*]] = arith.constant 9 : i64
// CHECK:         llvm.getelementptr %[[FRAME]][%[[NINE]]]
// CHECK-NOT:     fovea.slots
// CHECK:         call @fovea_parallel(
func.func private @fovea_parallel(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64)
func.func @again.0.q(%frame: !llvm.ptr, %first: i64, %last: i64) {
  %seven = arith.constant 7 : i64
  %at = llvm.getelementptr %frame[%seven] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %to = llvm.load %at : !llvm.ptr -> !llvm.ptr
  llvm.store %first, %to : i64, !llvm.ptr
  return
}
func.func @again(%frame: !llvm.ptr) {
  %one = arith.constant 1 : i64
  %pool = llvm.load %frame : !llvm.ptr -> !llvm.ptr
  %f = func.constant @again.0.q : (!llvm.ptr, i64, i64) -> ()
  %a = builtin.unrealized_conversion_cast %f : (!llvm.ptr, i64, i64) -> () to !llvm.ptr
  func.call @fovea_parallel(%pool, %a, %frame, %one, %one) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()
  %g = func.constant @again.0.q : (!llvm.ptr, i64, i64) -> ()
  %b = builtin.unrealized_conversion_cast %g : (!llvm.ptr, i64, i64) -> () to !llvm.ptr
  func.call @fovea_parallel(%pool, %b, %frame, %one, %one) {fovea.slots = array<i64: 9>} : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()
  return
}

// Kernel modules become a shared library and a program.
// RUN: rm -rf %t && split-file %s %t
// RUN: fovea-jit %t/main.mlir %t/add.mlir --emit=shared -o %t/lib.so
// RUN: %python -c "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).add(40, 2))" %t/lib.so | FileCheck %s
// CHECK: 42
// RUN: fovea-jit %t/main.mlir %t/add.mlir --emit=exe -o %t/program
// RUN: %python -c "import subprocess, sys; print(subprocess.call(sys.argv[1:]))" %t/program | FileCheck %s --check-prefix=EXE
// EXE: 7
// RUN: llvm-readobj --needed-libs %t/lib.so | FileCheck %s --check-prefix=LIBS
// LIBS: NeededLibraries [
// LIBS-NOT: libstdc
// LIBS: ]

// An object is linked as a file.
// RUN: fovea-jit %t/add.mlir --emit=obj -o %t/add.o
// RUN: fovea-jit %t/main.mlir --with=%t/add.o --emit=exe -o %t/again
// RUN: cmp %t/program %t/again

// What is missing is an error, and the older file stays.
// RUN: not fovea-jit %t/main.mlir --emit=shared -o %t/lib.so 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: fovea-jit: error: cannot link: {{.*}}undefined symbol: add
// RUN: %python -c "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).add(40, 2))" %t/lib.so | FileCheck %s
// RUN: not fovea-jit %t/add.mlir --emit=shared -o %t/no/lib.so 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: fovea-jit: error: cannot write '{{.*}}/no/lib.so': No such file or directory
// RUN: mkfifo %t/pipe && not fovea-jit %t/add.mlir --emit=shared -o %t/pipe 2>&1 | FileCheck %s --check-prefix=PIPE
// PIPE: fovea-jit: error: cannot write '{{.*}}/pipe': it is not a regular file
// RUN: test -p %t/pipe
// RUN: not fovea-jit %t/main.mlir %t/add.mlir --emit=obj 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: fovea-jit: error: this form is of one module, not of 2

//--- main.mlir
func.func private @add(i64, i64) -> i64
func.func @main() -> i64 {
  %a = arith.constant 3 : i64
  %b = arith.constant 4 : i64
  %r = func.call @add(%a, %b) : (i64, i64) -> i64
  return %r : i64
}
//--- add.mlir
func.func @add(%a: i64, %b: i64) -> i64 {
  %r = arith.addi %a, %b : i64
  return %r : i64
}

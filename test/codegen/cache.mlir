// A second run takes the object from the cache, unless something differs.
// RUN: rm -rf %t && export FOVEA_CACHE=%t/new
// RUN: fovea-jit %s --cache | FileCheck %s --check-prefix=MISS
// RUN: fovea-jit %s --cache | FileCheck %s --check-prefix=HIT
// RUN: fovea-jit %s --cache --target=x86-64-v3 | FileCheck %s --check-prefix=MISS
// RUN: fovea-jit %s --cache -O2 | FileCheck %s --check-prefix=MISS
// RUN: sed s/42/43/ %s > %t/other.mlir
// RUN: fovea-jit %t/other.mlir --cache | FileCheck %t/other.mlir --check-prefix=MISS
// RUN: fovea-jit %s --cache | FileCheck %s --check-prefix=HIT

// A damaged entry is built again: cut, changed, empty, under another's name.
// RUN: %python %S/Inputs/damage.py cut %t/new
// RUN: fovea-jit %s --cache | FileCheck %s --check-prefix=MISS
// RUN: %python %S/Inputs/damage.py flip %t/new
// RUN: fovea-jit %s --cache | FileCheck %s --check-prefix=MISS
// RUN: %python %S/Inputs/damage.py empty %t/new
// RUN: fovea-jit %s --cache | FileCheck %s --check-prefix=MISS
// RUN: %python %S/Inputs/damage.py exchange %t/new
// RUN: fovea-jit %s --cache | FileCheck %s --check-prefix=MISS
// RUN: fovea-jit %s --cache | FileCheck %s --check-prefix=HIT

// A folder that cannot be written, or none, only costs time.
// RUN: env FOVEA_CACHE=%s/new fovea-jit %s --cache | FileCheck %s --check-prefix=MISS
// RUN: env FOVEA_CACHE= fovea-jit %s --cache | FileCheck %s --check-prefix=MISS
// RUN: env -u FOVEA_CACHE XDG_CACHE_HOME=%t/xdg fovea-jit %s --cache | FileCheck %s --check-prefix=MISS
// RUN: ls %t/xdg/fovea | FileCheck %s --check-prefix=FILES
// FILES: llvmcache-{{[0-9a-f]+$}}

// One that others may write to is not used, which is said once.
// RUN: mkdir %t/shared && chmod 777 %t/shared
// RUN: env FOVEA_CACHE=%t/shared fovea-jit %s --cache 2>%t/said | FileCheck %s --check-prefix=MISS
// RUN: FileCheck %s --check-prefix=SHARED --implicit-check-not=warning < %t/said
// SHARED: warning: '{{.*}}shared' is not used as a cache: others may write there
// RUN: not ls %t/shared/*

// A limit of one byte keeps nothing.
// RUN: env FOVEA_CACHE=%t/small fovea-jit %s --cache --cache-limit=1 | FileCheck %s --check-prefix=MISS
// RUN: env FOVEA_CACHE=%t/small fovea-jit %s --cache --cache-limit=1 | FileCheck %s --check-prefix=MISS

// MISS: main: 42
// MISS-NEXT: cache: 0 hits, 1 misses
// HIT: main: 42
// HIT-NEXT: cache: 1 hits, 0 misses
func.func @main() -> i64 {
  %r = arith.constant 42 : i64
  return %r : i64
}

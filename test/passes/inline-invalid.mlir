// RUN: not fovea-opt %s --attn-inline=mode=everything 2>&1 | FileCheck %s

// CHECK: Cannot find option named 'everything'!
attn.system @empty {
}

// RUN: not fovea-opt %s --attn-quantise-products=weights=bf16 2>&1 | FileCheck %s

// Formats that another pass defines.

// CHECK: error: expected a format of weights with scales of columns, found 'bf16'
module {
}

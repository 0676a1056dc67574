// RUN: not fovea-opt %s --attn-round-weights=weights=bf15 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not fovea-opt %s --attn-round-weights=weights=int8 2>&1 | FileCheck %s --check-prefix=COLUMNS

// Formats that the table lacks, or that another pass defines.

// UNKNOWN: error: expected a format of weights without scales of columns, found 'bf15'
// COLUMNS: error: expected a format of weights without scales of columns, found 'int8'
module {
}

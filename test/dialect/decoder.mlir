// RUN: fovea-opt %s | fovea-opt | FileCheck %s
// RUN: fovea-opt %s --mlir-print-op-generic | fovea-opt | FileCheck %s

// A step in order, with everything that a part can say.

// CHECK:      attn.decoder encode @encode search "M" known reverse longest "encode/1" finish @finish {
// CHECK-NEXT:   attn.decoder.state "s" from "encode/0" next "encode/0" : !attn.array<[8], f64>
// CHECK-NEXT:   attn.decoder.state "all" next "encode/0" appended by @step : !attn.array<["M", 8], f64>
// CHECK-NEXT:   attn.decoder.state "more" next "encode/0" appended : !attn.array<["M", 8], f64>
// CHECK-NEXT:   attn.decoder.run @step
// CHECK-NEXT:   attn.decoder.mark valid "value/0"
// CHECK-NEXT:   attn.decoder.loop "W" reverse {
// CHECK-NEXT:     attn.decoder.state from "encode/0" next "inner/0" : !attn.array<[8], f64>
// CHECK-NEXT:     attn.decoder.choice "y" categorical ["logp"] of ["encode/0"] : [!attn.array<[8], f64>] end 3 : i64 -> !attn.array<[], i64>
// CHECK-NEXT:     attn.decoder.mark stop "value/0"
// CHECK-NEXT:   }
// CHECK-NEXT:   attn.decoder.stack "inner/0" axis 1 : !attn.array<[8], f64>
// CHECK-NEXT:   attn.decoder.output "rows" is "stack/0"
// CHECK-NEXT:   attn.decoder.output "last"{{$}}
// CHECK-NEXT: }
module {
  attn.decoder encode @encode search "M" known reverse longest "encode/1" finish @finish {
    attn.decoder.state "s" from "encode/0" next "encode/0" : !attn.array<[8], f64>
    attn.decoder.state "all" next "encode/0" appended by @step : !attn.array<["M", 8], f64>
    attn.decoder.state "more" next "encode/0" appended : !attn.array<["M", 8], f64>
    attn.decoder.run @step
    attn.decoder.mark valid "value/0"
    attn.decoder.loop "W" reverse {
      attn.decoder.state from "encode/0" next "inner/0" : !attn.array<[8], f64>
      attn.decoder.choice "y" categorical ["logp"] of ["encode/0"] : [!attn.array<[8], f64>] end 3 : i64 -> !attn.array<[], i64>
      attn.decoder.mark stop "value/0"
    }
    attn.decoder.stack "inner/0" axis 1 : !attn.array<[8], f64>
    attn.decoder.output "rows" is "stack/0"
    attn.decoder.output "last"
  }
  attn.program @encode {
    %x = attn.data "x" : !attn.array<[8], f64>
    %most = attn.data "most" : !attn.array<[], i64>
    attn.output "encode/0" %x : !attn.array<[8], f64>
    attn.output "encode/1" %most : !attn.array<[], i64>
  }
  attn.program @step {
    %all = attn.data "carry/1" : !attn.array<["M", 8], f64>
    %bit = attn.data "bit" : !attn.array<[], i1>
    attn.output "value/0" %bit : !attn.array<[], i1>
  }
  attn.program @finish {
    %rows = attn.data "stack/0" : !attn.array<[8, "M"], f64>
    %last = attn.data "last/0" : !attn.array<[8], f64>
    attn.output "last" %last : !attn.array<[8], f64>
  }
}

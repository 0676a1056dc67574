// What -attn-keep-loops gives for the first case of ../keep-loops.mlir.
module {
  attn.program @loss attributes {attn.target = #nvidia.target<"sm_80", shared_bytes = 64512, copy_rows = 128>} {
    attn.length "S"
    %x = attn.data "x" {attn.batch = "each", attn.location = #attn.location<argument 0>} : !attn.array<["S", 64], f64>
    %u = attn.param "u" {attn.batch = "once", attn.location = #attn.location<argument 1>} : !attn.array<[64, 64], f64>
    %w = attn.param "w" {attn.batch = "once", attn.location = #attn.location<argument 2>} : !attn.array<[64, 64], f64>
    %zero = attn.compute "zero" (%n: 64) {
      %cst = arith.constant 0.000000e+00 : f64
      attn.yield %cst : f64
    } {attn.batch = "once", attn.location = #attn.location<own 3>, attn.units = #attn.units<ranges>} : !attn.array<[64], f64>
    %0 = attn.scan "S" (%step) carries (%carry = %zero : !attn.array<[64], f64>) axes [] {
      %z = attn.compute "z" (%n: 64) sum (%k: 64) {
        %2 = attn.read %carry[%k] : !attn.array<[64], f64>
        %3 = attn.read %u[%n, %k] : !attn.array<[64, 64], f64>
        %4 = arith.mulf %2, %3 : f64
        attn.yield %4 : f64
      } {attn.batch = "each", attn.kept_columns = 0 : i64, attn.location = #attn.location<own 6 ranks>, attn.phase = 0 : i64, attn.product = #attn.product<weights, left = 0, columns(0), terms(1)>, attn.config = #nvidia.tiles<small>} : !attn.array<[64], f64>
      %r = attn.compute "r" (%n: 64) sum (%k: 64) {
        %2 = attn.read %carry[%k] : !attn.array<[64], f64>
        %3 = attn.read %w[%n, %k] : !attn.array<[64, 64], f64>
        %4 = arith.mulf %2, %3 : f64
        attn.yield %4 : f64
      } {attn.batch = "each", attn.kept_columns = 2 : i64, attn.location = #attn.location<own 7 ranks>, attn.phase = 0 : i64, attn.product = #attn.product<weights, left = 0, columns(0), terms(1)>, attn.config = #nvidia.tiles<small>} : !attn.array<[64], f64>
      %1 = attn.kernel rows {
        %both = attn.compute "both" (%n: 64) {
          %2 = attn.read %z[%n] : !attn.array<[64], f64>
          %3 = attn.read %r[%n] : !attn.array<[64], f64>
          %4 = arith.addf %2, %3 : f64
          attn.yield %4 : f64
        } {attn.batch = "each", attn.location = #attn.location<own 8 ranks>} : !attn.array<[64], f64>
        %h = attn.compute "h" (%n: 64) {
          %2 = attn.read %both[%n] : !attn.array<[64], f64>
          %3 = attn.read %x[%step, %n] : !attn.array<["S", 64], f64>
          %4 = arith.addf %2, %3 : f64
          attn.yield %4 : f64
        } {attn.batch = "each", attn.location = #attn.location<same 5>} : !attn.array<[64], f64>
        attn.yield %h : !attn.array<[64], f64>
      } {attn.phase = 1 : i64, attn.units = #attn.units<examples>} : !attn.array<[64], f64>
      attn.yield %1 : !attn.array<[64], f64>
    } : !attn.array<[64], f64> {attn.batch = "each", attn.carries = [#attn.location<own 5 ranks>], attn.locations = [#attn.location<own 4>], attn.stays}
    attn.output "last" %0 : !attn.array<[64], f64>
  }
}


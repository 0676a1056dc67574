// Scores, something of each, their softmax and what it reads, with factors that
// are rounded: some keys at a time.

module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip", shared_bytes = 65536, copy_rows = 128, group_columns = 256, cluster_blocks = 2>} {
attn.program @attention {
  attn.length "T"
  attn.length "S"
  %q = attn.data "q" : !attn.array<["T", 64], f64>
  %k = attn.data "k" : !attn.array<["S", 64], f64>
  %e = attn.compute "e" (%t: "T", %u: "S") sum (%a: 64) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["S", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "S"], f64>
  %s = attn.compute "s" (%t: "T", %u: "S") {
    %0 = attn.read %e[%t, %u] : !attn.array<["T", "S"], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", "S"], f64>
  %w = attn.compute "w" (%t: "T") softmax (%u: "S") {
    %0 = attn.read %s[%t, %u] : !attn.array<["T", "S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "S"], f64>
  %c = attn.compute "c" (%t: "T", %a: 64) sum (%u: "S") {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "S"], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["S", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  attn.output "c" %c : !attn.array<["T", 64], f64>
}
}


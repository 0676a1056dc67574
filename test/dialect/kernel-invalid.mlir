// RUN: fovea-opt %s --verify-diagnostics --split-input-file

attn.program @c1 {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{gives ('!attn.array<[9], f64>') but its body yields ('!attn.array<[8], f64>')}}
  %y = attn.kernel columns {
    attn.yield %x : !attn.array<[8], f64>
  } : !attn.array<[9], f64>
}

// -----

attn.program @c2_no_rows {
  // expected-error @+1 {{is in strips of no rows}}
  attn.kernel strips {
    attn.yield
  }
}

// -----

attn.program @c2_count {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T"], f64>
  attn.kernel strips over "T" outer [8] {
    // expected-error @+1 {{has 1 shared indices but its kernel 2}}
    %y = attn.compute (%t: "T") {
      %0 = attn.read %x[%t] : !attn.array<["T"], f64>
      attn.yield %0 : f64
    } {attn.shared = array<i64: 0>} : !attn.array<["T"], f64>
    attn.yield
  }
}

// -----

attn.program @c2_index {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T"], f64>
  attn.kernel strips over "T" {
    // expected-error @+1 {{has no index 1}}
    %y = attn.compute (%t: "T") {
      %0 = attn.read %x[%t] : !attn.array<["T"], f64>
      attn.yield %0 : f64
    } {attn.shared = array<i64: 1>} : !attn.array<["T"], f64>
    attn.yield
  }
}

// -----

attn.program @c2_extent {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 8], f64>
  attn.kernel strips over "T" {
    // expected-error @+1 {{shares an index over 8 where its kernel has T}}
    %y = attn.compute (%t: "T", %k: 8) {
      %0 = attn.read %x[%t, %k] : !attn.array<["T", 8], f64>
      attn.yield %0 : f64
    } {attn.shared = array<i64: 1>} : !attn.array<["T", 8], f64>
    attn.yield
  }
}

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

attn.program @c2_no_places {
  // expected-error @+1 {{is in places of no rows}}
  attn.kernel places {
    attn.yield
  }
}

// -----

attn.program @c5_extent {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 8], f64>
  attn.kernel places over "T" {
    // expected-error @+1 {{does not have the places of its kernel}}
    %y = attn.compute (%k: 8) sum (%t: "T") {
      %0 = attn.read %x[%t, %k] : !attn.array<["T", 8], f64>
      attn.yield %0 : f64
    } : !attn.array<[8], f64>
    attn.yield
  }
}

// -----

attn.program @c5_place {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T"], f64>
  attn.kernel places over "T" {
    %y = attn.compute (%t: "T") {
      %0 = attn.read %x[%t] : !attn.array<["T"], f64>
      attn.yield %0 : f64
    } : !attn.array<["T"], f64>
    // expected-error @+1 {{reads an equation of its kernel at another place}}
    %z = attn.compute (%t: "T") sum (%u: "T") {
      %0 = attn.read %y[%u] : !attn.array<["T"], f64>
      attn.yield %0 : f64
    } : !attn.array<["T"], f64>
    attn.yield
  }
}

// -----

attn.program @c5_view {
  attn.length "T"
  %x = attn.data "x" : !attn.array<[2, "T", 4], f64>
  attn.kernel places over "T" {
    // expected-error @+1 {{does not keep the places of its kernel}}
    %v = attn.reshape %x keep 0 : !attn.array<[2, "T", 4], f64> -> !attn.array<["T", 8], f64>
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

// -----

attn.program @c2_over {
  attn.length "T"
  // expected-error @+1 {{has extents of rows but the schedule 'rows'}}
  attn.kernel rows over "T" {
    attn.yield
  }
}

// -----

attn.program @c3_op {
  %x = attn.data "x" : !attn.array<[8], f64>
  attn.kernel columns {
    // expected-error @+1 {{is not allowed in a kernel of the schedule 'columns'}}
    %y = attn.concat %x, %x : !attn.array<[8], f64>, !attn.array<[8], f64> -> !attn.array<[16], f64>
    attn.yield
  }
}

// -----

attn.program @c3_loop_in_rows {
  attn.kernel rows {
    // expected-error @+1 {{is not allowed in a kernel of the schedule 'rows'}}
    attn.kernel loop {
      attn.yield
    }
    attn.yield
  }
}

// -----

attn.program @c3_no_sum {
  %x = attn.data "x" : !attn.array<[8], f64>
  attn.kernel loop {
    // expected-error @+1 {{is not allowed in a kernel of the schedule 'loop'}}
    %y = attn.compute (%k: 8) {
      %0 = attn.read %x[%k] : !attn.array<[8], f64>
      attn.yield %0 : f64
    } : !attn.array<[8], f64>
    attn.yield
  }
}

// -----

attn.program @c3_no_rows {
  %x = attn.data "x" : !attn.array<[4, 8], f64>
  %row = attn.data "row" : !attn.array<[8], f64>
  %at = arith.constant 0 : index
  attn.kernel columns {
    // expected-error @+1 {{is not allowed in a kernel of the schedule 'columns'}}
    %y = attn.append %x[%at] axis 0 = %row : !attn.array<[4, 8], f64>, !attn.array<[8], f64>
    attn.yield
  }
}

// -----

attn.program @c4_indices {
  %x = attn.data "x" : !attn.array<[8], f64>
  attn.kernel loop {
    // expected-note @+1 {{which are those of the first equation}}
    %y = attn.compute () sum (%k: 8) {
      %0 = attn.read %x[%k] : !attn.array<[8], f64>
      attn.yield %0 : f64
    } : !attn.array<[], f64>
    // expected-error @+1 {{has other indices than its loop}}
    %z = attn.compute () sum (%k: 1 to 8) {
      %0 = attn.read %x[%k] : !attn.array<[8], f64>
      attn.yield %0 : f64
    } : !attn.array<[], f64>
    attn.yield
  }
}

// -----

attn.program @c4_reads {
  %x = attn.data "x" : !attn.array<[8], f64>
  attn.kernel loop {
    %y = attn.compute () sum (%k: 8) {
      %0 = attn.read %x[%k] : !attn.array<[8], f64>
      attn.yield %0 : f64
    } : !attn.array<[], f64>
    // expected-error @+1 {{reads an equation of its own loop}}
    %z = attn.compute () sum (%k: 8) {
      %0 = attn.read %y[] : !attn.array<[], f64>
      attn.yield %0 : f64
    } : !attn.array<[], f64>
    attn.yield
  }
}

// -----

attn.program @c2_keys {
  // expected-error @+1 {{takes some keys at a time but the schedule 'rows'}}
  attn.kernel rows keys 64 {
    attn.yield
  }
}

// RUN: fovea-opt %s --attn-differentiate --split-input-file --verify-diagnostics

module {
  // expected-error @below {{nothing to differentiate: the system has no output 'nll'}}
  attn.system @loss {
  }
}

// -----

module {
  attn.system @loss {
    %a = attn.param "a" : !attn.array<[3], f64>
    // expected-error @below {{the objective's term 'nll' is one number, but this is '!attn.array<[3], f64>'}}
    attn.output "nll" %a : !attn.array<[3], f64>
  }
}

// -----

module {
  attn.system @loss {
    %a = attn.param "a" : !attn.array<[], f64>
    %nll = attn.compute () {
      %0 = attn.read %a[] : !attn.array<[], f64>
      // expected-error @below {{'math.atan' has no derivative}}
      %1 = math.atan %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

module {
  attn.system @loss {
    attn.length "T"
    %c0 = arith.constant 0 : index
    %a = attn.param "a" : !attn.array<[3], f64>
    %b = attn.param "b" : !attn.array<["T", 3], f64>
    // expected-error @below {{'attn.append' has no adjoint, but the objective depends on a parameter through it}}
    %c = attn.append %b[%c0] axis 0 = %a : !attn.array<["T", 3], f64>, !attn.array<[3], f64>
    %nll = attn.compute () sum (%t: "T", %k: 3) {
      %0 = attn.read %c[%t, %k] : !attn.array<["T", 3], f64>
      attn.yield %0 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

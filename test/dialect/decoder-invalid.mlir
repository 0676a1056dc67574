// RUN: fovea-opt %s --verify-diagnostics --split-input-file

module {
  attn.decoder encode @encode {
    // expected-error @+1 {{does not belong to a decoder}}
    %x = attn.data "x" : !attn.array<[8], f64>
  }
  attn.program @encode {
    %x = attn.data "x" : !attn.array<[8], f64>
    attn.output "encode/0" %x : !attn.array<[8], f64>
  }
}

// -----

module {
  attn.decoder encode @encode search "T" {
    // expected-note @+1 {{the other program is here}}
    attn.decoder.run @step
    // expected-error @+1 {{follows another program without a choice between them}}
    attn.decoder.run @step
  }
  attn.program @encode {
    %x = attn.data "x" : !attn.array<[8], f64>
    attn.output "encode/0" %x : !attn.array<[8], f64>
  }
}

// -----

module {
  // expected-error @+1 {{has no search that is known, reverse or bounded}}
  attn.decoder encode @encode known {
  }
  attn.program @encode {
    %x = attn.data "x" : !attn.array<[8], f64>
    attn.output "encode/0" %x : !attn.array<[8], f64>
  }
}

// -----

module {
  attn.decoder encode @encode {
    // expected-error @+1 {{is part of a search, but the decoder has none}}
    attn.decoder.stack "encode/0" axis 0 : !attn.array<[8], f64>
  }
  attn.program @encode {
    %x = attn.data "x" : !attn.array<[8], f64>
    attn.output "encode/0" %x : !attn.array<[8], f64>
  }
}

// -----

module {
  // expected-error @+1 {{runs @other, which the module has no program for}}
  attn.decoder encode @other {
  }
  attn.program @encode {
    %x = attn.data "x" : !attn.array<[8], f64>
    attn.output "encode/0" %x : !attn.array<[8], f64>
  }
}

// -----

module {
  attn.decoder encode @encode search "T" {
    // expected-error @+1 {{runs @step, which the module has no program for}}
    attn.decoder.run @step
  }
  attn.program @encode {
    %x = attn.data "x" : !attn.array<[8], f64>
    attn.output "encode/0" %x : !attn.array<[8], f64>
  }
}

// -----

module {
  attn.decoder encode @encode search "T" {
    // expected-error @+1 {{reads 'encode/1', which the decoder does not have by then}}
    attn.decoder.state "s" from "encode/1" next "encode/0" : !attn.array<[8], f64>
  }
  attn.program @encode {
    %x = attn.data "x" : !attn.array<[8], f64>
    attn.output "encode/0" %x : !attn.array<[8], f64>
  }
}

// -----

module {
  attn.decoder encode @encode search "T" {
    // expected-error @+1 {{reads 'encode/0' as '!attn.array<[9], f64>', but it is '!attn.array<[8], f64>'}}
    attn.decoder.state "s" from "encode/0" next "carry/0" : !attn.array<[9], f64>
  }
  attn.program @encode {
    %x = attn.data "x" : !attn.array<[8], f64>
    attn.output "encode/0" %x : !attn.array<[8], f64>
  }
}

// -----

// What a program reads has the type of what the search gives it.
module {
  attn.decoder encode @encode search "T" {
    attn.decoder.state "s" from "encode/0" next "carry/0" : !attn.array<[8], f64>
    attn.decoder.run @step
  }
  attn.program @encode {
    %x = attn.data "x" : !attn.array<[8], f64>
    attn.output "encode/0" %x : !attn.array<[8], f64>
  }
  attn.program @step {
    // expected-error @+1 {{reads 'carry/0' as '!attn.array<[7], f64>', but it is '!attn.array<[8], f64>'}}
    %s = attn.data "carry/0" : !attn.array<[7], f64>
  }
}

// -----

module {
  attn.decoder encode @encode search "T" {
    attn.decoder.run @step
  }
  attn.program @encode {
    %x = attn.data "x" : !attn.array<[8], f64>
    attn.output "encode/0" %x : !attn.array<[8], f64>
  }
  attn.program @step {
    // expected-error @+1 {{reads 'choice/0', which the decoder does not have by then}}
    %s = attn.data "choice/0" : !attn.array<[], i64>
  }
}

// -----

module {
  attn.decoder encode @encode search "T" {
    attn.decoder.run @step
  }
  attn.program @encode {
    %x = attn.data "x" : !attn.array<[8], f64>
    attn.output "encode/0" %x : !attn.array<[8], f64>
  }
  attn.program @step {
    %x = attn.data "encode/0" : !attn.array<[8], f64>
    // expected-error @+1 {{gives 'encode/0', which the decoder has already}}
    attn.output "encode/0" %x : !attn.array<[8], f64>
  }
}

// -----

module {
  attn.decoder encode @encode search "T" {
    // expected-error @+1 {{is replaced, but @encode writes a row of it}}
    attn.decoder.state "s" from "encode/0" next "carry/0" by @encode : !attn.array<[8], f64>
  }
  attn.program @encode {
    %x = attn.data "x" : !attn.array<[8], f64>
    attn.output "encode/0" %x : !attn.array<[8], f64>
  }
}

// -----

module {
  attn.decoder encode @encode search "T" {
    // expected-error @+1 {{is written by @encode, which does not run in a step}}
    attn.decoder.state "s" next "encode/0" appended by @encode : !attn.array<["T", 8], f64>
  }
  attn.program @encode {
    %x = attn.data "x" : !attn.array<[8], f64>
    attn.output "encode/0" %x : !attn.array<[8], f64>
  }
}

// -----

module {
  attn.decoder encode @encode search "T" {
    // expected-error @+1 {{appends 'encode/0' to '!attn.array<["T", 9], f64>', but it is '!attn.array<[8], f64>'}}
    attn.decoder.state "s" next "encode/0" appended : !attn.array<["T", 9], f64>
  }
  attn.program @encode {
    %x = attn.data "x" : !attn.array<[8], f64>
    attn.output "encode/0" %x : !attn.array<[8], f64>
  }
}

// -----

module {
  attn.decoder encode @encode search "T" {
    attn.decoder.loop "W" {
      // expected-error @+1 {{is appended to in a loop inside a step}}
      attn.decoder.state next "encode/0" appended : !attn.array<["T", 8], f64>
    }
  }
  attn.program @encode {
    %x = attn.data "x" : !attn.array<[8], f64>
    attn.output "encode/0" %x : !attn.array<[8], f64>
  }
}

// -----

module {
  attn.decoder encode @encode search "T" {
    attn.decoder.loop "W" {
      attn.decoder.choice "y" categorical ["logp"] of ["encode/0"] : [!attn.array<[8], f64>] -> !attn.array<[], i64>
      // expected-error @+1 {{does not belong to a loop of choices}}
      %x = attn.data "x" : !attn.array<[8], f64>
    }
  }
  attn.program @encode {
    %x = attn.data "x" : !attn.array<[8], f64>
    attn.output "encode/0" %x : !attn.array<[8], f64>
  }
}

// -----

module {
  attn.decoder encode @encode search "T" {
    // expected-error @+1 {{makes no choices}}
    attn.decoder.loop "W" {
    }
  }
  attn.program @encode {
    %x = attn.data "x" : !attn.array<[8], f64>
    attn.output "encode/0" %x : !attn.array<[8], f64>
  }
}

// -----

module {
  attn.decoder encode @encode {
    // expected-error @+1 {{has 1 parameters but 0 types of them}}
    attn.decoder.choice "y" categorical ["logp"] of ["encode/0"] : [] -> !attn.array<[], i64>
  }
  attn.program @encode {
    %x = attn.data "x" : !attn.array<[8], f64>
    attn.output "encode/0" %x : !attn.array<[8], f64>
  }
}

// -----

module {
  attn.decoder encode @encode {
    // expected-error @+1 {{draws from categorical, whose parameters differ from ["mean"]}}
    attn.decoder.choice "y" categorical ["mean"] of ["encode/0"] : [!attn.array<[8], f64>] -> !attn.array<[], i64>
  }
  attn.program @encode {
    %x = attn.data "x" : !attn.array<[8], f64>
    attn.output "encode/0" %x : !attn.array<[8], f64>
  }
}

// -----

module {
  attn.decoder encode @encode {
    // expected-error @+1 {{draws '!attn.array<[2], i64>' but its 'logp' is '!attn.array<[8], f64>'}}
    attn.decoder.choice "y" categorical ["logp"] of ["encode/0"] : [!attn.array<[8], f64>] -> !attn.array<[2], i64>
  }
  attn.program @encode {
    %x = attn.data "x" : !attn.array<[8], f64>
    attn.output "encode/0" %x : !attn.array<[8], f64>
  }
}

// -----

module {
  attn.decoder encode @encode {
    // expected-error @+1 {{marks 'stop' with 'f64'}}
    attn.decoder.mark stop "encode/0"
  }
  attn.program @encode {
    %x = attn.data "x" : !attn.array<[8], f64>
    attn.output "encode/0" %x : !attn.array<[8], f64>
  }
}

// -----

module {
  attn.decoder encode @encode search "T" {
    // expected-error @+1 {{stacks rows of '!attn.array<[8], f64>' at axis 2}}
    attn.decoder.stack "encode/0" axis 2 : !attn.array<[8], f64>
  }
  attn.program @encode {
    %x = attn.data "x" : !attn.array<[8], f64>
    attn.output "encode/0" %x : !attn.array<[8], f64>
  }
}

// -----

module {
  attn.decoder encode @encode {
    // expected-error @+1 {{reads 'length', which the decoder does not have by then}}
    attn.decoder.output "length"
  }
  attn.program @encode {
    %x = attn.data "x" : !attn.array<[8], f64>
    attn.output "encode/0" %x : !attn.array<[8], f64>
  }
}

// -----

module {
  // expected-error @+1 {{has at most '!attn.array<[8], f64>' steps}}
  attn.decoder encode @encode search "T" longest "encode/0" {
  }
  attn.program @encode {
    %x = attn.data "x" : !attn.array<[8], f64>
    attn.output "encode/0" %x : !attn.array<[8], f64>
  }
}

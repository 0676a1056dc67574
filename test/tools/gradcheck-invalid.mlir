// A check that cannot fail proves nothing: a wrong gradient, one that is not a
// number and a loss that is not a number are found.
// RUN: not fovea-gradcheck %s --module wrong 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not fovea-gradcheck %s --module nan 2>&1 | FileCheck %s --check-prefix=NAN
// RUN: not fovea-gradcheck %s --module nan --print 2>&1 | FileCheck %s --check-prefix=NAN
// RUN: not fovea-gradcheck %s --module shape 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not fovea-gradcheck %s --module loss 2>&1 | FileCheck %s --check-prefix=LOSS
// RUN: not fovea-gradcheck %s --module other 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not fovea-gradcheck %s --module outside --length T=1 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: not fovea-gradcheck %s --module outside 2>&1 | FileCheck %s --check-prefix=LENGTH
// RUN: not fovea-gradcheck %s --module outside --length T=many 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not fovea-gradcheck %s --module outside --length T=1 --value x=1,2 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not fovea-gradcheck %s --module objective --length T=1 2>&1 | FileCheck %s --check-prefix=OBJECTIVE
// RUN: echo 'module {}' | not fovea-gradcheck - 2>&1 | FileCheck %s --check-prefix=EMPTY

// EMPTY:   error: no '@loss'; help: fovea compile SPEC --stop-after=derive
// WRONG:   error: the gradient of 'x' at 0 is 3 but the difference is 2
// NAN:     error: the gradient of 'x' at 0 is NaN
// SHAPE:   error: the gradient of 'x' has another shape
// LOSS:    error: the gradient of 'x' at 0 is 0 but the difference is {{-?}}nan
// OTHER:   error: no module 'other'
// OUTSIDE: error: @grad: {{.*}}reads 'x' at [1], outside its extents
// LENGTH:  error: 'x' has the axis 'T', which needs --length
// NUMBER:  error: 'T=many': 'many' is not a number
// VALUE:   error: 'x' has 1 elements but --value gives 2
// OBJECTIVE: error: @loss: {{.*}}reads 'x' at [1], outside its extents

module @wrong {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[1], f64>
    %nll = attn.compute () sum (%i: 1) {
      %two = arith.constant 2.0 : f64
      %0 = attn.read %x[%i] : !attn.array<[1], f64>
      %1 = arith.mulf %0, %two : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
  attn.system @grad {
    %x = attn.compute (%i: 1) {
      %three = arith.constant 3.0 : f64
      attn.yield %three : f64
    } : !attn.array<[1], f64>
    attn.output "grad/x" %x : !attn.array<[1], f64>
  }
}

// -----

module @nan {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[1], f64>
    %nll = attn.compute () {
      %zero = arith.constant 0.0 : f64
      attn.yield %zero : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
  attn.system @grad {
    %x = attn.compute (%i: 1) {
      %nan = arith.constant 0x7FF8000000000000 : f64
      attn.yield %nan : f64
    } : !attn.array<[1], f64>
    attn.output "grad/x" %x : !attn.array<[1], f64>
  }
}

// -----

module @shape {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[1], f64>
    %nll = attn.compute () {
      %zero = arith.constant 0.0 : f64
      attn.yield %zero : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
  attn.system @grad {
    %x = attn.compute (%i: 2) {
      %zero = arith.constant 0.0 : f64
      attn.yield %zero : f64
    } : !attn.array<[2], f64>
    attn.output "grad/x" %x : !attn.array<[2], f64>
  }
}

// -----

module @loss {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[1], f64>
    %nll = attn.compute () {
      %nan = arith.constant 0x7FF8000000000000 : f64
      attn.yield %nan : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

module @outside {
  attn.system @loss {
    attn.length "T"
    %x = attn.param "x" : !attn.array<["T"], f64>
    %nll = attn.compute () {
      %one = arith.constant 1 : index
      %0 = attn.read %x[%one] : !attn.array<["T"], f64>
      attn.yield %0 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

module @objective {
  attn.system @loss {
    attn.length "T"
    %x = attn.param "x" : !attn.array<["T"], f64>
    %nll = attn.compute () {
      %one = arith.constant 1 : index
      %0 = attn.read %x[%one] : !attn.array<["T"], f64>
      attn.yield %0 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
  attn.system @grad {
    attn.length "T"
    %d = attn.compute (%i: "T") {
      %zero = arith.constant 0.0 : f64
      attn.yield %zero : f64
    } : !attn.array<["T"], f64>
    attn.output "grad/x" %d : !attn.array<["T"], f64>
  }
}

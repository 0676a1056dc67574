// RUN: fovea-opt %s --verify-diagnostics --split-input-file

// expected-error @+1 {{'nowhere' is not a kind of location; the kinds are own, argument, same, row, carry, room, packed and list}}
module attributes {attn.location = #attn.location<nowhere 3>} {}

// -----

// expected-error @+1 {{an extent must be rounded up to a multiple of at least 1, not 0}}
module attributes {attn.rooms = [#attn.room<1 x 8 to 0>]} {}

// -----

attn.program @name {
  // expected-error @+1 {{has the unknown attribute 'attn.somewhere'; help: dialect/Attributes.def declares all attributes}}
  %x = attn.data "x" {attn.somewhere = #attn.location<argument 0>} : !attn.array<[8], f64>
}

// -----

attn.program @no_product {
  // expected-error @+1 {{is not a product, so it has no packed factors}}
  %x = attn.data "x" {attn.packed = #attn.location<packed 0>} : !attn.array<[8], f64>
}

// -----

attn.program @given {
  // expected-error @+1 {{has the attn.location 'own 0' but the caller gives it}}
  %x = attn.data "x" {attn.location = #attn.location<own 0>} : !attn.array<[8], f64>
}

// -----

attn.program @computed {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{has the attn.location 'argument 1' but no caller gives it}}
  %y = attn.compute (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.location = #attn.location<argument 1>} : !attn.array<[8], f64>
}

// -----

attn.program @rank {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{has the attn.location 'own 1' by rank, but is in no loop}}
  %y = attn.compute (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.location = #attn.location<own 1 ranks>} : !attn.array<[8], f64>
}

// -----

attn.program @row {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{has the attn.location 'row 1' but is in no loop}}
  %y = attn.compute (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.location = #attn.location<row 1>} : !attn.array<[8], f64>
}

// -----

attn.program @carry {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{has the attn.location 'carry 1' but is no carry}}
  %y = attn.compute (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.location = #attn.location<carry 1>} : !attn.array<[8], f64>
}

// -----

attn.program @room {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{has the attn.location 'room 1' but its kernel has 0 rooms}}
  %y = attn.compute (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.location = #attn.location<room 1>} : !attn.array<[8], f64>
}

// -----

attn.program @packed {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{has the attn.location 'packed 1' which no array has}}
  %y = attn.compute (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.location = #attn.location<packed 1>} : !attn.array<[8], f64>
}

// -----

attn.program @not_packed {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{has the attn.packed 'list 1' which is not packed}}
  %y = attn.compute (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.packed = #attn.location<list 1>} : !attn.array<[8], f64>
}

// -----

attn.program @no_list {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{has the attn.list 'packed 1' which is no list}}
  %y = attn.compute (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.list = #attn.location<packed 1>} : !attn.array<[8], f64>
}

// -----

attn.program @several {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{gives 2 arrays but has one location}}
  %last:2 = attn.scan 3 (%i) carries (%a = %x : !attn.array<[8], f64>, %b = %x : !attn.array<[8], f64>) axes [] {
    attn.yield %a, %b : !attn.array<[8], f64>, !attn.array<[8], f64>
  } : !attn.array<[8], f64>, !attn.array<[8], f64> {attn.location = #attn.location<own 1>}
}

// -----

attn.program @no_loop {
  // expected-error @+1 {{cannot have 'attn.locations'; only a loop can}}
  %x = attn.data "x" {attn.locations = [#attn.location<own 0>]} : !attn.array<[8], f64>
}

// -----

attn.program @count {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{has 2 locations in 'attn.carries' for 1 arrays}}
  %last = attn.scan 3 (%i) carries (%a = %x : !attn.array<[8], f64>) axes [] {
    attn.yield %a : !attn.array<[8], f64>
  } : !attn.array<[8], f64> {attn.carries = [#attn.location<own 1>, #attn.location<own 2>]}
}

// -----

attn.program @kind {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{has #attn.location<same 1> in 'attn.carries', where an array has its own memory, or is the row before}}
  %last = attn.scan 3 (%i) carries (%a = %x : !attn.array<[8], f64>) axes [] {
    attn.yield %a : !attn.array<[8], f64>
  } : !attn.array<[8], f64> {attn.carries = [#attn.location<same 1>]}
}

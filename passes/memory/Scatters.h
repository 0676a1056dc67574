//===- Scatters.h - which terms of a sum belong to a row ------------------===//
//
// `sum[t where token[t] == w](d[t])` adds each term to the row that it finds. A
// GPU does the rows apart, by a list that says which terms each of them has.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_MEMORY_SCATTERS_H
#define FOVEA_PASSES_MEMORY_SCATTERS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Returns whether the terms of `op` get such a list: for a sum over one index
/// of all examples, outside of loops, on a machine that has threads for the
/// rows.
bool listsTerms(ComputeOp op);

/// The fields of a list entry about a term, as i64. Entries are in the order of
/// the examples and of their terms.
enum TermField : int64_t {
  RowOfTerm, // -1: it is added nowhere
  NextTerm,  // the number of the next entry of the same row; -1: none
  IsFirst,   // whether none of the row stands ahead of it
  ExampleOfTerm,
  NumberOfTerm, // in its example
  numTermFields
};

/// The type of the list: all fields of every term.
ArrayType termListType(ComputeOp op);

} // namespace fovea::attn

#endif // FOVEA_PASSES_MEMORY_SCATTERS_H

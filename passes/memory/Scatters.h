//===- Scatters.h - which terms of a sum belong to a row ------------------===//
//
// `sum[t where token[t] == w](d[t])` adds each term to the row that it finds.
// Some targets compute the rows independently, with a list of the terms of
// each.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_MEMORY_SCATTERS_H
#define FOVEA_PASSES_MEMORY_SCATTERS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Returns whether the terms of `op` get such a list: for a sum over one index
/// of all examples, outside of loops, if the target asks for it.
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

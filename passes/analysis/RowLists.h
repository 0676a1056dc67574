//===- RowLists.h - programs that list rows of gradients --------*- C++ -*-===//

#ifndef FOVEA_PASSES_ANALYSIS_ROWLISTS_H
#define FOVEA_PASSES_ANALYSIS_ROWLISTS_H

#include "llvm/ADT/StringRef.h"

namespace fovea::attn {

/// A program attribute: its caller takes gradients as lists of rows
/// (runtime/train/RowNames.h), where terms choose their rows and the target has
/// attn-list-rows.
constexpr llvm::StringLiteral listsRowsName = "attn.lists_rows";

} // namespace fovea::attn

#endif // FOVEA_PASSES_ANALYSIS_ROWLISTS_H

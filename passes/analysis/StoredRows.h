//===- StoredRows.h - which arrays may be stored in fewer bits --*- C++ -*-===//
//
// Arrays of a scheduled program that share memory, or are copied whole, have
// one element type: views, concatenations, and all values of a loop's carry.
// Such a class of arrays may have elements of bf16 if every equation in it
// yields numbers of bf16, and all else only reads elements.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_ANALYSIS_STOREDROWS_H
#define FOVEA_PASSES_ANALYSIS_STOREDROWS_H

#include "dialect/AttnDialect.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace fovea::attn {

/// The most terms of the left side of a product in strips whose elements are
/// bf16.
constexpr int64_t widestLeft = 512;

/// Gives the arrays of `program` elements of bf16 where a class allows it, and
/// `isKept` holds for each of its arrays; those of no class get f64. An array
/// that the program exchanges with others keeps its type.
void storeRows(ProgramOp program,
               llvm::function_ref<bool(mlir::Value array)> isKept);

} // namespace fovea::attn

#endif // FOVEA_PASSES_ANALYSIS_STOREDROWS_H

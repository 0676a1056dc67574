//===- KeyTiles.h - what goes through the keys of an attention --*- C++ -*-===//
//
// Private to the back end: what BringKeys.cpp and KeyTiles.cpp share.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_GPU_LOOPS_KEYTILES_H
#define FOVEA_CODEGEN_GPU_LOOPS_KEYTILES_H

#include "codegen/Backend.h"
#include "codegen/gpu/loops/Strips.h"
#include "codegen/gpu/products/TensorOps.h"
#include "codegen/gpu/program/Threads.h"

#include <array>

namespace fovea::codegen {

/// What is multiplied of keys, in the memory of the block.
struct StripEmitter::KeySide {
  mlir::Value base, keyStride, stride;
  int64_t size, width; // width: with zeros up to whole instructions
  mlir::Value memory;
  mlir::Value ofLane[2]; // of elements as terms, and of rows as terms

  /// The right side of two instructions, from row `row` and element `element`
  /// on. A number is a part of the instruction, and takes no register.
  KernelBuilder::Values words(KernelBuilder &kernel, int64_t row,
                              int64_t element, bool rowsAreTerms) const;
};

/// An array that all pairs read at their row alone, or at their key alone: its
/// element is read once for all of them.
struct StripEmitter::Known {
  attn::ComputeOp op;
  attn::ReadOp read;
  bool isOfKey;
};

/// What a warp goes through the keys with.
struct StripEmitter::Rows {
  mlir::Value first, count; // of the rows of the strip
  mlir::Value numKeys;
  mlir::Value lane, pair; // the first column of this thread in an instruction
  /// Two rows of this thread, counted from the first, and where they are read:
  /// somewhere in any case.
  mlir::Value rows[2], rowsRead[2];
  std::vector<KeySide> sides;
  /// Of each product of rows and keys, the words of its left side, by
  /// instruction.
  llvm::SmallDenseMap<mlir::Operation *, llvm::SmallVector<Values>> words;
  std::vector<Known> known;
  /// What is known of both rows.
  llvm::SmallDenseMap<mlir::Value, mlir::Value> ofRows[2];
  /// Memory of the block for what is known of the keys of a tile, array by
  /// array, and where the first key of this thread is.
  mlir::Value keyNumbers, ofLane;
  /// Or, where there is none, what is known of two keys of the tile, those of
  /// this lane, whom others ask.
  llvm::SmallDenseMap<mlir::Value, std::array<mlir::Value, 2>> ofKeys;
};

/// Keys whose pairs are those of an instruction: its terms.
constexpr int64_t keysAtOnce = mmaTerms;

/// What a kernel reads: keys come once for all products that multiply them, and
/// rows stay where they are.
void noteKeys(KernelNote &note, const attn::Attention &attention);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_GPU_LOOPS_KEYTILES_H

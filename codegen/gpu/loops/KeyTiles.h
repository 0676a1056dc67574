//===- KeyTiles.h - what goes through the keys of an attention --*- C++ -*-===//
//
// Private to the back end: shared by BringKeys.cpp and KeyTiles.cpp.
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

/// The multiplied part of keys, in the block's memory.
struct StripEmitter::KeySide {
  mlir::Value base, keyStride, stride;
  int64_t size, width; // width: with zeros up to whole instructions
  mlir::Value memory;
  mlir::Value ofLane[2]; // of elements as terms, and of rows as terms

  /// The right side of two instructions, from row `row` and element `element`
  /// on. A constant is part of the instruction, and takes no register.
  KernelBuilder::Values words(KernelBuilder &kernel, int64_t row,
                              int64_t element, bool rowsAreTerms) const;
};

/// An array that all pairs read only at their row, or only at their key: its
/// element is read once for all of them.
struct StripEmitter::Known {
  attn::ComputeOp op;
  attn::ReadOp read;
  bool isOfKey;
};

/// A warp's state while it iterates over the keys.
struct StripEmitter::Rows {
  mlir::Value first, count; // of the rows of the strip
  mlir::Value numKeys;
  mlir::Value lane, pair; // the first column of this thread in an instruction
  /// Two rows of this thread, relative to the first, and their addresses, valid
  /// in any case.
  mlir::Value rows[2], rowsRead[2];
  std::vector<KeySide> sides;
  /// For each product of rows and keys, the words of its left side, by
  /// instruction.
  llvm::SmallDenseMap<mlir::Operation *, llvm::SmallVector<Values>> words;
  std::vector<Known> known;
  /// The per-row values of both rows.
  llvm::SmallDenseMap<mlir::Value, mlir::Value> ofRows[2];
  /// Shared memory for the per-key values of a tile, array by array, and the
  /// position of this thread's first key.
  mlir::Value keyNumbers, ofLane;
  /// Or, without it, the values of two keys of the tile, held by this lane for
  /// the others.
  llvm::SmallDenseMap<mlir::Value, std::array<mlir::Value, 2>> ofKeys;
};

/// The loop-carried state of the forward pass after some keys: the maximum
/// scores of two rows, and the sums of exponentials. Sums of weighted values so
/// far take a factor for each row.
struct StripEmitter::Scores {
  Values state;
  mlir::Value factors[2];
};

/// Keys whose pairs are the terms of an instruction.
constexpr int64_t keysAtOnce = mmaTerms;

/// The inputs of a kernel: keys are loaded once for all products, and rows stay
/// in place.
void noteKeys(KernelNote &note, const attn::Attention &attention);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_GPU_LOOPS_KEYTILES_H

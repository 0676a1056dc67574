//===- Strips.h - equations computed a strip of rows at a time ------------===//
//
// The scores of attention, their softmax, what it reads, and the adjoints of
// these are arrays of pairs: for each row, a query, as many elements as there
// are keys. Where only equations over the same rows read such an array, they
// are computed together, some rows after the others, and no more than a strip
// of it is ever there: memory for T x S elements becomes memory for S.
//
// The same holds behind a product with weights, as that of a vocabulary: its
// rows are those of a batch.
//
// The idea is that of FlashAttention (Dao et al., 2022, section 3.1) for any
// score and any equations between the products: a strip has its rows whole, so
// that no softmax has to be put together.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_STRIPS_H
#define FOVEA_CODEGEN_CPU_STRIPS_H

#include "codegen/cpu/BatchedContraction.h"
#include "codegen/cpu/Contraction.h"
#include "codegen/cpu/Gemm.h"

namespace fovea::codegen {

/// The rows of a strip.
constexpr int64_t stripRows = 64;

/// A part of a thread's memory: so many elements, times every extent, rounded
/// up to a multiple, and some more.
struct Room {
  struct Factor {
    mlir::Attribute extent;
    int64_t multiple = 1, extra = 0;
  };
  int64_t count = 1;
  llvm::SmallVector<Factor> factors;

  /// The elements, but for the factors whose extent is a length.
  int64_t fixedCount() const;
};

struct StripMember {
  attn::ComputeOp op;
  /// Its indices that stand for the shared ones: those outside, then the row.
  llvm::SmallVector<unsigned> shared;
  /// Whether it adds up over the rows; otherwise it gives them.
  bool sumsRows = false;
  /// The product that it is; of one that sums, the rows are the terms.
  std::optional<BatchedContraction> product;
  /// Of a product: where its right side is packed.
  unsigned packed = 0;
};

/// Equations one behind the other.
struct StripGroup {
  /// The product with weights that the first member is: the rows are then those
  /// of all examples, one behind the other, and nothing is outside of them.
  std::optional<Contraction> weights;
  llvm::SmallVector<mlir::Attribute> outer; // the extents outside of the rows
  mlir::Attribute rows;
  std::vector<StripMember> members;
  /// Arrays of which only strips are there, and their rooms.
  struct Strip {
    mlir::Value array;
    unsigned room;
    unsigned rowAxis;
  };
  llvm::SmallVector<Strip> strips;
  llvm::SmallVector<Room> rooms;

  /// Whether the strips of an example may be computed at the same time.
  bool isDivisible() const {
    return llvm::none_of(members,
                         [](const StripMember &each) { return each.sumsRows; });
  }
};

/// Finds the groups of a program and moves the members of each behind one
/// another. A sum over the examples that sums rows becomes a sum of the sums of
/// each. Behind the phase `batch`.
std::vector<StripGroup> gatherStrips(attn::ProgramOp program, GemmTile tile);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_STRIPS_H

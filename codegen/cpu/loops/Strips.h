//===- Strips.h - kernels that compute a strip of rows at a time ----------===//
//
// What the emitter has to know of a kernel in strips (`attn-form-strips` makes
// it), and the rooms that it has (`attn-place-arrays`): packed right sides, and
// some rows of every array that the kernel keeps to itself.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_LOOPS_STRIPS_H
#define FOVEA_CODEGEN_CPU_LOOPS_STRIPS_H

#include "codegen/cpu/products/Gemm.h"
#include "passes/analysis/Product.h"

namespace fovea::codegen {

struct StripMember {
  attn::ComputeOp op;
  /// Its indices that stand for the shared ones: those outside, then the row.
  llvm::SmallVector<unsigned> shared;
  /// Whether it adds up over the rows; otherwise it gives them.
  bool sumsRows = false;
  /// The product that it is; of one that sums, the rows are the terms.
  std::optional<attn::ExampleProduct> product;
  /// Of a product: the room in which its right side is packed.
  unsigned packed = 0;
  /// What its loop computes, itself first; empty where that of a member before
  /// it does.
  llvm::SmallVector<attn::ComputeOp, 1> loop;
};

/// The equations of a kernel, in order.
struct StripGroup {
  attn::KernelOp kernel;
  /// The product with weights that the first member is: the rows are then those
  /// of all examples, and nothing is outside of them.
  std::optional<attn::RowsProduct> weights;
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
  llvm::SmallVector<attn::RoomAttr> rooms;

  /// Whether the strips of an example may be computed at the same time.
  bool isDivisible() const {
    return llvm::none_of(members,
                         [](const StripMember &each) { return each.sumsRows; });
  }
};

/// A kernel in strips, behind the phase `memory`.
StripGroup stripsOf(attn::KernelOp kernel);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_LOOPS_STRIPS_H

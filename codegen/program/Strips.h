//===- Strips.h - kernels that compute a strip of rows at a time ----------===//
//
// The emitters' view of a kernel in strips (`attn-form-strips` makes
// it), and its workspace (`attn-place-arrays`): some rows of every
// internal array, and, on machines that pack them, right sides of
// products.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_PROGRAM_STRIPS_H
#define FOVEA_CODEGEN_PROGRAM_STRIPS_H

#include "codegen/kernel/BodyEmitter.h"
#include "passes/analysis/Product.h"

namespace fovea::codegen {

struct StripMember {
  attn::ComputeOp op;
  /// Its indices that correspond to the shared ones: those outside, then the
  /// row.
  llvm::SmallVector<unsigned> shared;
  /// Whether it sums over the rows; otherwise it has them.
  bool sumsRows = false;
  /// The product that it is; of one that sums, the rows are the terms.
  std::optional<attn::ExampleProduct> product;
  /// For a product: the workspace of its packed right side, if any.
  unsigned packed = 0;
  /// The equations in its loop, itself first; empty if an earlier member's loop
  /// computes it.
  llvm::SmallVector<attn::ComputeOp, 1> loop;
};

/// The equations of a kernel, in order.
struct StripGroup {
  attn::KernelOp kernel;
  /// The product with weights that is the first member: the rows are then those
  /// of all examples, without outer indices.
  std::optional<attn::RowsProduct> weights;
  llvm::SmallVector<mlir::Attribute> outer; // the extents outside of the rows
  mlir::Attribute rows;
  std::vector<StripMember> members;
  /// Arrays that exist only as strips, and their workspace.
  struct Strip {
    mlir::Value array;
    unsigned room;
    unsigned rowAxis;
  };
  llvm::SmallVector<Strip> strips;
  llvm::SmallVector<attn::RoomAttr> rooms;

  /// Whether the strips of an example are independent.
  bool isDivisible() const {
    return llvm::none_of(members,
                         [](const StripMember &each) { return each.sumsRows; });
  }
  /// The places of the indices outside of the rows.
  int64_t numPlaces() const;
};

/// A kernel in strips, after the phase `memory`.
StripGroup stripsOf(attn::KernelOp kernel);

/// The largest extent of the batch.
mlir::Value largestExtent(KernelBuilder &b, const StorageMap &storage,
                          mlir::Value frame, mlir::Attribute extent);

/// The state of a kernel in strips: its workspace, the current strips, and the
/// factors of its products.
class StripFrame {
public:
  StripFrame(KernelBuilder &b, const StorageMap &storage,
             const StripGroup &group, mlir::Type real)
      : b(b), storage(storage), group(group), real(real),
        stripRows(attn::TargetAttr::of(group.kernel).getStripRows()) {}

protected:
  /// The factors of a member.
  struct Operands {
    BodyEmitter::View a, b, c;
    mlir::Value m, n, k;
  };

  /// The example and the outer indices of unit `unit`, if each place of them
  /// has `parts` units; returns the part's number.
  mlir::Value enter(Place at, mlir::Value unit, mlir::Value parts);
  /// The workspace buffers, consecutively from an address on.
  void findRooms(mlir::Value at);
  void setStrips(mlir::Value first);
  /// The row pitch of so many elements in a workspace.
  mlir::Value strideIn(unsigned room, mlir::Value width);
  llvm::SmallVector<Index> indicesOf(const StripMember &member,
                                     mlir::Value row);
  Operands operandsOf(const StripMember &member, mlir::Value row);
  /// The range of an index of `size` places that a band has beside the rows
  /// `first` .. `last`: from, and to before.
  std::pair<mlir::Value, mlir::Value> inBand(const attn::Band &band,
                                             mlir::Value size,
                                             mlir::Value first,
                                             mlir::Value last);
  /// Returns whether all readers of the product stay inside its band.
  bool isGuarded(const StripMember &member);
  /// Computes a member at a row, if it is not a product.
  llvm::SmallVector<mlir::Value> placesOf(const StripMember &member,
                                          mlir::Value row);
  mlir::Value address(mlir::Value base, mlir::Value index) {
    return b.at(real, base, index);
  }

  KernelBuilder &b;
  const StorageMap &storage;
  const StripGroup &group;
  mlir::Type real;
  int64_t stripRows;
  Place place;
  llvm::SmallVector<mlir::Value> outer;
  llvm::SmallVector<mlir::Value> rooms; // addresses

private:
  mlir::Value roomSize(attn::RoomAttr room);
};

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_PROGRAM_STRIPS_H

//===- Strips.h - kernels that compute a strip of rows at a time ----------===//
//
// What emitters have to know of a kernel in strips (`attn-form-strips` makes
// it), and the rooms that it has (`attn-place-arrays`): some rows of every
// array that the kernel keeps to itself, and, where a machine packs them, right
// sides of products.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_PROGRAM_STRIPS_H
#define FOVEA_CODEGEN_PROGRAM_STRIPS_H

#include "codegen/kernel/BodyEmitter.h"
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
  /// Of a product: the room in which its right side is packed, if it is.
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
  /// The places of the indices outside of the rows.
  int64_t numPlaces() const;
};

/// A kernel in strips, after the phase `memory`.
StripGroup stripsOf(attn::KernelOp kernel);

/// The largest extent of the batch.
mlir::Value largestExtent(KernelBuilder &b, const StorageMap &storage,
                          mlir::Value frame, mlir::Attribute extent);

/// Where a kernel in strips stands: its rooms, the strips at hand, and what its
/// products multiply there.
class StripFrame {
public:
  StripFrame(KernelBuilder &b, const StorageMap &storage,
             const StripGroup &group, mlir::Type real)
      : b(b), storage(storage), group(group), real(real),
        stripRows(attn::MachineAttr::of(group.kernel).getStripRows()) {}

protected:
  /// What a member multiplies.
  struct Operands {
    BodyEmitter::View a, b, c;
    mlir::Value m, n, k;
  };

  /// The example and the indices outside that unit `unit` is of, where each
  /// place of them has `parts` units; returns which of them it is.
  mlir::Value enter(Place at, mlir::Value unit, mlir::Value parts);
  /// The rooms, one by one from an address on.
  void findRooms(mlir::Value at);
  void setStrips(mlir::Value first);
  /// Between rows of so many elements in a room.
  mlir::Value strideIn(unsigned room, mlir::Value width);
  llvm::SmallVector<Index> indicesOf(const StripMember &member,
                                     mlir::Value row);
  Operands operandsOf(const StripMember &member, mlir::Value row);
  /// Where an index of `size` places is that a band has beside the rows `first`
  /// .. `last`: from, and to before.
  std::pair<mlir::Value, mlir::Value> inBand(const attn::Band &band,
                                             mlir::Value size,
                                             mlir::Value first,
                                             mlir::Value last);
  /// Whether everyone who reads the product stays inside of its band.
  bool isGuarded(const StripMember &member);
  /// What a member computes at a row, where it is no product.
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

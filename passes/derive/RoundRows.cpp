//===- RoundRows.cpp - rows that places of another length read ------------===//
//
// Decides which arrays are rounded: the ones that attention caches. The
// decision depends on the equation that reads an array, as written, and is the
// same for training and decoding: until then both have all their indices.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Equations.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_ROUNDROWS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// The least numbers of a row: fewer save nothing.
static constexpr int64_t leastNumbers = 16;

/// Whether an array is a row of numbers for each place of one length.
static bool hasRows(Value array) {
  auto type = cast<ArrayType>(array.getType());
  int64_t numbers = 1, lengths = 0;
  for (Attribute extent : type.getShape()) {
    if (std::optional<int64_t> number = numberOf(extent))
      numbers *= *number;
    else
      ++lengths;
  }
  return type.getElementType().isF64() && lengths == 1 &&
         numbers >= leastNumbers &&
         isa_and_present<ComputeOp, ReshapeOp, ConcatOp>(array.getDefiningOp());
}

/// Whether an equation reads a row again for each place of another length, as
/// scores read a key for each query.
static bool meetsOtherPlaces(ReadOp read) {
  auto reader = read->getParentOfType<ComputeOp>();
  if (!reader || !read.getAlternatives().empty())
    return false;
  uint64_t used = 0;
  for (Value index : read.getIndices())
    used |= dependence(index);
  auto lengths = llvm::enumerate(reader.getExtents());
  auto isLength = [&](const auto &each) {
    return isa<StringAttr>(each.value());
  };
  return reader.getNumIndices() < 64 &&
         llvm::any_of(
             lengths,
             [&](const auto &each) {
               return isLength(each) && (used >> each.index() & 1);
             }) &&
         llvm::any_of(
             lengths,
             [&](const auto &each) {
               return isLength(each) && !(used >> each.index() & 1);
             });
}

namespace {
struct RoundRows : fovea::attn::impl::RoundRowsBase<RoundRows> {
  void round(Value array) {
    SmallVector<ReadOp> reads;
    for (Operation *user : array.getUsers())
      if (ReadOp read = plainRead(user, array); read && meetsOtherPlaces(read))
        reads.push_back(read);
    if (reads.empty())
      return;
    auto label = array.getDefiningOp()->getAttrOfType<StringAttr>("label");
    ComputeOp rows =
        mapElements(array, label ? label.getValue() : "",
                    [](OpBuilder &builder, Value number) -> Value {
                      return RoundedOp::create(builder, number.getLoc(), number,
                                               builder.getBF16Type());
                    });
    for (ReadOp read : reads)
      read.getArrayMutable().set(rows.getResult());
  }

  void runOnOperation() override {
    for (auto system : getOperation().getOps<SystemOp>()) {
      SmallVector<Value> arrays;
      for (Operation &op : system.getBody().front())
        for (Value array : op.getResults())
          if (isa<ArrayType>(array.getType()) && hasRows(array))
            arrays.push_back(array);
      llvm::for_each(arrays, [&](Value array) { round(array); });
    }
  }
};
} // namespace

//===- EmitDropout.cpp - elements dropped by random numbers ---------------===//
//
// An element is dropped by the first word of Philox4x32-10 with the key (seed,
// ordinal) and the counter (place of the element, example, update), as
// dialect/reference/Philox.h says. Neighbours of a row are drawn in vectors.
//
//===----------------------------------------------------------------------===//

#include "codegen/kernel/PhiloxBuilder.h"
#include "codegen/program/LaunchEmitter.h"

#include <cmath>

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using arith::CmpIPredicate;
using runtime::Program;

namespace {

/// One dropout at one place: the loops over the axes of the row.
class DropoutEmitter {
public:
  DropoutEmitter(KernelBuilder &kernel, const StorageMap &storage,
                 const Place &place, DropoutOp op, unsigned lanes)
      : kernel(kernel), storage(storage), place(place), op(op), lanes(lanes),
        values(kernel, storage, place, 0) {}

  void emit();

private:
  void emitAxis(unsigned axis, Value offset);
  Value elementAt(Value inner);

  KernelBuilder &kernel;
  const StorageMap &storage;
  const Place &place;
  DropoutOp op;
  unsigned lanes;
  BodyEmitter values;
  Value from, to, seed;
  SmallVector<Value> extents; // of the row
  SmallVector<Value> indices; // of the row, but for the last axis
};

} // namespace

void DropoutEmitter::emit() {
  const Storage &target = storage.of(op.getResult());
  from = values.base(storage.of(op.getOperand()));
  to = values.base(target);
  seed = kernel.slot(place.frame, Program::seedSlot);
  for (Attribute extent : target.type.getShape())
    extents.push_back(values.extent(extent));
  // A scalar is a row of one.
  if (extents.empty())
    extents.push_back(kernel.number(1));
  emitAxis(0, kernel.number(0));
}

/// The number of the element of the whole array, in every lane: the axes of
/// the loops around stand among those of the row.
Value DropoutEmitter::elementAt(Value inner) {
  SmallVector<std::pair<Value, Value>> axes; // extent, index
  bool isScalar = storage.of(op.getResult()).type.getRank() == 0;
  for (auto [axis, extent] : llvm::enumerate(extents))
    if (!isScalar)
      axes.push_back({extent, axis < indices.size() ? indices[axis] : inner});
  ArrayRef<int64_t> loops = op.getAxes().value_or(ArrayRef<int64_t>());
  for (auto [axis, at] : llvm::zip_equal(loops, op.getAt())) {
    Attribute extent =
        cast<BlockArgument>(at).getOwner()->getParentOp()->getAttr("extent");
    axes.insert(axes.begin() + axis,
                {values.extent(extent), place.steps.lookup(at)});
  }
  Value element = kernel.number(0);
  for (auto [extent, index] : axes) {
    unsigned both = std::max(lanesOf(element), lanesOf(index));
    element = kernel.mul(element, lanesOf(element) ? kernel.splat(extent, lanes)
                                                   : extent);
    element =
        kernel.add(kernel.splat(element, both), kernel.splat(index, both));
  }
  return kernel.splat(element, lanes);
}

void DropoutEmitter::emitAxis(unsigned axis, Value offset) {
  if (axis + 1 < extents.size()) {
    kernel.loop(
        kernel.number(0), extents[axis], kernel.number(1), [&](Value index) {
          indices.push_back(index);
          emitAxis(axis + 1,
                   kernel.mul(kernel.add(offset, index), extents[axis + 1]));
          indices.pop_back();
        });
    return;
  }
  Type scalar =
      storage.elementOf(storage.of(op.getResult()).type.getElementType());
  Type type = withLanes(scalar, lanes);
  double rate = op.getRate().convertToDouble();
  // word / 2^32 < rate
  auto limit = static_cast<int64_t>(std::ceil(rate * 0x1p32));
  auto drop = [&](Value first) {
    Value index = first, mask;
    if (lanes) {
      index = kernel.add(kernel.splat(first, lanes), kernel.lane(lanes));
      mask = kernel.maskBelow(kernel.sub(extents[axis], first), lanes);
    }
    PhiloxBuilder philox(kernel, lanes);
    Value element = elementAt(index);
    Value example = philox.low(
        kernel.entry(place.frame, Program::examplesSlot, place.example));
    Value word =
        philox.word(0,
                    {philox.low(element), philox.high(element), example,
                     kernel.slot(place.frame, Program::updateSlot)},
                    seed, static_cast<uint32_t>(op.getOrdinal()));
    Value isDropped = kernel.compare(CmpIPredicate::slt, word,
                                     kernel.splat(kernel.number(limit), lanes));
    Value at = kernel.add(offset, first);
    Value value = kernel.load(type, kernel.at(scalar, from, at), mask);
    Value factor =
        kernel.select(isDropped, kernel.constant(type, 0),
                      kernel.constant(type, rate < 1 ? 1 / (1 - rate) : 0));
    kernel.store(kernel.create<arith::MulFOp>(value, factor),
                 kernel.at(scalar, to, at), mask);
  };
  if (lanes)
    kernel.loop(kernel.number(0), extents[axis], kernel.number(lanes), drop);
  else
    kernel.share(kernel.number(0), extents[axis], drop);
}

void LaunchEmitter::emitDropout(DropoutOp op) {
  launchRows(op, "dropout", [&](KernelBuilder &kernel, const Place &place) {
    Value isRandom = kernel.compare(CmpIPredicate::sge,
                                    kernel.slot(place.frame, Program::seedSlot),
                                    kernel.number(0));
    kernel.branch(isRandom, [&] {
      DropoutEmitter(kernel, storage, place, op, kernel.team() ? 0 : lanes)
          .emit();
    });
    // Without a seed nothing is dropped.
    kernel.branch(kernel.compare(CmpIPredicate::slt,
                                 kernel.slot(place.frame, Program::seedSlot),
                                 kernel.number(0)),
                  [&] {
                    copyAll(kernel, place, storage.of(op.getResult()), place,
                            storage.of(op.getOperand()));
                  });
  });
}

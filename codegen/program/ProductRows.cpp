//===- ProductRows.cpp - the rows of a matrix product ---------------------===//
//
// The machine-independent parts of products: the addresses of scattered rows,
// zero rows, and the products of an example.
//
//===----------------------------------------------------------------------===//

#include "codegen/program/LaunchEmitter.h"
#include "passes/analysis/Batch.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using runtime::Program;

LaunchEmitter::ProductSize LaunchEmitter::sizeOf(ComputeOp op) {
  return {.rows = scalar(0),
          .rowsSlot = slotOf(0),
          .termsSlot = slotOf(1),
          .rowList = storage.rowListOf(op)};
}

int64_t LaunchEmitter::placesOf(ComputeOp op, const ExampleProduct &product) {
  assert(batchOf(op) != BatchKind::sum && "attn-order-sums splits it");
  int64_t places = 1;
  for (unsigned index : product.outer)
    if (auto number = dyn_cast<IntegerAttr>(op.getExtents()[index]))
      places *= number.getInt();
  return places;
}

void LaunchEmitter::forProducts(
    KernelBuilder &kernel, ComputeOp op, const ExampleProduct &product,
    const Place &place, Value number,
    llvm::function_ref<void(ArrayRef<Index>)> body) {
  SmallVector<Index> indices(op.getNumIndices(), Index{kernel.number(0)});
  SmallVector<unsigned> lengths;
  for (unsigned index : llvm::reverse(product.outer)) {
    auto constant = dyn_cast<IntegerAttr>(op.getExtents()[index]);
    if (!constant) {
      lengths.push_back(index);
      continue;
    }
    Value extent = kernel.number(constant.getInt());
    indices[index] = {kernel.rem(number, extent)};
    number = kernel.div(number, extent);
  }
  std::function<void()> overLengths = [&] {
    if (lengths.empty())
      return body(indices);
    unsigned index = lengths.pop_back_val();
    BodyEmitter values(kernel, storage, place, 0);
    Value extent = values.extent(op.getExtents()[index]);
    kernel.loop(kernel.number(0), extent, kernel.number(1), [&](Value at) {
      indices[index] = {at};
      overLengths();
    });
  };
  overLengths();
}

/// A placeholder row for examples without a row on the left side, whose result
/// nobody reads, or the op's condition sets to zero: the weights, packed or
/// not, because the memory must exist and be written.
Value LaunchEmitter::readableRow(KernelBuilder &kernel, Value frame,
                                 ComputeOp op) {
  RowsProduct product = *rowsProductOf(op);
  const Storage *packed = storage.packedOf(op);
  const Storage &left = storage.of(product.left.getArray());
  auto addressOf = [&](const Storage &array) {
    return kernel.create<LLVM::PtrToIntOp>(
        kernel.i64(), kernel.pointerSlot(frame, array.slot));
  };
  Value distance = kernel.sub(
      addressOf(packed ? *packed : storage.of(product.right.getArray())),
      addressOf(left));
  Value bytes = kernel.number(real.getIntOrFloatBitWidth() / 8);
  return kernel.sub(kernel.create<arith::DivSIOp>(distance, bytes),
                    kernel.number(product.leftFirst));
}

/// The position of a row of a product's left side in the current example, in
/// elements of its array.
Value LaunchEmitter::rowOfLeft(KernelBuilder &kernel, const Place &place,
                               ComputeOp op, Value row) {
  RowsProduct product = *rowsProductOf(op);
  const Storage &left = storage.of(product.left.getArray());
  BodyEmitter values(kernel, storage, place, 0);
  Value start = values.start(left);
  Value ahead = kernel.number(0), inside;
  for (auto [axis, index] : llvm::enumerate(product.places)) {
    Value at = kernel.number(index.offset);
    if (index.kind == AccessIndex::Outer)
      at = kernel.add(place.steps.lookup(index.value), at);
    Value extent = values.extent(left.type.getExtent(axis));
    inside = kernel.both(inside, kernel.atMost(kernel.number(0), at));
    inside = kernel.both(inside, kernel.less(at, extent));
    ahead = kernel.add(kernel.mul(ahead, extent), at);
  }
  Value size = kernel.number(product.leftWidth);
  ArrayRef<Attribute> result = op.getResult().getType().getShape().getValue();
  for (Attribute extent : result.drop_back())
    size = kernel.mul(size, values.extent(extent));
  start = kernel.add(start, kernel.mul(ahead, size));
  Value at =
      kernel.add(start, kernel.mul(row, kernel.number(product.leftWidth)));
  if (!inside || !product.hasRowCondition)
    return at;
  return kernel.select(inside, at, readableRow(kernel, place.frame, op));
}

/// The addresses of the left side's rows, for every listed example. One whose
/// loop has ended, or that is not in the step, has none.
void LaunchEmitter::emitRowList(ComputeOp op, const Storage &list) {
  auto fill = [&](KernelBuilder &kernel, const Place &place,
                  llvm::function_ref<Value(Value)> entry) {
    BodyEmitter values(kernel, storage, place, 0);
    Value out = values.base(list);
    Value count = kernel.number(1);
    for (Attribute extent : list.type.getShape())
      count = kernel.mul(count, values.extent(extent));
    kernel.share(kernel.number(0), count, [&](Value row) {
      kernel.store(entry(row), kernel.at(kernel.i64(), out, row));
    });
  };
  auto loops = storage.around(op);
  bool listsAll = !loops.empty() && isProductOverPlaces(op);
  Work work = {.units = count(), .needsNothing = true};
  emitLaunch(
      op, "rows", work,
      [&](KernelBuilder &kernel, Value frame, Value first, Value last) {
        kernel.loop(first, last, kernel.number(1), [&](Value row) {
          auto fillNone = [&](const Place &place) {
            Value none = readableRow(kernel, place.frame, op);
            fill(kernel, place, [&](Value) { return none; });
          };
          auto fillOwn = [&](const Place &place) {
            fill(kernel, place,
                 [&](Value row) { return rowOfLeft(kernel, place, op, row); });
          };
          auto fillRows = [&](const Place &place) {
            if (!listsAll)
              return fillOwn(place);
            Value inStep =
                kernel.less(row, kernel.slot(frame, loops.back()->rowsSlot));
            kernel.branch(
                inStep, [&] { fillOwn(place); }, [&] { fillNone(place); });
          };
          forRow(kernel, op, frame, row, fillRows, fillNone);
        });
      });
}

/// The columns of the result outside the product.
void LaunchEmitter::emitZeros(ComputeOp op, RowsProduct product) {
  const Storage &result = storage.of(op.getResult());
  launch(op, "zeros", count(),
         [&](KernelBuilder &kernel, Value frame, Value first, Value last) {
           Value base = kernel.pointerSlot(frame, result.slot);
           auto clear = [&](Value row, int64_t begin, int64_t end) {
             if (begin == end)
               return;
             Value at = kernel.at(
                 real, base,
                 kernel.add(kernel.mul(row, kernel.number(product.width)),
                            kernel.number(begin)));
             kernel.clear(real, at, kernel.number(end - begin));
           };
           kernel.loop(first, last, kernel.number(1), [&](Value row) {
             clear(row, 0, product.first);
             clear(row, product.last, product.width);
           });
         });
}

/// Returns whether the condition of a product makes the current rows zero.
Value LaunchEmitter::isExcluded(KernelBuilder &kernel, const Place &place,
                                ComputeOp op) {
  BodyEmitter values(kernel, storage, place, 0);
  Value zero = kernel.number(0);
  SmallVector<Index> indices(op.getNumIndices(), Index{zero});
  Value holds = values.emit(op.getCondition(), indices, nullptr, nullptr);
  return kernel.create<arith::XOrIOp>(holds, kernel.truth(true));
}

/// Zeros in the rows that the condition excludes.
void LaunchEmitter::emitRowCondition(ComputeOp op) {
  launchRows(op, "where", [&](KernelBuilder &kernel, const Place &place) {
    kernel.branch(isExcluded(kernel, place, op), [&] {
      BodyEmitter values(kernel, storage, place, 0);
      const Storage &result = storage.of(op.getResult());
      Value count = kernel.number(1);
      for (Attribute extent : result.type.getShape())
        count = kernel.mul(count, values.extent(extent));
      kernel.clear(real, values.base(result), count);
    });
  });
}

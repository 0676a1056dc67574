//===- RunLists.cpp - where the runs of a convolution lie -----------------===//
//
// A list has the address of every run of every row of a gathered factor, or
// marks it as 0: padding, places between strides, excluded places. The list is
// computed from the body itself, so any addressing works.
//
//===----------------------------------------------------------------------===//

#include "codegen/program/LaunchEmitter.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;

/// Runs of a row that are computed without a loop, so that they share common
/// subexpressions.
static constexpr int64_t runsAtOnce = 32;
/// Parts in which the rows of an example are listed.
static constexpr int64_t partsOfRows = 4;

namespace {
/// Fills the list of one example.
struct RunList {
  KernelBuilder &b;
  const StorageMap &storage;
  const Place &place;
  ComputeOp op;
  RowsProduct &product;
  Value out = nullptr, start = nullptr; // of the list, and of the array
  SmallVector<Index> indices = {};

  Value entry();
  void fillRow(Value row, unsigned next, Value ahead);
  void fill(ArrayRef<unsigned> rows, Value first, Value last);
};
} // namespace

/// The position of the run at `indices`.
Value RunList::entry() {
  BodyEmitter values(b, storage, place, 0);
  // Values that exist only under the condition are read only there.
  bool readsPlaces =
      llvm::any_of(product.gathered.getIndices(), [](Value index) {
        SmallVector<Value> list = {index};
        while (!list.empty()) {
          Operation *def = list.pop_back_val().getDefiningOp();
          if (isa_and_nonnull<ReadOp, scf::IfOp>(def))
            return true;
          if (def)
            llvm::append_range(list, def->getOperands());
        }
        return false;
      });
  Value holds;
  if (op.hasCondition())
    holds = values.emit(op.getCondition(), indices, nullptr, nullptr);
  auto find = [&] {
    Value inside;
    Value at = values.locate(op.getBody(), product.gathered, indices, inside);
    at = b.add(start, at);
    if (!readsPlaces)
      inside = b.both(holds, inside);
    return inside ? b.select(inside, at, b.number(nowhere)) : at;
  };
  if (!readsPlaces || !holds)
    return find();
  return b.choose(holds, find, [&] { return b.number(nowhere); });
}

/// The runs at all places of the indices from number `next` of `runPlaces` on;
/// the first one is `ahead` of the row.
void RunList::fillRow(Value row, unsigned next, Value ahead) {
  ArrayRef<unsigned> rest = ArrayRef(product.runPlaces).drop_front(next);
  auto extentOf = [&](unsigned index) {
    return cast<IntegerAttr>(op.getExtents()[index]).getInt();
  };
  int64_t count = 1;
  for (unsigned index : rest)
    count *= extentOf(index);
  if (count > runsAtOnce && !rest.empty()) {
    int64_t each = count / extentOf(rest.front());
    b.loop(b.number(0), b.number(extentOf(rest.front())), b.number(1),
           [&](Value at) {
             indices[rest.front()] = {at};
             fillRow(row, next + 1, b.add(ahead, b.mul(at, b.number(each))));
           });
    return;
  }
  SmallVector<Value> entries;
  for (int64_t number = 0; number < count; ++number) {
    int64_t left = number;
    for (unsigned index : llvm::reverse(rest)) {
      indices[index] = {b.number(left % extentOf(index))};
      left /= extentOf(index);
    }
    entries.push_back(entry());
  }
  Value to =
      b.at(b.i64(), out, b.add(b.mul(row, b.number(product.runs)), ahead));
  for (auto [number, entry] : llvm::enumerate(entries))
    b.store(entry, b.at(b.i64(), to, number));
}

/// The rows at first..last-1 of the first index.
void RunList::fill(ArrayRef<unsigned> rows, Value first, Value last) {
  BodyEmitter values(b, storage, place, 0);
  std::function<void(unsigned, Value)> over = [&](unsigned number, Value row) {
    if (number == rows.size())
      return fillRow(row, 0, b.number(0));
    Value extent = values.extent(op.getExtents()[rows[number]]);
    b.share(number == 0 ? first : b.number(0), number == 0 ? last : extent,
            [&](Value at) {
              indices[rows[number]] = {at};
              over(number + 1, b.add(b.mul(row, extent), at));
            });
  };
  over(0, b.number(0));
}

void LaunchEmitter::emitRunList(ComputeOp op, RowsProduct product) {
  ProductAttr named = productOf(op);
  ArrayRef<unsigned> rows =
      product.isByRows() ? named.getRows() : named.getTerms();
  int64_t parts = rows.empty() ? 1 : partsOfRows;
  std::string name = op.getLabel().value_or("").str() + ".runs";
  launch(op, name, main.mul(count(), main.number(parts)),
         [&](KernelBuilder &kernel, Value frame, Value first, Value last) {
           kernel.loop(first, last, kernel.number(1), [&](Value unit) {
             Value count = kernel.number(parts);
             Value part = kernel.rem(unit, count);
             forRow(
                 kernel, op, frame, kernel.div(unit, count),
                 [&](const Place &place) {
                   RunList list{kernel, storage, place, op, product};
                   BodyEmitter values(kernel, storage, place, 0);
                   list.out = values.base(*storage.rowListOf(op));
                   list.start =
                       values.start(storage.of(product.gathered.getArray()));
                   list.indices.assign(op.getNumIndices(),
                                       Index{kernel.number(0)});
                   Value begin, end;
                   if (!rows.empty()) {
                     Value extent =
                         values.extent(op.getExtents()[rows.front()]);
                     begin = kernel.div(kernel.mul(part, extent), count);
                     end = kernel.div(
                         kernel.mul(kernel.add(part, kernel.number(1)), extent),
                         count);
                   }
                   list.fill(rows, begin, end);
                 });
           });
         });
}

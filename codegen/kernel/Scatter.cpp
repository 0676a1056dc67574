//===- Scatter.cpp - sums whose place a condition finds -------------------===//
//
// `sum[t where token[t] == w](d[t])`: zeros, then every term is added to the
// row that it belongs to. If rows without a term may be undefined, only the
// rows of terms become zero. In the order of the examples: the same for every
// split. A CPU goes through the terms, for some columns; a GPU through the
// rows that have any, where it knows the terms of each (codegen/gpu).
//
//===----------------------------------------------------------------------===//

#include "codegen/kernel/ComputeEmitter.h"
#include "passes/analysis/Batch.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using arith::CmpIPredicate;

/// Iterates over the parallel indices except the one that the condition
/// determines, with vectors along the last.
void ComputeEmitter::overRow(unsigned number, RowStep emitAt) {
  unsigned numParallel = op.getNumParallel();
  if (number == numParallel)
    return emitAt(0, nullptr);
  if (number == scattered->index && indices[number].base)
    return overRow(number + 1, emitAt);
  auto [first, last] = boundsOf(number);
  if (number + 1 == numParallel) {
    forVectors(number, first, last, {},
               [&](unsigned width, Value tail, Values) {
                 emitAt(width, tail);
                 return Values();
               });
    indices[number] = {};
    return;
  }
  builder.loop(first, last, builder.number(1), [&](Value index) {
    indices[number] = {index};
    overRow(number + 1, emitAt);
  });
  indices[number] = {};
}

/// The elements at the known indices, and at all others, become zero.
void ComputeEmitter::clearElements() {
  Type type = storage.elementOf(op.getElementType());
  overRow(0, [&](unsigned width, Value tail) {
    builder.store(
        builder.constant(withLanes(type, width), 0),
        resultAddress(ArrayRef(indices).take_front(op.getNumParallel())), tail);
  });
}

void ComputeEmitter::clearRow(Value row) {
  indices[scattered->index] = {row};
  clearElements();
  indices[scattered->index] = {};
}

/// Adds the term at the present indices to its row.
void ComputeEmitter::addToRow(Value row) {
  Type type = storage.elementOf(op.getElementType());
  indices[scattered->index] = {row};
  overRow(0, [&](unsigned width, Value tail) {
    Value address =
        resultAddress(ArrayRef(indices).take_front(op.getNumParallel()));
    Value sum = builder.load(withLanes(type, width), address, tail);
    sum = reduce(Reducer::sum, width, tail, {sum}, nullptr)[0];
    builder.store(sum, address, tail);
  });
  indices[scattered->index] = {};
}

/// The row of the term at the current indices, and whether there is one.
std::pair<Value, Value> ComputeEmitter::rowOfTerm() {
  BodyEmitter values(builder, storage, place, 0);
  Value row = values.emitValue(op.getCondition(), scattered->value, indices);
  auto [first, last] = boundsOf(scattered->index);
  Value inside = builder.compare(CmpIPredicate::ult, builder.sub(row, first),
                                 builder.sub(last, first));
  return {row, inside};
}

/// All terms, in order.
void ComputeEmitter::overTerms(Step element) {
  llvm::SaveAndRestore alone(along, -1);
  if (batchOf(op) == BatchKind::sum)
    overExamples({}, element);
  else
    overReductions(op.getNumParallel(), {}, element);
}

void ComputeEmitter::emitScatter() {
  // If threads share the places, each has its own.
  const Team *team = builder.team();
  bool areShared = team && scattered->index + 1 == op.getNumParallel();
  auto overRows = [&](llvm::function_ref<void(Value)> visit) {
    overTerms([&](unsigned, Value, Values) {
      auto [row, inside] = rowOfTerm();
      if (areShared) {
        Value first = boundsOf(scattered->index).first;
        inside = builder.both(
            inside, builder.equal(builder.rem(builder.sub(row, first),
                                              builder.number(team->size)),
                                  team->thread));
      }
      Value at = row;
      builder.branch(inside, [&] {
        std::optional<KernelBuilder::OneThread> byItself;
        if (areShared)
          byItself.emplace(builder);
        visit(at);
      });
      return Values();
    });
  };
  if (op.getPartial())
    overRows([&](Value row) { clearRow(row); });
  else
    clearElements();
  overRows([&](Value row) { addToRow(row); });
}

//===----------------------------------------------------------------------===//
// Row by row
//===----------------------------------------------------------------------===//

Value ComputeEmitter::emitRowOfTerm(const Place &at, Value term) {
  unsigned number = op.getNumParallel();
  place = at;
  indices[number] = {term};
  auto [first, last] = boundsOf(number);
  Value counts =
      builder.both(builder.atMost(first, term), builder.less(term, last));
  Value row = builder.choose(
      counts,
      [&] {
        auto [row, inside] = rowOfTerm();
        return builder.select(inside, row, builder.number(-1));
      },
      [&] { return builder.number(-1); });
  indices[number] = {};
  return row;
}

void ComputeEmitter::emitTerm(const Place &at, Value row, Value term) {
  llvm::SaveAndRestore alone(along, -1);
  place = at;
  indices[op.getNumParallel()] = {term};
  addToRow(row);
  indices[op.getNumParallel()] = {};
}

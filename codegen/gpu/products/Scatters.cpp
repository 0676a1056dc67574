//===- Scatters.cpp - sums whose place a condition finds, on a GPU --------===//
//
// The gradient of an embedding: each term is added to the row of its symbol. A
// list (passes/memory/Scatters.h) is built in two steps. First every term
// stores its row. Then every term searches backward for the previous one of its
// row, and links to it. Finally a group of threads per row follows the links:
// in ascending order, as on a CPU.
//
//===----------------------------------------------------------------------===//

#include "passes/memory/Scatters.h"
#include "codegen/gpu/program/GpuEmitter.h"
#include "codegen/gpu/program/Threads.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using runtime::Program;

namespace {
/// The entries of the list in a kernel.
struct TermList {
  KernelBuilder &b;
  Value base;

  Value at(Value entry, TermField field) {
    Value place = b.add(b.mul(entry, b.number(numTermFields)), b.number(field));
    return b.at(b.i64(), base, place);
  }
  Value get(Value entry, TermField field) {
    return b.load(b.i64(), at(entry, field));
  }
};
} // namespace

bool GpuEmitter::emitScatter(ComputeOp op) {
  const Storage *list = storage.rowListOf(op);
  if (!list)
    return false;
  switch (run.getWork()) {
  case launch::Work::clear:
    clearRows(op);
    break;
  case launch::Work::scatter:
    listTerms(op, *list);
    break;
  case launch::Work::link:
    linkTerms(op, *list);
    break;
  default:
    addTerms(op, *list);
  }
  return true;
}

/// Zeros in rows without terms.
void GpuEmitter::clearRows(ComputeOp op) {
  constexpr int64_t chunk = 64 * groupThreads;
  const Storage &result = storage.of(op.getResult());
  int64_t numbers = numbersIn(result.type);
  launch(op, joinedLabels({op}) + ".zeros",
         main.number(llvm::divideCeil(numbers, chunk)),
         [&](KernelBuilder &b, Value frame, Value first, Value) {
           Value begin = b.mul(first, b.number(chunk));
           Value base = b.pointerSlot(frame, result.slot);
           Type element = storage.elementOf(op.getElementType());
           b.clear(element, b.at(element, base, begin),
                   b.min(b.number(chunk), b.sub(b.number(numbers), begin)));
         });
}

void GpuEmitter::listTerms(ComputeOp op, const Storage &list) {
  std::string name = joinedLabels({op}) + ".terms";
  launchRows(op, name, [&](KernelBuilder &b, const Place &place) {
    BodyEmitter values(b, storage, place, 0);
    TermList own{b, values.base(list)};
    ComputeEmitter emitter(b, storage, op, lanes);
    Value count = values.extent(op.getExtents()[op.getNumParallel()]);
    b.share(b.number(0), count, [&](Value term) {
      auto set = [&](TermField field, Value value) {
        b.store(value, own.at(term, field));
      };
      set(RowOfTerm, emitter.emitRowOfTerm(place, term));
      set(NextTerm, b.number(-1));
      set(IsFirst, b.number(0));
      set(ExampleOfTerm, place.example);
      set(NumberOfTerm, term);
    });
  });
}

void GpuEmitter::linkTerms(ComputeOp op, const Storage &list) {
  Value groups = main.divUp(count(), main.number(groupThreads));
  int termsSlot = slotOf(0);
  launch(op, joinedLabels({op}) + ".links", groups,
         [&](KernelBuilder &b, Value frame, Value first, Value last) {
           TermList all{b, b.pointerSlot(frame, list.slot)};
           Value size = b.number(groupThreads);
           Value end = b.min(b.mul(last, size), b.slot(frame, termsSlot));
           b.share(b.mul(first, size), end, [&](Value entry) {
             Value row = all.get(entry, RowOfTerm), none = b.number(-1);
             b.branch(b.less(none, row), [&] {
               Value before = b.repeatWhile(
                   b.add(entry, none),
                   [&](Value other) {
                     return b.choose(
                         b.less(none, other),
                         [&] {
                           return b.compare(arith::CmpIPredicate::ne,
                                            all.get(other, RowOfTerm), row);
                         },
                         [&] { return b.truth(false); });
                   },
                   [&](Value other) { return b.add(other, none); });
               b.branch(
                   b.less(none, before),
                   [&] { b.store(entry, all.at(before, NextTerm)); },
                   [&] { b.store(b.number(1), all.at(entry, IsFirst)); });
             });
           });
         });
}

void GpuEmitter::addTerms(ComputeOp op, const Storage &list) {
  launch(op, joinedLabels({op}), count(),
         [&](KernelBuilder &b, Value frame, Value first, Value) {
           TermList all{b, b.pointerSlot(frame, list.slot)};
           Value isFirst = b.equal(all.get(first, IsFirst), b.number(1));
           b.branch(isFirst, [&] {
             Value row = all.get(first, RowOfTerm), none = b.number(-1);
             ComputeEmitter emitter(b, storage, op, lanes);
             b.repeatWhile(
                 first, [&](Value entry) { return b.less(none, entry); },
                 [&](Value entry) {
                   Place place = placeOf(b, op, frame);
                   place.example = place.rank = all.get(entry, ExampleOfTerm);
                   emitter.emitTerm(place, row, all.get(entry, NumberOfTerm));
                   return all.get(entry, NextTerm);
                 });
           });
         });
}

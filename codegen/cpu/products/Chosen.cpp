//===- Chosen.cpp - products of the rows that a condition chooses ---------===//
//
// Most rows of an expert's layer are nobody's: a list marks them
// (codegen/program/RunLists.cpp). The others are computed as if they were
// consecutive. The order of the additions is the same as for all rows.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/products/MicroKernel.h"
#include "codegen/cpu/program/ProgramEmitter.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;

using Values = KernelBuilder::Values;

/// The entries of a list that are searched at a time.
static constexpr int64_t entriesAtOnce = 2048;
/// The terms and panels of B that are packed at a time.
static constexpr int64_t chosenPanels = 4, chosenDepth = 512;
/// Rows of C that are computed at a time.
static constexpr int64_t chosenRows = 512;

namespace {
/// The entries of a part of a list that are somewhere.
struct Chosen {
  /// Room for the entries and their numbers.
  Value entries, numbers;
  Value count;

  explicit Chosen(KernelBuilder &b)
      : entries(b.scratch(b.i64(), entriesAtOnce)),
        numbers(b.scratch(b.i64(), entriesAtOnce)) {}

  void find(KernelBuilder &b, Value list, Value size);
};
} // namespace

void Chosen::find(KernelBuilder &b, Value list, Value size) {
  Type number = b.i64();
  Value zero = b.number(0), one = b.number(1);
  count = b.loop(zero, size, one, {zero},
                 [&](Value each, ValueRange soFar) -> Values {
                   Value entry = b.load(number, b.at(number, list, each));
                   b.store(entry, b.at(number, entries, soFar[0]));
                   b.store(each, b.at(number, numbers, soFar[0]));
                   Value isNowhere = b.equal(entry, b.number(nowhere));
                   return {b.select(isNowhere, soFar[0], b.add(soFar[0], one))};
                 })[0];
}

//===----------------------------------------------------------------------===//
// Rows of the result
//===----------------------------------------------------------------------===//

/// Consecutive rows of the result become rows of a part that starts at `to`;
/// the others become zero, unless they are left. Columns first..last-1.
static void spread(KernelBuilder &b, Type real, const Chosen &chosen,
                   Value list, Value size, Value to, Value width, Value first,
                   Value last, bool leavesOthers) {
  Type number = b.i64();
  Value zero = b.number(0), one = b.number(1), columns = b.sub(last, first);
  auto rowAt = [&](Value row) {
    return b.at(real, to, b.add(b.mul(row, width), first));
  };
  // The last one first: no row moves up.
  b.loop(zero, chosen.count, one, [&](Value turn) {
    Value from = b.sub(b.sub(chosen.count, one), turn);
    Value row = b.load(number, b.at(number, chosen.numbers, from));
    b.branch(b.less(from, row),
             [&] { b.copy(real, rowAt(row), rowAt(from), columns); });
  });
  if (leavesOthers)
    return;
  b.loop(zero, size, one, [&](Value row) {
    Value entry = b.load(number, b.at(number, list, row));
    b.branch(b.equal(entry, b.number(nowhere)),
             [&] { b.clear(real, rowAt(row), columns); });
  });
}

void ProgramEmitter::emitChosenRows(ComputeOp op, RowsProduct product) {
  const Storage &result = storage.of(op.getResult());
  ProductSize size = sizeOf(op);
  std::string name = op.getLabel().value_or("").str() + ".gemm";
  launch(op, name, main.number(tile.panels(product.columns())),
         [&](KernelBuilder &kernel, Value frame, Value first, Value last) {
           Value rows = kernel.slot(frame, size.rowsSlot);
           Value width = kernel.number(product.width);
           Value list = kernel.pointerSlot(frame, size.rowList->slot);
           Value ofPanel = kernel.number(tile.columns());
           Value end = kernel.min(kernel.mul(last, ofPanel),
                                  kernel.number(product.columns()));
           Chosen chosen(kernel);
           kernel.loop(
               kernel.number(0), rows, kernel.number(entriesAtOnce),
               [&](Value row) {
                 Value own = kernel.at(kernel.i64(), list, row);
                 Value count = kernel.min(kernel.number(entriesAtOnce),
                                          kernel.sub(rows, row));
                 Value to =
                     kernel.at(real, kernel.pointerSlot(frame, result.slot),
                               kernel.mul(row, width));
                 chosen.find(kernel, own, count);
                 Piece piece = {.firstRow = kernel.number(0),
                                .lastRow = chosen.count,
                                .first = first,
                                .last = last};
                 kernel.branch(kernel.less(piece.firstRow, piece.lastRow), [&] {
                   multiply(kernel, frame, op, piece,
                            kernel.slot(frame, size.termsSlot), chosen.entries,
                            to, width);
                 });
                 spread(kernel, real, chosen, own, count, to, width,
                        kernel.mul(first, ofPanel), end, op.getPartial());
               });
         });
}

//===----------------------------------------------------------------------===//
// ChosenTerms of a sum over the examples
//===----------------------------------------------------------------------===//

std::string fovea::codegen::gemmChosenName(Type element) {
  return nameFor("fovea_gemm_chosen", element);
}

namespace {
/// The arguments of the function.
struct ChosenTerms {
  KernelBuilder &b;
  Type element;
  GemmTile tile;
  Value a, list, right, rs, c, ldc, n, k, first, last;
  /// Room for rows of B, for these as panels, and for columns of A.
  Value rows = {}, packed = {}, columns = {};

  Value address(Value base, Value row, Value stride) {
    return b.at(element, base, b.mul(row, stride));
  }
  void multiply();
  void addPart(const Chosen &chosen, Value begin, Value terms, Value column);
};
} // namespace

/// Adds some of the chosen terms to some columns of C.
void ChosenTerms::addPart(const Chosen &chosen, Value begin, Value terms,
                          Value column) {
  Type number = b.i64();
  Value zero = b.number(0), one = b.number(1), width = b.number(tile.columns());
  Value together = b.mul(b.number(chosenPanels), width);
  Value count = b.min(together, b.sub(n, column));
  Value panels = b.divUp(count, width);
  auto entryOf = [&](Value entries, Value each) {
    return b.load(number, b.at(number, entries, b.add(begin, each)));
  };
  b.loop(zero, terms, one, [&](Value each) {
    Value from = address(right, entryOf(chosen.numbers, each), rs);
    b.copy(element, address(rows, each, together), b.at(element, from, column),
           count);
  });
  b.call(packName(element),
         {rows, together, one, terms, count, packed, zero, panels});
  b.loop(first, last, b.number(chosenRows), [&](Value row) {
    b.loop(zero, terms, one, [&](Value each) {
      Value at = b.add(entryOf(chosen.entries, each), row);
      b.store(b.at(element, a, at), b.at(number, columns, each));
    });
    b.call(gemmBlockName(LeftSide::columns, element),
           {columns, zero, packed, b.mul(terms, width),
            b.at(element, address(c, row, ldc), column), ldc,
            b.min(b.number(chosenRows), b.sub(last, row)), terms, count, zero,
            panels, b.truth(true)});
  });
}

void ChosenTerms::multiply() {
  Type number = b.i64();
  Value zero = b.number(0), one = b.number(1);
  Value together = b.number(chosenPanels * tile.columns());
  rows = b.scratch(element, chosenDepth * chosenPanels * tile.columns());
  packed = b.scratch(element, chosenDepth * chosenPanels * tile.columns());
  columns = b.scratch(number, chosenDepth);
  Chosen chosen(b);
  b.loop(first, last, one,
         [&](Value row) { b.clear(element, address(c, row, ldc), n); });
  b.loop(zero, k, b.number(entriesAtOnce), [&](Value term) {
    chosen.find(b, b.at(number, list, term),
                b.min(b.number(entriesAtOnce), b.sub(k, term)));
    b.loop(zero, n, together, [&](Value column) {
      b.loop(zero, chosen.count, b.number(chosenDepth), [&](Value begin) {
        ChosenTerms part = *this;
        part.right = address(right, term, rs);
        part.addPart(chosen, begin,
                     b.min(b.number(chosenDepth), b.sub(chosen.count, begin)),
                     column);
      });
    });
  });
}

void fovea::codegen::emitChosenGemm(ModuleOp module, Type element,
                                    const Target &target) {
  KernelBuilder builder(module);
  GemmTile tile = gemmTile(element, target);
  Type number = builder.i64(), pointer = builder.pointer();
  Type arguments[] = {pointer, pointer, pointer, number, pointer,
                      number,  number,  number,  number, number};
  builder.function(gemmChosenName(element), arguments, /*isPrivate=*/false,
                   [&](ValueRange args) {
                     ChosenTerms terms{.b = builder,
                                       .element = element,
                                       .tile = tile,
                                       .a = args[0],
                                       .list = args[1],
                                       .right = args[2],
                                       .rs = args[3],
                                       .c = args[4],
                                       .ldc = args[5],
                                       .n = args[6],
                                       .k = args[7],
                                       .first = args[8],
                                       .last = args[9]};
                     terms.multiply();
                   });
}

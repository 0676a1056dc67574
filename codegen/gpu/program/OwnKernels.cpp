//===- OwnKernels.cpp - kernels that the runtime itself launches ----------===//
//
// Each operation is rounded as in runtime/train/Optimiser.cpp, in the same
// order: the weights have the same bits on either machine.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/program/OwnKernels.h"
#include "codegen/gpu/program/GpuEmitter.h"
#include "codegen/gpu/program/Threads.h"
#include "runtime/device/OwnKernels.h"

#include <limits>

using namespace mlir;
using namespace fovea;
using namespace fovea::codegen;
using namespace fovea::runtime;

static_assert(ownThreads == blockThreads &&
              ownUnitsOfGroups == blockThreads / groupThreads);

namespace {

/// Builds kernels over arrays of one type.
class OwnKernels {
public:
  OwnKernels(ModuleOp module, Type real)
      : module(module), b(module), real(real) {}

  void addLearner();
  void addSearch();

private:
  using Body = llvm::function_ref<void(Value unit)>;

  func::FuncOp function(const std::string &symbol, int64_t unitsAtOnce,
                        llvm::function_ref<void(Value units)> body);
  func::FuncOp kernel(StringRef name, int64_t unitsAtOnce,
                      llvm::function_ref<void(Value units)> body);
  void forThreads(StringRef name, Body body);
  void forGroups(StringRef name, Body body);
  void rule(StringRef name, llvm::function_ref<void()> body);

  // The list of the current kernel.
  Value base(int place) { return b.pointerSlot(list, place); }
  Value number(int place, Type type);
  Value number(int place) { return number(place, real); }

  Value load(int place, Value at) {
    return b.load(real, b.at(real, base(place), at));
  }
  void store(Value value, int place, Value at) {
    b.store(value, b.at(real, base(place), at));
  }
  Value constant(double value) { return b.constant(real, value); }

  Value plus(Value x, Value y) { return b.create<arith::AddFOp>(x, y); }
  Value minus(Value x, Value y) { return b.create<arith::SubFOp>(x, y); }
  Value times(Value x, Value y) { return b.create<arith::MulFOp>(x, y); }
  Value over(Value x, Value y) { return b.create<arith::DivFOp>(x, y); }
  Value root(Value x) { return b.create<math::SqrtOp>(x); }
  Value isLess(Value x, Value y) {
    return b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, x, y);
  }

  void addBest();
  void addCopy();
  void addRows();
  void addSquares();
  void addLimit();
  void addRules();
  Value sumOfPart(Value from, Value count, Value parts);

  ModuleOp module;
  KernelBuilder b;
  Type real;
  Value list;
  // For a rule: its weight, and its state in registers.
  Value at, slope;
};

} // namespace

/// Numbers are in a list as their bits.
Value OwnKernels::number(int place, Type type) {
  Value bits = b.slot(list, place);
  if (type.isF32())
    bits = b.create<arith::TruncIOp>(b.getI32Type(), bits);
  return b.create<arith::BitcastOp>(type, bits);
}

func::FuncOp OwnKernels::function(const std::string &symbol,
                                  int64_t unitsAtOnce,
                                  llvm::function_ref<void(Value)> body) {
  b.function(symbol, {b.pointer(), b.i64()}, /*isPrivate=*/false,
             [&](ValueRange arguments) {
               list = arguments[0];
               body(arguments[1]);
             });
  auto function = module.lookupSymbol<func::FuncOp>(symbol);
  function->setAttr(threadsName, b.getI64IntegerAttr(ownThreads));
  function->setAttr(unitsAtOnceName, b.getI64IntegerAttr(unitsAtOnce));
  return function;
}

func::FuncOp OwnKernels::kernel(StringRef name, int64_t unitsAtOnce,
                                llvm::function_ref<void(Value)> body) {
  return function(("fovea." + name + (real.isF64() ? ".f64" : ".f32")).str(),
                  unitsAtOnce, body);
}

void OwnKernels::forThreads(StringRef name, Body body) {
  kernel(name, ownUnitsOfThreads, [&](Value units) {
    Value size = b.number(ownThreads);
    Value first = b.add(b.mul(blockNumber(b), size), threadInBlock(b));
    b.loop(first, units, b.mul(numBlocks(b), size), body);
  });
}

void OwnKernels::forGroups(StringRef name, Body body) {
  kernel(name, ownUnitsOfGroups, [&](Value units) {
    Value groups = b.number(ownUnitsOfGroups);
    Value own = b.div(threadInBlock(b), b.number(groupThreads));
    Value first = b.add(b.mul(blockNumber(b), groups), own);
    b.setTeam(groupTeam(b));
    b.loop(first, units, b.mul(numBlocks(b), groups), body);
    b.setTeam(std::nullopt);
  });
}

/// The sum of the squares of `count` values at `from`, at most `valuesOfPart`,
/// in f64: eight interleaved partial sums, the remainder with the first, then
/// the sum of those.
/// `parts` is room for the eight.
Value OwnKernels::sumOfPart(Value from, Value count, Value parts) {
  Type wide = b.getF64Type();
  Value lanes = b.number(lanesOfPart), lane = b.team()->thread;
  Value zero = b.constant(wide, 0);
  {
    KernelBuilder::OneThread guard(b);
    b.branch(b.less(lane, lanes), [&] {
      auto add = [&](Value i, ValueRange sum) -> KernelBuilder::Values {
        Value value = b.load(real, b.at(real, from, i));
        if (!real.isF64())
          value = b.create<arith::ExtFOp>(wide, value);
        return {plus(sum[0], times(value, value))};
      };
      Value whole = b.mul(b.div(count, lanes), lanes);
      KernelBuilder::Values sum = b.loop(lane, whole, lanes, {zero}, add);
      Value rest = b.select(b.equal(lane, b.number(0)), whole, count);
      sum = b.loop(rest, count, b.number(1), sum, add);
      b.store(sum[0], b.at(wide, parts, lane));
    });
  }
  b.wait();
  Value total = zero;
  for (int64_t each = 0; each < lanesOfPart; ++each)
    total = plus(total, b.load(wide, b.at(wide, parts, each)));
  // Before any of them is overwritten.
  b.wait();
  return total;
}

void OwnKernels::addSquares() {
  forGroups("squares", [&](Value unit) {
    Value begin = b.mul(unit, b.number(valuesOfPart));
    Value left = b.sub(b.slot(list, 1), begin);
    Value sum = sumOfPart(
        b.at(real, base(0), begin), b.min(b.number(valuesOfPart), left),
        b.at(b.getF64Type(), base(2), b.mul(unit, b.number(lanesOfPart))));
    b.store(sum, b.at(b.getF64Type(), base(3), unit));
  });
}

void OwnKernels::addLimit() {
  forGroups("limit", [&](Value unit) {
    Type wide = b.getF64Type();
    Value columns = b.slot(list, 1);
    Value row = b.at(real, base(0), b.mul(unit, columns));
    Value parts = b.at(wide, base(3), b.mul(unit, b.number(lanesOfPart)));
    Value part = b.number(valuesOfPart);
    KernelBuilder::Values total =
        b.loop(b.number(0), columns, part, {b.constant(wide, 0)},
               [&](Value begin, ValueRange sum) -> KernelBuilder::Values {
                 Value count = b.min(part, b.sub(columns, begin));
                 return {plus(sum[0],
                              sumOfPart(b.at(real, row, begin), count, parts))};
               });
    Value norm = root(total[0]), most = number(2, wide);
    b.branch(isLess(most, norm), [&] {
      Value factor = over(most, norm);
      if (!real.isF64())
        factor = b.create<arith::TruncFOp>(real, factor);
      b.share(b.number(0), columns, [&](Value i) {
        Value place = b.at(real, row, i);
        b.store(times(b.load(real, place), factor), place);
      });
    });
  });
}

/// A rule of an optimiser: `slope` is the gradient with its decay.
void OwnKernels::rule(StringRef name, llvm::function_ref<void()> body) {
  forThreads(name, [&](Value unit) {
    at = unit;
    slope = plus(load(StepGradients, at),
                 times(number(StepDecay), load(StepWeights, at)));
    body();
  });
}

void OwnKernels::addRules() {
  // weights -= rate * by
  auto descend = [&](Value by) {
    store(minus(load(StepWeights, at), times(number(StepRate), by)),
          StepWeights, at);
  };
  // second = b2 * second + rest2 * slope * slope
  auto meanOfSquares = [&] {
    Value next = plus(times(number(StepB2), load(StepSecond, at)),
                      times(times(number(StepRest2), slope), slope));
    store(next, StepSecond, at);
    return next;
  };
  rule("sgd", [&] { descend(slope); });
  rule("momentum", [&] {
    Value next = plus(times(number(StepB1), load(StepFirst, at)), slope);
    store(next, StepFirst, at);
    descend(next);
  });
  rule("adagrad", [&] {
    Value next = plus(load(StepFirst, at), times(slope, slope));
    store(next, StepFirst, at);
    descend(over(slope, plus(root(next), number(StepEps))));
  });
  rule("rmsprop", [&] {
    Value size = plus(root(meanOfSquares()), number(StepEps));
    Value next =
        plus(times(number(StepB1), load(StepFirst, at)), over(slope, size));
    store(next, StepFirst, at);
    descend(next);
  });
  rule("adadelta", [&] {
    Value second = meanOfSquares(), first = load(StepFirst, at),
          eps = number(StepEps);
    Value by =
        times(over(root(plus(first, eps)), root(plus(second, eps))), slope);
    store(plus(times(number(StepB2), first),
               times(times(number(StepRest2), by), by)),
          StepFirst, at);
    descend(by);
  });
  rule("adam", [&] {
    Value first = plus(times(number(StepB1), load(StepFirst, at)),
                       times(number(StepRest1), slope));
    store(first, StepFirst, at);
    Value size =
        plus(over(root(meanOfSquares()), number(StepRoot)), number(StepEps));
    store(minus(times(number(StepKept), load(StepWeights, at)),
                over(times(number(StepSize), first), size)),
          StepWeights, at);
  });
}

/// sums += values, in pieces of rows. A block finds the row of its piece by
/// halves of the list.
void OwnKernels::addRows() {
  constexpr int64_t fields = 4;
  auto add = [&](Value units) {
    Value rows = b.slot(list, 0), one = b.number(1);
    auto field = [&](Value row, Type type, int64_t number) {
      Value entry = b.add(b.mul(row, b.number(fields)), b.number(1 + number));
      return b.load(type, b.at(b.i64(), list, entry));
    };
    b.loop(blockNumber(b), units, numBlocks(b), [&](Value unit) {
      Value row = b.number(0);
      for (int64_t step = llvm::bit_floor(uint64_t(mostSums)); step > 0;
           step /= 2) {
        Value next = b.add(row, b.number(step));
        Value inside = b.min(next, b.sub(rows, one));
        Value isNext =
            b.both(b.less(next, rows),
                   b.less(field(inside, b.i64(), 3), b.add(unit, one)));
        row = b.select(isNext, next, row);
      }
      Value piece = b.number(numbersOfPiece);
      Value to = field(row, b.pointer(), 0), from = field(row, b.pointer(), 1);
      Value begin = b.mul(b.sub(unit, field(row, b.i64(), 3)), piece);
      Value end = b.min(field(row, b.i64(), 2), b.add(begin, piece));
      b.loop(b.add(begin, threadInBlock(b)), end, b.number(ownThreads),
             [&](Value i) {
               Value place = b.at(real, to, i);
               Value value = b.load(real, b.at(real, from, i));
               b.store(plus(b.load(real, place), value), place);
             });
    });
  };
  kernel("add_rows", /*unitsAtOnce=*/1, add)
      ->setAttr(slotsName, b.getI64IntegerAttr(1 + fields * mostSums));
}

void OwnKernels::addLearner() {
  forThreads("clear", [&](Value unit) { store(constant(0), 0, unit); });
  forThreads("add", [&](Value unit) {
    store(plus(load(0, unit), load(1, unit)), 0, unit);
  });
  addRows();
  forThreads("scale", [&](Value unit) {
    store(times(load(0, unit), number(1)), 0, unit);
  });
  forThreads("clamp", [&](Value unit) {
    // As std::min and std::max: a NaN stays.
    Value value = load(0, unit), most = number(1);
    Value least = b.create<arith::NegFOp>(most);
    value = b.select(isLess(value, least), least, value);
    store(b.select(isLess(most, value), most, value), 0, unit);
  });
  addSquares();
  addLimit();
  addRules();
}

/// The best symbols of a row: the largest, then the largest of those after it,
/// and so on. Among equals the lower symbol comes first, and NaNs come before
/// all.
void OwnKernels::addBest() {
  kernel("best", /*unitsAtOnce=*/1, [&](Value units) {
    Type wide = b.i64();
    Value thread = threadInBlock(b);
    auto shared = [&](StringRef name, Type type) -> Value {
      Value address = sharedMemory(b, module, name, type, ownThreads);
      return b.create<LLVM::AddrSpaceCastOp>(b.pointer(), address);
    };
    Value keys = shared(real.isF64() ? "best_f64" : "best_f32", real);
    Value symbols = shared("best_symbol", wide);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Value count = b.slot(list, BestCount), most = b.slot(list, BestMost);
    auto isSame = [&](Value x, Value y) -> Value {
      return b.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, x, y);
    };
    /// Returns whether (key, symbol) comes after another.
    auto isAfter = [&](Value key, Value symbol, Value otherKey,
                       Value otherSymbol) {
      return b.either(
          isLess(key, otherKey),
          b.both(isSame(key, otherKey), b.less(otherSymbol, symbol)));
    };
    b.loop(blockNumber(b), units, numBlocks(b), [&](Value row) {
      Value from = b.at(real, base(BestFrom), b.mul(row, count));
      auto keyOf = [&](Value symbol) -> Value {
        Value logp = b.load(real, b.at(real, from, symbol));
        Value isNone =
            b.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, logp, logp);
        return b.select(isNone, constant(infinity), logp);
      };
      auto next = [&](Value place, ValueRange last) -> KernelBuilder::Values {
        KernelBuilder::Values own = b.loop(
            thread, count, b.number(ownThreads), {constant(-infinity), count},
            [&](Value symbol, ValueRange best) -> KernelBuilder::Values {
              Value key = keyOf(symbol);
              Value isBetter = b.both(isAfter(key, symbol, last[0], last[1]),
                                      isLess(best[0], key));
              return {b.select(isBetter, key, best[0]),
                      b.select(isBetter, symbol, best[1])};
            });
        b.store(own[0], b.at(real, keys, thread));
        b.store(own[1], b.at(wide, symbols, thread));
        waitForBlock(b);
        auto at = [&](Value place) -> KernelBuilder::Values {
          return {b.load(real, b.at(real, keys, place)),
                  b.load(wide, b.at(wide, symbols, place))};
        };
        for (int64_t half = ownThreads / 2; half > 0; half /= 2) {
          b.branch(b.less(thread, b.number(half)), [&] {
            KernelBuilder::Values mine = at(thread),
                                  other = at(b.add(thread, b.number(half)));
            b.branch(isAfter(mine[0], mine[1], other[0], other[1]), [&] {
              b.store(other[0], b.at(real, keys, thread));
              b.store(other[1], b.at(wide, symbols, thread));
            });
          });
          waitForBlock(b);
        }
        KernelBuilder::Values found = at(b.number(0));
        b.branch(b.equal(thread, b.number(0)), [&] {
          Value to = b.add(b.mul(row, most), place);
          b.store(found[0], b.at(real, base(BestLogps), to));
          b.store(found[1], b.at(wide, base(BestSymbolsOf), to));
        });
        // Before any of them is overwritten.
        waitForBlock(b);
        return found;
      };
      b.loop(b.number(0), most, b.number(1), {constant(infinity), b.number(-1)},
             next);
    });
  });
}

/// Rows, a piece of one by a block.
void OwnKernels::addCopy() {
  auto copy = [&](Value units) {
    Type word = b.getI32Type();
    Value thread = threadInBlock(b), size = b.number(ownThreads);
    Value pieces = b.slot(list, 0), piece = b.number(wordsOfPiece);
    b.loop(blockNumber(b), units, numBlocks(b), [&](Value unit) {
      Value entry = b.add(b.mul(b.div(unit, pieces), b.number(3)), b.number(1));
      auto field = [&](Type type, int64_t number) {
        return b.load(type,
                      b.at(b.i64(), list, b.add(entry, b.number(number))));
      };
      Value to = field(b.pointer(), 0), from = field(b.pointer(), 1);
      Value begin = b.mul(b.rem(unit, pieces), piece);
      Value end = b.min(field(b.i64(), 2), b.add(begin, piece));
      b.loop(b.add(begin, thread), end, size, [&](Value i) {
        b.store(b.load(word, b.at(word, from, i)), b.at(word, to, i));
      });
    });
  };
  function("fovea.copy", /*unitsAtOnce=*/1, copy)
      ->setAttr(slotsName, b.getI64IntegerAttr(1 + 3 * mostCopies));
}

void OwnKernels::addSearch() {
  addBest();
  if (!module.lookupSymbol("fovea.copy"))
    addCopy();
}

static bool hasKernel(ModuleOp module, StringRef name, Type real) {
  return module.lookupSymbol(
      ("fovea." + name + (real.isF64() ? ".f64" : ".f32")).str());
}

void fovea::codegen::addLearnerKernels(ModuleOp module, Type real) {
  if (!hasKernel(module, "add", real))
    OwnKernels(module, real).addLearner();
}

void fovea::codegen::addSearchKernels(ModuleOp module, Type real) {
  if (!hasKernel(module, "best", real))
    OwnKernels(module, real).addSearch();
}

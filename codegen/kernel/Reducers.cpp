//===- Reducers.cpp - how the values of a reduction are combined ----------===//
//
// The part of ComputeEmitter that knows the reducers. The loops carry the
// result so far. For `mean` they also carry the number of elements. For `max`
// and `min` they carry whether there was one; for `argmax` and `argmin`, the
// place as well.
//
//===----------------------------------------------------------------------===//

#include "codegen/kernel/ComputeEmitter.h"
#include "codegen/kernel/RoundedFactors.h"
#include "dialect/RoundedFactors.h"

#include <limits>

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using arith::CmpIPredicate;

static double worst(Reducer reducer) {
  bool isMax = reducer == Reducer::max || reducer == Reducer::argmax;
  double infinite = std::numeric_limits<double>::infinity();
  return isMax ? -infinite : infinite;
}

/// The initial value of `max` and `min`.
static Value worstOf(KernelBuilder &builder, Reducer reducer, Type type) {
  if (isa<FloatType>(getElementTypeOrSelf(type)))
    return builder.constant(type, worst(reducer));
  int64_t number = worst(reducer) < 0 ? std::numeric_limits<int64_t>::min()
                                      : std::numeric_limits<int64_t>::max();
  return builder.splat(builder.number(number), lanesOf(type));
}

ComputeEmitter::Values ComputeEmitter::initial(Reducer reducer,
                                               unsigned width) {
  Type element = storage.elementOf(op.getElementType());
  Type type = withLanes(element, width);
  auto bits = [&](bool value) {
    return builder.splat(builder.truth(value), width);
  };
  switch (reducer) {
  case Reducer::prod:
    return {builder.constant(type, 1)};
  case Reducer::mean:
    return {builder.constant(type, 0), builder.constant(type, 0)};
  case Reducer::max:
  case Reducer::min:
    return {worstOf(builder, reducer, type), bits(false)};
  case Reducer::argmax:
  case Reducer::argmin: {
    Type compared = storage.elementOf(
        op.getBody().front().getTerminator()->getOperand(0).getType());
    return {worstOf(builder, reducer, withLanes(compared, width)),
            builder.splat(builder.number(0), width), bits(false)};
  }
  case Reducer::any:
    return {bits(false)};
  case Reducer::all:
    return {bits(true)};
  default:
    return Values(1 + twins.size(), builder.constant(type, 0));
  }
}

/// The carried values with one more element, or vector of elements.
ComputeEmitter::Values ComputeEmitter::reduce(Reducer reducer, unsigned width,
                                              Value tail, Values carried,
                                              Value shift) {
  Value holds = condition(width, tail);
  if (holds && !lanesOf(holds))
    return builder.chooseAll(
        holds,
        [&] {
          return reduceWhere(reducer, width, tail, nullptr, carried, shift);
        },
        [&] { return carried; });
  return reduceWhere(reducer, width, tail, holds, carried, shift);
}

Value ComputeEmitter::addFactors(ComputeOp op, ValueRange factors, Value sum) {
  if (roundsFactors(op) && getElementTypeOrSelf(sum).isF32())
    return addProduct(builder, factorOf(builder, factors[0]),
                      factorOf(builder, factors[1]), sum);
  return builder.fma(factors[0], factors[1], sum);
}

/// The sums with one more term, or vector of terms, each.
ComputeEmitter::Values ComputeEmitter::addUp(unsigned width, Value tail,
                                             Value guard, Values carried) {
  BodyEmitter values(builder, storage, place, width);
  auto add = [&](ComputeOp op, Value sum) -> Value {
    Values factors = values.emitFactors(op, indices, tail, guard);
    for (Value &factor : factors)
      factor = builder.splat(factor, width);
    if (factors.size() == 2)
      return addFactors(op, factors, sum);
    if (isa<FloatType>(getElementTypeOrSelf(sum)))
      return builder.create<arith::AddFOp>(sum, factors[0]);
    return builder.create<arith::AddIOp>(sum, factors[0]);
  };
  Values next = {add(op, carried[0])};
  for (auto [number, twin] : llvm::enumerate(twins)) {
    values.reuse(twin.common);
    next.push_back(add(twin.op, carried[1 + number]));
  }
  return next;
}

ComputeEmitter::Values ComputeEmitter::reduceWhere(Reducer reducer,
                                                   unsigned width, Value tail,
                                                   Value guard, Values carried,
                                                   Value shift) {
  // Missing lanes along the result are never stored.
  bool joins = along >= 0 && !isParallel(along);
  Value counts = joins ? builder.both(tail, guard) : guard;
  if (counts)
    counts = builder.splat(counts, width);
  auto keep = [&](Value next, Value before) {
    next = builder.splat(next, lanesOf(before));
    return counts ? builder.create<arith::SelectOp>(counts, next, before)
                        .getResult()
                  : next;
  };
  if (reducer == Reducer::sum) {
    Values next = addUp(width, tail, guard, carried);
    for (auto [sum, before] : llvm::zip_equal(next, carried))
      sum = keep(sum, before);
    return next;
  }
  Value value = builder.splat(body(width, tail, guard), width);
  bool isReal = isa<FloatType>(getElementTypeOrSelf(value));
  auto yes = builder.splat(builder.truth(true), width);
  auto bothTypes = [&](auto real, auto whole) -> Value {
    return isReal ? real() : whole();
  };
  switch (reducer) {
  case Reducer::prod:
    return {keep(bothTypes(
                     [&]() -> Value {
                       return builder.create<arith::MulFOp>(carried[0], value);
                     },
                     [&]() -> Value {
                       return builder.create<arith::MulIOp>(carried[0], value);
                     }),
                 carried[0])};
  case Reducer::mean:
    return {keep(builder.create<arith::AddFOp>(carried[0], value), carried[0]),
            keep(builder.create<arith::AddFOp>(
                     carried[1], builder.constant(carried[1].getType(), 1)),
                 carried[1])};
  case Reducer::max:
    return {keep(bothTypes(
                     [&]() -> Value {
                       return builder.create<arith::MaximumFOp>(carried[0],
                                                                value);
                     },
                     [&]() -> Value {
                       return builder.create<arith::MaxSIOp>(carried[0], value);
                     }),
                 carried[0]),
            keep(yes, carried[1])};
  case Reducer::min:
    return {keep(bothTypes(
                     [&]() -> Value {
                       return builder.create<arith::MinimumFOp>(carried[0],
                                                                value);
                     },
                     [&]() -> Value {
                       return builder.create<arith::MinSIOp>(carried[0], value);
                     }),
                 carried[0]),
            keep(yes, carried[1])};
  case Reducer::any:
    return {keep(builder.create<arith::OrIOp>(carried[0], value), carried[0])};
  case Reducer::all:
    return {keep(builder.create<arith::AndIOp>(carried[0], value), carried[0])};
  case Reducer::logsumexp:
    value = builder.create<math::ExpOp>(
        builder.create<arith::SubFOp>(value, builder.splat(shift, width)));
    return {keep(builder.create<arith::AddFOp>(carried[0], value), carried[0])};
  case Reducer::argmax:
  case Reducer::argmin: {
    bool isMax = reducer == Reducer::argmax;
    Value better =
        isReal
            ? builder
                  .create<arith::CmpFOp>(isMax ? arith::CmpFPredicate::OGT
                                               : arith::CmpFPredicate::OLT,
                                         value, carried[0])
                  .getResult()
            : builder.compare(isMax ? CmpIPredicate::sgt : CmpIPredicate::slt,
                              value, carried[0]);
    Value first = builder.create<arith::XOrIOp>(carried[2], yes);
    better = builder.create<arith::OrIOp>(better, first);
    // Several reduction indices are numbered row-major.
    Value number = builder.number(0);
    BodyEmitter values(builder, storage, place, width);
    for (unsigned i = op.getNumParallel(); i < op.getNumIndices(); ++i)
      number =
          builder.add(builder.mul(number, values.extent(op.getExtents()[i])),
                      indices[i].base);
    number = builder.splat(number, width);
    return {builder.select(better, value, carried[0]),
            builder.select(better, number, carried[1]), keep(yes, carried[2])};
  }
  default:
    llvm_unreachable("a normaliser has loops of its own");
  }
}

/// The result from what was carried.
Value ComputeEmitter::combine(Reducer reducer, Values carried) {
  switch (reducer) {
  case Reducer::mean: {
    Value zero = builder.constant(carried[1].getType(), 0);
    Value some = builder.create<arith::CmpFOp>(arith::CmpFPredicate::OGT,
                                               carried[1], zero);
    return builder.select(
        some, builder.create<arith::DivFOp>(carried[0], carried[1]), zero);
  }
  case Reducer::max:
  case Reducer::min:
    return builder.select(carried[1], carried[0],
                          builder.constant(carried[0].getType(), 0));
  case Reducer::argmax:
  case Reducer::argmin:
    return carried[1];
  default:
    return carried[0];
  }
}

/// The same of the equation and of each twin.
ComputeEmitter::Values ComputeEmitter::combineAll(Reducer reducer,
                                                  Values carried) {
  if (!twins.empty())
    return carried;
  return {combine(reducer, carried)};
}

/// Combines two partial results.
Value ComputeEmitter::join(Reducer reducer, Value a, Value b) {
  bool isReal = isa<FloatType>(getElementTypeOrSelf(a));
  if (getElementTypeOrSelf(a).isInteger(1))
    return reducer == Reducer::all
               ? builder.create<arith::AndIOp>(a, b).getResult()
               : builder.create<arith::OrIOp>(a, b).getResult();
  switch (reducer) {
  case Reducer::max:
    return isReal ? builder.create<arith::MaximumFOp>(a, b).getResult()
                  : builder.create<arith::MaxSIOp>(a, b).getResult();
  case Reducer::min:
    return isReal ? builder.create<arith::MinimumFOp>(a, b).getResult()
                  : builder.create<arith::MinSIOp>(a, b).getResult();
  case Reducer::prod:
    return isReal ? builder.create<arith::MulFOp>(a, b).getResult()
                  : builder.create<arith::MulIOp>(a, b).getResult();
  default:
    return isReal ? builder.create<arith::AddFOp>(a, b).getResult()
                  : builder.create<arith::AddIOp>(a, b).getResult();
  }
}

/// Combines the partial results in the lanes of each carried vector, or in the
/// threads of a group, by halves: the same for every batch, number of threads
/// and machine.
ComputeEmitter::Values ComputeEmitter::joinLanes(Reducer reducer,
                                                 Values carried) {
  Values result;
  for (auto [number, value] : llvm::enumerate(carried)) {
    if (const Team *team = builder.team()) {
      assert(team->size == partialResults && "a group has a thread for each");
      for (int64_t width = partialResults / 2; width != 0; width /= 2)
        value =
            join(reducer, value, team->ops->shiftDown(builder, value, width));
      result.push_back(team->ops->ofFirst(builder, value));
      continue;
    }
    if (!lanesOf(value)) {
      result.push_back(value);
      continue;
    }
    for (unsigned width = lanesOf(value) / 2; width != 0; width /= 2) {
      auto low = llvm::to_vector(llvm::seq<int64_t>(0, width));
      auto high = llvm::to_vector(llvm::seq<int64_t>(width, 2 * width));
      Value a = builder.create<vector::ShuffleOp>(value, value, low);
      Value b = builder.create<vector::ShuffleOp>(value, value, high);
      value = join(reducer, a, b);
    }
    result.push_back(
        builder.create<vector::ExtractOp>(value, ArrayRef<int64_t>{0}));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Normalisers
//===----------------------------------------------------------------------===//

/// Zeros in front of where index `number` begins.
void ComputeEmitter::emitZerosBelow(unsigned number) {
  if (op.getLower()[number] == 0)
    return;
  Type type = storage.elementOf(op.getElementType());
  builder.loop(builder.number(0), builder.number(op.getLower()[number]),
               builder.number(1), [&](Value at) {
                 indices[number] = {at};
                 builder.store(builder.constant(type, 0),
                               resultAddress(indices));
               });
}

/// softmax and log_softmax: the scores and their maximum, then their
/// exponentials and the sum, then the quotient or the difference. Excluded
/// elements are 0. If all scores are -infinity the sum is 0.
void ComputeEmitter::emitNormaliser() {
  unsigned last = op.getNumIndices() - 1;
  bool isLog = op.getReducer() == Reducer::log_softmax;
  unsigned width = along < 0 ? 0 : lanes;
  Type type = real();
  emitZerosBelow(last);
  auto [begin, end] = boundsOf(last);
  std::tie(begin, end) = narrowResult(last, begin, end);
  auto over = [&, begin = begin, end = end](Values carried, Step step) {
    return forVectors(last, begin, end, carried, step);
  };
  // Missing lanes do not count.
  auto active = [&](unsigned width, Value tail) -> Value {
    Value holds = builder.both(tail, condition(width, tail));
    return holds ? builder.splat(holds, width) : holds;
  };
  auto keep = [&](Value counts, Value next, Value before) -> Value {
    return counts ? builder.create<arith::SelectOp>(counts, next, before)
                        .getResult()
                  : next;
  };
  auto read = [&](unsigned width, Value tail) {
    return builder.load(withLanes(type, width), resultAddress(indices), tail);
  };
  auto zero = [&](unsigned width) {
    return builder.constant(withLanes(type, width), 0);
  };
  Values largest = over(
      initial(Reducer::max, width),
      [&](unsigned width, Value tail, Values carried) -> Values {
        // A tail is not a condition: values shared by all lanes are read as
        // one.
        Value where = condition(width, tail);
        Value holds = builder.both(tail, where);
        holds = holds ? builder.splat(holds, width) : holds;
        auto emitBody = [&](Value guard) {
          return builder.splat(body(width, tail, guard), width);
        };
        Value score = where && !lanesOf(where)
                          ? builder.choose(
                                where, [&] { return emitBody(nullptr); },
                                [&] { return zero(width); })
                          : emitBody(where);
        builder.store(holds ? builder.select(holds, score, zero(width)) : score,
                      resultAddress(indices), tail);
        // One instruction: a NaN is lost here, but makes every exponential
        // NaN.
        Value isLarger = builder.create<arith::CmpFOp>(
            arith::CmpFPredicate::OGT, score, carried[0]);
        Value next = builder.select(isLarger, score, carried[0]);
        return {
            keep(holds, next, carried[0]),
            keep(holds, builder.splat(builder.truth(true), width), carried[1])};
      });
  largest = joinLanes(Reducer::max, largest);
  // The difference of two infinities is NaN.
  Value isNothing = builder.create<arith::CmpFOp>(
      arith::CmpFPredicate::OEQ, largest[0],
      builder.constant(type, worst(Reducer::max)));
  Value shift = builder.select(isNothing, zero(0), largest[0]);
  Values total = over(
      {zero(width)}, [&](unsigned width, Value tail, Values carried) -> Values {
        Value holds = active(width, tail);
        Value score = read(width, tail);
        Value power = builder.create<math::ExpOp>(
            builder.create<arith::SubFOp>(score, builder.splat(shift, width)));
        if (!isLog)
          builder.store(holds ? builder.select(holds, power, zero(width))
                              : power,
                        resultAddress(indices), tail);
        Value next = builder.create<arith::AddFOp>(carried[0], power);
        return {keep(holds, next, carried[0])};
      });
  total = joinLanes(Reducer::sum, total);
  builder.branch(largest[1], [&] {
    // Without any score: the rest is 0, or -infinity.
    Value some = builder.create<arith::CmpFOp>(arith::CmpFPredicate::UNE,
                                               total[0], zero(0));
    total[0] = builder.select(some, total[0], builder.constant(type, 1));
    Value factor =
        isLog
            ? builder.create<math::LogOp>(total[0]).getResult()
            : builder.create<arith::DivFOp>(builder.constant(type, 1), total[0])
                  .getResult();
    over({}, [&](unsigned width, Value tail, Values) -> Values {
      Value score = read(width, tail);
      Value wide = builder.splat(factor, width);
      if (!isLog) {
        builder.store(builder.create<arith::MulFOp>(score, wide),
                      resultAddress(indices), tail);
        return {};
      }
      // Subtract separately: the sum of both would lose the second if scores
      // are large.
      Value centred =
          builder.create<arith::SubFOp>(score, builder.splat(shift, width));
      Value result = builder.create<arith::SubFOp>(centred, wide);
      if (Value holds = active(width, tail))
        result = builder.select(holds, result, zero(width));
      builder.store(result, resultAddress(indices), tail);
      return {};
    });
  });
}

/// cumsum: sequential.
void ComputeEmitter::emitCumulative() {
  unsigned last = op.getNumIndices() - 1;
  Type type = storage.elementOf(op.getElementType());
  auto [first, end] = boundsOf(last);
  emitZerosBelow(last);
  builder.loop(first, end, builder.number(1), Values{builder.constant(type, 0)},
               [&](Value at, ValueRange carried) -> Values {
                 indices[last] = {at};
                 Value sum = reduce(Reducer::sum, 0, nullptr, Values(carried),
                                    nullptr)[0];
                 Value holds = condition(0, nullptr);
                 Value zero = builder.constant(type, 0);
                 builder.store(holds ? builder.select(holds, sum, zero) : sum,
                               resultAddress(indices));
                 return {sum};
               });
}

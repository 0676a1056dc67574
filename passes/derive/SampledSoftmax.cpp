//===- SampledSoftmax.cpp - log p by some of all symbols ------------------===//
//
// Estimates the sum over a large vocabulary from candidates with importance
// weights 1 / (expected count) (Jean et al. 2015). They are sampled once per
// update, whatever the batch. Logits are computed only at the candidates and
// the observed symbols: their equations are copied with the symbol instead of
// the vocabulary index.
//
//===----------------------------------------------------------------------===//

#include "passes/derive/SampledSoftmax.h"
#include "passes/analysis/Equations.h"
#include "passes/derive/EquationBuilder.h"
#include "runtime/Functions.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <limits>

using namespace mlir;
using namespace fovea::attn;

namespace {

class SampledSoftmax : EquationBuilder {
public:
  SampledSoftmax(const OpBuilder &builder, ChoiceOp choice)
      : EquationBuilder(builder), choice(choice), name(choice.getTarget()),
        observed(choice.getObserved()), logits(choice.getParameters()[0]),
        vocabulary(lastExtent(logits)) {
    loc = choice.getLoc();
    auto type = cast<ArrayType>(observed.getType());
    axes.assign(type.getShape().begin(), type.getShape().end());
  }

  Value run();

private:
  void drawCandidates();
  bool isOverSymbols(Value array);
  Value at(Value array, bool ofCandidates);
  Value pick(Value param, int64_t axis);
  ComputeOp copyAt(ComputeOp op, bool ofCandidates);

  ChoiceOp choice;
  StringRef name;
  Value observed, logits;
  Attribute vocabulary, count;
  SmallVector<Attribute> axes;
  Value candidates, logCounts;
  /// The existing copies of an array, at the observed symbols and at the
  /// candidates.
  llvm::DenseMap<Value, Value> known[2];
  /// The candidates' rows of a parameter, along an axis.
  llvm::DenseMap<std::pair<Value, int64_t>, Value> rows;
};

} // namespace

static double argumentOf(ChoiceOp choice, StringRef key) {
  auto given = choice.getTreatment()->getAs<FloatAttr>(key);
  return given ? given.getValueAsDouble() : 0;
}

static bool wantsCandidates(ChoiceOp choice) {
  DictionaryAttr treatment = choice.getTreatmentAttr();
  auto kind = treatment ? treatment.getAs<StringAttr>("kind") : StringAttr();
  return kind && kind.getValue() == "sampled";
}

LogicalResult fovea::attn::checkSampled(ChoiceOp choice, bool isSmoothed) {
  if (!wantsCandidates(choice))
    return success();
  if (auto length = dyn_cast<StringAttr>(lastExtent(choice.getParameters()[0])))
    return choice.emitError()
           << "'sampled' draws candidates from a vocabulary, but '"
           << choice.getTarget() << "' is one of " << length.getValue()
           << " places, a length that differs between examples";
  if (isSmoothed)
    return choice.emitError()
           << "'sampled' of '" << choice.getTarget()
           << "' does not go with label smoothing, which needs log p of every "
              "symbol; help: leave out 'smooth' of train { }";
  return success();
}

bool fovea::attn::isSampled(ChoiceOp choice) {
  if (!wantsCandidates(choice))
    return false;
  auto size = dyn_cast<IntegerAttr>(lastExtent(choice.getParameters()[0]));
  return size &&
         argumentOf(choice, "candidates") < static_cast<double>(size.getInt());
}

/// The first free number of random streams.
static int64_t freeOrdinal(SystemOp system) {
  int64_t ordinal = 0;
  system.walk([&](RandomOp op) {
    ordinal = std::max<int64_t>(ordinal, op.getOrdinal() + 1);
  });
  return ordinal;
}

/// One candidate from each of n equal shares of the proposal: the expected
/// count of a symbol is n times its probability, with minimal variance.
void SampledSoftmax::drawCandidates() {
  auto n = static_cast<int64_t>(argumentOf(choice, "candidates"));
  auto symbols = cast<IntegerAttr>(vocabulary).getInt();
  bool isUniform = argumentOf(choice, "uniform") != 0;
  double whole = fovea::runtime::logOf(static_cast<double>(symbols) + 1);
  int64_t ordinal = freeOrdinal(choice->getParentOfType<SystemOp>());
  count = builder.getI64IntegerAttr(n);
  candidates = compute(
      "candidates." + name, count, Reducer::none, {},
      [&](Scalars &at) -> Value {
        OpBuilder &b = at.builder;
        Value number = at.indices[0];
        Value drawn = RandomOp::create(b, loc, b.getF64Type(), number, Value(),
                                       ordinal, 0, /*shared=*/true);
        Value share =
            arith::SIToFPOp::create(b, loc, b.getF64Type(), at.asWhole(number));
        share =
            at.div(at.add(share, drawn), at.constant(static_cast<double>(n)));
        Value place;
        if (isUniform) {
          place = at.mul(share, at.constant(static_cast<double>(symbols)));
        } else {
          Value power = at.mul(share, at.constant(whole));
          place = at.sub(math::ExpOp::create(b, loc, power), at.constant(1));
        }
        place = arith::FPToSIOp::create(b, loc, b.getI64Type(), place);
        Value last = arith::ConstantIntOp::create(b, loc, symbols - 1, 64);
        return arith::MinSIOp::create(b, loc, place, last);
      },
      builder.getI64Type());
  logCounts =
      compute("log_counts." + name, count, Reducer::none, {}, [&](Scalars &at) {
        if (isUniform)
          return at.constant(
              fovea::runtime::logOf(double(n) / double(symbols)));
        // p = log((c + 2) / (c + 1)) / log(symbols + 1)
        Value symbol = arith::SIToFPOp::create(
            at.builder, loc, at.builder.getF64Type(), at.read(candidates));
        Value low = at.add(symbol, at.constant(1));
        Value width =
            at.sub(at.log(at.add(symbol, at.constant(2))), at.log(low));
        return at.add(at.log(width),
                      at.constant(fovea::runtime::logOf(double(n) / whole)));
      });
}

/// Returns whether `array` is an equation whose last index runs over the
/// vocabulary, so that it can be copied at a symbol.
bool SampledSoftmax::isOverSymbols(Value array) {
  auto op = array.getDefiningOp<ComputeOp>();
  if (!op)
    return false;
  auto type = cast<ArrayType>(array.getType());
  unsigned last = op.getNumParallel() - 1;
  return type.getRank() > 0 && int64_t(op.getNumParallel()) == type.getRank() &&
         op.getExtents()[last] == vocabulary && op.getLower()[last] == 0;
}

/// The values of `param` along `axis` for the candidates.
Value SampledSoftmax::pick(Value param, int64_t axis) {
  Value &result = rows[{param, axis}];
  if (result)
    return result;
  SmallVector<Attribute> extents(
      cast<ArrayType>(param.getType()).getShape().getValue());
  extents[axis] = count;
  result = compute("", extents, Reducer::none, {}, [&](Scalars &at) -> Value {
    SmallVector<Value> place(at.indices);
    Value symbol =
        ReadOp::create(at.builder, loc, candidates, at.indices[axis]);
    place[axis] = at.asPlace(symbol);
    return ReadOp::create(at.builder, loc, param, place);
  });
  return result;
}

/// `op` at the candidates, in the place of its index over the vocabulary, or
/// at the observed symbols, without it.
ComputeOp SampledSoftmax::copyAt(ComputeOp op, bool ofCandidates) {
  auto copy = cast<ComputeOp>(builder.clone(*op));
  copy.removeLabelAttr();
  known[ofCandidates][op.getResult()] = copy.getResult();
  unsigned last = op.getNumParallel() - 1;
  SmallVector<Attribute> names(op.getIndices().getValue());
  SmallVector<Attribute> extents(op.getExtents().getValue());
  SmallVector<int64_t> lower(op.getLower());
  SmallVector<Attribute> shape(
      cast<ArrayType>(op.getResult().getType()).getShape().getValue());
  if (ofCandidates) {
    extents[last] = shape[last] = count;
  } else {
    names.erase(names.begin() + last);
    extents.erase(extents.begin() + last);
    if (last < lower.size())
      lower.erase(lower.begin() + last);
    shape.pop_back();
    copy.setNumParallel(last);
    copy.setOrderAttr(movedBy(-1, copy.getOrderAttr()));
  }
  copy.setIndicesAttr(builder.getArrayAttr(names));
  copy.setExtentsAttr(builder.getArrayAttr(extents));
  copy.setLower(lower);
  copy.getResult().setType(ArrayType::get(shape, op.getElementType()));
  for (Region *region : {&copy.getCondition(), &copy.getBody()}) {
    if (region->empty())
      continue;
    Block &block = region->front();
    BlockArgument index = block.getArgument(last);
    // Arrays that are read at the index are also copied; the copies are read at
    // the candidate's number.
    llvm::SmallPtrSet<Operation *, 4> kept;
    SmallVector<ReadOp> reads, picked;
    region->walk([&](ReadOp read) {
      if (!read.getAlternatives().empty() || read.getOtherwise() ||
          llvm::count(read.getIndices(), index) != 1)
        return;
      bool isPlain = read.getIndices().back() == index;
      // An observed symbol belongs to the places of the choice.
      bool isHere = ofCandidates ||
                    (read.getIndices().size() == last + 1 &&
                     llvm::equal(read.getIndices(),
                                 block.getArguments().take_front(last + 1)));
      if (isPlain && isHere && isOverSymbols(read.getArray()))
        reads.push_back(read);
      else if (ofCandidates && read.getArray().getDefiningOp<ParamOp>())
        picked.push_back(read);
    });
    for (ReadOp read : picked) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToEnd(choice->getBlock());
      auto axis =
          llvm::find(read.getIndices(), index) - read.getIndices().begin();
      read.getArrayMutable().assign(pick(read.getArray(), axis));
      kept.insert(read);
    }
    for (ReadOp read : reads) {
      OpBuilder::InsertionGuard guard(builder);
      Value source = at(read.getArray(), ofCandidates);
      SmallVector<Value> indices(read.getIndices());
      if (!ofCandidates)
        indices.pop_back();
      builder.setInsertionPoint(read);
      auto value = ReadOp::create(builder, read.getLoc(), source, indices);
      kept.insert(value);
      read.getResult().replaceAllUsesWith(value.getResult());
      read.erase();
    }
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&block);
    SmallVector<Value> place;
    if (ofCandidates)
      place.push_back(index);
    else
      llvm::append_range(place, block.getArguments().take_front(last));
    auto read = ReadOp::create(builder, loc,
                               ofCandidates ? candidates : observed, place);
    kept.insert(read);
    Value symbol = arith::IndexCastOp::create(
        builder, loc, builder.getIndexType(), read.getResult());
    index.replaceUsesWithIf(
        symbol, [&](OpOperand &use) { return !kept.contains(use.getOwner()); });
    if (!ofCandidates)
      block.eraseArgument(last);
  }
  return copy;
}

/// `array` over the axes of the choice, at the candidates or at the observed
/// symbols. At the candidates, an axis for them replaces the axis of the
/// symbols.
Value SampledSoftmax::at(Value array, bool ofCandidates) {
  if (Value value = known[ofCandidates].lookup(array))
    return value;
  if (isOverSymbols(array)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(choice->getBlock());
    return copyAt(array.getDefiningOp<ComputeOp>(), ofCandidates).getResult();
  }
  Attribute more[] = {count};
  SmallVector<Attribute> all(axes);
  if (ofCandidates)
    llvm::append_range(all, more);
  return compute("", all, Reducer::none, {}, [&](Scalars &at) {
    Value symbol;
    if (ofCandidates)
      symbol = ReadOp::create(at.builder, loc, candidates, at.indices.back());
    else
      symbol = at.read(observed);
    SmallVector<Value> place(
        ArrayRef<Value>(at.indices).take_front(axes.size()));
    place.push_back(at.asPlace(symbol));
    Value read = ReadOp::create(at.builder, loc, array, place);
    return read;
  });
}

Value SampledSoftmax::run() {
  drawCandidates();
  Value own = at(logits, false), others = at(logits, true);
  Value rest = compute(
      "rest." + name, axes, Reducer::logsumexp, count, [&](Scalars &at) {
        Value symbol =
            ReadOp::create(at.builder, loc, candidates, at.indices.back());
        Value isOther =
            arith::CmpIOp::create(at.builder, loc, arith::CmpIPredicate::ne,
                                  symbol, at.read(observed));
        return at.either(
            isOther,
            [&] {
              Value often =
                  ReadOp::create(at.builder, loc, logCounts, at.indices.back());
              return at.sub(at.read(others), often);
            },
            [&] {
              return at.constant(-std::numeric_limits<double>::infinity());
            });
      });
  // log(e^own / (e^own + e^rest))
  return compute("sampled." + name, axes, Reducer::none, {}, [&](Scalars &at) {
    Value more = at.read(rest);
    return at.negate(at.softplus(at.sub(more, at.read(own))));
  });
}

Value fovea::attn::sampledLogp(const OpBuilder &builder, ChoiceOp choice) {
  return SampledSoftmax(builder, choice).run();
}

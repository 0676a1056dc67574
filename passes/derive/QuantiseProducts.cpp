//===- QuantiseProducts.cpp - products with scales of columns -------------===//
//
// `--precision int8` is part of the equations: the reference interpreter and
// every back end compute the same whole numbers, whatever multiplies them. A
// sum of 1024 products of 7 bits with sign is below 2^24, so f32 has it
// exactly. `attn.precision = i8` tells emitters that the factors are such
// numbers.
//
// Formats of rounded numbers quantise the weights alone: the sum is one of f32,
// in its own order.
//
//===----------------------------------------------------------------------===//

#include "dialect/Precision.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Equations.h"
#include "passes/analysis/Orders.h"
#include "passes/analysis/Product.h"
#include "passes/derive/EquationBuilder.h"
#include "runtime/data/Quantise.h"

using namespace mlir;
using namespace fovea::attn;
using fovea::runtime::narrowName;
using fovea::runtime::scaleName;
using fovea::runtime::StorageFormat;

namespace fovea::attn {
#define GEN_PASS_DEF_QUANTISEPRODUCTS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

static constexpr double largestNumber = 127;

namespace {
/// A product of an example's rows with weights, and its parts.
struct Quantised {
  ComputeOp op;
  unsigned term = 0;
  ReadOp weight;
  unsigned axis = 0; // of the weight, along which terms are
  Value row;         // the other factor
  unsigned side = 0; // the weight's operand of the product
  /// The indices of the row, but the term.
  SmallVector<unsigned> kept;
};

class Quantiser {
public:
  Quantiser(SystemOp system, const StorageFormat &format)
      : system(system), format(format), examples(system),
        builder(system.getContext()) {}

  void run();

private:
  bool findWeight(Quantised &found, unsigned side) const;
  bool findRow(Quantised &found) const;
  /// Whether rows are quantised as well: products are of whole numbers.
  bool quantisesRows() const { return format.kind == StorageFormat::Whole; }
  bool dependsOnExample(Value scalar) const;
  std::optional<Quantised> find(ComputeOp op) const;

  ComputeOp makeRow(Quantised of, StringRef suffix, bool hasTerm,
                    Reducer reducer,
                    llvm::function_ref<Value(Scalars &, IRMapping &)> body);
  ComputeOp makeScale(Quantised of);
  ComputeOp makeNumbers(Quantised of, Value scale);
  ComputeOp makePart(Quantised of, Value numbers, int64_t begin, int64_t end);
  Value readScale(Quantised of, Scalars &at, IRMapping &values);
  void rewrite(Quantised found);
  Value parameter(ParamOp whole, unsigned axis, bool isScale);
  void quantiseLookups();

  SystemOp system;
  const StorageFormat &format;
  Examples examples;
  OpBuilder builder;
  /// The axis along which a parameter is quantised, if there is one such axis.
  llvm::MapVector<ParamOp, SmallVector<unsigned, 1>> axes;
  std::map<std::pair<Operation *, std::string>, Value> made;
};
} // namespace

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

static uint64_t bitsOf(ArrayRef<unsigned> indices) {
  uint64_t bits = 0;
  for (unsigned index : indices)
    bits |= uint64_t(1) << index;
  return bits;
}

/// Copies the conjuncts of the condition of `from` that involve no other
/// indices than `indices`, which `to` has; returns their conjunction.
static void copyCondition(ComputeOp from, ComputeOp to,
                          ArrayRef<unsigned> indices) {
  Block &source = from.getCondition().front(),
        &block = to.getCondition().front();
  IRMapping values;
  for (auto [place, index] : llvm::enumerate(indices))
    values.map(source.getArgument(index), block.getArgument(place));
  OpBuilder at = OpBuilder::atBlockEnd(&block);
  Location loc = from.getLoc();
  Value all;
  for (Value part : conjunctsOf(source.getTerminator()->getOperand(0))) {
    if (dependence(part) & ~bitsOf(indices))
      continue;
    Value own = copyScalar(part, &source, at, values);
    all = all ? arith::AndIOp::create(at, loc, all, own).getResult() : own;
  }
  if (!all)
    all = arith::ConstantIntOp::create(at, loc, 1, 1);
  YieldOp::create(at, loc, all);
}

//===----------------------------------------------------------------------===//
// Which sums are products with weights
//===----------------------------------------------------------------------===//

bool Quantiser::dependsOnExample(Value scalar) const {
  for (Operation *op : scalarsFor(scalar, scalar.getParentBlock())) {
    WalkResult walk = op->walk([&](Operation *inner) {
      bool differs = isa<RandomOp, ExtentOp>(inner) ||
                     llvm::any_of(inner->getOperands(), [&](Value operand) {
                       return examples.has(operand);
                     });
      return differs ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return true;
  }
  return false;
}

/// A plain read of a parameter; the terms run along one of its axes.
bool Quantiser::findWeight(Quantised &found, unsigned side) const {
  arith::MulFOp product = productIn(found.op);
  auto read = product->getOperand(side).getDefiningOp<ReadOp>();
  if (!read || !read.getAlternatives().empty() || read.getOtherwise() ||
      !read.getArray().getDefiningOp<ParamOp>() ||
      read.getArrayType().getRank() < 2)
    return false;
  bool hasTerm = false;
  for (auto [axis, index] : llvm::enumerate(read.getIndices())) {
    if (!(dependence(index) >> found.term & 1))
      continue;
    AccessIndex access = classify(index, found.op);
    if (hasTerm || access.kind != AccessIndex::Iterator ||
        !numberOf(read.getArrayType().getExtent(axis)))
      return false;
    hasTerm = true;
    found.axis = axis;
  }
  found.weight = read;
  found.side = side;
  found.row = product->getOperand(1 - side);
  return hasTerm && !dependsOnExample(read.getResult());
}

/// Rows of an example, under conditions that are theirs or the columns'.
bool Quantiser::findRow(Quantised &found) const {
  uint64_t needs = dependence(found.row), term = uint64_t(1) << found.term;
  uint64_t columns = 0;
  for (Value index : found.weight.getIndices())
    columns |= dependence(index);
  columns &= ~needs & ~term;
  if (!(needs & term) || !columns || !dependsOnExample(found.row))
    return false;
  int64_t count = 1;
  for (unsigned index = 0; index < found.op.getNumIndices(); ++index) {
    if (columns >> index & 1)
      count *=
          std::min<int64_t>(numberOf(found.op.getExtents()[index]).value_or(0),
                            fovea::attn::leastExtent);
    if (index != found.term && (needs >> index & 1))
      found.kept.push_back(index);
  }
  if (count < fovea::attn::leastExtent)
    return false;
  if (!found.op.hasCondition())
    return true;
  Block &condition = found.op.getCondition().front();
  uint64_t kept = needs & ~term;
  return llvm::all_of(
      conjunctsOf(condition.getTerminator()->getOperand(0)), [&](Value part) {
        uint64_t own = dependence(part);
        return !(own & term) && (!(own & ~kept) || !(own & kept));
      });
}

std::optional<Quantised> Quantiser::find(ComputeOp op) const {
  OrderAttr order = op.getOrderAttr();
  if (op.getReducer() != Reducer::sum || !op.getElementType().isF64() ||
      op.getNumReduction() != 1 || op.getNumIndices() >= 64 || !order ||
      !order.isChain() || !order.getFused() || !productIn(op))
    return std::nullopt;
  Quantised found;
  found.op = op;
  found.term = op.getNumParallel();
  if (op.getLower()[found.term] != 0 ||
      numberOf(op.getExtents()[found.term]).value_or(0) <
          fovea::attn::leastExtent)
    return std::nullopt;
  for (unsigned side : {0, 1})
    if (Quantised own = found; findWeight(own, side) && findRow(own))
      return own;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The equations
//===----------------------------------------------------------------------===//

Value Quantiser::parameter(ParamOp whole, unsigned axis, bool isScale) {
  StringRef path = whole.getPath();
  std::string name = isScale ? scaleName(path.str(), format, axis)
                             : narrowName(path.str(), format, axis);
  Value &result = made[{whole, name}];
  if (!result) {
    auto type = cast<ArrayType>(whole.getResult().getType());
    OpBuilder at(whole);
    result = ParamOp::create(at, whole.getLoc(),
                             isScale ? type.dropAxis(axis) : type, name);
    if (!isScale && !quantisesRows())
      setPrecision(result.getDefiningOp(),
                   parseType(format.element, whole.getContext()));
  }
  return result;
}

/// An equation of a row's scale (or, with `hasTerm`, of its elements).
ComputeOp
Quantiser::makeRow(Quantised of, StringRef suffix, bool hasTerm,
                   Reducer reducer,
                   llvm::function_ref<Value(Scalars &, IRMapping &)> body) {
  SmallVector<unsigned> indices = of.kept;
  if (hasTerm)
    indices.push_back(of.term);
  bool hasCondition = hasTerm && of.op.hasCondition();
  ComputeOp row =
      makeOver(builder, of.op, indices,
               reducer == Reducer::none ? indices.size() : of.kept.size(),
               reducer, hasCondition);
  row.setLabel((of.op.getLabel().value_or("") + suffix).str());
  if (hasCondition)
    copyCondition(of.op, row, indices);
  OpBuilder at = OpBuilder::atBlockEnd(&row.getBody().front());
  IRMapping values;
  for (auto [place, index] : llvm::enumerate(indices))
    values.map(of.op.getIndex(index), row.getIndex(place));
  Scalars scalars(at, row.getLoc(), row.getBody().getArguments());
  YieldOp::create(at, row.getLoc(), body(scalars, values));
  if (reducer != Reducer::none)
    row.setOrderAttr(orderOfExtreme(row));
  return row;
}

ComputeOp Quantiser::makeScale(Quantised of) {
  Block *block = of.row.getParentBlock();
  ComputeOp most =
      makeRow(of, ".largest", /*hasTerm=*/true, Reducer::max,
              [&](Scalars &at, IRMapping &values) -> Value {
                Value row = copyScalar(of.row, block, at.builder, values);
                return math::AbsFOp::create(at.builder, at.loc, row);
              });
  return makeRow(of, ".scale", /*hasTerm=*/false, Reducer::none,
                 [&](Scalars &at, IRMapping &) {
                   Value scale = at.div(at.read(most.getResult()),
                                        at.constant(largestNumber));
                   // NaN if the largest is infinite.
                   return at.add(scale, at.sub(scale, scale));
                 });
}

ComputeOp Quantiser::makeNumbers(Quantised of, Value scale) {
  Block *block = of.row.getParentBlock();
  return makeRow(
      of, ".int8", /*hasTerm=*/true, Reducer::none,
      [&](Scalars &at, IRMapping &values) -> Value {
        Value row = copyScalar(of.row, block, at.builder, values);
        Value own = at.read(scale);
        Value quotient = at.select(at.less(at.constant(0), own),
                                   at.div(row, own), at.constant(0));
        // A scale below the normal numbers is not exact.
        Value most = at.constant(largestNumber),
              least = at.constant(-largestNumber);
        quotient = at.select(at.less(most, quotient), most, quotient);
        quotient = at.select(at.less(quotient, least), least, quotient);
        return math::RoundEvenOp::create(at.builder, at.loc, quotient);
      });
}

/// The sum of the terms from `begin` to `end`, of these numbers of the row;
/// null: of the row itself.
ComputeOp Quantiser::makePart(Quantised of, Value numbers, int64_t begin,
                              int64_t end) {
  ComputeOp op = of.op;
  SmallVector<Attribute> extents(op.getExtents().getValue());
  extents[of.term] = builder.getI64IntegerAttr(end - begin);
  auto part = ComputeOp::create(
      builder, op.getLoc(), (op.getLabel().value_or("") + ".sum").str(),
      op.getIndices().getValue(), extents, op.getLower(), op.getNumParallel(),
      Reducer::sum, op.getElementType(), op.hasCondition());
  part.setOrderAttr(op.getOrderAttr());
  if (numbers)
    setPrecision(part, builder.getI8Type());
  if (op.hasCondition())
    copyCondition(op, part,
                  llvm::to_vector(llvm::seq<unsigned>(0, op.getNumIndices())));
  OpBuilder at = OpBuilder::atBlockEnd(&part.getBody().front());
  Scalars scalars(at, op.getLoc(), part.getBody().getArguments());
  IRMapping values;
  values.map(op.getBody().getArguments(), part.getBody().getArguments());
  if (begin != 0)
    values.map(op.getIndex(of.term),
               arith::AddIOp::create(at, op.getLoc(), part.getIndex(of.term),
                                     scalars.place(begin))
                   .getResult());
  SmallVector<Value> places;
  for (unsigned index : of.kept)
    places.push_back(part.getIndex(index));
  places.push_back(values.lookup(op.getIndex(of.term)));
  Value row = numbers
                  ? ReadOp::create(at, op.getLoc(), numbers, places).getResult()
                  : copyScalar(of.row, of.row.getParentBlock(), at, values);
  ReadOp weight = of.weight;
  places.clear();
  for (Value index : weight.getIndices())
    places.push_back(copyScalar(index, weight->getBlock(), at, values));
  Value column = ReadOp::create(
      at, op.getLoc(),
      parameter(weight.getArray().getDefiningOp<ParamOp>(), of.axis,
                /*isScale=*/false),
      places);
  YieldOp::create(at, op.getLoc(),
                  of.side == 0 ? scalars.mul(column, row)
                               : scalars.mul(row, column));
  return part;
}

/// The scale of the column.
Value Quantiser::readScale(Quantised of, Scalars &at, IRMapping &values) {
  ReadOp weight = of.weight;
  SmallVector<Value> places;
  for (auto [axis, index] : llvm::enumerate(weight.getIndices()))
    if (axis != of.axis)
      places.push_back(
          copyScalar(index, weight->getBlock(), at.builder, values));
  return ReadOp::create(at.builder, at.loc,
                        parameter(weight.getArray().getDefiningOp<ParamOp>(),
                                  of.axis, /*isScale=*/true),
                        places);
}

void Quantiser::rewrite(Quantised found) {
  ComputeOp op = found.op;
  builder.setInsertionPoint(op);
  Value scale, numbers;
  int64_t count = *numberOf(op.getExtents()[found.term]), most = count;
  if (quantisesRows()) {
    scale = makeScale(found).getResult();
    numbers = makeNumbers(found, scale).getResult();
    most = exactTerms;
  }
  SmallVector<ComputeOp> parts;
  for (int64_t begin = 0; begin < count; begin += most)
    parts.push_back(
        makePart(found, numbers, begin, std::min(begin + most, count)));
  auto indices = llvm::to_vector(llvm::seq<unsigned>(0, op.getNumParallel()));
  ComputeOp whole = makeOver(builder, op, indices, indices.size(),
                             Reducer::none, op.hasCondition());
  if (op.hasCondition())
    copyCondition(op, whole, indices);
  OpBuilder at = OpBuilder::atBlockEnd(&whole.getBody().front());
  Scalars scalars(at, op.getLoc(), whole.getBody().getArguments());
  IRMapping values;
  for (unsigned index : indices)
    values.map(op.getIndex(index), whole.getIndex(index));
  SmallVector<Value> places;
  for (unsigned index : found.kept)
    places.push_back(whole.getIndex(index));
  Value ofRow =
      scale ? ReadOp::create(at, op.getLoc(), scale, places) : Value();
  Value ofBoth = readScale(found, scalars, values);
  if (ofRow)
    ofBoth = scalars.mul(ofRow, ofBoth);
  Value sum;
  for (ComputeOp part : parts) {
    Value own = scalars.read(part.getResult());
    sum = sum ? scalars.add(sum, own) : own;
  }
  YieldOp::create(at, op.getLoc(), scalars.mul(ofBoth, sum));
  whole->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  ReadOp weight = found.weight;
  SmallVector<unsigned, 1> &own =
      axes[weight.getArray().getDefiningOp<ParamOp>()];
  if (!llvm::is_contained(own, found.axis))
    own.push_back(found.axis);
  op.getResult().replaceAllUsesWith(whole.getResult());
  examples.replace(op.getResult(), whole.getResult());
  op.erase();
}

//===----------------------------------------------------------------------===//
// Lookups
//===----------------------------------------------------------------------===//

/// Returns whether a row of a table is looked up: its last axis is read along
/// an index, and another at a place that is computed.
static bool isLookup(ReadOp read, ComputeOp op) {
  if (read.getArrayType().getRank() < 2 ||
      !numberOf(read.getArrayType().getShape().getValue().back()) ||
      classify(read.getIndices().back(), op).kind != AccessIndex::Iterator)
    return false;
  return llvm::any_of(read.getIndices().drop_back(), [&](Value index) {
    return classify(index, op).kind == AccessIndex::Computed;
  });
}

/// Reads elements of quantised parameters as numbers times scales: then the
/// parameters themselves are not read at all. A parameter that is quantised
/// along two axes is read as it is.
void Quantiser::quantiseLookups() {
  SmallVector<std::pair<ReadOp, unsigned>> reads;
  for (auto param : system.getOps<ParamOp>())
    for (Operation *user : param->getUsers()) {
      ReadOp read = plainRead(user, param.getResult());
      auto op = read ? read->getParentOfType<ComputeOp>() : ComputeOp();
      if (!op)
        continue;
      auto known = axes.find(param);
      if (known == axes.end() && isLookup(read, op))
        reads.push_back({read, read.getIndices().size() - 1});
      else if (known != axes.end() && known->second.size() == 1)
        reads.push_back({read, known->second.front()});
    }
  for (auto [read, axis] : reads) {
    auto param = read.getArray().getDefiningOp<ParamOp>();
    if (!read.getResult().getType().isF64())
      continue;
    builder.setInsertionPoint(read);
    SmallVector<Value> places(read.getIndices());
    Value number =
        ReadOp::create(builder, read.getLoc(),
                       parameter(param, axis, /*isScale=*/false), places);
    places.erase(places.begin() + axis);
    Value scale =
        ReadOp::create(builder, read.getLoc(),
                       parameter(param, axis, /*isScale=*/true), places);
    read.getResult().replaceAllUsesWith(
        arith::MulFOp::create(builder, read.getLoc(), number, scale)
            .getResult());
    read.erase();
  }
}

void Quantiser::run() {
  SmallVector<ComputeOp> sums(system.getOps<ComputeOp>());
  for (ComputeOp op : sums)
    if (std::optional<Quantised> found = find(op))
      rewrite(*found);
  quantiseLookups();
  for (auto param : llvm::make_early_inc_range(system.getOps<ParamOp>()))
    if (param->use_empty())
      param.erase();
}

namespace {
struct QuantiseProducts
    : fovea::attn::impl::QuantiseProductsBase<QuantiseProducts> {
  using QuantiseProductsBase::QuantiseProductsBase;

  void runOnOperation() override {
    const StorageFormat *format =
        fovea::runtime::findStorageFormat(weights.getValue());
    if (!format || !format->hasColumns()) {
      getOperation().emitError() << "expected a format of weights with scales "
                                    "of columns, found '"
                                 << weights.getValue() << "'";
      return signalPassFailure();
    }
    for (auto system : getOperation().getOps<SystemOp>())
      Quantiser(system, *format).run();
  }
};
} // namespace

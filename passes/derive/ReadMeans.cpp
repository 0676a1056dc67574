//===- ReadMeans.cpp - the mean of what is read at a place that is drawn --===//

#include "passes/derive/ReadMeans.h"
#include "mlir/IR/IRMapping.h"
#include "passes/derive/EquationBuilder.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fovea::attn;

namespace {

class MeanReader {
public:
  MeanReader(ChoiceOp choice, StringRef kind, Value weights, Value coin)
      : choice(choice), kind(kind), name(choice.getTarget()),
        loc(choice.getLoc()), weights(weights), coin(coin) {}

  LogicalResult run();

private:
  LogicalResult readMean(ReadOp read);
  LogicalResult readMeanAt(ReadOp place, ReadOp found);
  LogicalResult cannotMean(Operation *op);

  ChoiceOp choice;
  StringRef kind, name;
  Location loc;
  Value weights, coin;
};

} // namespace

LogicalResult MeanReader::cannotMean(Operation *op) {
  InFlightDiagnostic diag = choice.emitError()
                            << "'" << kind << "' of '" << name
                            << "' takes the mean of what is read at a place, "
                               "so '"
                            << name
                            << "' stands only in brackets of arrays of "
                               "numbers; 'reinforce' has no such limit";
  diag.attachNote(op->getLoc()) << "it is used otherwise here";
  return failure();
}

LogicalResult MeanReader::run() {
  for (OpOperand &use :
       llvm::make_early_inc_range(choice.getResult().getUses())) {
    if (isa<EquationOp>(use.getOwner()))
      continue;
    auto read = dyn_cast<ReadOp>(use.getOwner());
    if (!read || use.getOperandNumber() != 0 || read.getOtherwise() ||
        !read.getAlternatives().empty())
      return cannotMean(use.getOwner());
    if (failed(readMean(read)))
      return failure();
  }
  return success();
}

/// `condition ? yes : no`, where a condition is given.
static Value eitherIf(OpBuilder &builder, Location loc, Value condition,
                      Value yes, llvm::function_ref<Value()> no) {
  if (!condition)
    return yes;
  auto branch = scf::IfOp::create(builder, loc, yes.getType(), condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(builder, loc, yes);
  builder.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(builder, loc, no());
  return branch.getResult(0);
}

LogicalResult MeanReader::readMean(ReadOp read) {
  bool isBit = choice.getDistribution() == Distribution::bernoulli;
  auto type = cast<ArrayType>(choice.getResult().getType());
  bool isNumber = !isBit && type.getElementType().isF64();
  // A number is its mean itself.
  auto replace = [&](Operation *user, Value old) {
    OpBuilder at(user);
    at.setInsertionPointAfter(user);
    Value mean = ReadOp::create(at, user->getLoc(), weights, read.getIndices());
    Value flip =
        coin
            ? ReadOp::create(at, user->getLoc(), coin, ValueRange()).getResult()
            : Value();
    Value result =
        eitherIf(at, user->getLoc(), flip, mean, [&] { return old; });
    old.replaceUsesWithIf(result, [&](OpOperand &use) {
      Operation *owner = use.getOwner();
      return owner != result.getDefiningOp() &&
             !(flip && result.getDefiningOp()->isAncestor(owner));
    });
  };
  if (isNumber) {
    replace(read, read.getResult());
    return success();
  }
  for (Operation *user :
       llvm::make_early_inc_range(read.getResult().getUsers())) {
    if (isBit) {
      if (!isa<arith::UIToFPOp, arith::SIToFPOp>(user))
        return cannotMean(user);
      replace(user, user->getResult(0));
      continue;
    }
    if (!isa<arith::IndexCastOp>(user))
      return cannotMean(user);
    for (Operation *reader :
         llvm::make_early_inc_range(user->getResult(0).getUsers())) {
      auto found = dyn_cast<ReadOp>(reader);
      if (!found || !found.getResult().getType().isF64() ||
          found.getOtherwise() || !found.getAlternatives().empty() ||
          llvm::count(found.getIndices(), user->getResult(0)) != 1)
        return cannotMean(reader);
      if (failed(readMeanAt(read, found)))
        return failure();
    }
  }
  return success();
}

/// `found` reads an array at the category that `place` reads: the mean is an
/// equation over those indices of the op that the two depend on.
LogicalResult MeanReader::readMeanAt(ReadOp place, ReadOp found) {
  auto op = found->getParentOfType<ComputeOp>();
  if (found->getBlock() != op.getBody().getBlocks().begin().operator->() ||
      place->getBlock() != found->getBlock())
    return cannotMean(found);
  // What both need of the body, in its order, and the indices in it.
  llvm::SetVector<Operation *> needed;
  llvm::SetVector<unsigned> indices;
  auto need = [&](Value value, auto &self) -> void {
    if (auto index = dyn_cast<BlockArgument>(value)) {
      indices.insert(index.getArgNumber());
      return;
    }
    Operation *def = value.getDefiningOp();
    if (def->getBlock() != found->getBlock() || !needed.insert(def))
      return;
    for (Value operand : def->getOperands())
      self(operand, self);
  };
  for (Value index : place.getIndices())
    need(index, need);
  for (Value index : found.getIndices())
    if (auto cast = index.getDefiningOp<arith::IndexCastOp>();
        !cast || cast.getOperand() != place.getResult())
      need(index, need);
  SmallVector<unsigned> over(indices.begin(), indices.end());
  llvm::sort(over);
  SmallVector<Attribute> names, extents;
  SmallVector<int64_t> lower;
  for (unsigned index : over) {
    names.push_back(op.getIndices()[index]);
    extents.push_back(op.getExtents()[index]);
    lower.push_back(op.getLower()[index]);
  }
  names.push_back(StringAttr::get(op.getContext(), "k"));
  extents.push_back(lastExtent(weights));
  lower.push_back(0);
  OpBuilder before(op);
  auto mean =
      ComputeOp::create(before, found.getLoc(), "", names, extents, lower,
                        over.size(), Reducer::sum, before.getF64Type());
  Block &block = mean.getBody().front();
  OpBuilder body = OpBuilder::atBlockEnd(&block);
  IRMapping mapping;
  for (auto [number, index] : llvm::enumerate(over))
    mapping.map(op.getIndex(index), block.getArgument(number));
  for (Operation &inner : *found->getBlock())
    if (needed.contains(&inner))
      body.clone(inner, mapping);
  Value category = block.getArguments().back();
  SmallVector<Value> weightAt, foundAt;
  for (Value index : place.getIndices())
    weightAt.push_back(mapping.lookup(index));
  weightAt.push_back(category);
  for (Value index : found.getIndices())
    foundAt.push_back(mapping.lookupOrDefault(index));
  for (auto [at, index] : llvm::zip_equal(foundAt, found.getIndices()))
    if (auto cast = index.getDefiningOp<arith::IndexCastOp>();
        cast && cast.getOperand() == place.getResult())
      at = category;
  Value weight = ReadOp::create(body, loc, weights, weightAt);
  Value value = ReadOp::create(body, loc, found.getArray(), foundAt);
  Value product = arith::MulFOp::create(body, loc, weight, value);
  YieldOp::create(body, loc, product);

  OpBuilder at(op.getContext());
  at.setInsertionPointAfter(found);
  SmallVector<Value> meanAt;
  for (unsigned index : over)
    meanAt.push_back(op.getIndex(index));
  Value read = ReadOp::create(at, loc, mean.getResult(), meanAt);
  Value flip =
      coin ? ReadOp::create(at, loc, coin, ValueRange()).getResult() : Value();
  Value result = eitherIf(at, loc, flip, read,
                          [&] { return at.clone(*found)->getResult(0); });
  found.getResult().replaceAllUsesWith(result);
  found.erase();
  return success();
}

LogicalResult fovea::attn::readMeansOf(ChoiceOp choice, StringRef kind,
                                       Value weights, Value coin) {
  return MeanReader(choice, kind, weights, coin).run();
}

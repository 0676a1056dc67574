//===- ContinueRows.cpp - the row after the last of nested data -----------===//
//
// Decides what decoding generates for nested data whose rows have no other
// length: one further row, up to its end symbol. The equations of the rows are
// copied at place D, after the last of D rows: the new row is generated, and
// the earlier ones are given. attn-schedule determines whether it can be
// computed step by step.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Equations.h"
#include "passes/derive/Derive.h"
#include "llvm/ADT/SetVector.h"

namespace fovea::attn {
#define GEN_PASS_DEF_CONTINUEROWS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

using namespace mlir;
using namespace fovea::attn;

namespace {

class RowMaker {
public:
  explicit RowMaker(ChoiceOp choice)
      : choice(choice), builder(choice),
        type(cast<ArrayType>(choice.getObserved().getType())),
        rows(type.getExtent(0)), words(type.getExtent(1)) {}

  /// Generates the row after the last instead of the observed choice.
  LogicalResult make();

private:
  Value rowOf(Value array, unsigned axis);
  SmallVector<Value> rowsOf(ValueRange arrays, unsigned axis);
  ArrayType typeOfRow(ArrayType type, unsigned axis);
  SmallVector<Attribute> extentsOfRow(ArrayRef<Attribute> extents,
                                      unsigned axis);
  void makeRow(ComputeOp op, unsigned index);
  void makeRead(ReadOp read, ComputeOp op, unsigned index);
  void checkSums(ComputeOp op, std::optional<unsigned> index, int64_t most);
  void checkGiven();
  void makeMark(MarkOp mark);
  void refuse(Operation *op, const Twine &text);
  void refuseReads(Operation *op) {
    refuse(op, "an equation reads more than the rows before its own");
  }

  ChoiceOp choice;
  OpBuilder builder;
  ArrayType type;        // of the data
  Attribute rows, words; // D and W
  StringAttr open;       // W[D]
  bool isRefused = false;
  /// An array and its row axis.
  llvm::DenseMap<std::pair<Value, unsigned>, Value> known;
  /// Arrays read from the given rows, and their inputs.
  llvm::SetVector<Operation *> needed;
  /// Equations whose bodies are still those of all rows.
  SmallVector<std::pair<ComputeOp, unsigned>> work;
};

} // namespace

/// One error is enough: dependent arrays have no row either.
void RowMaker::refuse(Operation *op, const Twine &text) {
  if (!isRefused)
    emitError(op->getLoc())
        << "decoding: the row of '" << choice.getTarget() << "' after the "
        << extentText(rows) << " given ones cannot be generated: " << text;
  isRefused = true;
}

/// The extents without the extent of `axis`; lengths that vary along it are the
/// row's.
SmallVector<Attribute> RowMaker::extentsOfRow(ArrayRef<Attribute> extents,
                                              unsigned axis) {
  SmallVector<Attribute> result;
  bool isOwn = false; // whether the row before an axis is the one that is made
  for (auto [number, extent] : llvm::enumerate(extents)) {
    if (extent == rows)
      isOwn = number == axis;
    if (number != axis)
      result.push_back(isOwn && extent == words ? open : extent);
  }
  return result;
}

ArrayType RowMaker::typeOfRow(ArrayType type, unsigned axis) {
  return type.withShape(extentsOfRow(type.getShape().getValue(), axis));
}

SmallVector<Value> RowMaker::rowsOf(ValueRange arrays, unsigned axis) {
  SmallVector<Value> result;
  for (Value array : arrays)
    result.push_back(rowOf(array, axis));
  return result;
}

/// The value of `array` in the row; along `axis` are the given ones.
Value RowMaker::rowOf(Value array, unsigned axis) {
  if (Value row = known.lookup({array, axis}))
    return row;
  Operation *def = array.getDefiningOp();
  auto equation = dyn_cast<ComputeOp>(def);
  auto reshape = dyn_cast<ReshapeOp>(def);
  auto latent = dyn_cast<ChoiceOp>(def);
  bool isCopied = (equation && axis < equation.getNumParallel()) ||
                  (reshape && axis < reshape.getKeep()) ||
                  (latent && latent.getLatent()) || isa<ConcatOp>(def);
  if (!isCopied) {
    std::string name = latent ? latent.getTarget().str() : "";
    if (auto data = dyn_cast<DataOp>(def))
      name = data.getSource().str();
    refuse(choice, "it needs " +
                       (name.empty() ? "an array" : "'" + name + "'") +
                       ", which each of the " + extentText(rows) +
                       " given rows has, and it has not");
    return array;
  }
  Operation *copy = builder.clone(*def);
  Value row = copy->getResult(0);
  row.setType(typeOfRow(cast<ArrayType>(array.getType()), axis));
  known[{array, axis}] = row;
  if (auto compute = dyn_cast<ComputeOp>(copy)) {
    work.push_back({compute, axis});
    return row;
  }
  if (reshape)
    cast<ReshapeOp>(copy).setKeep(reshape.getKeep() - 1);
  copy->setOperands(rowsOf(def->getOperands(), axis));
  return row;
}

/// Turns the copy of an equation into the row's equation: its index number
/// `index` is the number of the given rows.
void RowMaker::makeRow(ComputeOp op, unsigned index) {
  checkSums(op, index, /*most=*/-1);
  SmallVector<ReadOp> reads;
  SmallVector<ExtentOp> lengths;
  op.walk([&](ReadOp read) { reads.push_back(read); });
  op.walk([&](ExtentOp extent) { lengths.push_back(extent); });
  for (ReadOp read : reads)
    makeRead(read, op, index);
  for (ExtentOp length : lengths) {
    if (length.getLengthAttr() == rows)
      refuse(op, "an equation uses the length " + extentText(rows));
    auto parent = dyn_cast_or_null<BlockArgument>(length.getParent());
    if (!parent || parent.getArgNumber() != index)
      continue;
    length.setLengthAttr(open);
    length.getParentMutable().clear();
  }
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    BlockArgument argument = region.getArgument(index);
    auto inside = OpBuilder::atBlockBegin(&region.front());
    if (!argument.use_empty())
      argument.replaceAllUsesWith(ExtentOp::create(
          inside, op.getLoc(), cast<StringAttr>(rows), Value()));
    region.front().eraseArgument(index);
  }
  SmallVector<Attribute> names(op.getIndices().getValue());
  SmallVector<int64_t> lower(op.getLower());
  names.erase(names.begin() + index);
  lower.erase(lower.begin() + index);
  op.setExtentsAttr(
      builder.getArrayAttr(extentsOfRow(op.getExtents().getValue(), index)));
  op.setIndicesAttr(builder.getArrayAttr(names));
  op.setLower(lower);
  op.setNumParallel(op.getNumParallel() - 1);
  op.setOrderAttr(movedBy(-1, op.getOrderAttr()));
}

/// Redirects reads of the row itself to the new row, and others to the given
/// rows.
void RowMaker::makeRead(ReadOp read, ComputeOp op, unsigned index) {
  std::optional<unsigned> own;
  for (auto [axis, extent] :
       llvm::enumerate(read.getArrayType().getShape().getValue())) {
    if (extent != rows)
      continue;
    AccessIndex at = classify(read.getIndices()[axis], op);
    bool isIndex = at.kind == AccessIndex::Iterator;
    if (isIndex && at.iterator == index && at.offset == 0 && !own) {
      own = axis;
      continue;
    }
    bool isBefore =
        at.kind == AccessIndex::Constant ||
        (isIndex && at.offset <= 0 && (at.iterator != index || at.offset < 0));
    if (!isBefore)
      return refuseReads(op);
  }
  if (!own) {
    needed.insert(read.getArray().getDefiningOp());
    for (Value alternative : read.getAlternatives())
      needed.insert(alternative.getDefiningOp());
    return;
  }
  SmallVector<Value> indices(read.getIndices()), alternatives;
  SmallVector<Attribute> cases;
  indices.erase(indices.begin() + *own);
  for (auto [number, alternative] : llvm::enumerate(read.getAlternatives())) {
    SmallVector<Attribute> places;
    unsigned axis = *own;
    bool isElsewhere = false; // it stands at a row that is not this one
    for (auto place :
         cast<ArrayAttr>((*read.getPlaces())[number]).getAsRange<ArrayAttr>()) {
      unsigned placed = cast<IntegerAttr>(place[0]).getInt();
      isElsewhere |= placed == *own;
      axis -= placed < *own;
      places.push_back(builder.getArrayAttr(
          {builder.getI64IntegerAttr(placed - (placed > *own)),
           place[1] == words ? open : place[1]}));
    }
    if (isElsewhere)
      continue;
    cases.push_back(builder.getArrayAttr(places));
    alternatives.push_back(rowOf(alternative, axis));
  }
  OpBuilder before(read);
  Value row = ReadOp::create(
      before, read.getLoc(), read.getType(), rowOf(read.getArray(), *own),
      indices, alternatives, read.getOtherwise(),
      cases.empty() ? ArrayAttr() : builder.getArrayAttr(cases));
  read.replaceAllUsesWith(row);
  read.erase();
}

/// Refuses a sum over rows other than the earlier ones. Index number `index` of
/// the equation counts the rows, and earlier means up to `most` after it.
void RowMaker::checkSums(ComputeOp op, std::optional<unsigned> index,
                         int64_t most) {
  SmallVector<Guard> guards = guardsOf(op);
  for (unsigned i = op.getNumParallel(); i < op.getNumIndices(); ++i) {
    bool isBefore = llvm::any_of(guards, [&](const Guard &guard) {
      bool isRow = index ? guard.rhs == *index
                         : guard.rhs < op.getNumParallel() &&
                               op.getExtents()[guard.rhs] == rows;
      return guard.lhs == i && isRow && guard.offset <= most;
    });
    if (op.getExtents()[i] == rows && !isBefore)
      refuseReads(op);
  }
}

/// The given rows are computed without the new one: refuses reads of later
/// rows, or of their number.
void RowMaker::checkGiven() {
  for (unsigned number = 0; number < needed.size() && !isRefused; ++number) {
    Operation *op = needed[number];
    auto compute = dyn_cast<ComputeOp>(op);
    if (compute)
      checkSums(compute, std::nullopt, /*most=*/0);
    op->walk([&](ExtentOp extent) {
      if (extent.getLengthAttr() == rows)
        refuse(op, "an equation uses the length " + extentText(rows));
    });
    for (const Access &access : accessesOf(op)) {
      needed.insert(access.array.getDefiningOp());
      auto shape = cast<ArrayType>(access.array.getType()).getShape();
      for (auto [axis, at] : llvm::enumerate(access.indices))
        if (compute && shape[axis] == rows &&
            at.kind != AccessIndex::Constant &&
            (at.kind != AccessIndex::Iterator || at.offset > 0))
          refuseReads(op);
    }
  }
}

/// A mark with the indices of the data judges the row.
void RowMaker::makeMark(MarkOp mark) {
  ArrayType type = mark.getValue().getType();
  if (type.getShape() == this->type.getShape())
    mark.getValueMutable().assign(rowOf(mark.getValue(), 0));
  else if (type.getRank() > 0 && type.getExtent(0) == rows)
    refuse(mark, "the mark '" + mark.getTarget() + "' judges it as a whole");
}

LogicalResult RowMaker::make() {
  auto system = choice->getParentOfType<SystemOp>();
  open =
      builder.getStringAttr(extentText(words) + "[" + extentText(rows) + "]");
  auto start = OpBuilder::atBlockBegin(&system.getBody().front());
  LengthOp::create(start, choice.getLoc(), open, StringAttr(), AffineMapAttr(),
                   ArrayAttr(), builder.getUnitAttr(), UnitAttr());
  for (Value parameter : choice.getParameters())
    if (llvm::is_contained(cast<ArrayType>(parameter.getType())
                               .getShape()
                               .getValue()
                               .drop_front(),
                           rows))
      refuse(choice, "it is chosen from as many values as there are rows");
  auto generated = ChoiceOp::create(
      builder, choice.getLoc(), typeOfRow(type, 0), choice.getTargetAttr(),
      choice.getDistributionAttr(), choice.getParameterNamesAttr(),
      rowsOf(choice.getParameters(), 0), Value(), Value(), Value(), Value(),
      choice.getEndAttr(), UnitAttr(), DictionaryAttr());
  generated->setAttr(continuedName, builder.getUnitAttr());
  known[{choice.getObserved(), 0}] = generated.getResult();
  for (auto mark : system.getOps<MarkOp>())
    makeMark(mark);
  while (!work.empty()) {
    auto [op, index] = work.pop_back_val();
    makeRow(op, index);
  }
  checkGiven();
  choice.erase();
  // Such a shown equation has the row's values.
  for (auto equation : system.getOps<EquationOp>())
    if (Value row = known.lookup({equation.getValue(), 0}))
      equation.getValueMutable().assign(row);
  return failure(isRefused);
}

namespace {
struct ContinueRows : fovea::attn::impl::ContinueRowsBase<ContinueRows> {
  void runOnOperation() override {
    auto system = getOperation().lookupSymbol<SystemOp>("decoding");
    SmallVector<ChoiceOp> choices;
    if (system)
      for (auto choice : system.getOps<ChoiceOp>())
        if (choice->hasAttr(continuedName) && choice.getObserved())
          choices.push_back(choice);
    if (choices.empty())
      return markAllAnalysesPreserved();
    for (ChoiceOp choice : choices)
      if (failed(RowMaker(choice).make()))
        return signalPassFailure();
    // Given rows need no latent choices, unless a further one reads them.
    eraseDeadArrays(system, /*withLatents=*/true);
  }
};
} // namespace

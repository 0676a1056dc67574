//===- ArrayOps.cpp - constraints of reads and of the other array ops -----===//
//
// attn.compute is in ComputeOps.cpp.
//
//===----------------------------------------------------------------------===//

#include "dialect/AttnDialect.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;

//===----------------------------------------------------------------------===//
// ReadOp
//===----------------------------------------------------------------------===//

void ReadOp::build(OpBuilder &builder, OperationState &state, Value array,
                   ValueRange indices) {
  build(builder, state, cast<ArrayType>(array.getType()).getScalarType(), array,
        indices, /*alternatives=*/ValueRange(), /*otherwise=*/Value(),
        /*places=*/ArrayAttr());
}

/// The axis of a pair [axis, place], where `pair` is one.
static std::optional<int64_t> getAxisOfPlace(Attribute pair) {
  auto both = dyn_cast<ArrayAttr>(pair);
  if (!both || both.size() != 2)
    return std::nullopt;
  auto axis = dyn_cast<IntegerAttr>(both[0]);
  auto place = dyn_cast<IntegerAttr>(both[1]);
  if (!axis || !axis.getType().isInteger(64) ||
      !(place ? place.getType().isInteger(64) : isa<StringAttr>(both[1])))
    return std::nullopt;
  return axis.getInt();
}

LogicalResult ExtentOp::verify() {
  if (getLargest() && getParent())
    return emitOpError("gives the largest '")
           << getLength() << "', which has no index";
  return success();
}

bool ReadOp::isAtFirstIndex(Value array) {
  if (array != getArray() || getIndices().empty() ||
      llvm::is_contained(getAlternatives(), array))
    return false;
  auto index = dyn_cast<BlockArgument>(getIndices().front());
  return index && index.getArgNumber() == 0 &&
         isa<ComputeOp>(index.getOwner()->getParentOp());
}

LogicalResult ReadOp::verify() {
  ArrayType type = getArrayType();
  // (C1)
  if (static_cast<int64_t>(getIndices().size()) != type.getRank())
    return emitOpError() << "has " << getIndices().size()
                         << " indices but the array has " << type.getRank()
                         << " axes";
  // (C3)
  if (getResult().getType() != type.getScalarType())
    return emitOpError() << "gives " << getResult().getType()
                         << " but the array has elements of "
                         << type.getElementType();
  if (getOtherwise() && getOtherwise().getType() != type.getScalarType())
    return emitOpError() << "has a default of " << getOtherwise().getType()
                         << " but the array has elements of "
                         << type.getElementType();
  size_t numCases = getPlaces() ? getPlaces()->size() : 0;
  if (numCases != getAlternatives().size())
    return emitOpError() << "has " << numCases << " cases but "
                         << getAlternatives().size() << " arrays for them";
  // (C2)
  for (auto [alternative, pairs] : llvm::zip_equal(
           getAlternatives(),
           getPlaces() ? getPlaces()->getValue() : ArrayRef<Attribute>())) {
    auto list = dyn_cast<ArrayAttr>(pairs);
    if (!list)
      return emitOpError() << "has the case " << pairs
                           << " but needs a list of [axis, place]";
    llvm::SmallBitVector placed(type.getRank());
    for (Attribute pair : list) {
      std::optional<int64_t> axis = getAxisOfPlace(pair);
      if (!axis)
        return emitOpError()
               << "has a case with " << pair << " but needs [axis, place]";
      if (*axis < 0 || *axis >= type.getRank())
        return emitOpError()
               << "has a case for axis " << *axis << " but the array has "
               << type.getRank() << " axes";
      if (placed.test(*axis))
        return emitOpError()
               << "has a case that places axis " << *axis << " twice";
      placed.set(*axis);
    }
    SmallVector<Attribute> rest;
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      if (!placed[axis])
        rest.push_back(type.getExtent(axis));
    if (alternative.getType() != type.withShape(rest)) {
      InFlightDiagnostic diag =
          emitOpError() << "needs " << type.withShape(rest)
                        << " for a case but gets " << alternative.getType();
      diag.attachNote(alternative.getLoc()) << "the case's array is given here";
      return diag;
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// RoundedOp
//===----------------------------------------------------------------------===//

LogicalResult RoundedOp::verify() {
  // (C1)
  if (!getTo().isBF16())
    return emitOpError() << "rounds to " << getTo()
                         << "; only bf16 is supported";
  return success();
}

bool fovea::attn::isRounded(Value number,
                            llvm::function_ref<bool(Value)> isStored) {
  Operation *op = number.getDefiningOp();
  auto of = [&](Value part) { return isRounded(part, isStored); };
  if (auto read = dyn_cast_or_null<ReadOp>(op))
    return isStored(read.getArray()) &&
           (!read.getOtherwise() || of(read.getOtherwise()));
  if (auto branch = dyn_cast_or_null<scf::IfOp>(op)) {
    unsigned result = cast<OpResult>(number).getResultNumber();
    return of(branch.thenYield().getOperand(result)) &&
           of(branch.elseYield().getOperand(result));
  }
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
    return of(select.getTrueValue()) && of(select.getFalseValue());
  return isa_and_present<RoundedOp>(op) ||
         matchPattern(number, m_AnyZeroFloat());
}

//===----------------------------------------------------------------------===//
// ConcatOp, ReshapeOp, RandomOp, AppendOp
//===----------------------------------------------------------------------===//

void ConcatOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getLabel().value_or(""));
}

LogicalResult ConcatOp::verify() {
  ArrayType result = getResult().getType();
  if (getParts().empty() || result.getRank() == 0)
    return emitOpError() << "needs a part and an axis to join along";
  int64_t total = 0;
  for (Value part : getParts()) {
    auto type = cast<ArrayType>(part.getType());
    // (C1)
    if (type.getRank() != result.getRank() ||
        type.getElementType() != result.getElementType() ||
        type.getShape().getValue().drop_back() !=
            result.getShape().getValue().drop_back()) {
      InFlightDiagnostic diag = emitOpError()
                                << "gives " << result << " but joins " << type;
      diag.attachNote(part.getLoc()) << "the part is given here";
      return diag;
    }
    auto size = dyn_cast<IntegerAttr>(type.getShape().getValue().back());
    if (!size)
      return emitOpError() << "joins along the extent "
                           << extentText(type.getShape().getValue().back())
                           << ", which is not a number";
    if (llvm::AddOverflow(total, size.getInt(), total))
      return emitOpError() << "joins more elements than 64 bits count";
  }
  Attribute last = result.getShape().getValue().back();
  if (last != Builder(getContext()).getI64IntegerAttr(total))
    return emitOpError() << "joins " << total << " elements but gives "
                         << extentText(last);
  return success();
}

void ReshapeOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getLabel().value_or(""));
}

LogicalResult ReshapeOp::verify() {
  ArrayType from = getOperand().getType(), to = getResult().getType();
  int64_t keep = getKeep();
  // (C1)
  if (keep > from.getRank() || keep > to.getRank())
    return emitOpError() << "keeps " << keep << " axes but has "
                         << from.getRank() << " and " << to.getRank();
  if (from.getElementType() != to.getElementType() ||
      from.getShape().getValue().take_front(keep) !=
          to.getShape().getValue().take_front(keep))
    return emitOpError() << "keeps " << keep << " axes but turns " << from
                         << " into " << to;
  // (C2)
  int64_t before = 1, after = 1;
  for (auto [type, product] : {std::pair(from, &before), {to, &after}})
    for (Attribute extent : type.getShape().getValue().drop_front(keep)) {
      auto size = dyn_cast<IntegerAttr>(extent);
      if (!size)
        return emitOpError() << "regroups the extent " << extentText(extent)
                             << ", which is not a number";
      if (llvm::MulOverflow(*product, size.getInt(), *product))
        return emitOpError()
               << "regroups more elements than 64 bits count: " << type;
    }
  if (before != after)
    return emitOpError() << "has " << before << " elements but gives " << after;
  return success();
}

Value RandomOp::placeOf(OpBuilder &builder, Location loc, ValueRange indices,
                        ArrayRef<Attribute> extents) {
  Value place;
  for (auto [index, extent] : llvm::zip_equal(indices, extents)) {
    if (!place) {
      place = index;
      continue;
    }
    Value size;
    if (auto known = dyn_cast<IntegerAttr>(extent))
      size = arith::ConstantIndexOp::create(builder, loc, known.getInt());
    else
      // A row of a nested length has the room of the longest.
      size = ExtentOp::create(builder, loc, cast<StringAttr>(extent), Value(),
                              builder.getUnitAttr());
    place = arith::MulIOp::create(builder, loc, place, size);
    place = arith::AddIOp::create(builder, loc, place, index);
  }
  return place ? place : arith::ConstantIndexOp::create(builder, loc, 0);
}

LogicalResult RandomOp::verify() {
  // (C1)
  if (getWord() > 3)
    return emitOpError() << "takes word " << getWord()
                         << " of a place, which has four";
  // (C2)
  if (getShared() && getSample())
    return emitOpError() << "is shared by all samples but names one";
  return success();
}

LogicalResult AppendOp::verify() {
  ArrayType type = getArray().getType();
  int64_t axis = getAxis();
  // (C1)
  if (axis >= type.getRank())
    return emitOpError() << "appends along axis " << axis
                         << " but the array has " << type.getRank() << " axes";
  if (getRow().getType() != type.dropAxis(axis))
    return emitOpError() << "needs a row of " << type.dropAxis(axis)
                         << " but gets " << getRow().getType();
  return success();
}

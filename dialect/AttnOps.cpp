//===- AttnOps.cpp - verifiers of the array and model ops -----------------===//

#include "dialect/AttnDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace fovea::attn;

/// `custom<ElementOf>`: a result of the array's element type is not written.
static ParseResult parseElementOf(OpAsmParser &parser, Type array,
                                  Type &element) {
  auto type = dyn_cast<ArrayType>(array);
  if (!type)
    return parser.emitError(parser.getCurrentLocation())
           << "expected an array type, not " << array;
  element = type.getElementType();
  return success();
}
static void printElementOf(OpAsmPrinter &, Operation *, Type, Type) {}

/// `custom<SameType>`: a result of the operand's type is not written.
static ParseResult parseSameType(OpAsmParser &, Type operand, Type &result) {
  result = operand;
  return success();
}
static void printSameType(OpAsmPrinter &, Operation *, Type, Type) {}

namespace fovea::attn::syntax {
ParseResult parseComputeSyntax(OpAsmParser &, ArrayAttr &, ArrayAttr &,
                               DenseI64ArrayAttr &, IntegerAttr &,
                               ReducerAttr &, Region &, Region &);
void printComputeSyntax(OpAsmPrinter &, ComputeOp, ArrayAttr, ArrayAttr,
                        DenseI64ArrayAttr, IntegerAttr, ReducerAttr, Region &,
                        Region &);
ParseResult parseLoopSyntax(OpAsmParser &,
                            SmallVectorImpl<OpAsmParser::UnresolvedOperand> &,
                            SmallVectorImpl<Type> &, DenseI64ArrayAttr &,
                            Region &, SmallVectorImpl<Type> &);
void printLoopSyntax(OpAsmPrinter &, OperandRange, DenseI64ArrayAttr, Region &,
                     TypeRange);
} // namespace fovea::attn::syntax

template <typename... Args>
static ParseResult parseCompute(OpAsmParser &parser, Args &...args) {
  return syntax::parseComputeSyntax(parser, args...);
}
template <typename... Args>
static void printCompute(OpAsmPrinter &printer, ComputeOp op, Args &&...args) {
  syntax::printComputeSyntax(printer, op, args...);
}
template <typename... Args>
static ParseResult parseLoop(OpAsmParser &parser, Args &...args) {
  return syntax::parseLoopSyntax(parser, args...);
}
static void printLoop(OpAsmPrinter &printer, Operation *, OperandRange inits,
                      TypeRange, DenseI64ArrayAttr axes, Region &body,
                      TypeRange results) {
  syntax::printLoopSyntax(printer, inits, axes, body, results);
}

#define GET_OP_CLASSES
#include "dialect/AttnOps.cpp.inc"

RegionKind SystemOp::getRegionKind(unsigned) { return RegionKind::Graph; }

//===----------------------------------------------------------------------===//
// ReadOp
//===----------------------------------------------------------------------===//

void ReadOp::build(OpBuilder &builder, OperationState &state, Value array,
                   ValueRange indices) {
  build(builder, state, cast<ArrayType>(array.getType()).getElementType(),
        array, indices, /*alternatives=*/ValueRange(), /*otherwise=*/Value(),
        /*places=*/ArrayAttr());
}

LogicalResult ReadOp::verify() {
  ArrayType type = getArrayType();
  // (C1)
  if (static_cast<int64_t>(getIndices().size()) != type.getRank())
    return emitOpError() << "has " << getIndices().size()
                         << " indices but the array has " << type.getRank()
                         << " axes";
  // (C3)
  if (getResult().getType() != type.getElementType())
    return emitOpError() << "gives " << getResult().getType()
                         << " but the array has elements of "
                         << type.getElementType();
  if (getOtherwise() && getOtherwise().getType() != type.getElementType())
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
      return emitOpError() << "has a case that is no list of [axis, place]";
    llvm::SmallBitVector placed(type.getRank());
    for (Attribute pair : list) {
      auto both = dyn_cast<ArrayAttr>(pair);
      auto axis = both && both.size() == 2 ? dyn_cast<IntegerAttr>(both[0])
                                           : IntegerAttr();
      if (!axis || !isa<IntegerAttr, StringAttr>(both[1]))
        return emitOpError() << "has a case that is no list of [axis, place]";
      if (axis.getInt() < 0 || axis.getInt() >= type.getRank())
        return emitOpError()
               << "has a case for axis " << axis.getInt()
               << " but the array has " << type.getRank() << " axes";
      placed.set(axis.getInt());
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
// ConcatOp, ReshapeOp, AppendOp
//===----------------------------------------------------------------------===//

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
    total += size.getInt();
  }
  Attribute last = result.getShape().getValue().back();
  if (last != Builder(getContext()).getI64IntegerAttr(total))
    return emitOpError() << "joins " << total << " elements but gives "
                         << extentText(last);
  return success();
}

LogicalResult ReshapeOp::verify() {
  ArrayType from = getOperand().getType(), to = getResult().getType();
  int64_t keep = getKeep();
  if (keep < 0 || keep > from.getRank() || keep > to.getRank())
    return emitOpError() << "keeps " << keep << " axes but has "
                         << from.getRank() << " and " << to.getRank();
  if (from.getElementType() != to.getElementType() ||
      from.getShape().getValue().take_front(keep) !=
          to.getShape().getValue().take_front(keep))
    return emitOpError() << "keeps " << keep << " axes but turns " << from
                         << " into " << to;
  // (C1)
  auto product = [&](ArrayType type) -> std::optional<int64_t> {
    int64_t size = 1;
    for (Attribute extent : type.getShape().getValue().drop_front(keep)) {
      if (!isa<IntegerAttr>(extent))
        return std::nullopt;
      size *= cast<IntegerAttr>(extent).getInt();
    }
    return size;
  };
  std::optional<int64_t> before = product(from), after = product(to);
  if (!before || !after)
    return emitOpError() << "regroups an extent that is not a number";
  if (*before != *after)
    return emitOpError() << "has " << *before << " elements but gives "
                         << *after;
  return success();
}

LogicalResult AppendOp::verify() {
  ArrayType type = getArray().getType();
  int64_t axis = getAxis();
  if (axis < 0 || axis >= type.getRank())
    return emitOpError() << "appends along axis " << axis
                         << " but the array has " << type.getRank() << " axes";
  if (getRow().getType() != type.dropAxis(axis))
    return emitOpError() << "needs a row of " << type.dropAxis(axis)
                         << " but gets " << getRow().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// ChoiceOp
//===----------------------------------------------------------------------===//

LogicalResult ChoiceOp::verify() {
  if (static_cast<bool>(getObserved()) == static_cast<bool>(getResult()))
    return emitOpError() << "has either an observed array or a result";
  if (getParameterNames().size() != getParameters().size())
    return emitOpError() << "names " << getParameterNames().size()
                         << " parameters but has " << getParameters().size();
  return success();
}

//===- LoopOps.cpp - attn.scan and attn.search ----------------------------===//

#include "dialect/Syntax.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;

//===----------------------------------------------------------------------===//
// Syntax: (%i) carries (%before = %init, ..) axes [0, ..] { .. } : types
//===----------------------------------------------------------------------===//

ParseResult
attn::parseLoop(OpAsmParser &parser,
                SmallVectorImpl<OpAsmParser::UnresolvedOperand> &inits,
                SmallVectorImpl<Type> &initTypes, DenseI64ArrayAttr &axes,
                Region &body, SmallVectorImpl<Type> &resultTypes) {
  SmallVector<OpAsmParser::Argument> arguments(1);
  if (parser.parseLParen() || parser.parseArgument(arguments[0]) ||
      parser.parseRParen())
    return failure();
  arguments[0].type = parser.getBuilder().getIndexType();
  auto parseCarry = [&] {
    return failure(parser.parseArgument(arguments.emplace_back()) ||
                   parser.parseEqual() ||
                   parser.parseOperand(inits.emplace_back()) ||
                   parser.parseColonType(arguments.back().type));
  };
  if (succeeded(parser.parseOptionalKeyword("carries")) &&
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseCarry))
    return failure();
  for (OpAsmParser::Argument &argument : llvm::drop_begin(arguments))
    initTypes.push_back(argument.type);
  SmallVector<int64_t> positions;
  auto parseAxis = [&] {
    return parser.parseInteger(positions.emplace_back());
  };
  if (parser.parseKeyword("axes") ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square,
                                     parseAxis) ||
      parser.parseRegion(body, arguments) ||
      parser.parseOptionalColonTypeList(resultTypes))
    return failure();
  axes = parser.getBuilder().getDenseI64ArrayAttr(positions);
  return success();
}

void attn::printLoop(OpAsmPrinter &printer, Operation *, OperandRange inits,
                     TypeRange, DenseI64ArrayAttr axes, Region &body,
                     TypeRange resultTypes) {
  printer << "(" << body.getArgument(0) << ")";
  if (!inits.empty()) {
    printer << " carries (";
    llvm::interleaveComma(llvm::zip(body.getArguments().drop_front(), inits),
                          printer, [&](auto pair) {
                            printer << std::get<0>(pair) << " = "
                                    << std::get<1>(pair) << " : "
                                    << std::get<1>(pair).getType();
                          });
    printer << ")";
  }
  printer << " axes [";
  llvm::interleaveComma(axes.asArrayRef(), printer);
  printer << "] ";
  printer.printRegion(body, /*printEntryBlockArgs=*/false);
  if (!resultTypes.empty()) {
    printer << " : ";
    llvm::interleaveComma(resultTypes, printer);
  }
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

template <typename LoopOp> static LogicalResult verifyLoop(LoopOp op) {
  Region &body = op.getBody();
  unsigned numCarries = op.getInits().size();
  // (C1)
  if (body.getNumArguments() != numCarries + 1 ||
      !body.getArgument(0).getType().isIndex())
    return op.emitOpError() << "has " << numCarries
                            << " carries but its body has the arguments ("
                            << body.getArgumentTypes() << ")";
  auto yield = dyn_cast<YieldOp>(body.front().back());
  if (!yield || yield.getNumOperands() != op.getNumResults() ||
      op.getNumResults() < numCarries)
    return op.emitOpError()
           << "has " << op.getNumResults() << " results but its body yields "
           << (yield ? yield.getNumOperands() : 0) << " values";
  for (unsigned i = 0; i < numCarries; ++i) {
    Type type = op.getInits()[i].getType();
    if (Type argument = body.getArgument(i + 1).getType(); argument != type)
      return op.emitOpError() << "carries " << type << " from its init but "
                              << argument << " into its body";
    if (Type next = yield.getOperand(i).getType(); next != type)
      return op.emitOpError() << "carries " << type << " from its init but "
                              << next << " from its body";
    if (Type last = op.getResult(i).getType(); last != type)
      return op.emitOpError() << "carries " << type << " but gives " << last;
  }
  // (C2)
  if (op.getAxes().size() != op.getNumResults() - numCarries)
    return op.emitOpError()
           << "stacks " << op.getNumResults() - numCarries
           << " arrays but names " << op.getAxes().size() << " axes";
  for (auto [i, axis] : llvm::enumerate(op.getAxes())) {
    auto stacked = cast<ArrayType>(op.getResult(numCarries + i).getType());
    Type row = yield.getOperand(numCarries + i).getType();
    if (axis < 0 || axis >= stacked.getRank() ||
        stacked.getExtent(axis) != op.getExtent() ||
        stacked.dropAxis(axis) != row)
      return op.emitOpError() << "stacks rows of " << row << " at axis " << axis
                              << " but gives " << stacked;
  }
  return success();
}

static void nameLoopArguments(Region &region, OpAsmSetValueNameFn setName) {
  if (region.empty())
    return;
  setName(region.getArgument(0), "step");
  for (BlockArgument carry : region.getArguments().drop_front())
    setName(carry, "carry");
}

void ScanOp::getAsmBlockArgumentNames(Region &region,
                                      OpAsmSetValueNameFn setName) {
  nameLoopArguments(region, setName);
}
LogicalResult ScanOp::verify() { return verifyLoop(*this); }

void SearchOp::getAsmBlockArgumentNames(Region &region,
                                        OpAsmSetValueNameFn setName) {
  nameLoopArguments(region, setName);
}

LogicalResult SearchOp::verify() {
  // (C3)
  if (getStates().size() != getInits().size())
    return emitOpError() << "describes " << getStates().size()
                         << " states but carries " << getInits().size();
  for (auto state : getStates().getAsRange<DictionaryAttr>()) {
    auto kind = state.getAs<StringAttr>("kind");
    if (!state.getAs<StringAttr>("name") || !kind ||
        !llvm::is_contained({"carried", "window", "growing", "accumulator"},
                            kind.getValue()))
      return emitOpError() << "describes a state as " << state
                           << " but needs a name, and as its kind 'carried', "
                              "'window', 'growing' or 'accumulator'";
    if (Attribute window = state.get("window")) {
      auto steps = dyn_cast<IntegerAttr>(window);
      if (!steps || !steps.getType().isInteger(64) || steps.getInt() < 0)
        return emitOpError() << "has a state with the window " << window
                             << " but needs a number of steps";
    }
    if (Attribute reorder = state.get("reorder");
        reorder && !isa<BoolAttr>(reorder))
      return emitOpError() << "has a state with reorder = " << reorder
                           << " but needs true or false";
  }
  return verifyLoop(*this);
}

LogicalResult MarkOp::verify() {
  // (C1)
  StringRef target = getTarget();
  if (!llvm::is_contained({"valid", "stop", "score", "longest"}, target))
    return emitOpError() << "marks '" << target
                         << "' but only 'valid', 'stop', 'score' and 'longest' "
                            "steer a search";
  Type type = getValue().getType().getElementType();
  Builder builder(getContext());
  Type needed = target == "score"     ? Type(builder.getF64Type())
                : target == "longest" ? builder.getI64Type()
                                      : builder.getI1Type();
  if (type != needed)
    return emitOpError() << "marks '" << target << "' with " << type
                         << " but needs " << needed;
  return success();
}

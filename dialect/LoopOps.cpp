//===- LoopOps.cpp - attn.scan and attn.search ----------------------------===//

#include "dialect/AttnDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace fovea::attn;

//===----------------------------------------------------------------------===//
// Syntax: (%i) carries (%before = %init, ..) axes [0, ..] { .. } : types
//===----------------------------------------------------------------------===//

namespace fovea::attn::syntax {
ParseResult
parseLoopSyntax(OpAsmParser &parser,
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

void printLoopSyntax(OpAsmPrinter &printer, OperandRange inits,
                     DenseI64ArrayAttr axes, Region &body,
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
} // namespace fovea::attn::syntax

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

template <typename LoopOp> static LogicalResult verifyLoop(LoopOp op) {
  Region &body = op.getBody();
  unsigned numCarries = op.getInits().size();
  // (C1)
  if (body.getNumArguments() != numCarries + 1 ||
      !body.getArgument(0).getType().isIndex())
    return op.emitOpError()
           << "has " << numCarries << " carries but its body has "
           << body.getNumArguments() << " arguments";
  auto yield = dyn_cast<YieldOp>(body.front().getTerminator());
  if (!yield || yield.getNumOperands() != op.getNumResults() ||
      op.getNumResults() < numCarries)
    return op.emitOpError()
           << "has " << op.getNumResults() << " results but its body yields "
           << (yield ? yield.getNumOperands() : 0) << " values";
  for (unsigned i = 0; i < numCarries; ++i) {
    Type type = op.getInits()[i].getType();
    if (body.getArgument(i + 1).getType() != type ||
        yield.getOperand(i).getType() != type ||
        op.getResult(i).getType() != type)
      return op.emitOpError()
             << "carries " << type << " from its init but "
             << yield.getOperand(i).getType() << " from its body";
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
  if (getStates().size() != getInits().size())
    return emitOpError() << "describes " << getStates().size()
                         << " states but carries " << getInits().size();
  return verifyLoop(*this);
}

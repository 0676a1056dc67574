//===- ComputeOps.cpp - attn.compute: syntax and constraints --------------===//

#include "dialect/AttnDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace fovea::attn;

bool ComputeOp::isNormaliser() {
  return getReducer() == Reducer::softmax ||
         getReducer() == Reducer::log_softmax ||
         getReducer() == Reducer::cumsum;
}

void ComputeOp::getAsmBlockArgumentNames(Region &region,
                                         OpAsmSetValueNameFn setName) {
  for (auto [argument, name] :
       llvm::zip(region.getArguments(), getIndices().getAsRange<StringAttr>()))
    setName(argument, name.getValue());
}

void ComputeOp::build(OpBuilder &builder, OperationState &state,
                      StringRef label, ArrayRef<Attribute> names,
                      ArrayRef<Attribute> extents, ArrayRef<int64_t> lower,
                      int64_t numParallel, Reducer reducer, Type elementType,
                      bool withCondition) {
  if (!label.empty())
    state.addAttribute("label", builder.getStringAttr(label));
  SmallVector<int64_t> zeros(extents.size(), 0);
  state.addAttribute("indices", builder.getArrayAttr(names));
  state.addAttribute("extents", builder.getArrayAttr(extents));
  state.addAttribute(
      "lower", builder.getDenseI64ArrayAttr(lower.empty() ? zeros : lower));
  state.addAttribute("numParallel", builder.getI64IntegerAttr(numParallel));
  state.addAttribute("reducer",
                     ReducerAttr::get(builder.getContext(), reducer));
  bool keeps = reducer == Reducer::softmax || reducer == Reducer::log_softmax ||
               reducer == Reducer::cumsum;
  state.addTypes(ArrayType::get(
      keeps ? extents : extents.take_front(numParallel), elementType));
  SmallVector<Type> types(extents.size(), builder.getIndexType());
  SmallVector<Location> locs(extents.size(), state.location);
  Region *condition = state.addRegion();
  if (withCondition)
    condition->emplaceBlock().addArguments(types, locs);
  state.addRegion()->emplaceBlock().addArguments(types, locs);
}

//===----------------------------------------------------------------------===//
// Syntax: (%t: "T", %i: 1 to "S") sum (%a: 512) where { .. } { .. }
//===----------------------------------------------------------------------===//

static ParseResult parseExtent(OpAsmParser &parser, Attribute &extent,
                               int64_t &lower) {
  Builder &builder = parser.getBuilder();
  std::string name;
  lower = 0;
  if (succeeded(parser.parseOptionalString(&name))) {
    extent = builder.getStringAttr(name);
    return success();
  }
  int64_t number;
  if (parser.parseInteger(number))
    return failure();
  if (failed(parser.parseOptionalKeyword("to"))) {
    extent = builder.getI64IntegerAttr(number);
    return success();
  }
  int64_t ignored;
  if (parseExtent(parser, extent, ignored))
    return failure();
  lower = number;
  return success();
}

static ParseResult parseCompute(OpAsmParser &parser, ArrayAttr &indices,
                                ArrayAttr &extents, DenseI64ArrayAttr &lower,
                                IntegerAttr &numParallel, ReducerAttr &reducer,
                                Region &condition, Region &body) {
  Builder &builder = parser.getBuilder();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Attribute> names, sizes;
  SmallVector<int64_t> lowers;
  auto parseIndex = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    if (parser.parseArgument(argument) || parser.parseColon() ||
        parseExtent(parser, sizes.emplace_back(), lowers.emplace_back()))
      return failure();
    argument.type = builder.getIndexType();
    names.push_back(builder.getStringAttr(argument.ssaName.name.drop_front()));
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseIndex))
    return failure();
  numParallel = builder.getI64IntegerAttr(names.size());
  Reducer kind = Reducer::none;
  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(
          &keyword,
          {"sum", "prod", "mean", "max", "min", "argmax", "argmin", "any",
           "all", "logsumexp", "softmax", "log_softmax", "cumsum"}))) {
    kind = *symbolizeReducer(keyword);
    if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                       parseIndex))
      return failure();
  }
  reducer = ReducerAttr::get(builder.getContext(), kind);
  indices = builder.getArrayAttr(names);
  extents = builder.getArrayAttr(sizes);
  lower = builder.getDenseI64ArrayAttr(lowers);
  if (succeeded(parser.parseOptionalKeyword("where")) &&
      parser.parseRegion(condition, arguments))
    return failure();
  return parser.parseRegion(body, arguments);
}

static void printCompute(OpAsmPrinter &printer, ComputeOp op, ArrayAttr,
                         ArrayAttr extents, DenseI64ArrayAttr lower,
                         IntegerAttr numParallel, ReducerAttr reducer,
                         Region &condition, Region &body) {
  auto printIndices = [&](unsigned begin, unsigned end) {
    printer << "(";
    for (unsigned i = begin; i < end; ++i) {
      printer << (i == begin ? "" : ", ") << body.getArgument(i) << ": ";
      if (lower[i] != 0)
        printer << lower[i] << " to ";
      if (auto name = dyn_cast<StringAttr>(extents[i]))
        printer << name;
      else
        printer << cast<IntegerAttr>(extents[i]).getInt();
    }
    printer << ")";
  };
  unsigned split = numParallel.getInt();
  printIndices(0, split);
  if (reducer.getValue() != Reducer::none) {
    printer << " " << stringifyReducer(reducer.getValue()) << " ";
    printIndices(split, extents.size());
  }
  if (!condition.empty()) {
    printer << " where ";
    // The condition has arguments of its own: it is printed with the names of
    // the body's.
    printer.shadowRegionArgs(condition, body.getArguments());
    printer.printRegion(condition, /*printEntryBlockArgs=*/false);
  }
  printer << " ";
  printer.printRegion(body, /*printEntryBlockArgs=*/false);
}

namespace fovea::attn::syntax {
ParseResult parseComputeSyntax(OpAsmParser &parser, ArrayAttr &indices,
                               ArrayAttr &extents, DenseI64ArrayAttr &lower,
                               IntegerAttr &numParallel, ReducerAttr &reducer,
                               Region &condition, Region &body) {
  return parseCompute(parser, indices, extents, lower, numParallel, reducer,
                      condition, body);
}
void printComputeSyntax(OpAsmPrinter &printer, ComputeOp op, ArrayAttr indices,
                        ArrayAttr extents, DenseI64ArrayAttr lower,
                        IntegerAttr numParallel, ReducerAttr reducer,
                        Region &condition, Region &body) {
  printCompute(printer, op, indices, extents, lower, numParallel, reducer,
               condition, body);
}
} // namespace fovea::attn::syntax

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

LogicalResult ComputeOp::verify() {
  unsigned num = getNumIndices();
  if (getIndices().size() != num || getLower().size() != num ||
      static_cast<int64_t>(getNumParallel()) > static_cast<int64_t>(num))
    return emitOpError() << "has " << num << " extents, " << getIndices().size()
                         << " names, " << getLower().size()
                         << " lower bounds and " << getNumParallel()
                         << " parallel indices";
  // (C1)
  auto checkRegion = [&](Region &region, StringRef what,
                         Type yielded) -> LogicalResult {
    if (region.getNumArguments() != num ||
        !llvm::all_of(region.getArgumentTypes(),
                      [](Type type) { return type.isIndex(); }))
      return emitOpError() << "has " << num << " indices but its " << what
                           << " has " << region.getNumArguments()
                           << " arguments";
    auto yield = dyn_cast<YieldOp>(region.front().getTerminator());
    if (!yield || yield.getNumOperands() != 1)
      return emitOpError() << "needs one attn.yield of one value in its "
                           << what;
    Type type = yield.getOperand(0).getType();
    if (yielded && type != yielded)
      return emitOpError() << "yields " << type << " from its " << what
                           << " but needs " << yielded;
    return success();
  };
  bool numbersElements =
      getReducer() == Reducer::argmax || getReducer() == Reducer::argmin;
  if (failed(checkRegion(getBody(), "body",
                         numbersElements ? Type() : getElementType())))
    return failure();
  if (hasCondition() && failed(checkRegion(getCondition(), "condition",
                                           IntegerType::get(getContext(), 1))))
    return failure();
  // (C2)
  ArrayRef<Attribute> extents = getExtents().getValue();
  ArrayRef<Attribute> expected =
      isNormaliser() ? extents : extents.take_front(getNumParallel());
  if (getResult().getType().getShape().getValue() != expected)
    return emitOpError() << "runs over "
                         << getResult().getType().withShape(expected)
                         << " but gives " << getResult().getType();
  // (C3)
  if ((getReducer() == Reducer::none) != (getNumReduction() == 0))
    return emitOpError() << "reduces by " << stringifyReducer(getReducer())
                         << " over " << getNumReduction() << " indices";
  if (isNormaliser() && getNumReduction() != 1)
    return emitOpError() << "normalises over " << getNumReduction()
                         << " indices but can only over one";
  return success();
}

//===- ComputeOps.cpp - attn.compute: syntax and constraints --------------===//

#include "dialect/Syntax.h"

using namespace mlir;
using namespace fovea;
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

void ComputeOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getLabel().value_or(""));
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
// Syntax: (%t: "T", %i: 1 to "S") sum (%a: 512) order(chain) where { .. }
// { .. }
//
// The name of an index is its argument's; `%t_0 as "t"` if another value has
// the name.
//===----------------------------------------------------------------------===//

/// `"S"`, `512`, `1 to "S"` or `1 to 512`.
static ParseResult parseRange(OpAsmParser &parser, Attribute &extent,
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
  if (succeeded(parser.parseOptionalKeyword("to"))) {
    lower = number;
    if (succeeded(parser.parseOptionalString(&name))) {
      extent = builder.getStringAttr(name);
      return success();
    }
    if (parser.parseInteger(number))
      return failure();
  }
  extent = builder.getI64IntegerAttr(number);
  return success();
}

/// `order(chain, fused)` or `order(lanes %k)`.
static ParseResult parseOrder(OpAsmParser &parser,
                              ArrayRef<OpAsmParser::Argument> arguments,
                              OrderAttr &order) {
  if (failed(parser.parseOptionalKeyword("order")))
    return success();
  if (parser.parseLParen())
    return failure();
  int64_t lanes = OrderAttr::chain;
  if (failed(parser.parseOptionalKeyword("chain"))) {
    OpAsmParser::UnresolvedOperand index;
    if (parser.parseKeyword("lanes", ": 'chain' or 'lanes %index'") ||
        parser.parseOperand(index))
      return failure();
    const auto *found = llvm::find_if(arguments, [&](const auto &argument) {
      return argument.ssaName.name == index.name &&
             argument.ssaName.number == index.number;
    });
    if (found == arguments.end())
      return parser.emitError(index.location)
             << "'" << index.name << "' is not an index of the equation";
    lanes = found - arguments.begin();
  }
  bool isFused = false;
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword("fused"))
      return failure();
    isFused = true;
  }
  order = OrderAttr::get(parser.getContext(), lanes, isFused);
  return parser.parseRParen();
}

ParseResult attn::parseCompute(OpAsmParser &parser, ArrayAttr &indices,
                               ArrayAttr &extents, DenseI64ArrayAttr &lower,
                               IntegerAttr &numParallel, ReducerAttr &reducer,
                               OrderAttr &order, Region &condition,
                               Region &body) {
  Builder &builder = parser.getBuilder();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Attribute> names, sizes;
  SmallVector<int64_t> lowers;
  auto parseIndex = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    if (parser.parseArgument(argument))
      return failure();
    std::string name = argument.ssaName.name.drop_front().str();
    if (succeeded(parser.parseOptionalKeyword("as")) &&
        parser.parseString(&name))
      return failure();
    argument.type = builder.getIndexType();
    names.push_back(builder.getStringAttr(name));
    return failure(
        parser.parseColon() ||
        parseRange(parser, sizes.emplace_back(), lowers.emplace_back()));
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
                                       parseIndex) ||
        parseOrder(parser, arguments, order))
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

void attn::printCompute(OpAsmPrinter &printer, ComputeOp op, ArrayAttr indices,
                        ArrayAttr extents, DenseI64ArrayAttr lower,
                        IntegerAttr numParallel, ReducerAttr reducer,
                        OrderAttr order, Region &condition, Region &body) {
  auto printIndices = [&](unsigned begin, unsigned end) {
    printer << "(";
    for (unsigned i = begin; i < end; ++i) {
      std::string argument;
      llvm::raw_string_ostream stream(argument);
      printer.printOperand(body.getArgument(i), stream);
      printer << (i == begin ? "" : ", ") << argument;
      auto name = cast<StringAttr>(indices[i]);
      if (StringRef(argument).drop_front() != name.getValue())
        printer << " as " << name;
      printer << ": ";
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
  if (order) {
    printer << " order(";
    if (order.isChain())
      printer << "chain";
    else
      printer << "lanes " << body.getArgument(order.getLanes());
    printer << (order.getFused() ? ", fused)" : ")");
  }
  if (!condition.empty()) {
    printer << " where ";
    // The condition has its own arguments, but is printed with the body's
    // names.
    printer.shadowRegionArgs(condition, body.getArguments());
    printer.printRegion(condition, /*printEntryBlockArgs=*/false);
  }
  printer << " ";
  printer.printRegion(body, /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

/// Returns whether `reducer` accepts elements of `type`, and its result types.
static bool gives(Reducer reducer, Type type, StringRef &types) {
  switch (reducer) {
  case Reducer::none:
    return true;
  case Reducer::mean:
  case Reducer::logsumexp:
  case Reducer::softmax:
  case Reducer::log_softmax:
    types = "f64";
    return type.isF64();
  case Reducer::any:
  case Reducer::all:
    types = "i1";
    return type.isInteger(1);
  case Reducer::argmax:
  case Reducer::argmin:
    types = "i64";
    return type.isInteger(64);
  case Reducer::sum:
  case Reducer::prod:
  case Reducer::max:
  case Reducer::min:
  case Reducer::cumsum:
    types = "f64 or i64";
    return type.isF64() || type.isInteger(64);
  }
  llvm_unreachable("unknown reducer");
}

LogicalResult ComputeOp::verify() {
  int64_t num = getNumIndices(), parallel = getNumParallel();
  if (static_cast<int64_t>(getIndices().size()) != num ||
      static_cast<int64_t>(getLower().size()) != num || parallel > num)
    return emitOpError() << "has " << num << " extents, " << getIndices().size()
                         << " names, " << getLower().size()
                         << " lower bounds and " << parallel
                         << " parallel indices";
  // (C1)
  auto checkArguments = [&](Region &region, StringRef what) -> LogicalResult {
    if (region.getNumArguments() == num &&
        llvm::all_of(region.getArgumentTypes(), llvm::IsaPred<IndexType>))
      return success();
    return emitOpError() << "has " << num << " indices but its " << what
                         << " has the arguments (" << region.getArgumentTypes()
                         << ")";
  };
  if (failed(checkArguments(getBody(), "body")) ||
      (hasCondition() && failed(checkArguments(getCondition(), "condition"))))
    return failure();
  // (C2)
  ArrayRef<Attribute> extents = getExtents().getValue();
  ArrayRef<Attribute> kept =
      isNormaliser() ? extents : extents.take_front(parallel);
  if (getResult().getType().getShape().getValue() != kept)
    return emitOpError() << "runs over "
                         << getResult().getType().withShape(kept)
                         << " but gives " << getResult().getType();
  // (C3)
  if ((getReducer() == Reducer::none) != (parallel == num))
    return emitOpError() << "reduces by " << stringifyReducer(getReducer())
                         << " over " << num - parallel << " indices";
  if (isNormaliser() && parallel + 1 != num)
    return emitOpError() << "normalises over " << num - parallel
                         << " indices but supports only one";
  // (C4)
  for (auto [index, lower] :
       llvm::zip(getIndices(), getLower().take_front(kept.size())))
    if (lower < 0)
      return emitOpError() << "has an element at " << lower
                           << " along the index " << index;
  // (C6)
  StringRef types;
  if (!gives(getReducer(), getElementType(), types))
    return emitOpError() << "gives " << getElementType() << " but "
                         << stringifyReducer(getReducer()) << " gives "
                         << types;
  // (C7)
  if (OrderAttr order = getOrderAttr()) {
    if (getReducer() == Reducer::none)
      return emitOpError() << "has an order but reduces nothing";
    if (!order.isChain() &&
        (order.getLanes() < parallel || order.getLanes() >= num))
      return emitOpError() << "has lanes along index " << order.getLanes()
                           << " but reduces over indices " << parallel << " to "
                           << num - 1;
    if (order.getFused() && getReducer() != Reducer::sum)
      return emitOpError() << "is fused but reduces by "
                           << stringifyReducer(getReducer());
  }
  // (C8)
  if (!getPartial())
    return success();
  if (!hasCondition())
    return emitOpError() << "is partial but has no condition";
  if (getReducer() != Reducer::none && getReducer() != Reducer::sum)
    return emitOpError() << "is partial but reduces by "
                         << stringifyReducer(getReducer());
  if (!getElementType().isF64())
    return emitOpError() << "is partial but gives " << getElementType();
  return success();
}

/// The ops allowed in a body: operations on scalars.
static bool isScalar(Operation &op) {
  return isa<ReadOp, ExtentOp, SigmoidOp, SoftplusOp, StopOp, RoundedOp,
             RandomOp, YieldOp>(op) ||
         isa<arith::ArithDialect, math::MathDialect, scf::SCFDialect>(
             op.getDialect());
}

LogicalResult ComputeOp::verifyRegions() {
  auto checkRegion = [&](Region &region, StringRef what,
                         Type yielded) -> LogicalResult {
    // (C1)
    auto yield = dyn_cast<YieldOp>(region.front().back());
    if (!yield || yield.getNumOperands() != 1)
      return emitOpError() << "needs one attn.yield of one value in its "
                           << what;
    Type type = yield.getOperand(0).getType();
    if (type != yielded && (yielded || !isElement(type))) {
      InFlightDiagnostic diag = emitOpError()
                                << "yields " << type << " from its " << what
                                << " but needs ";
      return yielded ? diag << yielded : diag << "f64, i64 or i1";
    }
    // (C5)
    return failure(region
                       .walk([&](Operation *op) {
                         if (op->getDialect() && isScalar(*op))
                           return WalkResult::advance();
                         InFlightDiagnostic diag =
                             emitOpError()
                             << "computes with scalars, but " << op->getName()
                             << " stands in its " << what;
                         diag.attachNote(op->getLoc()) << "it stands here";
                         return WalkResult::interrupt();
                       })
                       .wasInterrupted());
  };
  bool numbersElements =
      getReducer() == Reducer::argmax || getReducer() == Reducer::argmin;
  if (failed(checkRegion(
          getBody(), "body",
          numbersElements ? Type() : getResult().getType().getScalarType())))
    return failure();
  if (hasCondition() && failed(checkRegion(getCondition(), "condition",
                                           IntegerType::get(getContext(), 1))))
    return failure();
  // (C9)
  auto isStored = [](Value array) {
    return cast<ArrayType>(array.getType()).getElementType().isBF16();
  };
  if (getElementType().isBF16() && !isRounded(getYielded(), isStored))
    return emitOpError() << "gives bf16 but yields a number that it does not "
                            "round";
  return success();
}

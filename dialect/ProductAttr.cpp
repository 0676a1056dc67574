//===- ProductAttr.cpp - which equations are matrix products --------------===//
//
// The syntax of `#attn.product`, and that what it says of an equation is true.
//
//===----------------------------------------------------------------------===//

#include "dialect/MemoryAttrs.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;

#define GET_ATTRDEF_CLASSES
#include "dialect/AttnAttributes.cpp.inc"

void AttnDialect::addAttributesOfDecisions() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/AttnAttributes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

/// `-3 to *`
static ParseResult parseBand(AsmParser &parser, Band &band) {
  auto parseBound = [&](std::optional<int64_t> &bound) -> ParseResult {
    if (succeeded(parser.parseOptionalStar()))
      return success();
    return parser.parseInteger(bound.emplace());
  };
  if (parseBound(band.from) || parser.parseKeyword("to") || parseBound(band.to))
    return failure();
  return success();
}

static void printBand(AsmPrinter &printer, const Band &band) {
  auto printBound = [&](std::optional<int64_t> bound) {
    if (bound)
      printer << *bound;
    else
      printer << '*';
  };
  printBound(band.from);
  printer << " to ";
  printBound(band.to);
}

namespace {
/// What stands between the parentheses behind one of the parts.
struct Part {
  SmallVector<unsigned> indices;
  Band range, band;
};
} // namespace

/// `(1, 2 from 0 to 8 in -3 to *)`
static ParseResult parseInside(AsmParser &parser, Part &part) {
  if (parser.parseLParen() || parser.parseCommaSeparatedList([&] {
        return parser.parseInteger(part.indices.emplace_back());
      }))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("from")) &&
      parseBand(parser, part.range))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("in")) &&
      parseBand(parser, part.band))
    return failure();
  return parser.parseRParen();
}

Attribute ProductAttr::parse(AsmParser &parser, Type) {
  StringRef kindName;
  SMLoc loc = parser.getCurrentLocation();
  unsigned left = 0;
  if (parser.parseLess() || parser.parseKeyword(&kindName))
    return {};
  std::optional<ProductKind> kind = symbolizeProductKind(kindName);
  if (!kind) {
    parser.emitError(loc) << "'" << kindName
                          << "' is no kind of product; there are weights, "
                             "place, examples and each";
    return {};
  }
  if (parser.parseComma() || parser.parseKeyword("left") ||
      parser.parseEqual() || parser.parseInteger(left))
    return {};
  Part batch, rows, columns, terms;
  auto parseNext = [&]() -> ParseResult {
    SMLoc at = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    Part *part = name == "batch"     ? &batch
                 : name == "rows"    ? &rows
                 : name == "columns" ? &columns
                 : name == "terms"   ? &terms
                                     : nullptr;
    if (!part)
      return parser.emitError(at)
             << "'" << name
             << "' is no part of a product; there are batch, rows, columns "
                "and terms";
    return parseInside(parser, *part);
  };
  while (succeeded(parser.parseOptionalComma()))
    if (parseNext())
      return {};
  if (parser.parseGreater())
    return {};
  if (left > 1 || columns.indices.size() != 1 || terms.indices.empty()) {
    parser.emitError(loc) << "a product has 0 or 1 on its left, one index of "
                             "columns, and terms";
    return {};
  }
  return get(parser.getContext(), *kind, left, batch.indices, rows.indices,
             columns.indices.front(), terms.indices, columns.range,
             columns.band, terms.band);
}

void ProductAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyProductKind(getKind()) << ", left = " << getLeft();
  auto printPart = [&](StringRef name, ArrayRef<unsigned> indices, Band range,
                       Band band) {
    if (indices.empty())
      return;
    printer << ", " << name << '(' << indices;
    if (!range.isWhole()) {
      printer << " from ";
      printBand(printer, range);
    }
    if (!band.isWhole()) {
      printer << " in ";
      printBand(printer, band);
    }
    printer << ')';
  };
  printPart("batch", getBatch(), {}, {});
  printPart("rows", getRows(), {}, {});
  printPart("columns", getColumns(), getRange(), getColumnBand());
  printPart("terms", getTerms(), {}, getTermBand());
  printer << '>';
}

//===----------------------------------------------------------------------===//
// What it says of an equation
//===----------------------------------------------------------------------===//

/// Adds the indices of `op` that an index of a read depends on.
static void addIndices(Value value, ComputeOp op, llvm::SmallBitVector &found) {
  SmallVector<Value> list = {value};
  while (!list.empty()) {
    Value next = list.pop_back_val();
    if (auto index = dyn_cast<BlockArgument>(next)) {
      if (index.getOwner() == &op.getBody().front())
        found.set(index.getArgNumber());
    } else if (op->isProperAncestor(next.getDefiningOp())) {
      llvm::append_range(list, next.getDefiningOp()->getOperands());
    }
  }
}

LogicalResult AttnDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute named) {
  auto product = dyn_cast<ProductAttr>(named.getValue());
  if (!product)
    return verifyLocation(op, named);
  auto compute = dyn_cast<ComputeOp>(op);
  if (!compute || compute.getReducer() != Reducer::sum)
    return op->emitOpError() << "is no sum, so no product";
  auto multiply = compute.getYielded().getDefiningOp<arith::MulFOp>();
  ReadOp factors[2];
  if (multiply)
    for (unsigned side : {0, 1})
      factors[side] = multiply->getOperand(side).getDefiningOp<ReadOp>();
  for (ReadOp read : factors)
    if (!read || !read.getAlternatives().empty() || read.getOtherwise())
      return op->emitOpError()
             << "multiplies no two reads without boundaries, so it is no "
                "product";
  // Each index has one part, and each factor the indices of its parts.
  unsigned numIndices = compute.getNumIndices();
  llvm::SmallBitVector seen(numIndices), left(numIndices), right(numIndices),
      batch(numIndices);
  auto addPart = [&](ArrayRef<unsigned> indices, bool inLeft, bool inRight,
                     bool isTerm) -> LogicalResult {
    for (unsigned index : indices) {
      if (index >= numIndices || seen.test(index))
        return op->emitOpError()
               << "has no index " << index << " that its product has once";
      if (isTerm != (index >= compute.getNumParallel()))
        return op->emitOpError()
               << "has a product whose terms are not the indices of the sum";
      seen.set(index);
      if (inLeft)
        left.set(index);
      if (inRight)
        right.set(index);
    }
    return success();
  };
  if (failed(addPart(product.getBatch(), true, true, false)) ||
      failed(addPart(product.getRows(), true, false, false)) ||
      failed(addPart(product.getColumns(), false, true, false)) ||
      failed(addPart(product.getTerms(), true, true, true)))
    return failure();
  for (unsigned index : product.getBatch())
    batch.set(index);
  if (!seen.all())
    return op->emitOpError() << "has an index that its product does not have";
  for (bool isLeft : {true, false}) {
    llvm::SmallBitVector found(numIndices);
    ReadOp read = factors[isLeft ? product.getLeft() : 1 - product.getLeft()];
    for (Value index : read.getIndices())
      addIndices(index, compute, found);
    // A place of the batch may differ on one side alone.
    if ((found |= batch) != (isLeft ? left : right))
      return op->emitOpError() << "reads the " << (isLeft ? "left" : "right")
                               << " side of its product at other indices";
  }
  return success();
}

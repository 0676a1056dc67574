//===- ProductAttr.cpp - which equations are matrix products --------------===//
//
// The syntax of `#attn.product`, and the check that it describes its equation.
//
//===----------------------------------------------------------------------===//

#include "dialect/ProductAttr.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"
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
/// The text in parentheses after a part.
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
                          << "' is not a kind of product; the kinds are "
                             "weights, place, examples and each";
    return {};
  }
  if (parser.parseComma() || parser.parseKeyword("left") ||
      parser.parseEqual() || parser.parseInteger(left))
    return {};
  Part batch, rows, columns, terms, run;
  auto parseNext = [&]() -> ParseResult {
    SMLoc at = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    Part *part = name == "batch"     ? &batch
                 : name == "rows"    ? &rows
                 : name == "columns" ? &columns
                 : name == "terms"   ? &terms
                 : name == "run"     ? &run
                                     : nullptr;
    if (!part)
      return parser.emitError(at) << "'" << name
                                  << "' is not a part of a product; the parts "
                                     "are batch, rows, columns, terms and run";
    return parseInside(parser, *part);
  };
  while (succeeded(parser.parseOptionalComma()))
    if (parseNext())
      return {};
  if (parser.parseGreater())
    return {};
  if (left > 1 || columns.indices.empty() || terms.indices.empty()) {
    parser.emitError(loc)
        << "a product needs a left side of 0 or 1, columns, and terms";
    return {};
  }
  if (run.indices.size() > 1) {
    parser.emitError(loc) << "a product can have only one index of a run";
    return {};
  }
  std::optional<unsigned> runIndex;
  if (!run.indices.empty())
    runIndex = run.indices.front();
  return get(parser.getContext(), *kind, left, batch.indices, rows.indices,
             columns.indices, terms.indices, runIndex, columns.range,
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
  if (std::optional<unsigned> run = getRun())
    printPart("run", *run, {}, {});
  printer << '>';
}

//===----------------------------------------------------------------------===//
// What it says of an equation
//===----------------------------------------------------------------------===//

uint64_t fovea::attn::dependence(Value value) {
  uint64_t bits = 0;
  SmallVector<Value> list = {value};
  llvm::SmallDenseSet<Value> seen;
  while (!list.empty()) {
    Value next = list.pop_back_val();
    if (isa<ArrayType>(next.getType()) || !seen.insert(next).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      if (isa<ComputeOp>(argument.getOwner()->getParentOp()))
        bits |= uint64_t(1) << argument.getArgNumber();
      continue;
    }
    // Conditions of branches count as well.
    next.getDefiningOp()->walk(
        [&](Operation *op) { llvm::append_range(list, op->getOperands()); });
  }
  return bits;
}

/// The indices of the op that its condition involves, as bits.
static uint64_t conditionIndices(ComputeOp op) {
  return op.hasCondition()
             ? dependence(
                   op.getCondition().front().getTerminator()->getOperand(0))
             : 0;
}

static uint64_t bitsOf(ArrayRef<unsigned> indices) {
  uint64_t bits = 0;
  for (unsigned index : indices)
    bits |= uint64_t(1) << index;
  return bits;
}

/// Returns whether out-of-bounds elements of a read are 0, or unused.
static bool isZeroOutside(ReadOp read) {
  return read.getAlternatives().empty() &&
         (!read.getOtherwise() ||
          matchPattern(read.getOtherwise(), m_PosZeroFloat()));
}

/// Returns whether runs of `read` along the index `run` are consecutive, with a
/// start that does not depend on it.
static bool hasRuns(ReadOp read, ComputeOp op, unsigned run) {
  if (read.getIndices().empty())
    return false;
  uint64_t others = 0;
  for (Value index : read.getIndices().drop_back())
    others |= dependence(index);
  ArrayType type = read.getArrayType();
  return read.getIndices().back() == op.getIndex(run) &&
         type.getExtent(type.getRank() - 1) == op.getExtents()[run] &&
         isa<IntegerAttr>(op.getExtents()[run]) && op.getLower()[run] == 0 &&
         !(others >> run & 1);
}

LogicalResult fovea::attn::verifyProduct(Operation *op, ProductAttr product) {
  auto compute = dyn_cast<ComputeOp>(op);
  if (!compute || compute.getReducer() != Reducer::sum)
    return op->emitOpError()
           << "marked as a matrix product, but its reducer is not 'sum'";
  auto multiply = compute.getYielded().getDefiningOp<arith::MulFOp>();
  ReadOp left, right;
  if (multiply) {
    left = multiply->getOperand(product.getLeft()).getDefiningOp<ReadOp>();
    right = multiply->getOperand(1 - product.getLeft()).getDefiningOp<ReadOp>();
  }
  std::optional<unsigned> run = product.getRun();
  bool isByRows = product.getKind() == ProductKind::weights;
  for (ReadOp read : {left, right}) {
    bool isGathered = run && read == left;
    if (!read ||
        (isGathered ? !isZeroOutside(read)
                    : !read.getAlternatives().empty() || read.getOtherwise()))
      return op->emitOpError()
             << "a matrix product must multiply two plain reads";
  }
  // Each index has one part.
  unsigned numIndices = compute.getNumIndices();
  uint64_t seen = 0;
  auto addPart = [&](ArrayRef<unsigned> indices, bool isTerm) -> LogicalResult {
    for (unsigned index : indices) {
      if (index >= numIndices || (seen >> index & 1))
        return op->emitOpError()
               << "has no index " << index << " that its product names once";
      if (isTerm != (index >= compute.getNumParallel()))
        return op->emitOpError()
               << "has a product whose terms are not the indices of the sum";
      seen |= uint64_t(1) << index;
    }
    return success();
  };
  if (failed(addPart(product.getBatch(), false)) ||
      failed(addPart(product.getRows(), false)) ||
      failed(addPart(product.getColumns(), false)) ||
      failed(addPart(product.getTerms(), true)))
    return failure();
  if (llvm::popcount(seen) != int(numIndices))
    return op->emitOpError() << "has an index that its product does not have";
  if (product.getColumns().size() != 1)
    return op->emitOpError() << "has a product of several columns";
  // A batch place may have an offset on one side only.
  uint64_t batch = bitsOf(product.getBatch());
  uint64_t shared = batch | bitsOf(product.getTerms());
  uint64_t expected[] = {shared | bitsOf(product.getRows()),
                         shared | bitsOf(product.getColumns())};
  uint64_t ofGathered = run ? conditionIndices(compute) : 0;
  if (run) {
    ArrayRef<unsigned> along =
        isByRows ? product.getTerms() : product.getRows();
    auto isNumber = [&](unsigned index) {
      return isa<IntegerAttr>(compute.getExtents()[index]);
    };
    bool isKnown = isByRows || product.getKind() == ProductKind::examples;
    if (!isKnown || along.empty() || !llvm::all_of(along, isNumber) ||
        !isNumber(product.getColumns().front()) || *run != along.back() ||
        (ofGathered >> *run & 1) || !hasRuns(left, compute, *run))
      return op->emitOpError()
             << "has a product without runs along index " << *run;
  }
  for (bool isLeft : {true, false}) {
    uint64_t found = batch;
    for (Value index : (isLeft ? left : right).getIndices())
      found |= dependence(index);
    if (run && isLeft)
      found |= ofGathered;
    if (found != expected[isLeft ? 0 : 1])
      return op->emitOpError() << "reads the " << (isLeft ? "left" : "right")
                               << " side of its product at other indices";
  }
  return success();
}

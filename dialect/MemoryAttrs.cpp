//===- MemoryAttrs.cpp - where arrays lie ---------------------------------===//
//
// The syntax of `#attn.location` and `#attn.room`, and the checks against their
// ops.
//
//===----------------------------------------------------------------------===//

#include "dialect/MemoryAttrs.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace fovea::attn;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

Attribute ArrayLocationAttr::parse(AsmParser &parser, Type) {
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&name))
    return {};
  std::optional<LocationKind> kind = symbolizeLocationKind(name);
  if (!kind) {
    parser.emitError(loc)
        << "'" << name
        << "' is not a kind of location; the kinds are own, argument, same, "
           "row, carry, room, packed and list";
    return {};
  }
  unsigned number = 0;
  if (parser.parseInteger(number))
    return {};
  bool ranks = *kind == LocationKind::own &&
               succeeded(parser.parseOptionalKeyword("ranks"));
  bool kept = *kind == LocationKind::packed &&
              succeeded(parser.parseOptionalKeyword("kept"));
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), *kind, number, ranks, kept);
}

void ArrayLocationAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyLocationKind(getKind()) << ' ' << getNumber();
  if (getRanks())
    printer << " ranks";
  if (getKept())
    printer << " kept";
  printer << '>';
}

static ParseResult parseExtent(AsmParser &parser, RoomExtent &result) {
  std::string name;
  int64_t number;
  if (succeeded(parser.parseOptionalString(&name)))
    result.extent = parser.getBuilder().getStringAttr(name);
  else if (succeeded(parser.parseInteger(number)))
    result.extent = parser.getBuilder().getI64IntegerAttr(number);
  else
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword("to"))) {
    if (parser.parseInteger(result.multiple))
      return failure();
    if (result.multiple < 1)
      return parser.emitError(loc)
             << "an extent must be rounded up to a multiple of at least 1, not "
             << result.multiple;
  }
  if (succeeded(parser.parseOptionalKeyword("plus")))
    return parser.parseInteger(result.extra);
  return success();
}

Attribute RoomAttr::parse(AsmParser &parser, Type) {
  int64_t count;
  SmallVector<RoomExtent> extents;
  if (parser.parseLess() || parser.parseInteger(count))
    return {};
  while (succeeded(parser.parseOptionalKeyword("x")))
    if (parseExtent(parser, extents.emplace_back()))
      return {};
  bool whole = succeeded(parser.parseOptionalKeyword("of"));
  if (whole && parser.parseKeyword("i64"))
    return {};
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), count, extents, whole);
}

void RoomAttr::print(AsmPrinter &printer) const {
  printer << '<' << getCount();
  for (const RoomExtent &each : getExtents()) {
    printer << " x ";
    if (auto name = dyn_cast<StringAttr>(each.extent))
      printer << name;
    else
      printer << cast<IntegerAttr>(each.extent).getInt();
    if (each.multiple != 1)
      printer << " to " << each.multiple;
    if (each.extra != 0)
      printer << " plus " << each.extra;
  }
  if (getWhole())
    printer << " of i64";
  printer << '>';
}

int64_t RoomAttr::getFixedCount() const {
  int64_t result = getCount();
  for (const RoomExtent &each : getExtents())
    if (auto number = dyn_cast<IntegerAttr>(each.extent))
      result *= each.padded(number.getInt());
  return result;
}

bool RoomAttr::isFixed() const {
  return llvm::none_of(getExtents(), [](const RoomExtent &each) {
    return isa<StringAttr>(each.extent);
  });
}

//===----------------------------------------------------------------------===//
// What they say of an op
//===----------------------------------------------------------------------===//

static bool isInLoop(Operation *op) {
  return op->getParentOfType<ScanOp>() || op->getParentOfType<SearchOp>();
}

static LogicalResult verifyKind(Operation *op, StringRef name,
                                ArrayLocationAttr location) {
  LocationKind kind = location.getKind();
  bool isData = isa<ParamOp, DataOp>(op);
  auto refuse = [&](const Twine &why) -> LogicalResult {
    return op->emitOpError()
           << "has the " << name << " '" << stringifyLocationKind(kind) << ' '
           << location.getNumber() << "' " << why;
  };
  if (kind == LocationKind::room) {
    ArrayAttr rooms;
    for (auto kernel = op->getParentOfType<KernelOp>(); kernel && !rooms;
         kernel = kernel->getParentOfType<KernelOp>())
      rooms = kernel->getAttrOfType<ArrayAttr>("attn.rooms");
    size_t count = rooms ? rooms.size() : 0;
    return location.getNumber() < count
               ? success()
               : refuse("but its kernel has " + Twine(count) + " rooms");
  }
  if (location.getRanks() && !isInLoop(op))
    return refuse("by rank, but is in no loop");
  if (name == "attn.packed" || name == "attn.packed_left" ||
      name == "attn.stored_copy")
    return kind == LocationKind::packed ? success()
                                        : refuse("which is not packed");
  if (name == "attn.list")
    return kind == LocationKind::list ? success() : refuse("which is no list");
  if (kind == LocationKind::packed || kind == LocationKind::list)
    return refuse("which no array has");
  if (name == "attn.location" && kind == LocationKind::carry &&
      !isa<ReshapeOp, AppendOp>(op))
    return refuse("but is no carry");
  if (kind == LocationKind::row && !isInLoop(op))
    return refuse("but is in no loop");
  if (isData != (kind == LocationKind::argument) &&
      !isa<ReshapeOp, AppendOp>(op))
    return refuse(isData ? "but the caller gives it"
                         : "but no caller gives it");
  return success();
}

LogicalResult fovea::attn::verifyLocation(Operation *op, NamedAttribute named) {
  StringRef name = named.getName();
  if (auto location = dyn_cast<ArrayLocationAttr>(named.getValue())) {
    if (name != "attn.location" && !isa<ComputeOp>(op))
      return op->emitOpError()
             << "is not a product, so it has no packed factors";
    if (name == "attn.location" && op->getNumResults() != 1)
      return op->emitOpError() << "gives " << op->getNumResults()
                               << " arrays but has one location";
    return verifyKind(op, name, location);
  }
  auto list = dyn_cast<ArrayAttr>(named.getValue());
  if (!list)
    return success();
  bool isCarries = name == "attn.carries";
  if (!isCarries && name != "attn.locations" && name != "attn.swaps")
    return success();
  size_t numCarries = op->getRegion(0).getNumArguments() - 1;
  size_t count = name == "attn.locations" ? op->getNumResults() : numCarries;
  if (list.size() != count)
    return op->emitOpError() << "has " << list.size() << " locations in '"
                             << name << "' for " << count << " arrays";
  for (Attribute each : list) {
    auto location = dyn_cast<ArrayLocationAttr>(each);
    if (!location && name == "attn.swaps" && isa<UnitAttr>(each))
      continue;
    bool isGood =
        location && (location.getKind() == LocationKind::own ||
                     (isCarries && location.getKind() == LocationKind::carry));
    if (!isGood)
      return op->emitOpError() << "has " << each << " in '" << name
                               << "', where an array has its own memory"
                               << (isCarries ? ", or is the row before" : "");
  }
  return success();
}

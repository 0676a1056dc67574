//===- AttnDialect.cpp - the dialect and its array type -------------------===//

#include "dialect/AttnDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FoldInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;

#include "dialect/AttnDialect.cpp.inc"
#include "dialect/AttnEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/AttnTypes.cpp.inc"

#include "dialect/AdjointInterface.cpp.inc"

namespace {

/// Folding leaves a constant in the body that uses it: a body is moved and
/// differentiated as a whole, and only arrays stand between equations.
struct KeepConstantsInBodies : DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;

  bool shouldMaterializeInto(Region *region) const final {
    return isa<ComputeOp>(region->getParentOp());
  }
};

} // namespace

void AttnDialect::initialize() {
  addInterfaces<KeepConstantsInBodies>();
  addAttributesOfDecisions();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/AttnTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/AttnOps.cpp.inc"
      >();
}

bool attn::isElement(Type type) {
  return type.isF64() || type.isInteger(64) || type.isInteger(1);
}

Type ArrayType::getScalarType() const {
  return getElementType().isBF16() ? Float64Type::get(getContext())
                                   : getElementType();
}

std::string attn::extentText(Attribute extent) {
  if (auto name = dyn_cast<StringAttr>(extent))
    return name.getValue().str();
  return std::to_string(cast<IntegerAttr>(extent).getInt());
}

//===----------------------------------------------------------------------===//
// ArrayType
//===----------------------------------------------------------------------===//

Type ArrayType::parse(AsmParser &parser) {
  SmallVector<Attribute> shape;
  Type elementType;
  auto parseExtent = [&]() -> ParseResult {
    std::string name;
    if (succeeded(parser.parseOptionalString(&name))) {
      shape.push_back(StringAttr::get(parser.getContext(), name));
      return success();
    }
    int64_t size;
    if (parser.parseInteger(size))
      return failure();
    shape.push_back(parser.getBuilder().getI64IntegerAttr(size));
    return success();
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     parseExtent) ||
      parser.parseComma() || parser.parseType(elementType) ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    ArrayAttr::get(parser.getContext(), shape), elementType);
}

void ArrayType::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getShape(), printer, [&](Attribute extent) {
    if (auto name = dyn_cast<StringAttr>(extent))
      printer << name;
    else
      printer << cast<IntegerAttr>(extent).getInt();
  });
  printer << "], " << getElementType() << ">";
}

LogicalResult
ArrayType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                  ArrayAttr shape, Type elementType) {
  for (Attribute extent : shape) {
    if (isa<StringAttr>(extent))
      continue;
    // No other syntax is possible, so this is a bug.
    auto size = cast<IntegerAttr>(extent);
    assert(size.getType().isInteger(64) &&
           "an extent must be an i64 or a name");
    if (size.getInt() < 0)
      return emitError() << "an extent must be at least 0, not "
                         << size.getInt();
  }
  if (!isElement(elementType) && !elementType.isBF16())
    return emitError() << "elements must be f64, i64, i1 or bf16, not "
                       << elementType;
  return success();
}

ArrayType ArrayType::dropAxis(unsigned axis) const {
  SmallVector<Attribute> shape(getShape().getValue());
  shape.erase(shape.begin() + axis);
  return withShape(shape);
}

ArrayType ArrayType::withShape(ArrayRef<Attribute> shape) const {
  return ArrayType::get(shape, getElementType());
}

//===----------------------------------------------------------------------===//
// Debuggers
//===----------------------------------------------------------------------===//

/// Prints an operation, a value, a type or an attribute, for
/// scripts/debugger.py. The text stays until the next call.
extern "C" __attribute__((used, visibility("default"))) const char *
fovea_debug_text(int kind, void *object) {
  static std::string text;
  text.clear();
  llvm::raw_string_ostream stream(text);
  // One line: a region has operations of its own.
  OpPrintingFlags flags = OpPrintingFlags().skipRegions().useLocalScope();
  switch (kind) {
  case 0:
    static_cast<Operation *>(object)->print(stream, flags);
    break;
  case 1:
    Value::getFromOpaquePointer(object).print(stream, flags);
    break;
  case 2:
    Type::getFromOpaquePointer(object).print(stream);
    break;
  default:
    Attribute::getFromOpaquePointer(object).print(stream);
  }
  return text.c_str();
}

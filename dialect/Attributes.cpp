//===- Attributes.cpp - that attributes of the dialect are declared -------===//
//
// Checks every discardable attribute `attn.*` against Attributes.def, then
// leaves what it says about its op to the file of its kind.
//
//===----------------------------------------------------------------------===//

#include "dialect/AttnDialect.h"
#include "dialect/GroupedSums.h"
#include "dialect/MemoryAttrs.h"
#include "dialect/Precision.h"
#include "dialect/ProductAttr.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace fovea::attn;

namespace {

/// The values that an attribute may have.
struct Kind {
  StringLiteral text;
  bool (*has)(Attribute);
};
namespace kinds {
template <StringLiteral const *...texts> bool isOneOf(Attribute value) {
  auto text = dyn_cast<StringAttr>(value);
  return text && ((text.getValue() == *texts) || ...);
}
bool isNumber(Attribute value) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isInteger(64);
}
bool isCount(Attribute value) {
  return isNumber(value) && cast<IntegerAttr>(value).getInt() >= 0;
}
template <typename... Attributes> bool isA(Attribute value) {
  return isa<Attributes...>(value);
}
constexpr StringLiteral once = "once", each = "each", sum = "sum",
                        example = "example", buffer = "buffer";

constexpr Kind unit = {"no value", isA<UnitAttr>};
constexpr Kind text = {"a string", isA<StringAttr>};
constexpr Kind number = {"an i64", isNumber};
constexpr Kind count = {"an i64 of at least 0", isCount};
constexpr Kind extent = {"an i64 or a string", [](Attribute value) {
                           return isNumber(value) || isa<StringAttr>(value);
                         }};
constexpr Kind type = {"a type", isA<TypeAttr>};
constexpr Kind indices = {"an array of i64", isA<DenseI64ArrayAttr>};
constexpr Kind list = {"a list", isA<ArrayAttr>};
constexpr Kind options = {"a dictionary", isA<DictionaryAttr>};
constexpr Kind dependence = {"a dictionary or a bool",
                             isA<DictionaryAttr, BoolAttr>};
constexpr Kind batch = {"\"once\", \"each\" or \"sum\"",
                        isOneOf<&once, &each, &sum>};
constexpr Kind place = {"\"example\" or \"buffer\"",
                        isOneOf<&example, &buffer>};
constexpr Kind target = {"the target of a folder in targets/", isA<TargetAttr>};
constexpr Kind config = {"a configuration of a target", isA<ConfigAttr>};
constexpr Kind product = {"#attn.product", isA<ProductAttr>};
constexpr Kind units = {"#attn.units", isA<UnitsAttr>};
constexpr Kind location = {"#attn.location", isA<ArrayLocationAttr>};
} // namespace kinds

/// The ops that may have an attribute.
struct Owner {
  StringLiteral text;
  bool (*is)(Operation *);
};
namespace owners {
template <typename... Ops> bool isA(Operation *op) { return isa<Ops...>(op); }

constexpr Owner any = {"any op", [](Operation *) { return true; }};
constexpr Owner module = {"a module", isA<ModuleOp>};
constexpr Owner container = {"a module, a system or a program",
                             isA<ModuleOp, SystemOp, ProgramOp>};
constexpr Owner choice = {"a choice", isA<ChoiceOp>};
constexpr Owner data = {"data", isA<DataOp>};
constexpr Owner constant = {"a constant", isA<arith::ConstantOp>};
constexpr Owner step = {"an 'attn.step'", isA<StepOp>};
constexpr Owner equation = {"an equation", isA<ComputeOp>};
constexpr Owner loop = {"a loop", isA<ScanOp, SearchOp>};
constexpr Owner inLoop = {"an op of a scan's body", [](Operation *op) {
                            return isa_and_present<ScanOp>(op->getParentOp());
                          }};
} // namespace owners

struct Declared {
  StringLiteral name;
  Kind kind;
  Owner owner;
};

} // namespace

static constexpr Declared declared[] = {
#define ATTRIBUTE(name, kind, owner, meaning)                                  \
  {"attn." #name, kinds::kind, owners::owner},
#include "dialect/Attributes.def"
};

static const Declared *find(StringRef name) {
  static const auto byName = [] {
    llvm::StringMap<const Declared *> map;
    for (const Declared &each : declared)
      map[each.name] = &each;
    return map;
  }();
  return byName.lookup(name);
}

static LogicalResult refuseUnknown(Operation *op, StringRef name) {
  InFlightDiagnostic diag = op->emitOpError()
                            << "has the unknown attribute '" << name << "'";
  const Declared *nearest = nullptr;
  unsigned least = 3;
  for (const Declared &each : declared)
    if (unsigned distance = each.name.edit_distance(name); distance < least) {
      least = distance;
      nearest = &each;
    }
  if (nearest)
    diag << "; help: did you mean '" << nearest->name << "'?";
  else
    diag << "; help: dialect/Attributes.def declares all attributes";
  return diag;
}

LogicalResult AttnDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute named) {
  StringRef name = named.getName();
  const Declared *own = find(name);
  if (!own)
    return refuseUnknown(op, name);
  if (!own->owner.is(op))
    return op->emitOpError() << "cannot have '" << name << "'; only "
                             << own->owner.text << " can";
  if (!own->kind.has(named.getValue()))
    return op->emitOpError()
           << "expects '" << name << "' to be " << own->kind.text
           << ", but it is " << named.getValue();
  if (auto product = dyn_cast<ProductAttr>(named.getValue()))
    return verifyProduct(op, product);
  if (auto config = dyn_cast<ConfigAttr>(named.getValue()))
    return config.verifyConfig(op);
  if (failed(verifyPrecision(op, named)) ||
      failed(verifyGroupedSums(op, named)))
    return failure();
  return verifyLocation(op, named);
}

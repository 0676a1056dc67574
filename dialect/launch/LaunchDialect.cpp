//===- LaunchDialect.cpp - the dialect and how its ops are printed --------===//

#include "dialect/launch/Forms.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fovea::launch;

#include "dialect/launch/LaunchDialect.cpp.inc"
#include "dialect/launch/LaunchEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/launch/LaunchAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/launch/LaunchTypes.cpp.inc"

void LaunchDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/launch/LaunchAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/launch/LaunchTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/launch/LaunchOps.cpp.inc"
      >();
}

/// What a schedule decides is inherent in its ops.
LogicalResult LaunchDialect::verifyOperationAttribute(Operation *op,
                                                      NamedAttribute named) {
  return op->emitOpError() << "has the unknown attribute '"
                           << named.getName().strref()
                           << "'; help: operands and inherent attributes say "
                              "what runs";
}

/// `(%t) { .. }`
static ParseResult parseLoopBody(OpAsmParser &parser, Region &body) {
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren))
    return failure();
  for (OpAsmParser::Argument &argument : arguments)
    argument.type = parser.getBuilder().getI64Type();
  return parser.parseRegion(body, arguments);
}

static void printLoopBody(OpAsmPrinter &printer, ForOp, Region &body) {
  printer << '(';
  llvm::interleaveComma(body.getArguments(), printer,
                        [&](BlockArgument argument) {
                          printer.printRegionArgument(argument, {},
                                                      /*omitType=*/true);
                        });
  printer << ") ";
  printer.printRegion(body, /*printEntryBlockArgs=*/false);
}

/// `each ["T", 16] x f32`
static ParseResult parseForm(OpAsmParser &parser, Attribute &form) {
  StringRef keyword;
  ArrayAttr extents;
  Type element;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<Scope> scope = symbolizeScope(keyword);
  if (!scope)
    return parser.emitError(place)
           << "expected once, each, thread or block, found '" << keyword << "'";
  if (parser.parseAttribute(extents) || parser.parseKeyword("x") ||
      parser.parseType(element))
    return failure();
  form = FormAttr::get(parser.getContext(), *scope, extents, element);
  return success();
}

/// `reads(..) writes(..) updates(..) scratch(..)`; any may be absent.
static ParseResult parseForms(OpAsmParser &parser, ArrayAttr &reads,
                              ArrayAttr &writes, ArrayAttr &updates,
                              ArrayAttr &scratch) {
  auto parse = [&](StringRef name, ArrayAttr &forms) -> ParseResult {
    SmallVector<Attribute> list;
    if (succeeded(parser.parseOptionalKeyword(name)) &&
        parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, [&] {
          return parseForm(parser, list.emplace_back());
        }))
      return failure();
    forms = parser.getBuilder().getArrayAttr(list);
    return success();
  };
  return failure(parse("reads", reads) || parse("writes", writes) ||
                 parse("updates", updates) || parse("scratch", scratch));
}

std::string fovea::launch::textOf(FormAttr form) {
  std::string text;
  llvm::raw_string_ostream(text)
      << stringifyScope(form.getScope()) << ' ' << form.getExtents() << " x "
      << form.getElement();
  return text;
}

static void printForms(OpAsmPrinter &printer, KernelOp, ArrayAttr reads,
                       ArrayAttr writes, ArrayAttr updates, ArrayAttr scratch) {
  llvm::ListSeparator space(" ");
  auto print = [&](StringRef name, ArrayAttr forms) {
    if (forms.empty())
      return;
    printer << StringRef(space) << name << '(';
    llvm::interleaveComma(forms.getAsRange<FormAttr>(), printer,
                          [&](FormAttr form) { printer << textOf(form); });
    printer << ')';
  };
  print("reads", reads);
  print("writes", writes);
  print("updates", updates);
  print("scratch", scratch);
}

void ForOp::getAsmBlockArgumentNames(Region &region,
                                     OpAsmSetValueNameFn setName) {
  setName(region.getArgument(0), "t");
}

void MemoryOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getName());
}
void BatchOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "batch");
}
void RowsOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "n");
}
void LongestOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "longest_" + getLength().str());
}
void PlacesOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "places");
}

#define GET_OP_CLASSES
#include "dialect/launch/LaunchOps.cpp.inc"

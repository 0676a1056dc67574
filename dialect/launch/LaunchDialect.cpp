//===- LaunchDialect.cpp - the dialect and how its ops are printed --------===//

#include "dialect/launch/LaunchDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fovea::launch;

#include "dialect/launch/LaunchDialect.cpp.inc"
#include "dialect/launch/LaunchEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/launch/LaunchTypes.cpp.inc"

void LaunchDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/launch/LaunchTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/launch/LaunchOps.cpp.inc"
      >();
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

//===- AttnOps.cpp - the generated code of the ops ------------------------===//
//
// Includes the syntax that takes a single line. ArrayOps.cpp, ComputeOps.cpp,
// DecoderOps.cpp, LoopOps.cpp and ModelOps.cpp check constraints.
//
//===----------------------------------------------------------------------===//

#include "dialect/Syntax.h"

using namespace mlir;
using namespace fovea::attn;

/// `custom<ElementOf>`: a result of the array's element type is not written.
static ParseResult parseElementOf(OpAsmParser &parser, Type array,
                                  Type &element) {
  auto type = dyn_cast<ArrayType>(array);
  if (!type)
    return parser.emitError(parser.getNameLoc())
           << "expected an array type, not " << array;
  element = type.getScalarType();
  return success();
}
static void printElementOf(OpAsmPrinter &, Operation *, Type, Type) {}

/// `custom<SameType>`: a result of the operand's type is not written.
static ParseResult parseSameType(OpAsmParser &, Type operand, Type &result) {
  result = operand;
  return success();
}
static void printSameType(OpAsmPrinter &, Operation *, Type, Type) {}

/// `custom<RandomType>`: a number, unless another type is written.
static ParseResult parseRandomType(OpAsmParser &parser, Type &result) {
  if (succeeded(parser.parseOptionalColon()))
    return parser.parseType(result);
  result = parser.getBuilder().getF64Type();
  return success();
}
static void printRandomType(OpAsmPrinter &printer, Operation *, Type result) {
  if (!result.isF64())
    printer << " : " << result;
}

#define GET_OP_CLASSES
#include "dialect/AttnOps.cpp.inc"

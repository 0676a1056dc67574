//===- Syntax.h - hand-written parts of the ops' syntax -------------------===//
//
// The `custom<..>` directives that take more than one line, for the generated
// parsers and printers in AttnOps.cpp. Private to the dialect.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_SYNTAX_H
#define FOVEA_DIALECT_SYNTAX_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// `(%t: "T", %i: 1 to "S") sum (%a: 512) order(chain) where { .. } { .. }`
mlir::ParseResult
parseCompute(mlir::OpAsmParser &parser, mlir::ArrayAttr &indices,
             mlir::ArrayAttr &extents, mlir::DenseI64ArrayAttr &lower,
             mlir::IntegerAttr &numParallel, ReducerAttr &reducer,
             OrderAttr &order, mlir::Region &condition, mlir::Region &body);
void printCompute(mlir::OpAsmPrinter &printer, ComputeOp op,
                  mlir::ArrayAttr indices, mlir::ArrayAttr extents,
                  mlir::DenseI64ArrayAttr lower, mlir::IntegerAttr numParallel,
                  ReducerAttr reducer, OrderAttr order, mlir::Region &condition,
                  mlir::Region &body);

/// `(%i) carries (%before = %init : type, ..) axes [0, ..] { .. } : types`
mlir::ParseResult
parseLoop(mlir::OpAsmParser &parser,
          llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &inits,
          llvm::SmallVectorImpl<mlir::Type> &initTypes,
          mlir::DenseI64ArrayAttr &axes, mlir::Region &body,
          llvm::SmallVectorImpl<mlir::Type> &resultTypes);
void printLoop(mlir::OpAsmPrinter &printer, mlir::Operation *op,
               mlir::OperandRange inits, mlir::TypeRange initTypes,
               mlir::DenseI64ArrayAttr axes, mlir::Region &body,
               mlir::TypeRange resultTypes);

} // namespace fovea::attn

#endif // FOVEA_DIALECT_SYNTAX_H

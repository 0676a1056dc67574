//===- Names.h - what arrays and their axes are called --------------------===//

#ifndef FOVEA_DIALECT_ADJOINTS_NAMES_H
#define FOVEA_DIALECT_ADJOINTS_NAMES_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// The label of the array's equation, or its input's name; empty without one.
std::string nameOf(mlir::Value array);

/// `prefix` before the array's name; empty when it has none.
std::string labelFor(llvm::StringRef prefix, mlir::Value array);

/// A unique name for each axis of an array: the name of its equation's index,
/// or a generated one.
llvm::SmallVector<mlir::Attribute> axisNames(mlir::Value array);

} // namespace fovea::attn

#endif // FOVEA_DIALECT_ADJOINTS_NAMES_H

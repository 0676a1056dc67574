//===- Errors.cpp - how errors without a place begin ----------------------===//

#include "app/open/Errors.h"
#include "frontends/fov/Diagnostics.h"

llvm::raw_ostream &fovea::cli::beginError() {
  llvm::raw_ostream &out = llvm::errs();
  if (!enableColours(out))
    return out << "error: ";
  out.changeColor(llvm::raw_ostream::RED, /*Bold=*/true) << "error: ";
  return out.resetColor();
}

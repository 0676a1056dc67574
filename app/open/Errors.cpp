//===- Errors.cpp - how errors without a place begin ----------------------===//

#include "app/open/Errors.h"

#include "llvm/Support/Process.h"

llvm::raw_ostream &fovea::cli::beginError() {
  llvm::raw_ostream &out = llvm::errs();
  if (!out.has_colors() || llvm::sys::Process::GetEnv("NO_COLOR"))
    return out << "error: ";
  out.enable_colors(true);
  out.changeColor(llvm::raw_ostream::RED, /*Bold=*/true) << "error: ";
  return out.resetColor();
}

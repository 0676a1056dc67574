//===- ForTarget.h - functions that are compiled for a target ---*- C++ -*-===//
//
// What tests of generated functions share: such a test has several targets, and
// compiles its functions once for each.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TEST_UNIT_FORTARGET_H
#define FOVEA_TEST_UNIT_FORTARGET_H

#include "codegen/native/Jit.h"
#include "codegen/native/Lower.h"

#include <map>

namespace fovea::codegen {

/// A module in machine code.
struct ForTarget {
  /// `emit` fills the module. False where this CPU lacks the target.
  bool
  compileFor(llvm::StringRef name,
             llvm::function_ref<void(mlir::ModuleOp, const Target &)> emit) {
    llvm::Expected<Target> target = Target::parse(name);
    if (!target || target->checkRunsHere()) {
      llvm::consumeError(target.takeError());
      return false;
    }
    loadKernelDialects(context);
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
    emit(*module, *target);
    jit = llvm::cantFail(Jit::create(*target));
    llvm::cantFail(jit->add(std::move(module)));
    return true;
  }

  template <typename Function>
  void find(Function &function, const std::string &name) const {
    function = reinterpret_cast<Function>(llvm::cantFail(jit->lookup(name)));
  }

  mlir::MLIRContext context;
  std::unique_ptr<Jit> jit;
};

/// What `compile(arguments)` makes, once for each list of arguments; null where
/// this CPU lacks the target.
template <typename Functions, typename... Arguments>
Functions *compiledOnce(const Arguments &...arguments) {
  static std::map<std::tuple<Arguments...>, std::unique_ptr<Functions>> all;
  std::unique_ptr<Functions> &own = all[{arguments...}];
  if (!own) {
    own = std::make_unique<Functions>();
    if (!own->compile(arguments...))
      own.reset();
  }
  return own.get();
}

} // namespace fovea::codegen

#endif // FOVEA_TEST_UNIT_FORTARGET_H

//===- FoveaReduce.cpp - shrinks IR that shows a mistake ------------------===//
//
// Erases one op after another, as long as the IR is valid and a script of the
// user finds the mistake in it. An op whose results are read is erased if other
// values of their types stand before it. (mlir-reduce erases ranges of ops
// without regard to their readers, and crashes on our programs.)
//
//===----------------------------------------------------------------------===//

#include "codegen/native/Lower.h"
#include "compiler/Compiler.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
namespace cl = llvm::cl;

static cl::opt<std::string> input(cl::Positional, cl::Required,
                                  cl::desc("FILE"));
static cl::opt<std::string>
    test("test", cl::Required,
         cl::desc("a program that exits with 1 if its argument, a file of IR, "
                  "shows the mistake, and with 0 otherwise"));
static cl::opt<std::string> output("o", cl::init("-"),
                                   cl::desc("where the reduced IR goes"));

/// Whether the mistake is in a module.
static bool isInteresting(ModuleOp module) {
  llvm::SmallString<128> path;
  int file = 0;
  if (llvm::sys::fs::createTemporaryFile("fovea-reduce", "mlir", file, path))
    return false;
  llvm::FileRemover remover(path);
  llvm::raw_fd_ostream stream(file, /*shouldClose=*/true);
  module.print(stream);
  stream.close();
  return llvm::sys::ExecuteAndWait(test, {test, path}) == 1;
}

/// The ops that may be erased, the last one first: readers before what they
/// read.
static SmallVector<Operation *> candidatesIn(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != module && !op->hasTrait<OpTrait::IsTerminator>())
      ops.push_back(op);
  });
  std::reverse(ops.begin(), ops.end());
  return ops;
}

/// A value of this type before `op` in its block.
static Value valueBefore(Operation *op, Type type) {
  for (Operation *other = op->getPrevNode(); other;
       other = other->getPrevNode())
    for (Value value : other->getResults())
      if (value.getType() == type)
        return value;
  for (Value value : op->getBlock()->getArguments())
    if (value.getType() == type)
      return value;
  return nullptr;
}

/// Erases an op; false if a reader finds no other value.
static bool erase(Operation *op) {
  for (Value result : op->getResults()) {
    if (result.use_empty())
      continue;
    Value other = valueBefore(op, result.getType());
    if (!other)
      return false;
    result.replaceAllUsesWith(other);
  }
  op->erase();
  return true;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "shrinks IR that shows a mistake\n");
  DialectRegistry registry;
  fovea::compiler::registerDialects(registry);
  fovea::codegen::registerKernelDialects(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(input, &context);
  if (!module)
    return 1;
  if (!isInteresting(*module)) {
    llvm::errs() << "error: '" << test << "' does not exit with 1 for '"
                 << input << "'\n";
    return 1;
  }
  // A module that is no longer valid is not a result, and not reported.
  ScopedDiagnosticHandler silent(&context, [](Diagnostic &) {});
  bool changes = true;
  while (changes) {
    changes = false;
    for (size_t i = 0; i < candidatesIn(*module).size();) {
      OwningOpRef<ModuleOp> smaller = module->clone();
      if (erase(candidatesIn(*smaller)[i]) && succeeded(verify(*smaller)) &&
          isInteresting(*smaller)) {
        module = std::move(smaller);
        changes = true;
      } else {
        ++i;
      }
    }
  }
  std::error_code error;
  llvm::ToolOutputFile file(output, error, llvm::sys::fs::OF_None);
  if (error) {
    llvm::errs() << "error: cannot write '" << output
                 << "': " << error.message() << "\n";
    return 1;
  }
  module->print(file.os());
  file.os() << "\n";
  file.keep();
  return 0;
}

//===- Driver.h - from programs to code -----------------------------------===//
//
// The one way from the programs of a module to machine code: the back end of
// the target makes kernels of them, which become objects, texts, or functions
// of this process.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_DRIVER_H
#define FOVEA_CODEGEN_DRIVER_H

#include "codegen/Backend.h"
#include "codegen/native/Jit.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/Status.h"
#include "runtime/ThreadPool.h"
#include "runtime/model/Description.h"

#include <map>

namespace fovea::codegen {

/// How much the arrays of a program may take that are neither its data nor
/// parameters, for the largest batch that there will be.
struct MemoryLimit {
  int64_t bytes = 0;
  int64_t batch = 1, threads = 1;
  std::map<std::string, int64_t> lengths; // the largest
};

struct DriverOptions {
  /// As Backend.h knows it.
  std::string target = "native";
  bool isDouble = false;
  /// The factors of matrix products may be rounded to bf16, by a target that
  /// can (passes/kernels/ChoosePrecision.cpp).
  bool roundsFactors = false;
  /// Parameters of programs are packed by a function of their own; those of a
  /// decoder always are.
  bool prepares = false;
  /// What is read or timed keeps its names.
  bool keepsNames = false;
  /// It goes into a library or program.
  bool isShipped = false;
  /// Where kernels are listed as they are emitted; they keep their names then.
  std::vector<KernelNote> *notes = nullptr;
  /// How much the arrays of a program may take; what exceeds it is computed
  /// again.
  std::optional<MemoryLimit> memory;
  /// How much LLVM does (codegen/native/Compile.h), and whether objects are
  /// kept: what runs once on small data wants neither.
  unsigned optimisation = 1, codegen = 2;
  bool isCached = true;
};

using Objects = std::vector<std::unique_ptr<llvm::MemoryBuffer>>;

/// Programs as code that is not linked yet.
struct Code {
  /// `programs`, `hasDecoder` and `decoder`.
  runtime::Description description;
  Objects objects;
};

class Driver {
public:
  /// Fails where the target is unknown or not to be had. Kernels get the
  /// location.
  static runtime::Status create(mlir::Location location,
                                const DriverOptions &options,
                                std::unique_ptr<Driver> &result);

  /// Makes kernels of an entry of a module after the phase `fuse`; its
  /// description is the next of `description().programs`.
  runtime::Status add(mlir::ModuleOp module, llvm::StringRef entry);
  /// The same for what `attn-split-decoder` made of a model.
  runtime::Status addDecoder(mlir::ModuleOp module);
  /// The yardstick of the target.
  Peak addPeak() { return backend.emitPeak(*module, emit); }

  const Target &target() const { return emit.target; }
  runtime::Description &description() { return programs; }
  mlir::ModuleOp kernels() { return *module; }

  /// Prints the kernels, or what becomes of them: the last thing to do. Of a
  /// target with a device LLVM IR and assembly are the device's, and there is
  /// machine code of it.
  enum class Text { Kernels, LLVM, Assembly, MachineCode };
  runtime::Status print(Text text, llvm::raw_ostream &stream);
  /// Compiles the kernels: the last thing to do.
  runtime::Status compile(Objects &objects);
  /// The same, with the description.
  runtime::Status finish(Code &code);

private:
  Driver(mlir::Location location, const DriverOptions &options,
         const Backend &backend, Target target);
  mlir::LogicalResult emitProgram(attn::ProgramOp program,
                                  runtime::Program &description);
  runtime::Status keepLimit(attn::ProgramOp program, const MemoryLimit &limit);

  DriverOptions options;
  const Backend &backend;
  EmitOptions emit;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  runtime::Description programs;
};

/// Objects for the target of this name as code in this process. `parallel`
/// hands kernels to threads; `perf` lets that program name them.
runtime::Status load(Objects objects, llvm::StringRef target,
                     decltype(&fovea_parallel) parallel, bool perf,
                     std::unique_ptr<Jit> &jit);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_DRIVER_H

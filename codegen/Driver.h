//===- Driver.h - from programs to code -----------------------------------===//
//
// The only path from the programs of a module to machine code: the back end of
// the target compiles them to kernels, which become objects, texts, or
// functions of this process.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_DRIVER_H
#define FOVEA_CODEGEN_DRIVER_H

#include "codegen/Backend.h"
#include "codegen/native/Jit.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/Status.h"
#include "runtime/ThreadPool.h"
#include "runtime/data/StorageFormat.h"
#include "runtime/memory/CheckedRun.h"
#include "runtime/model/Description.h"

#include <map>

namespace fovea::codegen {

/// The memory limit for arrays of a program other than data and parameters, for
/// the largest batch.
struct MemoryLimit {
  int64_t bytes = 0;
  int64_t batch = 1, threads = 1;
  std::map<std::string, int64_t> lengths; // the largest
};

struct DriverOptions {
  /// As Backend.h knows it.
  std::string target = "native";
  bool isDouble = false;
  /// Allow rounding the factors of matrix products to bf16, on a target that
  /// supports it (passes/kernels/ChoosePrecision.cpp).
  bool roundsFactors = false;
  /// The format of the weights that programs read; null: as in training.
  /// Another key of what is cached.
  const runtime::StorageFormat *weights = nullptr;
  /// Parameters of programs are packed by a separate function; those of a
  /// decoder always are.
  bool prepares = false;
  /// Kernels that are read or timed keep their names.
  bool keepsNames = false;
  /// Programs tell each step (Backend.h).
  bool marksSteps = false;
  /// Kernels check their accesses to memory (codegen/program/CheckAccesses.h),
  /// where the target is a CPU.
  bool isChecked = false;
  /// The code goes into a library or program.
  bool isShipped = false;
  /// The list of kernels to fill in during emission; they keep their names
  /// then.
  std::vector<KernelNote> *notes = nullptr;
  /// The memory limit for arrays of a program; larger sets are
  /// recomputed.
  std::optional<MemoryLimit> memory;
  /// LLVM's optimisation level (codegen/native/Compile.h), and whether objects
  /// are cached: code that runs once on small data needs neither.
  unsigned optimisation = 1, codegen = 2;
  bool isCached = true;
};

using Objects = std::vector<std::unique_ptr<llvm::MemoryBuffer>>;

/// Compiled programs before linking.
struct Code {
  /// `programs`, `hasDecoder` and `decoder`.
  runtime::Description description;
  Objects objects;
  /// The equations that checked code refers to.
  std::vector<runtime::CheckedSite> sites;
};

class Driver {
public:
  /// Fails if the target is unknown or unavailable. Kernels get the
  /// location.
  static runtime::Status create(mlir::Location location,
                                const DriverOptions &options,
                                std::unique_ptr<Driver> &result);

  /// Compiles an entry of a module after the phase `fuse` to kernels; its
  /// description is the next of `description().programs`.
  runtime::Status add(mlir::ModuleOp module, llvm::StringRef entry);
  /// The same for the programs that `attn-split-decoder` made of a model.
  runtime::Status addDecoder(mlir::ModuleOp module);
  /// The peak-rate benchmark of the target.
  Peak addPeak() { return backend.emitPeak(*module, emit); }

  const Target &target() const { return emit.target; }
  runtime::Description &description() { return programs; }
  mlir::ModuleOp kernels() { return *module; }
  /// The schedules of the programs (dialect/launch).
  mlir::ModuleOp launches() { return *schedules; }

  /// Prints the schedules, the kernels, or a later form of these; the last
  /// call. For a target with a device, LLVM IR and assembly are the device's,
  /// and machine code exists too.
  enum class Text { Launches, Kernels, LLVM, Assembly, MachineCode };
  runtime::Status print(Text text, llvm::raw_ostream &stream);
  /// Compiles the kernels; the last call.
  runtime::Status compile(Objects &objects);
  /// The same, with the description.
  runtime::Status finish(Code &code);

private:
  Driver(mlir::Location location, const DriverOptions &options,
         const Backend &backend, Target target);
  /// Returns whether the target multiplies factors of this type.
  bool multiplies(mlir::Type factor) const;
  mlir::LogicalResult verifyPrecision(attn::ProgramOp program) const;
  mlir::LogicalResult emitProgram(attn::ProgramOp program,
                                  runtime::Program &description);
  runtime::Status addChecks();
  runtime::Status keepLimit(attn::ProgramOp program, const MemoryLimit &limit);

  DriverOptions options;
  const Backend &backend;
  EmitOptions emit;
  mlir::OwningOpRef<mlir::ModuleOp> module, schedules;
  runtime::Description programs;
  std::vector<runtime::CheckedSite> sites;
  /// The functions that run programs. Callers may rename them.
  llvm::SmallVector<mlir::func::FuncOp> hosts;
};

/// Is called with the frame ahead of each step of a program, which are numbered
/// as in runtime::Program::Array::firstUse.
using StepHook = void (*)(void *frame, int64_t step);

/// Loads objects for the target of this name as code in this process.
/// `parallel` hands kernels to threads; programs that mark their steps call
/// `step`; `perf` lets perf name them.
runtime::Status load(Objects objects, llvm::StringRef target,
                     decltype(&fovea_parallel) parallel, StepHook step,
                     bool perf, std::unique_ptr<Jit> &jit);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_DRIVER_H

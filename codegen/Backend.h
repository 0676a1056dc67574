//===- Backend.h - what a back end is -------------------------------------===//
//
// A back end compiles programs to kernels for its targets. This is the whole
// interface between a back end and the rest of the compiler: passes query the
// target that it describes, and the driver (Driver.h) hands it programs.
// Backends.def lists the back ends.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_BACKEND_H
#define FOVEA_CODEGEN_BACKEND_H

#include "codegen/DeviceModel.h"
#include "codegen/native/Target.h"
#include "dialect/AttnForward.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/Program.h"

namespace fovea::codegen {

/// The runtime function that hands a kernel to the threads.
constexpr llvm::StringLiteral parallelName = "fovea_parallel";

/// The function of a module that fills the lists of slots that kernels read.
constexpr llvm::StringLiteral fillListName = "fovea_fill_list";

/// The function that makes a device run a kernel (runtime/device/Launch.h).
constexpr llvm::StringLiteral launchName = "fovea_launch";
/// The function that launches a loop, unless the device refuses it.
constexpr llvm::StringLiteral launchLoopName = "fovea_launch_loop";
/// The function that ends a list of launches that may recur together.
constexpr llvm::StringLiteral sendName = "fovea_launch_send";
/// The function that waits for all of them.
constexpr llvm::StringLiteral waitName = "fovea_launch_wait";

/// The one that is told each step of a program, for debugging.
constexpr llvm::StringLiteral stepName = "fovea_step";
/// The function that returns the number of the thread that runs a kernel.
constexpr llvm::StringLiteral threadName = "fovea_pool_thread";
/// The function that returns the number of threads.
constexpr llvm::StringLiteral poolThreadsName = "fovea_pool_threads";

/// A kernel and its origin: an equation, or a loop.
struct KernelNote {
  std::string symbol;
  mlir::Operation *op;
  /// Equations in the same kernel.
  std::vector<mlir::Operation *> others = {};
  /// For products in tiles: the rows and columns of a tile, and whether factors
  /// are rounded; 0: none.
  int64_t tileRows = 0, tileColumns = 0;
  bool isRounded = false;
  /// Whether factors are read as bf16 copies, and whether by warp groups.
  bool readsCopies = false, isByGroups = false;
  /// The cluster size: how many blocks share their fetches of the right side.
  int64_t clusterBlocks = 1;
  /// For a kernel that makes such copies: the bytes that a unit reads and
  /// writes.
  int64_t bytesOfUnit = 0;
};

struct EmitOptions {
  /// The real type: f32 or f64.
  mlir::Type real;
  Target target;
  /// Kernels keep their names and frames, and none is shared, for readers and
  /// timers.
  bool keepsNames = false;
  /// The function of a program calls `fovea_step` ahead of each step, where the
  /// target is a CPU.
  bool marksSteps = false;
  /// Receives the schedules of programs (dialect/launch).
  mlir::ModuleOp launches;
  /// The list of kernels to fill in, if any.
  std::vector<KernelNote> *notes = nullptr;
};

/// A function `symbol(%turns: i64, %values: ptr)` that only multiplies and
/// adds: so many operations per turn, on up to 8 KB of values.
struct Peak {
  std::string symbol;
  int64_t operations = 0;
};

/// The form of a device's code: LLVM IR, its assembly under `--emit`'s
/// name, or machine code.
enum class DeviceText { LLVM, Assembly, MachineCode };

class Backend {
public:
  virtual ~Backend() = default;

  /// The names of its targets on the command line.
  virtual llvm::ArrayRef<llvm::StringLiteral> targets() const = 0;
  bool has(llvm::StringRef target) const {
    return llvm::is_contained(targets(), target);
  }
  /// Creates a target. Fails if this machine cannot make code for it.
  virtual llvm::Expected<Target> target(llvm::StringRef name) const = 0;

  /// The machine that runs the functions of programs: the target itself, or the
  /// host of a device, which runs kernels.
  virtual Target host(const Target &target) const { return target; }
  /// The name of its assembly in `--emit`.
  virtual llvm::StringRef assembly() const { return "asm"; }

  /// Describes a target to the passes, for the real type `real`.
  virtual attn::TargetAttr describe(const Target &target,
                                    mlir::Type real) const = 0;
  /// Adds the dialect of these descriptions.
  virtual void registerDialect(mlir::DialectRegistry &registry) const = 0;

  /// Adds to `kernels` the function `@<entry>`, which runs `program` on a
  /// frame, and its kernels; describes the frame in `description`. Runs after
  /// the phase `memory`, for the target. Fails, with an error at
  /// the op, if an op is not supported yet.
  virtual mlir::LogicalResult
  emitProgram(attn::ProgramOp program, mlir::ModuleOp kernels,
              const EmitOptions &options,
              runtime::Program &description) const = 0;

  /// For a target with a device: the text of its kernels.
  virtual llvm::Expected<std::string> textOfDevice(mlir::ModuleOp kernels,
                                                   const Target &target,
                                                   DeviceText text) const {
    llvm_unreachable("only what has a device has its text");
  }
  /// For a target with a device: its peak rates. Null: unknown.
  virtual const DeviceFigures *figuresOf(const Target &target) const {
    return nullptr;
  }
  /// The processor resources that the kernels in its assembly need.
  virtual llvm::Expected<NeedsOfKernels> needsOf(const std::string &assembly,
                                                 const Target &target) const {
    llvm_unreachable("only what has a device has its assembly");
  }
  /// Lowers the kernels of all programs to code for the host, if that is not
  /// the target. `isShipped`: the artifact is shipped, so extra compile time is
  /// justified.
  virtual llvm::Error finish(mlir::ModuleOp kernels, const Target &target,
                             bool isShipped) const {
    return llvm::Error::success();
  }

  /// Adds the benchmark of a thread's peak rate.
  virtual Peak emitPeak(mlir::ModuleOp kernels,
                        const EmitOptions &options) const = 0;

  /// Registers its passes for command lines.
  virtual void registerPasses() const {}
};

#define BACKEND(name) const Backend &name##Backend();
#include "codegen/Backends.def"

/// Returns the back end of the target with this name, or fails.
llvm::Expected<const Backend *> backendFor(llvm::StringRef target);

/// The target itself, and the machine that runs its programs' functions.
llvm::Expected<Target> targetNamed(llvm::StringRef name);
llvm::Expected<Target> hostOf(llvm::StringRef target);

/// Describes the target of this name to the passes, for the real type `real`.
llvm::Expected<attn::TargetAttr> describeTarget(llvm::StringRef name,
                                                mlir::Type real);

/// Adds the dialects of all targets; they are loaded together with `attn`.
void registerTargets(mlir::DialectRegistry &registry);

/// Adds a back end that Backends.def does not list, such as a test's.
void addBackend(const Backend &backend);
/// The names of the targets of such back ends.
std::vector<std::string> addedTargets();

/// The target `cuda:..` for a device of this compute capability. Empty: none.
std::string gpuTargetFor(int major, int minor);

/// The passes of all back ends.
void registerBackendPasses();

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_BACKEND_H

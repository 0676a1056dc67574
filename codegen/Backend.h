//===- Backend.h - what a back end is -------------------------------------===//
//
// A back end makes kernels of programs, for the targets that it names. All that
// others know of it is here: passes ask the machine that it describes, the
// driver (Driver.h) hands it programs. Backends.def lists the back ends.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_BACKEND_H
#define FOVEA_CODEGEN_BACKEND_H

#include "codegen/DeviceModel.h"
#include "codegen/native/Target.h"
#include "dialect/AttnDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/Program.h"

namespace fovea::codegen {

/// The function of the runtime that hands a kernel to the threads.
constexpr llvm::StringLiteral parallelName = "fovea_parallel";

/// The one that has a device run a kernel (runtime/device/Launch.h).
constexpr llvm::StringLiteral launchName = "fovea_launch";
/// The one that launches a loop, unless the device does not do that.
constexpr llvm::StringLiteral launchLoopName = "fovea_launch_loop";
/// The one that says that what may come again together ends here.
constexpr llvm::StringLiteral sendName = "fovea_launch_send";
/// The one that waits for all of them.
constexpr llvm::StringLiteral waitName = "fovea_launch_wait";

/// The one that says on which of the threads a kernel runs.
constexpr llvm::StringLiteral threadName = "fovea_pool_thread";
/// The one that says how many threads there are.
constexpr llvm::StringLiteral poolThreadsName = "fovea_pool_threads";

/// A kernel and what it is part of: an equation, or a loop.
struct KernelNote {
  std::string symbol;
  mlir::Operation *op;
  /// Equations that are computed with it.
  std::vector<mlir::Operation *> others = {};
  /// Of products in tiles: the rows and columns of a tile, and whether factors
  /// are rounded; 0: there are none.
  int64_t tileRows = 0, tileColumns = 0;
  bool isRounded = false;
  /// Whether factors are read as copies in bf16, and by groups of warps.
  bool readsCopies = false, isByGroups = false;
  /// How many blocks share what they fetch of the right side.
  int64_t clusterBlocks = 1;
  /// Of a kernel that makes such copies: what a unit reads and writes.
  int64_t bytesOfUnit = 0;
};

struct EmitOptions {
  /// What real numbers are: f32 or f64.
  mlir::Type real;
  Target target;
  /// Kernels keep their names and their frames, and none is shared: who reads
  /// or times them knows them.
  bool keepsNames = false;
  /// Where the kernels are listed, if anywhere.
  std::vector<KernelNote> *notes = nullptr;
};

/// A function `symbol(%turns: i64, %values: ptr)` that does nothing but
/// multiply and add: so many operations in a turn, on up to 8 KB of values.
struct Peak {
  std::string symbol;
  int64_t operations = 0;
};

/// What runs on a device, as LLVM IR, as its bytes in a file, as `--emit` calls
/// its assembly, or as machine code.
enum class DeviceText { LLVM, Bitcode, Assembly, MachineCode };

class Backend {
public:
  virtual ~Backend() = default;

  /// What its targets are called on the command line.
  virtual llvm::ArrayRef<llvm::StringLiteral> targets() const = 0;
  /// Whether a target is its own; it may have more than it tells.
  virtual bool has(llvm::StringRef target) const {
    return llvm::is_contained(targets(), target);
  }
  /// One of them. Fails where this machine cannot make code for it.
  virtual llvm::Expected<Target> target(llvm::StringRef name) const = 0;

  /// What runs the functions of programs: the target itself, or the host of a
  /// device, which runs kernels.
  virtual Target host(const Target &target) const { return target; }
  /// Whether it multiplies factors that are rounded to bf16.
  virtual bool roundsFactors() const { return false; }
  /// What `--emit` calls its assembly.
  virtual llvm::StringRef assembly() const { return "asm"; }

  /// The machine that passes ask, for real numbers of the type `real`.
  virtual attn::MachineAttr machineOf(const Target &target,
                                      mlir::Type real) const = 0;

  /// Adds to `kernels` the function `@<entry>`, which runs `program` on a
  /// frame, and its kernels; describes in `description` what the frame holds.
  /// Runs after the phase `memory`, for the machine of the target. Fails, with
  /// an error at the op, on what cannot be compiled yet.
  virtual mlir::LogicalResult
  emitProgram(attn::ProgramOp program, mlir::ModuleOp kernels,
              const EmitOptions &options,
              runtime::Program &description) const = 0;

  /// Of a target with a device: the text of its kernels.
  virtual llvm::Expected<std::string> textOfDevice(mlir::ModuleOp kernels,
                                                   const Target &target,
                                                   DeviceText text) const {
    llvm_unreachable("only what has a device has its text");
  }
  /// Of a target with a device: what one can do at most. Null: nobody says.
  virtual const DeviceFigures *figuresOf(const Target &target) const {
    return nullptr;
  }
  /// What the kernels of its assembly need of a processor.
  virtual llvm::Expected<NeedsOfKernels> needsOf(const std::string &assembly,
                                                 const Target &target) const {
    llvm_unreachable("only what has a device has its assembly");
  }
  /// Makes of the kernels of all programs what is compiled for the host, where
  /// that is not the target. `isShipped`: it is for other machines, and worth
  /// what saves them time.
  virtual llvm::Error finish(mlir::ModuleOp kernels, const Target &target,
                             bool isShipped) const {
    return llvm::Error::success();
  }

  /// Adds the yardstick of measurements: what one thread can compute at most.
  virtual Peak emitPeak(mlir::ModuleOp kernels,
                        const EmitOptions &options) const = 0;

  /// Makes its passes over kernels known to command lines.
  virtual void registerPasses() const {}
};

#define BACKEND(name) const Backend &name##Backend();
#include "codegen/Backends.def"

/// The back end of a target that is called so. Fails where there is none.
llvm::Expected<const Backend *> backendFor(llvm::StringRef target);

/// The target itself, and what runs the functions of its programs.
llvm::Expected<Target> targetNamed(llvm::StringRef name);
llvm::Expected<Target> hostOf(llvm::StringRef target);

/// What passes ask of it, for real numbers of the type `real`.
llvm::Expected<attn::MachineAttr> machineNamed(llvm::StringRef target,
                                               mlir::Type real);

/// The target `cuda:..` for a device of this compute capability; 0.0 is the
/// emulator. Empty: there is none.
std::string gpuTargetFor(int major, int minor);

/// The passes of all back ends.
void registerBackendPasses();

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_BACKEND_H

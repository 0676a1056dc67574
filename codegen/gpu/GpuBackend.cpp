//===- GpuBackend.cpp - GPUs of NVIDIA as a back end ----------------------===//

#include "codegen/Backend.h"
#include "codegen/TensorCores.h"
#include "codegen/gpu/device/DeviceCode.h"
#include "codegen/gpu/device/Toolkit.h"
#include "codegen/gpu/products/CopiedProduct.h"
#include "codegen/gpu/program/GpuEmitter.h"
#include "codegen/gpu/program/OwnKernels.h"
#include "codegen/math/ExpandMath.h"
#include "dialect/RoundedFactors.h"
#include "targets/nvidia/AttentionCopies.h"
#include "targets/nvidia/Passes.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::codegen;

namespace {
struct Architecture {
  llvm::StringLiteral target, name, features;
  int major, minor;
  int64_t kilobytes;
  /// Whether blocks fetch tiles and multiply by groups of four warps.
  bool hasGroups;
  bool isExact;
};
} // namespace

/// `cuda` alone is the first.
static constexpr Architecture architectures[] = {
    {"cuda", "sm_80", "+ptx80", 8, 0, 99, false, false},
#define ARCHITECTURE(name, features, major, minor, kilobytes, groups)          \
  {"cuda:" #name, #name, features, major, minor, kilobytes, groups, false},
#define EXACT_ARCHITECTURE(name, features, major, minor, kilobytes, groups)    \
  {"cuda:" #name, #name, features, major, minor, kilobytes, groups, true},
#include "codegen/gpu/Architectures.def"
};

static constexpr std::pair<llvm::StringLiteral, DeviceFigures> figures[] = {
#define FIGURES(name, model, count, kb, memory, cache, own, single, twice,     \
                rounded, grouped)                                              \
  {#name,                                                                      \
   {.device = model,                                                           \
    .processors = count,                                                       \
    .sharedBytes = (kb) * 1024,                                                \
    .memoryBytes = (memory) * 1e12,                                            \
    .cacheBytes = (cache) * 1e12,                                              \
    .processorBytes = (own) * 1e9,                                             \
    .singleFlops = (single) * 1e12,                                            \
    .doubleFlops = (twice) * 1e12,                                             \
    .roundedFlops = (rounded) * 1e12,                                          \
    .groupFlops = (grouped) * 1e12}},
#include "codegen/gpu/Architectures.def"
};

static constexpr TensorCore allTensorCores[] = {
#define TENSOR_CORE(name, target, major, minor, terms, digits, zero)           \
  {#name, target, major, minor, {terms, digits, zero}},
#include "codegen/gpu/Architectures.def"
};

ArrayRef<TensorCore> fovea::codegen::tensorCores() { return allTensorCores; }

const TensorCore *fovea::codegen::findTensorCore(StringRef name) {
  const auto *found = llvm::find_if(
      tensorCores(), [&](const TensorCore &core) { return core.name == name; });
  return found == tensorCores().end() ? nullptr : found;
}

/// A product has the sums of the tensor cores that run it.
static LogicalResult verifySums(attn::ProgramOp program, StringRef processor) {
  WalkResult walk = program.walk([&](attn::ComputeOp op) {
    if (attn::roundsFactors(op)) {
      op.emitError() << "has factors in bf16 with the sums of a CPU, which '"
                     << processor << "' does not have";
      return WalkResult::interrupt();
    }
    std::optional<attn::GroupedSums> sums = attn::groupedSumsOf(op);
    bool isOwn = llvm::any_of(tensorCores(), [&](const TensorCore &core) {
      return processor.starts_with(core.name) && sums == core.sums;
    });
    if (!sums || isOwn)
      return WalkResult::advance();
    op.emitError() << "has sums in groups that '" << processor
                   << "' does not have";
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

static const Architecture &architectureOf(StringRef target) {
  for (const Architecture &each : architectures)
    if (each.target == target)
      return each;
  llvm_unreachable("a back end is asked for its own targets");
}

std::string fovea::codegen::gpuTargetFor(int major, int minor) {
  std::string best;
  for (const Architecture &each : architectures) {
    bool isOwn = each.major == major && each.minor == minor;
    bool isOlder = std::pair(each.major, each.minor) <= std::pair(major, minor);
    if (each.isExact ? isOwn : isOlder)
      best = each.target;
  }
  return best;
}

namespace {
class GpuBackend final : public Backend {
public:
  GpuBackend() {
    for (const Architecture &each : architectures)
      names.push_back(each.target);
  }

  ArrayRef<llvm::StringLiteral> targets() const override { return names; }
  llvm::Expected<Target> target(StringRef name) const override {
    const Architecture &own = architectureOf(name);
    Target target;
    target.triple = "nvptx64-nvidia-cuda";
    target.cpu = own.name.str();
    target.features = own.features.str();
    target.vectorBits = 32;
    target.vectorRegisters = 32;
    return target;
  }
  Target host(const Target &) const override { return Target::host(); }
  StringRef assembly() const override { return "ptx"; }

  attn::TargetAttr describe(const Target &target, Type real) const override {
    MLIRContext *context = real.getContext();
    const auto *own =
        llvm::find_if(architectures, [&](const Architecture &each) {
          return each.name == target.cpu;
        });
    assert(own != std::end(architectures) && "a target of this back end");
    bool hasGroups = real.isF32() && own->hasGroups;
    static_assert(attn::NvidiaTargetAttr::stripRows == TileShape().rows);
    return attn::NvidiaTargetAttr::get(
        context, StringAttr::get(context, target.cpu),
        /*shared_bytes=*/(own->kilobytes << 10) - attn::mostTileBytes,
        /*copy_rows=*/real.isF32() ? copyRows : 0,
        /*group_columns=*/hasGroups ? groupColumns : 0,
        /*cluster_blocks=*/hasGroups ? clusterBlocks : 1);
  }
  void registerDialect(DialectRegistry &registry) const override {
    registry.insert<attn::NvidiaDialect>();
  }
  void registerPasses() const override { attn::registerNvidiaPasses(); }
  LogicalResult emitProgram(attn::ProgramOp program, ModuleOp kernels,
                            const EmitOptions &options,
                            runtime::Program &description) const override {
    if (failed(verifySums(program, options.target.cpu)))
      return failure();
    GpuEmitter emitter(program, kernels, options);
    if (failed(emitter.emit(options)))
      return failure();
    description = emitter.description();
    auto gives = [&](StringRef prefix) {
      return llvm::any_of(description.arrays, [&](const auto &array) {
        return array.role == runtime::Program::Role::Output &&
               StringRef(array.name).starts_with(prefix);
      });
    };
    if (gives("grad/"))
      addLearnerKernels(kernels, options.real);
    if (gives("logp/"))
      addSearchKernels(kernels, options.real);
    WalkResult walk = kernels.walk([](arith::RemFOp op) {
      // NVPTX rounds it differently.
      op.emitError()
          << "the remainder of real numbers is not supported on GPUs yet";
      return WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      return failure();
    expandMath(kernels);
    return success();
  }
  llvm::Expected<std::string> textOfDevice(ModuleOp kernels,
                                           const Target &target,
                                           DeviceText text) const override {
    if (text != DeviceText::MachineCode)
      return deviceCode(kernels, target, text);
    auto ptx = deviceCode(kernels, target, DeviceText::Assembly);
    return ptx ? makeCubin(*ptx, target.cpu) : std::move(ptx);
  }
  const DeviceFigures *figuresOf(const Target &target) const override {
    for (const auto &[name, own] : figures)
      if (name == target.cpu)
        return &own;
    return nullptr;
  }
  llvm::Expected<NeedsOfKernels> needsOf(const std::string &assembly,
                                         const Target &target) const override {
    return needsOfKernels(assembly, target.cpu);
  }
  llvm::Error finish(ModuleOp kernels, const Target &target,
                     bool isShipped) const override {
    auto image = deviceCode(kernels, target, DeviceText::Assembly);
    if (image && isShipped)
      image = addCubin(*image, target.cpu);
    if (!image)
      return image.takeError();
    embedDevice(kernels, *image);
    return llvm::Error::success();
  }
  Peak emitPeak(ModuleOp kernels, const EmitOptions &options) const override {
    EmitOptions own = options;
    own.target = Target::host();
    return cpuBackend().emitPeak(kernels, own);
  }

private:
  std::vector<llvm::StringLiteral> names;
};
} // namespace

const Backend &fovea::codegen::gpuBackend() {
  static const GpuBackend backend;
  return backend;
}

//===- Target.cpp - finds the CPU and makes its code generator ------------===//
//
// The width and number of vectors follow from the architecture and the
// features alone. Kernel emitters rely on the width: Emit.cpp makes LLVM keep
// it.
//
//===----------------------------------------------------------------------===//

#include "codegen/native/Target.h"
#include "runtime/Cpu.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <algorithm>
#include <mutex>

using namespace fovea;
using namespace fovea::codegen;

static constexpr llvm::StringLiteral level3[] = {
    "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"};
static constexpr llvm::StringLiteral level4[] = {
    "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"};
static constexpr llvm::StringLiteral neon[] = {"fp-armv8", "neon"};
/// Supported by all browsers since 2023.
static constexpr llvm::StringLiteral browser[] = {
    "bulk-memory",         "bulk-memory-opt", "mutable-globals",
    "nontrapping-fptoint", "sign-ext",        "simd128"};

static void initialise() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeWebAssemblyTargetInfo();
    LLVMInitializeWebAssemblyTarget();
    LLVMInitializeWebAssemblyTargetMC();
    LLVMInitializeWebAssemblyAsmPrinter();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

static bool has(llvm::StringRef features, llvm::StringRef feature) {
  llvm::SmallVector<llvm::StringRef> all;
  features.split(all, ',');
  return llvm::is_contained(all, ("+" + feature).str());
}

static void findVectors(Target &target) {
  auto present = [&](llvm::StringRef feature) {
    return has(target.features, feature);
  };
  bool hasLevel4 = llvm::all_of(level4, present);
  bool isAArch64 = llvm::Triple(target.triple).isAArch64();
  target.vectorBits = hasLevel4 ? 512 : present("avx2") ? 256 : 128;
  target.vectorRegisters = hasLevel4 || isAArch64 ? 32 : 16;
}

/// The name of this process's CPU; the most general one with AVX2 if
/// FOVEA_CPU_FEATURES hides the rest.
static std::string hostCpu() {
  return runtime::hidesBeyondAvx2() ? "x86-64-v3"
                                    : llvm::sys::getHostCPUName().str();
}

/// Returns whether FOVEA_CPU_FEATURES hides a feature: AVX-512 and later.
static bool isHidden(llvm::StringRef feature) {
  static constexpr llvm::StringLiteral later[] = {"amx", "gfni", "vaes",
                                                  "vpclmulqdq"};
  auto begins = [&](llvm::StringRef name) { return feature.starts_with(name); };
  return runtime::hidesBeyondAvx2() &&
         (llvm::any_of(later, begins) ||
          (begins("avx") && feature != "avx" && feature != "avx2"));
}

/// The features of this process's CPU, sorted; absent and hidden ones have a
/// minus.
static std::string hostFeatures() {
  std::vector<std::string> features;
  for (const auto &[feature, isPresent] : llvm::sys::getHostCPUFeatures())
    features.push_back((isPresent && !isHidden(feature) ? "+" : "-") +
                       feature.str());
  llvm::sort(features, [](const std::string &lhs, const std::string &rhs) {
    return llvm::StringRef(lhs).drop_front() <
           llvm::StringRef(rhs).drop_front();
  });
  return llvm::join(features, ",");
}

Target Target::host() {
  Target target;
  target.triple = llvm::sys::getProcessTriple();
  target.cpu = hostCpu();
  target.features = hostFeatures();
  findVectors(target);
  return target;
}

llvm::ArrayRef<llvm::StringLiteral> Target::names() {
  static constexpr llvm::StringLiteral all[] = {
      "native", "x86-64-v3", "x86-64-v4", "aarch64", "wasm32"};
  return all;
}

llvm::Error
fovea::codegen::unknownTarget(llvm::StringRef name,
                              llvm::ArrayRef<llvm::StringRef> known) {
  std::string list;
  for (auto [number, each] : llvm::enumerate(known))
    list += (number == 0                  ? "'"
             : number + 1 == known.size() ? " or '"
                                          : ", '") +
            each.str() + "'";
  return llvm::createStringError("unknown target '" + name + "': expected " +
                                 list);
}

llvm::Expected<Target> Target::parse(llvm::StringRef name) {
  if (runtime::Status status = runtime::checkCpu(""); status.failed())
    return llvm::createStringError(status.getMessage());
  Target target = host();
  bool isX86 = llvm::Triple(target.triple).getArch() == llvm::Triple::x86_64;
  if (name == "native") {
    if (isX86)
      for (llvm::StringRef feature : {"avx2", "fma"})
        if (!has(target.features, feature))
          return llvm::createStringError("this CPU ('" + target.cpu +
                                         "') lacks '" + feature +
                                         "', which compiled kernels need");
    return target;
  }
  std::vector<std::string> features;
  auto add = [&](llvm::ArrayRef<llvm::StringLiteral> names) {
    for (llvm::StringRef feature : names)
      features.push_back("+" + feature.str());
  };
  if (name == "aarch64") {
    if (!llvm::Triple(target.triple).isAArch64())
      target.triple = "aarch64-linux-gnu";
    target.cpu = "generic";
    add(neon);
  } else if (name == "wasm32") {
    target.triple = "wasm32-wasi";
    target.cpu = "generic";
    target.fusesMultiplyAdd = false;
    add(browser);
  } else if (name == "x86-64-v3" || name == "x86-64-v4") {
    if (!isX86)
      return llvm::createStringError("target '" + name +
                                     "' needs an x86-64 host, this is '" +
                                     target.triple + "'");
    target.cpu = name.str();
    add(level3);
    if (name == "x86-64-v4")
      add(level4);
  } else {
    return unknownTarget(name, llvm::to_vector_of<llvm::StringRef>(names()));
  }
  llvm::sort(features);
  target.features = llvm::join(features, ",");
  findVectors(target);
  return target;
}

bool Target::isForeign() const {
  return llvm::Triple(triple).getArch() !=
         llvm::Triple(llvm::sys::getProcessTriple()).getArch();
}

bool Target::isWasm() const { return llvm::Triple(triple).isWasm(); }

unsigned Target::lanes(mlir::Type element) const {
  unsigned bits =
      element.isIndex() ? 64 : std::max(8u, element.getIntOrFloatBitWidth());
  return std::max(1u, vectorBits / bits);
}

llvm::Error Target::checkRunsHere() const {
  if (isForeign())
    return llvm::createStringError(
        "code for '" + llvm::Triple(triple).getArchName() +
        "' does not run on this machine ('" +
        llvm::Triple(llvm::sys::getProcessTriple()).getArchName() + "')");
  std::string here = hostFeatures();
  llvm::SmallVector<llvm::StringRef> needed;
  llvm::StringRef(features).split(needed, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef feature : needed)
    if (feature.consume_front("+") && !has(here, feature))
      return llvm::createStringError("code for '" + cpu + "' needs '" +
                                     feature + "', which this CPU ('" +
                                     hostCpu() + "') lacks");
  return llvm::Error::success();
}

std::string Target::describe() const {
  return triple + " " + cpu + " " + features + " " + std::to_string(vectorBits);
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
Target::createMachine(llvm::CodeGenOptLevel level) const {
  initialise();
  llvm::Triple parsed(triple);
  std::string message;
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(parsed, message);
  if (!backend)
    return llvm::createStringError(message);
  llvm::TargetOptions options;
  // Otherwise the innermost loop of matrix products takes up to 4 % more time,
  // depending on the code before it.
  if (!parsed.isNVPTX())
    options.LoopAlignment = 64;
  // A product and a sum form one FMA only if a kernel says so.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(backend->createTargetMachine(
      parsed, cpu, features, options,
      parsed.isWasm() ? llvm::Reloc::Static : llvm::Reloc::PIC_,
      llvm::CodeModel::Small, level));
  if (!machine)
    return llvm::createStringError("cannot generate code for '" + triple + "'");
  return machine;
}

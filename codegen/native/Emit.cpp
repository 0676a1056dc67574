//===- Emit.cpp - the LLVM dialect becomes machine code -------------------===//
//
// Sets the invariants of every kernel's code in one place: the vector width
// that its emitter chose, and the roundings that it wrote.
//
//===----------------------------------------------------------------------===//

#include "codegen/native/Emit.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"

using namespace fovea::codegen;

/// Sets the attributes that code generation needs on a function. All functions
/// get the same: LLVM inlines only between functions of equal features.
static void mark(llvm::Function &function, const Target &target) {
  function.addFnAttr("target-cpu", target.cpu);
  function.addFnAttr("target-features", target.features);
  // Without it LLVM splits vectors of 512 bits on CPUs that clock down.
  function.addFnAttr("prefer-vector-width", std::to_string(target.vectorBits));
  function.addFnAttr("min-legal-vector-width",
                     std::to_string(target.vectorBits));
  function.addFnAttr(llvm::Attribute::NoUnwind);
}

/// The flags and attributes are those of clang's `-fcf-protection=full` and
/// `-mbranch-protection=standard`.
void fovea::codegen::protectControlFlow(llvm::Module &module) {
  const llvm::Triple &triple = module.getTargetTriple();
  if (triple.isX86()) {
    for (const char *flag : {"cf-protection-return", "cf-protection-branch"})
      module.addModuleFlag(llvm::Module::Min, flag, 1);
  } else if (triple.isAArch64()) {
    for (const char *flag : {"branch-target-enforcement", "sign-return-address",
                             "guarded-control-stack"})
      module.addModuleFlag(llvm::Module::Min, flag, 1);
    for (llvm::Function &function : module) {
      if (function.isDeclaration())
        continue;
      function.addFnAttr("branch-target-enforcement");
      function.addFnAttr("guarded-control-stack");
      function.addFnAttr("sign-return-address", "non-leaf");
      function.addFnAttr("sign-return-address-key", "a_key");
    }
  }
}

std::unique_ptr<llvm::Module> fovea::codegen::translateToLLVM(
    mlir::ModuleOp module, llvm::LLVMContext &context,
    llvm::TargetMachine &machine, const Target &target) {
  llvm::StringRef name = module.getName().value_or("kernels");
  std::unique_ptr<llvm::Module> translated =
      mlir::translateModuleToLLVMIR(module, context, name);
  if (!translated)
    return nullptr;
  translated->setDataLayout(machine.createDataLayout());
  translated->setTargetTriple(machine.getTargetTriple());
  translated->setPICLevel(llvm::PICLevel::BigPIC);
  for (llvm::Function &function : *translated)
    if (!function.isDeclaration())
      mark(function, target);
  protectControlFlow(*translated);
  // Symbols that splitModule shares between objects are not part of an
  // interface.
  for (llvm::Function &function : *translated)
    if (function.hasWeakODRLinkage())
      function.setVisibility(llvm::GlobalValue::HiddenVisibility);
  return translated;
}

/// The part of LLVM's first level that kernels need, in less than half of its
/// time: the emitters have already unrolled, vectorised and shared. What
/// remains is inlining helpers, sharing addresses and hoisting them out of
/// loops, and cleaning up.
static constexpr llvm::StringLiteral kernelPipeline =
    "function(sroa,early-cse<memssa>),cgscc(inline),globaldce,"
    "function(early-cse<memssa>,simplifycfg,loop-mssa(loop-rotate,licm),"
    "instcombine<no-verify-fixpoint>,loop(indvars,loop-deletion),gvn,"
    "simplifycfg)";

void fovea::codegen::optimise(llvm::Module &module,
                              llvm::TargetMachine &machine, unsigned level) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.LoopInterleaving = false;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  if (level == 0)
    passes = builder.buildO0DefaultPipeline(llvm::OptimizationLevel::O0);
  else if (level == 1)
    llvm::cantFail(builder.parsePassPipeline(passes, kernelPipeline));
  else
    passes = builder.buildPerModuleDefaultPipeline(
        level == 2 ? llvm::OptimizationLevel::O2 : llvm::OptimizationLevel::O3);
  passes.run(module, modules);
}

llvm::Expected<llvm::SmallVector<char, 0>>
fovea::codegen::emitFile(llvm::Module &module, llvm::TargetMachine &machine,
                         llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> file;
  llvm::raw_svector_ostream stream(file);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return llvm::createStringError("no code generator for this kind of file");
  passes.run(module);
  return file;
}

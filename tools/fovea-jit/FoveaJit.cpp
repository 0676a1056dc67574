//===- FoveaJit.cpp - compiles and runs a kernel module -------------------===//
//
// Reads kernel modules as MLIR text and runs `main : () -> i64`, printing its
// result; or shows a module in any form on the way to machine code; or links
// them into a library or a program.
// Kernels may print: @print_i64, @print_f32, @print_f64 write one line each.
//
//===----------------------------------------------------------------------===//

#include "codegen/native/Compile.h"
#include "codegen/native/Emit.h"
#include "codegen/native/Jit.h"
#include "codegen/native/Link.h"
#include "codegen/native/Lower.h"
#include "codegen/native/ObjectCache.h"
#include "codegen/native/Split.h"
#include "codegen/native/Target.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

#include <chrono>
#include <cinttypes>
#include <cstdio>

namespace cl = llvm::cl;
using namespace fovea::codegen;
using namespace mlir;

namespace {
enum class Form {
  Run,
  Kernels,
  Mlir,
  Llvm,
  Optimised,
  Assembly,
  Object,
  Shared,
  Executable
};
} // namespace

static cl::list<std::string> inputs(cl::Positional, cl::OneOrMore,
                                    cl::desc("<kernel modules>"));
static cl::opt<Form> form(
    "emit", cl::desc("write a form instead of running"), cl::init(Form::Run),
    cl::values(clEnumValN(Form::Kernels, "kernels", "the kernel modules"),
               clEnumValN(Form::Mlir, "mlir", "the LLVM dialect"),
               clEnumValN(Form::Llvm, "llvm", "LLVM IR"),
               clEnumValN(Form::Optimised, "llvm-opt", "optimised LLVM IR"),
               clEnumValN(Form::Assembly, "asm", "assembly"),
               clEnumValN(Form::Object, "obj", "an object file"),
               clEnumValN(Form::Shared, "shared", "a shared library"),
               clEnumValN(Form::Executable, "exe", "a program")));
static cl::opt<std::string> output("o", cl::desc("where to write a form"),
                                   cl::init("-"));
static cl::opt<std::string> targetName("target",
                                       cl::desc("native, x86-64-v3, "
                                                "x86-64-v4 or aarch64"),
                                       cl::init("native"));
static cl::opt<unsigned> level("O", cl::Prefix, cl::init(1),
                               cl::desc("level of LLVM's IR passes"));
static cl::opt<std::string> entry("entry", cl::init("main"),
                                  cl::desc("the function to run"));
static cl::opt<unsigned> split("split", cl::init(0),
                               cl::desc("split modules into parts of about "
                                        "this many ops"));
static cl::list<std::string>
    libraries("with", cl::desc("objects and archives to link with"));
static cl::opt<bool> libm("libm", cl::desc("kernels may call libm"));
static cl::opt<bool> perf("perf", cl::desc("name kernels for perf"));
static cl::opt<bool> timing("time", cl::desc("print times to stderr"));

static cl::opt<bool> useCache("cache", cl::desc("use the cache of objects"));
static cl::opt<uint64_t> cacheLimit("cache-limit",
                                    cl::init(ObjectCache::defaultLimit),
                                    cl::desc("bytes that the cache may take"));
static cl::opt<unsigned> threads("compile-threads", cl::init(0),
                                 cl::desc("modules compiled at a time"));

static int fail(llvm::Error error) {
  llvm::errs() << "fovea-jit: error: " << llvm::toString(std::move(error))
               << "\n";
  return 1;
}

static void printInteger(int64_t value) { std::printf("%" PRId64 "\n", value); }
static void printSingle(float value) { std::printf("%.9g\n", value); }
static void printDouble(double value) { std::printf("%.17g\n", value); }

static double now() {
  auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(time).count();
}

/// Writes one module in a readable form.
static llvm::Error write(ModuleOp module, const Target &target,
                         llvm::raw_ostream &stream) {
  auto machine = target.createMachine();
  if (!machine)
    return machine.takeError();
  if (failed(lowerToLLVM(module, target)))
    return llvm::createStringError("cannot lower a kernel to LLVM");
  if (form == Form::Mlir) {
    module.print(stream);
    return llvm::Error::success();
  }
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated =
      translateToLLVM(module, context, **machine, target);
  if (!translated)
    return llvm::createStringError("cannot translate a kernel to LLVM");
  if (form != Form::Llvm)
    optimise(*translated, **machine, level);
  if (form != Form::Assembly) {
    translated->print(stream, nullptr);
    return llvm::Error::success();
  }
  auto file =
      emitFile(*translated, **machine, llvm::CodeGenFileType::AssemblyFile);
  if (!file)
    return file.takeError();
  stream << llvm::StringRef(file->data(), file->size());
  return llvm::Error::success();
}

static CompileOptions compileOptions() {
  CompileOptions options;
  options.optimisation = level;
  options.threads = threads;
  if (useCache)
    options.cache =
        std::make_shared<ObjectCache>(ObjectCache::defaultFolder(), cacheLimit);
  return options;
}

/// Writes a form that is a file of its own.
static llvm::Error writeFile(std::vector<OwningOpRef<ModuleOp>> modules,
                             const Target &target) {
  if (modules.size() != 1 && form != Form::Kernels)
    return llvm::createStringError("this form is of one module, not of " +
                                   llvm::Twine(modules.size()));
  std::string message;
  auto file = openOutputFile(output, &message);
  if (!file)
    return llvm::createStringError(message);
  if (form == Form::Kernels) {
    for (OwningOpRef<ModuleOp> &module : modules)
      file->os() << *module << "\n";
  } else if (form == Form::Object) {
    auto objects = compileObjects(std::move(modules), target, compileOptions());
    if (!objects)
      return objects.takeError();
    file->os() << objects->front()->getBuffer();
  } else if (llvm::Error error = write(*modules.front(), target, file->os())) {
    return error;
  }
  file->keep();
  return llvm::Error::success();
}

static llvm::Error linkFile(std::vector<OwningOpRef<ModuleOp>> modules,
                            const Target &target) {
  auto objects = compileObjects(std::move(modules), target, compileOptions());
  if (!objects)
    return objects.takeError();
  std::vector<llvm::MemoryBufferRef> buffers;
  for (const auto &object : *objects)
    buffers.push_back(*object);
  LinkOptions options;
  options.files = {libraries.begin(), libraries.end()};
  return form == Form::Shared ? linkShared(buffers, output, options)
                              : linkExecutable(buffers, output, options);
}

/// Fails if a function of that name has another signature.
static llvm::Error checkEntry(ModuleOp module) {
  auto function = module.lookupSymbol<func::FuncOp>(entry);
  if (!function)
    return llvm::Error::success();
  Builder builder(module.getContext());
  FunctionType expected = builder.getFunctionType({}, builder.getI64Type());
  if (function.getFunctionType() == expected)
    return llvm::Error::success();
  std::string type;
  llvm::raw_string_ostream(type) << function.getFunctionType();
  return llvm::createStringError("'" + entry + "' has type '" + type +
                                 "', not '() -> i64'");
}

static llvm::Error run(std::vector<OwningOpRef<ModuleOp>> modules,
                       const Target &target) {
  for (OwningOpRef<ModuleOp> &module : modules)
    if (llvm::Error error = checkEntry(*module))
      return error;
  JitOptions options;
  options.compile.optimisation = level;
  options.compile.threads = threads;
  if (useCache)
    options.compile.cache =
        std::make_shared<ObjectCache>(ObjectCache::defaultFolder(), cacheLimit);
  auto cache = options.compile.cache;
  options.libm = libm;
  options.perf = perf;
  options.symbols = {
      {"print_i64", reinterpret_cast<void *>(&printInteger)},
      {"print_f32", reinterpret_cast<void *>(&printSingle)},
      {"print_f64", reinterpret_cast<void *>(&printDouble)},
  };
  double start = now();
  auto jit = Jit::create(target, std::move(options));
  if (!jit)
    return jit.takeError();
  double created = now();
  if (llvm::Error error = (*jit)->add(std::move(modules)))
    return error;
  double compiled = now();
  auto function = (*jit)->lookup(entry);
  if (!function)
    return function.takeError();
  double linked = now();
  int64_t result = reinterpret_cast<int64_t (*)()>(*function)();
  double end = now();
  std::printf("%s: %" PRId64 "\n", entry.c_str(), result);
  if (cache)
    std::printf("cache: %u hits, %u misses\n", cache->hits(), cache->misses());
  if (timing)
    std::fprintf(
        stderr, "create %.2f ms, compile %.2f ms, link %.2f ms, run %.3f ms\n",
        created - start, compiled - created, linked - compiled, end - linked);
  return llvm::Error::success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialised(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "Fovea kernel runner\n");
  llvm::Expected<Target> target = Target::parse(targetName);
  if (!target)
    return fail(target.takeError());

  DialectRegistry registry;
  registerKernelDialects(registry);
  MLIRContext context(registry);
  loadKernelDialects(context);
  std::vector<OwningOpRef<ModuleOp>> modules;
  for (const std::string &input : inputs) {
    OwningOpRef<ModuleOp> module =
        parseSourceFile<ModuleOp>(input, ParserConfig(&context));
    if (!module)
      return 1;
    if (split == 0) {
      modules.push_back(std::move(module));
      continue;
    }
    for (OwningOpRef<ModuleOp> &part : splitModule(std::move(module), split))
      modules.push_back(std::move(part));
  }
  bool linked = form == Form::Shared || form == Form::Executable;
  llvm::Error error = form == Form::Run ? run(std::move(modules), *target)
                      : linked ? linkFile(std::move(modules), *target)
                               : writeFile(std::move(modules), *target);
  return error ? fail(std::move(error)) : 0;
}

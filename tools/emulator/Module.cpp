//===- Module.cpp - code of a device as code of this process --------------===//

#include "tools/emulator/Module.h"
#include "tools/emulator/Assembly.h"
#include "tools/emulator/Atomics.h"
#include "tools/emulator/Block.h"
#include "tools/emulator/Launch.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/bit.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

#include <cmath>

using namespace llvm;
using namespace fovea::emulator;

//===----------------------------------------------------------------------===//
// What kernels call
//===----------------------------------------------------------------------===//

static void waitForBlock(uint32_t) { machine().waitForBlock(); }
/// A GPU's result may differ by two units in the last place.
static float power(float exponent) { return std::exp2(exponent); }
static void waitForThreads(uint32_t, uint32_t count) {
  machine().waitForThreads(count);
}
static void arriveAtCluster() { machine().arriveAtCluster(); }
static void waitForCluster() { machine().waitForCluster(); }
static void waitForGroup(uint32_t mask) { machine().waitForGroup(mask); }

/// As in the PTX manual: `c` holds the segments and their ends.
static uint32_t shuffleDown(uint32_t mask, uint32_t value, uint32_t distance,
                            uint32_t c) {
  uint32_t lane = machine().registers.tid % 32, segment = c >> 8 & 31;
  uint32_t last = (lane & segment) | (c & 31 & ~segment);
  uint32_t source = lane + distance;
  return machine().shuffle(mask, value, source <= last ? source : lane);
}
static uint32_t shuffleIndex(uint32_t mask, uint32_t value, uint32_t number,
                             uint32_t c) {
  uint32_t lane = machine().registers.tid % 32, segment = c >> 8 & 31;
  return machine().shuffle(mask, value, (lane & segment) | (number & ~segment));
}
/// The bits of `value` as bf16, rounded to nearest, ties to even.
static uint32_t roundedBits(float value) {
  auto bits = bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return 0x7FFF;
  return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}
static uint32_t roundPair(float high, float low) {
  return roundedBits(high) << 16 | roundedBits(low);
}
/// Returns a bf16: the lower half of the register of a float.
static float roundOne(float value) {
  return bit_cast<float>(roundedBits(value));
}

/// Rows of four 8 x 8 matrices of half words; each thread has the address of
/// one.
static void loadMatrices(uint32_t *result, const char *address,
                         bool transposes) {
  Machine &own = machine();
  if (reinterpret_cast<uintptr_t>(address) % 16 != 0)
    own.fail("reads a row of a matrix at an address that 16 does not divide");
  Machine::Exchange all = own.exchange({.address = address});
  uint32_t row = own.lane() / 4, pair = own.lane() % 4;
  auto word = [&](const char *from) {
    own.touch(from, 4, false);
    return support::endian::read32le(from);
  };
  auto element = [&](uint32_t matrix, uint32_t row, uint32_t column) {
    uint32_t both = word(all.of(8 * matrix + row).address + column / 2 * 4);
    return column % 2 ? both >> 16 : both & 0xFFFF;
  };
  for (uint32_t matrix = 0; matrix < 4; ++matrix)
    result[matrix] = transposes
                         ? element(matrix, 2 * pair, row) |
                               element(matrix, 2 * pair + 1, row) << 16
                         : word(all.of(8 * matrix + row).address + 4 * pair);
}
static void loadRows(uint32_t *result, const char *address) {
  loadMatrices(result, address, false);
}
static void loadColumns(uint32_t *result, const char *address) {
  loadMatrices(result, address, true);
}

/// mma.sync.m16n8k16 for bf16: 16 x 16 times 16 x 8. The PTX manual defines the
/// threads' elements, but not the order of the terms. Here it is ascending, and
/// each multiply-add rounds once.
static void multiplyMatrices(float *result, uint32_t a0, uint32_t a1,
                             uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1,
                             float c0, float c1, float c2, float c3) {
  Machine &own = machine();
  Machine::Exchange all = own.exchange({.words = {a0, a1, a2, a3, b0, b1}});
  auto half = [](uint32_t word, uint32_t number) {
    return bit_cast<float>(number % 2 ? word & 0xFFFF0000 : word << 16);
  };
  const float sums[] = {c0, c1, c2, c3};
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t row = own.lane() / 4, below = i / 2;
    uint32_t column = own.lane() % 4 * 2 + i % 2;
    float sum = sums[i];
    for (uint32_t term = 0; term < 16; ++term) {
      uint32_t pair = term % 8 / 2, late = term / 8;
      float left = half(all.of(4 * row + pair).words[below + 2 * late], term);
      float right = half(all.of(4 * column + pair).words[4 + late], term);
      sum = std::fma(left, right, sum);
    }
    result[i] = sum;
  }
}

static void touchRead(const char *address, uint64_t bytes) {
  machine().touch(address, bytes, false);
}
static void touchWrite(const char *address, uint64_t bytes) {
  machine().touch(address, bytes, true);
}

namespace {
/// How a function here returns the intrinsic's result: directly, as a word with
/// the same bits, or to an address that is its first argument.
enum class Gives { Same, Word, Address };

struct Replacement {
  StringLiteral intrinsic;
  void *function;
  bool waits;
  Gives gives = Gives::Same;
};
} // namespace

static ArrayRef<Replacement> replacements() {
  static const Replacement all[] = {
      {"llvm.nvvm.barrier.cta.sync.aligned.all",
       reinterpret_cast<void *>(&waitForBlock), true},
      {"llvm.nvvm.barrier.cta.sync.aligned.count",
       reinterpret_cast<void *>(&waitForThreads), true},
      {"llvm.nvvm.barrier.cluster.arrive",
       reinterpret_cast<void *>(&arriveAtCluster), false},
      {"llvm.nvvm.barrier.cluster.wait",
       reinterpret_cast<void *>(&waitForCluster), true},
      {"llvm.nvvm.bar.warp.sync", reinterpret_cast<void *>(&waitForGroup),
       true},
      {"llvm.nvvm.shfl.sync.down.i32", reinterpret_cast<void *>(&shuffleDown),
       true},
      {"llvm.nvvm.shfl.sync.idx.i32", reinterpret_cast<void *>(&shuffleIndex),
       true},
      {"llvm.nvvm.ex2.approx.ftz.f32", reinterpret_cast<void *>(&power), false},
      {"llvm.nvvm.ff2bf16x2.rn", reinterpret_cast<void *>(&roundPair), false,
       Gives::Word},
      {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3",
       reinterpret_cast<void *>(&loadRows), true, Gives::Address},
      {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3",
       reinterpret_cast<void *>(&loadColumns), true, Gives::Address},
      {"llvm.nvvm.mma.m16n8k16.row.col.bf16",
       reinterpret_cast<void *>(&multiplyMatrices), true, Gives::Address}};
  return all;
}

static uint32_t *registerNamed(StringRef name) {
  Registers &registers = machine().registers;
  if (name == "tid.x")
    return &registers.tid;
  if (name == "ctaid.x")
    return &registers.ctaid;
  if (name == "ntid.x")
    return &registers.ntid;
  if (name == "cluster.ctarank")
    return &registers.ctarank;
  if (name == "cluster.nctarank")
    return &registers.nctarank;
  return name == "nctaid.x" ? &registers.nctaid : nullptr;
}

//===----------------------------------------------------------------------===//
// From one machine to the other
//===----------------------------------------------------------------------===//

/// A block's memory with the size from the launch, for kernels that use it.
static char *sizedMemory = nullptr;

static char *addSizedMemory(const std::string &name) {
  if (!sizedMemory) {
    // Some instructions use 18 bits of a shared address.
    constexpr size_t window = size_t(1) << 18;
    sizedMemory = static_cast<char *>(std::aligned_alloc(window, window));
    machine().sharedMemory = sizedMemory;
    machine().memory.add(sizedMemory, DeviceModule::mostSharedBytes,
                         "'" + name + "'", /*isOfBlock=*/true);
  }
  return sizedMemory;
}

void DeviceModule::setSharedBytes(int64_t bytes) {
  if (sizedMemory)
    machine().memory.resize(sizedMemory, bytes);
}

static void replaceCall(CallInst &call, const Replacement &by) {
  LLVMContext &context = call.getContext();
  Type *pointer = PointerType::get(context, 0), *result = call.getType();
  IRBuilder<> builder(&call);
  SmallVector<Value *> operands;
  SmallVector<Type *> types;
  auto add = [&](Value *operand) {
    if (operand->getType()->isPointerTy())
      operand = builder.CreateAddrSpaceCast(operand, pointer);
    operands.push_back(operand);
    types.push_back(operand->getType());
  };
  Value *place = nullptr;
  if (by.gives == Gives::Address) {
    BasicBlock &entry = call.getFunction()->getEntryBlock();
    place = new AllocaInst(result, 0, "", entry.begin());
    add(place);
  }
  for (Value *operand : call.args())
    add(operand);
  Type *given = by.gives == Gives::Same   ? result
                : by.gives == Gives::Word ? Type::getInt32Ty(context)
                                          : Type::getVoidTy(context);
  Value *value =
      builder.CreateCall(FunctionType::get(given, types, /*isVarArg=*/false),
                         addressOf(context, by.function), operands);
  if (by.gives == Gives::Word)
    value = builder.CreateBitCast(value, result);
  // Read like registers, without checks.
  if (place)
    value = builder.CreateLoad(result, place, /*isVolatile=*/true);
  if (!result->isVoidTy())
    call.replaceAllUsesWith(value);
  call.eraseFromParent();
}

static Error replaceIntrinsic(Function &intrinsic,
                              DenseSet<Function *> &waiting) {
  LLVMContext &context = intrinsic.getContext();
  StringRef name = intrinsic.getName(), own = name;
  if (own.consume_front("llvm.nvvm.read.ptx.sreg.")) {
    uint32_t *place = registerNamed(own);
    if (!place)
      return createStringError("a register that is not known: " + name);
    for (User *user : make_early_inc_range(intrinsic.users())) {
      auto *call = cast<CallInst>(user);
      auto *load = new LoadInst(call->getType(), addressOf(context, place), "",
                                /*isVolatile=*/true, call->getIterator());
      call->replaceAllUsesWith(load);
      call->eraseFromParent();
    }
    intrinsic.eraseFromParent();
    return Error::success();
  }
  for (const Replacement &each : replacements()) {
    if (name != each.intrinsic)
      continue;
    if (each.waits)
      for (User *user : intrinsic.users())
        waiting.insert(cast<CallInst>(user)->getFunction());
    for (User *user : make_early_inc_range(intrinsic.users()))
      replaceCall(*cast<CallInst>(user), each);
    intrinsic.eraseFromParent();
    return Error::success();
  }
  return createStringError("an operation that is not known: " + name);
}

/// Inserts a check before every access.
static void watch(Function &function) {
  Module &module = *function.getParent();
  LLVMContext &context = function.getContext();
  const DataLayout &layout = module.getDataLayout();
  Type *pointer = PointerType::get(context, 0),
       *number = Type::getInt64Ty(context);
  auto *type = FunctionType::get(Type::getVoidTy(context), {pointer, number},
                                 /*isVarArg=*/false);
  SmallVector<Instruction *> accesses;
  for (Instruction &each : instructions(function))
    if (isa<LoadInst, StoreInst, MemIntrinsic>(each))
      accesses.push_back(&each);
  for (Instruction *each : accesses) {
    IRBuilder<> builder(each);
    auto ask = [&](Value *address, Value *bytes, bool writes) {
      if (address->getType() != pointer)
        address = builder.CreateAddrSpaceCast(address, pointer);
      void *asked = writes ? reinterpret_cast<void *>(&touchWrite)
                           : reinterpret_cast<void *>(&touchRead);
      builder.CreateCall(type, addressOf(context, asked),
                         {address, builder.CreateZExtOrTrunc(bytes, number)});
    };
    auto sizeOf = [&](Type *type) {
      return builder.getInt64(layout.getTypeStoreSize(type));
    };
    if (auto *load = dyn_cast<LoadInst>(each)) {
      // Registers are read and written so.
      if (!load->isVolatile())
        ask(load->getPointerOperand(), sizeOf(load->getType()), false);
    } else if (auto *store = dyn_cast<StoreInst>(each)) {
      if (!store->isVolatile())
        ask(store->getPointerOperand(),
            sizeOf(store->getValueOperand()->getType()), true);
    } else if (auto *all = dyn_cast<MemIntrinsic>(each)) {
      ask(all->getDest(), all->getLength(), true);
      if (auto *copy = dyn_cast<MemTransferInst>(all))
        ask(copy->getSource(), copy->getLength(), false);
    }
  }
}

/// Returns whether a function waits for other threads, directly or through a
/// call.
static bool mayWait(Function *function, DenseSet<Function *> &waiting) {
  if (waiting.contains(function))
    return true;
  for (Instruction &each : instructions(*function))
    if (auto *call = dyn_cast<CallInst>(&each))
      if (Function *callee = call->getCalledFunction();
          callee && !callee->isDeclaration() && mayWait(callee, waiting))
        return true;
  return false;
}

static Error retarget(Module &module, const orc::LLJIT &jit,
                      std::map<std::string, Kernel> &kernels) {
  module.setTargetTriple(jit.getTargetTriple());
  module.setDataLayout(jit.getDataLayout());
  for (GlobalVariable &global : make_early_inc_range(module.globals()))
    if (global.isDeclaration()) {
      global.replaceAllUsesWith(ConstantExpr::getAddrSpaceCast(
          addressOf(module.getContext(),
                    addSizedMemory(global.getName().str())),
          global.getType()));
      global.eraseFromParent();
    }
  DenseSet<Function *> waiting;
  for (Function &function : make_early_inc_range(module))
    if (function.getName().starts_with("llvm.nvvm."))
      if (Error error = replaceIntrinsic(function, waiting))
        return error;
  for (Function &function : module)
    if (Error error = replaceAssembly(function, waiting))
      return error;
  for (Function &function : module)
    if (Error error = replaceAtomics(function, waiting))
      return error;
  for (Function &function : module) {
    for (StringRef name : {"target-cpu", "target-features"})
      function.removeFnAttr(name);
    if (function.isDeclaration())
      continue;
    // Keep everything: the emulator looks for errors.
    function.addFnAttr("target-features", "+avx2,+fma");
    if (function.getCallingConv() == CallingConv::PTX_Kernel) {
      Kernel kernel;
      kernel.name = function.getName().str();
      kernel.waits = mayWait(&function, waiting);
      if (Type *list = function.getParamByValType(0))
        kernel.slots = static_cast<int64_t>(list->getArrayNumElements());
      function.removeParamAttr(0, Attribute::ByVal);
      function.setCallingConv(CallingConv::C);
      kernels[kernel.name] = kernel;
    }
    if (machine().isWatched)
      watch(function);
  }
  // Shared memory is found by its name.
  for (GlobalVariable &global : module.globals())
    global.setLinkage(GlobalValue::ExternalLinkage);
  return Error::success();
}

/// CPUs without an instruction for it call a function to round to bf16.
static Error defineRounding(orc::LLJIT &jit) {
  auto address = orc::ExecutorAddr::fromPtr(&roundOne);
  return jit.getMainJITDylib().define(orc::absoluteSymbols(
      {{jit.mangleAndIntern("__truncsfbf2"),
        {address, JITSymbolFlags::Exported | JITSymbolFlags::Callable}}}));
}

/// A planted fault: the first `before` of the text becomes `after`, as
/// FOVEA_EMULATOR_EDIT says in the form `before=>after`.
static Error edit(std::string &text) {
  const char *edit = std::getenv("FOVEA_EMULATOR_EDIT");
  if (!edit)
    return Error::success();
  auto [before, after] = StringRef(edit).split("=>");
  size_t at = text.find(before.str());
  if (at == text.npos)
    return createStringError("the PTX has no '" + before + "'");
  text.replace(at, before.size(), after.str());
  return Error::success();
}

Error DeviceModule::loadText(std::string text) {
  if (Error error = edit(text))
    return error;
  if (std::string wrong = ptx::parse(text, code); !wrong.empty())
    return createStringError(wrong);
  for (auto &[name, memory] : code.globals)
    machine().memory.add(memory.data(), memory.size() * sizeof(uint64_t),
                         "'" + name + "'");
  for (const auto &[name, entry] : code.entries) {
    Kernel &kernel = kernels[name];
    kernel.name = name;
    kernel.entry = entry.get();
    kernel.slots = static_cast<int64_t>(entry->listBytes / sizeof(int64_t));
  }
  return Error::success();
}

Expected<std::unique_ptr<DeviceModule>> DeviceModule::load(const void *image) {
  static const bool isReady = [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)isReady;
  const auto *bytes = static_cast<const char *>(image);
  constexpr uint32_t wrapperMagic = 0x0B17C0DE;
  if (support::endian::read32le(bytes) != wrapperMagic) {
    auto result = std::make_unique<DeviceModule>();
    if (Error error = result->loadText(bytes))
      return std::move(error);
    return result;
  }
  StringRef text(bytes + support::endian::read32le(bytes + 8),
                 support::endian::read32le(bytes + 12));
  auto context = std::make_unique<LLVMContext>();
  Expected<std::unique_ptr<Module>> module =
      parseBitcodeFile(MemoryBufferRef(text, "device"), *context);
  if (!module)
    return module.takeError();
  auto result = std::make_unique<DeviceModule>();
  // The same code on every CPU with AVX2: a device's results do not depend on
  // the host. For small kernels, optimising takes longer than running.
  orc::JITTargetMachineBuilder builder{Triple(sys::getProcessTriple())};
  if (builder.getTargetTriple().isX86())
    builder.setCPU("x86-64-v3");
  if (numberOf("FOVEA_EMULATOR_OPTIMISE", 1) == 0)
    builder.setCodeGenOptLevel(CodeGenOptLevel::None);
  auto made = orc::LLJITBuilder().setJITTargetMachineBuilder(builder).create();
  if (!made)
    return made.takeError();
  result->jit = std::move(*made);
  if (Error error = defineRounding(*result->jit))
    return std::move(error);
  if (Error error = retarget(**module, *result->jit, result->kernels))
    return std::move(error);
  struct Shared {
    std::string name;
    size_t bytes;
    bool isOfBlock;
  };
  std::vector<Shared> shared;
  for (GlobalVariable &global : (*module)->globals())
    shared.push_back(
        {global.getName().str(),
         (*module)->getDataLayout().getTypeAllocSize(global.getValueType()),
         global.getAddressSpace() == 3});
  if (Error error = result->jit->addIRModule(
          orc::ThreadSafeModule(std::move(*module), std::move(context))))
    return std::move(error);
  for (auto &[name, kernel] : result->kernels) {
    auto address = result->jit->lookup(name);
    if (!address)
      return address.takeError();
    kernel.run = address->toPtr<void (*)(const int64_t *, int64_t)>();
  }
  for (const Shared &each : shared) {
    auto address = result->jit->lookup(each.name);
    if (!address)
      return address.takeError();
    machine().memory.add(address->toPtr<void *>(), each.bytes,
                         "'" + each.name + "'", each.isOfBlock);
  }
  return result;
}

Kernel *DeviceModule::find(const std::string &name) {
  auto found = kernels.find(name);
  return found == kernels.end() ? nullptr : &found->second;
}

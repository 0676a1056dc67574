//===- Assembly.cpp - texts of PTX as calls -------------------------------===//
//
// Recognises an instruction by its first words; its operands are those of the
// call, in the order of codegen/gpu/products/GroupOps.cpp.
//
//===----------------------------------------------------------------------===//

#include "tools/emulator/Assembly.h"
#include "tools/emulator/Block.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;
using namespace fovea::emulator;

//===----------------------------------------------------------------------===//
// What texts do
//===----------------------------------------------------------------------===//

static void beginBarrier(const char *barrier, uint32_t arrivals) {
  machine().beginBarrier(barrier, arrivals);
}
/// Registers are variables here.
static void setRegisters() {}
static void showBarriers() { machine().showBarriers(); }
static void arrive(const char *barrier) {
  machine().arrive(barrier, machine().registers.ctarank);
}
static void arriveIn(const char *barrier, uint32_t rank) {
  machine().arrive(barrier, rank);
}
static void arriveExpecting(const char *barrier, uint32_t bytes) {
  machine().expect(barrier, bytes);
}
static void waitForPhase(const char *barrier, uint32_t parity) {
  machine().waitForPhase(barrier, parity);
}
static void copyBytes(char *to, const char *from, uint32_t bytes,
                      const char *barrier) {
  machine().copy({from, to, bytes, barrier},
                 uint32_t(1) << machine().registers.ctarank);
}
static void copyToBlocks(char *to, const char *from, uint32_t bytes,
                         const char *barrier, uint16_t blocks) {
  machine().copy({from, to, bytes, barrier}, blocks);
}
static void beginCopy(char *to, const char *from) {
  machine().beginCopy({from, to});
}
static void endCopies() { machine().endCopies(); }
static void waitForCopies(uint32_t allBut) { machine().waitForCopies(allBut); }
static void beginGroup() { machine().groupProduct().begin(); }
static void commitGroup() { machine().groupProduct().commit(); }
static void multiplyGroup(float *result, const float *sums, uint32_t count,
                          uint64_t left, uint64_t right, uint32_t turned) {
  machine().multiplyGroup(result, sums, count, {}, left, right, turned);
}
static void multiplyWords(float *result, const float *sums, uint32_t count,
                          uint32_t word0, uint32_t word1, uint32_t word2,
                          uint32_t word3, uint64_t right, uint32_t turned) {
  machine().multiplyGroup(result, sums, count, {{word0, word1, word2, word3}},
                          0, right, turned);
}
static void finishGroup(float *result, const float *sums, uint32_t count) {
  machine().finishGroup(result, sums, count);
}

namespace {
struct Known {
  StringLiteral words;
  void *function;
  bool waits = false;
  /// Whether it takes and returns sums, as addresses and their count.
  bool hasSums = false;
  /// Whether its last operands state which sides have terms as rows; they
  /// become an argument.
  bool saysTurned = false;
};
} // namespace

/// Of `.., 1, 1, left, right;`, or `.., 1, 1, right;`: bit 0 is the right side.
static uint32_t turnedSides(StringRef text) {
  uint32_t right = text.consume_back("1;\n}") ? 1 : 0;
  if (right == 0)
    text.consume_back("0;\n}");
  return right | (text.ends_with("1, 1, 1, ") ? 2 : 0);
}

static const Known *knownIn(StringRef text) {
  static const Known all[] = {
      {"mbarrier.init.", reinterpret_cast<void *>(&beginBarrier)},
      {"setmaxnreg.", reinterpret_cast<void *>(&setRegisters)},
      {"fence.proxy.async.", reinterpret_cast<void *>(&showBarriers)},
      {"mbarrier.arrive.expect_tx.",
       reinterpret_cast<void *>(&arriveExpecting)},
      {"mbarrier.arrive.shared::cta", reinterpret_cast<void *>(&arrive)},
      {"mbarrier.arrive.shared::cluster", reinterpret_cast<void *>(&arriveIn)},
      {"mbarrier.try_wait.parity.", reinterpret_cast<void *>(&waitForPhase),
       true},
      {".multicast::cluster", reinterpret_cast<void *>(&copyToBlocks)},
      {"cp.async.bulk.", reinterpret_cast<void *>(&copyBytes)},
      {"cp.async.cg.", reinterpret_cast<void *>(&beginCopy)},
      {"cp.async.commit_group", reinterpret_cast<void *>(&endCopies)},
      {"cp.async.wait_group", reinterpret_cast<void *>(&waitForCopies)},
      {"wgmma.fence.", reinterpret_cast<void *>(&beginGroup)},
      // A list of words follows the list of sums.
      {"}, {$", reinterpret_cast<void *>(&multiplyWords), true, true, true},
      {"wgmma.mma_async.", reinterpret_cast<void *>(&multiplyGroup), false,
       true, true},
      {"wgmma.commit_group.", reinterpret_cast<void *>(&commitGroup)},
      {"wgmma.wait_group.sync.aligned 0",
       reinterpret_cast<void *>(&finishGroup), true, true}};
  for (const Known &each : all)
    if (text.contains(each.words))
      return &each;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Constant *fovea::emulator::addressOf(LLVMContext &context, void *memory) {
  return ConstantExpr::getIntToPtr(
      ConstantInt::get(Type::getInt64Ty(context),
                       reinterpret_cast<uint64_t>(memory)),
      PointerType::get(context, 0));
}

static void replace(CallInst &call, const Known &by) {
  LLVMContext &context = call.getContext();
  IRBuilder<> builder(&call);
  Type *pointer = PointerType::get(context, 0);
  SmallVector<Value *> operands;
  auto *sums = by.hasSums ? cast<StructType>(call.getType()) : nullptr;
  unsigned count = sums ? sums->getNumElements() : 0;
  Value *taken = nullptr, *given = nullptr;
  if (sums) {
    BasicBlock &entry = call.getFunction()->getEntryBlock();
    auto room = [&] { return new AllocaInst(sums, 0, "", entry.begin()); };
    taken = room();
    given = room();
    // Accessed like registers, without checks.
    for (unsigned i = 0; i < count; ++i)
      builder.CreateStore(call.getArgOperand(i),
                          builder.CreateStructGEP(sums, taken, i),
                          /*isVolatile=*/true);
    operands = {given, taken, builder.getInt32(count)};
  }
  for (unsigned i = count; i < call.arg_size(); ++i) {
    Value *operand = call.getArgOperand(i);
    if (operand->getType()->isPointerTy())
      operand = builder.CreateAddrSpaceCast(operand, pointer);
    operands.push_back(operand);
  }
  if (by.saysTurned)
    operands.push_back(builder.getInt32(
        turnedSides(cast<InlineAsm>(call.getCalledOperand())->getAsmString())));
  SmallVector<Type *> types;
  for (Value *operand : operands)
    types.push_back(operand->getType());
  builder.CreateCall(FunctionType::get(builder.getVoidTy(), types, false),
                     addressOf(context, by.function), operands);
  if (sums) {
    Value *result = PoisonValue::get(sums);
    for (unsigned i = 0; i < count; ++i)
      result = builder.CreateInsertValue(
          result,
          builder.CreateLoad(builder.getFloatTy(),
                             builder.CreateStructGEP(sums, given, i),
                             /*isVolatile=*/true),
          i);
    call.replaceAllUsesWith(result);
  }
  call.eraseFromParent();
}

Error fovea::emulator::replaceAssembly(Function &function,
                                       DenseSet<Function *> &waiting) {
  SmallVector<CallInst *> calls;
  for (Instruction &each : instructions(function))
    if (auto *call = dyn_cast<CallInst>(&each); call && call->isInlineAsm())
      calls.push_back(call);
  for (CallInst *call : calls) {
    StringRef text = cast<InlineAsm>(call->getCalledOperand())->getAsmString();
    const Known *known = knownIn(text);
    if (!known)
      return createStringError("PTX that is not known: " + text);
    if (known->waits)
      waiting.insert(&function);
    replace(*call, *known);
  }
  return Error::success();
}

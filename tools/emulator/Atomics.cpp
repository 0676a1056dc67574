//===- Atomics.cpp - numbers by which blocks wait for each other ----------===//

#include "tools/emulator/Atomics.h"
#include "tools/emulator/Assembly.h"
#include "tools/emulator/Block.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;
using namespace fovea::emulator;

static uint32_t readNumber(const uint32_t *address, uint32_t acquires) {
  return machine().readNumber(address, acquires != 0);
}
static void writeNumber(uint32_t *address, uint32_t value, uint32_t releases) {
  machine().writeNumber(address, value, releases != 0);
}
static uint32_t addNumber(uint32_t *address, uint32_t value) {
  return machine().addNumber(address, value);
}
static void fence() { machine().fence(); }

/// Calls a function of this process instead of the instruction.
template <typename Function>
static void call(Instruction &instead, Function *function,
                 ArrayRef<Value *> operands) {
  IRBuilder<> builder(&instead);
  LLVMContext &context = instead.getContext();
  Type *pointer = PointerType::get(context, 0);
  SmallVector<Value *> given;
  SmallVector<Type *> types;
  for (Value *operand : operands) {
    given.push_back(operand->getType()->isPointerTy()
                        ? builder.CreateAddrSpaceCast(operand, pointer)
                        : operand);
    types.push_back(given.back()->getType());
  }
  Value *result = builder.CreateCall(
      FunctionType::get(instead.getType(), types, /*isVarArg=*/false),
      addressOf(context, reinterpret_cast<void *>(function)), given);
  if (!instead.getType()->isVoidTy())
    instead.replaceAllUsesWith(result);
  instead.eraseFromParent();
}

Error fovea::emulator::replaceAtomics(Function &function,
                                      DenseSet<Function *> &waiting) {
  SmallVector<Instruction *> atomics;
  for (Instruction &each : instructions(function))
    if (each.isAtomic())
      atomics.push_back(&each);
  if (!atomics.empty())
    waiting.insert(&function);
  Type *word = Type::getInt32Ty(function.getContext());
  for (Instruction *each : atomics) {
    if (auto *load = dyn_cast<LoadInst>(each); load && load->getType() == word)
      call(*load, &readNumber,
           {load->getPointerOperand(),
            ConstantInt::get(word, isAcquireOrStronger(load->getOrdering()))});
    else if (auto *store = dyn_cast<StoreInst>(each);
             store && store->getValueOperand()->getType() == word)
      call(*store, &writeNumber,
           {store->getPointerOperand(), store->getValueOperand(),
            ConstantInt::get(word, isReleaseOrStronger(store->getOrdering()))});
    else if (auto *add = dyn_cast<AtomicRMWInst>(each);
             add && add->getOperation() == AtomicRMWInst::Add &&
             add->getType() == word)
      call(*add, &addNumber, {add->getPointerOperand(), add->getValOperand()});
    else if (isa<FenceInst>(each))
      call(*each, &fence, {});
    else
      return createStringError("an atomic access that is not known");
  }
  return Error::success();
}

//===- GroupOps.cpp - the instructions of sm_90a --------------------------===//

#include "codegen/gpu/products/GroupOps.h"
#include "codegen/gpu/products/TensorOps.h"
#include "codegen/gpu/program/Threads.h"

using namespace mlir;
using namespace fovea::codegen;

static Value word(KernelBuilder &b, int64_t number) {
  return b.create<arith::ConstantOp>(
      b.getI32IntegerAttr(static_cast<int32_t>(number)));
}

static Value word(KernelBuilder &b, Value number) {
  return b.create<arith::TruncIOp>(b.getI32Type(), number);
}

//===----------------------------------------------------------------------===//
// Barriers and copies
//===----------------------------------------------------------------------===//

void fovea::codegen::beginBarrier(KernelBuilder &b, Value barrier,
                                  Value arrivals) {
  runIntrinsic(b, "mbarrier.init.shared", {barrier, word(b, arrivals)});
}
void fovea::codegen::showBarriers(KernelBuilder &b) {
  runIntrinsic(b, "fence.mbarrier_init.release.cluster");
  sayPtx(b, "fence.proxy.async.shared::cta;", "", {});
}
// The intrinsics of arrivals give a state that nobody needs, and that takes
// registers.
void fovea::codegen::arrive(KernelBuilder &b, Value barrier) {
  sayPtx(b, "mbarrier.arrive.shared.b64 _, [$0];", "l", barrier);
}
void fovea::codegen::arriveIn(KernelBuilder &b, Value block, Value barrier) {
  // The following copies are awaited explicitly. So `.release.cluster`, which
  // would wait for all memory, is unnecessary.
  sayPtx(b,
         "{\n"
         ".reg .b64 there;\n"
         "mapa.shared::cluster.u64 there, $0, $1;\n"
         "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
         "}",
         "l,r", {barrier, word(b, block)});
}
void fovea::codegen::arriveExpecting(KernelBuilder &b, Value barrier,
                                     int64_t bytes) {
  sayPtx(b, "mbarrier.arrive.expect_tx.shared.b64 _, [$0], $1;", "l,r",
         {barrier, word(b, bytes)});
}
void fovea::codegen::waitForPhase(KernelBuilder &b, Value barrier,
                                  Value parity) {
  // The label is local to the braces around it.
  sayPtx(b,
         "{\n"
         ".reg .pred ended;\n"
         "again:\n"
         "mbarrier.try_wait.parity.shared::cta.b64 ended, [$0], $1;\n"
         "@!ended bra again;\n"
         "}",
         "l,r", {barrier, word(b, parity)});
}

/// Converts an address to one of global memory.
static Value inMemory(KernelBuilder &b, Value address) {
  constexpr unsigned global = 1;
  auto type = LLVM::LLVMPointerType::get(b.getContext(), global);
  return b.create<LLVM::AddrSpaceCastOp>(type, address);
}

/// An address of the block as one of its cluster, which it is: a cast would
/// convert it to a general one and back.
static Value inCluster(KernelBuilder &b, Value address) {
  constexpr unsigned cluster = 7;
  auto type = LLVM::LLVMPointerType::get(b.getContext(), cluster);
  Value number = b.create<LLVM::PtrToIntOp>(b.i64(), address);
  return b.create<LLVM::IntToPtrOp>(type, number);
}

/// A copy to the block, or with `blocks`, a bit for each, to several of its
/// cluster.
static void fetch(KernelBuilder &b, Value to, Value from, Value bytes,
                  Value barrier, Value blocks) {
  Value mask = b.create<arith::TruncIOp>(b.getIntegerType(16),
                                         blocks ? blocks : b.number(0));
  runIntrinsic(b, "cp.async.bulk.global.to.shared.cluster",
               {inCluster(b, to), barrier, inMemory(b, from), bytes, mask,
                /*cache hint=*/b.number(0), b.truth(blocks != nullptr),
                b.truth(false)});
}
void fovea::codegen::fetchBytes(KernelBuilder &b, Value to, Value from,
                                int64_t bytes, Value barrier) {
  fetch(b, to, from, word(b, bytes), barrier, nullptr);
}
void fovea::codegen::fetchForAll(KernelBuilder &b, Value to, Value from,
                                 Value bytes, Value barrier) {
  Value one = b.number(1);
  Value all = b.sub(b.create<arith::ShLIOp>(one, blocksOfCluster(b)), one);
  fetch(b, to, from, word(b, bytes), barrier, all);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Fields of PTX's matrix descriptor: the address in units of 16 bytes, the
/// distance to the next eight rows at bit 32, the 128-byte swizzle at bit 62.
/// The field at bit 16 is the distance to the next 64 columns if rows are
/// terms, and otherwise unused.
static Value describe(KernelBuilder &b, Value address, uint64_t field) {
  constexpr uint64_t unit = 16, addressBits = 0x3FFFF;
  uint64_t layout =
      field << 16 | uint64_t(8 * 128 / unit) << 32 | uint64_t(1) << 62;
  Value number = b.create<LLVM::PtrToIntOp>(b.i64(), address);
  number = b.create<arith::AndIOp>(number, b.number(addressBits));
  return b.create<arith::OrIOp>(b.div(number, b.number(unit)),
                                b.number(static_cast<int64_t>(layout)));
}
Value fovea::codegen::describeRows(KernelBuilder &b, Value address) {
  return describe(b, address, 1);
}
Value fovea::codegen::describeTerms(KernelBuilder &b, Value address,
                                    int64_t bytes) {
  return describe(b, address, static_cast<uint64_t>(bytes) / 16);
}
Value fovea::codegen::moveRows(KernelBuilder &b, Value description,
                               Value bytes) {
  return b.add(description, b.div(bytes, b.number(16)));
}

void fovea::codegen::beginGroup(KernelBuilder &b) {
  runIntrinsic(b, "wgmma.fence.sync.aligned");
}

/// A text that returns `count` sums, and takes them if there are any yet.
static KernelBuilder::Values withSums(KernelBuilder &b, const std::string &text,
                                      size_t count, ValueRange sums,
                                      ValueRange others = {}) {
  std::string given, taken;
  for (size_t number = 0; number < count; ++number)
    given += number == 0 ? "=f" : ",=f";
  for (size_t number = 0; number < sums.size(); ++number)
    taken += "," + std::to_string(number);
  for (Value other : others)
    taken += other.getType().isInteger(32) ? ",r" : ",l";
  KernelBuilder::Values operands(sums);
  llvm::append_range(operands, others);
  auto type = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(count, b.getF32Type()));
  Value all = sayPtx(b, text, given + taken, operands, type).getRes();
  KernelBuilder::Values results;
  for (size_t number = 0; number < count; ++number)
    results.push_back(b.create<LLVM::ExtractValueOp>(
        all, ArrayRef<int64_t>{static_cast<int64_t>(number)}));
  return results;
}

static KernelBuilder::Values multiply(KernelBuilder &b, ValueRange left,
                                      Value right, size_t count,
                                      ValueRange sums, bool rightRowsAreTerms,
                                      bool leftRowsAreTerms) {
  // A thread has two sums of each four columns: four of eight.
  size_t columns = 2 * count;
  std::string text = "{\n"
                     ".reg .pred adds;\n"
                     "setp.ne.b32 adds, " +
                     std::to_string(sums.empty() ? 0 : 1) +
                     ", 0;\n"
                     "wgmma.mma_async.sync.aligned.m64n" +
                     std::to_string(columns) + "k16.f32.bf16.bf16 {";
  auto list = [&](size_t first, size_t number) {
    for (size_t i = 0; i < number; ++i)
      text += (i == 0 ? "$" : ", $") + std::to_string(first + i);
  };
  list(0, count);
  // Further operands follow both lists of sums.
  size_t further = count + sums.size();
  bool isInRegisters = left.size() > 1;
  text += isInRegisters ? "}, {" : "}, ";
  list(further, left.size());
  text += isInRegisters ? "}, " : ", ";
  list(further + left.size(), 1);
  // Only descriptors state whether a side is transposed.
  text += ", adds, 1, 1, ";
  text += isInRegisters ? "" : leftRowsAreTerms ? "1, " : "0, ";
  text += rightRowsAreTerms ? "1;\n}" : "0;\n}";
  KernelBuilder::Values others(left);
  others.push_back(right);
  return withSums(b, text, count, sums, others);
}

KernelBuilder::Values
fovea::codegen::multiplyGroup(KernelBuilder &b, ValueRange left, Value right,
                              ValueRange sums, bool rightRowsAreTerms,
                              bool leftRowsAreTerms) {
  return multiply(b, left, right, sums.size(), sums, rightRowsAreTerms,
                  leftRowsAreTerms);
}

KernelBuilder::Values fovea::codegen::multiplyFirst(KernelBuilder &b,
                                                    Value left, Value right,
                                                    int64_t columns) {
  return multiply(b, left, right, columns / 2, {}, /*rightRowsAreTerms=*/false,
                  /*leftRowsAreTerms=*/false);
}

void fovea::codegen::endGroup(KernelBuilder &b) {
  runIntrinsic(b, "wgmma.commit_group.sync.aligned");
}

KernelBuilder::Values fovea::codegen::awaitGroups(KernelBuilder &b,
                                                  int64_t allBut,
                                                  ValueRange sums,
                                                  ValueRange sides) {
  std::string text =
      "wgmma.wait_group.sync.aligned " + std::to_string(allBut) + ";";
  return withSums(b, text, sums.size(), sums, sides);
}

KernelBuilder::Values fovea::codegen::finishGroup(KernelBuilder &b,
                                                  ValueRange sums) {
  endGroup(b);
  return awaitGroups(b, 0, sums);
}

void fovea::codegen::takeRegisters(KernelBuilder &b, int64_t count) {
  runIntrinsic(b, "setmaxnreg.inc.sync.aligned.u32", word(b, count));
}
void fovea::codegen::giveRegisters(KernelBuilder &b, int64_t count) {
  runIntrinsic(b, "setmaxnreg.dec.sync.aligned.u32", word(b, count));
}

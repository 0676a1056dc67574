//===- GroupOps.cpp - the instructions of sm_90a --------------------------===//

#include "codegen/gpu/products/GroupOps.h"
#include "codegen/gpu/products/TensorOps.h"

using namespace mlir;
using namespace fovea::codegen;

static Value word(KernelBuilder &b, int64_t number) {
  return b.create<arith::ConstantOp>(
      b.getI32IntegerAttr(static_cast<int32_t>(number)));
}

//===----------------------------------------------------------------------===//
// Barriers and copies
//===----------------------------------------------------------------------===//

void fovea::codegen::beginBarrier(KernelBuilder &b, Value barrier,
                                  int64_t arrivals) {
  sayPtx(b, "mbarrier.init.shared::cta.b64 [$0], $1;", "l,r",
         {barrier, word(b, arrivals)});
}
void fovea::codegen::showBarriers(KernelBuilder &b) {
  sayPtx(b, "fence.proxy.async.shared::cta;", "", {});
}
void fovea::codegen::arrive(KernelBuilder &b, Value barrier) {
  sayPtx(b, "mbarrier.arrive.shared::cta.b64 _, [$0];", "l", barrier);
}
void fovea::codegen::arriveExpecting(KernelBuilder &b, Value barrier,
                                     int64_t bytes) {
  sayPtx(b, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "l,r",
         {barrier, word(b, bytes)});
}
void fovea::codegen::waitForPhase(KernelBuilder &b, Value barrier,
                                  Value parity) {
  // The label is one of the braces around it.
  sayPtx(b,
         "{\n"
         ".reg .pred ended;\n"
         "again:\n"
         "mbarrier.try_wait.parity.shared::cta.b64 ended, [$0], $1;\n"
         "@!ended bra again;\n"
         "}",
         "l,r", {barrier, b.create<arith::TruncIOp>(b.getI32Type(), parity)});
}

void fovea::codegen::fetchBytes(KernelBuilder &b, Value to, Value from,
                                int64_t bytes, Value barrier) {
  constexpr unsigned global = 1;
  auto type = LLVM::LLVMPointerType::get(b.getContext(), global);
  sayPtx(b,
         "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
         "[$0], [$1], $2, [$3];",
         "l,l,r,l",
         {to, b.create<LLVM::AddrSpaceCastOp>(type, from), word(b, bytes),
          barrier});
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Value fovea::codegen::describeRows(KernelBuilder &b, Value address) {
  // Fields of PTX's matrix descriptor: the address in units of 16 bytes, that
  // of the next eight rows at bit 32, the swizzle of 128 bytes at bit 62. The
  // field at bit 16 is not used with that.
  constexpr uint64_t unit = 16, addressBits = 0x3FFFF;
  constexpr uint64_t layout =
      uint64_t(1) << 16 | uint64_t(8 * 128 / unit) << 32 | uint64_t(1) << 62;
  Value number = b.create<LLVM::PtrToIntOp>(b.i64(), address);
  number = b.create<arith::AndIOp>(number, b.number(addressBits));
  return b.create<arith::OrIOp>(b.div(number, b.number(unit)),
                                b.number(static_cast<int64_t>(layout)));
}
Value fovea::codegen::moveRows(KernelBuilder &b, Value description,
                               Value bytes) {
  return b.add(description, b.div(bytes, b.number(16)));
}

void fovea::codegen::beginGroup(KernelBuilder &b) {
  sayPtx(b, "wgmma.fence.sync.aligned;", "", {});
}

/// A text with all sums as what it takes and gives.
static KernelBuilder::Values withSums(KernelBuilder &b, const std::string &text,
                                      ValueRange sums, ValueRange others = {}) {
  std::string given, taken;
  for (size_t number = 0; number < sums.size(); ++number) {
    given += number == 0 ? "=f" : ",=f";
    taken += "," + std::to_string(number);
  }
  for (size_t number = 0; number < others.size(); ++number)
    taken += ",l";
  KernelBuilder::Values operands(sums);
  llvm::append_range(operands, others);
  auto type = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(sums.size(), b.getF32Type()));
  Value all = sayPtx(b, text, given + taken, operands, type).getRes();
  KernelBuilder::Values results;
  for (size_t number = 0; number < sums.size(); ++number)
    results.push_back(b.create<LLVM::ExtractValueOp>(
        all, ArrayRef<int64_t>{static_cast<int64_t>(number)}));
  return results;
}

KernelBuilder::Values fovea::codegen::multiplyGroup(KernelBuilder &b,
                                                    Value left, Value right,
                                                    ValueRange sums) {
  // A thread has two sums of each four columns: four of eight.
  size_t count = sums.size(), columns = 2 * count;
  std::string text = "{\n"
                     ".reg .pred adds;\n"
                     "setp.ne.b32 adds, 1, 0;\n"
                     "wgmma.mma_async.sync.aligned.m64n" +
                     std::to_string(columns) + "k16.f32.bf16.bf16 {";
  for (size_t number = 0; number < count; ++number)
    text += (number == 0 ? "$" : ", $") + std::to_string(number);
  // What is taken besides sums follows both lists of them.
  text += "}, $" + std::to_string(2 * count) + ", $" +
          std::to_string(2 * count + 1) + ", adds, 1, 1, 0, 0;\n}";
  return withSums(b, text, sums, {left, right});
}

KernelBuilder::Values fovea::codegen::finishGroup(KernelBuilder &b,
                                                  ValueRange sums) {
  sayPtx(b, "wgmma.commit_group.sync.aligned;", "", {});
  return withSums(b, "wgmma.wait_group.sync.aligned 0;", sums);
}

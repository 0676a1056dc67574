//===- TensorOps.cpp - the instructions of tensor cores -------------------===//

#include "codegen/gpu/products/TensorOps.h"

using namespace mlir;
using namespace fovea::codegen;

static Value intrinsic(KernelBuilder &b, StringRef name, Type result,
                       ValueRange operands) {
  auto call = b.create<LLVM::CallIntrinsicOp>(
      result, b.getStringAttr("llvm.nvvm." + name.str()), operands);
  return call->getResult(0);
}

void fovea::codegen::runIntrinsic(KernelBuilder &b, StringRef name,
                                  ValueRange operands) {
  b.create<LLVM::CallIntrinsicOp>(b.getStringAttr("llvm.nvvm." + name.str()),
                                  operands);
}

LLVM::InlineAsmOp fovea::codegen::sayPtx(KernelBuilder &b, StringRef text,
                                         StringRef constraints,
                                         ValueRange operands,
                                         TypeRange results) {
  std::string all = constraints.str();
  all += all.empty() ? "~{memory}" : ",~{memory}";
  return b.create<LLVM::InlineAsmOp>(
      results, operands, text, all, /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr(), ArrayAttr());
}

static KernelBuilder::Values fourOf(KernelBuilder &b, StringRef name, Type each,
                                    ValueRange operands) {
  auto four = LLVM::LLVMStructType::getLiteral(b.getContext(),
                                               SmallVector<Type>(4, each));
  Value all = intrinsic(b, name, four, operands);
  KernelBuilder::Values result;
  for (int64_t i = 0; i < 4; ++i)
    result.push_back(b.create<LLVM::ExtractValueOp>(all, ArrayRef<int64_t>{i}));
  return result;
}

Value fovea::codegen::roundPair(KernelBuilder &b, Value low, Value high) {
  auto pair = VectorType::get(2, b.getBF16Type());
  Value rounded = intrinsic(b, "ff2bf16x2.rn", pair, ValueRange{high, low});
  return b.create<LLVM::BitcastOp>(b.getI32Type(), rounded);
}

KernelBuilder::Values
fovea::codegen::loadMatrices(KernelBuilder &b, Value address, bool transposes) {
  std::string name = "ldmatrix.sync.aligned.m8n8.x4";
  name += transposes ? ".trans.b16" : ".b16";
  return fourOf(b, name, b.getI32Type(), address);
}

void fovea::codegen::beginCopy(KernelBuilder &b, Value to, Value from) {
  constexpr unsigned global = 1;
  auto type = LLVM::LLVMPointerType::get(b.getContext(), global);
  // For the intrinsic LLVM would keep a pointer for each copy of a loop.
  sayPtx(b, "cp.async.cg.shared.global [$0], [$1], 16;", "l,l",
         {to, b.create<LLVM::AddrSpaceCastOp>(type, from)});
}
void fovea::codegen::endCopies(KernelBuilder &b) {
  runIntrinsic(b, "cp.async.commit.group");
}
void fovea::codegen::waitForCopies(KernelBuilder &b, int64_t allBut) {
  Value number = b.create<arith::ConstantOp>(
      b.getI32IntegerAttr(static_cast<int32_t>(allBut)));
  runIntrinsic(b, "cp.async.wait.group", number);
}

KernelBuilder::Values fovea::codegen::multiplyMatrices(KernelBuilder &b,
                                                       ValueRange left,
                                                       ValueRange right,
                                                       ValueRange sums) {
  KernelBuilder::Values operands(left);
  llvm::append_range(operands, right);
  llvm::append_range(operands, sums);
  return fourOf(b, "mma.m16n8k16.row.col.bf16", b.getF32Type(), operands);
}

Value fovea::codegen::valueOfLane(KernelBuilder &b, Value value, Value lane) {
  auto i32 = [&](int64_t number) {
    return b.create<arith::ConstantOp>(
        b.getI32IntegerAttr(static_cast<int32_t>(number)));
  };
  Type word = b.getI32Type();
  Value moved = intrinsic(
      b, "shfl.sync.idx.i32", word,
      ValueRange{i32(-1), b.create<arith::BitcastOp>(word, value),
                 b.create<arith::TruncIOp>(word, lane), i32(warpThreads - 1)});
  return b.create<arith::BitcastOp>(value.getType(), moved);
}

//===- Lower.cpp - kernel modules become the LLVM dialect -----------------===//
//
// Two conversions: structured control flow to branches, then everything to the
// LLVM dialect at once. Before them, ops whose upstream lowering breaks the
// kernels' guarantees are rewritten by hand.
//
//===----------------------------------------------------------------------===//

#include "codegen/native/Lower.h"
#include "dialect/launch/LaunchDialect.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
namespace codegen = fovea::codegen;

void fovea::codegen::registerKernelDialects(DialectRegistry &registry) {
  registry
      .insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
              launch::LaunchDialect, LLVM::LLVMDialect, math::MathDialect,
              scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

void fovea::codegen::loadKernelDialects(MLIRContext &context) {
  DialectRegistry registry;
  registerKernelDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                      func::FuncDialect, launch::LaunchDialect,
                      LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect,
                      ub::UBDialect, vector::VectorDialect>();
}

/// 0, 1, 2, .. as a constant.
static Value createSteps(OpBuilder &builder, Location loc, VectorType type) {
  unsigned width = type.getElementType().isIndex()
                       ? unsigned(IndexType::kInternalStorageBitWidth)
                       : type.getElementTypeBitWidth();
  SmallVector<APInt> values;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    values.push_back(APInt(width, i));
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, values));
}

/// `lane < size`, compared in 32 bits: one instruction for sixteen lanes. The
/// Clamps size to 0..lanes first, so that truncation does not change it.
static Value createMask(OpBuilder &builder, Location loc, VectorType type,
                        Value size) {
  int64_t lanes = type.getNumElements();
  Value none = arith::ConstantIndexOp::create(builder, loc, 0);
  Value all = arith::ConstantIndexOp::create(builder, loc, lanes);
  size = arith::MaxSIOp::create(builder, loc, size, none);
  size = arith::MinSIOp::create(builder, loc, size, all);
  Type i32 = builder.getI32Type();
  size = arith::IndexCastOp::create(builder, loc, i32, size);
  auto stepType = VectorType::get(lanes, i32);
  Value sizes = vector::BroadcastOp::create(builder, loc, stepType, size);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                               createSteps(builder, loc, stepType), sizes);
}

/// `lane < size` for a size that is known.
static Value createMask(OpBuilder &builder, Location loc, VectorType type,
                        int64_t size) {
  SmallVector<bool> lanes(type.getNumElements(), false);
  std::fill_n(lanes.begin(), size, true);
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, lanes));
}

/// a * b + c, rounded as often as the target requires.
static Value createFma(OpBuilder &builder, Location loc, Value a, Value b,
                       Value c, const codegen::Target &target) {
  if (target.fusesMultiplyAdd)
    return math::FmaOp::create(builder, loc, a, b, c);
  Value product = arith::MulFOp::create(builder, loc, a, b);
  return arith::AddFOp::create(builder, loc, product, c);
}

/// Rewrites ops with an unsuitable upstream lowering: `vector.fma` to an
/// intrinsic that may round twice, masks to 64 bits. Also rewrites ops that
/// upstream lowers only through other ops.
static LogicalResult prepare(ModuleOp module, const codegen::Target &target) {
  bool expands = false;
  bool failed = false;
  module.walk([&](Operation *op) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    Value replacement;
    for (Type type : op->getResultTypes())
      if (auto vectorType = dyn_cast<VectorType>(type))
        if (vectorType.getRank() != 1 || vectorType.isScalable()) {
          op->emitError() << "a kernel supports only vectors of one dimension "
                             "and fixed size, not "
                          << type;
          failed = true;
          return;
        }
    if (auto fma = dyn_cast<vector::FMAOp>(op))
      replacement = createFma(builder, loc, fma.getLhs(), fma.getRhs(),
                              fma.getAcc(), target);
    else if (auto fma = dyn_cast<math::FmaOp>(op);
             fma && !target.fusesMultiplyAdd)
      replacement =
          createFma(builder, loc, fma.getA(), fma.getB(), fma.getC(), target);
    else if (auto mask = dyn_cast<vector::CreateMaskOp>(op))
      replacement =
          createMask(builder, loc, mask.getType(), mask.getOperand(0));
    else if (auto mask = dyn_cast<vector::ConstantMaskOp>(op))
      replacement =
          createMask(builder, loc, mask.getType(), mask.getMaskDimSizes()[0]);
    else if (auto step = dyn_cast<vector::StepOp>(op))
      replacement = createSteps(builder, loc, step.getType());
    expands |=
        isa<vector::ExtractStridedSliceOp, vector::InsertStridedSliceOp,
            arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op);
    if (replacement) {
      op->getResult(0).replaceAllUsesWith(replacement);
      op->erase();
    }
  });
  if (failed)
    return failure();
  if (!expands)
    return success();
  RewritePatternSet patterns(module.getContext());
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
  return applyPatternsGreedily(module, std::move(patterns));
}

/// A private function is visible only in its own object.
static void makeInternal(ModuleOp module) {
  auto internal = LLVM::LinkageAttr::get(module.getContext(),
                                         LLVM::linkage::Linkage::Internal);
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPrivate() && !function.isDeclaration())
      function->setAttr("llvm.linkage", internal);
}

static LogicalResult convertToBranches(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateSCFToControlFlowConversionPatterns(patterns);
  ConversionTarget target(*module.getContext());
  target.addIllegalDialect<scf::SCFDialect>();
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(module, target, std::move(patterns));
}

static LogicalResult convertToLLVM(ModuleOp module) {
  MLIRContext *context = module.getContext();
  LLVMTypeConverter converter(context);
  RewritePatternSet patterns(context);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns,
                                       /*approximateLog1p=*/false);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  target.addLegalOp<UnrealizedConversionCastOp>();
  return applyFullConversion(module, target, std::move(patterns));
}

/// Casts between a type and its LLVM form are no-ops by now.
static LogicalResult removeCasts(ModuleOp module) {
  SmallVector<UnrealizedConversionCastOp> casts, left;
  module.walk([&](UnrealizedConversionCastOp cast) { casts.push_back(cast); });
  reconcileUnrealizedCasts(casts, &left);
  for (UnrealizedConversionCastOp cast : left)
    return cast.emitError("a kernel can cast only the address of a function");
  return success();
}

LogicalResult fovea::codegen::lowerToLLVM(ModuleOp module,
                                          const Target &target) {
  if (failed(prepare(module, target)))
    return failure();
  makeInternal(module);
  return success(succeeded(convertToBranches(module)) &&
                 succeeded(convertToLLVM(module)) &&
                 succeeded(removeCasts(module)));
}

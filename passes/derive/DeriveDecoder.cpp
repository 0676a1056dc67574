//===- DeriveDecoder.cpp - what decoding computes -------------------------===//
//
// Decides what the decoder is asked for. The front end has replaced what
// `decode { set .. }` replaces; whether the generated names can be computed
// step by step is found by attn-schedule.
//
//===----------------------------------------------------------------------===//

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"
#include "passes/analysis/Equations.h"
#include "passes/derive/Derive.h"

namespace fovea::attn {
#define GEN_PASS_DEF_DERIVEDECODER
#include "passes/Passes.h.inc"
} // namespace fovea::attn

using namespace mlir;
using namespace fovea::attn;

namespace {

struct DeriveDecoder : fovea::attn::impl::DeriveDecoderBase<DeriveDecoder> {
  using DeriveDecoderBase::DeriveDecoderBase;

  void runOnOperation() override {
    auto system = getOperation().lookupSymbol<SystemOp>("decoding");
    if (!system)
      return markAllAnalysesPreserved();
    if (failed(refuseLatents(system)) || failed(resolveEquations(system, show)))
      return signalPassFailure();
    Block &body = system.getBody().front();
    for (Operation &op : llvm::make_early_inc_range(body)) {
      auto choice = dyn_cast<ChoiceOp>(op);
      // log p of what is given says nothing about what is generated.
      if (isa<PenaltyOp>(op) || (choice && choice.getObserved()))
        op.erase();
      else if (choice)
        addOutput(choice);
    }
    keepAll(system);
    system.setSymName("decode");
    eraseDeadArrays(system);
  }

  /// Nothing is dropped in decoding: words are those without a seed, and what
  /// dropped is what it dropped from.
  void keepAll(SystemOp system) {
    SmallVector<RandomOp> words;
    system.walk([&](RandomOp op) {
      if (op.givesWord())
        words.push_back(op);
    });
    for (RandomOp op : words) {
      auto equation = op->getParentOfType<ComputeOp>();
      OpBuilder at(op);
      Value none = arith::ConstantIntOp::create(at, op.getLoc(), op.noWord, 64);
      op.replaceAllUsesWith(none);
      op.erase();
      (void)applyPatternsGreedily(equation.getBody(),
                                  FrozenRewritePatternSet());
      if (Value source = copiedBy(equation)) {
        equation.replaceAllUsesWith(source);
        equation.erase();
      }
    }
  }

  void addOutput(ChoiceOp choice) {
    auto builder = OpBuilder::atBlockEnd(choice->getBlock());
    OutputOp::create(builder, choice.getLoc(), choice.getTarget(),
                     choice.getResult());
  }
};

} // namespace

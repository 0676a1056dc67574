//===- DeriveDecoder.cpp - what decoding computes -------------------------===//
//
// Decides what the decoder is asked for. The front end has replaced what
// `decode { set .. }` replaces; whether the generated names can be computed
// step by step is found by attn-schedule.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/derive/Derive.h"
#include "passes/derive/LogProbability.h"

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
      // log p of given data says nothing about the output.
      if (isa<PenaltyOp>(op) || (choice && choice.getObserved()))
        op.erase();
      else if (choice) {
        takeLogs(choice);
        addOutput(choice);
      }
    }
    system.setSymName("decode");
    eraseDeadArrays(system);
    if (failed(checkLengths(system)))
      signalPassFailure();
  }

  /// What only training reads may have the length that a search finds; then no
  /// equation that reads it can be shown.
  LogicalResult checkLengths(SystemOp system) {
    llvm::DenseSet<Attribute> open;
    for (auto length : system.getOps<LengthOp>())
      if (length.getOpen())
        open.insert(length.getLengthAttr());
    LogicalResult result = success();
    for (auto data : system.getOps<DataOp>()) {
      for (Attribute extent :
           cast<ArrayType>(data.getResult().getType()).getShape().getValue())
        if (open.contains(extent)) {
          result = data.emitError()
                   << "decoding: '" << data.getSource() << "' has the length "
                   << extentText(extent)
                   << ", which decoding finds; help: show no equation that "
                      "reads it";
          break;
        }
    }
    return result;
  }

  /// A discrete choice is made among log p of its values, as the objective has
  /// them. From logits the search computes them. The density of a real number
  /// is computed once that is made.
  void takeLogs(ChoiceOp choice) {
    if (choice.getDistribution() != Distribution::categorical &&
        choice.getDistribution() != Distribution::bernoulli)
      return addDensity(OpBuilder::atBlockEnd(choice->getBlock()), choice);
    auto name = cast<StringAttr>(choice.getParameterNames()[0]).getValue();
    if (name != "probs" && name != "prob" && name != "logit")
      return;
    OpBuilder builder(choice);
    choice.getParametersMutable()[0].set(logOfEachValue(builder, choice));
    choice.setParameterNamesAttr(builder.getStrArrayAttr({"logp"}));
  }

  void addOutput(ChoiceOp choice) {
    auto builder = OpBuilder::atBlockEnd(choice->getBlock());
    OutputOp::create(builder, choice.getLoc(), choice.getTarget(),
                     choice.getResult());
  }
};

} // namespace

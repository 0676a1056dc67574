//===- Schedule.cpp - attn-schedule: systems become programs --------------===//
//
// Plans each system of a module and replaces it by the program. Plan.h finds
// the order, Emit.h writes it.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/schedule/Emit.h"
#include "passes/schedule/Explain.h"

namespace fovea::attn {
#define GEN_PASS_DEF_SCHEDULE
#include "passes/Passes.h.inc"
} // namespace fovea::attn

using namespace mlir;
using namespace fovea::attn;

namespace {

struct Schedule : fovea::attn::impl::ScheduleBase<Schedule> {
  using ScheduleBase::ScheduleBase;

  void runOnOperation() override {
    if (explain)
      explainSchedule(getOperation(), {}, llvm::outs());
    // One mistake is one error, even if several systems have the equation.
    llvm::DenseSet<Location> reported;
    ScopedDiagnosticHandler once(
        &getContext(), [&](Diagnostic &diagnostic) -> LogicalResult {
          Location place = diagnostic.getLocation();
          bool isKnown = !isa<UnknownLoc>(place) &&
                         diagnostic.getSeverity() == DiagnosticSeverity::Error;
          return success(isKnown && !reported.insert(place).second);
        });
    bool failedOnce = false, noLoss = false;
    for (auto system :
         llvm::make_early_inc_range(getOperation().getOps<SystemOp>())) {
      // The gradient contains the equations of the loss.
      if (noLoss && system.getSymName() == "grad")
        continue;
      auto planned = schedule::planSystem(system);
      if (failed(planned)) {
        failedOnce = true;
        noLoss |= system.getSymName() == "loss";
        continue;
      }
      auto &[graph, plan] = *planned;
      OpBuilder builder(system);
      auto program =
          ProgramOp::create(builder, system.getLoc(), system.getSymNameAttr());
      program->setDiscardableAttrs(system->getDiscardableAttrDictionary());
      program.getBody().emplaceBlock();
      schedule::Emitter(*graph, plan, program).run();
      system.erase();
    }
    if (failedOnce)
      signalPassFailure();
  }
};

} // namespace

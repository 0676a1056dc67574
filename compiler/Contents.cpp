//===- Contents.cpp - what a model contains -------------------------------===//

#include "compiler/Contents.h"
#include "dialect/AttnDialect.h"
#include "passes/derive/Derive.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::compiler;

//===----------------------------------------------------------------------===//
// Systems
//===----------------------------------------------------------------------===//

std::vector<Equation> compiler::equationsIn(ModuleOp module, StringRef system) {
  std::vector<Equation> equations;
  auto op = module.lookupSymbol<attn::SystemOp>(system);
  if (!op)
    return equations;
  for (auto equation : op.getOps<attn::EquationOp>()) {
    Equation &own = equations.emplace_back(
        Equation{equation.getTarget().str(), equation.getLoc(), {}});
    for (Attribute extent :
         cast<attn::ArrayType>(equation.getValue().getType()).getShape())
      own.extents.push_back(attn::extentText(extent));
  }
  return equations;
}

std::vector<std::string> compiler::unreadEquations(ModuleOp module) {
  return attn::unreadEquations(module.lookupSymbol<attn::SystemOp>("training"));
}

std::map<std::string, std::string> compiler::parentsOfLengths(ModuleOp module) {
  std::map<std::string, std::string> parents;
  if (auto system = module.lookupSymbol<attn::SystemOp>("decoding"))
    for (auto length : system.getOps<attn::LengthOp>())
      if (std::optional<ArrayAttr> of = length.getOf(); of && of->size() == 1)
        parents[length.getLength().str()] = cast<StringAttr>((*of)[0]).str();
  return parents;
}

/// Whether an op of `root`, if there is one, is as `holds` says.
template <typename Op>
static bool isAny(Operation *root, llvm::function_ref<bool(Op)> holds) {
  auto look = [&](Op op) {
    return holds(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  return root && root->walk(look).wasInterrupted();
}

bool compiler::hasObjective(ModuleOp module) {
  return isAny<Operation *>(module.lookupSymbol("training"), [](Operation *op) {
    return isa<attn::ChoiceOp, attn::PenaltyOp>(op);
  });
}

bool compiler::addsUpChoices(ModuleOp module) {
  return !isAny<attn::ChoiceOp>(
      module.lookupSymbol("training"), [](attn::ChoiceOp choice) {
        DictionaryAttr treatment = choice.getTreatmentAttr();
        if (!choice.getLatent() || !treatment)
          return false;
        auto kind = treatment.getAs<StringAttr>("kind");
        auto samples = treatment.getAs<FloatAttr>("samples");
        // Of one choice there is one sum; of several, the sum of each is a
        // share.
        bool isOnce =
            cast<attn::ArrayType>(choice.getResult().getType()).getRank() == 0;
        bool isSum = kind && ((kind.getValue() == "enumerate" && isOnce) ||
                              kind.getValue() == "guide");
        return isSum || (samples && samples.getValueAsDouble() > 1);
      });
}

bool compiler::drawsLatents(ModuleOp module) {
  return isAny<attn::ChoiceOp>(module, [](attn::ChoiceOp choice) {
    auto kind = choice.getTreatmentAttr()
                    ? choice.getTreatmentAttr().getAs<StringAttr>("kind")
                    : StringAttr();
    return choice.getLatent() && kind && kind.getValue() == "sample";
  });
}

void compiler::dropObjective(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.lookupSymbol("training")->walk([&](Operation *op) {
    auto choice = dyn_cast<attn::ChoiceOp>(op);
    if (isa<attn::PenaltyOp>(op) ||
        (choice && choice.getObserved() && !choice.getLatent()))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    op->erase();
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

Operation *compiler::findProgram(ModuleOp module, StringRef name) {
  return module.lookupSymbol<attn::ProgramOp>(name);
}

std::vector<std::string> compiler::outputsOf(Operation *program) {
  std::vector<std::string> names;
  for (auto output : cast<attn::ProgramOp>(program).getOps<attn::OutputOp>())
    names.push_back(output.getTarget().str());
  return names;
}

std::vector<std::string> compiler::outputsAsComputed(Operation *program) {
  Block &block = cast<attn::ProgramOp>(program).getBody().front();
  llvm::DenseMap<Operation *, size_t> numbers;
  for (Operation &op : block)
    numbers[&op] = numbers.size();
  std::vector<std::pair<size_t, std::string>> order;
  for (auto output : block.getOps<attn::OutputOp>())
    order.push_back({numbers.lookup(output.getOperand().getDefiningOp()),
                     output.getTarget().str()});
  llvm::sort(order);
  std::vector<std::string> names;
  llvm::append_range(names, llvm::make_second_range(order));
  return names;
}

std::map<std::string, InDecoder> compiler::stepsIn(ModuleOp module) {
  std::map<std::string, InDecoder> steps;
  auto program = module.lookupSymbol<attn::ProgramOp>("decode");
  if (!program)
    return steps;
  program.walk([&](Operation *op) {
    if (auto search = dyn_cast<attn::SearchOp>(op)) {
      for (Attribute attribute : search.getStates()) {
        auto state = cast<DictionaryAttr>(attribute);
        steps[state.getAs<StringAttr>("name").str()] = {
            true, state.getAs<StringAttr>("kind").str(),
            state.getAs<IntegerAttr>("window").getInt()};
      }
      return;
    }
    auto name = op->getAttrOfType<StringAttr>("label");
    if (name && !isa<attn::DataOp, attn::ParamOp>(op))
      steps.try_emplace(
          name.str(),
          InDecoder{op->getParentOfType<attn::SearchOp>() != nullptr, "", 0});
  });
  return steps;
}

void compiler::dropUnusedLengths(Operation *program) {
  llvm::DenseSet<Attribute> used;
  auto use = [&](StringAttr name) { used.insert(name); };
  program->walk([&](Operation *op) {
    if (isa<attn::LengthOp>(op))
      return;
    op->getAttrDictionary().walk(use);
    for (Type type : op->getOperandTypes())
      type.walk(use);
    for (Type type : op->getResultTypes())
      type.walk(use);
  });
  // The lengths that give a length come before it.
  auto lengths =
      llvm::to_vector(program->getRegion(0).front().getOps<attn::LengthOp>());
  for (attn::LengthOp length : llvm::reverse(lengths)) {
    if (used.contains(length.getLengthAttr()))
      length->getAttrDictionary().walk(use);
    else
      length.erase();
  }
}

OwningOpRef<ModuleOp> compiler::choicesOnly(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  if (Operation *grad = copy->lookupSymbol("grad"))
    grad->erase();
  auto loss = copy->lookupSymbol<attn::ProgramOp>("loss");
  Block &block = loss.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    auto output = dyn_cast<attn::OutputOp>(op);
    bool isKept = output ? output.getTarget() == "choices"
                         : !op.use_empty() ||
                               op.hasTrait<OpTrait::IsTerminator>() ||
                               isa<attn::LengthOp>(op);
    if (!isKept)
      op.erase();
  }
  return copy;
}

//===----------------------------------------------------------------------===//
// Both
//===----------------------------------------------------------------------===//

std::vector<Parameter> compiler::parametersIn(ModuleOp module) {
  std::vector<Parameter> parameters;
  module.walk([&](attn::ParamOp param) {
    Parameter &own = parameters.emplace_back();
    own.path = param.getPath().str();
    for (Attribute extent : param.getResult().getType().getShape())
      if (auto number = dyn_cast<IntegerAttr>(extent))
        own.shape.push_back(number.getInt());
  });
  return parameters;
}

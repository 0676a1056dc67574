//===- Identity.cpp - what a training was asked for -----------------------===//

#include "app/train/Identity.h"
#include "runtime/data/Checksum.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

std::string fovea::cli::equationsHash(Model &model) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  model.module->lookupSymbol("training")->print(stream);
  return runtime::wideChecksum(text);
}

Identity fovea::cli::identityOf(const Training &training,
                                const TrainBlock &block,
                                std::string equations) {
  const runtime::TrainOptions &options = training.options;
  Identity texts = runtime::describe(options);
  texts["equations"] = std::move(equations);
  texts["data"] = training.data.hash;
  texts["validation"] = training.valid.hash;
  texts["valid-every"] = training.limits.validEvery == 0
                             ? "an epoch"
                             : std::to_string(training.limits.validEvery);
  texts["best-by"] = training.bestBy;
  texts["frozen"] =
      options.frozen.empty() ? "none" : llvm::join(options.frozen, ", ");
  auto textOf = [&](const char *entry, const char *usual) {
    auto found = block.entries.find(entry);
    return found == block.entries.end() ? usual : found->second;
  };
  texts["smooth"] = textOf("smooth", "0");
  texts["average"] = textOf("average", "token");
  return texts;
}

bool Differences::hasSameRule(const Identity &now) const {
  auto ruleOf = [](const Identity &identity) {
    auto found = identity.find("optimiser");
    return found == identity.end() ? StringRef()
                                   : StringRef(found->second).split('(').first;
  };
  return ruleOf(position.identity) == ruleOf(now);
}

/// Frozen parameters keep the run's position in the data, or have values of
/// their own for each weight.
bool Differences::mayChange(const std::string &what,
                            const Identity &now) const {
  static constexpr llvm::StringLiteral fixed[] = {"equations", "data", "batch",
                                                  "accumulate", "bucket"};
  return what == "optimiser" ? hasSameRule(now)
                             : !llvm::is_contained(fixed, what);
}

void Differences::report(const Identity &now) {
  bool isOtherScore = false;
  for (const auto &[what, value] : now) {
    const std::string &before = position.identity[what];
    // An earlier version did not have the setting.
    bool isUnset = before.empty() && value == "none";
    if (before == value || isUnset || what == "equations")
      continue;
    // A hash tells a reader nothing.
    std::string text =
        what == "data"
            ? fmt::format("the data are not those of the training in '{}'",
                          arguments.folder)
        : what == "validation"
            ? fmt::format("the validation is not that of the training in '{}'",
                          arguments.folder)
            : fmt::format("'{}' is {} but the training in '{}' has {}", what,
                          value, arguments.folder, before);
    bool isAllowed = mayChange(what, now);
    if (isAllowed && arguments.change) {
      session.diagnostics().warning(Code::none, {}, text);
      // Validations with the old settings are no reason to end with new ones.
      if (what != "early_stop")
        position.withoutBest = 0;
      isOtherScore |= what == "validation" || what == "best-by" ||
                      what == "smooth" || what == "average" || what == "polyak";
      continue;
    }
    if (isAllowed)
      text += "; help: continue with '--resume --change'";
    session.error(text);
  }
  if (!isOtherScore || !position.best)
    return;
  session.diagnostics().warning(
      Code::none, {},
      fmt::format("the best validation of '{}' so far is not compared with "
                  "those that follow",
                  arguments.folder));
  position.best.reset();
}

void Differences::reportEquations(const Identity &now) {
  if (position.identity["equations"] == now.at("equations"))
    return;
  session.error(fmt::format(
      "the equations are not those of the training in '{0}'; help: start a new "
      "training from its weights with '--weights {0}/model.safetensors' and "
      "another '--out'",
      arguments.folder));
}

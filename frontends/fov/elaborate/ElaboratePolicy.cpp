//===- ElaboratePolicy.cpp - training on what is generated ----------------===//
//
// `NAME ~ policy(..)` of train { }: its reward and its baseline, and which
// models cannot have one because decoding has other probabilities than
// training.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/Options.h"
#include "frontends/fov/elaborate/Elaborate.h"

using namespace fovea;
using namespace fovea::fov;
using ast::Expr;
using ast::ExprKind;

/// `reward = bleu`: an equation of the spec, or else a metric.
void Elaborator::readReward(const Expr &value, Scope &scope,
                            LatentTreatment &result) {
  StringRef name = value.kind == ExprKind::Name ? value.name : StringRef();
  Symbol *symbol = name.empty() ? nullptr : lookup(scope, name);
  bool isEquation = symbol && symbol->family && symbol->family->isEquation;
  if (symbol && symbol->kind == Symbol::Mistake)
    return;
  if (isEquation || llvm::is_contained(metrics(), name)) {
    result.words[isEquation ? "equation" : "reward"] = name.str();
    return;
  }
  if (name.empty())
    return error(Code::policyArgument, value.loc,
                 "the reward of 'policy' must be a metric or the "
                 "name of an equation; help: write gain = .. as an "
                 "equation, and reward = gain");
  error(Code::policyArgument, value.loc,
        "the reward '" + name.str() + "' is neither a metric nor an equation" +
            suggestion(name, metrics()));
}

/// `baseline = others`: what a policy subtracts from the reward.
void Elaborator::readBaselineWord(const Expr &value, LatentTreatment &result) {
  StringRef name = value.kind == ExprKind::Name ? value.name : StringRef();
  static constexpr StringRef known[] = {"others", "greedy", "none"};
  if (!llvm::is_contained(known, name))
    return error(Code::policyArgument, value.loc,
                 "the baseline of 'policy' must be 'others', 'greedy' or "
                 "'none'" +
                     suggestion(name, known));
  result.words["baseline"] = name.str();
}

/// `policy(..)`: log p of what decoding draws must equal log p in training.
void Elaborator::elaboratePolicy(const Treatment &treatment, Scope &scope,
                                 Choice &choice) {
  std::string name = treatment.name.str();
  for (const Treatment &other : treatments)
    if (&other != &treatment && other.isTraining &&
        (other.kind == "policy" || other.symbol == treatment.symbol))
      return error(Code::policyMisfit, treatment.loc,
                   other.kind == "policy" && other.symbol != treatment.symbol
                       ? "only one name can have 'policy': it trains "
                         "everything that is generated"
                       : "'policy' cannot be combined with '" +
                             other.kind.str() + "' of '" + name + "'",
                   {{other.loc, "the other entry is here"}});
  for (const Choice &other : model->choices) {
    std::vector<Diagnostics::Note> here = {{other.loc, "it is drawn here"}};
    if (other.latent)
      return error(Code::policyMisfit, treatment.loc,
                   "'policy' needs the exact log-probability of what is "
                   "generated, but '" +
                       other.target->name + "' is latent",
                   here);
    if (other.ahead)
      return error(Code::policyMisfit, treatment.loc,
                   "'policy' cannot be combined with a choice of later places "
                   "of '" +
                       other.target->name + "', which nothing generates",
                   {{other.loc, "it is here"}});
    // The search computes densities in its own way.
    if (other.distribution != "categorical" &&
        other.distribution != "bernoulli")
      return error(Code::policyMisfit, treatment.loc,
                   "'policy' generates symbols and bits, but '" +
                       other.target->name + "' is drawn from '" +
                       other.distribution +
                       "'; help: draw one of several values by categorical(x)",
                   here);
  }
  for (const ast::Entry *entry : replacedInDecoding)
    return error(Code::policyMisfit, treatment.loc,
                 "'policy' samples from the decoder, but decode { set " +
                     entry->left.name.str() +
                     " = .. } makes its probabilities differ from those of "
                     "training",
                 {{entry->left.loc, "it is replaced here"}});
  if (auto mark = pendingMarks.find("valid"); mark != pendingMarks.end())
    return error(Code::policyMisfit, treatment.loc,
                 "'policy' samples from the decoder, but decode { valid = .. } "
                 "forbids values that have a probability in training; help: "
                 "make their logits -inf instead",
                 {{mark->second->left.loc, "they are forbidden here"}});
  LatentTreatment result;
  result.kind = "policy";
  size_t before = diagnostics.numErrors();
  readArguments(treatment, scope, result);
  if (diagnostics.numErrors() != before)
    return;
  if (!result.words.count("reward") && !result.words.count("equation"))
    return error(Code::policyArgument, treatment.loc,
                 "'policy' needs a reward; help: write " + name +
                     " ~ policy(reward = bleu)");
  result.words.try_emplace("baseline", "none");
  double &samples = result.numbers.try_emplace("samples", 1).first->second;
  if (samples < 2 && result.words["baseline"] == "others")
    return error(Code::policyArgument, treatment.loc,
                 "'baseline = others' is the mean reward of the other samples, "
                 "but there is 1 sample; help: write samples = 2 or more");
  choice.treatment = result;
}

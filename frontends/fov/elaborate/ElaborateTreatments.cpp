//===- ElaborateTreatments.cpp - how choices are treated ------------------===//
//
// `NAME ~ estimator` of train { } and `NAME ~ treatment` of decode { }: the
// words, their arguments, and which choice can be treated so.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/Options.h"
#include "frontends/fov/elaborate/Elaborate.h"
#include "llvm/Support/SaveAndRestore.h"

#include <cmath>

using namespace fovea;
using namespace fovea::fov;
using ast::Expr;
using ast::ExprKind;
using ast::Statement;

namespace {

/// An argument of an estimator that is a number.
struct Number {
  StringRef name;
  double least, most;
  bool isWhole;
  StringRef wants;
  /// Whether it may be an equation, such as one of `train.step`.
  bool isScheduled = false;
};

} // namespace

static constexpr double unlimited = INFINITY;

/// The arguments of an estimator, in order. Non-numeric ones have no
/// range.
static ArrayRef<Number> argumentsOf(StringRef estimator) {
  static const Number reinforce[] = {
      {"baseline", 0, 0, false, ""},
      {"entropy", 0, unlimited, false, "a number of at least 0", true},
      {"expected", 0, 1, false, "a probability", true},
      {"samples", 1, 65536, true, "a whole number from 1 to 65536"},
      {"reward", 0, 0, false, ""},
      {"credit", 0, 0, false, ""}};
  static const Number drawn[] = {
      {"samples", 1, 65536, true, "a whole number from 1 to 65536"}};
  static const Number gumbel[] = {
      {"temperature", 1e-6, unlimited, false, "a number above 0", true},
      {"samples", 1, 65536, true, "a whole number from 1 to 65536"}};
  static const Number margin[] = {
      {"margin", 0, unlimited, false, "a number of at least 0", true}};
  static const Number sampled[] = {
      {"candidates", 1, 1 << 24, true, "a whole number from 1 to 16777216"},
      {"proposal", 0, 0, false, ""}};
  static const Number policy[] = {
      {"reward", 0, 0, false, ""},
      {"samples", 1, 65536, true, "a whole number from 1 to 65536"},
      {"baseline", 0, 0, false, ""},
      {"likelihood", 0, 1, false, "a number from 0 to 1"}};
  if (estimator == "policy")
    return policy;
  if (estimator == "sampled")
    return sampled;
  if (estimator == "margin")
    return margin;
  if (estimator == "reinforce")
    return reinforce;
  if (estimator == "gumbel")
    return gumbel;
  if (estimator == "straight_through" || estimator == "reparameterised" ||
      estimator == "no_gradient")
    return drawn;
  return {};
}

/// The supported estimators and treatments.
static bool isExecuted(StringRef treatment) {
  return llvm::is_contained({"reinforce", "expected", "straight_through",
                             "gumbel", "no_gradient", "reparameterised",
                             "enumerate", "mode", "sample", "marginal"},
                            treatment);
}

/// Returns why `treatment` does not apply to samples of `distribution`; empty:
/// it does.
static std::string mismatch(StringRef name, StringRef treatment,
                            StringRef distribution) {
  bool isFinite = distribution == "categorical" || distribution == "bernoulli";
  std::string what = "'" + name.str() + "' is drawn from a " +
                     distribution.str() + " distribution";
  if (treatment == "enumerate" && !isFinite)
    return what + ", whose values cannot be enumerated; 'reparameterised' and "
                  "'reinforce' draw from it";
  if ((treatment == "straight_through" || treatment == "gumbel" ||
       treatment == "marginal") &&
      !isFinite)
    return what + ", but '" + treatment.str() +
           "' is for categorical and bernoulli";
  if (distribution == "mixture" &&
      !llvm::is_contained({"reinforce", "no_gradient", "mode", "sample"},
                          treatment))
    return what + ", which 'reinforce' and 'no_gradient' draw from, but not '" +
           treatment.str() + "'";
  if (treatment == "reparameterised" && isFinite)
    return what + ", but 'reparameterised' is for normal and uniform; "
                  "'gumbel', 'straight_through' and 'reinforce' are for it";
  return "";
}

void Elaborator::readTreatment(const Statement &block, const ast::Entry &entry,
                               Scope &scope) {
  StringRef name = entry.left.name;
  Symbol *symbol = lookup(scope, name);
  if (!symbol)
    return undefined(name, entry.left.loc, scope, nullptr);
  if (symbol->kind == Symbol::Mistake)
    return;
  const Expr *callee =
      entry.value->kind == ExprKind::Call ? entry.value->args[0] : entry.value;
  StringRef treatment =
      callee->kind == ExprKind::Name ? callee->name : StringRef();
  bool isTraining = block.name == "train";
  auto known = isTraining ? estimators() : decodeTreatments();
  if (isTraining)
    treated.insert(name.str());
  if (!llvm::is_contained(known, treatment))
    return error(Code::unknownTreatment, callee->loc,
                 "'" + treatment.str() +
                     "' is not a treatment of a choice in " + block.name.str() +
                     suggestion(treatment, known));
  treatments.push_back(
      {symbol, name, entry.left.loc, isTraining, treatment, entry.value});
  if (treatment == "candidates") {
    model->refusals.push_back("'" + name.str() + " ~ " + treatment.str() +
                              "' in decode { } cannot be executed yet");
  }
}

/// The choices of a name, for all members of a family.
SmallVector<Choice *, 1> Elaborator::choicesOf(const Symbol &symbol) {
  SmallVector<Choice *, 1> result;
  const Family *family = symbol.family;
  for (Choice &choice : model->choices)
    if (family && !choice.ahead &&
        llvm::any_of(family->members, [&](auto &member) {
          return member.second.array == choice.target;
        }))
      result.push_back(&choice);
  return result;
}

/// `moving_average(0.9)`, or an equation.
void Elaborator::readBaseline(const Expr &value, Scope &scope,
                              LatentTreatment &result) {
  bool isAverage = value.kind == ExprKind::Call &&
                   value.args[0]->kind == ExprKind::Name &&
                   value.args[0]->name == "moving_average";
  if (!isAverage) {
    result.baseline = expression(value, scope, nullptr);
    return;
  }
  Term *decay = value.items.size() == 1
                    ? expression(*value.items[0].value, scope, nullptr)
                    : nullptr;
  if (!decay || decay->kind != TermKind::Number || !(decay->number >= 0) ||
      decay->number >= 1)
    return error(Code::treatmentArgument, value.loc,
                 "'moving_average' takes one number of at least 0 "
                 "and below 1: the share of what it was before");
  result.numbers["baseline"] = decay->number;
}

/// `weight(a)`: a number, or one for each element.
void Elaborator::readWeight(const Expr &value, Scope &scope, Choice &choice) {
  if (value.kind != ExprKind::Call || value.items.size() != 1 ||
      !value.items[0].name.empty())
    return error(Code::treatmentArgument, value.loc,
                 "'weight' takes one value: how often log p of each "
                 "element counts");
  choice.weight = expression(*value.items[0].value, scope, nullptr);
}

/// `proposal = uniform`: what candidates are drawn from.
void Elaborator::readProposal(const Expr &value, LatentTreatment &result) {
  StringRef name = value.kind == ExprKind::Name ? value.name : StringRef();
  if (name != "uniform" && name != "log_uniform")
    return error(Code::treatmentArgument, value.loc,
                 "a proposal is 'log_uniform', for symbols by falling "
                 "frequency, or 'uniform'" +
                     suggestion(name, {"uniform", "log_uniform"}));
  if (name == "uniform")
    result.numbers["uniform"] = 1;
}

/// `credit = later`: which rewards a choice gets.
void Elaborator::readCredit(const Expr &value, LatentTreatment &result) {
  StringRef name = value.kind == ExprKind::Name ? value.name : StringRef();
  if (name != "all" && name != "later")
    return error(Code::treatmentArgument, value.loc,
                 "'credit' is 'all', or 'later' where a choice has "
                 "no part in what came before it" +
                     suggestion(name, {"all", "later"}));
  if (name == "later")
    result.numbers["later"] = 1;
}

/// The arguments of `reinforce(..)` and others.
void Elaborator::readArguments(const Treatment &treatment, Scope &scope,
                               LatentTreatment &result) {
  ArrayRef<Number> known = argumentsOf(treatment.kind);
  std::vector<StringRef> names;
  for (const Number &each : known)
    names.push_back(each.name);
  const Expr &call = *treatment.value;
  if (call.kind != ExprKind::Call)
    return;
  std::set<StringRef> given;
  for (auto [position, item] : llvm::enumerate(call.items)) {
    const auto *argument = llvm::find_if(known, [&](const Number &each) {
      return item.name.empty() ? position == size_t(&each - known.data())
                               : each.name == item.name;
    });
    std::string what = "'" + treatment.kind.str() + "'";
    if (argument == known.end()) {
      error(Code::treatmentArgument, item.loc,
            item.name.empty()
                ? what + " takes " + counted(known.size(), "argument") +
                      " but gets more"
                : what + " has no argument '" + item.name.str() + "'" +
                      suggestion(item.name, names));
      continue;
    }
    if (!given.insert(argument->name).second) {
      error(Code::treatmentArgument, item.loc,
            "'" + argument->name.str() + "' of " + what + " is given twice");
      continue;
    }
    if (treatment.kind == "policy" && argument->name == "reward") {
      readReward(*item.value, scope, result);
      continue;
    }
    if (treatment.kind == "policy" && argument->name == "baseline") {
      readBaselineWord(*item.value, result);
      continue;
    }
    if (argument->name == "baseline") {
      readBaseline(*item.value, scope, result);
      continue;
    }
    if (argument->name == "credit") {
      readCredit(*item.value, result);
      continue;
    }
    if (argument->name == "proposal") {
      readProposal(*item.value, result);
      continue;
    }
    Term *value = expression(*item.value, scope, nullptr);
    if (!value)
      continue;
    if (argument->name == "reward") {
      result.reward = value;
      continue;
    }
    std::optional<double> number;
    if (value->kind == TermKind::Number)
      number = value->number;
    else if (value->kind == TermKind::Size && value->extent.value())
      number = static_cast<double>(*value->extent.value());
    if (!number && argument->isScheduled && value->kind != TermKind::Size) {
      result.schedules[argument->name.str()] = value;
      continue;
    }
    if (!number || !(*number >= argument->least && *number <= argument->most) ||
        (argument->isWhole && *number != std::floor(*number))) {
      error(Code::treatmentArgument, item.value->loc,
            "'" + argument->name.str() + "' of " + what + " is " +
                argument->wants.str());
      continue;
    }
    result.numbers[argument->name.str()] = *number;
  }
}

/// Determines each latent's treatment in this reading of the file.
void Elaborator::elaborateTreatments(Scope &scope) {
  for (const Treatment &treatment : treatments) {
    if (treatment.isTraining == model->decoding)
      continue;
    bool isOfObserved = llvm::is_contained(
        {"sampled", "margin", "candidates", "weight", "policy"},
        treatment.kind);
    LatentTreatment result;
    result.kind = treatment.kind.str();
    bool isRead = false;
    for (Choice *choice : choicesOf(*treatment.symbol)) {
      llvm::SaveAndRestore present(underTreatment,
                                   static_cast<const Choice *>(choice));
      llvm::SaveAndRestore presentValue(treatmentValue, treatment.value);
      std::string name = treatment.name.str();
      if (!choice->latent && treatment.isTraining && !isOfObserved) {
        error(Code::treatmentMisfit, treatment.loc,
              "'" + name + "' is data, so its choice is observed and '" +
                  treatment.kind.str() +
                  "' has nothing to estimate; help: leave the entry out",
              {{choice->target->loc, "it is declared here"}});
        break;
      }
      if (choice->latent && isOfObserved) {
        error(Code::treatmentMisfit, treatment.loc,
              "'" + name + "' is a latent choice, but '" +
                  treatment.kind.str() + "' is for a choice of data",
              {{choice->loc, "it is drawn here"}});
        break;
      }
      if (treatment.kind == "weight")
        readWeight(*treatment.value, scope, *choice);
      if (treatment.kind == "policy") {
        elaboratePolicy(treatment, scope, *choice);
        break;
      }
      if (treatment.kind == "margin" || treatment.kind == "sampled") {
        if (choice->parameters.empty() ||
            choice->parameters.front().first != "logits") {
          error(Code::treatmentMisfit, treatment.loc,
                "'" + treatment.kind.str() + "' compares logits, but '" + name +
                    "' has none",
                {{choice->loc, "it is drawn here"}});
          break;
        }
        if (!std::exchange(isRead, true))
          readArguments(treatment, scope, result);
        bool isSaid = treatment.value->kind == ExprKind::Call &&
                      llvm::any_of(treatment.value->items, [](auto &item) {
                        return item.name != "proposal";
                      });
        if (treatment.kind == "sampled" && !isSaid) {
          error(Code::treatmentArgument, treatment.loc,
                "'sampled' needs the number of candidates, for "
                "example " +
                    name + " ~ sampled(2000)");
          break;
        }
        choice->treatment = result;
      }
      if (!choice->latent)
        continue;
      if (std::string text =
              mismatch(name, treatment.kind, choice->distribution);
          !text.empty()) {
        error(Code::treatmentMisfit, treatment.loc, text,
              {{choice->loc, "it is drawn here"}});
        break;
      }
      if (!std::exchange(isRead, true))
        readArguments(treatment, scope, result);
      if (choice->distribution == "mixture" &&
          (result.numbers.count("entropy") ||
           result.schedules.count("entropy"))) {
        error(Code::treatmentMisfit, treatment.loc,
              "the entropy of a mixture has no formula; help: leave out "
              "'entropy'",
              {{choice->loc, "it is drawn here"}});
        break;
      }
      choice->treatment = result;
    }
  }
}

void Elaborator::refuse(const std::string &refusal) {
  if (!llvm::is_contained(model->refusals, refusal))
    model->refusals.push_back(refusal);
  model->isLowered = false;
}

/// Returns whether training can express what a guide knows beyond the choice.
void Elaborator::checkGuide(const Choice &choice, const Choice &guide) {
  std::string name = "'" + choice.target->name + "'";
  StringRef kind = choice.treatment->kind, drawn = choice.distribution,
            guided = guide.distribution;
  auto isNumber = [](StringRef distribution) {
    return distribution == "normal" || distribution == "uniform";
  };
  std::vector<Diagnostics::Note> here = {{guide.loc, "the guide is here"}};
  if (kind == "enumerate")
    error(Code::guide, choice.loc,
          name + " has a guide, but 'enumerate' is the exact sum, which needs "
                 "none; help: leave one of them out",
          here);
  else if (drawn == "mixture" || guided == "mixture")
    error(Code::guide, choice.loc,
          name + " has a guide, and what that knows more has no formula for a "
                 "mixture; help: draw the component by a choice of its own",
          here);
  else if (drawn != guided && (!isNumber(drawn) || !isNumber(guided)))
    error(Code::guide, choice.loc,
          name + " is drawn from a " + drawn.str() +
              " distribution, but its guide from a " + guided.str() + " one",
          here);
  else if (kind == "expected" && isNumber(drawn) &&
           (drawn != "normal" || guided != "normal"))
    error(Code::guide, choice.loc,
          "'expected' of " + name +
              " draws nothing, and what a guide knows more is a formula of two "
              "normals alone; 'reparameterised' draws",
          here);
}

/// The parameter of a latent that is `wanted` as an array: given by `of` for
/// every place, and by others at theirs.
Term *Elaborator::parameterByPlace(const Choice &of, ArrayRef<Choice> others,
                                   StringRef wanted,
                                   ArrayRef<IndexVar *> vars) {
  Array *array = &model->storage.emplace_back();
  array->source = Array::Equation;
  array->text = of.target->text;
  array->loc = of.loc;
  array->context = of.target->context;
  array->numPlaces = of.places.size();
  auto add = [&](const Choice &choice) {
    for (auto &[name, term] : choice.parameters)
      if (name == wanted)
        array->pieces.push_back({choice.places, term, choice.loc});
  };
  for (const Choice &other : others)
    add(other);
  add(of);
  model->arrays.push_back(array);
  Term *whole = make(TermKind::Read, of.loc);
  whole->array = array;
  Terms indices;
  for (IndexVar *var : vars)
    indices.push_back(boundIndex(var, of.loc));
  return index(whole, indices, of.loc);
}

/// A latent may be drawn in its own way at some places inside of its range,
/// `z[0] ~ ..` beside `z[i] ~ ..`. It is then drawn in one way everywhere, with
/// parameters that are given by place.
void Elaborator::joinPlaces() {
  auto isEverywhere = [](const Choice &choice) {
    return llvm::all_of(choice.places,
                        [](const PiecePlace &place) { return place.var; });
  };
  auto isInside = [](const Choice &choice) {
    return llvm::all_of(choice.places, [](const PiecePlace &place) {
      return place.var || place.constant.value().value_or(-1) >= 0;
    });
  };
  for (size_t number = 0; number < model->choices.size(); ++number) {
    Choice of = model->choices[number];
    if (!of.latent || !isEverywhere(of))
      continue;
    auto isOther = [&](const Choice &other) {
      return other.target == of.target && other.guide == of.guide &&
             !isEverywhere(other) && isInside(other);
    };
    std::vector<Choice> others;
    llvm::copy_if(model->choices, std::back_inserter(others), isOther);
    if (others.empty())
      continue;
    auto namesOf = [](const Choice &choice) {
      std::string names;
      for (auto &[name, term] : choice.parameters)
        names += (names.empty() ? "" : ", ") + name;
      return names;
    };
    const auto *differs = llvm::find_if(ArrayRef(others), [&](auto &other) {
      return other.distribution != of.distribution ||
             namesOf(other) != namesOf(of);
    });
    if (differs != ArrayRef(others).end()) {
      bool isSame = differs->distribution == of.distribution;
      auto said = [&](const Choice &choice) {
        return isSame ? choice.distribution + " by " + namesOf(choice)
                      : choice.distribution;
      };
      error(Code::twoDistributions, differs->loc,
            "'" + of.target->name + "' is drawn from " + said(*differs) +
                " here, but from " + said(of) +
                " elsewhere; help: draw it from one distribution everywhere",
            {{of.loc, "it is drawn here elsewhere"}});
      continue;
    }
    SmallVector<IndexVar *, 2> vars;
    SmallVector<PiecePlace, 2> places;
    for (const PiecePlace &place : of.places) {
      vars.push_back(newIndex(place.var->name, place.loc));
      places.push_back({vars.back(), 0, Extent(), place.loc});
    }
    Choice joined = of;
    joined.places = places;
    for (auto &[name, term] : joined.parameters)
      if (name != "size")
        term = parameterByPlace(of, others, name, vars);
    model->choices[number] = joined;
    llvm::erase_if(model->choices, isOther);
    number = llvm::find_if(model->choices,
                           [&](const Choice &c) { return c.loc == of.loc; }) -
             model->choices.begin();
    if (of.guide)
      continue;
    llvm::erase_if(of.target->pieces, [&](const Piece &piece) {
      return !piece.value && llvm::any_of(others, [&](const Choice &other) {
        return other.loc == piece.loc;
      });
    });
    for (Piece &piece : of.target->pieces)
      if (!piece.value && piece.loc == of.loc)
        piece.places = places;
  }
}

static bool isReal(const Choice &choice) {
  return choice.distribution == "normal" || choice.distribution == "uniform";
}

/// Returns whether there is nothing about a number to learn: its parameters are
/// constants, and no guide proposes it.
bool Elaborator::isNoise(const Choice &choice) const {
  if (!isReal(choice))
    return false;
  bool isGuided = llvm::any_of(model->choices, [&](const Choice &other) {
    return other.guide && other.target == choice.target;
  });
  return !isGuided && llvm::all_of(choice.parameters, [](auto &parameter) {
    return parameter.second->kind == TermKind::Fill ||
           isConstant(*parameter.second);
  });
}

void Elaborator::checkLatents() {
  joinPlaces();
  for (const Treatment &treatment : treatments) {
    // In decoding, `set` may have replaced the choice.
    if (model->decoding)
      break;
    if (choicesOf(*treatment.symbol).empty() && treatment.kind == "policy")
      error(Code::treatmentMisfit, treatment.loc,
            "'" + treatment.name.str() +
                "' is given, so no policy generates it; help: name data that "
                "are drawn by '~'",
            {{treatment.symbol->loc, "it is declared here"}});
    else if (choicesOf(*treatment.symbol).empty())
      error(Code::treatmentMisfit, treatment.loc,
            "'" + treatment.name.str() +
                "' is not drawn by '~', so it has no treatment",
            {{treatment.symbol->loc, "it is declared here"}});
  }
  for (Choice &choice : model->choices) {
    if (!choice.latent)
      continue;
    const std::string &name = choice.target->name;
    unsigned numDrawn =
        llvm::count_if(model->choices, [&](const Choice &other) {
          return !other.guide && other.target == choice.target;
        });
    if (numDrawn == 0 && !model->decoding) {
      error(Code::guide, choice.loc,
            "the guide of '" + name +
                "' guides nothing: no '~' without 'guide' draws "
                "it");
      continue;
    }
    if (choice.guide)
      continue;
    bool isUntreated = !treated.count(name) && !choice.treatment;
    if (isUntreated && !model->decoding && isNoise(choice)) {
      choice.treatment.emplace().kind = "reparameterised";
    } else if (isUntreated && !model->decoding) {
      // `trg[t] ~ ..` beside the data `tgt`.
      std::vector<StringRef> data;
      for (const Array *array : model->data)
        data.push_back(array->name);
      if (std::string meant = suggestion(name, data); !meant.empty()) {
        error(Code::missingEstimator, choice.loc,
              "'" + name +
                  "' is not data, and has no estimator in train { "
                  "}" +
                  meant);
        continue;
      }
      std::string fitting;
      for (StringRef estimator :
           {"enumerate", "straight_through", "gumbel", "expected",
            "reparameterised", "reinforce", "no_gradient"})
        if (mismatch(name, estimator, choice.distribution).empty())
          fitting += (fitting.empty() ? "" : ", ") + estimator.str();
      error(Code::missingEstimator, choice.loc,
            "latent '" + name + "' needs an estimator: " + fitting +
                "; help: train { " + name +
                (isReal(choice)
                     ? " ~ reparameterised }"
                     : " ~ reinforce(baseline = moving_average(0.9)) }"));
    }
    if (!choice.treatment)
      choice.treatment.emplace().kind = "mode";
    for (const Choice &other : model->choices)
      if (other.guide && other.target == choice.target && !model->decoding)
        checkGuide(choice, other);
    auto isAnywhere = [](const Choice &other) {
      return llvm::all_of(other.places, [](const PiecePlace &p) {
        return p.var && p.shift == 0;
      });
    };
    auto isAny = [&](auto holds) {
      return llvm::any_of(model->choices, [&](const Choice &other) {
        return other.target == choice.target && holds(other);
      });
    };
    bool hasGeneral = isAny(
        [&](const Choice &other) { return !other.guide && isAnywhere(other); });
    bool isShifted = llvm::any_of(
        choice.places, [](const PiecePlace &p) { return p.shift != 0; });
    bool isGiven = llvm::any_of(choice.target->pieces, [](const Piece &piece) {
      return piece.value != nullptr;
    });
    std::string at = name + placesText(choice.places, true);
    if (!hasGeneral && !isShifted && !isGiven) {
      error(Code::choicePlace, choice.loc,
            "'" + name + "' is drawn at " + at +
                " alone, so that nothing says how many places it "
                "has; help: leave the index out");
    } else if (isShifted) {
      refuse(
          "'" + name + "' is drawn at " + at +
          ", and an equation gives it before, which cannot be executed "
          "yet; help: draw it from its place 0 on, and give what comes before "
          "as a boundary, " +
          name + "[-1]");
    } else if (!hasGeneral) {
      refuse("'" + name + "' is drawn at " + at +
             ", and equations give it elsewhere, which cannot be executed "
             "yet; help: draw another name, and give " +
             at + " by an equation that reads it");
    } else if (!isExecuted(choice.treatment->kind)) {
      refuse("'" + name + " ~ " + choice.treatment->kind + "' in " +
             (model->decoding ? "decode" : "train") +
             " { } cannot be executed yet");
    }
  }
}

//===- ElaborateChoices.cpp - name[..] ~ distribution(..) -----------------===//
//
// Data with a distribution is observed in training and generated in decoding;
// any other name is a latent choice.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/Options.h"
#include "frontends/fov/elaborate/Elaborate.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace fovea;
using namespace fovea::fov;
using ast::Expr;
using ast::ExprKind;
using ast::Statement;

namespace {

struct Distribution {
  StringRef name;
  /// In positional order.
  std::vector<StringRef> parameters;
  /// One of each group is required.
  std::vector<std::vector<StringRef>> wanted;
};

} // namespace

/// Returns the distribution of this name, or null; `names` gets the known
/// names.
static const Distribution *findDistribution(StringRef name,
                                            std::vector<StringRef> &names) {
  static const std::vector<Distribution> all = {
      {"categorical", {"logits", "probs"}, {{"logits", "probs"}}},
      {"bernoulli", {"prob", "logit"}, {{"prob", "logit"}}},
      {"normal", {"mean", "sd"}, {{"mean"}, {"sd"}}},
      {"uniform", {"low", "high", "size"}, {{"low"}, {"high"}}},
      {"mixture", {"logit"}, {{"logit"}}}};
  for (const Distribution &each : all) {
    if (each.name == name)
      return &each;
    names.push_back(each.name);
  }
  return nullptr;
}

namespace {

/// The component distribution of a mixture.
struct Component {
  StringRef name, wants;
  std::vector<StringRef> parameters;
};

} // namespace

static const Component *findComponent(StringRef name) {
  static const std::vector<Component> all = {
      {"normal", "a mean and a deviation", {"mean", "sd"}},
      {"bivariate",
       "a mean, a deviation and a correlation",
       {"mean", "sd", "correlation"}}};
  const auto *it = llvm::find_if(
      ArrayRef(all), [&](const Component &each) { return each.name == name; });
  return it == all.data() + all.size() ? nullptr : it;
}

/// The order of the parameters of an attn.choice.
static void putInOrder(Choice &choice) {
  static constexpr StringRef order[] = {
      "logit", "logits",      "prob", "probs", "mean",
      "sd",    "correlation", "low",  "high",  "size"};
  llvm::sort(choice.parameters, [](const auto &a, const auto &b) {
    return llvm::find(order, a.first) < llvm::find(order, b.first);
  });
}

/// The indices that a distribution binds: its support. Returns false after an
/// error.
bool Elaborator::bindSupport(const Expr &right, Scope &scope,
                             const Bindings *&bindings,
                             SmallVector<IndexVar *, 1> &vars) {
  const Bindings *outer = bindings;
  for (const ast::Binder &binder : right.binders) {
    for (const Bindings *b = outer; b; b = b->outer)
      if (b->name == binder.name) {
        error(Code::boundTwice, binder.loc,
              "index '" + binder.name.str() +
                  "' is already bound on the left; the support "
                  "needs a new name: " +
                  right.name.str() + "[" + freeLetter(scope, bindings).str() +
                  "](...)");
        return false;
      }
    IndexVar *var = newIndex(binder.name, binder.loc);
    if (!stateExtent(var, binder, scope, outer))
      return false;
    bindingStorage.push_back({bindings, binder.name, var, std::nullopt, false});
    bindings = &bindingStorage.back();
    vars.push_back(var);
  }
  if (right.condition) {
    error(
        Code::misplacedCondition, right.condition->loc,
        "a distribution takes no condition; help: exclude places by logits of "
        "-inf");
    return false;
  }
  return true;
}

/// Suggests a parameter for an unknown one.
static std::string parameterHelp(StringRef name, ArrayRef<StringRef> known) {
  std::string foreign = ourParameter(name, known);
  return foreign.empty() ? suggestion(name, known) : foreign;
}

/// The parameters of a distribution, by name. Returns false after an error.
bool Elaborator::readParameters(const Expr &right, StringRef distribution,
                                ArrayRef<StringRef> names,
                                SmallVector<IndexVar *, 1> vars, Scope &scope,
                                const Bindings *bindings, Choice &choice) {
  bool isFine = true;
  auto add = [&](StringRef name, const Expr &value, SMLoc loc) {
    Term *term = expression(value, scope, bindings);
    isFine &= term != nullptr;
    if (term && !vars.empty()) {
      Term *stack = make(TermKind::Stack, term->loc, {term});
      stack->range = term->range;
      stack->vars = vars;
      findFree(*stack);
      term = stack;
    }
    bool isGiven = llvm::any_of(choice.parameters, [&](auto &parameter) {
      return parameter.first == name;
    });
    if (isGiven)
      error(Code::distributionParameter, loc,
            "'" + name.str() + "' of '" + distribution.str() +
                "' is given twice");
    isFine &= !isGiven;
    if (isFine)
      choice.parameters.push_back({name.str(), term});
  };
  // normal(mean, deviation) of a mixture. Returns false after an error.
  auto addComponent = [&](const Component &component, const Expr &call) {
    if (call.items.size() != component.parameters.size()) {
      error(Code::distributionParameter, call.loc,
            "'" + component.name.str() + "' takes " + component.wants.str() +
                " but gets " + counted(call.items.size(), "value"));
      return false;
    }
    for (auto [k, item] : llvm::enumerate(call.items)) {
      StringRef name = item.name.empty() ? component.parameters[k] : item.name;
      if (llvm::is_contained(component.parameters, name)) {
        add(name, *item.value, call.loc);
        continue;
      }
      error(Code::distributionParameter, item.loc,
            "'" + component.name.str() + "' has no parameter '" + name.str() +
                "'" + parameterHelp(name, component.parameters));
      isFine = false;
    }
    return true;
  };
  unsigned position = 0;
  for (const ast::Item &item : right.items) {
    const Expr &value = *item.value;
    bool isCall =
        value.kind == ExprKind::Call && value.args[0]->kind == ExprKind::Name;
    StringRef callee = isCall                           ? value.args[0]->name
                       : value.kind == ExprKind::Reduce ? value.name
                                                        : StringRef();
    std::vector<StringRef> known;
    bool isMixture = item.name.empty() && distribution == "mixture";
    if (const Component *component =
            isMixture && isCall ? findComponent(callee) : nullptr) {
      if (!addComponent(*component, value))
        return false;
      continue;
    }
    bool isUnknown = isCall && !lookup(scope, callee) &&
                     !llvm::is_contained(builtinNames(), callee);
    if (isMixture && !callee.empty() &&
        (isUnknown || findDistribution(callee, known))) {
      error(Code::distributionParameter, value.loc,
            "a mixture is of 'normal' or 'bivariate' components, "
            "not of '" +
                callee.str() +
                "'; of others choose the component by a choice of "
                "its own, with 'enumerate'");
      return false;
    }
    if (item.name.empty() && position >= names.size()) {
      error(Code::distributionParameter, item.loc,
            "'" + distribution.str() + "' takes " +
                counted(names.size(), "parameter") + " but gets more");
      return false;
    }
    StringRef name = item.name.empty() ? names[position++] : item.name;
    if (!llvm::is_contained(names, name)) {
      error(Code::distributionParameter, item.loc,
            "'" + distribution.str() + "' has no parameter '" + name.str() +
                "'" + parameterHelp(name, names));
      isFine = false;
      continue;
    }
    add(name, value, item.loc);
  }
  return isFine;
}

/// The distribution of `target`, with its spelling in the
/// spec.
static std::string distributionFor(const Array &target,
                                   const std::string &value) {
  if (target.source != Array::Data || !target.kind)
    return "normal(mean, deviation), categorical(logits) or another one";
  switch (*target.kind) {
  case Kind::Real:
    return "normal(" + value + ", 1)";
  case Kind::Bit:
    return "bernoulli(logit = " + value + ")";
  default:
    return "categorical(" + value + "), whose argument is logits";
  }
}

/// word[t+k] ~ ..: what is observed at each t, and whether it is there.
void Elaborator::lookAhead(Choice &choice) {
  const Array &data = *choice.target;
  if (llvm::all_of(choice.places,
                   [](const PiecePlace &place) { return place.shift == 0; }))
    return;
  Term *read = make(TermKind::Read, choice.loc), *isThere = nullptr;
  for (auto [k, place] : llvm::enumerate(choice.places)) {
    Term *at = boundIndex(place.var, place.loc);
    if (place.shift != 0) {
      at = map(Fn::Add, {at, number(double(place.shift), place.loc, true)},
               place.loc);
      Term *size = sizeTerm(data.extents[k], place.loc);
      if (place.var->parentIndex)
        size->args.push_back(place.var->parentIndex);
      findFree(*size);
      Term *inside = map(Fn::Less, {at, size}, place.loc);
      isThere = isThere ? map(Fn::And, {isThere, inside}, place.loc) : inside;
    }
    read->args.push_back(at);
  }
  read->array = choice.target;
  read->fallback = number(0, choice.loc, true);
  read->fallback->isSymbol = data.kind == Kind::Token;
  findFree(*read);
  choice.ahead = read;
  choice.isThere = make(
      TermKind::If, choice.loc,
      {isThere, number(1, choice.loc, false), number(0, choice.loc, false)});
}

/// `generate x[t] = e` of decode { }: a choice with one certain value.
void Elaborator::elaborateGenerated(const Statement &s, Choice choice,
                                    Scope &scope, const Bindings *bindings) {
  const Array &data = *choice.target;
  std::vector<Diagnostics::Note> note{{data.loc, "it is declared here"}};
  if (choice.latent)
    return error(Code::decodeSet, choice.loc,
                 "'" + data.text +
                     "' is not data; help: 'generate' gives data that have no "
                     "distribution, and 'set' replaces an equation");
  if (data.ends)
    return error(Code::decodeSet, choice.loc,
                 "'" + data.text +
                     "' ends with a symbol that is not a place; help: declare "
                     "it without 'ends', or write " +
                     data.text + "[..] ~ ...",
                 note);
  if (data.kind != Kind::Real && data.kind != Kind::Bit && !data.vocabulary)
    return error(
        Code::decodeSet, choice.loc,
        "'" + data.text + "' is " + typeName(data).str() +
            ", but 'generate' gives 'real', 'bit', 'class', 'token' or "
            "'sentence'",
        note);
  for (const PiecePlace &place : choice.places)
    if (!place.var || place.shift != 0)
      return error(Code::choicePlace, place.loc,
                   "'" + data.text +
                       "' is generated at every place: write an index here");
  Term *value = expression(*s.value, scope, bindings);
  if (!value || !isNew(choice.target, choice.places, choice.loc, false))
    return;
  SMLoc loc = value->loc;
  choice.isCertain = true;
  if (data.kind == Kind::Real) {
    choice.distribution = "uniform";
    choice.parameters = {{"low", value}, {"high", value}};
  } else if (data.kind == Kind::Bit) {
    Term *one = number(1, loc, false), *zero = number(0, loc, false);
    choice.distribution = "bernoulli";
    choice.parameters = {{"prob", make(TermKind::If, loc, {value, one, zero})}};
  } else {
    IndexVar *symbol = newIndex("symbol", loc);
    symbol->extent = data.vocabulary->size;
    symbol->strength = 1;
    Term *isIt = map(Fn::Equal, {boundIndex(symbol, loc), value}, loc);
    Term *never = number(-std::numeric_limits<double>::infinity(), loc, false);
    Term *scores =
        make(TermKind::Stack, loc,
             {make(TermKind::If, loc, {isIt, number(0, loc, false), never})});
    scores->vars = {symbol};
    findFree(*scores);
    choice.distribution = "categorical";
    choice.parameters = {{"logits", scores}};
  }
  model->choices.push_back(std::move(choice));
}

void Elaborator::elaborateChoice(const Statement &s, Array *target,
                                 SmallVector<PiecePlace, 2> places,
                                 Scope &scope, const Bindings *bindings) {
  const Expr &right = *s.value;
  Choice choice;
  choice.target = target;
  choice.places = places;
  choice.loc = s.lefts[0].loc;
  choice.guide = s.guide;
  choice.latent = target->source == Array::Equation;
  if (s.isGenerated)
    return elaborateGenerated(s, std::move(choice), scope, bindings);
  StringRef name =
      right.kind == ExprKind::Reduce ? right.name
      : right.kind == ExprKind::Call && right.args[0]->kind == ExprKind::Name
          ? right.args[0]->name
      : right.kind == ExprKind::Call && right.args[0]->kind == ExprKind::Member
          ? right.args[0]->name
          : StringRef();
  std::vector<StringRef> known;
  const Distribution *distribution = findDistribution(name, known);
  if (!distribution && (name.empty() || lookup(scope, name))) {
    std::string shown(right.range.Start.getPointer(),
                      right.range.End.getPointer());
    return error(Code::distributionExpected, right.loc,
                 "expected a distribution, found a value; help: "
                 "write " +
                     distributionFor(*target, shown));
  }
  if (!distribution) {
    std::string ours = ourWord(name, WordPlace::Distribution);
    if (ours.empty())
      ours = suggestion(name, known);
    if (ours.empty())
      ours = "; there are " + llvm::join(known, ", ") +
             ", and minus the log of any other density is a penalty";
    return error(Code::distributionExpected, right.loc,
                 "'" + name.str() + "' is not a distribution" + ours);
  }
  choice.distribution = name.str();
  if (!choice.latent)
    for (const PiecePlace &place : places)
      if (!place.var)
        return error(Code::choicePlace, place.loc,
                     "'" + target->text +
                         "' is data, so its distribution is for "
                         "every place: write an index here");
  SmallVector<IndexVar *, 1> vars;
  if (!bindSupport(right, scope, bindings, vars) ||
      !readParameters(right, name, distribution->parameters, vars, scope,
                      bindings, choice))
    return;
  for (ArrayRef<StringRef> group : distribution->wanted) {
    unsigned given = llvm::count_if(choice.parameters, [&](auto &parameter) {
      return llvm::is_contained(group, parameter.first);
    });
    if (given == 1)
      continue;
    std::string shown;
    for (StringRef each : group)
      shown += (shown.empty() ? "'" : " or '") + each.str() + "'";
    return error(Code::distributionParameter, right.loc,
                 "'" + name.str() + "' wants " + shown +
                     (given == 0 ? " but does not get it" : " but gets both"));
  }
  bool hasComponents = llvm::any_of(choice.parameters, [](auto &parameter) {
    return parameter.first == "mean";
  });
  if (name == "mixture" && !hasComponents)
    return error(Code::distributionParameter, right.loc,
                 "'mixture' has no components; help: write mixture[k]("
                 "logit = ..., normal(mean, deviation))");
  putInOrder(choice);
  if (s.guide && !choice.latent)
    return error(Code::guide, choice.loc,
                 "'" + target->text +
                     "' is data, which is observed; a guide is for a latent",
                 {{target->loc, "it is declared here"}});
  if (!isNew(target, places, choice.loc, s.guide))
    return;
  if (!choice.latent)
    lookAhead(choice);
  // Decoding generates a place once, from the choice at the place itself.
  if (choice.ahead && model->decoding)
    return;
  if (choice.latent && s.guide) {
    target->latent = true;
  } else if (choice.latent) {
    target->latent = true;
    target->loc = choice.loc;
    target->kind = name == "categorical" ? Kind::Int
                   : name == "bernoulli" ? Kind::Bit
                                         : Kind::Real;
    target->pieces.push_back({places, nullptr, choice.loc});
  }
  model->choices.push_back(std::move(choice));
}

//===- Terms.cpp - the words of terms, arrays, vocabularies ---------------===//
//
// The spelling of functions and reductions in a file, the axes of an array, and
// the differences of two vocabularies.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/elaborate/Terms.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"

using namespace fovea;
using namespace fovea::fov;

std::optional<Fn> fovea::fov::unaryFunction(StringRef name) {
  return llvm::StringSwitch<std::optional<Fn>>(name)
      .Case("tanh", Fn::Tanh)
      .Case("sigmoid", Fn::Sigmoid)
      .Case("exp", Fn::Exp)
      .Case("log", Fn::Log)
      .Case("sqrt", Fn::Sqrt)
      .Case("abs", Fn::Abs)
      .Case("sin", Fn::Sin)
      .Case("cos", Fn::Cos)
      .Case("relu", Fn::Relu)
      .Case("softplus", Fn::Softplus)
      .Case("erf", Fn::Erf)
      .Case("round", Fn::Round)
      .Case("floor", Fn::Floor)
      .Case("int", Fn::ToInt)
      .Case("stop", Fn::Stop)
      .Default(std::nullopt);
}

StringRef fovea::fov::fnName(Fn fn) {
  static constexpr StringRef names[] = {
      "+",        "-",   "*",     "/",     "//",  "mod",  "^",
      "-",        "and", "or",    "not",   "<",   "<=",   ">",
      ">=",       "==",  "!=",    "min",   "max", "tanh", "sigmoid",
      "exp",      "log", "sqrt",  "abs",   "sin", "cos",  "relu",
      "softplus", "erf", "round", "floor", "int", "stop"};
  return names[unsigned(fn)];
}

static constexpr StringRef reductions[] = {
    "sum", "prod", "mean",      "max",     "min",         "argmax", "argmin",
    "any", "all",  "logsumexp", "softmax", "log_softmax", "cumsum"};

std::optional<Reduction> fovea::fov::reductionNamed(StringRef name) {
  const auto *it = llvm::find(reductions, name);
  if (it == std::end(reductions))
    return std::nullopt;
  return Reduction(it - reductions);
}

StringRef fovea::fov::reductionName(Reduction reduction) {
  return reductions[unsigned(reduction)];
}

std::optional<Extent> Array::axis(unsigned k) const {
  if (k >= numPlaces) {
    if (!valueShape || k - numPlaces >= valueShape->size())
      return std::nullopt;
    return (*valueShape)[k - numPlaces];
  }
  if (source == Data)
    return extents[k];
  for (const Piece &piece : pieces) {
    if (!piece.isGeneral() || !piece.places[k].var->extent)
      continue;
    return *piece.places[k].var->extent + Extent(piece.places[k].shift);
  }
  return std::nullopt;
}

std::optional<Shape> Array::shape() const {
  if (!valueShape)
    return std::nullopt;
  Shape result;
  for (unsigned k = 0; k < numPlaces; ++k) {
    std::optional<Extent> extent = axis(k);
    if (!extent)
      return std::nullopt;
    result.push_back(*extent);
  }
  result.append(valueShape->begin(), valueShape->end());
  return result;
}

StringRef fovea::fov::kindName(Kind kind) {
  static constexpr StringRef names[] = {"bit", "int", "real", "token"};
  return names[unsigned(kind)];
}

StringRef fovea::fov::typeName(const Array &data) {
  if (data.vocabulary && data.vocabulary->isClass)
    return "class";
  if (data.isSentence)
    return "sentence";
  return data.positionOf ? "position"
                         : kindName(data.kind.value_or(Kind::Real));
}

bool Vocabulary::hasSame(const Vocabulary &other) const {
  // Classes have no name that two declarations could share.
  bool areClasses = isClass && other.isClass;
  return this == &other ||
         (areClasses && size == other.size && labels == other.labels);
}

std::string fovea::fov::differenceOf(const Vocabulary &a, StringRef aName,
                                     const Vocabulary &b, StringRef bName) {
  std::string text = "'" + aName.str() + "' and '" + bName.str() +
                     "' have different vocabularies";
  auto [x, y] = std::mismatch(a.labels.begin(), a.labels.end(),
                              b.labels.begin(), b.labels.end());
  bool haveLabels = x != a.labels.end() && y != b.labels.end();
  bool isCounted = !a.isAssumed && !b.isAssumed && !(a.size == b.size);
  if (!haveLabels && !isCounted)
    return text + "; help: declare one, 'vocab v', and write 'of v' for both";
  text += " (" + std::to_string(a.size.value().value_or(0)) + " and " +
          std::to_string(b.size.value().value_or(0)) + " symbols";
  if (haveLabels)
    text += "; first difference: \"" + *x + "\" and \"" + *y + "\" at " +
            std::to_string(x - a.labels.begin());
  return text + ")";
}

void fovea::fov::findFree(Term &term) {
  term.free.clear();
  term.height = term.weight = 1;
  auto add = [&](IndexVar *var) {
    if (!llvm::is_contained(term.vars, var) &&
        !llvm::is_contained(term.free, var))
      term.free.push_back(var);
  };
  if (term.kind == TermKind::Index && term.index)
    add(term.index);
  if (term.kind == TermKind::Read && term.array)
    for (IndexVar *var : term.array->context)
      add(var);
  auto addPart = [&](const Term *part) {
    if (!part)
      return;
    for (IndexVar *var : part->free)
      add(var);
    term.height = std::max(term.height, part->height + 1);
    term.weight = std::min(term.weight + part->weight, 1u << 20);
  };
  for (const Term *arg : term.args)
    addPart(arg);
  addPart(term.condition);
  addPart(term.fallback);
}

Term *fovea::fov::indexTerm(Elaborated &model, IndexVar *var, SMLoc loc) {
  Term *term = &model.terms.emplace_back();
  term->kind = TermKind::Index;
  term->loc = loc;
  term->index = var;
  term->free = {var};
  term->shape = Shape();
  term->kindOf = Kind::Int;
  return term;
}

void fovea::fov::forEachPart(const Term *root,
                             llvm::function_ref<void(const Term *)> visit,
                             bool throughStops) {
  llvm::SetVector<const Term *> parts;
  auto add = [&](const Term *part) {
    if (part)
      parts.insert(part);
  };
  add(root);
  for (size_t i = 0; i < parts.size(); ++i) {
    const Term *part = parts[i];
    visit(part);
    if (!throughStops && part->kind == TermKind::Map && part->fn == Fn::Stop)
      continue;
    llvm::for_each(part->args, add);
    add(part->condition);
    add(part->fallback);
  }
}

std::string fovea::fov::termText(const Term &term) {
  if (term.range.isValid())
    return std::string(term.range.Start.getPointer(),
                       term.range.End.getPointer());
  if (term.kind == TermKind::Read)
    return term.array->text;
  return "this value";
}

std::optional<Extent> fovea::fov::extentOf(const IndexUse &use) {
  const Term &read = *use.read;
  if (read.kind == TermKind::Read)
    return read.array->axis(use.axis);
  const std::optional<Shape> &shape = read.args[0]->shape;
  if (!shape || use.axis >= shape->size())
    return std::nullopt;
  return (*shape)[use.axis];
}

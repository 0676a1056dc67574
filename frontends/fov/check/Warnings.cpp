//===- Warnings.cpp - likely mistakes of a right model --------------------===//
//
// Warns about valid models that are probably mistakes. Probabilities are used
// as logits, or weights are normalised over one index and summed over another.
// No loss trains a parameter, or a product stays zero. The state and the input
// of a cell are exchanged. Each text has a fix, and a line that ends with `# as
// meant` gets no warning.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/check/Warnings.h"
#include "frontends/fov/check/Infer.h"
#include "frontends/fov/elaborate/Elaborate.h"
#include "frontends/fov/syntax/Lexer.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <map>

using namespace fovea;
using namespace fovea::fov;

//===----------------------------------------------------------------------===//
// Parameters of distributions
//===----------------------------------------------------------------------===//

/// The sources of a term's numbers: through names of equations, components and
/// stacks.
static const Term &sourceOf(const Term &term) {
  const Term *at = &term;
  for (unsigned steps = 0; steps < 64; ++steps) {
    const Piece *piece = nullptr;
    switch (at->kind) {
    case TermKind::Select:
    case TermKind::Stack:
    case TermKind::Vector:
      at = at->args[0];
      continue;
    case TermKind::Read:
      if (at->array->source == Array::Equation)
        piece = at->array->general();
      if (!piece || !piece->value)
        return *at;
      at = piece->value;
      continue;
    default:
      return *at;
    }
  }
  return *at;
}

static bool isReduction(const Term &term, Reduction reduction) {
  return (term.kind == TermKind::Reduce || term.kind == TermKind::OverAxis) &&
         term.reduction == reduction;
}

/// The result of a linear module: a product plus a bias.
static bool isLinear(const Term &term) {
  const Term *at = &sourceOf(term);
  for (unsigned steps = 0; steps < 64; ++steps) {
    if (at->kind == TermKind::Contract)
      return true;
    if (at->kind == TermKind::Fold || at->kind == TermKind::Slice)
      at = &sourceOf(*at->args[0]);
    else if (at->kind == TermKind::Map && at->fn == Fn::Add)
      at = &sourceOf(at->args[0]->kind == TermKind::Contract ||
                             at->args[0]->kind == TermKind::Map
                         ? *at->args[0]
                         : *at->args[1]);
    else
      return false;
  }
  return false;
}

static void checkParameter(const Choice &choice, StringRef name,
                           const Term &term, Diagnostics &diagnostics) {
  const Term &source = sourceOf(term);
  std::string text = termText(term), of = choice.distribution;
  std::string takes = "'" + of + "' takes ", wrong;
  bool isScore = name == "logits" || name == "logit";
  if (isScore && of == "bernoulli") {
    if (source.kind == TermKind::Map && source.fn == Fn::Sigmoid)
      wrong = takes + "a logit, but " + text +
              " is a probability; help: write bernoulli(" + text + ")";
  } else if (isScore && isReduction(source, Reduction::Softmax)) {
    wrong =
        takes + "logits, but " + text +
        " is probabilities, so that a softmax is taken twice; help: write " +
        (of == "categorical" ? "categorical(probs = " + text + ")"
                             : "its logits");
    if (of == "categorical" && &source == &term &&
        !source.args[0]->range.Start.getPointer())
      wrong += ", or leave the softmax out";
    else if (of == "categorical" && &source == &term)
      wrong += ", or categorical(" + termText(*source.args[0]) + ")";
  } else if (name == "prob" && isLinear(term)) {
    wrong = takes + "a probability, but " + text +
            " is any number; help: write bernoulli(logit = " + text + ")";
  } else if (name == "probs" && isReduction(source, Reduction::LogSoftmax)) {
    wrong = takes + "probabilities, but " + text +
            " is their logs; help: write categorical(" + text + ")";
  } else if (name == "probs" && isLinear(term)) {
    wrong = takes + "probabilities, but " + text +
            " is any numbers; help: write categorical(" + text + ")";
  } else if (name == "sd" && of == "normal" && isLinear(term)) {
    wrong = takes + "a deviation that is positive, but " + text +
            " is any number; help: write exp(" + text + ") or softplus(" +
            text + ")";
  }
  if (wrong.empty())
    return;
  std::vector<Diagnostics::Note> notes;
  llvm::SourceMgr &sources = diagnostics.sources();
  bool isHere = sources.FindBufferContainingLoc(source.loc) ==
                    sources.FindBufferContainingLoc(term.loc) &&
                diagnostics.lineOf(source.loc) == diagnostics.lineOf(term.loc);
  if (source.loc != term.loc && !isHere)
    notes.push_back({source.loc, "it is computed here"});
  diagnostics.warning(Code::distributionInput, term.loc, wrong,
                      std::move(notes));
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// The softmax that produces a factor, and the factor's index along each
/// normalised axis.
static const Term *softmaxOf(const Term &factor,
                             llvm::SmallVectorImpl<const IndexVar *> &along) {
  // `softmax[i](..)` has the axes of its indices first; the indices that an
  // equation binds as well are selected at once.
  auto addAxes = [&](const Term &value, ArrayRef<const Term *> indices) {
    bool isFound = isReduction(value, Reduction::Softmax) &&
                   value.kind == TermKind::Reduce;
    for (size_t k = 0; isFound && k < value.vars.size(); ++k)
      along.push_back(k < indices.size() && affineIndex(*indices[k])
                          ? affineIndex(*indices[k])->first
                          : nullptr);
    return isFound ? &value : nullptr;
  };
  SmallVector<const Term *> indices;
  if (factor.kind == TermKind::Select) {
    llvm::append_range(indices, llvm::drop_begin(factor.args));
    return addAxes(*factor.args[0], indices);
  }
  const Array *array = factor.kind == TermKind::Read ? factor.array : nullptr;
  const Piece *piece = array && array->source == Array::Equation &&
                               factor.args.size() >= array->numPlaces
                           ? array->general()
                           : nullptr;
  if (!piece || !piece->value)
    return nullptr;
  const Term *value = piece->value;
  ArrayRef<Term *> given(factor.args);
  if (value->kind == TermKind::Select) {
    // Which place of the equation a component is, and what is read there.
    for (const Term *component : llvm::drop_begin(value->args))
      for (auto [k, place] : llvm::enumerate(piece->places))
        if (component->kind == TermKind::Index && component->index == place.var)
          indices.push_back(given[k]);
    value = value->args[0];
  }
  llvm::append_range(indices, given.drop_front(array->numPlaces));
  return addAxes(*value, indices);
}

/// sum[i](a[t,i] * x[i]) with a[t,i] = softmax[t](..): weights that do not add
/// up to one. Reported once per softmax, wherever it is read.
static void checkWeights(const Term &sum,
                         llvm::SmallPtrSetImpl<const char *> &known,
                         Diagnostics &diagnostics) {
  if (sum.kind != TermKind::Reduce || sum.reduction != Reduction::Sum)
    return;
  SmallVector<const Term *> factors(sum.args.begin(), sum.args.end());
  for (size_t k = 0; k < factors.size(); ++k)
    if (factors[k]->kind == TermKind::Map && factors[k]->fn == Fn::Mul)
      llvm::append_range(factors, factors[k]->args);
  if (factors.size() == 1)
    return;
  auto isSummed = [&](const IndexVar *var) {
    return llvm::is_contained(sum.vars, var);
  };
  for (const Term *factor : factors) {
    SmallVector<const IndexVar *> along;
    const Term *softmax = softmaxOf(*factor, along);
    if (!softmax || llvm::is_contained(along, nullptr) ||
        llvm::any_of(along, isSummed))
      continue;
    const auto *over = llvm::find_if(factor->free, isSummed);
    if (over == factor->free.end() ||
        !known.insert(softmax->loc.getPointer()).second)
      continue;
    std::string name = termText(*factor);
    diagnostics.warning(Code::softmaxAxis, sum.loc,
                        name + " adds up to 1 over " + along.front()->name +
                            ", but this is a sum over " + (*over)->name +
                            "; did you mean softmax[" + (*over)->name + "]?",
                        {{softmax->loc, "it is normalised here"}});
  }
}

//===----------------------------------------------------------------------===//
// What is trained
//===----------------------------------------------------------------------===//

static bool hasGradient(const Term &term) {
  switch (term.kind) {
  case TermKind::Map:
    return !(term.fn >= Fn::And && term.fn <= Fn::NotEqual) &&
           term.fn != Fn::Round && term.fn != Fn::Floor &&
           term.fn != Fn::ToInt && term.fn != Fn::Stop &&
           term.fn != Fn::FloorDiv && term.fn != Fn::Mod;
  case TermKind::Reduce:
  case TermKind::OverAxis:
    return term.reduction != Reduction::Argmax &&
           term.reduction != Reduction::Argmin &&
           term.reduction != Reduction::Any && term.reduction != Reduction::All;
  case TermKind::Index:
  case TermKind::Size:
  case TermKind::Number:
  case TermKind::Fill:
  case TermKind::Onehot:
    return false;
  default:
    return true;
  }
}

namespace {

/// The parameters that a computation depends on.
class Reach {
public:
  /// `smooth`: only where a small change of the parameter is one of the value.
  explicit Reach(bool smooth) : smooth(smooth) {}

  void add(const Term *term) {
    if (term && seen.insert(term).second)
      work.push_back(term);
  }
  void run();
  bool has(const Array *param) const { return params.count(param) > 0; }
  bool empty() const { return params.empty(); }

private:
  bool smooth;
  SmallVector<const Term *> work;
  llvm::DenseSet<const Term *> seen;
  llvm::DenseSet<const Array *> params;
};

} // namespace

void Reach::run() {
  while (!work.empty()) {
    const Term &term = *work.pop_back_val();
    if (smooth && !hasGradient(term))
      continue;
    add(term.fallback);
    if (!smooth)
      add(term.condition);
    // Indices and conditions select a value; they do not contribute to it.
    ArrayRef<Term *> args(term.args);
    if (smooth && (term.kind == TermKind::Read || term.kind == TermKind::Size))
      args = {};
    else if (smooth && term.kind == TermKind::Select)
      args = args.take_front();
    else if (smooth && term.kind == TermKind::If)
      args = args.drop_front();
    for (const Term *arg : args)
      add(arg);
    if (term.kind != TermKind::Read)
      continue;
    if (term.array->source == Array::Param)
      params.insert(term.array);
    for (const Piece &piece : term.array->pieces)
      add(piece.value);
  }
}

/// Parameters that are used but not trained.
static void checkTrained(const Elaborated &model, Diagnostics &diagnostics) {
  if (model.choices.empty() && model.penalties.empty())
    return;
  Reach smooth(true), any(false), used(false);
  for (Reach *reach : {&smooth, &any}) {
    for (const Choice &choice : model.choices)
      for (auto &[name, term] : choice.parameters)
        reach->add(term);
    for (auto &[term, loc] : model.penalties)
      reach->add(term);
    reach->run();
  }
  for (const Term &term : model.terms)
    used.add(&term);
  used.run();
  if (smooth.empty() && any.empty() && !used.empty()) {
    SMLoc loc = model.choices.empty() ? model.penalties.front().second
                                      : model.choices.front().loc;
    diagnostics.warning(Code::nothingTrained, loc,
                        "no parameter reaches this loss, so that nothing "
                        "is trained");
    return;
  }
  std::set<std::string> said;
  for (const Array *param : model.params) {
    // Parameters of an import may be trained elsewhere.
    if (param->root.empty() || param->isState || !used.has(param) ||
        smooth.has(param) || !said.insert(param->root).second)
      continue;
    // One per module is enough: an unused bias is not a mistake.
    bool isPartly = llvm::any_of(model.params, [&](const Array *other) {
      return other->root == param->root && smooth.has(other);
    });
    if (isPartly)
      continue;
    diagnostics.warning(
        Code::parameterUntrained, param->loc,
        "parameter '" + param->root +
            (any.has(param)
                 ? "' reaches the loss only through what has no gradient (a "
                   "comparison, a rounding, an argmax or 'stop'), so that it "
                   "is not trained"
                 : "' is used, but neither by a '~' nor by a penalty, so that "
                   "it is not trained"));
  }
}

//===----------------------------------------------------------------------===//
// What stays zero
//===----------------------------------------------------------------------===//

namespace {

/// The terms that are zero for any data before training.
class Zeros {
public:
  explicit Zeros(StringRef init) : init(init.split('(').first) {}

  bool isZero(const Term &term);

private:
  bool isZero(const Array &array);
  bool find(const Term &term);

  StringRef init;
  llvm::DenseMap<const Term *, bool> known;
};

} // namespace

/// runtime/train/Initialise.cpp: `zeros` sets all to zero; the others
/// initialise matrices and leave vectors at zero.
bool Zeros::isZero(const Array &array) {
  if (array.source == Array::Param) {
    if (StringRef(array.initial).ends_with("_norm:weight"))
      return false;
    bool isOfMatrices =
        init == "glorot" || init == "glorot_normal" || init == "he";
    return init == "zeros" || (isOfMatrices && array.declared.size() < 2);
  }
  return array.source == Array::Equation && !array.latent &&
         !array.pieces.empty() &&
         llvm::all_of(array.pieces, [&](const Piece &piece) {
           return piece.value && isZero(*piece.value);
         });
}

bool Zeros::isZero(const Term &term) {
  // A recurrence is zero if all its other inputs are.
  auto [it, isNew] = known.try_emplace(&term, true);
  if (isNew) {
    bool result = find(term);
    known[&term] = result;
    return result;
  }
  return it->second;
}

bool Zeros::find(const Term &term) {
  auto arg = [&](unsigned k) { return isZero(*term.args[k]); };
  auto all = [&](unsigned first) {
    return llvm::all_of(ArrayRef(term.args).drop_front(first),
                        [&](const Term *part) { return isZero(*part); });
  };
  switch (term.kind) {
  case TermKind::Number:
  case TermKind::Fill:
    return term.number == 0;
  case TermKind::Read:
    return isZero(*term.array) && (!term.fallback || isZero(*term.fallback));
  case TermKind::If:
    return all(1);
  case TermKind::Join:
    return all(0);
  case TermKind::Contract:
    return arg(0) || arg(1);
  case TermKind::Reduce:
  case TermKind::OverAxis:
    return term.reduction <= Reduction::Min && arg(0);
  case TermKind::Select:
  case TermKind::Stack:
  case TermKind::Fold:
  case TermKind::Flatten:
  case TermKind::Slice:
  case TermKind::Vector:
  case TermKind::Dropout:
    return arg(0);
  case TermKind::Map:
    break;
  default:
    return false;
  }
  switch (term.fn) {
  case Fn::Add:
  case Fn::Sub:
  case Fn::Max:
  case Fn::Min:
    return all(0);
  case Fn::Mul:
    return arg(0) || arg(1);
  case Fn::Div:
  case Fn::Negate:
  case Fn::Tanh:
  case Fn::Sqrt:
  case Fn::Abs:
  case Fn::Sin:
  case Fn::Relu:
  case Fn::Erf:
    return arg(0);
  default:
    return false;
  }
}

/// A product of two trainable zeros: each blocks the other's
/// gradient.
static void checkZeros(const Elaborated &model, StringRef init,
                       Diagnostics &diagnostics) {
  Zeros zeros(init);
  for (const Term &term : model.terms) {
    bool isProduct = term.kind == TermKind::Contract ||
                     (term.kind == TermKind::Map && term.fn == Fn::Mul);
    bool areLearnt =
        isProduct && llvm::all_of(term.args, [&](const Term *factor) {
          Reach reach(true);
          if (!zeros.isZero(*factor))
            return false;
          reach.add(factor);
          reach.run();
          return !reach.empty();
        });
    if (!areLearnt)
      continue;
    // Terms that are zero because of it.
    return diagnostics.warning(Code::zeroInit, term.loc,
                               "both factors of " + termText(term) +
                                   " are 0 under 'init = " + init.str() +
                                   "', so that no gradient reaches either and "
                                   "they stay 0; help: leave "
                                   "'init' out, or write init = uniform(0.1)");
  }
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

/// Returns whether `term` contains a value of an equation at another place.
static bool readsPast(const Term &term) {
  llvm::SetVector<const Term *> parts;
  parts.insert(&term);
  for (size_t i = 0; i < parts.size(); ++i) {
    const Term &part = *parts[i];
    bool isPast = part.kind == TermKind::Read &&
                  part.array->source == Array::Equation &&
                  llvm::any_of(part.args, [](const Term *place) {
                    auto affine = affineIndex(*place);
                    return affine && affine->second != 0;
                  });
    if (isPast)
      return true;
    parts.insert_range(part.args);
  }
  return false;
}

/// `cell(x[t], h[t-1])`: the first argument of a cell, the state, has the size
/// of its declaration, and the last one has the size of its first use. Where
/// both are equal, exchanged arguments have no other sign.
static void checkCells(const Elaborated &model, Diagnostics &diagnostics) {
  auto isDeclared = [](const SizeBinding &binding) {
    const ast::Expr &axis =
        *binding.def->parameters[binding.argument].shape.front();
    return axis.kind == ast::ExprKind::Name &&
           llvm::is_contained(binding.def->sizes, axis.name);
  };
  std::map<std::pair<const char *, std::string>, const SizeBinding *> states;
  for (const SizeBinding &binding : model.bindings) {
    if (!binding.def || binding.def->parameters.size() < 2)
      continue;
    std::pair<const char *, std::string> call(binding.loc.getPointer(),
                                              binding.callee);
    if (binding.argument == 0) {
      if (isDeclared(binding))
        states[call] = &binding;
      continue;
    }
    auto state = states.find(call);
    bool isLast = binding.argument + 1 == binding.def->parameters.size();
    if (isLast && state != states.end() && !isDeclared(binding) &&
        readsPast(*binding.term) && !readsPast(*state->second->term))
      diagnostics.warning(Code::swappedArguments, binding.loc,
                          "'" + binding.callee +
                              "' gets a value of another place as its input, "
                              "and none as its state; help: the order of its "
                              "arguments is " +
                              signatureOf(binding.callee, *binding.def));
  }
}

void fovea::fov::warnOfMistakes(const Elaborated &model, StringRef init,
                                Diagnostics &diagnostics) {
  for (const Choice &choice : model.choices)
    for (auto &[name, term] : choice.parameters)
      checkParameter(choice, name, *term, diagnostics);
  llvm::SmallPtrSet<const char *, 4> known;
  for (const Term &term : model.terms)
    checkWeights(term, known, diagnostics);
  checkCells(model, diagnostics);
  checkTrained(model, diagnostics);
  if (!init.empty())
    checkZeros(model, init, diagnostics);
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

static void countWords(const Program &program,
                       llvm::StringMap<unsigned> &count) {
  std::string ignored;
  llvm::raw_string_ostream out(ignored);
  Diagnostics silent(out);
  Lexer lexer(program.source, silent);
  for (Token token = lexer.next(); !token.is(Token::EndOfFile);
       token = lexer.next())
    if (token.is(Token::Name))
      ++count[token.text];
  for (const Program::Import &import : program.imports)
    if (import.program)
      countWords(*import.program, count);
}

void fovea::fov::warnOfUnused(const Program &program,
                              Diagnostics &diagnostics) {
  llvm::StringMap<unsigned> count;
  countWords(program, count);
  // Counts the data with a length.
  llvm::StringMap<unsigned> givers;
  auto lengthsOf = [](const ast::Statement &data) {
    SmallVector<StringRef> lengths;
    for (const ast::Axis &axis : data.array.axes)
      if (axis.extent && axis.extent->kind == ast::ExprKind::Name)
        lengths.push_back(axis.extent->name);
    return lengths;
  };
  for (const ast::Statement *s : program.file->statements)
    if (s->kind == ast::StatementKind::Data)
      for (StringRef length : lengthsOf(*s))
        ++givers[length];
  for (const ast::Statement *s : program.file->statements) {
    bool isData = s->kind == ast::StatementKind::Data;
    StringRef what = isData                                 ? "data"
                     : s->kind == ast::StatementKind::Dim   ? "dim"
                     : s->kind == ast::StatementKind::Const ? "const"
                     : s->kind == ast::StatementKind::Vocab ? "vocab"
                                                            : "";
    StringRef name = isData ? s->array.name : s->name;
    if (what.empty() || count[name] != 1)
      continue;
    // Data may exist only for their length.
    if (isData && llvm::any_of(lengthsOf(*s), [&](StringRef length) {
          return givers[length] == 1 && count[length] > 1;
        }))
      continue;
    diagnostics.warning(Code::unusedName, isData ? s->array.loc : s->nameLoc,
                        what.str() + " '" + name.str() + "' is never used");
  }
}

//===- Check.cpp - do all uses of an inferred model agree? ----------------===//
//
// Runs behind the fixed point of Infer.cpp. One mistake gives one error: what
// depends on a term that was reported is passed over.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/Check.h"
#include "frontends/fov/Infer.h"

#include <set>

using namespace fovea;
using namespace fovea::fov;

namespace {

class Checker {
public:
  Checker(Elaborated &model, Diagnostics &diagnostics)
      : model(model), diagnostics(diagnostics) {}

  bool run() {
    unsigned before = diagnostics.numErrors();
    for (Array *array : model.arrays)
      for (const Piece &piece : array->pieces)
        for (const PiecePlace &place : piece.places)
          if (place.var)
            owners[place.var].push_back(array);
    arrays();
    indices();
    for (Term &term : model.terms)
      if (!checkTerm(term))
        bad.insert(&term);
    for (const SizeBinding &binding : model.bindings)
      checkBinding(binding);
    for (auto &[atom, term] : model.vocabularyBindings)
      checkVocabulary(atom, *term);
    pieces();
    choices();
    for (auto &[term, loc] : model.penalties)
      if (term->shape && !term->shape->empty())
        error(loc,
              "a penalty is a number, but this is " + shapeText(*term->shape));
    if (diagnostics.numErrors() == before)
      unknowns();
    return diagnostics.numErrors() == before;
  }

private:
  void error(SMLoc loc, const std::string &text,
             std::vector<Diagnostics::Note> notes = {}) {
    diagnostics.error(loc, text, std::move(notes));
  }
  std::string line(SMLoc loc) {
    return std::to_string(diagnostics.lineOf(loc));
  }
  void arrays();
  void indices();
  bool checkTerm(Term &term);
  bool checkMap(Term &term);
  bool checkRead(Term &term);
  void checkBinding(const SizeBinding &binding);
  void checkVocabulary(const Atom *atom, const Term &term);
  void pieces();
  void shiftedPieces(const Array &array);
  void choices();
  void unknowns();

  Elaborated &model;
  Diagnostics &diagnostics;
  std::set<const Term *> bad;
  std::map<const IndexVar *, std::vector<Array *>> owners;
};

} // namespace

/// Every array that is read is given somewhere.
void Checker::arrays() {
  for (Array *array : model.arrays) {
    if (!array->pieces.empty() || array->latent)
      continue;
    if (array->firstRead.isValid()) {
      std::string shape;
      // A sibling says which shape is wanted.
      for (Array *other : model.arrays)
        if (other != array && other->valueShape && other->loc == array->loc) {
          if (!other->valueShape->empty())
            shape = " of shape " + shapeText(*other->valueShape);
          break;
        }
      error(array->firstRead,
            "this reads " + array->text + ", which no equation gives; add " +
                array->text + " = ..." + shape,
            {{array->loc, "the other equations of this name stand here"}});
    }
  }
}

void Checker::indices() {
  std::set<const IndexVar *> reported;
  for (IndexVar &var : model.indices) {
    if (var.extent)
      continue;
    // Where it would be written.
    std::string where = var.name + " < ...";
    auto it = owners.find(&var);
    if (it != owners.end()) {
      Array *array = it->second[0];
      where = array->text + "[" + var.name + " < ...]";
    }
    if (diagnostics.failed() && it == owners.end())
      continue; // most likely a consequence
    error(var.loc,
          "nothing gives index '" + var.name + "' a range; write " + where);
    reported.insert(&var);
  }
  for (const IndexUse &use : model.uses) {
    // A stated or declared range is the range; the reads are proved.
    if (use.shift != 0 || !use.var->extent || use.read->fallback ||
        use.var->strength != 3 || reported.count(use.var))
      continue;
    auto self = owners.find(use.var);
    if (self != owners.end() && use.read->kind == TermKind::Read &&
        llvm::is_contained(self->second, use.read->array))
      continue;
    std::optional<Extent> extent;
    if (use.read->kind == TermKind::Read)
      extent = use.read->array->axis(use.axis);
    else if (use.read->args[0]->shape &&
             use.axis < use.read->args[0]->shape->size())
      extent = (*use.read->args[0]->shape)[use.axis];
    if (!extent || *extent == *use.var->extent)
      continue;
    auto owner = owners.find(use.var);
    std::string left = owner == owners.end()
                           ? use.var->name
                           : owner->second[0]->text + "[" + use.var->name;
    reported.insert(use.var);
    error(use.loc,
          "index '" + use.var->name + "' has two ranges: " +
              use.var->extent->text() + " from " + use.var->origin + " (line " +
              line(use.var->originLoc) + ") and " + extent->text() + " from " +
              termText(*use.read) + " here; state one: " + left + " < " +
              use.var->extent->text() + (owner == owners.end() ? "" : "]"),
          {{use.var->originLoc, "the other range comes from here"}});
  }
}

bool Checker::checkRead(Term &term) {
  Array &array = *term.array;
  if (array.valueShape &&
      term.args.size() > array.numPlaces + array.valueShape->size()) {
    size_t axes = array.numPlaces + array.valueShape->size();
    error(term.loc,
          "'" + array.text + "' has " + std::to_string(axes) +
              (axes == 1 ? " axis" : " axes") + " but " +
              std::to_string(term.args.size()) + " indices here",
          {{array.loc, "it is declared here"}});
    return false;
  }
  for (Term *arg : term.args) {
    bool whole = arg->kindOf != Kind::Real && arg->shape && arg->shape->empty();
    if (whole || bad.count(arg) || !arg->shape)
      continue;
    error(arg->loc, "an index is a whole number, but " + termText(*arg) +
                        " is " +
                        (arg->shape->empty() ? std::string("a real number")
                                             : shapeText(*arg->shape)));
    return false;
  }
  return true;
}

bool Checker::checkMap(Term &term) {
  bool compares = term.fn == Fn::Equal || term.fn == Fn::NotEqual;
  for (Term *arg : term.args) {
    if (arg->kindOf != Kind::Token || compares)
      continue;
    std::string name =
        arg->kind == TermKind::Read ? arg->array->text : termText(*arg);
    error(arg->loc, "'" + name +
                        "' is a sequence of tokens, not numbers; use "
                        "embed(" +
                        termText(*arg) + ") or onehot(" + termText(*arg) + ")");
    return false;
  }
  if (term.args.size() < 2 || !term.args[0]->shape || !term.args[1]->shape)
    return true;
  const Term &a = *term.args[0], &b = *term.args[1];
  static const std::map<Fn, const char *> verbs = {{Fn::Add, "add"},
                                                   {Fn::Sub, "subtract"},
                                                   {Fn::Mul, "multiply"},
                                                   {Fn::Div, "divide"}};
  auto it = verbs.find(term.fn);
  std::string verb = it == verbs.end() ? "combine" : it->second;
  auto message = [&](const std::string &hint) {
    std::string name = "cannot " + verb + " " + termText(a) + " : " +
                       shapeText(*a.shape) + " and " + termText(b) + " : " +
                       shapeText(*b.shape) + hint;
    error(term.loc, name);
    return false;
  };
  if (!a.shape->empty() && !b.shape->empty()) {
    bool same = a.shape->size() == b.shape->size();
    for (size_t k = 0; same && k < a.shape->size(); ++k)
      same = (*a.shape)[k] == (*b.shape)[k];
    return same || message("");
  }
  // [N] plus a number that runs over an index of N: an index was forgotten.
  if (term.fn == Fn::Add || term.fn == Fn::Sub)
    for (auto [vector, single] : {std::pair(&a, &b), std::pair(&b, &a)})
      if (vector->shape->size() == 1 && single->shape->empty())
        for (IndexVar *var : single->free)
          if (!llvm::is_contained(vector->free, var) && var->extent &&
              *var->extent == (*vector->shape)[0] &&
              vector->kind == TermKind::Read) {
            std::string text = termText(*vector);
            std::string fixed =
                text.ends_with("]")
                    ? text.substr(0, text.size() - 1) + "," + var->name + "]"
                    : text + "[" + var->name + "]";
            return message("; did you mean " + fixed + "?");
          }
  return true;
}

bool Checker::checkTerm(Term &term) {
  for (const Term *arg : term.args)
    if (bad.count(arg))
      return false;
  auto wantVector = [&](const Term &arg, const char *what) {
    if (!arg.shape || arg.shape->size() >= 1)
      return true;
    error(arg.loc, std::string(what) + " takes a vector, but " + termText(arg) +
                       " is a number");
    return false;
  };
  switch (term.kind) {
  case TermKind::Read:
    return checkRead(term);
  case TermKind::Select:
    if (term.args[0]->shape &&
        term.args.size() - 1 > term.args[0]->shape->size()) {
      error(term.loc, termText(*term.args[0]) + " is " +
                          shapeText(*term.args[0]->shape) + " but has " +
                          std::to_string(term.args.size() - 1) +
                          " indices here");
      return false;
    }
    return true;
  case TermKind::Map:
    return checkMap(term);
  case TermKind::If: {
    const Term &condition = *term.args[0];
    if (condition.kindOf != Kind::Bit ||
        (condition.shape && !condition.shape->empty())) {
      error(condition.loc, "a condition is true or false, but " +
                               termText(condition) + " is a number");
      return false;
    }
    const Term &a = *term.args[1], &b = *term.args[2];
    if (!a.shape || !b.shape || a.shape->empty() || b.shape->empty())
      return true;
    if (a.shape->size() == b.shape->size() && llvm::equal(*a.shape, *b.shape))
      return true;
    error(term.loc, "the branches differ: " + termText(a) + " : " +
                        shapeText(*a.shape) + " and " + termText(b) + " : " +
                        shapeText(*b.shape));
    return false;
  }
  case TermKind::Reduce:
    if (term.condition &&
        (term.condition->kindOf != Kind::Bit ||
         (term.condition->shape && !term.condition->shape->empty()))) {
      error(term.condition->loc, "a condition is true or false, but " +
                                     termText(*term.condition) +
                                     " is a number");
      return false;
    }
    if (term.args[0]->kindOf == Kind::Token) {
      const Term &arg = *term.args[0];
      std::string name =
          arg.kind == TermKind::Read ? arg.array->text : termText(arg);
      error(arg.loc, "'" + name +
                         "' is a sequence of tokens, not numbers; use "
                         "embed(" +
                         termText(arg) + ") or onehot(" + termText(arg) + ")");
      return false;
    }
    return true;
  case TermKind::Join: {
    const Term *first = nullptr;
    for (Term *part : term.args) {
      if (!part->shape)
        return true;
      if (part->kindOf == Kind::Token) {
        std::string name =
            part->kind == TermKind::Read ? part->array->text : termText(*part);
        error(part->loc, "'" + name +
                             "' is a sequence of tokens, not numbers; use "
                             "embed(" +
                             termText(*part) + ") or onehot(" +
                             termText(*part) + ")");
        return false;
      }
      if (!part->shape->empty() && !part->shape->back().value()) {
        std::optional<Extent> last = part->shape->back().resolved();
        if (last) {
          error(part->loc, "cannot join along " + last->text() +
                               ", which differs between examples");
          return false;
        }
      }
      if (part->shape->size() < 2)
        continue;
      if (!first) {
        first = part;
        continue;
      }
      if (part->shape->size() != first->shape->size() ||
          !std::equal(part->shape->begin(), part->shape->end() - 1,
                      first->shape->begin())) {
        error(term.loc, "cannot join " + termText(*first) + " : " +
                            shapeText(*first->shape) + " and " +
                            termText(*part) + " : " + shapeText(*part->shape));
        return false;
      }
    }
    if (first)
      for (Term *part : term.args)
        if (part->shape->size() < 2) {
          error(term.loc, "cannot join " + termText(*first) + " : " +
                              shapeText(*first->shape) + " and " +
                              termText(*part) + " : " +
                              shapeText(*part->shape));
          return false;
        }
    return true;
  }
  case TermKind::Contract: {
    const Term &a = *term.args[0], &b = *term.args[1];
    for (const Term *arg : {&a, &b})
      if (arg->kindOf == Kind::Token) {
        error(arg->loc,
              "'" +
                  (arg->kind == TermKind::Read ? arg->array->text
                                               : termText(*arg)) +
                  "' is a sequence of tokens, not numbers; use embed(" +
                  termText(*arg) + ") or onehot(" + termText(*arg) + ")");
        return false;
      }
    const char *what = term.isInteger ? "'dot'" : "'@'";
    if (!wantVector(a, what) || !wantVector(b, what))
      return false;
    if (!a.shape || !b.shape)
      return true;
    bool ranks =
        !term.isInteger || (a.shape->size() == 1 && b.shape->size() == 1);
    if (ranks && a.shape->back() == b.shape->front())
      return true;
    error(term.loc,
          std::string(term.isInteger ? "cannot take the dot product of "
                                     : "cannot multiply ") +
              termText(a) + " : " + shapeText(*a.shape) + " and " +
              termText(b) + " : " + shapeText(*b.shape));
    return false;
  }
  case TermKind::OverAxis:
    return wantVector(*term.args[0], "a reduction without an index");
  case TermKind::Fold: {
    const Term &v = *term.args[0];
    if (!wantVector(v, "'fold'") || !v.shape)
      return !v.shape;
    Extent product(1);
    std::string shown;
    for (const Extent &size : term.sizes) {
      product = product * size;
      shown += (shown.empty() ? "" : " * ") +
               (size.value() ? std::to_string(*size.value()) : size.text());
    }
    auto whole = v.shape->front().value(), part = product.value();
    if (!whole) {
      if (v.shape->front().resolved())
        error(term.loc, "cannot fold " + v.shape->front().text() +
                            ", which differs between examples");
      return false;
    }
    if (part && *part > 0 && *whole % *part == 0)
      return true;
    std::string sizes;
    for (const Extent &size : term.sizes)
      sizes += ", " + size.text();
    error(term.loc, "fold(" + termText(v) + sizes +
                        "): " + std::to_string(*whole) +
                        " is not a multiple of " + shown);
    return false;
  }
  case TermKind::Flatten: {
    if (!term.args[0]->shape)
      return true;
    for (const Extent &extent : *term.args[0]->shape)
      if (!extent.value() && extent.resolved()) {
        error(term.loc, "cannot concat over " + extent.resolved()->text() +
                            ", which differs between examples");
        return false;
      }
    return true;
  }
  case TermKind::Onehot:
    if (term.args[0]->kindOf != Kind::Token || !term.args[0]->vocabulary) {
      error(term.args[0]->loc, "'onehot' takes a token, but " +
                                   termText(*term.args[0]) + " is a number");
      return false;
    }
    return true;
  default:
    return true;
  }
}

void Checker::checkBinding(const SizeBinding &binding) {
  const Term &term = *binding.term;
  if (!term.shape || bad.count(&term))
    return;
  bool isModule = !binding.callee.empty() && binding.callee != "cut";
  if (binding.callee.empty() || binding.callee == "cut") {
    // A tuple on the left, or the parts of a cut.
    std::optional<int64_t> wanted = binding.sizes[0].value();
    std::optional<int64_t> got =
        term.shape->empty() ? std::nullopt : term.shape->front().value();
    if (wanted && got && *wanted == *got)
      return;
    std::string have =
        term.shape->empty() ? "a number" : shapeText(*term.shape);
    if (binding.callee == "cut")
      error(binding.loc, "cut: the parts have " +
                             binding.sizes[0].textWithValue() + " values but " +
                             termText(term) + " is " + have);
    else
      error(binding.loc, "the left has " + std::to_string(wanted.value_or(0)) +
                             " names but the right side is " + have);
    return;
  }
  Shape wanted(binding.sizes);
  if (term.shape->size() != wanted.size()) {
    error(binding.loc,
          "'" + binding.callee + "' takes " +
              (wanted.size() == 1 ? std::string("a vector")
                                  : std::to_string(wanted.size()) + " axes") +
              " but " + termText(term) + " is " + shapeText(*term.shape),
          {{binding.calleeLoc, "'" + binding.callee + "' is defined here"}});
    return;
  }
  for (size_t k = 0; k < wanted.size(); ++k) {
    const Extent &want = wanted[k], &have = (*term.shape)[k];
    if (!want.resolved() || !have.resolved() || want == have)
      continue;
    auto number = [](const Extent &extent) {
      auto value = extent.value();
      return value ? std::to_string(*value) : extent.text();
    };
    std::string onLine = ", line " + line(binding.calleeLoc);
    if (wanted.size() == 1 && isModule)
      error(binding.loc,
            "'" + binding.callee + "' takes vectors of " + number(want) + " (" +
                want.text() + onLine + ") but gets " + number(have) + " (" +
                have.text() +
                ") here; a module has one input size: declare a "
                "second one",
            {{binding.calleeLoc, "the size is fixed here"}});
    else
      error(binding.loc,
            "'" + binding.callee + "' takes " + shapeText(wanted) + " but " +
                termText(term) + " is " + shapeText(*term.shape),
            {{binding.calleeLoc, "the size is fixed here"}});
    return;
  }
}

void Checker::checkVocabulary(const Atom *atom, const Term &term) {
  if (bad.count(&term))
    return;
  if (term.kindOf != Kind::Token || !term.vocabulary) {
    error(term.loc,
          "an embedding takes a token, but " + termText(term) + " is " +
              (term.shape && !term.shape->empty() ? shapeText(*term.shape)
                                                  : std::string("a number")));
    return;
  }
  if (!atom->solution || *atom->solution == term.vocabulary->size)
    return;
  error(term.loc,
        "this embedding has " + atom->solution->textWithValue() +
            " symbols but '" + term.vocabulary->name + "' has " +
            term.vocabulary->size.textWithValue(),
        {{term.vocabulary->loc, "the second vocabulary is declared here"}});
}

/// `x[k+1] = ..` starts at 1: the places before it are given.
void Checker::shiftedPieces(const Array &array) {
  const Piece *general = array.general();
  for (unsigned k = 0; general && k < general->places.size(); ++k)
    for (int64_t place = 0; place < array.shift(k); ++place) {
      bool given = llvm::any_of(array.pieces, [&](const Piece &piece) {
        return !piece.places[k].var &&
               piece.places[k].constant == Extent(place);
      });
      if (!given)
        error(general->loc, "'" + array.text + "' starts at " +
                                std::to_string(array.shift(k)) +
                                " here; give its place " +
                                std::to_string(place) + " as well");
    }
}

void Checker::pieces() {
  for (Array *array : model.arrays) {
    shiftedPieces(*array);
    if (!array->valueShape)
      continue;
    for (const Piece &piece : array->pieces) {
      if (!piece.value || !piece.value->shape || bad.count(piece.value))
        continue;
      const Shape &shape = *piece.value->shape;
      bool literal = piece.value->kind == TermKind::Number;
      if (shape.size() == array->valueShape->size() &&
          llvm::equal(shape, *array->valueShape))
        continue;
      const Piece &first = array->pieces.front();
      if (literal && shape.empty())
        error(piece.loc,
              "'" + array->text + "' is " + shapeText(*array->valueShape) +
                  " but a number is given here; write zeros(...)",
              {{first.loc, "its shape comes from here"}});
      else
        error(piece.loc,
              "'" + array->text + "' is " + shapeText(*array->valueShape) +
                  " but " + shapeText(shape) + " is given here",
              {{first.loc, "its shape comes from here"}});
    }
    // What the right side depends on stands on the left.
    for (const Piece &piece : array->pieces) {
      if (!piece.value)
        continue;
      for (IndexVar *var : piece.value->free) {
        bool bound = llvm::is_contained(array->context, var) ||
                     llvm::any_of(piece.places, [&](const PiecePlace &place) {
                       return place.var == var;
                     });
        if (!bound)
          error(piece.loc, "index '" + var->name +
                               "' of the right side stands nowhere on the "
                               "left: reduce it, or write it on the left");
      }
    }
  }
}

void Checker::choices() {
  for (const Choice &choice : model.choices) {
    for (auto &[name, term] : choice.parameters) {
      if (!term->shape || bad.count(term))
        continue;
      size_t wanted = choice.distribution == "categorical" ? 1 : 0;
      if (choice.distribution == "categorical") {
        if (term->shape->size() != wanted) {
          error(term->loc, "categorical takes a vector, but " +
                               termText(*term) + " is " +
                               shapeText(*term->shape));
          continue;
        }
        const Vocabulary *vocabulary = choice.target->vocabulary;
        if (vocabulary && !(vocabulary->size == term->shape->front()))
          error(term->loc,
                "'" + choice.target->name + "' has " +
                    vocabulary->size.textWithValue() +
                    " symbols but its distribution has " +
                    term->shape->front().textWithValue(),
                {{vocabulary->loc, "its vocabulary is declared here"}});
      } else if (choice.distribution == "bernoulli" && !term->shape->empty()) {
        error(term->loc, "bernoulli takes a number, but " + termText(*term) +
                             " is " + shapeText(*term->shape));
      }
    }
  }
}

/// What is still open although nothing was reported.
void Checker::unknowns() {
  std::set<SMLoc, bool (*)(SMLoc, SMLoc)> seen(
      +[](SMLoc a, SMLoc b) { return a.getPointer() < b.getPointer(); });
  for (Array *array : model.arrays)
    if (!array->valueShape && seen.insert(array->loc).second) {
      const Piece *general = array->general();
      SMLoc loc = general ? general->loc : array->loc;
      std::string text = array->text;
      if (general && !general->places.empty())
        error(loc, "nothing gives the shape of '" + text +
                       "'; give a boundary, for example " + text +
                       "[-1] = zeros(...)");
      else
        error(loc, "nothing gives the shape of '" + text + "'");
    }
  if (!seen.empty())
    return;
  for (Array *param : model.params)
    for (const Extent &extent : param->declared)
      if (!extent.value()) {
        error(param->loc,
              "nothing fixes the size " + extent.text() + " of '" +
                  param->name + "': it is never used",
              {});
        break;
      }
}

bool fovea::fov::checkModel(Elaborated &model, Diagnostics &diagnostics) {
  return Checker(model, diagnostics).run();
}

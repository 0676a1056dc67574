//===- CheckTerms.cpp - shapes and kinds of right sides -------------------===//

#include "frontends/fov/ForeignWords.h"
#include "frontends/fov/check/CheckImpl.h"

using namespace fovea;
using namespace fovea::fov;

/// `x : [H = 512]`
static std::string typed(const Term &term) {
  return termText(term) + " : " + shapeText(*term.shape);
}

bool Checker::sameShape(const Shape &a, const Shape &b) {
  return a.size() == b.size() &&
         llvm::all_of(llvm::zip(a, b), [](const auto &sizes) {
           auto &[x, y] = sizes;
           return x.unresolved() || y.unresolved() || x == y;
         });
}

//===----------------------------------------------------------------------===//
// What a term must be
//===----------------------------------------------------------------------===//

/// GRAMMAR 8.20: a token is not a number; int(..) is its place in the
/// vocabulary.
bool Checker::isNumbers(const Term &term) {
  if (term.kindOf != Kind::Token)
    return true;
  const Term *source = &term;
  while (
      (source->kind == TermKind::Vector || source->kind == TermKind::Stack) &&
      !source->args.empty())
    source = source->args[0];
  std::string name =
      source->kind == TermKind::Read ? source->array->text : termText(*source);
  std::string text = termText(*source);
  error(Code::tokenAsNumber, source->loc,
        "'" + name +
            "' is a sequence of tokens, not numbers; help: use embed(" + text +
            ") or onehot(" + text + "), or int(" + text +
            "), its place in the vocabulary");
  return false;
}

bool Checker::isVector(const Term &term, const std::string &what,
                       const std::string &help) {
  if (!term.shape || !term.shape->empty())
    return true;
  error(Code::vectorExpected, term.loc,
        what + " takes a vector, but " + termText(term) + " is a number" +
            help);
  return false;
}

bool Checker::isCondition(const Term &term) {
  bool isBit = term.kindOf == Kind::Bit;
  if (isBit && (!term.shape || term.shape->empty()))
    return true;
  error(Code::truthExpected, term.loc,
        "a condition is true or false, but " + termText(term) + " is " +
            (isBit || (term.shape && !term.shape->empty())
                 ? shapeText(*term.shape)
                 : std::string("a number")));
  return false;
}

bool Checker::checkIndices(ArrayRef<Term *> indices) {
  for (Term *arg : indices) {
    bool whole = arg->kindOf != Kind::Real && arg->shape && arg->shape->empty();
    if (whole || !arg->shape)
      continue;
    error(Code::indexExpected, arg->loc,
          "an index is a whole number, but " + termText(*arg) + " is " +
              (arg->shape->empty() ? std::string("a real number")
                                   : shapeText(*arg->shape)));
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

bool Checker::checkFallback(Term &term) {
  const Term *other = term.fallback;
  if (!other || !other->shape || !term.shape || bad.count(other))
    return !other || !bad.count(other);
  if (!other->shape->empty() && !sameShape(*other->shape, *term.shape)) {
    std::string extents = llvm::join(
        llvm::map_range(*term.shape, [](const Extent &e) { return e.text(); }),
        ", ");
    error(Code::otherwiseShape, other->loc,
          "'?"
          "?' is followed by " +
              typed(*other) + ", but " +
              StringRef(termText(term)).split(" ??").first.str() + " is " +
              shapeText(*term.shape) +
              (term.shape->empty()
                   ? "; help: write a number, as in ?? 0"
                   : "; help: write zeros(" + extents +
                         "), or a number for all elements, as in ?? 0"));
    return false;
  }
  bool isToken = term.kind == TermKind::Read
                     ? term.array->kind == Kind::Token
                     : term.args[0]->kindOf == Kind::Token;
  if (isToken == (other->kindOf == Kind::Token))
    return true;
  error(Code::otherwiseShape, other->loc,
        std::string("'?"
                    "?' is followed by ") +
            (isToken ? "a number, but tokens are read; help: write a symbol, "
                       "as in ?? \"<unk>\""
                     : "a token, but numbers are read; help: write a number, "
                       "as in ?? 0"));
  return false;
}

/// The read of `base` at the first `count` of `indices`.
static std::string withFirst(const std::string &base, ArrayRef<Term *> indices,
                             size_t count) {
  if (count == 0)
    return base;
  std::string text;
  for (const Term *index : indices.take_front(count))
    text += (text.empty() ? "" : ",") + termText(*index);
  return base + "[" + text + "]";
}

bool Checker::checkRead(Term &term) {
  Array &array = *term.array;
  if (array.valueShape &&
      term.args.size() > array.numPlaces + array.valueShape->size()) {
    size_t axes = array.numPlaces + array.valueShape->size();
    error(Code::numberOfIndices, term.loc,
          "'" + array.text + "' has " + counted(axes, "axis") + " but " +
              counted(term.args.size(), "index") + " here; help: write " +
              withFirst(array.text, term.args, axes),
          {{array.loc, "it is declared here"}});
    return false;
  }
  return checkIndices(term.args) && checkFallback(term);
}

/// `w[i,j]` for a read `w[j,i]` with an index `var` that must have `extent`, if
/// only that fits; or nothing.
std::string Checker::exchanged(const Term &read, const IndexVar *var,
                               const Extent &extent) {
  if (read.kind != TermKind::Read)
    return "";
  auto plain = [&](size_t k) -> const IndexVar * {
    const Term &arg = *read.args[k];
    return arg.kind == TermKind::Index ? arg.index : nullptr;
  };
  for (size_t k = 0; k < read.args.size(); ++k)
    for (size_t m = 0; plain(k) == var && m < read.args.size(); ++m) {
      const IndexVar *other = m == k ? nullptr : plain(m);
      std::optional<Extent> here = read.array->axis(k),
                            there = read.array->axis(m);
      if (!other || !here || !there || *here == *there || *there != extent)
        continue;
      // Nothing else may be known about the other index.
      if (!other->extent ||
          (*other->extent != *here && other->origin != termText(read)))
        continue;
      std::string text = read.array->text;
      for (size_t at = 0; at < read.args.size(); ++at)
        text += (at == 0 ? "[" : ",") + termText(*read.args[at == k   ? m
                                                            : at == m ? k
                                                                      : at]);
      return text + "]";
    }
  return "";
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// The help for an elementwise product of a matrix and a vector.
static std::string productHelp(const Term &a, const Term &b) {
  bool fits = a.shape->size() == 2 && b.shape->size() == 1 &&
              a.shape->back() == b.shape->front();
  return fits ? "; help: write " + termText(a) + " @ " + termText(b) +
                    " for the product of a matrix and a vector"
              : "";
}

/// Two extents of one size are different expressions, as D and H*C where
/// D = H*C: --set may change one of them.
static std::string expressionHelp(const Extent &x, const Extent &y) {
  if (!x.value() || x.value() != y.value())
    return "";
  return "; help: both are " + std::to_string(*x.value()) +
         " here, but a size must be the same expression: write " + x.text() +
         " or " + y.text() + " in both declarations";
}

static std::string expressionHelp(const Term &a, const Term &b) {
  if (a.shape->size() != b.shape->size())
    return "";
  std::string help;
  for (auto [x, y] : llvm::zip(*a.shape, *b.shape)) {
    if (x == y)
      continue;
    help = expressionHelp(x, y);
    if (help.empty())
      break;
  }
  return help;
}

/// The help for a product whose operands do not fit.
static std::string contractionHelp(const Term &a, const Term &b, bool isDot) {
  std::string help = isDot ? productHelp(a, b) : "";
  if (!help.empty())
    return help;
  if (isDot && (a.shape->size() != 1 || b.shape->size() != 1))
    return "; help: 'dot' takes two vectors; write the sum over an index, "
           "sum[k](a[i,k] * b[k])";
  const Extent &x = a.shape->back(), &y = b.shape->front();
  help = expressionHelp(x, y);
  if (!help.empty())
    return help;
  return isDot
             ? "; help: both need one size; a layer maps one to the other: "
               "param p : linear(" +
                   x.text() + "), then dot(" + termText(a) + ", p(" +
                   termText(b) + "))"
             : "; help: '@' sums over the last axis of " + termText(a) + ", " +
                   x.text() + ", and the first axis of " + termText(b) + ", " +
                   y.text() + "; both must be the same size";
}

bool Checker::checkShapes(Term &term) {
  const Term &a = *term.args[0], &b = *term.args[1];
  if (!a.shape || !b.shape)
    return true;
  std::string verb = term.fn == Fn::Add   ? "add"
                     : term.fn == Fn::Sub ? "subtract"
                     : term.fn == Fn::Mul ? "multiply"
                     : term.fn == Fn::Div ? "divide"
                                          : "combine";
  if (!a.shape->empty() && !b.shape->empty()) {
    if (sameShape(*a.shape, *b.shape))
      return true;
    error(Code::shapesDiffer, term.loc,
          "cannot " + verb + " " + typed(a) + " and " + typed(b) +
              (term.fn == Fn::Mul ? productHelp(a, b) : "") +
              expressionHelp(a, b));
    return false;
  }
  // [N] plus a number that runs over an index of N: an index was forgotten.
  if (term.fn != Fn::Add && term.fn != Fn::Sub)
    return true;
  for (auto [vector, single] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    if (vector->shape->size() != 1 || !single->shape->empty() ||
        vector->kind != TermKind::Read)
      continue;
    for (IndexVar *var : single->free) {
      if (llvm::is_contained(vector->free, var) ||
          (var->extent && *var->extent != vector->shape->front()))
        continue;
      std::string text = termText(*vector);
      text = text.back() == ']' ? text.substr(0, text.size() - 1) + ","
                                : text + "[";
      auto named = [](const Term &part) {
        return termText(part) + " : " +
               (part.shape->empty() ? "number"
                                    : "[" + part.shape->front().text() + "]");
      };
      error(Code::shapesDiffer, term.loc,
            "cannot " + verb + " " + named(a) + " and " + named(b) +
                "; did you mean " + text + var->name + "]?");
      if (auto owner = owners.find(var); owner != owners.end())
        explained.insert({owner->second, var->name});
      return false;
    }
  }
  return true;
}

/// Returns whether two tokens have the same symbols (GRAMMAR 8.18).
bool Checker::haveOneVocabulary(const Term &a, const Term &b, SMLoc loc) {
  if (!a.vocabulary || !b.vocabulary || a.vocabulary->hasSame(*b.vocabulary))
    return true;
  differentVocabularies(*a.vocabulary, *b.vocabulary, loc);
  return false;
}

void Checker::differentVocabularies(const Vocabulary &a, const Vocabulary &b,
                                    SMLoc loc) {
  error(Code::vocabulariesDiffer, loc, differenceOf(a, a.name, b, b.name),
        {{a.loc, "'" + a.name + "' is declared here"},
         {b.loc, "'" + b.name + "' is declared here"}});
}

/// `x^T` of an array: T is a length, and what is meant is the transpose.
bool Checker::checkPower(const Term &term) {
  const Term &base = *term.args[0], &exponent = *term.args[1];
  bool isTransposed = exponent.kind == TermKind::Size &&
                      exponent.extent.text() == "T" && base.shape &&
                      !base.shape->empty();
  if (isTransposed)
    error(Code::transposition, term.loc,
          termText(base) + "^T is a power of " + shapeText(*base.shape) +
              " by the length T" + transpositionHelp().str());
  return !isTransposed;
}

bool Checker::checkMap(Term &term) {
  if (term.fn == Fn::Equal || term.fn == Fn::NotEqual) {
    if (!haveOneVocabulary(*term.args[0], *term.args[1], term.loc))
      return false;
  } else if (term.fn != Fn::ToInt && !llvm::all_of(term.args, [&](Term *arg) {
               return isNumbers(*arg);
             })) {
    return false;
  }
  if (term.fn == Fn::And || term.fn == Fn::Or || term.fn == Fn::Not)
    for (const Term *arg : term.args)
      if (arg->kindOf != Kind::Bit) {
        error(Code::truthExpected, arg->loc,
              "'" + fnName(term.fn).str() + "' takes true or false, but " +
                  termText(*arg) + " is not");
        return false;
      }
  if (term.fn == Fn::Pow && !checkPower(term))
    return false;
  return (term.args.size() < 2 || checkShapes(term)) && checkGuess(term);
}

/// The shape of a recursive equation was guessed from its other operands.
/// The recursive read may be wrong: a whole array instead of one of its
/// elements.
bool Checker::checkGuess(Term &term) {
  for (const Term *arg : term.args) {
    if (!term.shape || !arg->shape || arg->shape->empty() ||
        sameShape(*arg->shape, *term.shape))
      continue;
    std::string text = typed(*arg) + ", but this has to be " +
                       (term.shape->empty() ? std::string("a number")
                                            : shapeText(*term.shape));
    const Array *array = arg->kind == TermKind::Read ? arg->array : nullptr;
    const Piece *piece = array ? array->general() : nullptr;
    bool isWhole = piece && arg->args.size() < array->numPlaces;
    if (isWhole) {
      std::string places;
      for (const PiecePlace &place : piece->places)
        places += (places.empty() ? "" : ",") + place.var->name;
      text += ": it follows from itself; did you mean " + array->text + "[" +
              places + "]?";
    }
    error(Code::equationShape, arg->loc, text);
    return false;
  }
  return true;
}

bool Checker::checkBranches(Term &term) {
  if (!isCondition(*term.args[0]))
    return false;
  const Term &a = *term.args[1], &b = *term.args[2];
  auto kind = [](const Term &part) {
    return termText(part) +
           (part.kindOf == Kind::Token ? " is a token" : " is a number");
  };
  if ((a.kindOf == Kind::Token) != (b.kindOf == Kind::Token)) {
    error(Code::branchesDiffer, term.loc,
          "the branches differ: " + kind(a) + ", and " + kind(b));
    return false;
  }
  if (!haveOneVocabulary(a, b, term.loc))
    return false;
  if (!a.shape || !b.shape || a.shape->empty() || b.shape->empty() ||
      sameShape(*a.shape, *b.shape))
    return true;
  error(Code::branchesDiffer, term.loc,
        "the branches differ: " + typed(a) + " and " + typed(b));
  return false;
}

//===----------------------------------------------------------------------===//
// Whole arrays
//===----------------------------------------------------------------------===//

/// The members of a family side by side: all of one shape.
bool Checker::checkMembers(Term &term) {
  const Term *first = nullptr;
  for (Term *part : term.args) {
    if (!isNumbers(*part))
      return false;
    if (!part->shape)
      return true;
    if (part->shape->empty())
      continue;
    for (const Extent &axis : *part->shape)
      if (axis.differs()) {
        error(Code::axisOfExample, part->loc,
              "the members have an axis of " + axis.text() +
                  ", which differs between examples; help: read "
                  "them at an index of this axis");
        return false;
      }
    first = first ? first : part;
    if (!sameShape(*first->shape, *part->shape)) {
      error(Code::branchesDiffer, term.loc,
            "the members differ: " + typed(*first) + " and " + typed(*part));
      return false;
    }
  }
  return true;
}

bool Checker::checkJoin(Term &term) {
  if (term.isMembers)
    return checkMembers(term);
  const Term *first = term.args[0];
  for (Term *part : term.args) {
    if (!isNumbers(*part))
      return false;
    if (!part->shape)
      return true;
    if (!part->shape->empty() && part->shape->back().differs()) {
      error(Code::axisOfExample, part->loc,
            "cannot join along " + part->shape->back().text() +
                ", which differs between examples");
      return false;
    }
    if (part->shape->size() > first->shape->size())
      first = part;
  }
  if (first->shape->size() < 2)
    return true;
  for (Term *part : term.args)
    if (part->shape->size() != first->shape->size() ||
        !std::equal(part->shape->begin(), part->shape->end() - 1,
                    first->shape->begin())) {
      error(Code::shapesDiffer, term.loc,
            "cannot join " + typed(*first) + " and " + typed(*part));
      return false;
    }
  return true;
}

bool Checker::checkContract(Term &term) {
  const Term &a = *term.args[0], &b = *term.args[1];
  const char *what = term.isDot ? "'dot'" : "'@'";
  if (!isNumbers(a) || !isNumbers(b) || !isVector(a, what) ||
      !isVector(b, what))
    return false;
  if (!a.shape || !b.shape)
    return true;
  bool ranks = !term.isDot || (a.shape->size() == 1 && b.shape->size() == 1);
  if (ranks && sameShape({a.shape->back()}, {b.shape->front()}))
    return true;
  // A matrix on the wrong side contracts its other axis.
  bool isTurned = !term.isDot && a.shape->size() + b.shape->size() == 3 &&
                  sameShape({b.shape->back()}, {a.shape->front()});
  error(Code::shapesDiffer, term.loc,
        (term.isDot ? "cannot take the dot product of " : "cannot multiply ") +
            typed(a) + " and " + typed(b) +
            (isTurned
                 ? "; did you mean " + termText(b) + " @ " + termText(a) + "?"
                 : contractionHelp(a, b, term.isDot)));
  return false;
}

bool Checker::checkFold(Term &term) {
  const Term &v = *term.args[0];
  if (!isVector(v, "'fold'"))
    return false;
  if (!v.shape)
    return true;
  Extent product(1);
  std::string shown, sizes;
  for (const Extent &size : term.sizes) {
    product = product * size;
    shown += (shown.empty() ? "" : " * ") +
             (size.value() ? std::to_string(*size.value()) : size.text());
    sizes += ", " + size.text();
  }
  auto whole = v.shape->front().value(), part = product.value();
  if (!whole) {
    if (v.shape->front().differs())
      error(Code::axisOfExample, term.loc,
            "cannot fold " + v.shape->front().text() +
                ", which differs between examples");
    return false;
  }
  if (part && *part > 0 && *whole % *part == 0)
    return true;
  std::string all;
  Extent elements(1);
  for (const Extent &extent : *v.shape) {
    elements = elements * extent;
    all += (all.empty() ? "" : " * ") + extent.text();
  }
  if (v.shape->size() > 1 && elements == product)
    return true;
  error(Code::foldSize, term.loc,
        "fold(" + termText(v) + sizes + "): " + std::to_string(*whole) +
            " is not a multiple of " + shown +
            (v.shape->size() > 1 ? ", and " + shown + " is not " + all : ""));
  return false;
}

bool Checker::checkDropout(Term &term) {
  const Term &rate = *term.args[1];
  if (!isNumbers(*term.args[0]))
    return false;
  if (rate.kind == TermKind::Number && rate.number >= 0 && rate.number < 1)
    return true;
  error(Code::dropoutRate, rate.loc,
        "a dropout's rate is a number at least 0 and below 1 that is "
        "known before anything runs");
  return false;
}

/// grad(e, x): of a number, by a real value that may change by a little.
bool Checker::checkGradient(Term &term) {
  const Term &value = *term.args[0], &by = *term.args[1];
  if (!isNumbers(value) || !isNumbers(by))
    return false;
  if (value.shape && !value.shape->empty()) {
    error(Code::gradient, value.loc,
          "'grad' takes one number, but " + termText(value) + " is " +
              shapeText(*value.shape) + "; help: reduce it, as by sum[k](..)");
    return false;
  }
  bool isValue = by.kind != TermKind::Number && by.kind != TermKind::Index &&
                 by.kind != TermKind::Size && by.kind != TermKind::Fill;
  if (isValue && by.kindOf == Kind::Real && !by.fallback)
    return true;
  error(Code::gradient, by.loc,
        "'grad' differentiates by an array of real numbers or an element of "
        "one, not by " +
            termText(by));
  return false;
}

bool Checker::checkTerm(Term &term) {
  for (const Term *arg : term.args)
    if (bad.count(arg))
      return false;
  if (term.condition && bad.count(term.condition))
    return false;
  for (const SizeBinding *binding : bindings[&term])
    if (!checkBinding(*binding))
      return false;
  for (const Atom *atom : vocabularies[&term])
    if (!checkVocabulary(atom, term))
      return false;
  switch (term.kind) {
  case TermKind::Read:
    return checkRead(term);
  case TermKind::Size:
    return checkIndices(term.args);
  case TermKind::Select:
    if (term.args[0]->shape &&
        term.args.size() - 1 > term.args[0]->shape->size()) {
      const Term &read = *term.args[0];
      size_t numIndices = term.args.size() - 1;
      error(Code::numberOfIndices, term.loc,
            read.shape->empty()
                ? termText(read) + " is a number, so it takes no index; help: "
                                   "remove '[..]' after it"
                : termText(read) + " has " +
                      counted(read.shape->size(), "axis") + " but " +
                      counted(numIndices, "index") + " here; help: write " +
                      withFirst(termText(read),
                                ArrayRef(term.args).drop_front(),
                                read.shape->size()));
      return false;
    }
    return checkIndices(ArrayRef(term.args).drop_front()) &&
           checkFallback(term);
  case TermKind::Map:
    return checkMap(term);
  case TermKind::If:
    return checkBranches(term);
  case TermKind::Reduce:
    if (term.condition && !isCondition(*term.condition))
      return false;
    [[fallthrough]];
  case TermKind::OverAxis: {
    const Term &arg = *term.args[0];
    bool logical =
        term.reduction == Reduction::Any || term.reduction == Reduction::All;
    std::string name = "'" + reductionName(term.reduction).str() + "'";
    if (logical && arg.kindOf != Kind::Bit) {
      error(Code::truthExpected, arg.loc,
            name + " takes true or false, but " + termText(arg) + " is not");
      return false;
    }
    return isNumbers(arg) &&
           (term.kind == TermKind::Reduce ||
            isVector(arg, name + " without an index",
                     "; help: name the index: " +
                         reductionName(term.reduction).str() + "[i](...)"));
  }
  case TermKind::Join:
    return checkJoin(term);
  case TermKind::Contract:
    return checkContract(term);
  case TermKind::Fold:
    return checkFold(term);
  case TermKind::Slice:
    if (term.args[0]->shape && term.args[0]->shape->size() != 1) {
      error(Code::vectorExpected, term.loc,
            "'cut' takes a vector, but " + termText(*term.args[0]) + " is " +
                shapeText(*term.args[0]->shape));
      return false;
    }
    return true;
  case TermKind::Flatten:
    if (term.args[0]->shape)
      for (const Extent &extent : *term.args[0]->shape)
        if (extent.differs()) {
          error(Code::axisOfExample, term.loc,
                "cannot concat over " + extent.resolved()->text() +
                    ", which differs between examples");
          return false;
        }
    return isNumbers(*term.args[0]);
  case TermKind::Onehot:
    if (term.args[0]->kindOf == Kind::Token && term.args[0]->vocabulary &&
        term.args[0]->shape && term.args[0]->shape->empty())
      return true;
    error(Code::tokenExpected, term.args[0]->loc,
          "'onehot' takes a token, but " + termText(*term.args[0]) + " is " +
              (term.args[0]->shape && !term.args[0]->shape->empty()
                   ? shapeText(*term.args[0]->shape)
                   : std::string("a number")));
    return false;
  case TermKind::Dropout:
    return checkDropout(term);
  case TermKind::Grad:
    return checkGradient(term);
  default:
    return true;
  }
}

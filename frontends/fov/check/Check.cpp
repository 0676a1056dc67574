//===- Check.cpp - do all uses of an inferred model agree? ----------------===//
//
// Runs after the fixed point of Infer.cpp: checks the open questions, the
// pieces of each name, and choices. CheckTerms.cpp checks right sides,
// CheckRanges.cpp ranges and sizes.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/check/CheckImpl.h"

using namespace fovea;
using namespace fovea::fov;

void Checker::error(Code code, SMLoc loc, const std::string &text,
                    Notes notes) {
  if (reported.insert(loc.getPointer()).second)
    diagnostics.error(code, loc, text, std::move(notes));
}

bool Checker::run() {
  unsigned before = diagnostics.numErrors();
  for (Array *array : arrays())
    for (const Piece &piece : array->pieces)
      for (const PiecePlace &place : piece.places)
        if (place.var)
          owners.try_emplace(place.var, array);
  for (const SizeBinding &binding :
       llvm::drop_begin(model.bindings, part.bindings))
    bindings[binding.term].push_back(&binding);
  for (auto &[atom, term] :
       llvm::drop_begin(model.vocabularyBindings, part.vocabularies))
    vocabularies[term].push_back(atom);
  unread();
  if (part.isAll())
    params();
  for (Term &term : terms()) {
    if (model.isStopped())
      return false;
    if (!checkTerm(term))
      bad.insert(&term);
  }
  ranges();
  disagreements();
  for (Array *array : arrays()) {
    if (model.isStopped())
      return false;
    pieces(*array);
  }
  if (part.isAll())
    others();
  if (diagnostics.numErrors() == before)
    unknowns();
  if (diagnostics.numErrors() == before)
    extents();
  if (diagnostics.numErrors() == before)
    elements();
  return diagnostics.numErrors() == before;
}

/// Checks everything besides equations.
void Checker::others() {
  for (Array *data : model.data)
    pieces(*data);
  choices();
  marks();
  updates();
  for (auto &[length, array] : model.lengthValues)
    if ((array->kind && *array->kind == Kind::Real) ||
        (array->valueShape && !array->valueShape->empty()))
      error(Code::numberExpected, array->pieces.front().loc,
            "'" + array->text + "' must be a whole number, but this is " +
                (array->valueShape && !array->valueShape->empty()
                     ? shapeText(*array->valueShape)
                     : "a real number; help: write int(round(x))"));
  for (auto &[term, loc] : model.penalties)
    if (term->shape && !term->shape->empty())
      error(Code::numberExpected, loc,
            "a penalty is a number, but this is " + shapeText(*term->shape));
}

//===----------------------------------------------------------------------===//
// The equations of a name
//===----------------------------------------------------------------------===//

/// The callee of a call, or the text of the term.
static std::string calleeText(const Term &term) {
  std::string text = termText(term);
  size_t open = text.find('(');
  if (open == std::string::npos || open == 0 || text.back() != ')')
    return text;
  int depth = 0;
  for (size_t k = open; k < text.size(); ++k) {
    depth += text[k] == '(' ? 1 : text[k] == ')' ? -1 : 0;
    if (depth == 0)
      return k + 1 == text.size() ? text.substr(0, open) : text;
  }
  return text;
}

/// GRAMMAR 8.22: the general equation and one for a place outside its range
/// differ in size, as if the index selected members. Returns true if that was
/// reported.
bool Checker::memberShapes(Array &array, const Piece &piece) {
  const Piece *general = array.general();
  if (!general || !general->value || !general->value->shape)
    return false;
  const Piece *place = &piece;
  if (general == &piece)
    for (const Piece &other : array.pieces)
      if (!other.isGeneral() && other.value && other.value->shape)
        place = &other;
  if (place == general || place->isGeneral())
    return false;
  const Shape &many = *general->value->shape, &one = *place->value->shape;
  if (many.size() != 1 || one.size() != 1)
    return false;
  auto number = [](const Extent &extent) {
    auto value = extent.value();
    return value ? std::to_string(*value) : extent.text();
  };
  std::string shown;
  std::string first;
  for (auto [at, index] : llvm::zip(place->places, general->places)) {
    shown += shown.empty() ? "[" : ",";
    shown += at.var ? at.var->name : at.constant.text();
    if (!at.var && first.empty())
      first = index.var->name + " = " +
              (at.constant.value().value_or(0) < 0
                   ? std::to_string(index.var->lower)
                   : (at.constant - Extent(1)).text());
  }
  error(Code::equationShape, general->loc,
        "'" + calleeText(*general->value) + "' gives " + number(many[0]) +
            " values for " + first + " and " + array.text + shown + "] has " +
            number(one[0]) +
            "; only an index that selects a family may have members of "
            "different shape",
        {{place->loc, array.text + shown + "] is given here"}});
  return true;
}

void Checker::checkPiece(Array &array, const Piece &piece) {
  const Shape &shape = *piece.value->shape, &wanted = *array.valueShape;
  SMLoc first =
      array.source == Array::Data ? array.loc : array.pieces.front().loc;
  if (!sameShape(shape, wanted)) {
    if (memberShapes(array, piece))
      return;
    bool literal = piece.value->kind == TermKind::Number;
    return error(
        Code::equationShape, piece.loc,
        "'" + array.text + "' is " + shapeText(wanted) +
            (literal ? " but a number is given here; help: write zeros(...)"
             : shape.empty() ? " but a number is given here"
                             : " but " + shapeText(shape) + " is given here"),
        {{first, "its shape comes from here"}});
  }
  Kind kind = *piece.value->kindOf;
  bool literal = piece.value->kind == TermKind::Number ||
                 piece.value->kind == TermKind::Fill;
  if (array.kind == Kind::Token && kind != Kind::Token)
    return error(Code::tokenAsNumber, piece.loc,
                 "'" + array.text +
                     "' is a sequence of tokens, but a number "
                     "is given here",
                 {{first, "the tokens come from here"}});
  if (array.source != Array::Data || kind == array.kind)
    return;
  // A bit may be written as 0 or 1.
  literal &= kind == Kind::Int &&
             (array.kind != Kind::Bit || piece.value->number == 0 ||
              piece.value->number == 1);
  if (kind > *array.kind && !literal)
    error(Code::equationKind, piece.loc,
          "'" + array.text + "' is " + typeName(array).str() + ", but " +
              termText(*piece.value) + " is " + kindName(kind).str(),
          {{array.loc, "it is declared here"}});
}

/// `x[k+1] = ..` starts at 1: other equations give the places before it. An
/// equation at a place, such as x[-1,k], defines all of the other indices.
void Checker::shiftedPieces(const Array &array) {
  const Piece *general = array.general();
  for (const Piece &piece : array.pieces)
    for (unsigned k = 0; &piece != general && k < piece.places.size(); ++k)
      if (piece.places[k].var && piece.places[k].shift != array.shift(k))
        return error(Code::boundaryPlace, piece.loc,
                     "'" + array.text + "' is given here for a part of '" +
                         piece.places[k].var->name +
                         "'; help: write the index as the other equations do",
                     {{array.loc, "another equation is here"}});
  for (unsigned k = 0; general && k < general->places.size(); ++k) {
    if (array.shift(k) == 0)
      continue;
    std::set<int64_t> given;
    for (const Piece &piece : array.pieces)
      if (auto value = piece.places[k].constant.value(); !piece.places[k].var)
        given.insert(value.value_or(-1));
    for (int64_t place = 0; place < array.shift(k); ++place)
      if (!given.count(place))
        return error(Code::boundaryPlace, general->loc,
                     "'" + array.text + "' starts at " +
                         std::to_string(array.shift(k)) +
                         " here; help: give its place " +
                         std::to_string(place) + " as well");
  }
}

void Checker::pieces(Array &array) {
  shiftedPieces(array);
  for (const Piece &piece : array.pieces) {
    if (!piece.value || bad.count(piece.value))
      continue;
    if (array.valueShape && piece.value->shape && piece.value->kindOf)
      checkPiece(array, piece);
    // The example provides data; equations may only add places outside.
    if (array.source == Array::Data)
      for (auto [place, size] : llvm::zip(piece.places, array.extents))
        if (!place.var && !isOutside(place.constant, size))
          error(Code::dataGiven, place.loc,
                "'" + array.text +
                    "' is data, so an equation gives only "
                    "places outside 0 .. " +
                    (size - Extent(1)).text(),
                {{array.loc, "it is declared here"}});
    // The dependencies of the right side must appear on the left.
    for (IndexVar *var : piece.value->free) {
      bool bound = llvm::is_contained(array.context, var) ||
                   llvm::any_of(piece.places, [&](const PiecePlace &place) {
                     return place.var == var;
                   });
      if (!bound)
        error(Code::unboundIndex, piece.loc,
              "index '" + var->name +
                  "' of the right side is not on the "
                  "left: reduce it, or write it on the left");
    }
  }
}

//===----------------------------------------------------------------------===//
// Choices and marks
//===----------------------------------------------------------------------===//

/// mixture(logit [K], mean [K], sd [K]) of real, or mixture(logit [K], mean
/// [K, 2], sd [K, 2], correlation [K]) of real(2).
void Checker::checkMixture(const Choice &choice) {
  const Array &target = *choice.target;
  bool ofPairs = llvm::any_of(choice.parameters, [](auto &parameter) {
    return parameter.first == "correlation";
  });
  bool isDrawn = target.valueShape &&
                 (ofPairs ? target.valueShape->size() == 1 &&
                                target.valueShape->front().value() == 2
                          : target.valueShape->empty());
  if (!isDrawn)
    return error(Code::distributionValue, choice.loc,
                 "a mixture of '" +
                     std::string(ofPairs ? "bivariate' draws pairs"
                                         : "normal' draws numbers") +
                     ", but '" + target.text + "' is " +
                     (target.valueShape && !target.valueShape->empty()
                          ? shapeText(*target.valueShape)
                          : std::string("a number")),
                 {{target.loc, "it is declared here"}});
  std::optional<Extent> count;
  for (auto &[name, term] : choice.parameters) {
    if (!term->shape || bad.count(term))
      continue;
    size_t axes = ofPairs && (name == "mean" || name == "sd") ? 2 : 1;
    bool fits = term->shape->size() == axes &&
                (axes == 1 || term->shape->back().value() == 2) &&
                (!count || *count == term->shape->front());
    if (!fits)
      return error(Code::distributionShape, term->loc,
                   "'" + name + "' of a mixture has " +
                       (axes == 1 ? "one value" : "two values") +
                       " for each component, but " + termText(*term) + " is " +
                       shapeText(*term->shape));
    count = term->shape->front();
  }
}

/// A parameter of a choice's treatment is one number, or one per choice.
void Checker::checkTreatment(const Choice &choice) {
  std::pair<const char *, const Term *> given[] = {
      {"weight", choice.weight},
      {"reward", choice.treatment ? choice.treatment->reward : nullptr},
      {"baseline", choice.treatment ? choice.treatment->baseline : nullptr}};
  if (choice.treatment)
    for (auto &[name, term] : choice.treatment->schedules)
      if (!bad.count(term) && isNumbers(*term) && term->shape &&
          (!term->shape->empty() || !term->free.empty()))
        error(Code::numberExpected, term->loc,
              "'" + name + "' of '" + choice.treatment->kind +
                  "' is one number, but " + termText(*term) + " is " +
                  shapeText(*term->shape));
  for (auto &[name, term] : given) {
    if (!term || bad.count(term) || !isNumbers(*term) || !term->shape ||
        term->shape->empty())
      continue;
    std::optional<Shape> wanted = choice.target->shape();
    if (!wanted)
      continue;
    Shape places(wanted->begin(), wanted->begin() + choice.target->numPlaces);
    bool isBoundary =
        llvm::any_of(choice.places, [](const PiecePlace &p) { return !p.var; });
    if (isBoundary && StringRef(name) == "reward") {
      error(Code::numberExpected, term->loc,
            "'reward' has one for each place of '" + choice.target->text +
                "', but " + termText(*term) +
                " has none for the choice ahead of them; help: take a "
                "reward that is one number",
            {{choice.loc, "that choice is here"}});
      continue;
    }
    if (!sameShape(*term->shape, places))
      error(Code::numberExpected, term->loc,
            std::string("'") + name +
                "' is one number, or one for each place of '" +
                choice.target->text + "', but " + termText(*term) + " is " +
                shapeText(*term->shape));
  }
}

void Checker::checkChoice(const Choice &choice) {
  const Array &target = *choice.target;
  StringRef distribution = choice.distribution;
  StringRef word = choice.isCertain ? "generate" : distribution;
  auto draws = [&](const char *what) {
    error(Code::distributionValue, choice.loc,
          "'" + distribution.str() + "' draws " + what + ", but '" +
              target.text + "' is declared as " + typeName(target).str(),
          {{target.loc, "it is declared here"}});
  };
  if (distribution == "categorical" &&
      (target.kind == Kind::Real || target.kind == Kind::Bit))
    return draws("one of several");
  if (distribution == "bernoulli" && target.kind != Kind::Bit)
    return draws("a bit");
  if (distribution != "categorical" && distribution != "bernoulli" &&
      target.kind != Kind::Real)
    return draws("real numbers");
  auto followsFromValues = [&](const Extent &size) {
    const Atom *length = size.lengthByValues();
    if (length)
      error(Code::distributionShape, choice.loc,
            "a choice over " + size.text() +
                ", which follows from values, has "
                "no distribution; help: choose over " +
                length->bound->text() + " places, and exclude some by -inf");
    return length != nullptr;
  };
  for (const PiecePlace &place : choice.places)
    if (place.var && place.var->extent && followsFromValues(*place.var->extent))
      return;
  for (auto &[name, term] : choice.parameters)
    for (const Extent &size : term->shape.value_or(Shape()))
      if (followsFromValues(size))
        return;
  if (distribution == "mixture")
    return checkMixture(choice);
  for (auto &[name, term] : choice.parameters) {
    if (bad.count(term) || !isNumbers(*term) || !term->shape)
      continue;
    const Shape &shape = *term->shape;
    if (distribution == "categorical") {
      if (shape.size() != 1) {
        error(Code::distributionShape, term->loc,
              "'categorical' takes a vector, but " + termText(*term) + " is " +
                  (shape.empty() ? "a number" : shapeText(shape)));
        continue;
      }
      std::optional<Extent> wanted;
      if (target.vocabulary)
        wanted = target.vocabulary->size;
      else if (target.positionOf)
        wanted = *target.positionOf->axis(0) + Extent(target.ends ? 1 : 0);
      if (wanted && *wanted != shape.front())
        error(Code::distributionShape, term->loc,
              "'" + target.name + "' has " + wanted->textWithValue() +
                  (target.vocabulary ? " symbols" : " positions") +
                  " but its distribution has " + shape.front().textWithValue(),
              {{target.vocabulary ? target.vocabulary->loc : target.loc,
                "they are declared here"}});
    } else if (name == "size" ? term->kind != TermKind::Number
                              : !shape.empty() && target.valueShape &&
                                    !sameShape(shape, *target.valueShape)) {
      error(Code::distributionShape, term->loc,
            "'" + word.str() + "' takes " +
                (target.valueShape && !target.valueShape->empty()
                     ? shapeText(*target.valueShape) + " or a number"
                     : std::string("a number")) +
                ", but " + termText(*term) + " is " +
                (name == "size" ? "not known before anything runs"
                                : shapeText(shape)));
    }
  }
}

/// A guide proposes values for every place that is drawn, not from a later one
/// on.
void Checker::guideFromTheStart(const Choice &guide) {
  for (auto [number, place] : llvm::enumerate(guide.places)) {
    if (!place.var || place.shift <= 0)
      continue;
    // Another choice of the same kind of array begins there too, or covers the
    // places before.
    bool isCovered = llvm::any_of(model.choices, [&](const Choice &other) {
      if (other.target != guide.target || &other == &guide)
        return false;
      const PiecePlace &its = other.places[number];
      return other.guide ? !its.var : its.var && its.shift == place.shift;
    });
    if (!isCovered)
      error(Code::guide, guide.loc,
            "the guide of '" + guide.target->text + "' begins at place " +
                std::to_string(place.shift) +
                ", but the places before are drawn, too; help: write '" +
                place.var->name + "' as its index, for every place");
  }
}

void Checker::choices() {
  std::map<const Array *, const Term *> drawn; // the logits of what is latent
  for (const Choice &choice : model.choices) {
    checkChoice(choice);
    checkTreatment(choice);
    if (choice.guide)
      guideFromTheStart(choice);
    if (choice.distribution == "categorical" && !choice.guide)
      drawn.try_emplace(choice.target, choice.parameters[0].second);
  }
  for (const Choice &choice : model.choices) {
    auto it = drawn.find(choice.target);
    if (choice.distribution != "categorical" || !choice.guide ||
        it == drawn.end())
      continue;
    const Term &given = *choice.parameters[0].second, &wanted = *it->second;
    if (given.shape && wanted.shape && !sameShape(*given.shape, *wanted.shape))
      error(Code::guide, given.loc,
            "'" + choice.target->text + "' is one of " +
                shapeText(*wanted.shape) + ", but its guide has " +
                shapeText(*given.shape),
            {{wanted.loc, "it is drawn here"}});
  }
}

void Checker::marks() {
  for (const Mark &mark : model.marks) {
    const Term &value = *mark.value;
    if (bad.count(&value) || !value.shape || !value.kindOf)
      continue;
    bool isBit = mark.name == "stop" || mark.name == "valid";
    bool isWhole = mark.name == "longest";
    if (isBit ? value.kindOf != Kind::Bit
              : value.kindOf == Kind::Token ||
                    (isWhole && value.kindOf == Kind::Real))
      error(Code::decodeMark, value.loc,
            "'" + mark.name + "' is " +
                (isBit     ? "true or false"
                 : isWhole ? "a whole number"
                           : "a number") +
                ", but " + termText(value) + " is not");
    else if (mark.name != "valid" && !value.shape->empty())
      error(Code::decodeMark, value.loc,
            "'" + mark.name + "' is one value, but " + termText(value) +
                " is " + shapeText(*value.shape));
    else if (isWhole && !mark.indices.empty())
      error(Code::decodeMark, value.loc,
            "'longest' is one number for the whole example: it has "
            "no index");
  }
}

/// Each state has an update of its shape.
void Checker::updates() {
  std::set<const Array *> updated;
  for (const Update &update : model.updates) {
    updated.insert(update.state);
    std::optional<Shape> given = update.value->shape();
    const std::optional<Shape> &wanted = update.state->valueShape;
    if (given && wanted && !sameShape(*given, *wanted))
      error(Code::state, update.loc,
            "'" + update.state->text + "' is " + shapeText(*wanted) +
                ", but its update is " +
                (given->empty() ? "a number" : shapeText(*given)),
            {{update.state->loc, "it is declared here"}});
  }
  // The states of an import are given.
  for (const Array *param : model.params)
    if (param->isState && !param->isOfModule && !param->root.empty() &&
        !model.decoding && !updated.count(param)) {
      const std::string &root = param->root;
      std::string kept =
          ", or update " + root + " = " + root + " if it never changes";
      error(Code::state, param->loc,
            "state '" + root + "' is never updated; help: write update " +
                root + " = .." + (param->text == root ? "" : kept));
    }
}

/// Returns whether some size of a shape waits for a call that binds it.
static bool isOpen(const std::optional<Shape> &shape) {
  return !shape || llvm::any_of(*shape, [](const Extent &size) {
    return size.unresolved() != nullptr;
  });
}

/// Reports what is still open if there was no other error. The first one
/// explains the others.
void Checker::unknowns() {
  for (Array *array : arrays()) {
    if (!isOpen(array->valueShape))
      continue;
    const Piece *general = array->general();
    std::string text = "nothing gives the shape of '" + array->text + "'";
    if (general && !general->places.empty())
      text += "; help: give a boundary, for example " + array->text +
              "[-1] = zeros(...)";
    return error(Code::unknownShape, general ? general->loc : array->loc, text);
  }
  for (const Term &term : terms())
    if (isOpen(term.shape))
      return error(Code::unknownShape, term.loc,
                   "nothing gives the shape of " + termText(term));
}

bool fovea::fov::checkModel(Elaborated &model, Diagnostics &diagnostics,
                            const ModelPart &part) {
  return Checker(model, part, diagnostics).run();
}

//===- Bounds.cpp - is every read inside its array? -----------------------===//
//
// Proves that each index of each read is inside its axis, for all values of the
// indices and lengths: the negation must have no integer solution. Places.h has
// the known facts; the conditions around a term (Guards.h) also hold. Lowering
// restates the ones that a read needs.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/check/Guards.h"
#include "frontends/fov/check/Infer.h"
#include "frontends/fov/check/Places.h"
#include "llvm/ADT/SetVector.h"

using namespace fovea;
using namespace fovea::fov;

namespace {

class Prover {
public:
  Prover(Elaborated &model, const ModelPart &part, Diagnostics &diagnostics)
      : model(model), part(part), diagnostics(diagnostics) {}

  bool run() {
    unsigned before = diagnostics.numErrors();
    for (Array *array : part.arraysOf(model))
      raiseLowerBounds(*array);
    GuardedTerms(model, part).visit([&](Term *term, const Conditions &path) {
      if ((term->kind == TermKind::Read || term->kind == TermKind::Select) &&
          !term->fallback && !model.isStopped())
        checkRead(term, path);
    });
    return diagnostics.numErrors() == before;
  }

private:
  /// An axis along which a read is not proved to be inside.
  struct Miss {
    unsigned axis;
    Extent size;
    enum { Below, Above, OtherRow } side;
    Places::Branches branches;
  };
  /// A boundary value that a read can leave along another axis.
  struct Corner {
    SMLoc loc; // of the boundary
    std::string missing;
  };

  void checkRead(Term *term, const Conditions &path);
  bool isInside(Term *term, const Conditions &path) {
    return missesOf(term, path).empty() && !cornerOf(term, path);
  }
  SmallVector<Miss, 1> missesOf(Term *term, const Conditions &path);
  std::optional<Corner> cornerOf(Term *term, const Conditions &path);
  void raiseLowerBounds(Array &array);
  void report(Term *term, const Miss &miss);
  void reportSide(Term *term, const Miss &miss);

  Elaborated &model;
  ModelPart part;
  Diagnostics &diagnostics;
};

} // namespace

/// A place inside the range overrides the general equation: x[0], x[1], ..
void Prover::raiseLowerBounds(Array &array) {
  const Piece *general = array.general();
  if (!general)
    return;
  for (bool again = true; again;) {
    again = false;
    for (const Piece &piece : array.pieces) {
      if (piece.isGeneral())
        continue;
      for (unsigned k = 0; k < piece.places.size(); ++k) {
        const PiecePlace &place = piece.places[k];
        PiecePlace of = general->places[k];
        if (place.var || !of.var || of.shift != 0)
          continue;
        bool others = true;
        for (unsigned j = 0; j < piece.places.size(); ++j)
          others &= j == k || piece.places[j].var != nullptr;
        auto value = place.constant.value();
        if (others && value && *value >= 0 && *value == of.var->lower) {
          of.var->lower = *value + 1;
          again = true;
        }
      }
    }
  }
}

/// The place of a read that selects the row for an axis of a nested length. An
/// array of a def has the row for which the def is called.
static Term *rowOf(Elaborated &model, const Term &read, unsigned axis,
                   const Extent &size) {
  const Atom *length = size.length();
  if (!length || length->parent.empty())
    return nullptr;
  for (unsigned k = 0; k < axis; ++k) {
    std::optional<Extent> above = read.array->axis(k);
    if (above && above->text() == length->parent)
      return read.args[k];
  }
  for (IndexVar *var : read.array->context)
    if (var->extent && var->extent->text() == length->parent)
      return indexTerm(model, var, read.loc);
  return nullptr;
}

/// Returns whether a place of an axis with a nested length runs over that
/// length in another row than the read one.
static bool isNestedElsewhere(Elaborated &model, const Term &read,
                              unsigned axis, const Extent &size) {
  Term *row = rowOf(model, read, axis, size);
  auto place = affineIndex(*read.args[axis]);
  if (!row || !place || !place->first || !place->first->parentIndex)
    return false;
  auto own = affineIndex(*place->first->parentIndex);
  return !own || affineIndex(*row) != own;
}

/// Returns whether `part` is `whole` or occurs in it.
static bool isPartOf(const Term &part, const Term &whole) {
  llvm::SetVector<const Term *> parts;
  parts.insert(&whole);
  for (size_t i = 0; i < parts.size(); ++i) {
    parts.insert_range(parts[i]->args);
    for (const Term *inner : {parts[i]->condition, parts[i]->fallback})
      if (inner)
        parts.insert(inner);
  }
  return parts.contains(&part);
}

/// The help that adds a value for the places outside, and states the value: it
/// changes the model's result.
static std::string readsZero(const Term &read) {
  std::optional<Kind> kind =
      read.kind == TermKind::Read ? read.array->kind : read.args[0]->kindOf;
  std::string other = kind == Kind::Token ? "\"<unk>\""
                      : kind == Kind::Bit ? "false"
                                          : "0";
  return "; help: write " + termText(read) + " ?? " + other + " to read " +
         other + " outside";
}

void Prover::checkRead(Term *term, const Conditions &path) {
  SmallVector<Miss, 1> misses = missesOf(term, path);
  std::optional<Corner> corner = cornerOf(term, path);
  if (corner)
    diagnostics.error(Code::missingBoundary, term->loc,
                      termText(*term) + " reads " + corner->missing +
                          ", which no equation gives; help: add " +
                          corner->missing + " = ... of shape " +
                          shapeText(*term->array->valueShape),
                      {{corner->loc, "the places beside it are given here"}});
  for (const Miss &miss : misses)
    report(term, miss);
  if (corner || !misses.empty() || path.empty() || isInside(term, {}))
    return;
  // Without any one of these it may be outside.
  Conditions needed = path;
  for (auto &condition : path) {
    Conditions rest = needed;
    llvm::erase(rest, condition);
    if (isInside(term, rest))
      needed = std::move(rest);
  }
  Conditions &guards = model.guards[term];
  for (auto &condition : needed)
    if (!llvm::is_contained(guards, condition))
      guards.push_back(condition);
}

SmallVector<Prover::Miss, 1> Prover::missesOf(Term *term,
                                              const Conditions &path) {
  SmallVector<Miss, 1> misses;
  bool isRead = term->kind == TermKind::Read;
  unsigned first = isRead ? 0 : 1;
  for (unsigned k = first; k < term->args.size(); ++k) {
    Term *arg = term->args[k];
    unsigned axis = k - first;
    std::optional<Extent> size;
    if (isRead)
      size = term->array->axis(axis);
    else if (term->args[0]->shape && axis < term->args[0]->shape->size())
      size = (*term->args[0]->shape)[axis];
    if (!size)
      continue;
    // A token into the table of its vocabulary.
    if (arg->kindOf == Kind::Token && arg->vocabulary &&
        arg->vocabulary->size == *size)
      continue;
    // W[i] implies nothing about W[j].
    bool otherRow = isRead && isNestedElsewhere(model, *term, axis, *size);
    if (arg->kind == TermKind::Index && arg->index->extent &&
        *arg->index->extent == *size && !otherRow)
      continue;
    Places places(model);
    WholeSum index = places.valueOf(arg);
    std::optional<WholeSum> row;
    if (Term *above = isRead ? rowOf(model, *term, axis, *size) : nullptr)
      row = places.valueOf(above);
    std::optional<WholeSum> high = places.valueOf(*size, row ? &*row : nullptr);
    for (auto &[condition, holds] : path)
      places.assume(condition, holds);
    // Boundary values extend the range.
    int64_t below = 0, above = 0;
    if (isRead) {
      const Array &array = *term->array;
      for (bool again = true; again;) {
        again = false;
        if (array.isSentence && axis + 1 == array.numPlaces && below == 0) {
          below = 1;
          again = true;
        }
        for (const Piece &piece : array.pieces) {
          if (piece.isGeneral() || axis >= piece.places.size() ||
              piece.places[axis].var)
            continue;
          const Extent &place = piece.places[axis].constant;
          if (place == Extent(-1 - below)) {
            ++below;
            again = true;
          } else if (place == *size + Extent(above)) {
            ++above;
            again = true;
          }
        }
      }
    }
    // `lower` of the array: places inside the range cover below it.
    Places::Branches branches;
    bool low = places.proves(index + WholeSum::number(below), &branches);
    bool top =
        low && high &&
        places.proves(*high + WholeSum::number(above - 1) - index, &branches);
    if (!low || otherRow || !top)
      misses.push_back({axis, *size,
                        !low       ? Miss::Below
                        : otherRow ? Miss::OtherRow
                                   : Miss::Above,
                        std::move(branches)});
  }
  return misses;
}

/// Counts the places below 0, and from `size` on, of axis `axis` that other
/// equations of `piece` give. These equations fix that axis as well.
static std::pair<int64_t, int64_t> cornersOf(const Array &array,
                                             const Piece &piece, unsigned axis,
                                             const Extent &size) {
  auto isGiven = [&](const Extent &place) {
    return llvm::any_of(array.pieces, [&](const Piece &corner) {
      for (auto [k, own] : llvm::enumerate(corner.places)) {
        const PiecePlace &other = piece.places[k];
        bool matches = k == axis   ? !own.var && own.constant == place
                       : other.var ? own.var != nullptr
                                   : !own.var && own.constant == other.constant;
        if (!matches)
          return false;
      }
      return true;
    });
  };
  int64_t below = 0, above = 0;
  while (isGiven(Extent(-1 - below)))
    ++below;
  while (isGiven(size + Extent(above)))
    ++above;
  return {below, above};
}

/// A read that leaves an array along one axis takes the boundary value, and
/// must not leave that value along another axis.
std::optional<Prover::Corner> Prover::cornerOf(Term *term,
                                               const Conditions &path) {
  if (term->kind != TermKind::Read || term->array->pieces.size() < 2)
    return std::nullopt;
  const Array &array = *term->array;
  for (const Piece &piece : array.pieces) {
    for (unsigned axis = 0; axis < piece.places.size(); ++axis) {
      std::optional<Extent> size = array.axis(axis);
      if (piece.isGeneral() || !piece.places[axis].var || !size ||
          axis >= term->args.size())
        continue;
      Places places(model);
      WholeSum index = places.valueOf(term->args[axis]);
      std::optional<WholeSum> high = places.valueOf(*size);
      for (auto &[condition, holds] : path)
        places.assume(condition, holds);
      bool isOutside = false;
      for (auto [k, place] : llvm::enumerate(piece.places)) {
        if (place.var || k >= term->args.size())
          continue;
        std::optional<Extent> own = array.axis(k);
        std::optional<int64_t> fromBegin = place.constant.value(),
                               fromEnd = (place.constant - *own).value();
        isOutside |=
            (fromBegin && *fromBegin < 0) || (fromEnd && *fromEnd >= 0);
        if (auto fixed = places.valueOf(place.constant))
          places.equal(places.valueOf(term->args[k]), *fixed);
      }
      // Other errors in an index have been reported.
      if (!isOutside || !high)
        continue;
      auto [below, above] = cornersOf(array, piece, axis, *size);
      bool low = places.proves(index + WholeSum::number(below));
      if (low && places.proves(*high + WholeSum::number(above - 1) - index))
        continue;
      std::string missing = array.text + "[";
      for (auto [k, place] : llvm::enumerate(piece.places))
        missing +=
            (k ? "," : "") + (k == axis ? (low ? (*size + Extent(above)).text()
                                               : std::to_string(-1 - below))
                              : place.var ? termText(*term->args[k])
                                          : place.constant.text());
      return Corner{piece.loc, missing + "]"};
    }
  }
  return std::nullopt;
}

void Prover::report(Term *term, const Miss &miss) {
  if (miss.side != Miss::OtherRow)
    return reportSide(term, miss);
  Term *arg = term->args[miss.axis + (term->kind == TermKind::Read ? 0 : 1)];
  diagnostics.error(Code::outOfRange, arg->loc,
                    termText(*arg) + " runs over another row of " +
                        miss.size.text() + " than " + termText(*term) +
                        " reads, which may be shorter" + readsZero(*term));
}

void Prover::reportSide(Term *term, const Miss &miss) {
  unsigned axis = miss.axis;
  const Extent &size = miss.size;
  bool isRead = term->kind == TermKind::Read, below = miss.side == Miss::Below;
  Term *arg = term->args[axis + (isRead ? 0 : 1)];
  std::string text = termText(*term);
  std::string base = isRead ? term->array->text : termText(*term->args[0]);
  std::string valueShape = isRead && term->array->valueShape
                               ? shapeText(*term->array->valueShape)
                               : "number";
  // i + c with a constant: the missing place can be named.
  auto [var, shift] =
      affineIndex(*arg).value_or(std::pair<IndexVar *, int64_t>(nullptr, 0));
  auto placed = [&](const std::string &place) {
    std::string result = base + "[";
    unsigned places = isRead ? term->array->numPlaces : 1;
    for (unsigned k = 0; k < places; ++k) {
      Term *other = k + (isRead ? 0 : 1) < term->args.size()
                        ? term->args[k + (isRead ? 0 : 1)]
                        : nullptr;
      result += (k ? "," : "") + (k == axis ? place
                                  : other   ? termText(*other)
                                            : "...");
    }
    return result + "]";
  };
  if (var && below) {
    std::string missing = placed(std::to_string(var->lower + shift));
    diagnostics.error(
        Code::missingBoundary, term->loc,
        text + " reads " + missing + ", which no equation gives; help: add " +
            missing + " = ... of shape " + valueShape,
        isRead
            ? std::vector<Diagnostics::Note>{{term->array->loc,
                                              "'" + base + "' is given here"}}
            : std::vector<Diagnostics::Note>{});
    return;
  }
  if (var && !below && var->extent) {
    Extent place = *var->extent + Extent(shift - 1);
    std::string shown = place.text();
    std::string last = (*var->extent + Extent(-1)).text();
    auto spaceless = [](std::string s) {
      llvm::erase(s, ' ');
      return s;
    };
    std::string missing = placed(spaceless(shown));
    // Future values of generated data are also errors in decoding.
    if (isRead && term->array->generated && shift > 0)
      for (const Array *array : model.arrays)
        for (const Piece &piece : array->pieces)
          if (llvm::any_of(piece.places, [&, var = var](auto &place) {
                return place.var == var;
              })) {
            diagnostics.error(
                Code::notGenerated, piece.loc,
                "decoding: '" + array->text + "' (line " +
                    std::to_string(diagnostics.lineOf(piece.loc)) + ") reads " +
                    text + ", which is not generated yet at step " + var->name);
            break;
          }
    diagnostics.error(
        Code::outOfRange, term->loc,
        text + " reads " + missing + " for " + var->name + " = " +
            spaceless(last) + ", outside 0 .. " +
            spaceless((size + Extent(-1)).text()) + readsZero(*term) +
            ", or give " + missing + " = ...",
        isRead
            ? std::vector<Diagnostics::Note>{{term->array->loc,
                                              "'" + base + "' is given here"}}
            : std::vector<Diagnostics::Note>{});
    return;
  }
  // A place that is outside for any length: a default of 0 would always apply.
  std::optional<Extent> fixed;
  if (arg->kind == TermKind::Number && arg->isInteger)
    fixed = Extent(int64_t(arg->number));
  else if (arg->kind == TermKind::Size && arg->args.empty())
    fixed = arg->extent;
  if (fixed && (below || (*fixed - size).value().value_or(-1) >= 0)) {
    std::string last = (size + Extent(-1)).text();
    llvm::erase(last, ' ');
    std::string place = termText(*arg);
    llvm::erase(place, ' ');
    // The read with another place on this axis.
    auto readAt = [&](const std::string &other) {
      std::string result = base + "[";
      unsigned first = isRead ? 0 : 1;
      for (unsigned k = first; k < term->args.size(); ++k)
        result += (k > first ? "," : "") +
                  (k == axis + first ? other : termText(*term->args[k]));
      return result + "]";
    };
    bool mayGive = isRead && term->array->source == Array::Equation &&
                   axis < term->array->numPlaces;
    diagnostics.error(
        Code::outOfRange, arg->loc,
        text + " reads place " + place + ", outside 0 .. " + last + "; help: " +
            (mayGive ? "give " + placed(place) + " = ..., or read " : "read ") +
            readAt("0") + ", the first place, or " + readAt(last) +
            ", the last one");
    return;
  }
  // Branches of the place itself; enclosing conditions hold anyway.
  std::vector<std::string> conditions;
  for (auto &[condition, holds] : miss.branches)
    if (std::string given = (holds ? "" : "not ") + termText(*condition);
        isPartOf(*condition, *arg) && !llvm::is_contained(conditions, given))
      conditions.push_back(given);
  std::string where = conditions.empty() ? "" : " where ";
  where += llvm::join(conditions, " and ");
  diagnostics.error(
      Code::outOfRange, arg->loc,
      "nothing proves that " + termText(*arg) +
          (below ? " is at least 0" : " is below " + size.text()) + where +
          readsZero(*term));
}

bool fovea::fov::proveBounds(Elaborated &model, Diagnostics &diagnostics,
                             const ModelPart &part) {
  return Prover(model, part, diagnostics).run();
}

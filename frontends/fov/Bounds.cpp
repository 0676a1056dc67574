//===- Bounds.cpp - is every read inside its array? -----------------------===//
//
// Each index of each read is proved to lie between the first and the last
// place of its axis, for all values of the indices and lengths: the negation,
// with what is known, must have no whole solution. What is known: the range of
// every index, conditions of enclosing reductions and branches, and that data
// extents are at least 1. MLIR's Presburger library decides.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/Infer.h"
#include "mlir/Analysis/Presburger/IntegerRelation.h"

#include <set>

using namespace fovea;
using namespace fovea::fov;
using mlir::presburger::IntegerPolyhedron;
using mlir::presburger::PresburgerSpace;

namespace {

/// A sum of variables of the problem and a constant.
struct Form {
  std::map<unsigned, int64_t> coefficients;
  int64_t constant = 0;
};

/// The known facts around a read, as a growing system of inequalities.
class Problem {
public:
  /// The variable of an index, a length or a computed value.
  unsigned variable(const void *key) {
    auto [it, inserted] = variables.try_emplace(key, variables.size());
    return it->second;
  }
  unsigned fresh() { return variable(&keys.emplace_back()); }
  /// form >= 0
  void know(const Form &form) { facts.push_back(form); }

  /// Whether form >= 0 follows from the facts.
  bool proves(const Form &form) const {
    unsigned num = variables.size();
    IntegerPolyhedron system(PresburgerSpace::getSetSpace(num));
    auto add = [&](const Form &fact, bool negated) {
      llvm::SmallVector<int64_t> row(num + 1, 0);
      for (auto [variable, c] : fact.coefficients)
        row[variable] = negated ? -c : c;
      row[num] = negated ? -fact.constant - 1 : fact.constant;
      system.addInequality(row);
    };
    for (const Form &fact : facts)
      add(fact, false);
    add(form, true);
    return system.isIntegerEmpty();
  }

private:
  std::map<const void *, unsigned> variables;
  std::deque<char> keys;
  std::vector<Form> facts;
};

Form operator+(Form a, const Form &b) {
  for (auto [variable, c] : b.coefficients)
    a.coefficients[variable] += c;
  a.constant += b.constant;
  return a;
}
Form scaled(Form a, int64_t factor) {
  for (auto &[variable, c] : a.coefficients)
    c *= factor;
  a.constant *= factor;
  return a;
}
Form operator-(const Form &a, const Form &b) { return a + scaled(b, -1); }
Form constant(int64_t value) { return {{}, value}; }

class Prover {
public:
  Prover(Elaborated &model, Diagnostics &diagnostics)
      : model(model), diagnostics(diagnostics) {}

  bool run() {
    unsigned before = diagnostics.numErrors();
    for (Array *array : model.arrays)
      raiseLowerBounds(*array);
    for (Array *array : model.arrays)
      for (const Piece &piece : array->pieces)
        if (piece.value)
          walk(piece.value, {});
    for (const Choice &choice : model.choices)
      for (auto &[name, term] : choice.parameters)
        walk(term, {});
    for (auto &[term, loc] : model.penalties)
      walk(term, {});
    for (const Mark &mark : model.marks)
      walk(mark.value, {});
    return diagnostics.numErrors() == before;
  }

private:
  using Path = std::vector<std::pair<Term *, bool>>; // condition, as given

  void walk(Term *term, const Path &path);
  void checkRead(Term *term, const Path &path);
  void checkCorners(Term *term, const Path &path);
  std::optional<Form> formOf(Problem &problem, Term *term);
  std::optional<Form> formOf(Problem &problem, const Extent &extent);
  void assume(Problem &problem, Term *condition, bool holds);
  void raiseLowerBounds(Array &array);
  void addIndex(Problem &problem, const IndexVar *var);
  void report(Term *term, unsigned axis, bool below, const Extent &size);

  Elaborated &model;
  Diagnostics &diagnostics;
  std::set<std::pair<Term *, Path>> visited;
};

} // namespace

/// A place inside the range covers the general equation there: x[0], x[1], ..
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

std::optional<Form> Prover::formOf(Problem &problem, const Extent &extent) {
  std::optional<Extent::Linear> linear = extent.linear();
  if (!linear)
    return std::nullopt;
  Form form = constant(linear->constant);
  for (auto &[atom, factor] : linear->coefficients) {
    unsigned variable = problem.variable(atom);
    form.coefficients[variable] += factor;
    Form self;
    self.coefficients[variable] = 1;
    if (atom->kind == Atom::Length) {
      // Nested lengths may be 0; others are at least 1.
      problem.know(atom->parent.empty() ? self - constant(1) : self);
      continue;
    }
    auto numerator = formOf(problem, atom->numerator);
    auto denominator = atom->denominator.value();
    if (numerator && denominator && *denominator > 0) {
      Form rest = *numerator - scaled(self, *denominator);
      problem.know(rest);
      problem.know(constant(*denominator - 1) - rest);
    }
  }
  return form;
}

void Prover::addIndex(Problem &problem, const IndexVar *var) {
  Form self;
  self.coefficients[problem.variable(var)] = 1;
  problem.know(self - constant(var->lower));
  if (var->extent)
    if (auto size = formOf(problem, *var->extent))
      problem.know(*size - self - constant(1));
}

/// A term of whole numbers as a form; what is not affine becomes a variable
/// with what is known of it.
std::optional<Form> Prover::formOf(Problem &problem, Term *term) {
  switch (term->kind) {
  case TermKind::Number:
    if (!term->isInteger || std::abs(term->number) > 1e15)
      return std::nullopt;
    return constant(int64_t(term->number));
  case TermKind::Index: {
    addIndex(problem, term->index);
    Form form;
    form.coefficients[problem.variable(term->index)] = 1;
    return form;
  }
  case TermKind::Size:
    return formOf(problem, term->extent);
  case TermKind::Read: {
    // Data with a known range: a position, a bit.
    const Array &array = *term->array;
    if (array.positionOf || array.kind == Kind::Bit) {
      Form form;
      form.coefficients[problem.fresh()] = 1;
      problem.know(form);
      std::optional<Form> size =
          array.positionOf ? formOf(problem, *array.positionOf->axis(0))
                           : std::optional<Form>(constant(2));
      // The end symbol stands last: what stands before it is a position.
      bool before = term->args.size() == 1 &&
                    term->args[0]->kind == TermKind::Map &&
                    term->args[0]->fn == Fn::Sub;
      if (size)
        problem.know(*size - form - constant(array.ends && !before ? 0 : 1));
      return form;
    }
    if (array.latent && array.kind == Kind::Int)
      for (const Choice &choice : model.choices)
        if (choice.target == &array && !choice.parameters.empty()) {
          const Term &parameter = *choice.parameters[0].second;
          if (!parameter.shape || parameter.shape->empty())
            continue;
          Form form;
          form.coefficients[problem.fresh()] = 1;
          problem.know(form);
          if (auto size = formOf(problem, parameter.shape->front()))
            problem.know(*size - form - constant(1));
          return form;
        }
    return std::nullopt;
  }
  case TermKind::Map:
    break;
  default:
    return std::nullopt;
  }
  SmallVector<std::optional<Form>> args;
  for (Term *arg : term->args)
    args.push_back(formOf(problem, arg));
  auto known = [&](unsigned k) { return k < args.size() && args[k]; };
  Form self;
  switch (term->fn) {
  case Fn::Add:
    if (known(0) && known(1))
      return *args[0] + *args[1];
    return std::nullopt;
  case Fn::Sub:
    if (known(0) && known(1))
      return *args[0] - *args[1];
    return std::nullopt;
  case Fn::Negate:
    return known(0) ? std::optional<Form>(scaled(*args[0], -1)) : std::nullopt;
  case Fn::Mul:
    for (auto [a, b] : {std::pair(0, 1), std::pair(1, 0)})
      if (known(a) && known(b) && args[a]->coefficients.empty())
        return scaled(*args[b], args[a]->constant);
    return std::nullopt;
  case Fn::Min:
  case Fn::Max: {
    // v <= a, v <= b for a minimum; and at least what both are at least.
    self.coefficients[problem.fresh()] = 1;
    int64_t sign = term->fn == Fn::Min ? 1 : -1;
    for (auto &arg : args)
      if (arg)
        problem.know(scaled(*arg - self, sign));
    if (term->fn == Fn::Min && known(0) && known(1) &&
        problem.proves(*args[0]) && problem.proves(*args[1]))
      problem.know(self);
    return self;
  }
  case Fn::Mod:
    self.coefficients[problem.fresh()] = 1;
    if (known(1) && problem.proves(*args[1] - constant(1))) {
      problem.know(self);
      problem.know(*args[1] - self - constant(1));
    }
    return self;
  case Fn::FloorDiv:
    if (known(0) && known(1) && args[1]->coefficients.empty() &&
        args[1]->constant > 0) {
      self.coefficients[problem.fresh()] = 1;
      Form rest = *args[0] - scaled(self, args[1]->constant);
      problem.know(rest);
      problem.know(constant(args[1]->constant - 1) - rest);
      return self;
    }
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

/// Conditions on indices are facts; conditions on data are not.
void Prover::assume(Problem &problem, Term *condition, bool holds) {
  if (condition->kind != TermKind::Map)
    return;
  Fn fn = condition->fn;
  if (fn == Fn::Not)
    return assume(problem, condition->args[0], !holds);
  if ((fn == Fn::And && holds) || (fn == Fn::Or && !holds)) {
    assume(problem, condition->args[0], holds);
    assume(problem, condition->args[1], holds);
    return;
  }
  if (fn < Fn::Less || fn > Fn::NotEqual)
    return;
  auto a = formOf(problem, condition->args[0]);
  auto b = formOf(problem, condition->args[1]);
  if (!a || !b)
    return;
  if (!holds) {
    static const std::map<Fn, Fn> opposite = {
        {Fn::Less, Fn::GreaterEqual}, {Fn::LessEqual, Fn::Greater},
        {Fn::Greater, Fn::LessEqual}, {Fn::GreaterEqual, Fn::Less},
        {Fn::Equal, Fn::NotEqual},    {Fn::NotEqual, Fn::Equal}};
    fn = opposite.at(fn);
  }
  switch (fn) {
  case Fn::Less:
    problem.know(*b - *a - constant(1));
    break;
  case Fn::LessEqual:
    problem.know(*b - *a);
    break;
  case Fn::Greater:
    problem.know(*a - *b - constant(1));
    break;
  case Fn::GreaterEqual:
    problem.know(*a - *b);
    break;
  case Fn::Equal:
    problem.know(*a - *b);
    problem.know(*b - *a);
    break;
  default:
    // a != b at the edge of a range moves the edge: b != 0 with b >= 0.
    if (problem.proves(*a - *b))
      problem.know(*a - *b - constant(1));
    else if (problem.proves(*b - *a))
      problem.know(*b - *a - constant(1));
    break;
  }
}

void Prover::walk(Term *term, const Path &path) {
  if (!visited.insert({term, path}).second)
    return;
  Path inner = path;
  if (term->kind == TermKind::Reduce && term->condition) {
    walk(term->condition, path);
    inner.push_back({term->condition, true});
  }
  if (term->kind == TermKind::If) {
    walk(term->args[0], path);
    Path yes = path, no = path;
    yes.push_back({term->args[0], true});
    no.push_back({term->args[0], false});
    walk(term->args[1], yes);
    walk(term->args[2], no);
    return;
  }
  for (Term *arg : term->args)
    walk(arg, inner);
  if (term->fallback)
    walk(term->fallback, path);
  if ((term->kind == TermKind::Read || term->kind == TermKind::Select) &&
      !term->fallback)
    checkRead(term, path);
}

/// Whether a place of an axis with a nested length runs over that length in
/// another row than the one that is read.
static bool isNestedElsewhere(const Term &read, unsigned axis,
                              const Extent &size) {
  const Atom *length = size.length();
  if (!length || length->parent.empty())
    return false;
  auto place = affineIndex(*read.args[axis]);
  if (!place || !place->first || !place->first->parentIndex)
    return false;
  auto row = affineIndex(*place->first->parentIndex);
  for (unsigned k = 0; k < axis; ++k) {
    std::optional<Extent> above = read.array->axis(k);
    if (above && above->text() == length->parent)
      return !row || affineIndex(*read.args[k]) != row;
  }
  return false;
}

void Prover::checkRead(Term *term, const Path &path) {
  bool isRead = term->kind == TermKind::Read;
  if (isRead && term->array->pieces.size() > 1)
    checkCorners(term, path);
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
    // W[i] says nothing of W[j].
    bool otherRow = isRead && isNestedElsewhere(*term, axis, *size);
    if (arg->kind == TermKind::Index && arg->index->extent &&
        *arg->index->extent == *size && !otherRow)
      continue;
    Problem problem;
    std::optional<Form> high = otherRow ? std::nullopt : formOf(problem, *size);
    std::optional<Form> index = formOf(problem, arg);
    for (auto &[condition, holds] : path)
      assume(problem, condition, holds);
    // Places outside that are given move the ends.
    int64_t below = 0, above = 0;
    if (isRead) {
      const Array &array = *term->array;
      for (bool again = true; again;) {
        again = false;
        if (array.isSentence && below == 0) {
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
    bool low = index && problem.proves(*index + constant(below));
    bool top =
        index && high && problem.proves(*high + constant(above - 1) - *index);
    if (!low)
      report(term, axis, true, *size);
    else if (otherRow)
      diagnostics.error(arg->loc,
                        termText(*arg) + " runs over another row of " +
                            size->text() + " than " + termText(*term) +
                            " reads, which may be shorter; write " +
                            termText(*term) + " ?? 0");
    else if (!top)
      report(term, axis, false, *size);
  }
}

/// How many places below 0 and from `size` on of axis `axis` are given for
/// those of `piece`, by equations that fix that axis as well.
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

/// Where a read leaves an array along one axis it takes what is given there,
/// and must not leave that along another.
void Prover::checkCorners(Term *term, const Path &path) {
  const Array &array = *term->array;
  for (const Piece &piece : array.pieces) {
    for (unsigned axis = 0; axis < piece.places.size(); ++axis) {
      std::optional<Extent> size = array.axis(axis);
      if (piece.isGeneral() || !piece.places[axis].var || !size ||
          axis >= term->args.size())
        continue;
      Problem problem;
      std::optional<Form> index = formOf(problem, term->args[axis]);
      std::optional<Form> high = formOf(problem, *size);
      for (auto &[condition, holds] : path)
        assume(problem, condition, holds);
      bool isOutside = false;
      for (auto [k, place] : llvm::enumerate(piece.places)) {
        if (place.var || k >= term->args.size())
          continue;
        std::optional<Extent> own = array.axis(k);
        std::optional<int64_t> ahead = place.constant.value(),
                               behind = (place.constant - *own).value();
        isOutside |= (ahead && *ahead < 0) || (behind && *behind >= 0);
        auto at = formOf(problem, term->args[k]);
        auto fixed = formOf(problem, place.constant);
        if (at && fixed) {
          problem.know(*at - *fixed);
          problem.know(*fixed - *at);
        }
      }
      // What is wrong with an index at all has been said.
      if (!isOutside || !index || !high)
        continue;
      auto [below, above] = cornersOf(array, piece, axis, *size);
      bool low = problem.proves(*index + constant(below));
      if (low && problem.proves(*high + constant(above - 1) - *index))
        continue;
      std::string missing = array.text + "[";
      for (auto [k, place] : llvm::enumerate(piece.places))
        missing +=
            (k ? "," : "") + (k == axis ? (low ? (*size + Extent(above)).text()
                                               : std::to_string(-1 - below))
                              : place.var ? termText(*term->args[k])
                                          : place.constant.text());
      missing += "]";
      diagnostics.error(term->loc,
                        termText(*term) + " reads " + missing +
                            ", which no equation gives; add " + missing +
                            " = ... of shape " + shapeText(*array.valueShape),
                        {{piece.loc, "the places beside it are given here"}});
      return;
    }
  }
}

void Prover::report(Term *term, unsigned axis, bool below, const Extent &size) {
  bool isRead = term->kind == TermKind::Read;
  Term *arg = term->args[axis + (isRead ? 0 : 1)];
  std::string text = termText(*term);
  std::string base = isRead ? term->array->text : termText(*term->args[0]);
  std::string valueShape = isRead && term->array->valueShape
                               ? shapeText(*term->array->valueShape)
                               : "number";
  // i + c with a constant: the place that is missing can be named.
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
        term->loc,
        text + " reads " + missing + ", which no equation gives; add " +
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
    // The future of what is generated is as wrong in decoding.
    if (isRead && term->array->generated && shift > 0)
      for (const Array *array : model.arrays)
        for (const Piece &piece : array->pieces)
          if (llvm::any_of(piece.places, [&, var = var](auto &place) {
                return place.var == var;
              })) {
            diagnostics.error(
                piece.loc,
                "decoding: '" + array->text + "' (line " +
                    std::to_string(diagnostics.lineOf(piece.loc)) + ") reads " +
                    text + ", which is not generated yet at step " + var->name);
            break;
          }
    diagnostics.error(
        term->loc,
        text + " reads " + missing + " for " + var->name + " = " +
            spaceless(last) + ", outside 0 .. " +
            spaceless((size + Extent(-1)).text()) + "; write " + text +
            " ?? 0, or give " + missing + " = ...",
        isRead
            ? std::vector<Diagnostics::Note>{{term->array->loc,
                                              "'" + base + "' is given here"}}
            : std::vector<Diagnostics::Note>{});
    return;
  }
  diagnostics.error(
      arg->loc, "nothing proves that " + termText(*arg) +
                    (below ? " is at least 0" : " is below " + size.text()) +
                    "; write " + text + " ?? 0 to say what stands outside");
}

bool fovea::fov::proveBounds(Elaborated &model, Diagnostics &diagnostics) {
  return Prover(model, diagnostics).run();
}

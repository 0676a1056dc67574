//===- Extent.cpp - symbolic sizes ----------------------------------------===//

#include "frontends/fov/elaborate/Extent.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <tuple>

using namespace fovea::fov;

/// The limits on the number of terms, the power, and the length of a floor's
/// name.
static constexpr size_t maxTerms = 64, maxName = 200;
static constexpr int maxPower = 32;

/// num / den in lowest terms; empty on overflow.
static std::optional<Rational> reduced(__int128 num, __int128 den) {
  if (den == 0)
    return std::nullopt;
  if (den != 1) {
    __int128 a = num < 0 ? -num : num, b = den < 0 ? -den : den;
    while (b != 0)
      std::tie(a, b) = std::pair(b, a % b);
    if (den < 0)
      a = -a;
    num /= a, den /= a;
  }
  constexpr __int128 limit = __int128(1) << 62;
  if (num > limit || num < -limit || den > limit)
    return std::nullopt;
  return Rational{int64_t(num), int64_t(den)};
}

static std::optional<Rational> times(Rational a, Rational b) {
  return reduced(__int128(a.num) * b.num, __int128(a.den) * b.den);
}

static std::optional<Rational> plus(Rational a, Rational b) {
  // Half of the range each, so that the sum of two products fits.
  std::optional<Rational> left = reduced(__int128(a.num) * b.den, 1),
                          right = reduced(__int128(b.num) * a.den, 1);
  if (!left || !right)
    return std::nullopt;
  return reduced(__int128(left->num) + right->num, __int128(a.den) * b.den);
}

Extent Extent::outOfRange() {
  Extent result;
  result.shared = llvm::makeIntrusiveRefCnt<Shared>();
  result.shared->isTooLarge = true;
  return result;
}

const Polynomial &Extent::terms() const {
  static const Polynomial none;
  return shared ? shared->terms : none;
}

bool AtomLess::operator()(const Atom *a, const Atom *b) const {
  return (a ? a->id : 0) < (b ? b->id : 0);
}

/// The order of monomials: by the ids of their atoms, then by exponents.
static bool isBefore(const Monomial &a, const Monomial &b) {
  auto key = [](const std::pair<const Atom *, int> &factor) {
    return std::pair(factor.first->id, factor.second);
  };
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(),
      [&](const auto &x, const auto &y) { return key(x) < key(y); });
}

Extent::Extent(const Atom *atom) { add({{atom, 1}}, {1, 1}); }

void Extent::add(const Monomial &monomial, Rational c) {
  if (isTooLarge() || c.num == 0)
    return;
  // Copies keep their terms.
  if (!shared || shared->UseCount() > 1) {
    auto own = llvm::makeIntrusiveRefCnt<Shared>();
    own->terms = terms();
    shared = std::move(own);
  }
  shared->isPlain.reset();
  shared->value.reset();
  Polynomial &sum = shared->terms;
  auto *it = llvm::partition_point(
      sum, [&](const auto &term) { return isBefore(term.first, monomial); });
  bool isNew = it == sum.end() || it->first != monomial;
  std::optional<Rational> total =
      isNew ? reduced(c.num, c.den) : plus(it->second, c);
  bool isTooLarge = !total || sum.size() + isNew > maxTerms ||
                    llvm::any_of(monomial, [](const auto &factor) {
                      return std::abs(factor.second) > maxPower;
                    });
  if (isTooLarge)
    *this = outOfRange();
  else if (isNew)
    sum.insert(it, {monomial, *total});
  else if (total->num == 0)
    sum.erase(it);
  else
    it->second = *total;
}

Extent Extent::operator+(const Extent &other) const {
  if (isTooLarge() || other.isTooLarge())
    return outOfRange();
  if (terms().empty())
    return other;
  Extent result = *this;
  for (const auto &[monomial, c] : other.terms())
    result.add(monomial, c);
  return result;
}

Extent Extent::operator-(const Extent &other) const {
  if (isTooLarge() || other.isTooLarge())
    return outOfRange();
  Extent result = *this;
  for (const auto &[monomial, c] : other.terms())
    result.add(monomial, {-c.num, c.den});
  return result;
}

static Monomial product(const Monomial &a, const Monomial &b) {
  Monomial result;
  const auto *x = a.begin(), *y = b.begin();
  while (x != a.end() || y != b.end()) {
    if (y == b.end() || (x != a.end() && x->first->id < y->first->id)) {
      result.push_back(*x++);
    } else if (x == a.end() || y->first->id < x->first->id) {
      result.push_back(*y++);
    } else {
      if (int exponent = x->second + y->second)
        result.push_back({x->first, exponent});
      ++x, ++y;
    }
  }
  return result;
}

Extent Extent::operator*(const Extent &other) const {
  if (isTooLarge() || other.isTooLarge())
    return outOfRange();
  auto isOne = [](const Extent &extent) {
    const Polynomial &terms = extent.terms();
    return terms.size() == 1 && terms.front().first.empty() &&
           terms.front().second == Rational{1, 1};
  };
  if (isOne(*this) || isOne(other))
    return isOne(other) ? *this : other;
  Extent result;
  for (const auto &[m, c] : terms())
    for (const auto &[n, d] : other.terms()) {
      std::optional<Rational> both = times(c, d);
      if (!both)
        return outOfRange();
      result.add(product(m, n), *both);
    }
  return result;
}

bool Extent::isNumber() const {
  return !isTooLarge() && (terms().empty() || (terms().size() == 1 &&
                                               terms().begin()->first.empty()));
}

bool Extent::differs() const {
  for (const auto &[monomial, c] : terms())
    for (const auto &[atom, exponent] : monomial)
      if (atom->kind == Atom::Length ||
          (atom->kind == Atom::Floor &&
           (atom->numerator.differs() || atom->denominator.differs())) ||
          (atom->solution && atom->solution->differs()))
        return true;
  return false;
}

const Atom *Extent::unresolved() const {
  for (const auto &[monomial, c] : terms())
    for (const auto &[atom, exponent] : monomial) {
      if (atom->kind == Atom::Size && !atom->solution)
        return atom;
      const Atom *inside =
          atom->kind == Atom::Size ? atom->solution->unresolved() : nullptr;
      for (const Extent *part : {&atom->numerator, &atom->denominator})
        if (!inside)
          inside = part->unresolved();
      if (inside)
        return inside;
    }
  return nullptr;
}

const Atom *Extent::length() const {
  if (!isPlain()) {
    std::optional<Extent> all = resolved();
    return all && all->isPlain() ? all->length() : nullptr;
  }
  if (!isOneAtom())
    return nullptr;
  const Atom *atom = terms().begin()->first[0].first;
  return atom->kind == Atom::Length ? atom : nullptr;
}

const Atom *Extent::lengthByValues() const {
  for (const auto &[monomial, c] : terms())
    for (const auto &[atom, exponent] : monomial) {
      if (atom->bound)
        return atom;
      const Atom *inside =
          atom->solution ? atom->solution->lengthByValues() : nullptr;
      for (const Extent *part : {&atom->numerator, &atom->denominator})
        if (!inside)
          inside = part->lengthByValues();
      if (inside)
        return inside;
    }
  return nullptr;
}

const Atom *Extent::nestedLength() const {
  std::optional<Extent> all = resolved();
  if (!all)
    return nullptr;
  for (const auto &[monomial, c] : all->terms())
    for (const auto &[atom, exponent] : monomial) {
      if (atom->kind == Atom::Length && !atom->parent.empty())
        return atom;
      if (atom->kind == Atom::Floor)
        if (const Atom *inside = atom->numerator.nestedLength())
          return inside;
    }
  return nullptr;
}

/// Whether it has no sizes of calls and no floors, which resolved() replaces.
bool Extent::isPlain() const {
  if (!shared)
    return true;
  if (!shared->isPlain)
    shared->isPlain = llvm::none_of(shared->terms, [](const auto &term) {
      return llvm::any_of(term.first, [](const auto &factor) {
        return factor.first->kind == Atom::Size ||
               factor.first->kind == Atom::Floor;
      });
    });
  return *shared->isPlain;
}

bool Extent::isOneAtom() const {
  if (terms().size() != 1)
    return false;
  const auto &[monomial, c] = *terms().begin();
  return monomial.size() == 1 && monomial[0].second == 1 && c.num == 1 &&
         c.den == 1;
}

const Atom *Extent::openAtom() const {
  const Atom *atom = isOneAtom() ? terms().begin()->first[0].first : nullptr;
  if (!atom || atom->kind != Atom::Size)
    return nullptr;
  return atom->solution ? atom->solution->openAtom() : atom;
}

/// The solution of a bound size, or a floor of bound sizes: n // 2 of a def is
/// C / 2 if n is an even C.
static std::optional<Extent> solutionOf(const Atom &atom) {
  if (atom.kind == Atom::Size)
    return atom.solution ? atom.solution->resolved() : std::nullopt;
  if (!atom.resolved) {
    std::optional<Extent> a = atom.numerator.resolved(),
                          b = atom.denominator.resolved();
    if (a && b)
      atom.resolved = atom.owner->floorDiv(*a, *b);
  }
  return atom.resolved;
}

std::optional<Extent> Extent::resolved() const {
  if (isPlain())
    return *this;
  Extent result;
  for (const auto &[monomial, c] : terms()) {
    Extent part(1);
    Monomial rest;
    for (const auto &[atom, exponent] : monomial) {
      if (atom->kind != Atom::Size && atom->kind != Atom::Floor) {
        rest.push_back({atom, exponent});
        continue;
      }
      std::optional<Extent> solution = solutionOf(*atom);
      if (!solution)
        return std::nullopt;
      if (exponent < 0) {
        // Only a product can be divided exactly.
        if (solution->terms().size() != 1)
          return std::nullopt;
        Extent inverse;
        const auto &[m, d] = *solution->terms().begin();
        Monomial inverted = m;
        for (auto &factor : inverted)
          factor.second = -factor.second;
        inverse.add(inverted, {d.num < 0 ? -d.den : d.den, std::abs(d.num)});
        solution = inverse;
      }
      for (int k = 0; k < std::abs(exponent); ++k)
        part = part * *solution;
    }
    Extent own;
    own.add(rest, c);
    result = result + own * part;
  }
  return result;
}

/// The value of one monomial without its coefficient, as a fraction.
static std::optional<Rational> valueOf(const Monomial &monomial) {
  std::optional<Rational> result = Rational{1, 1};
  for (const auto &[atom, exponent] : monomial) {
    std::optional<int64_t> value;
    if (atom->kind == Atom::Dim)
      value = atom->value;
    else if (atom->kind == Atom::Size && atom->solution)
      value = atom->solution->value();
    else if (atom->kind == Atom::Floor) {
      auto a = atom->numerator.value(), b = atom->denominator.value();
      if (a && b && *b != 0)
        value = llvm::divideFloorSigned(*a, *b);
    }
    if (!value)
      return std::nullopt;
    for (int k = 0; k < std::abs(exponent) && result; ++k)
      result = exponent > 0
                   ? times(*result, {*value, 1})
                   : reduced(result->num, __int128(result->den) * *value);
  }
  return result;
}

std::optional<int64_t> Extent::value() const {
  if (!shared)
    return 0;
  // Calls may still bind the sizes of the others.
  if (!isPlain())
    return computeValue();
  if (!shared->value)
    shared->value = computeValue();
  return *shared->value;
}

std::optional<int64_t> Extent::computeValue() const {
  if (isTooLarge())
    return std::nullopt;
  std::optional<Rational> sum = Rational{0, 1};
  for (const auto &[monomial, c] : terms()) {
    std::optional<Rational> part = valueOf(monomial);
    if (part)
      part = times(c, *part);
    if (!part || !(sum = plus(*sum, *part)))
      return std::nullopt;
  }
  if (sum->den != 1)
    return std::nullopt;
  return sum->num;
}

bool Extent::operator==(const Extent &other) const {
  if (isTooLarge() || other.isTooLarge())
    return true;
  if (shared == other.shared || terms() == other.terms())
    return true;
  std::optional<Extent> a = resolved(), b = other.resolved();
  if (!a || !b)
    return false;
  if (a->terms() == b->terms())
    return true;
  if (!a->isNumber() && !b->isNumber())
    return false;
  std::optional<int64_t> x = a->value(), y = b->value();
  return x && y && *x == *y;
}

std::optional<Extent::Linear> Extent::linear() const {
  std::optional<Extent> all = resolved();
  if (!all || all->isTooLarge())
    return std::nullopt;
  std::map<const Atom *, Rational, AtomLess> sums;
  for (const auto &[monomial, c] : all->terms()) {
    const Atom *length = nullptr;
    Monomial rest;
    for (const auto &factor : monomial) {
      bool known = valueOf({factor}).has_value();
      if (known)
        rest.push_back(factor);
      else if (length || factor.second != 1)
        return std::nullopt;
      else
        length = factor.first;
    }
    std::optional<Rational> part = valueOf(rest);
    if (part)
      part = times(c, *part);
    if (part)
      part = plus(sums[length], *part);
    if (!part)
      return std::nullopt;
    sums[length] = *part;
  }
  Linear result;
  for (const auto &[atom, c] : sums) {
    if (c.den != 1)
      return std::nullopt;
    if (!atom)
      result.constant = c.num;
    else if (c.num != 0)
      result.coefficients[atom] = c.num;
  }
  return result;
}

bool Extent::isSum() const {
  std::optional<Linear> sum = linear();
  if (!sum)
    return false;
  if (length())
    return true;
  return llvm::all_of(sum->coefficients, [](const auto &part) {
    const Atom &atom = *part.first;
    if (atom.kind != Atom::Floor)
      return atom.parent.empty();
    const Atom *one = atom.numerator.length();
    return atom.denominator.value().value_or(0) > 0 && atom.numerator.isSum() &&
           (!one || one->parent.empty());
  });
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string floorText(const Extent &a, const Extent &b) {
  auto side = [](const Extent &extent) {
    bool simple = extent.terms().size() == 1;
    return simple ? extent.text() : "(" + extent.text() + ")";
  };
  return side(a) + "//" + side(b);
}

static std::string factorText(const Atom *atom) {
  if (atom->kind == Atom::Size && atom->solution) {
    std::string text = atom->solution->text();
    return atom->solution->terms().size() > 1 ? "(" + text + ")" : text;
  }
  return atom->kind == Atom::Floor
             ? floorText(atom->numerator, atom->denominator)
             : atom->name;
}

std::string Extent::text() const {
  if (isTooLarge())
    return "(too large)";
  // Bound sizes, and floors of them, use their solutions.
  if (!isPlain())
    if (std::optional<Extent> all = resolved();
        all && !(*all - *this).terms().empty())
      return all->text();
  if (terms().empty())
    return "0";
  std::string result;
  auto append = [&](const Monomial &monomial, Rational c) {
    bool negative = c.num < 0;
    int64_t num = negative ? -c.num : c.num;
    if (result.empty())
      result += negative ? "-" : "";
    else
      result += negative ? " - " : " + ";
    std::string over, under;
    bool isAlone = num == 1 && c.den == 1 && monomial.size() == 1 &&
                   monomial[0].second == 1 && !negative;
    for (const auto &[atom, exponent] : monomial)
      for (int k = 0; k < std::abs(exponent); ++k) {
        std::string &side = exponent > 0 ? over : under;
        bool paren = atom->kind == Atom::Floor && !isAlone;
        side += (side.empty() ? "" : "*") +
                (paren ? "(" + factorText(atom) + ")" : factorText(atom));
      }
    if (num != 1 || over.empty())
      over = std::to_string(num) + (over.empty() ? "" : "*" + over);
    if (c.den != 1)
      under = std::to_string(c.den) + (under.empty() ? "" : "*" + under);
    bool paren = under.find('*') != std::string::npos;
    result += over;
    if (!under.empty())
      result += paren ? "/(" + under + ")" : "/" + under;
  };
  // The constant comes last, as people write it.
  for (const auto &[monomial, c] : terms())
    if (!monomial.empty())
      append(monomial, c);
  for (const auto &[monomial, c] : terms())
    if (monomial.empty())
      append(monomial, c);
  return result;
}

std::string Extent::textWithValue() const {
  std::string name = text();
  std::optional<int64_t> number = value();
  if (!number || isNumber())
    return name;
  return name + " = " + std::to_string(*number);
}

bool fovea::fov::isOutside(const Extent &place, const Extent &size) {
  if (place.value().value_or(0) < 0)
    return true;
  std::optional<Extent::Linear> room = (size - place).linear();
  return room && room->coefficients.empty() && room->constant < 1;
}

std::string fovea::fov::shapeText(const Shape &shape) {
  if (shape.empty())
    return "number";
  std::string result = "[";
  for (const Extent &extent : shape)
    result += (result.size() > 1 ? ", " : "") + extent.textWithValue();
  return result + "]";
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

Atom *Sizes::create(Atom::Kind kind, llvm::StringRef name) {
  Atom *atom = &atoms.emplace_back();
  atom->kind = kind;
  atom->name = name.str();
  atom->id = atoms.size();
  return atom;
}

const Atom *Sizes::dim(llvm::StringRef name, int64_t value) {
  Atom *atom = create(Atom::Dim, name);
  atom->value = value;
  return atom;
}

const Atom *Sizes::findLength(llvm::StringRef name) const {
  auto it = lengths.find(name.str());
  return it == lengths.end() ? nullptr : it->second;
}

std::map<std::string, int64_t> Sizes::dims() const {
  std::map<std::string, int64_t> values;
  for (const Atom &atom : atoms)
    if (atom.kind == Atom::Dim)
      values[atom.name] = atom.value;
  return values;
}

const Atom *Sizes::length(llvm::StringRef name, llvm::StringRef parent) {
  const Atom *&known = lengths[name.str()];
  if (!known) {
    Atom *atom = create(Atom::Length, name);
    atom->parent = parent.str();
    known = atom;
  }
  return known;
}

const Atom *Sizes::lengthByValues(llvm::StringRef name, const Extent &bound) {
  Atom *atom = create(Atom::Length, name);
  atom->bound = bound;
  return atom;
}

Extent Sizes::capacity(const Extent &size) {
  if (!size.lengthByValues())
    return size;
  std::optional<Extent::Linear> linear = size.linear();
  assert(linear && "extents were checked");
  Extent result(linear->constant);
  for (auto &[atom, factor] : linear->coefficients) {
    Extent most(atom);
    // One that is subtracted is at least 0.
    if (most.lengthByValues() && factor < 0)
      continue;
    if (atom->bound)
      most = capacity(*atom->bound);
    else if (atom->kind == Atom::Floor)
      most = floorDiv(capacity(atom->numerator), atom->denominator);
    result = result + most * Extent(factor);
  }
  return result;
}

const Atom *Sizes::open(llvm::StringRef name) {
  return create(Atom::Size, name);
}

Extent Sizes::floorDiv(const Extent &a, const Extent &b) {
  if (a.isTooLarge() || b.isTooLarge())
    return Extent::outOfRange();
  std::optional<int64_t> x = a.value(), y = b.value();
  bool divides = x && y && *y != 0 && *x % *y == 0;
  if (!x && b.isNumber() && y && *y != 0) {
    // Every coefficient divides: (2*S)//2 is S.
    divides = llvm::all_of(a.terms(), [&](const auto &term) {
      return term.second.den == 1 && term.second.num % *y == 0;
    });
  }
  if (divides && b.terms().size() == 1) {
    const auto &[monomial, c] = *b.terms().begin();
    Monomial inverted = monomial;
    for (auto &factor : inverted)
      factor.second = -factor.second;
    Extent inverse;
    inverse.add(inverted, {c.num < 0 ? -c.den : c.den, std::abs(c.num)});
    return a * inverse;
  }
  std::string name = floorText(a, b);
  if (name.size() > maxName)
    return Extent::outOfRange();
  // Several open sizes may have one name.
  std::vector<const Atom *> &known = floors[name];
  for (const Atom *atom : known)
    if ((atom->numerator - a).terms().empty() &&
        (atom->denominator - b).terms().empty())
      return Extent(atom);
  Atom *atom = create(Atom::Floor, name);
  atom->numerator = a;
  atom->denominator = b;
  atom->owner = this;
  known.push_back(atom);
  return Extent(atom);
}

void Sizes::nameFloors() {
  for (Atom &atom : atoms)
    if (atom.kind == Atom::Floor)
      atom.name = factorText(&atom);
}

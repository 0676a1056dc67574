//===- Extent.cpp - symbolic sizes ----------------------------------------===//

#include "frontends/fov/Extent.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

using namespace fovea::fov;

static Rational reduced(int64_t num, int64_t den) {
  if (den < 0)
    num = -num, den = -den;
  int64_t divisor = std::gcd(num, den);
  if (divisor == 0)
    return {0, 1};
  return {num / divisor, den / divisor};
}

/// Products saturate: a hostile size of 2^63 must not overflow.
static int64_t times(int64_t a, int64_t b) {
  int64_t result;
  if (llvm::MulOverflow(a, b, result))
    return (a < 0) == (b < 0) ? INT64_MAX / 4 : INT64_MIN / 4;
  return result;
}
static int64_t plus(int64_t a, int64_t b) {
  int64_t result;
  if (llvm::AddOverflow(a, b, result))
    return a < 0 ? INT64_MIN / 4 : INT64_MAX / 4;
  return result;
}

bool AtomLess::operator()(const Atom *a, const Atom *b) const {
  return (a ? a->id : 0) < (b ? b->id : 0);
}

bool MonomialLess::operator()(const Monomial &a, const Monomial &b) const {
  auto key = [](const std::pair<const Atom *, int> &factor) {
    return std::pair(factor.first->id, factor.second);
  };
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(),
      [&](const auto &x, const auto &y) { return key(x) < key(y); });
}

Extent::Extent(const Atom *atom) { add({{atom, 1}}, {1, 1}); }

void Extent::add(const Monomial &monomial, Rational c) {
  Rational &sum = polynomial[monomial];
  sum = reduced(plus(times(sum.num, c.den), times(c.num, sum.den)),
                times(sum.den, c.den));
  if (sum.num == 0)
    polynomial.erase(monomial);
}

Extent Extent::operator+(const Extent &other) const {
  Extent result = *this;
  for (const auto &[monomial, c] : other.polynomial)
    result.add(monomial, c);
  return result;
}

Extent Extent::operator-(const Extent &other) const {
  Extent result = *this;
  for (const auto &[monomial, c] : other.polynomial)
    result.add(monomial, {-c.num, c.den});
  return result;
}

static Monomial product(const Monomial &a, const Monomial &b) {
  std::map<unsigned, std::pair<const Atom *, int>> factors;
  for (const Monomial *monomial : {&a, &b})
    for (const auto &[atom, exponent] : *monomial) {
      auto &factor = factors[atom->id];
      factor = {atom, factor.second + exponent};
    }
  Monomial result;
  for (const auto &[id, factor] : factors)
    if (factor.second != 0)
      result.push_back(factor);
  return result;
}

Extent Extent::operator*(const Extent &other) const {
  Extent result;
  for (const auto &[m, c] : polynomial)
    for (const auto &[n, d] : other.polynomial)
      result.add(product(m, n),
                 reduced(times(c.num, d.num), times(c.den, d.den)));
  return result;
}

bool Extent::isNumber() const {
  return polynomial.empty() ||
         (polynomial.size() == 1 && polynomial.begin()->first.empty());
}

const Atom *Extent::length() const {
  std::optional<Extent> all = resolved();
  if (!all || all->polynomial.size() != 1 ||
      all->polynomial.begin()->first.size() != 1)
    return nullptr;
  const auto &[atom, exponent] = all->polynomial.begin()->first[0];
  const Rational &c = all->polynomial.begin()->second;
  bool alone = exponent == 1 && c.num == 1 && c.den == 1;
  return alone && atom->kind == Atom::Length ? atom : nullptr;
}

const Atom *Extent::openAtom() const {
  if (polynomial.size() != 1 || polynomial.begin()->first.size() != 1)
    return nullptr;
  const auto &[atom, exponent] = polynomial.begin()->first[0];
  const Rational &c = polynomial.begin()->second;
  bool alone = exponent == 1 && c.num == 1 && c.den == 1;
  if (!alone || atom->kind != Atom::Size)
    return nullptr;
  return atom->solution ? atom->solution->openAtom() : atom;
}

std::optional<Extent> Extent::resolved() const {
  Extent result;
  for (const auto &[monomial, c] : polynomial) {
    Extent part(1);
    Monomial rest;
    for (const auto &[atom, exponent] : monomial) {
      if (atom->kind != Atom::Size) {
        rest.push_back({atom, exponent});
        continue;
      }
      if (!atom->solution)
        return std::nullopt;
      std::optional<Extent> solution = atom->solution->resolved();
      if (!solution)
        return std::nullopt;
      for (int k = 0; k < exponent; ++k)
        part = part * *solution;
      if (exponent < 0) {
        // Only a product can be divided by exactly.
        if (solution->polynomial.size() != 1)
          return std::nullopt;
        Extent inverse;
        const auto &[m, d] = *solution->polynomial.begin();
        Monomial inverted = m;
        for (auto &factor : inverted)
          factor.second = -factor.second;
        inverse.add(inverted, {d.den, d.num});
        for (int k = 0; k < -exponent; ++k)
          part = part * inverse;
      }
    }
    Extent own;
    own.add(rest, c);
    result = result + own * part;
  }
  return result;
}

/// The value of one monomial without its coefficient, as a fraction.
static std::optional<Rational> valueOf(const Monomial &monomial) {
  Rational result{1, 1};
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
    for (int k = 0; k < std::abs(exponent); ++k)
      result = exponent > 0 ? reduced(times(result.num, *value), result.den)
                            : reduced(result.num, times(result.den, *value));
  }
  return result;
}

std::optional<int64_t> Extent::value() const {
  Rational sum{0, 1};
  for (const auto &[monomial, c] : polynomial) {
    std::optional<Rational> value = valueOf(monomial);
    if (!value || value->den == 0)
      return std::nullopt;
    Rational part = reduced(times(c.num, value->num), times(c.den, value->den));
    sum = reduced(plus(times(sum.num, part.den), times(part.num, sum.den)),
                  times(sum.den, part.den));
  }
  if (sum.den != 1)
    return std::nullopt;
  return sum.num;
}

bool Extent::operator==(const Extent &other) const {
  std::optional<Extent> a = resolved(), b = other.resolved();
  if (!a || !b)
    return false;
  if ((*a - *b).polynomial.empty())
    return true;
  if (!a->isNumber() && !b->isNumber())
    return false;
  std::optional<int64_t> x = a->value(), y = b->value();
  return x && y && *x == *y;
}

std::optional<Extent::Linear> Extent::linear() const {
  std::optional<Extent> all = resolved();
  if (!all)
    return std::nullopt;
  std::map<const Atom *, Rational, AtomLess> sums;
  for (const auto &[monomial, c] : all->polynomial) {
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
    std::optional<Rational> value = valueOf(rest);
    if (!value || value->den == 0)
      return std::nullopt;
    Rational part = reduced(times(c.num, value->num), times(c.den, value->den));
    Rational &sum = sums[length];
    sum = reduced(plus(times(sum.num, part.den), times(part.num, sum.den)),
                  times(sum.den, part.den));
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

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string factorText(const Atom *atom) {
  if (atom->kind == Atom::Size && atom->solution) {
    std::string text = atom->solution->text();
    return atom->solution->terms().size() > 1 ? "(" + text + ")" : text;
  }
  if (atom->kind == Atom::Floor) {
    auto side = [](const Extent &extent) {
      bool simple = extent.terms().size() == 1;
      return simple ? extent.text() : "(" + extent.text() + ")";
    };
    return side(atom->numerator) + "//" + side(atom->denominator);
  }
  return atom->name;
}

std::string Extent::text() const {
  if (polynomial.empty())
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
    for (const auto &[atom, exponent] : monomial)
      for (int k = 0; k < std::abs(exponent); ++k) {
        std::string &side = exponent > 0 ? over : under;
        side += (side.empty() ? "" : "*") + factorText(atom);
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
  // The constant stands last, as people write it.
  for (const auto &[monomial, c] : polynomial)
    if (!monomial.empty())
      append(monomial, c);
  for (const auto &[monomial, c] : polynomial)
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
  atoms.push_back(std::make_unique<Atom>());
  Atom *atom = atoms.back().get();
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
  for (const auto &atom : atoms)
    if (atom->kind == Atom::Length && atom->name == name)
      return atom.get();
  return nullptr;
}

const Atom *Sizes::length(llvm::StringRef name, llvm::StringRef parent) {
  if (const Atom *known = findLength(name))
    return known;
  Atom *atom = create(Atom::Length, name);
  atom->parent = parent.str();
  return atom;
}

const Atom *Sizes::open(llvm::StringRef name) {
  return create(Atom::Size, name);
}

Extent Sizes::floorDiv(const Extent &a, const Extent &b) {
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
    inverse.add(inverted, reduced(c.den, c.num));
    return a * inverse;
  }
  for (const auto &atom : atoms)
    if (atom->kind == Atom::Floor && (atom->numerator - a).terms().empty() &&
        (atom->denominator - b).terms().empty())
      return Extent(atom.get());
  Atom *atom = create(Atom::Floor, "");
  atom->numerator = a;
  atom->denominator = b;
  atom->name = factorText(atom);
  return Extent(atom);
}

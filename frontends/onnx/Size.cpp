//===- Size.cpp - an extent of an ONNX model ------------------------------===//

#include "frontends/onnx/Size.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <iterator>

using namespace fovea::onnx;

Size::Size(int64_t number) {
  if (number != 0)
    terms[{}] = number;
}

Size Size::of(const std::string &length) {
  Size result;
  result.terms[{length}] = 1;
  return result;
}

std::optional<int64_t> Size::value() const {
  if (overflows)
    return std::nullopt;
  if (terms.empty())
    return 0;
  if (terms.size() == 1 && terms.begin()->first.empty())
    return terms.begin()->second;
  return std::nullopt;
}

std::string Size::text() const {
  if (overflows)
    return "(too large)";
  if (terms.empty())
    return "0";
  std::string result;
  // Terms with lengths come before the number.
  for (auto term = terms.rbegin(); term != terms.rend(); ++term) {
    int64_t factor = term->second;
    if (!result.empty())
      result += factor < 0 ? " - " : " + ";
    else if (factor < 0)
      result += "-";
    std::string product;
    uint64_t magnitude = factor < 0 ? 0 - uint64_t(factor) : uint64_t(factor);
    if (magnitude != 1 || term->first.empty())
      product = std::to_string(magnitude);
    for (const std::string &length : term->first)
      product += (product.empty() ? "" : "*") + length;
    result += product;
  }
  bool isWord = result.find_first_of(" *-/") == std::string::npos;
  return isWord ? result : "(" + result + ")";
}

/// Products of lengths have few terms in real models; a file that squares one
/// repeatedly would exhaust the memory.
static constexpr size_t mostTerms = 64, mostFactors = 16, longestName = 1000;

Size Size::tooLarge() {
  Size result;
  result.overflows = true;
  return result;
}

void Size::add(const Product &product, int64_t factor) {
  int64_t &own = terms[product];
  overflows |= __builtin_add_overflow(own, factor, &own) ||
               terms.size() > mostTerms || product.size() > mostFactors;
  if (own == 0)
    terms.erase(product);
}

namespace fovea::onnx {

Size operator+(const Size &a, const Size &b) {
  if (a.overflows || b.overflows)
    return Size::tooLarge();
  Size result = a.withoutParts();
  for (const auto &[product, factor] : b.terms)
    result.add(product, factor);
  return result;
}

Size operator-(const Size &a, const Size &b) { return a + b * Size(-1); }

Size operator*(const Size &a, const Size &b) {
  if (a.overflows || b.overflows)
    return Size::tooLarge();
  Size result;
  for (const auto &[left, one] : a.terms)
    for (const auto &[right, other] : b.terms) {
      std::vector<std::string> product = left;
      product.insert(product.end(), right.begin(), right.end());
      std::sort(product.begin(), product.end());
      int64_t factor = 0;
      if (__builtin_mul_overflow(one, other, &factor))
        return Size::tooLarge();
      result.add(product, factor);
    }
  return result;
}

} // namespace fovea::onnx

/// INT64_MIN / -1 is the one quotient of 64 bits that overflows.
static bool divides(int64_t number, int64_t factor) {
  return number != 0 && !(number == -1 && factor == INT64_MIN) &&
         factor % number == 0;
}

/// A product of lengths is longer than its factors, and multiplying two
/// products of equal length by a third one keeps their order. So the leading
/// term of a product is the product of the leading terms.
Size Size::leading() const {
  Size result;
  auto last = std::max_element(terms.begin(), terms.end(),
                               [](const auto &a, const auto &b) {
                                 return std::pair(a.first.size(), a.first) <
                                        std::pair(b.first.size(), b.first);
                               });
  if (last != terms.end())
    result.terms.insert(*last);
  return result;
}

std::optional<Size> Size::dividedBy(const Size &other) const {
  if (overflows || other.overflows || other.terms.empty())
    return std::nullopt;
  const Size divisor = other.leading();
  const auto &[product, number] = *divisor.terms.begin();
  if (other.terms.size() == 1)
    return dividedByTerm(product, number);
  Size result, rest = *this;
  for (size_t i = 0; i < mostTerms && !rest.terms.empty(); ++i) {
    std::optional<Size> term = rest.leading().dividedByTerm(product, number);
    if (!term)
      return std::nullopt;
    result = result + *term;
    rest = rest - *term * other;
    if (rest.overflows)
      return std::nullopt;
  }
  return rest.terms.empty() && !terms.empty() ? std::optional(result)
                                              : std::nullopt;
}

std::optional<Size> Size::dividedByTerm(const Product &divisor,
                                        int64_t number) const {
  Size result;
  for (const auto &[product, factor] : terms) {
    std::vector<std::string> rest;
    if (!divides(number, factor) ||
        !std::includes(product.begin(), product.end(), divisor.begin(),
                       divisor.end()))
      return std::nullopt;
    std::set_difference(product.begin(), product.end(), divisor.begin(),
                        divisor.end(), std::back_inserter(rest));
    result.terms[rest] = factor / number;
  }
  return result;
}

Size Size::floorDividedBy(int64_t number) const {
  assert(number > 0 && "a divisor is a count");
  if (overflows)
    return tooLarge();
  if (std::optional<Size> exact = dividedBy(number))
    return *exact;
  if (std::optional<int64_t> own = value())
    return *own / number - (*own % number != 0 && *own < 0);
  std::string name = "(" + text() + " // " + std::to_string(number) + ")";
  return name.size() > longestName ? tooLarge() : of(name);
}

/// The place of `what` outside of parentheses, from `begin` on; npos: nowhere.
static size_t findOutside(std::string_view text, std::string_view what,
                          size_t begin = 0) {
  int depth = 0;
  for (size_t i = begin; i < text.size(); ++i) {
    if (depth == 0 && text.substr(i).starts_with(what))
      return i;
    depth += (text[i] == '(') - (text[i] == ')');
  }
  return text.npos;
}

/// Splits the name of a quotient, `(TEXT // NUMBER)`; false for other names.
static bool splitQuotient(std::string_view name, std::string_view &text,
                          int64_t &number) {
  if (!name.starts_with('(') || !name.ends_with(')'))
    return false;
  name = name.substr(1, name.size() - 2);
  size_t place = findOutside(name, " // ");
  if (place == name.npos)
    return false;
  text = name.substr(0, place);
  std::string_view digits = name.substr(place + 4);
  return std::from_chars(digits.data(), digits.data() + digits.size(), number)
             .ec == std::errc();
}

Size Size::parsed(std::string_view text) {
  std::string_view inner;
  int64_t number = 0;
  // A sum is in parentheses, and so is a quotient, which is a name.
  if (text.starts_with('(') && !splitQuotient(text, inner, number) &&
      findOutside(text.substr(0, text.size() - 1), " ") == text.npos)
    text = text.substr(1, text.size() - 2);
  Size result;
  int64_t sign = text.starts_with('-') ? -1 : 1;
  text.remove_prefix(sign < 0);
  for (;;) {
    size_t end = std::min(findOutside(text, " + "), findOutside(text, " - "));
    std::string_view term = text.substr(0, end);
    int64_t factor = sign;
    std::vector<std::string> product;
    for (size_t begin = 0; begin <= term.size();) {
      size_t star = std::min(findOutside(term, "*", begin), term.size());
      std::string_view part = term.substr(begin, star - begin);
      begin = star + 1;
      if (auto [rest, fault] =
              std::from_chars(part.data(), part.data() + part.size(), number);
          fault == std::errc() && rest == part.data() + part.size())
        factor *= number;
      else
        product.emplace_back(part);
    }
    result.add(product, factor);
    if (end == text.npos)
      return result;
    sign = text[end + 1] == '-' ? -1 : 1;
    text.remove_prefix(end + 3);
  }
}

std::optional<int64_t> Size::leastOf(const std::string &length) {
  std::string_view text;
  int64_t number = 0;
  if (!splitQuotient(length, text, number))
    return 1;
  std::optional<int64_t> own = parsed(text).least();
  if (!own)
    return std::nullopt;
  return *own / number - (*own % number != 0 && *own < 0);
}

std::optional<int64_t> Size::least() const {
  if (overflows)
    return std::nullopt;
  int64_t result = 0;
  for (const auto &[product, factor] : terms) {
    int64_t term = factor;
    for (const std::string &length : product) {
      std::optional<int64_t> own = leastOf(length);
      bool isBounded = own && factor > 0 && (*own >= 0 || product.size() == 1);
      if (!isBounded || __builtin_mul_overflow(term, *own, &term))
        return std::nullopt;
    }
    if (__builtin_add_overflow(result, term, &result))
      return std::nullopt;
  }
  return result;
}

std::set<std::string> Size::lengths() const {
  std::set<std::string> result;
  for (const auto &[product, factor] : terms)
    for (const std::string &length : product)
      if (!length.starts_with('('))
        result.insert(length);
  return result;
}

Size Size::withLength(const std::string &old, const std::string &length) const {
  if (overflows)
    return tooLarge();
  Size result;
  for (const auto &[product, factor] : terms) {
    Product own = product;
    std::replace(own.begin(), own.end(), old, length);
    std::sort(own.begin(), own.end());
    result.add(own, factor);
  }
  return result;
}

std::string Size::multipliedLength() const {
  for (const auto &[product, factor] : terms)
    if (product.size() > 1)
      return product.back();
  return "";
}

Size Size::ofParts(std::vector<Size> parts) {
  Size result = productOf(parts);
  if (parts.size() > 1)
    result.merged = std::move(parts);
  return result;
}

Size Size::withoutParts() const {
  Size result = *this;
  result.merged.clear();
  return result;
}

Shape fovea::onnx::storedAxes(const Shape &shape) {
  Shape axes;
  for (const Size &size : shape) {
    if (size.parts().empty())
      axes.push_back(size);
    axes.insert(axes.end(), size.parts().begin(), size.parts().end());
  }
  return axes;
}

Shape fovea::onnx::withParts(const Shape &from, const Shape &to) {
  Shape result = to, left = storedAxes(from);
  size_t next = 0;
  for (Size &size : result) {
    Size needed = size.withoutParts();
    std::vector<Size> parts;
    while (!needed.is(1) && next < left.size()) {
      Size &axis = left[next];
      std::optional<Size> rest = needed.dividedBy(axis),
                          kept = axis.dividedBy(needed);
      if (!rest && !kept)
        return result;
      // An axis may begin inside another one, as heads in a merged axis.
      Size part = rest ? axis : needed;
      if (!part.is(1))
        parts.push_back(part);
      next += rest ? 1 : 0;
      if (!rest)
        axis = *kept;
      needed = rest ? *rest : Size(1);
    }
    // Constant axes keep the file's form.
    if (needed.is(1) && !size.value())
      size = Size::ofParts(std::move(parts));
  }
  return result;
}

Size fovea::onnx::productOf(const Shape &shape, size_t begin, size_t end) {
  Size result(1);
  for (size_t i = begin; i < std::min(end, shape.size()); ++i)
    result = result * shape[i];
  return result;
}

std::string fovea::onnx::shapeText(const Shape &shape) {
  std::string text;
  for (const Size &size : shape)
    text += (text.empty() ? "" : ", ") + size.text();
  return "[" + text + "]";
}

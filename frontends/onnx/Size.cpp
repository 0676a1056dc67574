//===- Size.cpp - an extent of an ONNX model ------------------------------===//

#include "frontends/onnx/Size.h"

#include <algorithm>

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
  if (terms.empty())
    return 0;
  if (terms.size() == 1 && terms.begin()->first.empty())
    return terms.begin()->second;
  return std::nullopt;
}

std::string Size::text() const {
  if (terms.empty())
    return "0";
  std::string result;
  // What has lengths comes before the number.
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

/// Sums and products of what a file says wrap around.
static int64_t wrapped(uint64_t number) { return static_cast<int64_t>(number); }

namespace fovea::onnx {

Size operator+(const Size &a, const Size &b) {
  Size result = a;
  for (const auto &[product, factor] : b.terms) {
    int64_t &own = result.terms[product];
    own = wrapped(uint64_t(own) + uint64_t(factor));
    if (own == 0)
      result.terms.erase(product);
  }
  return result;
}

Size operator-(const Size &a, const Size &b) { return a + b * Size(-1); }

Size operator*(const Size &a, const Size &b) {
  Size result;
  for (const auto &[left, one] : a.terms)
    for (const auto &[right, other] : b.terms) {
      std::vector<std::string> product = left;
      product.insert(product.end(), right.begin(), right.end());
      std::sort(product.begin(), product.end());
      int64_t &own = result.terms[product];
      own = wrapped(uint64_t(own) + uint64_t(one) * uint64_t(other));
      if (own == 0)
        result.terms.erase(product);
    }
  return result;
}

} // namespace fovea::onnx

std::optional<Size> Size::dividedBy(const Size &other) const {
  if (other.terms.size() != 1)
    return *this == other ? std::optional<Size>(1) : std::nullopt;
  const auto &[divisor, number] = *other.terms.begin();
  Size result;
  for (const auto &[product, factor] : terms) {
    std::vector<std::string> rest;
    if (factor % number != 0 || !std::includes(product.begin(), product.end(),
                                               divisor.begin(), divisor.end()))
      return std::nullopt;
    std::set_difference(product.begin(), product.end(), divisor.begin(),
                        divisor.end(), std::back_inserter(rest));
    result.terms[rest] = factor / number;
  }
  return result;
}

Size Size::floorDividedBy(int64_t number) const {
  if (std::optional<Size> exact = dividedBy(number))
    return *exact;
  if (std::optional<int64_t> own = value()) {
    int64_t quotient = *own / number;
    return quotient - (*own % number != 0 && (*own < 0) != (number < 0));
  }
  return of("(" + text() + " // " + std::to_string(number) + ")");
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

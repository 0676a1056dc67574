//===- Printable.cpp - text that a terminal only shows --------------------===//

#include "runtime/data/Printable.h"
#include "runtime/data/Text.h"

#include <fmt/format.h>

using namespace fovea::runtime;

/// Returns the length of the first character in bytes; 0 if it is not UTF-8.
static size_t firstSize(std::string_view text) {
  for (size_t size = 1; size <= 4 && size <= text.size(); ++size)
    if (validUtf8(text.substr(0, size)) == size)
      return size;
  return 0;
}

std::string fovea::runtime::printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    size_t size = firstSize(text);
    auto first = static_cast<unsigned char>(text.front());
    auto second = static_cast<unsigned char>(size > 1 ? text[1] : 0);
    if (size == 2 && first == 0xC2 && second < 0xA0)
      result += fmt::format("<U+00{:02X}>", second);
    else if (size == 0 || first == 0x7F ||
             (first < ' ' && first != '\n' && first != '\t'))
      result += fmt::format("<{:02X}>", first);
    else
      result += text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return result;
}

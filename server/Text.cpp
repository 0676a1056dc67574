//===- Text.cpp - places in a text as editors count -----------------------===//

#include "server/Text.h"

#include "llvm/Support/JSON.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace fovea::editors;
using llvm::StringRef;
namespace lsp = llvm::lsp;

/// The bytes of the first character of `text`, and its units of UTF-16.
static std::pair<size_t, size_t> firstCharacter(StringRef text) {
  auto *bytes = reinterpret_cast<const llvm::UTF8 *>(text.data());
  size_t length = llvm::getNumBytesForUTF8(*bytes);
  if (length > text.size() || !llvm::isLegalUTF8Sequence(bytes, bytes + length))
    return {1, 1};
  return {length, length == 4 ? 2 : 1};
}

Lines::Lines(StringRef text) : all(text), starts{0} {
  for (size_t at = 0; at < text.size(); ++at)
    if (text[at] == '\n')
      starts.push_back(at + 1);
}

StringRef Lines::line(size_t number) const {
  if (number >= starts.size())
    return {};
  size_t end = number + 1 < starts.size() ? starts[number + 1] - 1 : all.size();
  StringRef result = all.slice(starts[number], end);
  result.consume_back("\r");
  return result;
}

size_t Lines::offsetOf(const lsp::Position &position) const {
  if (position.line < 0)
    return 0;
  if (size_t(position.line) >= starts.size())
    return all.size();
  StringRef rest = line(position.line);
  int64_t units = position.character;
  while (units > 0 && !rest.empty()) {
    auto [bytes, width] = firstCharacter(rest);
    // Between the halves of a pair is before it.
    if (int64_t(width) > units)
      break;
    rest = rest.drop_front(bytes);
    units -= width;
  }
  return rest.data() - all.data();
}

lsp::Position Lines::positionOf(size_t offset) const {
  offset = std::min(offset, all.size());
  size_t line = llvm::upper_bound(starts, offset) - starts.begin() - 1;
  StringRef rest = all.slice(starts[line], offset);
  int character = 0;
  while (!rest.empty()) {
    auto [bytes, width] = firstCharacter(rest);
    rest = rest.drop_front(bytes);
    character += width;
  }
  return lsp::Position(line, character);
}

lsp::Range Lines::rangeOf(StringRef part) const {
  size_t begin = part.data() - all.data();
  return lsp::Range(positionOf(begin), positionOf(begin + part.size()));
}

void fovea::editors::apply(const lsp::TextDocumentContentChangeEvent &change,
                           std::string &text) {
  if (!change.range) {
    text = change.text;
    return;
  }
  Lines lines(text);
  size_t begin = lines.offsetOf(change.range->start);
  size_t end = std::max(begin, lines.offsetOf(change.range->end));
  text.replace(begin, end - begin, change.text);
}

std::string fovea::editors::clean(StringRef text) {
  return llvm::json::isUTF8(text) ? text.str() : llvm::json::fixUTF8(text);
}

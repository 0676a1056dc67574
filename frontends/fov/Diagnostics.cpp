//===- Diagnostics.cpp - errors with a place, a line and a caret ----------===//
//
// Prints errors on a terminal: shows any source bytes safely, cuts long lines
// around the caret, merges repeated errors and counts the rest. The code that
// finds an error decides its text.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/Diagnostics.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/xxhash.h"

using namespace fovea;
using namespace llvm;

/// Columns of a source line shown left and right of the caret.
static constexpr unsigned shownLeft = 60;
static constexpr unsigned shownRight = 36;

/// Bytes of a message, and of a piece of code quoted in one.
static constexpr size_t longestMessage = 2000;
static constexpr size_t longestQuote = 48;

/// Maximum number of secondary places per error.
static constexpr unsigned mostRepeats = 2;

namespace {
/// A displayed character: its source bytes, its text and its width in
/// columns.
struct Cell {
  size_t bytes;
  SmallString<8> text;
  unsigned width;
};
} // namespace

/// Returns the first character of `text` (not empty), made safe for a terminal.
static Cell firstCell(StringRef text) {
  unsigned char first = text.front();
  if (first >= 0x20 && first < 0x7f)
    return {1, StringRef(text.data(), 1), 1};
  size_t length = getNumBytesForUTF8(first);
  auto *bytes = reinterpret_cast<const UTF8 *>(text.data());
  if (first >= 0x80 && length <= text.size() &&
      isLegalUTF8Sequence(bytes, bytes + length)) {
    StringRef character = text.take_front(length);
    int width = sys::unicode::columnWidthUTF8(character);
    if (width >= 0)
      return {length, character, unsigned(width)};
    UTF32 code = 0;
    UTF32 *target = &code;
    ConvertUTF8toUTF32(&bytes, bytes + length, &target, &code + 1,
                       strictConversion);
    std::string shown = "<U+" + utohexstr(code, false, 4) + ">";
    return {length, StringRef(shown), unsigned(shown.size())};
  }
  std::string shown = "<" + utohexstr(first, false, 2) + ">";
  return {1, StringRef(shown), unsigned(shown.size())};
}

/// `text` without anything that a terminal could take as a command.
static std::string safe(StringRef text, size_t longest) {
  std::string result;
  while (!text.empty() && result.size() < longest) {
    Cell cell = firstCell(text);
    result += cell.text;
    text = text.drop_front(cell.bytes);
  }
  if (!text.empty())
    result += "...";
  return result;
}

StringRef fovea::idOf(Code code) {
  static constexpr StringLiteral ids[] = {
      "",
#define CODE(id, name) #id,
#include "frontends/fov/Codes.def"
  };
  return ids[static_cast<size_t>(code)];
}

bool fovea::enableColours(raw_ostream &out) {
  bool hasColours = out.has_colors() && !sys::Process::GetEnv("NO_COLOR");
  if (hasColours)
    out.enable_colors(true);
  return hasColours;
}

Diagnostics::Diagnostics(raw_ostream &out, unsigned limit)
    : out(out), limit(limit), hasColours(enableColours(out)) {}

StringRef Diagnostics::addSource(StringRef name, std::string text) {
  // A byte order mark, which some editors write, is not text.
  StringRef own = text;
  own.consume_front("\xef\xbb\xbf");
  std::unique_ptr<MemoryBuffer> buffer =
      MemoryBuffer::getMemBufferCopy(own, name);
  StringRef result = buffer->getBuffer();
  manager.AddNewSourceBuffer(std::move(buffer), SMLoc());
  return result;
}

void Diagnostics::addPart(std::unique_ptr<MemoryBuffer> lines,
                          unsigned before) {
  linesBefore[manager.AddNewSourceBuffer(std::move(lines), SMLoc())] = before;
}

unsigned Diagnostics::lineIn(unsigned buffer, SMLoc loc) const {
  return linesBefore.lookup(buffer) + manager.FindLineNumber(loc, buffer);
}

unsigned Diagnostics::lineOf(SMLoc loc) const {
  unsigned id = manager.FindBufferContainingLoc(loc);
  return id ? lineIn(id, loc) : 0;
}

std::string Diagnostics::lineText(SMLoc loc, SMLoc from) const {
  std::string text = "line " + std::to_string(lineOf(loc));
  unsigned id = manager.FindBufferContainingLoc(loc);
  if (!id || manager.FindBufferContainingLoc(from) == id)
    return text;
  StringRef name = manager.getMemoryBuffer(id)->getBufferIdentifier();
  return text + " of " + sys::path::filename(name).str();
}

void Diagnostics::error(Code code, SMLoc loc, const std::string &text,
                        std::vector<Note> notes) {
  report(SourceMgr::DK_Error, errors, code, loc, text, notes);
}

void Diagnostics::warning(Code code, SMLoc loc, const std::string &text,
                          std::vector<Note> notes) {
  bool isHidden =
      hidesTextWarnings && Code::unusedName <= code && code < Code::notDecoded;
  if (!isHidden && !isMeant(loc))
    report(SourceMgr::DK_Warning, warnings, code, loc, text, notes);
}

/// `model.fov:4:2`; empty without a place.
std::string Diagnostics::placeText(SMLoc loc) const {
  unsigned id = loc.isValid() ? manager.FindBufferContainingLoc(loc) : 0;
  if (!id)
    return "";
  auto [line, column] = manager.getLineAndColumn(loc, id);
  return (manager.getMemoryBuffer(id)->getBufferIdentifier() + ":" +
          Twine(line) + ":" + Twine(column))
      .str();
}

/// Returns whether a comment on the line suppresses the warning.
bool Diagnostics::isMeant(SMLoc loc) const {
  unsigned id = loc.isValid() ? manager.FindBufferContainingLoc(loc) : 0;
  if (!id)
    return false;
  const char *end = manager.getMemoryBuffer(id)->getBufferEnd();
  StringRef line =
      StringRef(loc.getPointer(), end - loc.getPointer()).split('\n').first;
  // A string may contain the comment sign.
  bool inString = false;
  for (size_t at = 0; at < line.size(); ++at) {
    inString ^= line[at] == '"';
    if (line[at] == '#' && !inString)
      return line.drop_front(at + 1).ltrim().starts_with("as meant");
  }
  return false;
}

void Diagnostics::report(SourceMgr::DiagKind kind, unsigned &count, Code code,
                         SMLoc loc, const std::string &text,
                         const std::vector<Note> &notes) {
  uint64_t key = xxh3_64bits(text);
  // A command may read a spec twice, with and without the sizes of weights.
  std::pair<const char *, uint64_t> place(loc.getPointer(), key);
  if (kind == SourceMgr::DK_Warning)
    place = {nullptr, xxh3_64bits(placeText(loc) + text)};
  if (!seen.insert(place).second)
    return;
  // The same message about the same names: `h[t-1] reads h[-1], ..`.
  bool hasName = StringRef(text).find_first_of("'[") != StringRef::npos;
  if (kind == SourceMgr::DK_Error && joinsRepeated && hasName && loc.isValid())
    if (unsigned before = repeats[key]++) {
      if (before <= mostRepeats && errors <= limit)
        print(SourceMgr::DK_Note, Code::none, loc, "the same holds here");
      return;
    }
  if (++count > limit)
    return;
  print(kind, code, loc, text);
  for (const Note &note : notes)
    print(SourceMgr::DK_Note, Code::none, note.loc, note.text);
  auto origin = origins.find(loc.getPointer());
  if (origin != origins.end())
    print(SourceMgr::DK_Note, Code::none, origin->second.loc,
          origin->second.text);
}

void Diagnostics::finish() {
  auto rest = [&](unsigned count, StringRef what) {
    if (count > limit)
      out << count - limit << " more " << what
          << (count - limit == 1 ? "\n" : "s\n");
  };
  rest(errors, "error");
  rest(warnings, "warning");
  out.flush();
}

void Diagnostics::paint(raw_ostream::Colors colour, const std::string &text) {
  if (hasColours)
    out.changeColor(colour, /*Bold=*/true);
  out << text;
  if (hasColours)
    out.resetColor();
}

void Diagnostics::print(SourceMgr::DiagKind kind, Code code, SMLoc loc,
                        const std::string &text) {
  if (listener)
    listener(kind, code, loc, text);
  unsigned id = loc.isValid() ? manager.FindBufferContainingLoc(loc) : 0;
  const MemoryBuffer *buffer = id ? manager.getMemoryBuffer(id) : nullptr;
  if (buffer) {
    const char *begin = loc.getPointer();
    while (begin != buffer->getBufferStart() && begin[-1] != '\n')
      --begin;
    out << safe(buffer->getBufferIdentifier(), longestMessage) << ':'
        << lineIn(id, loc) << ':' << loc.getPointer() - begin + 1 << ": ";
  }
  if (kind == SourceMgr::DK_Error)
    paint(raw_ostream::RED, "error: ");
  else if (kind == SourceMgr::DK_Warning)
    paint(raw_ostream::MAGENTA, "warning: ");
  else
    paint(raw_ostream::CYAN, "note: ");
  out << safe(text, longestMessage);
  if (code != Code::none)
    out << " [" << idOf(code) << "]";
  out << '\n';
  if (buffer)
    printLine(*buffer, loc.getPointer());
}

void Diagnostics::printLine(const MemoryBuffer &buffer, const char *at) {
  // Enough bytes of the line to fill the columns shown, whatever they contain.
  const char *begin = at, *end = at;
  auto isContinuation = [](char c) { return (c & 0xc0) == 0x80; };
  while (begin != buffer.getBufferStart() && begin[-1] != '\n' &&
         (at - begin < ptrdiff_t(4 * shownLeft) || isContinuation(*begin)))
    --begin;
  while (end != buffer.getBufferEnd() && *end != '\n' &&
         end - at < ptrdiff_t(4 * (shownLeft + shownRight)))
    ++end;
  bool cutLeft = begin != buffer.getBufferStart() && begin[-1] != '\n';
  bool cutRight = end != buffer.getBufferEnd() && *end != '\n';

  StringRef rest(begin, end - begin);
  rest.consume_back("\r");
  std::vector<Cell> cells;
  size_t caret = 0;
  for (unsigned column = 0; !rest.empty();) {
    if (rest.data() <= at)
      caret = cells.size();
    Cell cell = firstCell(rest);
    if (rest.front() == '\t') {
      cell.text.assign(8 - column % 8, ' ');
      cell.width = cell.text.size();
    }
    column += cell.width;
    rest = rest.drop_front(cell.bytes);
    cells.push_back(std::move(cell));
  }
  if (rest.data() <= at)
    caret = cells.size();

  // Extend the shown part from the caret, first to the left; show the whole
  // line if it fits.
  unsigned whole = 0;
  for (const Cell &cell : cells)
    whole += cell.width;
  bool fits = !cutLeft && !cutRight && whole <= shownLeft + shownRight;
  size_t first = caret, last = caret;
  unsigned width = 0;
  while (first > 0 && (fits || width + cells[first - 1].width <= shownLeft))
    width += cells[--first].width;
  unsigned indent = width;
  while (last < cells.size() &&
         width + cells[last].width <= shownLeft + shownRight)
    width += cells[last++].width;
  cutLeft |= first > 0;
  cutRight |= last < cells.size();

  if (cutLeft) {
    out << "...";
    indent += 3;
  }
  for (const Cell &cell : ArrayRef(cells).slice(first, last - first))
    out << cell.text;
  out << (cutRight ? "...\n" : "\n");
  out.indent(indent);
  paint(raw_ostream::GREEN, "^");
  out << '\n';
}

std::string fovea::quoted(StringRef text) {
  return "'" + safe(text, longestQuote) + "'";
}

/// Returns whether the words differ by one swap of neighbours.
static bool isSwapped(StringRef left, StringRef right) {
  size_t i = 0;
  while (i < left.size() && i < right.size() && left[i] == right[i])
    ++i;
  return left.size() == right.size() && i + 1 < left.size() &&
         left[i] == right[i + 1] && left[i + 1] == right[i] &&
         left.drop_front(i + 2) == right.drop_front(i + 2);
}

/// Returns whether `word` is `longer` with letters omitted, the first one kept.
static bool isShortFor(StringRef word, StringRef longer) {
  if (word.size() < 3 || word.size() >= longer.size() ||
      word.front() != longer.front())
    return false;
  for (char letter : longer)
    if (!word.empty() && word.front() == letter)
      word = word.drop_front();
  return word.empty();
}

/// Returns whether two words have the same digits: a different digit is not a
/// typo, as in `log2` and `log`.
static bool haveSameDigits(StringRef left, StringRef right) {
  auto digits = [](StringRef text) {
    std::string result;
    copy_if(text, std::back_inserter(result), isDigit);
    return result;
  };
  return digits(left) == digits(right);
}

StringRef fovea::nearest(StringRef name, ArrayRef<StringRef> candidates) {
  // Longer words allow more typos; words of 1 or 2 letters allow none.
  if (name.size() < 3 || name.size() > 64)
    return {};
  for (StringRef candidate : candidates)
    if (candidate != name && candidate.equals_insensitive(name))
      return candidate;
  unsigned allowed = name.size() < 5 ? 1 : name.size() < 9 ? 2 : 3;
  StringRef best;
  for (StringRef candidate : candidates) {
    if (candidate == name || candidate.size() > 64 ||
        !haveSameDigits(name, candidate))
      continue;
    unsigned distance = isSwapped(name, candidate)
                            ? 1
                            : name.edit_distance(candidate, true, allowed);
    if (distance <= allowed) {
      best = candidate;
      allowed = distance - 1;
    }
    if (allowed == 0)
      break;
  }
  if (!best.empty())
    return best;
  // Two ways to shorten `source` and `target`.
  for (auto [first, second] :
       {std::pair<StringRef, StringRef>("trg", "tgt"), {"source", "src"}})
    for (auto [word, other] : {std::pair(first, second), {second, first}})
      if (name == word && is_contained(candidates, other))
        return other;
  // `source` for `src`, when it is short for nothing else.
  for (StringRef candidate : candidates)
    if (isShortFor(candidate, name) && haveSameDigits(name, candidate)) {
      if (!best.empty() && best != candidate)
        return {};
      best = candidate;
    }
  return best;
}

std::string fovea::suggestion(StringRef name, ArrayRef<StringRef> candidates) {
  StringRef near = nearest(name, candidates);
  return near.empty() ? std::string() : "; did you mean '" + near.str() + "'?";
}

std::optional<StringRef> fovea::suggestedBy(StringRef message) {
  constexpr StringRef words = "did you mean '";
  size_t at = message.find(words);
  if (at == StringRef::npos)
    return std::nullopt;
  StringRef rest = message.drop_front(at + words.size());
  // A suggestion may have quotes only at its ends.
  size_t end = rest.find('\'');
  if (end == StringRef::npos || end == 0)
    return std::nullopt;
  return rest.take_front(end);
}

std::string fovea::existing(StringRef name, std::vector<StringRef> candidates) {
  std::string near = suggestion(name, candidates);
  if (!near.empty() || candidates.empty())
    return near;
  constexpr size_t most = 10;
  std::vector<StringRef> order;
  for (StringRef candidate : candidates)
    if (!candidate.empty() && !llvm::is_contained(order, candidate))
      order.push_back(candidate);
  auto distance = [&](StringRef candidate) {
    return candidate.take_front(64).edit_distance(name.take_front(64));
  };
  if (!name.empty())
    llvm::sort(order, [&](StringRef a, StringRef b) {
      return std::pair(distance(a), a) < std::pair(distance(b), b);
    });
  if (order.size() > most)
    order.resize(most);
  if (order.size() == 1)
    return "; there is '" + order.front().str() + "'";
  std::string last = order.back().str();
  order.pop_back();
  return "; there are '" + llvm::join(order, "', '") + "' and '" + last + "'";
}

std::string fovea::counted(size_t count, StringRef noun) {
  std::string text = std::to_string(count) + " ";
  if (count == 1)
    return text + noun.str();
  if (noun.ends_with("is") || noun.ends_with("ex")) // axis, index
    return text + noun.drop_back(2).str() + (noun == "axis" ? "es" : "ices");
  return text + noun.str() + "s";
}

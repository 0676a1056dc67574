//===- Fixes.cpp - edits that mend what a message says --------------------===//

#include "server/Fixes.h"
#include "frontends/fov/Diagnostics.h"

#include "llvm/ADT/StringExtras.h"

using namespace fovea;
using namespace fovea::editors;
using llvm::StringRef;
namespace lsp = llvm::lsp;

static bool isOfWord(char c) { return llvm::isAlnum(c) || c == '_'; }

static bool isWord(StringRef text) {
  return !text.empty() && llvm::all_of(text, isOfWord) &&
         !llvm::isDigit(text.front());
}

/// The word that `text` begins with.
static StringRef wordOf(StringRef text) {
  return text.take_while([](char c) { return isOfWord(c); });
}

/// `x[i, j]` of `x[i, j] + 1`; empty if no bracket follows the word, or it is
/// not closed.
static StringRef bracketedOf(StringRef text) {
  size_t begin = wordOf(text).size();
  int depth = 0;
  for (size_t i = begin; begin > 0 && i < text.size(); ++i) {
    depth += (text[i] == '(' || text[i] == '[') ? 1 : 0;
    depth -= (text[i] == ')' || text[i] == ']') ? 1 : 0;
    if (depth == 0)
      return i == begin ? StringRef() : text.take_front(i + 1);
  }
  return "";
}

/// `[H = 4, 8]` or `number`, as a value of this shape.
static std::string zerosOf(StringRef shape) {
  if (!shape.consume_front("[") || !shape.consume_back("]"))
    return "0";
  llvm::SmallVector<StringRef> sizes;
  shape.split(sizes, ", ");
  std::string text;
  for (StringRef size : sizes)
    text += (text.empty() ? "zeros(" : ", ") + size.split(" = ").first.str();
  return text + ")";
}

namespace {

class Fixer {
public:
  Fixer(const Lines &lines, StringRef word, StringRef message)
      : lines(lines), word(word), message(message) {
    std::tie(said, help) = message.split("; help: ");
    size_t begin = word.begin() - lines.text().begin();
    line = lines.line(lines.positionOf(begin).line);
    code = line.take_until([](char c) { return c == '#'; }).rtrim();
    size_t place = word.begin() - line.begin();
    if (place > code.size())
      return;
    // A call and a read are reported at their brackets.
    if (word.starts_with("(") || word.starts_with("["))
      while (place > 0 && isOfWord(code[place - 1]))
        --place;
    rest = code.drop_front(place);
  }

  std::vector<Fix> run();

private:
  /// Adds an edit of a part of the text.
  void add(StringRef verb, StringRef what, StringRef part, StringRef edit) {
    std::string title = (verb + " '" + clean(what) + "'").str();
    for (const Fix &fix : fixes)
      if (fix.title == title)
        return;
    fixes.push_back({title, {lines.rangeOf(part), clean(edit)}});
  }
  void write(StringRef part, StringRef edit) {
    if (!part.empty())
      add("Write", edit, part, edit);
  }
  /// The one place of `part` in the line, or nothing.
  StringRef onlyPlaceOf(StringRef part) const;
  StringRef endOfText() const { return StringRef(lines.text().end(), 0); }

  void suggest();
  void readOutside();
  void addEquation();
  void addBlock();
  void writeSign();
  void writeCall();
  void writeOffers();
  bool writeOffer(StringRef offer);
  bool writeCode(StringRef offer);
  bool writeBracketed(StringRef own, StringRef offer);
  bool writeValue(StringRef name, StringRef value);
  void stateRange(StringRef range);
  void writeZeros();
  void joinVectors();
  void leaveName();
  void leaveType();
  void writeByForm();

  const Lines &lines;
  StringRef word, message, said, help;
  StringRef line; // of the text
  StringRef code; // the line without its comment
  StringRef rest; // the code from the word on
  std::vector<Fix> fixes;
};

} // namespace

StringRef Fixer::onlyPlaceOf(StringRef part) const {
  size_t begin = code.find(part);
  if (part.empty() || begin == StringRef::npos ||
      code.find(part, begin + 1) != StringRef::npos)
    return "";
  return code.substr(begin, part.size());
}

//===----------------------------------------------------------------------===//
// One form of help each
//===----------------------------------------------------------------------===//

/// `'slip' is not defined; did you mean 'silu'?`
void Fixer::suggest() {
  std::optional<StringRef> meant = suggestedBy(message);
  if (!meant || word.empty() || !message.contains(("'" + word + "'").str()))
    return;
  // `!x` becomes `not x`.
  const char *end = word.end();
  bool touches = end != lines.text().end() && llvm::isAlnum(*end) &&
                 llvm::isAlpha(meant->back());
  add("Write", *meant, word, (*meant + (touches ? " " : "")).str());
}

/// `write x[i+1] ?? 0 to read 0 outside, or ..`
void Fixer::readOutside() {
  StringRef offer = help;
  if (!offer.consume_front("write ") || !offer.contains(" to read "))
    return;
  offer = offer.split(" to read ").first;
  // Only where the line has it once: the message's text may be normalised.
  StringRef place = onlyPlaceOf(offer.split(" ?? ").first);
  if (!place.empty() && offer.contains(" ?? "))
    add("Read 0 outside:", offer, place, offer);
}

/// `add h[-1] = ... of shape [H]`
void Fixer::addEquation() {
  auto [left, shape] = help.split(" = ... of shape ");
  if (!left.consume_front("add ") || shape.empty())
    return;
  std::string equation = left.str() + " = " + zerosOf(shape);
  size_t indent = line.size() - line.ltrim().size();
  add("Add", equation, StringRef(line.end(), 0),
      "\n" + line.take_front(indent).str() + equation);
}

/// `train { z ~ reparameterised }`, `add decode { set T = ... }`: a number is
/// for the author to change.
void Fixer::addBlock() {
  StringRef block = help;
  block.consume_front("add ");
  if ((!block.starts_with("train {") && !block.starts_with("decode {")) ||
      !block.contains('}'))
    return;
  std::string text = block.take_front(block.find('}') + 1).str();
  for (size_t at; (at = text.find("...")) != std::string::npos;)
    text.replace(at, 3, "100");
  add("Add", text, endOfText(),
      (lines.text().ends_with("\n") ? "" : "\n") + text + "\n");
}

/// `found ':='; help: write '='`, `'**' is not part of the language; help:
/// write x^2`.
void Fixer::writeSign() {
  StringRef offer = help;
  if (!offer.consume_front("write "))
    return;
  if (offer.consume_front("'")) {
    StringRef sign = offer.split('\'').first;
    StringRef wrong = said.ends_with("'") ? said.drop_back().rsplit('\'').second
                                          : StringRef();
    StringRef after =
        lines.text().drop_front(word.begin() - lines.text().begin());
    if (offer.size() == sign.size() + 1 && !wrong.empty() &&
        after.starts_with(wrong))
      write(after.take_front(wrong.size()), sign);
    else if (offer.starts_with("~' for its distribution"))
      write(onlyPlaceOf("="), "~");
    return;
  }
  StringRef wrong = said;
  if (!wrong.consume_front("'") ||
      !wrong.consume_back("' is not part of the language"))
    return;
  StringRef place = rest.starts_with(wrong) ? rest.take_front(wrong.size())
                                            : onlyPlaceOf(wrong);
  // The sign between two names, or after one.
  offer = offer.split(" for ").first.split(',').first;
  StringRef sign = offer.drop_front(wordOf(offer).size()).ltrim();
  bool isPower = !wrong.starts_with("*") && !wrong.starts_with("^") &&
                 sign.starts_with("^");
  if (!isPower)
    sign = sign.rtrim("abcxyn0123456789[]ij ").rtrim();
  if (!place.empty() && !sign.empty() && !sign.contains('(') &&
      sign.size() <= 4)
    write(place, sign);
}

/// `'bernoulli' takes .., but x is ..; help: write bernoulli(logit = x)`
void Fixer::writeCall() {
  StringRef offer = help;
  if (!offer.consume_front("write "))
    return;
  StringRef name = said.split('\'').second.split('\'').first;
  StringRef value = said.split(", but ").second.split(" is ").first;
  if (name.empty() || value.empty())
    return;
  StringRef place = onlyPlaceOf((name + "(" + value + ")").str());
  // Other ways may follow: `categorical(probs = p), or leave the softmax out`.
  StringRef text = offer.split(", or ").first.split(" or ").first;
  if (!place.empty() && text.ends_with(")") && text.contains(value))
    write(place, text);
}

/// `bias = true`, in place of another value of `bias`, in this line or else in
/// the one that has it.
bool Fixer::writeValue(StringRef name, StringRef value) {
  for (StringRef text : {code, lines.text()})
    for (StringRef sign : {" = ", "="}) {
      std::string start = (name + sign).str();
      size_t at = text.find(start);
      if (at == StringRef::npos || at == 0 || isOfWord(text[at - 1]) ||
          text[at - 1] == '\n' || text.find(start, at + 1) != StringRef::npos)
        continue;
      StringRef old = text.drop_front(at + start.size()).take_until([](char c) {
        return StringRef(",)} \n").contains(c);
      });
      add("Write", (name + " = " + value).str(), old, value);
      return true;
    }
  return false;
}

/// One of several ways that a help names.
bool Fixer::writeOffer(StringRef offer) {
  auto [name, value] = offer.split(" = ");
  if (!value.empty() && !value.contains("...") && isWord(name))
    return writeValue(name, value);
  // `const c = 0.5` in place of `param c = 0.5`
  if (offer.starts_with("const ") &&
      code.ltrim().starts_with(("param" + offer.drop_front(5)).str())) {
    write(code.ltrim().take_front(5), "const");
    return true;
  }
  // `tgt ~ policy(reward = bleu)` in place of `tgt ~ policy`
  StringRef head = offer.split('(').first;
  if (head.contains(" ~ ")) {
    StringRef place = onlyPlaceOf(head);
    if (place.empty())
      return false;
    // It may have other arguments.
    StringRef after(place.end(), code.end() - place.end());
    if (after.starts_with("("))
      add("Write", offer, StringRef(place.begin(), place.size() + 1),
          (offer.drop_back() + ", ").str());
    else
      write(place, offer);
    return true;
  }
  return writeCode(offer);
}

/// A name, or one with brackets.
bool Fixer::writeCode(StringRef offer) {
  StringRef own = wordOf(offer), tail = offer.drop_front(own.size());
  if (own.empty() || tail.empty()) {
    bool isName = isWord(offer) && said.starts_with(("'" + word + "'").str());
    if (isName)
      write(word, offer);
    return isName;
  }
  // `v.size` in place of `v`
  if (own == word && tail.starts_with(".")) {
    write(word, offer);
    return true;
  }
  // `softmax[i](...)` in place of `softmax(`
  if (tail.consume_back("(...)")) {
    if (!rest.starts_with((own + "(").str()))
      return false;
    write(rest.take_front(own.size()), (own + tail).str());
    return true;
  }
  return !offer.contains("..") && bracketedOf(offer) == offer &&
         writeBracketed(own, offer);
}

bool Fixer::writeBracketed(StringRef own, StringRef offer) {
  // `x[i, 0]` in place of `x[i]`, where the message is or once in the line
  StringRef opening = offer.take_front(own.size() + 1);
  StringRef place = rest.starts_with(opening) ? rest : onlyPlaceOf(opening);
  if (!place.empty()) {
    place = bracketedOf(StringRef(place.begin(), code.end() - place.begin()));
    if (place.empty())
      return true;
    // Not a part of `F.silu(x)`, `fabs(x)`, LaTeX or `dropout(p)(x)`
    char before = place.begin() == code.begin() ? ' ' : place.begin()[-1];
    bool isWhole = !isOfWord(before) && before != '.' && before != '\\' &&
                   (place.end() == code.end() || *place.end() != '(');
    if (isWhole && place != offer)
      write(place, offer);
    if (isWhole)
      return true;
  }
  StringRef argument = offer.drop_front(own.size() + 1).drop_back();
  // `sum(v)` in place of `v.sum` and `v.sum()`
  std::string method = (argument + "." + own).str();
  for (const std::string &form : {method + "()", method}) {
    StringRef part = onlyPlaceOf(form);
    if (part.empty() || !isWord(argument))
      continue;
    if (part.end() == code.end() || *part.end() != '(')
      write(part, offer);
    return true;
  }
  // `normal(v[0], 1)` or `onehot(x[i])` in place of its argument
  StringRef first = bracketedOf(argument);
  if (first.empty())
    first = wordOf(argument);
  if (own == "embed" || first.empty() || !rest.starts_with(first))
    return false;
  write(rest.take_front(first.size()), offer);
  return true;
}

/// `write bias = true or bias = false`
void Fixer::writeOffers() {
  StringRef offers = help;
  if (!offers.consume_front("use ") &&
      !offers.consume_front("name the index: ")) {
    size_t at = offers.find("write ");
    StringRef before = offers.take_front(at);
    if (at == StringRef::npos ||
        !(at == 0 || before.ends_with("; ") || before.ends_with(", or ")))
      return;
    offers = offers.drop_front(at + 6);
  }
  if (offers.starts_with("'") || offers.contains(" ?? "))
    return;
  while (!offers.empty()) {
    size_t end = std::min(offers.find(" or "), offers.find(", or "));
    StringRef offer = offers.take_front(end).rtrim(',');
    for (StringRef reason : {" for ", " over ", " to ", ", its "})
      offer = offer.split(reason).first;
    writeOffer(offer);
    offers = offers.drop_front(std::min(offers.size(), end)).ltrim(", ");
    offers.consume_front("or ");
  }
}

/// `state one: i < S` or `x[i < S]`: the range goes to the left side.
void Fixer::stateRange(StringRef range) {
  if (range.contains('['))
    range = range.split('[').second.drop_back();
  StringRef left = code.split('=').first;
  for (size_t i = left.find('['); i < left.size(); ++i) {
    StringRef index = wordOf(left.drop_front(i));
    StringRef after = left.drop_front(i + index.size()).ltrim();
    if (!index.empty() && index == wordOf(range) && !isOfWord(left[i - 1]) &&
        (after.starts_with(",") || after.starts_with("]")))
      return write(left.substr(i, index.size()), range);
  }
}

/// `'h' is [4] but a number is given here; help: write zeros(...)`
void Fixer::writeZeros() {
  StringRef shape = said.split(" is ").second.split(" but ").first;
  StringRef value = code.split('=').second.trim();
  if (shape.starts_with("["))
    write(value, zerosOf(shape));
}

/// `(v, w)` becomes `v ++ w`. The message is at the comma.
void Fixer::joinVectors() {
  size_t comma = rest.begin() - code.begin();
  StringRef before = code.take_front(comma), after = rest;
  size_t begin = before.rfind('('), end = after.find(')');
  if (!after.starts_with(",") || begin == StringRef::npos ||
      end == StringRef::npos || before.drop_front(begin + 1).contains(')') ||
      after.take_front(end).contains('(') ||
      after.take_front(end).drop_front().contains(','))
    return;
  write(code.slice(begin, comma + end + 1),
        (before.drop_front(begin + 1).trim() + " ++ " +
         after.slice(1, end).trim())
            .str());
}

/// Leaves out `x =` of an argument with a name.
void Fixer::leaveName() {
  StringRef after = rest.drop_front(wordOf(rest).size()).ltrim();
  if (!after.consume_front("="))
    return;
  StringRef name(rest.begin(), after.ltrim().begin() - rest.begin());
  add("Leave out", name.trim(), name, "");
}

/// Leaves out `: real` of an argument.
void Fixer::leaveType() {
  StringRef type = rest;
  if (!type.consume_front(":"))
    return;
  type = type.ltrim();
  StringRef before = code.take_front(rest.begin() - code.begin()).rtrim();
  StringRef end = bracketedOf(type).empty() ? wordOf(type) : bracketedOf(type);
  StringRef all(before.end(), end.end() - before.end());
  add("Leave out", all.trim(), all, "");
}

/// Forms with words of their own.
void Fixer::writeByForm() {
  StringRef form = help;
  if (form.starts_with("an 'if' has two branches: write ")) {
    StringRef other = form.substr(form.rfind(" else "));
    add("Add", other.trim(), StringRef(code.end(), 0), other);
  } else if (form.starts_with("a declaration is written as in") &&
             said.contains("':'") && !word.empty()) {
    write(word, (": " + word).str());
  } else if (form == "write // to round down") {
    write(onlyPlaceOf("/"), "//");
  } else if (form.consume_front("state one: ")) {
    stateRange(form);
  } else if (form.starts_with("write zeros(...)")) {
    writeZeros();
  } else if (form.contains("write a ++ b to join two vectors")) {
    joinVectors();
  } else if (form.starts_with("give the values alone")) {
    leaveName();
  } else if (form.starts_with("write its name alone")) {
    leaveType();
  }
}

std::vector<Fix> Fixer::run() {
  suggest();
  readOutside();
  addEquation();
  addBlock();
  writeSign();
  writeCall();
  if (fixes.empty())
    writeByForm();
  if (fixes.empty())
    writeOffers();
  return std::move(fixes);
}

std::vector<Fix> fovea::editors::fixesOf(const Lines &lines, StringRef word,
                                         StringRef message) {
  return Fixer(lines, word, message).run();
}

//===- TokeniserSplits.cpp - the words of a text --------------------------===//
//
// The pre-tokenisers of tokenizer.json.
//
//===----------------------------------------------------------------------===//

#include "runtime/data/TokeniserParts.h"

#include <fmt/format.h>

using namespace fovea::runtime;
using nlohmann::json;

namespace {
/// What becomes of a separator.
enum class Behavior { Removed, Isolated, WithPrevious, WithNext, Contiguous };

struct Part {
  std::string_view text;
  bool isMatch;
};
} // namespace

using Parts = std::vector<Part>;
/// Finds the separators of a text, and the text between them.
using Find = std::function<void(std::string_view, Parts &)>;

//===----------------------------------------------------------------------===//
// Separators
//===----------------------------------------------------------------------===//

/// Each character of a kind is a separator.
static Find findChars(std::function<bool(char32_t)> isOne) {
  return [isOne = std::move(isOne)](std::string_view text, Parts &parts) {
    size_t last = 0;
    for (std::string_view rest = text; !rest.empty();) {
      size_t place = text.size() - rest.size();
      bool isMatch = isOne(takeChar(rest));
      size_t end = text.size() - rest.size();
      if (!isMatch)
        continue;
      if (place > last)
        parts.push_back({text.substr(last, place - last), false});
      parts.push_back({text.substr(place, end - place), true});
      last = end;
    }
    if (last < text.size())
      parts.push_back({text.substr(last), false});
  };
}

static Find findPattern(std::shared_ptr<const Pattern> pattern) {
  return [pattern = std::move(pattern)](std::string_view text, Parts &parts) {
    pattern->split(text, [&](std::string_view part, bool isMatch) {
      parts.push_back({part, isMatch});
    });
  };
}

/// Joins two adjacent parts of a text.
static void extend(Part &part, const Part &next) {
  part.text = {part.text.data(), part.text.size() + next.text.size()};
}

static Parts treated(const Parts &parts, Behavior behavior) {
  Parts result;
  bool wasMatch = false;
  for (const Part &part : parts) {
    bool joins = false;
    switch (behavior) {
    case Behavior::Removed:
      if (part.isMatch)
        continue;
      break;
    case Behavior::Isolated:
      break;
    case Behavior::WithPrevious:
      joins = part.isMatch && !wasMatch;
      break;
    case Behavior::WithNext:
      // From the end on, a separator joins what follows and no longer
      // separates.
      joins = !part.isMatch && wasMatch;
      break;
    case Behavior::Contiguous:
      joins = part.isMatch == wasMatch;
      break;
    }
    wasMatch = part.isMatch;
    if (joins && !result.empty())
      extend(result.back(), part);
    else
      result.push_back(part);
  }
  return result;
}

/// Splits each span at its separators.
static SplitText splitAt(Find find, Behavior behavior,
                         bool isInverted = false) {
  return [=](std::vector<TextSpan> &spans) {
    std::vector<TextSpan> result;
    Parts parts;
    for (const TextSpan &span : spans) {
      parts.clear();
      find(span.text, parts);
      for (Part &part : parts)
        part.isMatch ^= isInverted;
      for (const Part &part : treated(parts, behavior))
        result.push_back(
            {std::string(part.text),
             span.isFirst && part.text.data() == span.text.data()});
    }
    spans = std::move(result);
  };
}

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

/// GPT-2's words: a space belongs to the word after it.
static Status readByteLevel(JsonFields &fields, SplitText &result) {
  static constexpr std::string_view words =
      R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
  bool addsSpace = fields.flag("add_prefix_space", true);
  SplitText split;
  if (fields.flag("use_regex", true)) {
    auto pattern = std::make_shared<Pattern>();
    if (Status status = Pattern::read(words, *pattern); status.failed())
      return status;
    split = splitAt(findPattern(std::move(pattern)), Behavior::Isolated);
  }
  result = [addsSpace, split](std::vector<TextSpan> &spans) {
    for (TextSpan &span : spans)
      if (addsSpace && !span.text.starts_with(' '))
        span.text.insert(0, " ");
    if (split)
      split(spans);
    for (TextSpan &span : spans)
      span.text = charsOfBytes(span.text);
  };
  return Status::success();
}

/// SentencePiece's words: a space is a character of the word after it.
static Status readMetaspace(JsonFields &fields, SplitText &result) {
  std::string space = fields.text("replacement", "\xE2\x96\x81");
  bool isPlain = fields.flag("add_prefix_space", true);
  std::string scheme =
      fields.text("prepend_scheme", isPlain ? "always" : "never");
  if (scheme != "always" && scheme != "never" && scheme != "first")
    return Status::error(
        fmt::format("the 'prepend_scheme' '{}' is not supported", scheme));
  std::string_view rest = space;
  if (rest.empty())
    return Status::error("'replacement' is empty");
  char32_t c = takeChar(rest);
  SplitText split = [](std::vector<TextSpan> &) {};
  if (fields.flag("split", true))
    split = splitAt(findChars([c](char32_t other) { return other == c; }),
                    Behavior::WithNext);
  result = [=](std::vector<TextSpan> &spans) {
    for (TextSpan &span : spans) {
      std::string text;
      for (char byte : span.text)
        byte == ' ' ? text += space : text += byte;
      bool isWanted = scheme == "always" || (scheme == "first" && span.isFirst);
      if (isWanted && !text.starts_with(space))
        text.insert(0, space);
      span.text = std::move(text);
    }
    split(spans);
  };
  return Status::success();
}

static Status readBehavior(const std::string &name, Behavior &result) {
  static constexpr std::pair<std::string_view, Behavior> all[] = {
      {"Removed", Behavior::Removed},
      {"Isolated", Behavior::Isolated},
      {"MergedWithPrevious", Behavior::WithPrevious},
      {"MergedWithNext", Behavior::WithNext},
      {"Contiguous", Behavior::Contiguous}};
  for (auto [known, behavior] : all)
    if (name == known) {
      result = behavior;
      return Status::success();
    }
  return Status::error(fmt::format("the behavior '{}' is not supported", name));
}

static Status readSplitAt(JsonFields &fields, SplitText &result) {
  auto pattern = std::make_shared<Pattern>();
  Status status = readPattern(fields.at("pattern"), *pattern);
  Behavior behavior{};
  if (status.succeeded())
    status = readBehavior(fields.text("behavior"), behavior);
  if (status.succeeded())
    result = splitAt(findPattern(std::move(pattern)), behavior,
                     fields.flag("invert", false));
  return status;
}

/// Words, and the text between them without a space.
static Status readWhitespace(SplitText &result) {
  auto pattern = std::make_shared<Pattern>();
  Status status = Pattern::read(
      R"([\w\x{200C}\x{200D}]+|[^\w\s\x{200C}\x{200D}]+)", *pattern);
  if (status.succeeded())
    result = splitAt(findPattern(std::move(pattern)), Behavior::Removed,
                     /*isInverted=*/true);
  return status;
}

static Status readDelimiter(JsonFields &fields, SplitText &result) {
  std::string text = fields.text("delimiter");
  std::u32string chars = charsOf(text);
  if (chars.size() != 1)
    return Status::error("'delimiter' is not one character");
  result =
      splitAt(findChars([c = chars[0]](char32_t other) { return other == c; }),
              Behavior::Removed);
  return Status::success();
}

Status fovea::runtime::readSplit(const json &part, SplitText &result) {
  result = [](std::vector<TextSpan> &) {};
  if (part.is_null())
    return Status::success();
  JsonFields fields(part);
  std::string type = fields.type();
  Status status;
  if (type == "Sequence") {
    status = readSequence(fields.at("pretokenizers"), readSplit, result);
  } else if (type == "ByteLevel") {
    status = readByteLevel(fields, result);
  } else if (type == "Metaspace") {
    status = readMetaspace(fields, result);
  } else if (type == "Split") {
    status = readSplitAt(fields, result);
  } else if (type == "Whitespace") {
    status = readWhitespace(result);
  } else if (type == "WhitespaceSplit") {
    result = splitAt(findChars(isSpace), Behavior::Removed);
  } else if (type == "BertPreTokenizer") {
    SplitText words = splitAt(findChars(isSpace), Behavior::Removed);
    SplitText marks = splitAt(findChars(isPunctuation), Behavior::Isolated);
    result = [=](std::vector<TextSpan> &spans) {
      words(spans);
      marks(spans);
    };
  } else if (type == "Punctuation") {
    Behavior behavior{};
    status = readBehavior(fields.text("behavior", "Isolated"), behavior);
    result = splitAt(findChars(isPunctuation), behavior);
  } else if (type == "Digits") {
    result =
        splitAt(findChars(isNumber), fields.flag("individual_digits", false)
                                         ? Behavior::Isolated
                                         : Behavior::Contiguous);
  } else if (type == "CharDelimiterSplit") {
    status = readDelimiter(fields, result);
  } else {
    status = Status::error(
        fmt::format("the pre-tokeniser '{}' is not supported", type));
  }
  return status.failed() ? status : fields.status();
}

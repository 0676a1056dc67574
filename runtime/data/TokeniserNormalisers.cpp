//===- TokeniserNormalisers.cpp - texts before they are split -------------===//
//
// The normalisers of tokenizer.json. They do what the library of Hugging Face
// (0.23) does, including its exceptions; a test compares both.
//
//===----------------------------------------------------------------------===//

#include "runtime/data/Prefixes.h"
#include "runtime/data/SentencePieces.h"
#include "runtime/data/TokeniserParts.h"

#include <array>
#include <fmt/format.h>

using namespace fovea::runtime;
using nlohmann::json;

//===----------------------------------------------------------------------===//
// Fields and patterns
//===----------------------------------------------------------------------===//

const nlohmann::json &JsonFields::at(const char *name) const {
  static const nlohmann::json none;
  if (!json.is_object())
    return none;
  auto found = json.find(name);
  return found != json.end() ? *found : none;
}

bool JsonFields::flag(const char *name, bool usual) {
  const auto &field = at(name);
  if (!field.is_null() && !field.is_boolean() && mistake.succeeded())
    mistake = Status::error(fmt::format("'{}' is not true or false", name));
  return field.is_boolean() ? field.get<bool>() : usual;
}

std::string JsonFields::text(const char *name, const std::string &usual) {
  const auto &field = at(name);
  if (!field.is_null() && !field.is_string() && mistake.succeeded())
    mistake = Status::error(fmt::format("'{}' is not a text", name));
  return field.is_string() ? field.get<std::string>() : usual;
}

int64_t JsonFields::number(const char *name, int64_t usual) {
  const auto &field = at(name);
  if (field.is_number_integer() &&
      (field.is_number_unsigned() ? field.get<uint64_t>() <= uint64_t(INT32_MAX)
                                  : field.get<int64_t>() >= 0))
    return field.get<int64_t>();
  if (!field.is_null() && mistake.succeeded())
    mistake = Status::error(
        fmt::format("'{}' is not a whole number from 0 to 2^31 - 1", name));
  return usual;
}

Status fovea::runtime::readPattern(const json &field, Pattern &result) {
  JsonFields fields(field);
  std::string expression = fields.text("Regex"), text = fields.text("String");
  if (fields.status().failed())
    return fields.status();
  if (expression.empty() && text.empty())
    return Status::error("a pattern is neither a text nor an expression");
  if (expression.empty()) {
    result = Pattern::literal(text);
    return Status::success();
  }
  Status status = Pattern::read(expression, result);
  return status.succeeded()
             ? status
             : Status::error(fmt::format("the regular expression '{}': {}",
                                         expression, status.text()));
}

//===----------------------------------------------------------------------===//
// Bytes as characters
//===----------------------------------------------------------------------===//

/// The bytes that Latin-1 prints are themselves; the others come from U+0100
/// on.
static const std::array<char32_t, 256> &byteChars() {
  static const std::array<char32_t, 256> chars = [] {
    std::array<char32_t, 256> all = {};
    char32_t next = 256;
    for (char32_t byte = 0; byte < 256; ++byte) {
      bool isPrinted = (byte >= '!' && byte <= '~') ||
                       (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      all[byte] = isPrinted ? byte : next++;
    }
    return all;
  }();
  return chars;
}

const std::string &fovea::runtime::charOfByte(uint8_t byte) {
  static const std::array<std::string, 256> texts = [] {
    std::array<std::string, 256> all;
    for (size_t i = 0; i < 256; ++i)
      addChar(all[i], byteChars()[i]);
    return all;
  }();
  return texts[byte];
}

int fovea::runtime::byteOfChar(char32_t c) {
  static const std::array<int, 512> bytes = [] {
    std::array<int, 512> all;
    all.fill(-1);
    for (int byte = 0; byte < 256; ++byte)
      all[byteChars()[byte]] = byte;
    return all;
  }();
  return c < bytes.size() ? bytes[c] : -1;
}

std::string fovea::runtime::charsOfBytes(std::string_view bytes) {
  std::string text;
  for (char byte : bytes)
    text += charOfByte(static_cast<uint8_t>(byte));
  return text;
}

//===----------------------------------------------------------------------===//
// Characters
//===----------------------------------------------------------------------===//

/// Replaces a text by what a function of its characters adds.
static NormaliseText byChars(void (*add)(std::u32string &, char32_t)) {
  return [add](TextSpan &span) {
    std::u32string chars;
    for (std::string_view rest = span.text; !rest.empty();) {
      add(chars, takeChar(rest));
      span.isFirst &= !chars.empty();
    }
    span.text = textOf(chars);
  };
}

static NormaliseText byForm(bool isCompatible, bool isComposed) {
  return [isCompatible, isComposed](TextSpan &span) {
    std::u32string chars = decompose(charsOf(span.text), isCompatible);
    span.text = textOf(isComposed ? compose(chars) : chars);
  };
}

static bool isIdeograph(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

/// Removes characters that are not text; every space becomes one of ASCII.
static void addClean(std::u32string &chars, char32_t c) {
  constexpr Categories others = setOf(Category::Cc) | setOf(Category::Cf) |
                                setOf(Category::Cs) | setOf(Category::Co) |
                                setOf(Category::Cn);
  if (isSpace(c) &&
      (c < 0x80 ? c == ' ' || c == '\t' || c == '\n' || c == '\r' : c != 0x85))
    chars += U' ';
  else if (c != 0xFFFD && !isIn(c, others))
    chars += c;
}

static NormaliseText readBert(JsonFields &fields) {
  std::vector<NormaliseText> steps;
  if (fields.flag("clean_text", true))
    steps.push_back(byChars(addClean));
  if (fields.flag("handle_chinese_chars", true))
    steps.push_back(byChars([](std::u32string &chars, char32_t c) {
      if (isIdeograph(c))
        chars += {U' ', c, U' '};
      else
        chars += c;
    }));
  bool isLower = fields.flag("lowercase", true);
  if (fields.flag("strip_accents", isLower)) {
    steps.push_back(byForm(false, false));
    steps.push_back(byChars([](std::u32string &chars, char32_t c) {
      if (categoryOf(c) != Category::Mn)
        chars += c;
    }));
  }
  if (isLower)
    steps.push_back(byChars(addLower));
  return [steps](TextSpan &span) {
    for (const NormaliseText &step : steps)
      step(span);
  };
}

/// SentencePiece's rules for machine translation.
static void addNmt(std::u32string &chars, char32_t c) {
  bool isRemoved = (c >= 0x1 && c <= 0x8) || c == 0xB ||
                   (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F ||
                   c == 0x9F;
  bool isBlank = c == 0x9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 ||
                 (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 ||
                 c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
  if (!isRemoved)
    chars += isBlank ? U' ' : c;
}

/// Removes the spaces at an end.
static void strip(TextSpan &span, bool isLeft, bool isRight) {
  std::u32string chars = charsOf(span.text);
  size_t begin = 0, end = chars.size();
  while (isLeft && begin < end && isSpace(chars[begin]))
    ++begin;
  while (isRight && end > begin && isSpace(chars[end - 1]))
    --end;
  span.isFirst &= begin == 0;
  span.text = textOf(std::u32string_view(chars).substr(begin, end - begin));
}

//===----------------------------------------------------------------------===//
// Tables of SentencePiece
//===----------------------------------------------------------------------===//

/// Returns whether a character joins the one before it in what a reader sees as
/// one.
static bool joins(char32_t c) {
  return isMark(c) || c == 0x200C || c == 0x200D || c == 0x0E33 ||
         c == 0x0EB3 || (c >= 0xFF9E && c <= 0xFF9F) ||
         (c >= 0x1F3FB && c <= 0x1F3FF);
}

static bool isControl(char32_t c) {
  constexpr Categories controls = setOf(Category::Cc) | setOf(Category::Cf) |
                                  setOf(Category::Zl) | setOf(Category::Zp);
  return c != 0x200C && c != 0x200D && isIn(c, controls);
}

/// Removes what a reader sees as one character, if it is short.
static std::string_view takeCluster(std::string_view &text) {
  std::string_view rest = text;
  char32_t first = takeChar(rest);
  if (first == '\r' && rest.starts_with('\n'))
    takeChar(rest);
  bool goesOn = !isControl(first);
  while (goesOn && !rest.empty()) {
    std::string_view next = rest;
    goesOn = joins(takeChar(next));
    if (goesOn)
      rest = next;
  }
  std::string_view cluster = text.substr(0, text.size() - rest.size());
  text = rest;
  return cluster;
}

/// The library looks up what a reader sees as one character, if it has fewer
/// than 6 bytes, and takes what its shortest begin becomes; else it looks up
/// characters.
static Status readPrecompiled(JsonFields &fields, NormaliseText &result) {
  std::string bytes;
  auto table = std::make_shared<CharTable>();
  if (!readBase64(fields.text("precompiled_charsmap"), bytes) ||
      !table->read(bytes))
    return Status::error("'precompiled_charsmap' is damaged");
  result = [table](TextSpan &span) {
    std::string other;
    for (std::string_view rest = span.text; !rest.empty();
         span.isFirst &= !other.empty()) {
      std::string_view cluster = takeCluster(rest);
      if (auto found = table->shortest(cluster);
          cluster.size() < 6 && found.second > 0) {
        other += found.first;
        continue;
      }
      while (!cluster.empty()) {
        std::string_view before = cluster;
        takeChar(cluster);
        std::string_view c = before.substr(0, before.size() - cluster.size());
        auto found = table->shortest(c);
        other += found.second > 0 ? found.first : c;
      }
    }
    span.text = std::move(other);
  };
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Status readReplacement(JsonFields &fields, NormaliseText &result) {
  auto pattern = std::make_shared<Pattern>();
  if (Status status = readPattern(fields.at("pattern"), *pattern);
      status.failed())
    return status;
  result = [pattern, content = fields.text("content")](TextSpan &span) {
    std::string other;
    pattern->split(span.text, [&](std::string_view part, bool isMatch) {
      other += isMatch ? content : part;
      span.isFirst &= !other.empty();
    });
    span.text = std::move(other);
  };
  return Status::success();
}

Status fovea::runtime::readNormaliser(const json &part, NormaliseText &result) {
  result = [](TextSpan &) {};
  if (part.is_null())
    return Status::success();
  JsonFields fields(part);
  std::string type = fields.type();
  Status status;
  if (type == "Sequence") {
    status = readSequence(fields.at("normalizers"), readNormaliser, result);
  } else if (type == "NFC" || type == "NFD" || type == "NFKC" ||
             type == "NFKD") {
    result = byForm(type.size() == 4, type.back() == 'C');
  } else if (type == "Lowercase") {
    result = byChars(addLower);
  } else if (type == "StripAccents") {
    result = byChars([](std::u32string &chars, char32_t c) {
      if (!isMark(c))
        chars += c;
    });
  } else if (type == "Nmt") {
    result = byChars(addNmt);
  } else if (type == "BertNormalizer") {
    result = readBert(fields);
  } else if (type == "Precompiled") {
    status = readPrecompiled(fields, result);
  } else if (type == "Replace") {
    status = readReplacement(fields, result);
  } else if (type == "Prepend") {
    result = [prefix = fields.text("prepend")](TextSpan &span) {
      if (!span.text.empty())
        span.text.insert(0, prefix);
    };
  } else if (type == "Strip") {
    bool isLeft = fields.flag("strip_left", true);
    bool isRight = fields.flag("strip_right", true);
    result = [=](TextSpan &span) { strip(span, isLeft, isRight); };
  } else if (type == "ByteLevel") {
    result = [](TextSpan &span) { span.text = charsOfBytes(span.text); };
  } else {
    status = Status::error(
        fmt::format("the normaliser '{}' is not supported", type));
  }
  return status.failed() ? status : fields.status();
}

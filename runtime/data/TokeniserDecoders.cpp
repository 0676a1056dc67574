//===- TokeniserDecoders.cpp - tokens as text -----------------------------===//
//
// The decoders of tokenizer.json.
//
//===----------------------------------------------------------------------===//

#include "runtime/data/Text.h"
#include "runtime/data/TokeniserParts.h"

#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace fovea::runtime;
using nlohmann::json;

using Tokens = std::vector<std::string>;

static void replaceAll(std::string &text, std::string_view from,
                       std::string_view to) {
  for (size_t at = 0; !from.empty() && (at = text.find(from, at)) != text.npos;
       at += to.size())
    text.replace(at, from.size(), to);
}

/// Byte-level tokens as the text of their bytes; others unchanged.
static void decodeByteLevel(Tokens &tokens) {
  std::string bytes;
  for (const std::string &token : tokens) {
    std::string own;
    bool isGood = true;
    for (std::string_view rest = token; isGood && !rest.empty();) {
      int byte = byteOfChar(takeChar(rest));
      isGood = byte >= 0;
      own += static_cast<char>(byte);
    }
    bytes += isGood ? own : token;
  }
  tokens = {fovea::runtime::textOfBytes(bytes)};
}

/// English as it is written: no space before a full stop.
static void cleanUp(std::string &text) {
  static constexpr std::pair<std::string_view, std::string_view> all[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (auto [from, to] : all)
    replaceAll(text, from, to);
}

static DecodeTokens readPieces(JsonFields &fields) {
  return [prefix = fields.text("prefix", "##"),
          cleans = fields.flag("cleanup", true)](Tokens &tokens) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      std::string &token = tokens[i];
      if (i > 0 && !prefix.empty() && token.starts_with(prefix))
        token.erase(0, prefix.size());
      else if (i > 0)
        token.insert(0, " ");
      if (cleans)
        cleanUp(token);
    }
  };
}

static DecodeTokens readSpaces(JsonFields &fields) {
  bool isPlain = fields.flag("add_prefix_space", true);
  bool isFirst =
      fields.text("prepend_scheme", isPlain ? "always" : "never") != "never";
  return [isFirst,
          space = fields.text("replacement", "\xE2\x96\x81")](Tokens &tokens) {
    for (size_t i = 0; i < tokens.size(); ++i)
      replaceAll(tokens[i], space, i == 0 && isFirst ? "" : " ");
  };
}

/// The end of a word becomes a space, but not at the end of the line.
static DecodeTokens readSuffix(JsonFields &fields) {
  return [suffix = fields.text("suffix", "</w>")](Tokens &tokens) {
    for (size_t i = 0; i < tokens.size(); ++i)
      replaceAll(tokens[i], suffix, i + 1 == tokens.size() ? "" : " ");
  };
}

static Status readReplaced(JsonFields &fields, DecodeTokens &result) {
  auto pattern = std::make_shared<Pattern>();
  if (Status status = readPattern(fields.at("pattern"), *pattern);
      status.failed())
    return status;
  result = [pattern, content = fields.text("content")](Tokens &tokens) {
    for (std::string &token : tokens) {
      std::string other;
      pattern->split(token, [&](std::string_view part, bool isMatch) {
        other += isMatch ? content : part;
      });
      token = std::move(other);
    }
  };
  return Status::success();
}

/// Removes a character from the ends of each token, but not more than some.
static Status readStrip(JsonFields &fields, DecodeTokens &result) {
  std::u32string content = charsOf(fields.text("content"));
  if (content.size() != 1)
    return Status::error("'content' is not one character");
  result = [c = content[0], start = fields.number("start", 0),
            stop = fields.number("stop", 0)](Tokens &tokens) {
    for (std::string &token : tokens) {
      std::u32string chars = charsOf(token);
      size_t begin = 0, end = chars.size();
      while (begin < end && static_cast<int64_t>(begin) < start &&
             chars[begin] == c)
        ++begin;
      for (int64_t i = 0; i < stop && end > begin && chars[end - 1] == c; ++i)
        --end;
      token = textOf(std::u32string_view(chars).substr(begin, end - begin));
    }
  };
  return Status::success();
}

/// `<0x0A>` as its byte; bytes that are no text become one U+FFFD each.
static void decodeBytes(Tokens &tokens) {
  Tokens result;
  std::string bytes;
  auto endBytes = [&] {
    if (validUtf8(bytes) == bytes.size())
      result.push_back(bytes);
    else
      for (size_t i = 0; i < bytes.size(); ++i)
        result.emplace_back("\xEF\xBF\xBD");
    bytes.clear();
  };
  for (std::string &token : tokens) {
    unsigned byte = 0;
    if (token.size() == 6 && token.starts_with("<0x") && token.back() == '>' &&
        std::from_chars(&token[3], &token[5], byte, 16).ptr == &token[5]) {
      bytes += static_cast<char>(byte);
      continue;
    }
    if (!bytes.empty())
      endBytes();
    result.push_back(std::move(token));
  }
  if (!bytes.empty())
    endBytes();
  tokens = std::move(result);
}

Status fovea::runtime::readDecoder(const json &part, DecodeTokens &result) {
  JsonFields fields(part);
  std::string type = fields.type();
  Status status;
  if (part.is_null()) {
    result = [](Tokens &tokens) {
      tokens = {fmt::format("{}", fmt::join(tokens, " "))};
    };
  } else if (type == "Sequence") {
    status = readSequence(fields.at("decoders"), readDecoder, result);
  } else if (type == "ByteLevel") {
    result = decodeByteLevel;
  } else if (type == "WordPiece") {
    result = readPieces(fields);
  } else if (type == "Metaspace") {
    result = readSpaces(fields);
  } else if (type == "BPEDecoder") {
    result = readSuffix(fields);
  } else if (type == "Replace") {
    status = readReplaced(fields, result);
  } else if (type == "Strip") {
    status = readStrip(fields, result);
  } else if (type == "ByteFallback") {
    result = decodeBytes;
  } else if (type == "Fuse") {
    result = [](Tokens &tokens) {
      tokens = {fmt::format("{}", fmt::join(tokens, ""))};
    };
  } else {
    status =
        Status::error(fmt::format("the decoder '{}' is not supported", type));
  }
  return status.failed() ? status : fields.status();
}

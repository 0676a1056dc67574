//===- Tokeniser.cpp - a tokenizer.json -----------------------------------===//

#include "runtime/data/Tokeniser.h"
#include "runtime/data/Text.h"

#include <fmt/format.h>

using namespace fovea::runtime;
using nlohmann::json;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

int Tokeniser::idOf(std::string_view text) const {
  auto found = ids.find(std::string(text));
  return found == ids.end() ? -1 : found->second;
}

/// Added tokens have an id of the model, or one behind it.
Status Tokeniser::readAdded(const json &list) {
  if (list.is_null())
    return Status::success();
  if (!list.is_array())
    return Status::error("'added_tokens' is not a list");
  for (const json &one : list) {
    JsonFields fields(one);
    Added token;
    token.id = static_cast<int>(fields.number("id", -1));
    token.text = token.searched = fields.text("content");
    token.isWord = fields.flag("single_word", false);
    token.takesLeft = fields.flag("lstrip", false);
    token.takesRight = fields.flag("rstrip", false);
    token.isSpecial = fields.flag("special", false);
    token.isNormalised = fields.flag("normalized", !token.isSpecial);
    if (fields.status().failed())
      return fields.status();
    if (token.id < 0 || token.text.empty() ||
        static_cast<size_t>(token.id) >=
            2 * model->texts.size() + list.size() + 1000)
      return Status::error(fmt::format("the id of the added token '{}' is not "
                                       "a number of a token",
                                       token.text));
    if (static_cast<size_t>(token.id) >= texts.size())
      texts.resize(token.id + 1);
    texts[token.id] = token.text;
    added.push_back(std::move(token));
  }
  return Status::success();
}

/// Puts symbols around the present ones.
void Tokeniser::enclose(std::vector<int> before, std::vector<int> after) {
  opening.insert(opening.begin(), before.begin(), before.end());
  closing.insert(closing.end(), after.begin(), after.end());
}

/// `[CLS] A [SEP]`, of tokens that the template lists.
Status Tokeniser::readTemplate(JsonFields &fields) {
  const json &list = fields.at("single"), &tokens = fields.at("special_tokens");
  std::vector<int> before, after;
  bool isBehind = false;
  if (!list.is_array())
    return Status::error("its template is not a list");
  for (const json &one : list) {
    if (one.is_object() && one.contains("Sequence")) {
      if (std::exchange(isBehind, true))
        return Status::error("its template has the text twice");
      continue;
    }
    JsonFields entry(one);
    JsonFields named(entry.at("SpecialToken"));
    JsonFields table(tokens);
    JsonFields token(table.at(named.text("id").c_str()));
    const json &numbers = token.at("ids");
    if (!numbers.is_array())
      return Status::error("its template names a token that it does not list");
    for (const json &id : numbers) {
      if (!id.is_number_unsigned() || id.get<uint64_t>() >= texts.size())
        return Status::error("its template has an id that no token has");
      (isBehind ? after : before).push_back(id.get<int>());
    }
  }
  enclose(before, after);
  return Status::success();
}

/// `"cls": ["[CLS]", 101], "sep": ["[SEP]", 102]`
Status Tokeniser::readEnclosing(JsonFields &fields) {
  std::vector<int> found;
  for (const char *name : {"cls", "sep"}) {
    const json &pair = fields.at(name);
    if (!pair.is_array() || pair.size() != 2 || !pair[1].is_number_unsigned() ||
        pair[1].get<uint64_t>() >= texts.size())
      return Status::error(fmt::format("'{}' is not a token", name));
    found.push_back(pair[1].get<int>());
  }
  enclose({found[0]}, {found[1]});
  return Status::success();
}

Status Tokeniser::readProcessor(const json &part, int depth) {
  if (part.is_null())
    return Status::success();
  JsonFields fields(part);
  std::string type = fields.type();
  if (type == "ByteLevel")
    return Status::success();
  if (type == "TemplateProcessing")
    return readTemplate(fields);
  if (type == "BertProcessing" || type == "RobertaProcessing")
    return readEnclosing(fields);
  const json &parts = fields.at("processors");
  if (type != "Sequence" || !parts.is_array() || depth > 0)
    return Status::error(
        fmt::format("the post-processor '{}' is not supported", type));
  for (const json &one : parts)
    if (Status status = readProcessor(one, depth + 1); status.failed())
      return status;
  return Status::success();
}

Status Tokeniser::parse(const json &file) {
  JsonFields fields(file);
  if (!fields.at("model").is_object())
    return Status::error("it has no model");
  Status status = readModel(fields.at("model"), model);
  if (status.succeeded())
    status = readNormaliser(fields.at("normalizer"), normalise);
  if (status.succeeded())
    status = readSplit(fields.at("pre_tokenizer"), split);
  if (status.succeeded())
    status = readDecoder(fields.at("decoder"), decode);
  if (status.failed())
    return status;
  texts = model->texts;
  status = readAdded(fields.at("added_tokens"));
  if (status.succeeded())
    status = readProcessor(fields.at("post_processor"));
  if (status.failed())
    return status;
  for (size_t id = 0; id < texts.size(); ++id)
    ids.try_emplace(texts[id], static_cast<int>(id));
  for (size_t i = 0; i < added.size(); ++i) {
    Added &token = added[i];
    if (token.isSpecial)
      special.insert(token.text);
    if (token.isNormalised) {
      TextSpan span = {token.text};
      normalise(span);
      token.searched = std::move(span.text);
    }
  }
  std::unordered_set<std::string_view> known[2];
  for (size_t i = 0; i < added.size(); ++i)
    if (const Added &token = added[i];
        !token.searched.empty() &&
        known[token.isNormalised].insert(token.searched).second)
      (token.isNormalised ? normalised : plain)
          .add(token.searched, static_cast<int>(i));
  plain.finish();
  normalised.finish();
  return status;
}

/// Which tokens are the three of sentences follows from their names, else from
/// what encloses a text.
void Tokeniser::number(bool hasSentences) {
  int unknown = model->unknown >= 0 ? model->unknown : idOf("<unk>");
  int start = idOf("<s>"), end = idOf("</s>");
  if (start < 0 && !opening.empty())
    start = opening.front();
  if (end < 0 && !closing.empty())
    end = closing.back();
  isMoved = hasSentences && !(end == 1 && unknown == 2 && start <= 0);
  if (isMoved)
    theirs = {start, end == start ? -1 : end, unknown};
  ours.assign(texts.size(), 0);
  for (size_t i = 0; i < theirs.size(); ++i)
    if (theirs[i] >= 0)
      ours[theirs[i]] = static_cast<int64_t>(i);
  std::vector<int> first = theirs;
  for (int id = 0; id < static_cast<int>(texts.size()); ++id)
    if (std::find(first.begin(), first.end(), id) == first.end()) {
      ours[id] = static_cast<int64_t>(theirs.size());
      theirs.push_back(id);
    }
  for (int id : opening)
    prefix.push_back(pieceOf(id));
  for (int id : closing)
    suffix.push_back(pieceOf(id));
}

Status Tokeniser::read(std::string_view text, bool hasSentences,
                       std::shared_ptr<const Tokeniser> &result) {
  json file = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!file.is_object())
    return Status::error("it is not JSON, or ends early");
  auto tokeniser = std::make_shared<Tokeniser>();
  Status status = tokeniser->parse(file);
  if (status.failed())
    return status;
  tokeniser->number(hasSentences);
  result = std::move(tokeniser);
  return status;
}

Status Tokeniser::shorten(std::string_view text, std::string &result) {
  json file = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!file.is_object())
    return Status::error("it is not JSON, or ends early");
  json kept = json::object();
  for (const char *name : {"added_tokens", "normalizer", "pre_tokenizer",
                           "model", "post_processor", "decoder"})
    if (auto found = file.find(name); found != file.end())
      kept[name] = std::move(*found);
  result = kept.dump(-1, ' ', false, json::error_handler_t::replace);
  return Status::success();
}

std::vector<std::string> Tokeniser::symbols() const {
  std::vector<std::string> result;
  for (int id : theirs)
    result.push_back(id < 0 ? "" : texts[id]);
  if (isMoved)
    for (size_t i = 0; i < 3; ++i)
      result[i] = std::array{"<s>", "</s>", "<unk>"}[i];
  return result;
}

//===----------------------------------------------------------------------===//
// Cutting
//===----------------------------------------------------------------------===//

static char32_t lastChar(std::string_view text) {
  size_t begin = text.size() - 1;
  while (begin > 0 && (static_cast<uint8_t>(text[begin]) & 0xC0) == 0x80)
    --begin;
  text.remove_prefix(begin);
  return takeChar(text);
}

/// The added tokens in a text, the longest at the first place first, and the
/// text between them.
std::vector<Tokeniser::Part> Tokeniser::partsOf(std::string_view text,
                                                const Texts &known) const {
  std::vector<Part> parts;
  size_t last = 0;
  auto isInWord = [&](size_t begin, size_t end) {
    auto isPart = [](char32_t c) {
      return isWordChar(c) || c == 0x200C || c == 0x200D;
    };
    std::string_view rest = text.substr(end);
    return (begin > 0 && isPart(lastChar(text.substr(0, begin)))) ||
           (!rest.empty() && isPart(takeChar(rest)));
  };
  for (size_t place = 0; place < text.size() && !known.empty();) {
    size_t length = 0;
    const Added *token = nullptr;
    known.forPrefixes(text.substr(place), [&](size_t size, int number) {
      length = size;
      token = &added[number];
    });
    size_t begin = place, end = place + length;
    place += std::max<size_t>(length, 1);
    if (!token || (token->isWord && isInWord(begin, end)))
      continue;
    while (token->takesLeft && begin > last &&
           isSpace(lastChar(text.substr(0, begin))))
      do
        --begin;
      while ((static_cast<uint8_t>(text[begin]) & 0xC0) == 0x80);
    for (std::string_view rest = text.substr(end);
         token->takesRight && !rest.empty() && isSpace(takeChar(rest));)
      end = text.size() - rest.size();
    if (begin > last)
      parts.push_back({text.substr(last, begin - last)});
    parts.push_back({text.substr(begin, end - begin), token});
    last = end;
    place = std::max(place, end);
  }
  if (last < text.size())
    parts.push_back({text.substr(last)});
  return parts;
}

/// Cuts a text without added tokens that are not normalised.
void Tokeniser::cutSpan(std::string_view text, bool isFirst,
                        std::vector<Token> &tokens) const {
  TextSpan own = {std::string(text), isFirst};
  normalise(own);
  for (const Part &part : partsOf(own.text, normalised)) {
    if (part.added) {
      tokens.push_back({part.added->id, part.added->text});
      continue;
    }
    std::vector<TextSpan> spans = {
        {std::string(part.text),
         own.isFirst && part.text.data() == own.text.data()}};
    split(spans);
    for (const TextSpan &span : spans)
      if (!span.text.empty())
        model->cut(span.text, tokens);
  }
}

std::vector<Segmenter::Piece> Tokeniser::cut(std::string_view line) const {
  std::vector<Token> tokens;
  for (const Part &part : partsOf(line, plain))
    if (part.added)
      tokens.push_back({part.added->id, part.added->text});
    else
      cutSpan(part.text, part.text.data() == line.data(), tokens);
  std::vector<Piece> pieces;
  for (Token &token : tokens)
    // A model without an unknown token leaves out what it does not know.
    if (token.id >= 0)
      pieces.push_back(
          {std::move(token.text), ours[token.id], token.isUnknown});
  return pieces;
}

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

std::string Tokeniser::join(const std::vector<std::string> &pieces) const {
  std::vector<std::string> tokens;
  for (const std::string &piece : pieces) {
    std::string token = piece;
    if (isMoved && (piece == "<s>" || piece == "</s>"))
      continue;
    if (isMoved && piece == "<unk>")
      token = theirs[Symbol::unknown] < 0 ? "" : texts[theirs[Symbol::unknown]];
    if (!token.empty() && !special.contains(token))
      tokens.push_back(std::move(token));
  }
  decode(tokens);
  std::string line;
  for (const std::string &token : tokens)
    line += token;
  return line;
}

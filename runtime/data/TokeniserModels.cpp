//===- TokeniserModels.cpp - tokens of words ------------------------------===//
//
// The models of tokenizer.json: byte pairs (Sennrich et al., 2016), word pieces
// (Schuster and Nakajima, 2012), unigrams (Kudo, 2018) and whole words.
//
//===----------------------------------------------------------------------===//

#include "runtime/data/Prefixes.h"
#include "runtime/data/TokeniserParts.h"

#include <fmt/format.h>
#include <limits>
#include <queue>

using namespace fovea::runtime;
using nlohmann::json;

//===----------------------------------------------------------------------===//
// Vocabularies
//===----------------------------------------------------------------------===//

/// Reads `{"the": 17, ..}`. Ids may leave gaps, but no more than there are
/// tokens.
static Status readTokens(const json &vocabulary, TokenModel &model) {
  if (!vocabulary.is_object() || vocabulary.empty())
    return Status::error("its model has no vocabulary");
  for (const auto &[text, id] : vocabulary.items()) {
    if (!id.is_number_unsigned() ||
        id.get<uint64_t>() >= 2 * vocabulary.size() + 1000)
      return Status::error(
          fmt::format("the id of '{}' is not a number of a token", text));
    auto place = id.get<size_t>();
    if (place >= model.texts.size())
      model.texts.resize(place + 1);
    if (!model.texts[place].empty())
      return Status::error(fmt::format("'{}' and '{}' have the same id",
                                       model.texts[place], text));
    model.texts[place] = text;
  }
  return Status::success();
}

/// The tokens by text, once they are all there.
static void addTokens(const TokenModel &model, Texts &texts) {
  for (size_t id = 0; id < model.texts.size(); ++id)
    if (!model.texts[id].empty())
      texts.add(model.texts[id], static_cast<int>(id));
  texts.finish();
}

/// The ids of `<0x00>` to `<0xFF>`; -1: there is none.
static std::vector<int> bytesIn(const Texts &texts) {
  std::vector<int> ids;
  for (int byte = 0; byte < 256; ++byte)
    ids.push_back(texts.find(fmt::format("<0x{:02X}>", byte)));
  return ids;
}

/// Adds the bytes of a text; false: not all of them are tokens.
static bool addBytes(std::string_view text, const std::vector<int> &bytes,
                     const TokenModel &model, std::vector<Token> &tokens) {
  for (char byte : text)
    if (bytes[static_cast<uint8_t>(byte)] < 0)
      return false;
  for (char byte : text) {
    int id = bytes[static_cast<uint8_t>(byte)];
    tokens.push_back({id, model.texts[id]});
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Byte pairs
//===----------------------------------------------------------------------===//

namespace {
class PairModel : public TokenModel {
public:
  Status read(JsonFields &fields);
  void cut(std::string_view text, std::vector<Token> &tokens) const override;

private:
  struct Merge {
    int rank, id;
  };
  /// A token in the line, and its neighbours; -1: none.
  struct Link {
    int id, before, after;
    std::string_view text; // empty: it is part of another
  };
  /// Two adjacent tokens that form one.
  struct Candidate {
    int rank, place, id;
    bool operator<(const Candidate &other) const {
      return std::pair(rank, place) > std::pair(other.rank, other.place);
    }
  };

  static uint64_t keyOf(int left, int right) {
    return uint64_t(uint32_t(left)) << 32 | uint32_t(right);
  }
  Status readMerges(const json &merges);
  Status readMerge(std::string_view left, std::string_view right);
  void begin(std::string_view text, std::vector<Link> &links) const;
  void merge(std::vector<Link> &links) const;

  Texts tokens;
  std::vector<int> bytes;
  std::unordered_map<uint64_t, Merge> merges;
  std::string prefix, suffix;
  bool fusesUnknown = false, hasBytes = false, takesWords = false;
};
} // namespace

Status PairModel::readMerge(std::string_view left, std::string_view right) {
  std::string_view rest = right;
  if (rest.size() >= prefix.size())
    rest.remove_prefix(prefix.size());
  int a = tokens.find(left), b = tokens.find(right);
  int merged = tokens.find(std::string(left) + std::string(rest));
  if (a < 0 || b < 0 || merged < 0)
    return Status::error(fmt::format(
        "the merge of '{}' and '{}' is not one of tokens", left, right));
  merges[keyOf(a, b)] = {static_cast<int>(merges.size()), merged};
  return Status::success();
}

/// Merges are `"a b"` or `["a", "b"]`.
Status PairModel::readMerges(const json &list) {
  if (!list.is_array())
    return Status::error("its model has no merges");
  for (const json &one : list) {
    std::string left, right;
    if (one.is_array() && one.size() == 2 && one[0].is_string() &&
        one[1].is_string()) {
      left = one[0].get<std::string>();
      right = one[1].get<std::string>();
    } else if (one.is_string()) {
      left = one.get<std::string>();
      size_t space = left.find(' ');
      if (space != left.npos) {
        right = left.substr(space + 1);
        left.resize(space);
      }
    }
    if (left.empty() || right.empty() || right.find(' ') != right.npos)
      if (!one.is_array() || left.empty() || right.empty())
        return Status::error("a merge is not a pair of tokens");
    if (Status status = readMerge(left, right); status.failed())
      return status;
  }
  return Status::success();
}

Status PairModel::read(JsonFields &fields) {
  if (Status status = readTokens(fields.at("vocab"), *this); status.failed())
    return status;
  addTokens(*this, tokens);
  prefix = fields.text("continuing_subword_prefix");
  suffix = fields.text("end_of_word_suffix");
  fusesUnknown = fields.flag("fuse_unk", false);
  hasBytes = fields.flag("byte_fallback", false);
  takesWords = fields.flag("ignore_merges", false);
  if (hasBytes)
    bytes = bytesIn(tokens);
  std::string name = fields.text("unk_token");
  unknown = name.empty() ? -1 : tokens.find(name);
  if (!name.empty() && unknown < 0)
    return Status::error(fmt::format("'{}' is not a token", name));
  return readMerges(fields.at("merges"));
}

/// The characters of a word, as tokens.
void PairModel::begin(std::string_view text, std::vector<Link> &links) const {
  // Unknown characters wait for others that are fused with them.
  std::string_view waiting;
  auto addLink = [&](int id, std::string_view own) {
    auto place = static_cast<int>(links.size());
    links.push_back({id, place - 1, place + 1, own});
  };
  auto endWaiting = [&] {
    if (!waiting.empty())
      addLink(unknown, waiting);
    waiting = {};
  };
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view before = rest;
    takeChar(rest);
    std::string_view own = before.substr(0, before.size() - rest.size());
    std::string name(own);
    if (before.size() != text.size())
      name.insert(0, prefix);
    if (rest.empty())
      name += suffix;
    if (int id = tokens.find(name); id >= 0) {
      endWaiting();
      addLink(id, own);
      continue;
    }
    std::vector<Token> asBytes;
    if (hasBytes && addBytes(name, bytes, *this, asBytes)) {
      for (const Token &token : asBytes)
        addLink(token.id, own);
    } else if (unknown >= 0 && fusesUnknown && !waiting.empty()) {
      waiting = {waiting.data(), waiting.size() + own.size()};
    } else if (unknown >= 0) {
      endWaiting();
      waiting = own;
    }
  }
  endWaiting();
  if (!links.empty())
    links.back().after = -1;
}

/// Merges pairs, the first learnt ones first.
void PairModel::merge(std::vector<Link> &links) const {
  std::priority_queue<Candidate> candidates;
  auto consider = [&](int left, int right) {
    if (left < 0 || right < 0)
      return;
    auto found = merges.find(keyOf(links[left].id, links[right].id));
    if (found != merges.end())
      candidates.push({found->second.rank, left, found->second.id});
  };
  for (const Link &link : links)
    consider(link.before, link.before < 0 ? -1 : link.before + 1);
  while (!candidates.empty()) {
    Candidate best = candidates.top();
    candidates.pop();
    Link &left = links[best.place];
    if (left.text.empty() || left.after < 0)
      continue;
    Link &right = links[left.after];
    // It may have changed since it was found.
    auto found = merges.find(keyOf(left.id, right.id));
    if (found == merges.end() || found->second.id != best.id)
      continue;
    left.id = best.id;
    left.text = {left.text.data(), left.text.size() + right.text.size()};
    left.after = right.after;
    right.text = {};
    if (left.after >= 0)
      links[left.after].before = best.place;
    consider(left.before, best.place);
    consider(best.place, left.after);
  }
}

void PairModel::cut(std::string_view text, std::vector<Token> &result) const {
  if (int id = takesWords ? tokens.find(text) : -1; id >= 0) {
    result.push_back({id, texts[id]});
    return;
  }
  std::vector<Link> links;
  begin(text, links);
  merge(links);
  for (const Link &link : links)
    if (!link.text.empty()) {
      bool isUnknown = link.id == unknown;
      result.push_back({link.id,
                        isUnknown ? std::string(link.text) : texts[link.id],
                        isUnknown});
    }
}

//===----------------------------------------------------------------------===//
// Word pieces
//===----------------------------------------------------------------------===//

namespace {
class PieceModel : public TokenModel {
public:
  Status read(JsonFields &fields);
  void cut(std::string_view text, std::vector<Token> &tokens) const override;

private:
  Texts first, others; // those that begin a word, and those that go on
  int64_t maxChars = 100;
};
} // namespace

Status PieceModel::read(JsonFields &fields) {
  if (Status status = readTokens(fields.at("vocab"), *this); status.failed())
    return status;
  std::string prefix = fields.text("continuing_subword_prefix", "##");
  std::string name = fields.text("unk_token", "[UNK]");
  maxChars = fields.number("max_input_chars_per_word", 100);
  for (size_t id = 0; id < texts.size(); ++id) {
    std::string_view text = texts[id];
    if (text.empty())
      continue;
    first.add(text, static_cast<int>(id));
    if (text.starts_with(prefix) && text.size() > prefix.size())
      others.add(text.substr(prefix.size()), static_cast<int>(id));
  }
  first.finish();
  others.finish();
  unknown = first.find(name);
  return unknown < 0 ? Status::error(fmt::format("'{}' is not a token", name))
                     : Status::success();
}

void PieceModel::cut(std::string_view text, std::vector<Token> &tokens) const {
  size_t numBefore = tokens.size();
  bool isGood = static_cast<int64_t>(charsOf(text).size()) <= maxChars;
  for (std::string_view rest = text; isGood && !rest.empty();) {
    const Texts &known = rest.size() == text.size() ? first : others;
    size_t length = 0;
    int best = -1;
    known.forPrefixes(rest, [&](size_t size, int id) {
      length = size;
      best = id;
    });
    isGood = best >= 0;
    if (isGood)
      tokens.push_back({best, texts[best], best == unknown});
    rest.remove_prefix(length);
  }
  if (isGood)
    return;
  tokens.resize(numBefore);
  tokens.push_back({unknown, std::string(text), true});
}

//===----------------------------------------------------------------------===//
// Unigrams
//===----------------------------------------------------------------------===//

namespace {
class UnigramModel : public TokenModel {
public:
  Status read(JsonFields &fields);
  void cut(std::string_view text, std::vector<Token> &tokens) const override;

private:
  std::vector<std::string_view> bestPath(std::string_view text) const;
  void add(std::string_view text, std::vector<Token> &tokens) const;

  Texts tokens;
  std::vector<double> scores;
  std::vector<int> bytes;
  double lowest = std::numeric_limits<double>::infinity();
  bool hasBytes = false;
};
} // namespace

Status UnigramModel::read(JsonFields &fields) {
  const json &list = fields.at("vocab");
  if (!list.is_array() || list.empty())
    return Status::error("its model has no vocabulary");
  for (const json &one : list) {
    if (!one.is_array() || one.size() != 2 || !one[0].is_string() ||
        !one[1].is_number())
      return Status::error("a token is not a text with a score");
    texts.push_back(one[0].get<std::string>());
    scores.push_back(one[1].get<double>());
    lowest = std::min(lowest, scores.back());
  }
  // Of equal texts, the last one counts.
  std::unordered_map<std::string_view, int> last;
  for (size_t id = 0; id < texts.size(); ++id)
    last[texts[id]] = static_cast<int>(id);
  for (auto [text, id] : last)
    if (!text.empty())
      tokens.add(text, id);
  tokens.finish();
  if (!fields.at("unk_id").is_null()) {
    unknown = static_cast<int>(fields.number("unk_id", 0));
    if (unknown >= static_cast<int>(texts.size()))
      return Status::error("'unk_id' is not a number of a token");
  }
  hasBytes = fields.flag("byte_fallback", false);
  if (hasBytes)
    bytes = bytesIn(tokens);
  return Status::success();
}

/// The spans of the most likely path. Unknown ones are fused.
std::vector<std::string_view>
UnigramModel::bestPath(std::string_view text) const {
  struct Node {
    int id = -1;
    double score = 0;
    size_t begin = SIZE_MAX; // not reached
  };
  std::vector<Node> nodes(text.size() + 1);
  auto reach = [&](size_t end, const Node &node) {
    if (nodes[end].begin == SIZE_MAX || node.score > nodes[end].score)
      nodes[end] = node;
  };
  for (std::string_view rest = text; !rest.empty();) {
    size_t place = text.size() - rest.size();
    double score = nodes[place].score;
    std::string_view own = rest;
    takeChar(rest);
    size_t length = own.size() - rest.size();
    bool isKnown = false;
    tokens.forPrefixes(own, [&](size_t size, int id) {
      reach(place + size, {id, scores[id] + score, place});
      isKnown |= size == length;
    });
    if (!isKnown)
      reach(place + length, {unknown, lowest - 10 + score, place});
  }
  std::vector<std::string_view> path;
  bool isAfterUnknown = false;
  for (size_t end = text.size(); end > 0; end = nodes[end].begin) {
    std::string_view own =
        text.substr(nodes[end].begin, end - nodes[end].begin);
    bool isUnknown = nodes[end].id == unknown;
    if (isUnknown && isAfterUnknown)
      path.back() = {own.data(), own.size() + path.back().size()};
    else
      path.push_back(own);
    isAfterUnknown = isUnknown;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

void UnigramModel::cut(std::string_view text,
                       std::vector<Token> &result) const {
  for (std::string_view own : bestPath(text)) {
    if (int id = tokens.find(own); id >= 0)
      result.push_back({id, texts[id], id == unknown});
    else if (!hasBytes || !addBytes(own, bytes, *this, result))
      result.push_back({unknown, std::string(own), true});
  }
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

namespace {
class WordModel : public TokenModel {
public:
  Status read(JsonFields &fields) {
    if (Status status = readTokens(fields.at("vocab"), *this); status.failed())
      return status;
    addTokens(*this, tokens);
    unknown = tokens.find(fields.text("unk_token", "<unk>"));
    return Status::success();
  }
  void cut(std::string_view text, std::vector<Token> &result) const override {
    int id = tokens.find(text);
    result.push_back({id < 0 ? unknown : id, std::string(text), id < 0});
  }

private:
  Texts tokens;
};
} // namespace

template <typename Model>
static Status readAs(JsonFields &fields, std::unique_ptr<TokenModel> &result) {
  auto model = std::make_unique<Model>();
  Status status = model->read(fields);
  if (status.succeeded())
    status = fields.status();
  result = std::move(model);
  return status;
}

Status fovea::runtime::readModel(const json &part,
                                 std::unique_ptr<TokenModel> &result) {
  JsonFields fields(part);
  std::string type = fields.type();
  // Old files do not say it.
  if (type.empty() && part.is_object())
    type = part.contains("merges")                     ? "BPE"
           : part.contains("unk_id")                   ? "Unigram"
           : part.contains("max_input_chars_per_word") ? "WordPiece"
                                                       : "WordLevel";
  if (type == "BPE")
    return readAs<PairModel>(fields, result);
  if (type == "WordPiece")
    return readAs<PieceModel>(fields, result);
  if (type == "Unigram")
    return readAs<UnigramModel>(fields, result);
  if (type == "WordLevel")
    return readAs<WordModel>(fields, result);
  return Status::error(fmt::format("the model '{}' is not supported", type));
}

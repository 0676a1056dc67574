//===- TrainPieces.cpp - learns a model of SentencePiece ------------------===//

#include "app/data/TrainPieces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cstring>
#include <map>
#include <queue>
#include <set>

using namespace fovea::cli;
using llvm::StringRef;

/// The beginning of a word, U+2581.
static constexpr StringRef wordBegin = "\xE2\x96\x81";

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

void PieceTrainer::add(StringRef line) {
  llvm::SmallVector<StringRef, 64> parts;
  line.split(parts, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef part : parts)
    ++words[(wordBegin + part).str()];
}

/// Calls `take` for each character of UTF-8 text.
template <typename Take> static void forCharacters(StringRef text, Take take) {
  while (!text.empty()) {
    size_t size = 1;
    while (size < text.size() && (text[size] & 0xc0) == 0x80)
      ++size;
    take(text.take_front(size));
    text = text.drop_front(size);
  }
}

/// The most frequent characters, which make up 99.95 % of the text.
void PieceTrainer::findAlphabet() {
  std::map<std::string, int64_t> counts;
  int64_t total = 0;
  for (const auto &word : words)
    forCharacters(word.first(), [&](StringRef character) {
      counts[character.str()] += word.second;
      total += word.second;
    });
  std::vector<std::pair<int64_t, std::string>> order;
  for (const auto &[character, count] : counts)
    order.push_back({-count, character});
  llvm::sort(order);
  alphabet.clear();
  int64_t covered = 0;
  for (const auto &[negative, character] : order) {
    if (double(covered) >= 0.9995 * double(total))
      break;
    alphabet.push_back(character);
    covered -= negative;
  }
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

namespace {

using Pair = std::pair<int, int>;

/// The pieces of all words, and the pairs of adjacent ones.
class Pairs {
public:
  int addPiece(const std::string &text);
  void addWord(StringRef word, int64_t count);
  /// Finds the most frequent pair; false if there is none.
  bool best(Pair &pair);
  /// Makes a pair one piece, in all words.
  void join(const Pair &pair, int piece);
  std::string textOf(const Pair &pair) const {
    return texts[pair.first] + texts[pair.second];
  }

private:
  struct Word {
    std::vector<int> pieces; // -1: a character without a piece
    int64_t count;
  };
  struct Uses {
    int64_t count = 0;
    std::set<size_t> words;
  };
  /// An entry of the queue counts only if its count is still right.
  struct Offer {
    int64_t count;
    std::string text;
    Pair pair;
    bool operator<(const Offer &other) const {
      return std::tie(count, other.text, other.pair) <
             std::tie(other.count, text, pair);
    }
  };

  void change(size_t number, int64_t sign, std::set<Pair> &changed);

  std::vector<std::string> texts;
  std::map<std::string, int> numbers;
  std::vector<Word> words;
  std::map<Pair, Uses> uses;
  std::priority_queue<Offer> offers;
};

} // namespace

int Pairs::addPiece(const std::string &text) {
  auto [found, isNew] = numbers.try_emplace(text, int(texts.size()));
  if (isNew)
    texts.push_back(text);
  return found->second;
}

/// Adds the pairs of a word to the counts, or removes them.
void Pairs::change(size_t number, int64_t sign, std::set<Pair> &changed) {
  const Word &word = words[number];
  for (size_t i = 1; i < word.pieces.size(); ++i) {
    Pair pair = {word.pieces[i - 1], word.pieces[i]};
    if (pair.first < 0 || pair.second < 0)
      continue;
    Uses &own = uses[pair];
    own.count += sign * word.count;
    if (sign > 0)
      own.words.insert(number);
    else
      own.words.erase(number);
    changed.insert(pair);
  }
}

void Pairs::addWord(StringRef text, int64_t count) {
  Word word = {{}, count};
  forCharacters(text, [&](StringRef character) {
    auto found = numbers.find(character.str());
    word.pieces.push_back(found == numbers.end() ? -1 : found->second);
  });
  words.push_back(std::move(word));
  std::set<Pair> changed;
  change(words.size() - 1, 1, changed);
}

bool Pairs::best(Pair &pair) {
  if (offers.empty())
    for (const auto &[each, own] : uses)
      if (own.count > 0)
        offers.push({own.count, textOf(each), each});
  while (!offers.empty()) {
    Offer offer = offers.top();
    offers.pop();
    auto found = uses.find(offer.pair);
    if (found == uses.end() || found->second.count != offer.count)
      continue;
    pair = offer.pair;
    return true;
  }
  return false;
}

void Pairs::join(const Pair &pair, int piece) {
  std::set<size_t> where = uses[pair].words;
  std::set<Pair> changed;
  for (size_t number : where) {
    change(number, -1, changed);
    std::vector<int> joined;
    for (int next : words[number].pieces)
      if (!joined.empty() && joined.back() == pair.first && next == pair.second)
        joined.back() = piece;
      else
        joined.push_back(next);
    words[number].pieces = std::move(joined);
    change(number, 1, changed);
  }
  for (const Pair &each : changed) {
    auto found = uses.find(each);
    if (found->second.count == 0)
      uses.erase(found);
    else
      offers.push({found->second.count, textOf(each), each});
  }
}

bool PieceTrainer::train(int64_t count) {
  findAlphabet();
  if (count < least())
    return false;
  Pairs pairs;
  for (const std::string &character : alphabet)
    pairs.addPiece(character);
  std::set<StringRef> order; // of words: hashes have none
  for (const auto &word : words)
    order.insert(word.first());
  for (StringRef word : order)
    pairs.addWord(word, words[word]);
  learned.clear();
  std::set<std::string> known(alphabet.begin(), alphabet.end());
  Pair pair;
  while (least() + int64_t(learned.size()) < count && pairs.best(pair)) {
    std::string text = pairs.textOf(pair);
    pairs.join(pair, pairs.addPiece(text));
    // Other pieces may make the same text.
    if (known.insert(text).second)
      learned.push_back(text);
  }
  llvm::append_range(learned, alphabet);
  return true;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

static void putNumber(std::string &bytes, uint64_t value) {
  for (; value >= 128; value >>= 7)
    bytes += char(value | 128);
  bytes += char(value);
}

static void putField(std::string &bytes, int field, uint64_t value) {
  putNumber(bytes, uint64_t(field) << 3);
  putNumber(bytes, value);
}

static void putField(std::string &bytes, int field, StringRef value) {
  putNumber(bytes, uint64_t(field) << 3 | 2);
  putNumber(bytes, value.size());
  bytes += value;
}

static std::string entryOf(StringRef piece, float score, int use) {
  std::string bytes;
  putField(bytes, 1, piece);
  putNumber(bytes, 2 << 3 | 5);
  char word[sizeof(score)];
  std::memcpy(word, &score, sizeof(score));
  bytes.append(word, sizeof(word));
  putField(bytes, 3, uint64_t(use));
  return bytes;
}

/// The numbers of fields are those of sentencepiece_model.proto.
std::string PieceTrainer::model() const {
  enum Use { normal = 1, unknown = 2, control = 3 };
  std::string bytes;
  putField(bytes, 1, StringRef(entryOf("<unk>", 0, unknown)));
  putField(bytes, 1, StringRef(entryOf("<s>", 0, control)));
  putField(bytes, 1, StringRef(entryOf("</s>", 0, control)));
  for (auto [number, piece] : llvm::enumerate(learned))
    putField(bytes, 1, StringRef(entryOf(piece, -float(number), normal)));
  std::string trainer, normaliser;
  putField(trainer, 3, 2); // byte pairs
  putField(trainer, 4, learned.size() + 3);
  putField(normaliser, 1, StringRef("identity"));
  putField(bytes, 2, StringRef(trainer));
  putField(bytes, 3, StringRef(normaliser));
  return bytes;
}

//===- Text.h - symbols as people write them ------------------------------===//
//
// One example per line, symbols with spaces between them (ids, words of a
// vocabulary, labels of a class, numbers), or characters (code points) without.
// Where data have several axes, a separator stands between the lists of each
// outer one, and commas between the numbers of one place: `a b | c`, `1,2 3,4`.
// Turns lines into values and values into lines; where lines come from, and
// how a mistake is shown, is decided elsewhere.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_TEXT_H
#define FOVEA_RUNTIME_DATA_TEXT_H

#include "runtime/data/Batch.h"
#include "runtime/data/SentencePieces.h"

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

namespace fovea::runtime {

/// The symbols that every vocabulary of words begins with.
enum Symbol : int64_t { start = 0, end = 1, unknown = 2 };

/// A longer line is a mistake rather than an example.
constexpr size_t longestLine = 1 << 20;

/// What is known of one data name besides its values.
struct TextField {
  std::string name;
  /// Values are ids of symbols: tokens, classes.
  bool isSymbols = false;
  /// Ended by `</s>` (a sentence), or by a place after the last.
  bool isSentence = false, ends = false;
  std::string vocabulary; // the name that declares it; of tokens
  int64_t size = -1;      // ids are 0 .. size-1; -1: any
  std::vector<std::string> labels;
  /// How many axes have places; what one place holds lies along the others.
  int64_t numIndices = 1;
  /// What stands between the lists of an axis that lies outside of another
  /// one, outermost first: one less than there are axes with places.
  std::vector<std::string> separators;
  /// What to do about a word where there is no vocabulary: ends the sentence.
  std::string hint;
};

/// Symbols by id.
struct Vocabulary {
  std::vector<std::string> byId;
  std::unordered_map<std::string, int64_t> ids;
  bool isChars = false; // lines are split into characters
  /// Lines are cut by a model of SentencePiece, whose bytes, in base 64, are
  /// stored with the symbols.
  std::string model;
  std::shared_ptr<const SentencePieces> pieces;

  void add(std::string_view symbol);
};

/// The vocabularies of a model, each by the name of a vocabulary or of data.
class Vocabularies {
public:
  /// What `metadataOf` gives, under keys that begin with `vocabulary.`.
  static bool isKey(std::string_view key);
  /// Takes one entry of metadata; `name` is what it is called here. Symbols of
  /// a model of SentencePiece have to be those of the model.
  Status take(std::string_view key, const std::string &text,
              const std::string &name);
  /// The name in a key.
  static std::string nameIn(std::string_view key);
  /// Adds the entries that `take` reads again.
  void store(std::map<std::string, std::string> &metadata) const;

  Vocabulary &operator[](const std::string &name) { return byName[name]; }
  const std::map<std::string, Vocabulary> &all() const { return byName; }

  /// The first difference between vocabularies that both have, as a sentence;
  /// empty where there is none.
  std::string differenceTo(const Vocabularies &other) const;

  /// The vocabulary of `field`: its own, else the one that it declares.
  const Vocabulary *find(const TextField &field) const;
  bool isChars(const TextField &field) const;
  /// What cuts the lines of `field`; null: they are words or characters.
  const SentencePieces *piecesOf(const TextField &field) const;
  /// The id of a word, or nothing. Without a vocabulary a word is an id.
  std::optional<int64_t> idOf(const TextField &field,
                              std::string_view word) const;
  std::string wordOf(const TextField &field, int64_t id) const;

private:
  std::map<std::string, Vocabulary> byName;
};

/// How many bytes of `text` are UTF-8: all, or up to the first that is not.
size_t validUtf8(std::string_view text);

/// Calls `take` for each symbol of a line of valid UTF-8.
void forSymbols(std::string_view line, bool isChars,
                const std::function<void(std::string_view)> &take);

/// Calls `take` for each innermost list of a line, with its number in each
/// outer one.
void forLists(std::string_view line, const std::vector<std::string> &separators,
              const std::function<void(std::string_view,
                                       const std::vector<int64_t> &)> &take);

/// Is told each mistake: where in the line, and what it is.
using Report = std::function<void(std::string_view, const std::string &)>;

/// Reads the values of one line, of valid UTF-8, and the lengths of their axes.
/// False when any is wrong (reported).
bool readLine(std::string_view line, const TextField &field,
              const DataSpec &spec, const Vocabularies &vocabularies,
              DataValues &result, Lengths &lengths, const Report &report);

/// Reads what a generated sentence begins with: symbols that the vocabulary
/// has. False when any is wrong (reported).
bool readPrefix(std::string_view line, const TextField &field,
                const Vocabularies &vocabularies, std::vector<double> &values,
                const Report &report);

/// What stands for `<unk>` at a place, or nothing.
using Replacement = std::function<std::optional<std::string>(size_t)>;

/// Generated values as a line of text, without the symbol that ends it, which
/// shows in a sentence; `hasEnd` says it of others.
std::string textOf(const TextField &field, const DataValues &values,
                   bool hasEnd, const Vocabularies &vocabularies,
                   const Replacement &replacement = {});

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_TEXT_H

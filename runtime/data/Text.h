//===- Text.h - symbols as people write them ------------------------------===//
//
// Converts lines to values and values to lines. A line is one example: symbols
// separated by spaces (ids, words of a vocabulary, class labels, numbers), or
// characters (code points) without spaces. If data have several axes, a
// separator divides the lists of each outer axis, and commas separate the
// numbers of one place: `a b | c`, `1,2 3,4`. Callers decide where lines come
// from and how errors are shown.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_TEXT_H
#define FOVEA_RUNTIME_DATA_TEXT_H

#include "runtime/data/Batch.h"
#include "runtime/data/Segmenter.h"

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

namespace fovea::runtime {

/// The first symbols of every word vocabulary.
enum Symbol : int64_t { start = 0, end = 1, unknown = 2 };

/// A longer line is an error, not an example.
constexpr size_t longestLine = 1 << 20;

/// The properties of one data name, without its values.
struct TextField {
  std::string name;
  /// Values are ids of symbols: tokens, classes.
  bool isSymbols = false;
  /// Ended by `</s>` (a sentence), or by a place after the last.
  bool isSentence = false, ends = false;
  std::string vocabulary; // the name that declares it; of tokens
  int64_t size = -1;      // ids are 0 .. size-1; -1: any
  std::vector<std::string> labels;
  /// How many axes have places; the numbers of one place lie along the others.
  int64_t numIndices = 1;
  /// The separators between the lists of each outer axis, outermost first: one
  /// fewer than axes with places.
  std::vector<std::string> separators;
  /// Advice for a word without a vocabulary: the end of the error message.
  std::string hint;
};

/// Symbols by id.
struct Vocabulary {
  std::vector<std::string> byId;
  std::unordered_map<std::string, int64_t> ids;
  bool isChars = false; // lines are split into characters
  /// What lines are segmented by, and its kind. It is stored as `model`: a
  /// SentencePiece model in base 64, or a tokenizer.json.
  std::string kind, model;
  std::shared_ptr<const Segmenter> pieces;

  void add(std::string_view symbol);
  /// Take the bytes of a file, and its symbols. A failure names their fault, as
  /// `it is damaged`. With `hasSentences`, the first symbols are those of every
  /// word vocabulary.
  Status setSentencePieces(std::string_view bytes);
  Status setTokeniser(std::string_view text, bool hasSentences);
};

/// The vocabularies of a model, by the name of a vocabulary or of data.
class Vocabularies {
public:
  /// The output of `metadataOf`, under keys that begin with `vocabulary.`.
  static bool isKey(std::string_view key);
  /// Takes one metadata entry; messages call it `name`. The symbols must match
  /// the SentencePiece model, if there is one.
  Status take(std::string_view key, const std::string &text,
              const std::string &name);
  /// The name in a key.
  static std::string nameIn(std::string_view key);
  /// Adds the entries that `take` reads.
  void store(std::map<std::string, std::string> &metadata) const;

  Vocabulary &operator[](const std::string &name) { return byName[name]; }
  const std::map<std::string, Vocabulary> &all() const { return byName; }

  /// Returns the first difference between shared vocabularies as a sentence, or
  /// an empty string.
  std::string differenceTo(const Vocabularies &other) const;

  /// Returns the vocabulary of `field`: its own, or the one that it declares.
  const Vocabulary *find(const TextField &field) const;
  bool isChars(const TextField &field) const;
  /// Returns the segmenter of the lines of `field`; null: words or characters.
  const Segmenter *piecesOf(const TextField &field) const;
  /// Returns the id of a word, or nothing. Without a vocabulary a word is an
  /// id.
  std::optional<int64_t> idOf(const TextField &field,
                              std::string_view word) const;
  std::string wordOf(const TextField &field, int64_t id) const;

private:
  std::map<std::string, Vocabulary> byName;
};

/// Returns how many bytes of `text` are valid UTF-8, up to the first invalid
/// one.
size_t validUtf8(std::string_view text);

/// The pieces of an innermost list. In a text other than a sentence, the
/// tokeniser's symbols are around them.
std::vector<Segmenter::Piece> piecesOf(std::string_view list,
                                       const TextField &field,
                                       const Segmenter &segmenter);

/// Calls `take` for each symbol of a line of valid UTF-8.
void forSymbols(std::string_view line, bool isChars,
                const std::function<void(std::string_view)> &take);

/// Calls `take` for each innermost list of a line, with its number in each
/// outer list.
void forLists(std::string_view line, const std::vector<std::string> &separators,
              const std::function<void(std::string_view,
                                       const std::vector<int64_t> &)> &take);

/// Receives each error: its place in the line, and the message.
using Report = std::function<void(std::string_view, const std::string &)>;

/// Reads the values of one line, of valid UTF-8, and the lengths of its axes.
/// Returns false on any error (reported).
bool readLine(std::string_view line, const TextField &field,
              const DataSpec &spec, const Vocabularies &vocabularies,
              DataValues &result, Lengths &lengths, const Report &report);

/// Reads the prefix of a generated sentence: symbols of the vocabulary. Returns
/// false on any error (reported).
bool readPrefix(std::string_view line, const TextField &field,
                const Vocabularies &vocabularies, std::vector<double> &values,
                const Report &report);

/// The replacement of `<unk>` at a place, or nothing.
using Replacement = std::function<std::optional<std::string>(size_t)>;

/// Returns generated values as a line of text. Omits the end symbol, which is
/// explicit in a sentence; `hasEnd` states it for others.
std::string textOf(const TextField &field, const DataValues &values,
                   bool hasEnd, const Vocabularies &vocabularies,
                   const Replacement &replacement = {});

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_TEXT_H

//===- SentencePieces.h - a model of SentencePiece ------------------------===//
//
// A trained model of SentencePiece (Kudo and Richardson, 2018) cuts lines into
// pieces and puts them together again, as its library (0.1.97) does: by a
// unigram model, by pairs of bytes, by words or by characters. Ids are those of
// any vocabulary here: 0 is <s>, 1 </s>, 2 <unk>, then come the other pieces in
// the order of the model.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_SENTENCEPIECES_H
#define FOVEA_RUNTIME_DATA_SENTENCEPIECES_H

#include "runtime/Status.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::runtime {

class SentencePieces {
public:
  struct Piece {
    std::string text;
    int64_t id; // unknown: of a piece that is no symbol
  };

  /// Takes the bytes of a model. A failure says what is wrong with them, as
  /// `it is damaged`.
  static Status read(std::string_view bytes,
                     std::shared_ptr<const SentencePieces> &result);

  /// The symbols by id.
  std::vector<std::string> symbols() const;

  std::vector<Piece> cut(std::string_view line) const;
  /// The line that pieces make.
  std::string join(const std::vector<std::string> &pieces) const;

private:
  enum class Kind { Unigram = 1, Pairs, Words, Characters };
  enum class Use { Normal = 1, Unknown, Control, UserDefined, Unused, Byte };

  struct Entry {
    std::string text;
    float score = 0;
    Use use = Use::Normal;
  };

  /// Texts, with their numbers, for the prefixes of others.
  class Texts {
  public:
    void add(std::string_view text, int id) { sorted.push_back({text, id}); }
    /// Before it is asked; the first text that is there twice, or nothing.
    std::optional<std::string_view> finish();
    bool empty() const { return sorted.empty(); }
    /// Calls `take(length, id)` for each that `text` begins with, the shortest
    /// first.
    template <typename Take>
    void forPrefixes(std::string_view text, Take take) const;
    /// How long the longest is; 0: there is none.
    size_t longest(std::string_view text) const;
    /// The number of a text; -1: it is none of them.
    int find(std::string_view text) const;

  private:
    std::vector<std::pair<std::string_view, int>> sorted;
  };

  /// What is done with a line before it is cut, or after it is put together.
  struct Normaliser {
    bool addsSpace = true, removesSpaces = true, escapesSpaces = true;
    bool isSuffix = false;
    /// A double array of Darts; the texts that its leaves point at, each with a
    /// zero at its end.
    std::vector<uint32_t> units;
    std::string texts;

    bool read(std::string_view message);
    bool readTable(std::string_view table);
    bool isTable() const;
    /// What the first characters of `text` become, and how many bytes of it
    /// that are.
    std::pair<std::string_view, size_t> first(std::string_view text,
                                              const Texts &kept) const;
    std::string apply(std::string_view line, const Texts &kept) const;
  };

  /// A stretch of a line, and the number of its entry.
  using Cut = std::vector<std::pair<std::string_view, int>>;

  Status parse(std::string_view bytes);
  bool readEntry(std::string_view message);
  bool readTrainer(std::string_view message);
  Status index();
  void number();

  int find(std::string_view text) const;
  Cut cutByUnigrams(std::string_view line) const;
  Cut cutByPairs(std::string_view line) const;
  Cut cutByWords(std::string_view line) const;
  Cut cutByCharacters(std::string_view line) const;
  /// The bytes of the first character of a line, or of the symbol of a user
  /// that it begins with.
  size_t firstBytes(std::string_view line, bool &isSymbol) const;
  Use useOf(int id) const { return entries[id].use; }
  /// A byte as a piece, `<0x0A>`, and back; -1: it is none.
  static std::string pieceOf(uint8_t byte);
  static int byteOf(std::string_view piece);

  Kind kind = Kind::Unigram;
  bool hasBytes = false;
  std::string unknownPiece, beginPiece, endPiece;
  std::string unknownText = " \xE2\x81\x87 ";
  Normaliser before, after;
  std::vector<Entry> entries;
  Texts plain, reserved, userDefined;
  int unknownId = -1;
  float lowest = 0, highest = 0; // scores of normal pieces
  std::vector<int> theirs;       // by our ids; -1: the model has no such piece
  std::vector<int64_t> ours;
};

/// The bytes that a text in base 64 stands for; false where it is none.
bool readBase64(std::string_view text, std::string &bytes);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_SENTENCEPIECES_H

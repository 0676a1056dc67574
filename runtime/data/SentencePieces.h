//===- SentencePieces.h - a model of SentencePiece ------------------------===//
//
// A trained SentencePiece model (Kudo and Richardson, 2018). Segments lines
// into pieces and joins them again, as the library (0.1.97) does: by a unigram
// model, byte pairs, words or characters. Ids follow the convention of all
// vocabularies here: 0 is <s>, 1 </s>, 2 <unk>, then the other pieces in model
// order.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_SENTENCEPIECES_H
#define FOVEA_RUNTIME_DATA_SENTENCEPIECES_H

#include "runtime/Status.h"
#include "runtime/data/Prefixes.h"
#include "runtime/data/Segmenter.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::runtime {

class SentencePieces : public Segmenter {
public:
  /// Takes the bytes of a model. A failure names their fault, as `it is
  /// damaged`.
  static Status read(std::string_view bytes,
                     std::shared_ptr<const SentencePieces> &result);

  std::vector<std::string> symbols() const override;
  std::vector<Piece> cut(std::string_view line) const override;
  std::string join(const std::vector<std::string> &pieces) const override;

private:
  enum class Kind { Unigram = 1, Pairs, Words, Characters };
  enum class Use { Normal = 1, Unknown, Control, UserDefined, Unused, Byte };

  struct Entry {
    std::string text;
    float score = 0;
    Use use = Use::Normal;
  };

  /// Normalises a line before segmentation, or after joining.
  struct Normaliser {
    bool addsSpace = true, removesSpaces = true, escapesSpaces = true;
    bool isSuffix = false;
    CharTable table;

    bool read(std::string_view message);
    /// Returns the replacement of the first characters of `text`, and how many
    /// bytes they have.
    std::pair<std::string_view, size_t> first(std::string_view text,
                                              const Texts &kept) const;
    std::string apply(std::string_view line, const Texts &kept) const;
  };

  /// A span of a line, and the number of its entry.
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
  /// Returns the length of the first character, or of the user-defined symbol
  /// at the start of a line.
  size_t firstBytes(std::string_view line, bool &isSymbol) const;
  Use useOf(int id) const { return entries[id].use; }
  /// Converts a byte to a piece, `<0x0A>`, and back; -1: not a byte piece.
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

/// Decodes base 64; returns false on invalid input.
bool readBase64(std::string_view text, std::string &bytes);
std::string writeBase64(std::string_view bytes);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_SENTENCEPIECES_H

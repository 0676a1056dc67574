//===- TrainPieces.h - learns a model of SentencePiece --------------------===//
//
// Byte pair encoding (Sennrich et al., 2016) of text, as a model that the
// SentencePiece library reads, and `vocab v : sentencepiece("FILE")`. Begins
// with characters; the most frequent pair of adjacent pieces in a word becomes
// a piece, again and again. Ties are broken by bytes.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_DATA_TRAINPIECES_H
#define FOVEA_APP_DATA_TRAINPIECES_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fovea::cli {

class PieceTrainer {
public:
  /// Counts the words of a line.
  void add(llvm::StringRef line);
  /// Learns at most `count` pieces, <unk>, <s> and </s> among them; fewer if
  /// the words have no more pairs. The rarest characters, 0.05 % of the text,
  /// get no piece. Returns false if `count` is less than `least()`.
  bool train(int64_t count);
  /// The number of pieces that the characters need.
  int64_t least() const { return 3 + int64_t(alphabet.size()); }

  /// The pieces by decreasing priority: pairs, then characters.
  const std::vector<std::string> &pieces() const { return learned; }
  /// The bytes of the model.
  std::string model() const;

private:
  void findAlphabet();

  llvm::StringMap<int64_t> words;
  std::vector<std::string> alphabet, learned;
};

} // namespace fovea::cli

#endif // FOVEA_APP_DATA_TRAINPIECES_H

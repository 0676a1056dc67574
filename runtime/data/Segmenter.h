//===- Segmenter.h - what splits lines into symbols -----------------------===//
//
// The interface of vocabularies whose symbols are parts of words: lines are
// split into pieces, and pieces are joined into lines.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_SEGMENTER_H
#define FOVEA_RUNTIME_DATA_SEGMENTER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::runtime {

class Segmenter {
public:
  struct Piece {
    std::string text;
    int64_t id;
    bool isUnknown = false; // the text is no symbol
  };

  virtual ~Segmenter() = default;

  /// The symbols by id.
  virtual std::vector<std::string> symbols() const = 0;
  virtual std::vector<Piece> cut(std::string_view line) const = 0;
  /// Joins pieces into a line.
  virtual std::string join(const std::vector<std::string> &pieces) const = 0;
  /// The symbols that enclose a text other than a sentence, as [CLS] and [SEP].
  const std::vector<Piece> &before() const { return prefix; }
  const std::vector<Piece> &after() const { return suffix; }

protected:
  std::vector<Piece> prefix, suffix;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_SEGMENTER_H

//===- Tokeniser.h - a tokenizer.json -------------------------------------===//
//
// A tokeniser as Hugging Face's library (tokenizers) writes it: added tokens, a
// normaliser, a pre-tokeniser, a model, a post-processor and a decoder. Lines
// become the ids of that library, and ids its text.
//
// Ids are those of the file. Sentences begin with id 0, end with 1 and know 2
// as unknown; so where data are sentences, the file's tokens for these three
// come first, and the others follow in their order.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_TOKENISER_H
#define FOVEA_RUNTIME_DATA_TOKENISER_H

#include "runtime/data/Prefixes.h"
#include "runtime/data/Segmenter.h"
#include "runtime/data/TokeniserParts.h"

#include <unordered_set>

namespace fovea::runtime {

class Tokeniser : public Segmenter {
public:
  /// Takes the text of a file. A failure names its fault, as `it is not JSON`.
  static Status read(std::string_view text, bool hasSentences,
                     std::shared_ptr<const Tokeniser> &result);
  /// The parts of a file that `read` needs, as JSON on one line.
  static Status shorten(std::string_view text, std::string &result);

  std::vector<std::string> symbols() const override;
  std::vector<Piece> cut(std::string_view line) const override;
  std::string join(const std::vector<std::string> &pieces) const override;

private:
  /// A token that the model does not know, with its own text.
  struct Added {
    int id;
    std::string text, searched; // as the file has it, and normalised
    bool isWord = false, takesLeft = false, takesRight = false;
    bool isNormalised = false, isSpecial = false;
  };
  /// A part of a line, and the added token that it is, if any.
  struct Part {
    std::string_view text;
    const Added *added = nullptr;
  };

  Status parse(const nlohmann::json &file);
  Status readAdded(const nlohmann::json &list);
  Status readProcessor(const nlohmann::json &part, int depth = 0);
  Status readTemplate(JsonFields &fields);
  Status readEnclosing(JsonFields &fields);
  int idOf(std::string_view text) const;
  void enclose(std::vector<int> before, std::vector<int> after);
  void number(bool hasSentences);
  Piece pieceOf(int id) const { return {texts[id], ours[id], false}; }

  std::vector<Part> partsOf(std::string_view text, const Texts &known) const;
  void cutSpan(std::string_view text, bool isFirst,
               std::vector<Token> &tokens) const;

  std::vector<std::string> texts; // by the file's ids
  std::unordered_map<std::string, int> ids;
  std::vector<Added> added;
  Texts plain, normalised; // numbers in `added`
  std::unordered_set<std::string> special;
  NormaliseText normalise;
  SplitText split;
  std::unique_ptr<TokenModel> model;
  DecodeTokens decode;
  std::vector<int> opening, closing; // around a text, by the file's ids
  std::vector<int> theirs;           // by our ids; -1: the file has no such
  std::vector<int64_t> ours;
  bool isMoved = false;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_TOKENISER_H

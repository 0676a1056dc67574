//===- TokeniserParts.h - the parts of a tokenizer.json -------------------===//
//
// Each part of a tokenizer.json becomes a function, in the order in which a
// line passes them: normaliser, pre-tokeniser, model; and the decoder.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_TOKENISERPARTS_H
#define FOVEA_RUNTIME_DATA_TOKENISERPARTS_H

#include "runtime/Status.h"
#include "runtime/data/Pattern.h"

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fovea::runtime {

/// A span of a line between two steps.
struct TextSpan {
  std::string text;
  bool isFirst = false; // it begins the line
};

/// If the begin of a line is removed, what follows does not begin it.
using NormaliseText = std::function<void(TextSpan &)>;
using SplitText = std::function<void(std::vector<TextSpan> &)>;
using DecodeTokens = std::function<void(std::vector<std::string> &)>;

/// A token of a model: its id in the file, and its text.
struct Token {
  int id;
  std::string text;
  bool isUnknown = false;
};

/// What cuts a span into tokens.
class TokenModel {
public:
  virtual ~TokenModel() = default;
  virtual void cut(std::string_view text, std::vector<Token> &tokens) const = 0;

  /// The tokens by id; a gap in the numbers is an empty text.
  std::vector<std::string> texts;
  int unknown = -1;
};

/// Fields of JSON that a file may leave out, or have as null. A field of
/// another type is a mistake, which the first one who asks reports.
class JsonFields {
public:
  explicit JsonFields(const nlohmann::json &json) : json(json) {}

  /// Null where there is none.
  const nlohmann::json &at(const char *name) const;
  bool flag(const char *name, bool usual);
  std::string text(const char *name, const std::string &usual = "");
  int64_t number(const char *name, int64_t usual);
  /// Of `type`, which every part has.
  std::string type() { return text("type"); }
  Status status() const { return mistake; }

private:
  const nlohmann::json &json;
  Status mistake;
};

/// Read one part. Null is a part that does nothing.
Status readNormaliser(const nlohmann::json &json, NormaliseText &result);
Status readSplit(const nlohmann::json &json, SplitText &result);
Status readModel(const nlohmann::json &json,
                 std::unique_ptr<TokenModel> &result);
Status readDecoder(const nlohmann::json &json, DecodeTokens &result);

/// Reads `{"String": ..}`, `{"Regex": ..}` or a text.
Status readPattern(const nlohmann::json &json, Pattern &result);

/// Reads the parts of a sequence by `readOne(part, result)`, and joins them.
template <typename Function>
Status readSequence(const nlohmann::json &parts,
                    Status (*readOne)(const nlohmann::json &, Function &),
                    Function &result) {
  if (!parts.is_array())
    return Status::error("a sequence has no parts");
  std::vector<Function> all;
  for (const nlohmann::json &part : parts) {
    // A file chooses how deep they nest.
    if (part.is_object() && part.contains("type") && part["type"] == "Sequence")
      return Status::error("a sequence is part of a sequence");
    if (Status status = readOne(part, all.emplace_back()); status.failed())
      return status;
  }
  result = [all](auto &value) {
    for (const Function &one : all)
      one(value);
  };
  return Status::success();
}

/// Each byte as the character that byte-level tokens write for it, and back;
/// -1: no such character.
const std::string &charOfByte(uint8_t byte);
int byteOfChar(char32_t c);
std::string charsOfBytes(std::string_view bytes);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_TOKENISERPARTS_H

//===- ChatTemplate.h - what a model reads of a conversation --------------===//
//
// A template in the language of Jinja turns messages into the text that a
// published model was trained on. docs/WEIGHTS.md documents the subset:
// everything else is an error with its line, never a guess.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_CHAT_CHATTEMPLATE_H
#define FOVEA_APP_CHAT_CHATTEMPLATE_H

#include "runtime/Status.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fovea::cli {

/// What variables have. Maps keep the order of their entries.
using ChatValue = nlohmann::ordered_json;

/// An expression: an operation on its operands.
struct ChatExpression {
  enum Kind {
    Literal,  // value
    Name,     // text
    List,     // operands
    Map,      // operands: keys and values in turn
    Operator, // text, operands
    Choose,   // operands: the condition, if so, otherwise
    Member,   // operands: of what; text: its name
    Element,  // operands: of what, which
    Slice,    // operands: of what, from, to; literals of nothing: its ends
    Call,     // operands: what (a name or a member), arguments; names
    Filter,   // text; operands: of what, arguments; names
    Test      // text; operands: of what, arguments
  } kind = Literal;
  std::string text;
  ChatValue value;
  std::vector<ChatExpression> operands;
  std::vector<std::string> names; // of the last operands
  int line = 0;
};

/// A piece of a template.
struct ChatStatement {
  enum Kind { Text, Print, For, If, Set } kind = Text;
  std::string text;               // Text; For, Set: the name
  std::string second;             // For: of two names; Set: of a member
  std::vector<ChatExpression> of; // the expression
  std::vector<ChatStatement> body, otherwise;
  int line = 0;
};

class ChatTemplate {
public:
  /// Parses a text. An error names the line and what is not understood.
  static runtime::Status parse(std::string_view text, ChatTemplate &result);

  /// The text of a conversation. `variables` has `messages`,
  /// `add_generation_prompt`, `bos_token`, `eos_token`.
  runtime::Status render(const ChatValue &variables, std::string &text) const;

private:
  std::vector<ChatStatement> body;
};

} // namespace fovea::cli

#endif // FOVEA_APP_CHAT_CHATTEMPLATE_H

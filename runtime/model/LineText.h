//===- LineText.h - lines as examples, hypotheses as text -----*- C++ -*-===//
//
// What programs and pages read and show: a line holds one example, a column for
// each of the data that are given.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MODEL_LINETEXT_H
#define FOVEA_RUNTIME_MODEL_LINETEXT_H

#include "runtime/model/Description.h"
#include "runtime/search/Search.h"

namespace fovea::runtime {

class LineText {
public:
  /// Of lines that `program` reads. All three outlive it.
  LineText(const Description &description, const Vocabularies &words,
           const Program &program);

  /// The columns, in the order of the spec.
  const std::vector<const DataDescription *> &inputs() const { return columns; }

  /// Reads line `number`; a failure says what is wrong with it.
  Status read(const std::string &line, size_t number, Example &example) const;

  /// The names that are generated, in the order of the spec.
  std::vector<std::string> generated() const;
  /// Reads what the generated `name` begins with; empty: what all of them do,
  /// with a tab between them.
  Status readPrefix(const std::string &name, std::string_view line,
                    Example &example) const;

  /// What was generated for an example, with a tab between names.
  std::string textOf(const Example &example, const Generated &generated) const;
  /// Of one of them.
  std::string textOf(const DataDescription &data, const Example &example,
                     const Generated &generated) const;

private:
  Status readColumn(std::string_view text, const DataDescription &data,
                    Example &example) const;
  Status readColumns(const std::string &line, Example &example) const;

  const Description &description;
  const Vocabularies &words;
  std::vector<const DataDescription *> columns;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_LINETEXT_H

//===- LineText.h - lines as examples, hypotheses as text -----*- C++ -*-===//
//
// The text format of programs and pages: a line holds one example, with a
// column for each input.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MODEL_LINETEXT_H
#define FOVEA_RUNTIME_MODEL_LINETEXT_H

#include "runtime/model/Description.h"
#include "runtime/search/Search.h"

namespace fovea::runtime {

/// Reads the file that a line names, in the format of `data`.
using LoadFile = Status (*)(const std::string &path,
                            const DataDescription &data, DataValues &values,
                            Lengths &lengths);

class LineText {
public:
  /// For lines that `program` reads. All three must outlive it. Without `load`,
  /// lines name no files.
  LineText(const Description &description, const Vocabularies &words,
           const Program &program, LoadFile load = nullptr);

  /// Returns the first input that no line can contain or name, or null.
  const DataDescription *unreadable() const;

  /// The columns, in the order of the spec.
  const std::vector<const DataDescription *> &inputs() const { return columns; }

  /// Reads line `number`; a failure states the error.
  Status read(const std::string &line, size_t number, Example &example) const;

  /// The generated names, in the order of the spec.
  std::vector<std::string> generated() const;
  /// Reads the prefix of the generated `name`; empty: the prefixes of all,
  /// separated by tabs.
  Status readPrefix(const std::string &name, std::string_view line,
                    Example &example) const;

  /// Returns the output for an example, with tabs between names.
  std::string textOf(const Example &example, const Generated &generated) const;
  /// Returns the output of one name.
  std::string textOf(const DataDescription &data, const Example &example,
                     const Generated &generated) const;

private:
  Status readColumn(std::string_view text, const DataDescription &data,
                    Example &example) const;
  Status readColumns(const std::string &line, Example &example) const;

  const Description &description;
  const Vocabularies &words;
  LoadFile load;
  std::vector<const DataDescription *> columns;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_LINETEXT_H

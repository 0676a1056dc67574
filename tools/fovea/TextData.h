//===- TextData.h - symbols as people write them --------------------------===//
//
// One example per line, symbols with spaces between them: ids, words of a
// vocabulary file, labels of a class, numbers.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TOOLS_FOVEA_TEXTDATA_H
#define FOVEA_TOOLS_FOVEA_TEXTDATA_H

#include "dialect/reference/Array.h"
#include "runtime/Batch.h"
#include "tools/fovea/Session.h"
#include "llvm/ADT/StringMap.h"

namespace fovea::cli {

/// The symbols that every vocabulary of words begins with.
enum Symbol : int64_t { start = 0, end = 1, unknown = 2 };

/// The words of each `--vocab`, by the name of a vocabulary or of data.
class Vocabularies {
public:
  bool read(Session &session, const Arguments &arguments, const Model &model);

  /// The id of a word, or nothing. Without a vocabulary a word is an id.
  std::optional<int64_t> idOf(const DataInfo &data, llvm::StringRef word) const;
  std::string wordOf(const DataInfo &data, int64_t id) const;

private:
  struct Words {
    std::vector<std::string> byId;
    llvm::StringMap<int64_t> ids;
  };
  const Words *find(const DataInfo &data) const;

  std::map<std::string, Words> byName;
};

/// Reads one data name from a text file, one value of `values` per line.
/// `path` may end in `:COLUMN` of a file with tabs.
bool readText(Session &session, const std::string &path, const DataInfo &data,
              const runtime::DataSpec &spec, const Vocabularies &vocabularies,
              std::vector<runtime::DataValues> &values);

/// A generated array as a line of text, without the symbol that ends it.
std::string textOf(const DataInfo &data, const reference::Array &array,
                   bool hasEnd, const Vocabularies &vocabularies);

} // namespace fovea::cli

#endif // FOVEA_TOOLS_FOVEA_TEXTDATA_H

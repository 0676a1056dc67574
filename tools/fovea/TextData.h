//===- TextData.h - symbols as people write them --------------------------===//
//
// One example per line, symbols with spaces between them (ids, words of a
// vocabulary, labels of a class, numbers), or characters (code points) without.
// Files that end in .gz are unpacked as they are read.
//
// A vocabulary is given as a file, stored with weights, or built from text: 0
// is <s>, 1 </s>, 2 <unk>, then come the symbols by falling frequency, ties by
// their bytes.
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

/// A file with text, its place and its column from 1 (0: whole lines).
struct TextSource {
  std::string path;
  unsigned column = 0;
};
/// Splits `FILE:2`.
TextSource sourceOf(const std::string &given);

/// The vocabularies of a model, each by the name of a vocabulary or of data.
class Vocabularies {
public:
  /// Reads each `--vocab`.
  bool read(Session &session, const Arguments &arguments, const Model &model);

  /// Takes what `store` has put beside the weights in `path`, by the names that
  /// `rename` gives. What the command line gives comes first.
  bool load(
      Session &session, const Arguments &arguments,
      const runtime::TensorFile &weights, const std::string &path,
      llvm::function_ref<std::string(llvm::StringRef)> rename =
          [](llvm::StringRef name) { return name.str(); });
  void store(std::map<std::string, std::string> &metadata) const;

  /// Builds the vocabularies that have no symbols yet from the texts of the
  /// data that use them, by name.
  bool build(Session &session, const Model &model,
             const std::map<std::string, TextSource> &texts);

  /// `--set NAME.vocab=N` for those that were loaded or built, or for all.
  std::vector<std::pair<std::string, std::string>>
  sizes(bool ofAll = false) const;

  /// The id of a word, or nothing. Without a vocabulary a word is an id.
  std::optional<int64_t> idOf(const DataInfo &data, llvm::StringRef word) const;
  std::string wordOf(const DataInfo &data, int64_t id) const;
  /// Whether lines of `data` are split into characters.
  bool isChars(const DataInfo &data) const;

private:
  struct Words {
    std::vector<std::string> byId;
    llvm::StringMap<int64_t> ids;
    std::string vocabulary; // what the spec calls it
    bool isChars = false;
    bool isStored = false; // with the weights
    void add(llvm::StringRef word);
  };
  const Words *find(const DataInfo &data) const;

  std::map<std::string, Words> byName;
};

/// Reads one data name from a text file, one value of `values` per line.
bool readText(Session &session, const TextSource &source, const DataInfo &data,
              const runtime::DataSpec &spec, const Vocabularies &vocabularies,
              std::vector<runtime::DataValues> &values);

/// A generated array as a line of text, without the symbol that ends it.
std::string textOf(const DataInfo &data, const reference::Array &array,
                   bool hasEnd, const Vocabularies &vocabularies);

} // namespace fovea::cli

#endif // FOVEA_TOOLS_FOVEA_TEXTDATA_H

//===- TextData.h - files of examples and of symbols ----------------------===//
//
// One example per line, as runtime/data/Text.h reads them. Files that end in
// .gz are unpacked as they are read. A mistake is shown with its line.
//
// A vocabulary is given as a file, stored with weights, or built from text: 0
// is <s>, 1 </s>, 2 <unk>, then come the symbols by falling frequency, ties by
// their bytes.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_DATA_TEXTDATA_H
#define FOVEA_DRIVER_DATA_TEXTDATA_H

#include "dialect/reference/Array.h"
#include "driver/model/Session.h"
#include "runtime/data/Text.h"

struct gzFile_s; // of zlib

namespace fovea::cli {

/// A file with text, its place and its column from 1 (0: whole lines).
struct TextSource {
  std::string path;
  unsigned column = 0;
  const std::string *text = nullptr; // in the place of the file's
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
  void store(std::map<std::string, std::string> &metadata) const {
    symbols.store(metadata);
  }

  /// Reads the models of SentencePiece that the spec names, of vocabularies
  /// that have no symbols yet.
  bool readModels(Session &session, const Arguments &arguments,
                  const Model &model);

  /// Builds the vocabularies that have no symbols yet from the texts of the
  /// data that use them, by name.
  bool build(Session &session, const Model &model,
             const std::map<std::string, TextSource> &texts);

  /// `--set NAME.vocab=N` for those that were loaded or built, or for all.
  std::vector<std::pair<std::string, std::string>>
  sizes(bool ofAll = false) const;

  /// The symbols themselves.
  const runtime::Vocabularies &words() const { return symbols; }

private:
  runtime::Vocabularies symbols;
  /// By name: what the spec calls it, and whether it comes with weights.
  struct Origin {
    std::string vocabulary;
    bool isStored = false;
  };
  std::map<std::string, Origin> origins;
};

/// What of `data` its text depends on.
runtime::TextField fieldOf(const DataInfo &data);

/// What one example has of a data name.
struct LoadedValues {
  runtime::DataValues values;
  runtime::Lengths lengths;
};

/// The lines of a file, or a column of them, one after the other. A mistake in
/// one is shown with it; what is read after that counts on.
class TextLines {
public:
  /// What of the file is in memory: all of it for as long as the session, or a
  /// part, in which the present line is.
  enum Hold { All, Part };
  TextLines(Session &session, TextSource source, Hold hold)
      : session(session), source(std::move(source)), hold(hold) {}
  ~TextLines();
  TextLines(const TextLines &) = delete;
  TextLines &operator=(const TextLines &) = delete;

  /// Wrong: this line; Failed: there is nothing more. Both are reported.
  enum Kind { Good, Wrong, End, Failed };
  Kind next(llvm::StringRef &text);
  /// Reports a mistake at a place of the present line; false.
  bool explain(llvm::StringRef place, const std::string &text);
  /// Reads all that is left, and says how many lines that are.
  int64_t countRest();

  const std::string &path() const { return source.path; }

private:
  bool open();
  bool fill();
  bool fail(const std::string &text);
  /// The next line as it stands in the file.
  Kind takeLine(llvm::StringRef &line);
  Kind check(llvm::StringRef line, llvm::StringRef &text);

  Session &session;
  TextSource source;
  Hold hold;
  gzFile_s *file = nullptr; // null: nothing more is to be read
  bool isOpen = false, isBroken = false;
  std::string pending; // read, and no whole line yet
  /// The present part, where nobody else has it, and what is left of it.
  std::unique_ptr<llvm::MemoryBuffer> part;
  llvm::StringRef rest;
  unsigned numTaken = 0, numBefore = 0; // lines; those ahead of the part
};

/// Calls `take` for each line of a file, or for its column; it returns whether
/// the line is good. False when anything is wrong (reported): a file that is
/// empty, a line that is too long or no UTF-8. The lines live as long as the
/// session.
bool forLines(Session &session, const TextSource &source,
              llvm::function_ref<bool(llvm::StringRef)> take);

/// One data name of a text file, a line for each example. Of data that are
/// numbers a line may name a file that holds them (FileData.h).
class TextReader {
public:
  TextReader(Session &session, const TextSource &source, const DataInfo &data,
             const runtime::DataSpec &spec, const Vocabularies &vocabularies)
      : data(data), spec(spec), vocabularies(vocabularies),
        field(fieldOf(data)), lines(session, source, TextLines::Part) {}

  /// The values of the next line and, where it is not null, its words.
  TextLines::Kind next(LoadedValues &values, std::vector<std::string> *words);
  int64_t countRest() { return lines.countRest(); }

private:
  bool read(llvm::StringRef line, LoadedValues &values);

  const DataInfo &data;
  const runtime::DataSpec &spec;
  const Vocabularies &vocabularies;
  runtime::TextField field;
  TextLines lines;
};

/// A generated array as a line of text, without the symbol that ends it;
/// `lengths` are those of its example, `hasEnd` says whether one stands there.
std::string textOf(const DataInfo &data, const reference::Array &array,
                   const runtime::Lengths &lengths, bool hasEnd,
                   const Vocabularies &vocabularies,
                   const runtime::Replacement &replacement = {});

} // namespace fovea::cli

#endif // FOVEA_DRIVER_DATA_TEXTDATA_H

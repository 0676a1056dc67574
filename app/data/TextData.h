//===- TextData.h - files of examples and of symbols ----------------------===//
//
// Reads one example per line, with runtime/data/Text.h. Unpacks .gz, .zst and
// .xz files. Shows errors with their line.
//
// A vocabulary comes from a file, is stored with weights, or is built from
// text. Ids: 0 is <s>, 1 </s>, 2 <unk>, then the symbols by decreasing
// frequency, ties in byte order.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_DATA_TEXTDATA_H
#define FOVEA_APP_DATA_TEXTDATA_H

#include "app/data/Rows.h"
#include "app/open/Session.h"
#include "dialect/reference/Array.h"
#include "runtime/data/PackedFile.h"
#include "runtime/data/Text.h"

namespace fovea::cli {

class TarMembers;

/// A text file, its place and its column from 1 (0: whole lines).
struct TextSource {
  std::string path;
  unsigned column = 0;
  const std::string *text = nullptr; // in the place of the file's
  bool isJson = false;               // each line is an object, as in a log
  /// The kind of rows, and the name of the value in each.
  RowKind kind = RowKind::Text;
  std::string key = {};

  /// The same for `data`, whose kind decides what a corpus has of it.
  TextSource with(const DataInfo &data) const;
};
/// Splits `FILE:2`, and `FILE.jsonl:NAME`, `FILE.csv:NAME`, `FOLDER:PART` or
/// `FILE.tar:ENDING`. In JSON, the value is called `name` if the file does not
/// say otherwise.
TextSource sourceOf(const std::string &given, const std::string &name = "");

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

  /// Compares the vocabularies of `--vocab` with the sizes of a model. Returns
  /// false for one with more symbols (reported); warns of one that does not
  /// name all symbols that the model may generate.
  bool checkSizes(Session &session, const Arguments &arguments,
                  const Model &model) const;

  /// Reads the SentencePiece models and tokenisers that the spec names, for
  /// vocabularies without symbols.
  bool readModels(Session &session, const Arguments &arguments,
                  const Model &model);

  /// Builds the vocabularies without symbols from the texts of the data that
  /// use them, by name.
  bool build(Session &session, const Model &model,
             const std::map<std::string, TextSource> &texts);

  /// `--set NAME.vocab=N` for the vocabularies that were loaded or built, or
  /// for all.
  std::vector<std::pair<std::string, std::string>>
  sizes(bool ofAll = false) const;

  /// The symbols themselves.
  const runtime::Vocabularies &words() const { return symbols; }

private:
  runtime::Vocabularies symbols;
  /// By name: its name in the spec, and whether it comes with weights.
  struct Origin {
    std::string vocabulary;
    bool isStored = false;
  };
  std::map<std::string, Origin> origins;
};

/// The properties of `data` that determine its text format.
runtime::TextField fieldOf(const DataInfo &data);

/// One example of a data name.
struct LoadedValues {
  runtime::DataValues values;
  runtime::Lengths lengths;
};

/// Reads the lines of a file, or of one column. An error is shown with its
/// line; reading continues after it.
class TextLines {
public:
  /// The part of the file in memory: all of it, for the whole session, or the
  /// part with the current line.
  enum Hold { All, Part };
  TextLines(Session &session, TextSource source, Hold hold);
  ~TextLines();
  TextLines(const TextLines &) = delete;
  TextLines &operator=(const TextLines &) = delete;

  /// Wrong: an error in this line; Failed: the file ends. Both are reported.
  enum Kind { Good, Wrong, End, Failed };
  Kind next(llvm::StringRef &text);
  /// Reports an error at a place in the current line; returns false.
  bool explain(llvm::StringRef place, const std::string &text,
               Code code = Code::dataValue);
  /// Reads the remaining lines, and returns their number.
  int64_t countRest();

  const std::string &path() const { return source.path; }
  /// Where the files are that lines name; nothing: anywhere, as a user may name
  /// any file who writes the lines into a pipe.
  std::optional<std::string> folder() const;

private:
  bool open();
  bool openMade();
  bool hasMore() const { return file || members; }
  bool readMore();
  bool readMember();
  bool fill();
  bool fail(const std::string &text);
  bool failTooLong();
  bool checkText(llvm::StringRef bytes);
  bool isRow() const {
    return source.kind == RowKind::Json || source.kind == RowKind::Table;
  }
  /// The value of a row as text.
  bool readRow(llvm::StringRef line, llvm::StringRef &text);
  bool readHeader();
  /// The next line, unchanged.
  Kind takeLine(llvm::StringRef &line);
  Kind check(llvm::StringRef line, llvm::StringRef &text);

  Session &session;
  TextSource source;
  Hold hold;
  /// What is read; both null: nothing more.
  std::unique_ptr<runtime::PackedFile> file;
  std::unique_ptr<TarMembers> members;
  std::string corpusFolder;
  bool isOpen = false, isBroken = false;
  std::string pending; // read, and no whole line yet
  /// The current part, if this object owns it, and its rest.
  std::unique_ptr<llvm::MemoryBuffer> part;
  llvm::StringRef rest;
  unsigned numTaken = 0, numBefore = 0; // lines; those ahead of the part
  /// Of rows: the current line, its values, and those of a table's header.
  llvm::StringRef row;
  std::vector<std::string> values;
  size_t numColumns = 0, column = 0;
};

/// Calls `take` for each line of a file, or for its column; `take` returns
/// whether the line is good. Returns false on any error (reported): an empty
/// file, a line that is too long or not UTF-8. The lines live as long as the
/// session.
bool forLines(Session &session, const TextSource &source,
              llvm::function_ref<bool(llvm::StringRef)> take);

/// Reads one data name of a text file, one line per example. For numeric data,
/// a line may name a file that contains them (FileData.h).
class TextReader {
public:
  TextReader(Session &session, const TextSource &source, const DataInfo &data,
             const runtime::DataSpec &spec, const Vocabularies &vocabularies)
      : data(data), spec(spec), vocabularies(vocabularies),
        field(fieldOf(data)),
        lines(session, source.with(data), TextLines::Part) {}

  /// Reads the values of the next line and, if it is not null, its words.
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

/// A generated array as a line of text, without the symbol that ends it.
/// `lengths` are the lengths of its example; `hasEnd` tells whether the symbol
/// is there.
std::string textOf(const DataInfo &data, const reference::Array &array,
                   const runtime::Lengths &lengths, bool hasEnd,
                   const Vocabularies &vocabularies,
                   const runtime::Replacement &replacement = {});

} // namespace fovea::cli

#endif // FOVEA_APP_DATA_TEXTDATA_H

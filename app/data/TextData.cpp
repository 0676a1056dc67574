//===- TextData.cpp - files of examples and of symbols --------------------===//

#include "app/data/TextData.h"
#include "app/data/Corpora.h"
#include "app/data/FileData.h"
#include "app/data/Inputs.h"
#include "app/data/TarMembers.h"
#include "frontends/fov/syntax/SourceFile.h"
#include "runtime/data/OpenFile.h"
#include "runtime/data/RowText.h"
#include "runtime/data/UnknownWords.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstring>
#include <fmt/format.h>
#include <tuple>
#include <utility>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Files and lines
//===----------------------------------------------------------------------===//

/// The number of bytes read at a time, and the minimum of a part.
static constexpr size_t chunkSize = 1 << 16, partSize = 1 << 20;

TextSource fovea::cli::sourceOf(const std::string &given,
                                const std::string &name) {
  if (isTar(given))
    return {given, 0, nullptr, false, RowKind::Tar};
  if (StringRef(given).ends_with(".scp"))
    return {given, 0, nullptr, false, RowKind::Scp};
  if (RowKind kind = rowKindOf(given);
      (kind == RowKind::Json || kind == RowKind::Objects) && !name.empty())
    return {given, 0, nullptr, false, kind, name};
  if (llvm::sys::fs::is_directory(given))
    return {given, 0, nullptr, false, RowKind::Corpus};
  auto [file, column] = StringRef(given).rsplit(':');
  if (!column.empty() && llvm::sys::fs::is_directory(file))
    return {file.str(), 0, nullptr, false, RowKind::Corpus, column.str()};
  if (RowKind kind = rowKindOf(file); kind != RowKind::Text && !column.empty())
    return {file.str(), 0, nullptr, false, kind, column.str()};
  unsigned number = 0;
  if (column.empty() || column.getAsInteger(10, number) || number == 0)
    return {given};
  return {file.str(), number};
}

TextSource TextSource::with(const DataInfo &data) const {
  TextSource result = *this;
  if (kind != RowKind::Corpus || !key.empty())
    return result;
  if (data.kind == DataInfo::Real || data.kind == DataInfo::Bit)
    result.key = data.loader.kind == "sound" ? "sound" : "features";
  else
    result.key = data.kind == DataInfo::Class ? "speaker" : "text";
  return result;
}

TextLines::TextLines(Session &session, TextSource source, Hold hold)
    : session(session), source(std::move(source)), hold(hold) {}

TextLines::~TextLines() = default;

std::optional<std::string> TextLines::folder() const {
  if (!corpusFolder.empty())
    return corpusFolder;
  // A list is a file from an unknown author.
  if (llvm::sys::fs::is_regular_file(source.path))
    return llvm::sys::path::parent_path(source.path).str();
  return std::nullopt;
}

bool TextLines::fail(const std::string &text) {
  session.error(text);
  isBroken = true;
  return false;
}

bool TextLines::failTooLong() {
  return fail(fmt::format("'{}': a line has over {} bytes; help: text has one "
                          "example per line",
                          sourceName(source.path).str(), runtime::longestLine));
}

/// Advice for files that the Python package reads.
static constexpr const char *python =
    "help: Python reads it: model.fit('FILE'); or write its rows as JSON lines";

/// What a file is that begins with these bytes, with advice; nothing: it may be
/// text.
static std::string formatOf(StringRef bytes) {
  static constexpr const char *unpack = "help: unpack it first";
  static constexpr const char *lines = "help: text is UTF-8 with one example "
                                       "per line";
  static constexpr const char *ending =
      "help: a name must end as its format does: .png, .wav, .npy, .npz, .tar";
  static constexpr std::tuple<StringRef, const char *, const char *> formats[] =
      {{"PAR1", "a Parquet file", python},
       {"ARROW1", "an Arrow file", python},
       {"\xff\xff\xff\xff", "an Arrow file", python},
       {"\x89HDF\r\n", "an HDF5 file", lines},
       {"PK\x03\x04", "a zip archive", unpack},
       {"BZh", "packed by bzip2", unpack},
       {"7z\xbc\xaf\x27\x1c", "a 7z archive", unpack},
       {"%PDF-", "a PDF file", lines},
       {"SQLite format 3", "an SQLite file", lines},
       {"\x93NUMPY", "an array of numpy", ending},
       {"\x89PNG", "a picture", ending},
       {"\xff\xd8\xff", "a picture", ending},
       {"RIFF", "a sound", ending},
       {"fLaC", "a sound", ending},
       {"OggS", "a sound", ending},
       {"ID3", "a sound", ending}};
  for (const auto &[first, what, help] : formats)
    if (bytes.starts_with(first))
      return fmt::format("is {}, not text; {}", what, help);
  constexpr size_t tarMark = 257;
  if (bytes.drop_front(std::min(tarMark, bytes.size())).starts_with("ustar"))
    return fmt::format("is a tar archive, not text; {}", ending);
  return "";
}

/// Returns whether bytes look like text. No text has a NUL byte, and nearly
/// every binary file has one early.
bool TextLines::checkText(StringRef bytes) {
  if (!bytes.contains('\0'))
    return true;
  std::string name = sourceName(source.path).str();
  std::string format = numTaken == 0 && pending.empty() ? formatOf(bytes) : "";
  return fail(!format.empty()
                  ? "'" + name + "' " + format
                  : "'" + name +
                        "' has NUL bytes, so it is a binary file or UTF-16; "
                        "help: text is UTF-8 with one example per line");
}

/// Advice for a path that ends in a column which no text has.
static std::string columnHelp(StringRef path) {
  auto [file, column] = path.rsplit(':');
  unsigned number = 0;
  bool isText = file == "-" || llvm::sys::fs::is_regular_file(file);
  if (column.empty() || !isText)
    return "";
  if (file.ends_with(".parquet") || file.ends_with(".arrow"))
    return std::string("; ") + python;
  return !column.getAsInteger(10, number) && number == 0
             ? "; help: columns count from 1"
             : "; help: a column of text is a number from 1";
}

/// Opens what becomes lines.
bool TextLines::openMade() {
  if (source.kind == RowKind::Tar) {
    members = std::make_unique<TarMembers>(splitTar(source.path));
    return true;
  }
  CorpusLines made;
  runtime::Status status = source.kind == RowKind::Objects
                               ? readObjects(source.path, source.key, made)
                           : source.kind == RowKind::Scp
                               ? readScp(source.path, made)
                               : readCorpus(source.path, source.key, made);
  if (status.failed())
    return fail(status.text());
  corpusFolder = made.folder;
  std::string name =
      source.key.empty() ? source.path : source.path + ":" + source.key;
  rest = session.diagnostics().addSource(name, std::move(made.text));
  return true;
}

/// Opens the file; small files are read at once.
bool TextLines::open() {
  isOpen = true;
  std::string why;
  if (source.text) {
    rest =
        session.diagnostics().addSource(sourceName(source.path), *source.text);
    return true;
  }
  RowKind named = rowKindOf(source.path);
  if (!source.isJson && source.kind == RowKind::Text &&
      (named == RowKind::Json || named == RowKind::Objects))
    return fail("'" + source.path +
                "' is JSON, not text; help: name a value of its objects: " +
                source.path + ":NAME");
  if (source.kind != RowKind::Text && !isRow())
    return openMade();
  if (source.path == "-") {
    std::optional<std::string> text = readSource(source.path, why);
    if (!text)
      return fail("cannot read standard input: " + why);
    if (!checkText(*text))
      return false;
    rest = session.diagnostics().addSource(sourceName(source.path),
                                           std::move(*text));
    return true;
  }
  file = runtime::PackedFile::open(source.path, why);
  return file || fail("cannot read '" + source.path + "': " + why +
                      columnHelp(source.path));
}

/// Appends the next file of an archive as a line.
bool TextLines::readMember() {
  std::string name, text, value;
  switch (members->next(name, text)) {
  case TarMembers::Failed:
    return fail(members->problem());
  case TarMembers::End:
    members.reset();
    return true;
  case TarMembers::Good:
    break;
  }
  if (std::string key = splitTar(source.path).key; !key.empty()) {
    if (runtime::Status status = readJsonValue(text, key, value);
        status.failed())
      return fail("'" + name + "': " + status.text());
    text = value;
  } else if (text.find('\0') != text.npos) {
    return fail("'" + name + "' has NUL bytes, so it is a binary file");
  }
  text = StringRef(text).rtrim("\r\n").str();
  llvm::replace(text, '\n', ' ');
  llvm::replace(text, '\r', ' ');
  pending += text + "\n";
  return true;
}

/// Appends the next bytes of the file. Returns false on an error (reported).
bool TextLines::readMore() {
  if (members)
    return readMember();
  char chunk[chunkSize];
  ptrdiff_t count = file->read(chunk, sizeof(chunk));
  if (count > 0) {
    if (!checkText({chunk, size_t(count)}))
      return false;
    pending.append(chunk, count);
    return pending.size() - (pending.rfind('\n') + 1) <=
               runtime::longestLine + chunkSize ||
           failTooLong();
  }
  auto done = std::exchange(file, nullptr);
  return count == 0 || fail(fmt::format("cannot {} '{}': {}",
                                        done->isPacked() ? "unpack" : "read",
                                        source.path, done->problem()));
}

/// Reads the next part, which ends at a line end. Returns false at the end.
bool TextLines::fill() {
  bool hasLine = pending.find('\n') != std::string::npos;
  while (hasMore() && (hold == All || !hasLine || pending.size() < partSize)) {
    size_t before = pending.size();
    if (!readMore())
      return false;
    hasLine |= pending.find('\n', before) != std::string::npos;
  }
  size_t size = hasMore() ? pending.rfind('\n') + 1 : pending.size();
  StringRef text = StringRef(pending).take_front(size);
  // A byte order mark is not text.
  if (numTaken == 0)
    text.consume_front("\xef\xbb\xbf");
  part = llvm::MemoryBuffer::getMemBufferCopy(text, source.path);
  pending.erase(0, size);
  rest = part->getBuffer();
  numBefore = numTaken;
  if (hold == All)
    session.diagnostics().addPart(std::move(part), 0);
  return !rest.empty();
}

/// Finds the column that the header of a table names.
bool TextLines::readHeader() {
  StringRef line;
  if (takeLine(line) != Good)
    return false;
  if (runtime::Status status = readTableRow(line, values); status.failed())
    return fail("'" + source.path + "': " + status.text());
  numColumns = values.size();
  column = llvm::find(values, source.key) - values.begin();
  return column < numColumns ||
         fail(
             fmt::format("'{}' has no column '{}'{}", source.path, source.key,
                         existing(source.key, {values.begin(), values.end()})));
}

bool TextLines::readRow(StringRef line, StringRef &text) {
  row = line;
  runtime::Status status;
  if (source.kind == RowKind::Json) {
    values.resize(1);
    status = readJsonValue(line, source.key, values[0]);
  } else {
    status = readTableRow(line, values);
    if (status.succeeded() && values.size() != numColumns)
      status = runtime::Status::error(
          fmt::format("the header has {} columns, but this row has {}",
                      numColumns, values.size()));
  }
  if (status.failed())
    return explain(line, status.text());
  text = values[column];
  if (hold == All)
    text = session.diagnostics().addSource(source.path, text.str());
  return true;
}

TextLines::Kind TextLines::takeLine(StringRef &line) {
  if (isBroken)
    return Failed;
  if (!isOpen && (!open() || (source.kind == RowKind::Table && !readHeader())))
    return Failed;
  if (rest.empty() && hasMore())
    fill();
  if (isBroken)
    return Failed;
  if (rest.empty()) {
    if (numTaken > (source.kind == RowKind::Table ? 1 : 0))
      return End;
    fail("'" + sourceName(source.path).str() + "' is empty");
    return Failed;
  }
  std::tie(line, rest) = rest.split('\n');
  line.consume_back("\r");
  ++numTaken;
  if (numTaken == 1 && rest.empty() && !hasMore() && !isRow() &&
      line.contains('\r')) {
    fail("'" + sourceName(source.path).str() +
         "' ends its lines with carriage returns alone; help: convert them "
         "with: tr '\\r' '\\n'");
    return Failed;
  }
  return Good;
}

bool TextLines::explain(StringRef place, const std::string &text, Code code) {
  // Lines without messages are not kept: there may be any number.
  if (session.diagnostics().isFull()) {
    session.diagnostics().countUnshown();
    return false;
  }
  if (part)
    session.diagnostics().addPart(std::move(part), numBefore);
  // The values of a row are not part of the file's own text.
  StringRef at = isRow() ? row : place;
  session.diagnostics().error(code, llvm::SMLoc::getFromPointer(at.data()),
                              text);
  return false;
}

/// The column of a line.
TextLines::Kind TextLines::check(StringRef line, StringRef &text) {
  auto wrong = [&](StringRef place, const std::string &why) {
    explain(place, why);
    return Wrong;
  };
  if (line.size() > runtime::longestLine) {
    session.error(fmt::format("'{}': line of {} bytes exceeds the limit of {}",
                              source.path, line.size(), runtime::longestLine));
    return Wrong;
  }
  if (size_t valid = runtime::validUtf8(line); valid < line.size())
    return wrong(line.substr(valid), "this is not UTF-8");
  if (isRow())
    return readRow(line, text) ? Good : Wrong;
  text = line;
  if (source.column == 0)
    return Good;
  llvm::SmallVector<StringRef> fields;
  line.split(fields, '\t');
  if (fields.size() < source.column) {
    explain(line,
            fmt::format("expected at least {} columns, found {}", source.column,
                        fields.size()),
            Code::dataColumns);
    // If the first line has too few columns, the column's number is wrong, and
    // every line would get the same message.
    isBroken = numTaken == 1;
    return isBroken ? Failed : Wrong;
  }
  text = fields[source.column - 1];
  return Good;
}

TextLines::Kind TextLines::next(StringRef &text) {
  StringRef line;
  Kind kind = takeLine(line);
  return kind == Good ? check(line, text) : kind;
}

int64_t TextLines::countRest() {
  StringRef line;
  int64_t count = 0;
  while (takeLine(line) == Good)
    ++count;
  return count;
}

/// Calls `take` for each line; returns false on any error (reported).
static bool forLines(TextLines &lines,
                     llvm::function_ref<bool(StringRef)> take) {
  bool good = true;
  StringRef text;
  for (;;)
    switch (lines.next(text)) {
    case TextLines::Good:
      good &= take(text);
      break;
    case TextLines::Wrong:
      good = false;
      break;
    case TextLines::End:
      return good;
    case TextLines::Failed:
      return false;
    }
}

bool fovea::cli::forLines(Session &session, const TextSource &source,
                          llvm::function_ref<bool(StringRef)> take) {
  TextLines lines(session, source, TextLines::All);
  return ::forLines(lines, take);
}

//===----------------------------------------------------------------------===//
// Vocabularies
//===----------------------------------------------------------------------===//

/// Reads the file of what segments the lines of `data`.
static bool readSegmenter(Session &session, const Model &model,
                          const DataInfo &data, const std::string &path,
                          bool isTokeniser, runtime::Vocabulary &vocabulary) {
  std::string why;
  std::optional<std::string> text = readSource(path, why);
  if (!text) {
    session.error("cannot read '" + path + "': " + why);
    return false;
  }
  bool hasSentences = llvm::any_of(model.data, [&](const DataInfo &other) {
    return other.isSentence && other.vocabulary == data.vocabulary;
  });
  runtime::Status status = isTokeniser
                               ? vocabulary.setTokeniser(*text, hasSentences)
                               : vocabulary.setSentencePieces(*text);
  if (status.failed())
    session.error("'" + path + "' is not a " +
                  (isTokeniser ? "tokeniser that Fovea can read: "
                               : "SentencePiece model: ") +
                  status.text());
  return status.succeeded();
}

bool Vocabularies::read(Session &session, const Arguments &arguments,
                        const Model &model) {
  bool good = true;
  for (const std::string &text : arguments.vocabularies) {
    std::string name, path;
    [[maybe_unused]] bool isPair = splitPair(text, name, path);
    assert(isPair && "the command line has been checked");
    auto known = llvm::find_if(model.data, [&](const DataInfo &data) {
      return data.name == name || data.vocabulary == name;
    });
    if (known == model.data.end()) {
      std::vector<StringRef> names;
      for (const DataInfo &data : model.data)
        if (data.kind == DataInfo::Token || data.kind == DataInfo::Class)
          names.insert(names.end(), {data.name, data.vocabulary});
      session.error("no vocabulary or data is called '" + name + "'" +
                    existing(name, std::move(names)));
      good = false;
      continue;
    }
    origins[name] = {known->vocabulary, /*isStored=*/false};
    if (StringRef(path).ends_with(".json")) {
      good &= readSegmenter(session, model, *known, path, /*isTokeniser=*/true,
                            symbols[name]);
      continue;
    }
    runtime::Vocabulary &words = symbols[name];
    words = {};
    words.isChars = known->vocabularyKind == "chars";
    good &= cli::forLines(session, {path}, [&](StringRef line) {
      if (auto before = words.ids.find(line.str()); before != words.ids.end()) {
        session.diagnostics().error(
            Code::vocabularyLine, llvm::SMLoc::getFromPointer(line.data()),
            fmt::format("'{}' already has id {}, from line {}", line.str(),
                        before->second, before->second + 1));
        return false;
      }
      words.add(line);
      return true;
    });
  }
  return good;
}

bool Vocabularies::checkSizes(Session &session, const Arguments &arguments,
                              const Model &model) const {
  bool good = true;
  for (const std::string &text : arguments.vocabularies) {
    std::string name, path;
    splitPair(text, name, path);
    auto given = symbols.all().find(name);
    if (given == symbols.all().end() || StringRef(path).ends_with(".json"))
      continue;
    auto count = static_cast<int64_t>(given->second.byId.size());
    for (const DataInfo &data : model.data) {
      bool isOwn = data.name == name || data.vocabulary == name;
      if (!isOwn || data.vocabularySize < 0 || count == data.vocabularySize)
        continue;
      std::string sizes =
          fmt::format("'{}' names {} symbols, but '{}' has {}", path, count,
                      data.name, data.vocabularySize);
      if (count > data.vocabularySize) {
        session.error(sizes + "; help: give the vocabulary of the training, or "
                              "leave '--vocab' out: weights that 'fovea "
                              "train' wrote contain it");
        good = false;
        break;
      }
      if (data.isChosen && !arguments.quiet)
        session.diagnostics().warning(
            Code::none, {}, sizes + "; others are printed as numbers");
      break;
    }
  }
  return good;
}

bool Vocabularies::load(Session &session, const Arguments &arguments,
                        const runtime::TensorFile &weights,
                        const std::string &path,
                        llvm::function_ref<std::string(StringRef)> rename) {
  for (const auto &[key, text] : weights.metadata) {
    if (!runtime::Vocabularies::isKey(key))
      continue;
    std::string name = rename(runtime::Vocabularies::nameIn(key));
    if (llvm::any_of(arguments.sets, [&](const auto &set) {
          return set.first == name + ".vocab";
        }))
      continue;
    origins[name] = {name, /*isStored=*/true};
    runtime::Status status = symbols.take(key, text, name);
    if (status.failed()) {
      session.error(path + ": " + status.text());
      return false;
    }
  }
  return true;
}

bool Vocabularies::readModels(Session &session, const Arguments &arguments,
                              const Model &model) {
  for (const DataInfo &data : model.data) {
    bool isTokeniser = data.vocabularyKind == "tokeniser";
    if ((!isTokeniser && data.vocabularyKind != "sentencepiece") ||
        symbols.find(fieldOf(data)))
      continue;
    std::string path;
    origins[data.vocabulary] = {data.vocabulary, /*isStored=*/true};
    if (!findBesideSpec(session, arguments, data.vocabularyFile, path) ||
        !readSegmenter(session, model, data, path, isTokeniser,
                       symbols[data.vocabulary]))
      return false;
  }
  return true;
}

bool Vocabularies::build(Session &session, const Model &model,
                         const std::map<std::string, TextSource> &texts) {
  std::map<std::string, llvm::StringMap<int64_t>> counts;
  std::map<std::string, const DataInfo *> users;
  bool good = true;
  for (const DataInfo &data : model.data) {
    auto text = texts.find(data.name);
    if (data.kind != DataInfo::Token || data.vocabularyKind == "ids" ||
        text == texts.end() || symbols.find(fieldOf(data)))
      continue;
    users[data.vocabulary] = &data;
    llvm::StringMap<int64_t> &own = counts[data.vocabulary];
    std::vector<std::string> separators = fieldOf(data).separators;
    TextLines lines(session, text->second.with(data), TextLines::Part);
    good &= ::forLines(lines, [&](StringRef line) {
      runtime::forLists(
          line, separators,
          [&](std::string_view list, const std::vector<int64_t> &) {
            runtime::forSymbols(list, data.vocabularyKind == "chars",
                                [&](std::string_view word) { ++own[word]; });
          });
      return true;
    });
  }
  for (auto &[name, own] : counts) {
    origins[name] = {name, /*isStored=*/true};
    runtime::Vocabulary &words = symbols[name];
    words = {};
    words.isChars = users[name]->vocabularyKind == "chars";
    for (StringRef symbol : {"<s>", "</s>", "<unk>"}) {
      words.add(symbol);
      own.erase(symbol);
    }
    std::vector<std::pair<int64_t, StringRef>> order;
    for (const auto &entry : own)
      order.push_back({-entry.second, entry.first()});
    llvm::sort(order);
    int64_t limit = users[name]->vocabularyLimit;
    for (const auto &[count, symbol] : order)
      if (limit == 0 || static_cast<int64_t>(words.byId.size()) < limit)
        words.add(symbol);
  }
  return good;
}

std::vector<std::pair<std::string, std::string>>
Vocabularies::sizes(bool ofAll) const {
  std::vector<std::pair<std::string, std::string>> result;
  for (const auto &[name, origin] : origins)
    if (origin.isStored || ofAll)
      result.push_back({origin.vocabulary + ".vocab",
                        std::to_string(symbols.all().at(name).byId.size())});
  return result;
}

runtime::TextField fovea::cli::fieldOf(const DataInfo &data) {
  runtime::TextField field;
  field.name = data.name;
  field.isSymbols =
      data.kind == DataInfo::Token || data.kind == DataInfo::Class;
  field.isSentence = data.isSentence;
  field.ends = data.ends;
  field.vocabulary = data.vocabulary;
  field.size = data.vocabularySize;
  field.labels = data.labels;
  field.numIndices = data.numIndices;
  field.separators = data.loader.separators;
  // `|` between the lists of the last outer axis, `||` outside of that, ..
  if (size_t outer = std::max(data.numIndices, 1u) - 1;
      field.separators.empty())
    for (; outer > 0; --outer)
      field.separators.push_back(std::string(outer, '|'));
  field.hint = "; words need '--vocab " + data.name + "=FILE'";
  return field;
}

//===----------------------------------------------------------------------===//
// Reading and writing
//===----------------------------------------------------------------------===//

/// Returns whether a line names a file that contains the example.
static bool namesFile(StringRef line, const DataInfo &data) {
  return (data.kind == DataInfo::Real || data.kind == DataInfo::Bit) &&
         isDataFile(line);
}

bool TextReader::read(StringRef line, LoadedValues &values) {
  auto report = [&](std::string_view place, const std::string &text) {
    return lines.explain({place.data(), place.size()}, text);
  };
  if (StringRef name = line.trim(); namesFile(name, data)) {
    std::string path = name.str(), why;
    if (std::optional<std::string> folder = lines.folder();
        folder && !runtime::findBeside(*folder, name.str(), path, why))
      return report(line, "cannot read '" + name.str() + "': " + why);
    runtime::Status status = loadFile(path, data, spec, values);
    return status.succeeded() || report(line, status.text());
  }
  if (!data.loader.kind.empty() && data.loader.kind != "text")
    return report(
        line,
        fmt::format(
            "'{}' comes from {}, but this line names another kind of file",
            data.name, data.loader.kind));
  return runtime::readLine(line, field, spec, vocabularies.words(),
                           values.values, values.lengths, report);
}

TextLines::Kind TextReader::next(LoadedValues &values,
                                 std::vector<std::string> *words) {
  StringRef line;
  TextLines::Kind kind = lines.next(line);
  if (kind != TextLines::Good)
    return kind;
  if (words)
    *words = runtime::wordsOf(line, field, vocabularies.words());
  return read(line, values) ? TextLines::Good : TextLines::Wrong;
}

std::string fovea::cli::textOf(const DataInfo &data,
                               const reference::Array &array,
                               const runtime::Lengths &lengths, bool hasEnd,
                               const Vocabularies &vocabularies,
                               const runtime::Replacement &replacement) {
  std::vector<runtime::DataAxis> axes;
  for (size_t i = 0; i < data.extents.size(); ++i)
    axes.push_back({data.extents[i], data.sizes[i], data.parents[i]});
  runtime::DataValues values = {array.shape, array.values};
  if (const std::vector<int64_t> *rows = runtime::rowsOf(axes, values, lengths))
    return runtime::textOfRows(fieldOf(data), values, *rows, hasEnd,
                               vocabularies.words());
  return runtime::textOf(fieldOf(data), values, hasEnd, vocabularies.words(),
                         replacement);
}

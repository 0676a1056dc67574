//===- DataCommand.cpp - fovea data ---------------------------------------===//
//
// Prepares text for training: joins columns, drops lines, splits by a key,
// shuffles, and learns a vocabulary. Lines are streamed: what stays in memory
// is a hash per line with --drop-repeated, a position per line with --shuffle,
// and the different words with --pieces.
//
// The part of a line follows from its key and the seed alone. So no key is on
// two sides, and a line stays where it is when the file grows.
//
//===----------------------------------------------------------------------===//

#include "app/data/TextData.h"
#include "app/data/TrainPieces.h"
#include "app/train/Interrupts.h"
#include "runtime/Philox.h"
#include "runtime/data/DataOrder.h"
#include "tools/fovea/NewFolder.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <cmath>
#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;
using runtime::Status;

namespace {

/// A part of the data, and its share of the lines.
struct DataPart {
  std::string name;
  double share = 1;
  NewFile *file = nullptr;
  int64_t numLines = 0;
  /// To shuffle: where its lines begin, and where the last one ends.
  std::vector<uint64_t> places = {0};
};

using Row = llvm::SmallVector<StringRef, 4>;

/// One `fovea data`. Functions that return false have reported the error.
class DataCommand {
public:
  explicit DataCommand(const Arguments &arguments)
      : arguments(arguments), session(arguments) {}
  int run();

private:
  bool readParts(std::string &mistake);
  bool openSources();
  bool readAll();
  TextLines::Kind readRow(Row &row);
  bool compareCounts();
  bool hasColumns(const Row &row);
  void take(const Row &row);
  const char *reasonAgainst(const Row &row);
  DataPart &partOf(const Row &row);
  bool shuffle(DataPart &part);
  bool write();
  bool writePieces();
  bool check(const Status &status) {
    if (status.failed())
      session.fail(status);
    return status.succeeded();
  }
  bool fail(const std::string &text) {
    session.error(text);
    return false;
  }
  void print() const;

  const Arguments &arguments;
  Session session;
  NewFolder folder;
  std::vector<DataPart> parts;
  struct Source {
    std::unique_ptr<TextLines> lines;
    int64_t count = 0;
  };
  std::vector<Source> sources;
  int64_t numRows = 0;
  size_t numColumns = 0;
  /// Lines by the reason against them.
  std::vector<std::pair<StringRef, int64_t>> dropped;
  llvm::DenseSet<std::pair<uint64_t, uint64_t>> seen;
  std::string line;
  PieceTrainer pieces;
};

} // namespace

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

/// Reads `train=98,valid=1,test=1`; without it there is one part.
bool DataCommand::readParts(std::string &mistake) {
  if (arguments.split.empty()) {
    parts.push_back({.name = "data"});
    return true;
  }
  for (StringRef text : llvm::split(StringRef(arguments.split), ',')) {
    auto [name, share] = text.split('=');
    DataPart part = {.name = name.str()};
    bool isName = !name.empty() && llvm::all_of(name, [](char letter) {
      return llvm::isAlnum(letter) || letter == '-' || letter == '_';
    });
    if (!isName || share.getAsDouble(part.share) ||
        !std::isfinite(part.share) || part.share <= 0)
      mistake = "'--split' takes PART=SHARE,.. with shares above 0, such as "
                "train=98,valid=1,test=1, not '" +
                arguments.split + "'";
    for (const DataPart &other : parts)
      if (other.name == part.name)
        mistake = "'--split' has '" + part.name + "' twice";
    if (!mistake.empty())
      return false;
    parts.push_back(std::move(part));
  }
  return true;
}

bool DataCommand::openSources() {
  for (const std::string &text : arguments.texts)
    sources.push_back({std::make_unique<TextLines>(session, sourceOf(text),
                                                   TextLines::Part)});
  if (!check(folder.open(arguments.folder)))
    return false;
  for (DataPart &part : parts)
    if (!check(folder.add(part.name + ".tsv", part.file)))
      return false;
  for (StringRef reason : {"empty", "too few words", "too many words",
                           "too many characters", "ratio", "repeated"})
    dropped.push_back({reason, 0});
  return true;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Reads a line of each source. End: one of them has no more.
TextLines::Kind DataCommand::readRow(Row &row) {
  row.clear();
  bool isEnd = false, isWrong = false;
  for (Source &source : sources) {
    StringRef text;
    TextLines::Kind kind = source.lines->next(text);
    if (kind == TextLines::Failed)
      return kind;
    isEnd |= kind == TextLines::End;
    isWrong |= kind == TextLines::Wrong;
    source.count += kind != TextLines::End;
    if (kind == TextLines::Good)
      text.split(row, '\t');
  }
  return isEnd ? TextLines::End : isWrong ? TextLines::Wrong : TextLines::Good;
}

/// Checks, after the last line of one source, that all have the same number.
bool DataCommand::compareCounts() {
  for (Source &source : sources)
    source.count += source.lines->countRest();
  for (const Source &source : sources)
    if (source.count != sources.front().count)
      return fail(fmt::format(
          "'{}' has {} lines but '{}' has {}", sources.front().lines->path(),
          sources.front().count, source.lines->path(), source.count));
  return true;
}

/// Every line has the columns of the first one.
bool DataCommand::hasColumns(const Row &row) {
  if (numColumns == 0) {
    numColumns = row.size();
    if (size_t key = arguments.key.value_or(1); key > numColumns) {
      session.misuse(
          fmt::format("'--key {}' needs {} columns, but the first line has {}",
                      key, key, numColumns));
      return false;
    }
  }
  return row.size() == numColumns ||
         sources.back().lines->explain(
             row.back(),
             fmt::format("expected {} columns, as in the first line; found {}",
                         numColumns, row.size()),
             Code::dataColumns);
}

bool DataCommand::readAll() {
  bool good = true;
  Row row;
  while (caughtSignal() == 0) {
    TextLines::Kind kind = readRow(row);
    if (kind == TextLines::Failed)
      return false;
    if (kind == TextLines::End)
      return compareCounts() && good;
    bool hasShape = kind == TextLines::Good && hasColumns(row);
    good &= hasShape;
    if (numColumns == 0 || (!hasShape && numRows == 0))
      return false; // every line would repeat the mistake of the first
    ++numRows;
    if (good)
      take(row);
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

static int64_t countWords(StringRef text) {
  llvm::SmallVector<StringRef, 64> words;
  text.split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return static_cast<int64_t>(words.size());
}

/// Code points: bytes that continue none.
static int64_t countChars(StringRef text) {
  return llvm::count_if(text, [](char byte) { return (byte & 0xc0) != 0x80; });
}

/// Why a row is dropped, or null.
const char *DataCommand::reasonAgainst(const Row &row) {
  int64_t most = 0, least = std::numeric_limits<int64_t>::max();
  for (StringRef text : row) {
    if (arguments.dropsEmpty && text.trim().empty())
      return "empty";
    if (arguments.maxChars && countChars(text) > *arguments.maxChars)
      return "too many characters";
    int64_t words = countWords(text);
    most = std::max(most, words);
    least = std::min(least, words);
  }
  if (arguments.minWords && least < *arguments.minWords)
    return "too few words";
  if (arguments.maxWords && most > *arguments.maxWords)
    return "too many words";
  if (arguments.maxRatio && double(most) > *arguments.maxRatio * double(least))
    return "ratio";
  if (!arguments.dropsRepeated)
    return nullptr;
  llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits(llvm::arrayRefFromStringRef(line));
  return seen.insert({hash.high64, hash.low64}).second ? nullptr : "repeated";
}

/// The key and the seed decide, not the place of the line.
DataPart &DataCommand::partOf(const Row &row) {
  if (parts.size() == 1)
    return parts.front();
  StringRef key = arguments.key ? row[*arguments.key - 1] : StringRef(line);
  llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits(llvm::arrayRefFromStringRef(key));
  uint64_t seed = arguments.seed.value_or(0);
  auto words =
      runtime::philox({uint32_t(hash.low64), uint32_t(hash.low64 >> 32),
                       uint32_t(hash.high64), uint32_t(hash.high64 >> 32)},
                      {uint32_t(seed), uint32_t(seed >> 32)});
  double total = 0;
  for (const DataPart &part : parts)
    total += part.share;
  double place = total * std::ldexp(double(words[0]), -32);
  for (DataPart &part : parts) {
    if (place < part.share)
      return part;
    place -= part.share;
  }
  return parts.back();
}

/// Writes a row to its part, unless it is dropped.
void DataCommand::take(const Row &row) {
  line = llvm::join(row, "\t");
  if (const char *reason = reasonAgainst(row)) {
    for (auto &[name, count] : dropped)
      count += name == reason;
    return;
  }
  DataPart &part = partOf(row);
  // The other parts are no training data.
  if (arguments.pieces && &part == &parts.front())
    for (StringRef text : row)
      pieces.add(text);
  line += '\n';
  part.file->write(line);
  ++part.numLines;
  if (arguments.shuffles)
    part.places.push_back(part.places.back() + line.size());
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Writes the lines of a part again, in random order.
bool DataCommand::shuffle(DataPart &part) {
  std::unique_ptr<llvm::MemoryBuffer> text;
  if (!check(part.file->read(text)))
    return false;
  runtime::OrderOptions options;
  options.seed = arguments.seed.value_or(0);
  options.batch = part.numLines;
  auto batches =
      runtime::batchesOf(0, std::vector<int64_t>(part.numLines, 1), options);
  if (!check(part.file->open()))
    return false;
  for (int64_t number : batches.front())
    part.file->write(
        text->getBuffer().slice(part.places[number], part.places[number + 1]));
  return check(part.file->close());
}

/// Learns a SentencePiece model from the first part.
bool DataCommand::writePieces() {
  if (!arguments.pieces)
    return true;
  if (!pieces.train(*arguments.pieces)) {
    session.misuse(fmt::format("'--pieces {}' is too small: the characters of "
                               "the text need {}",
                               *arguments.pieces, pieces.least()));
    return false;
  }
  NewFile *file = nullptr;
  if (!check(folder.add("pieces.model", file)))
    return false;
  file->write(pieces.model());
  return check(file->close());
}

/// Prints the number of lines, dropped and in each part.
void DataCommand::print() const {
  auto print = [](StringRef name, int64_t count) {
    llvm::outs() << fmt::format("{:<20}{:>12}\n", name.str(), count);
  };
  print("lines", numRows);
  for (const auto &[reason, count] : dropped)
    if (count != 0)
      print(reason, count);
  for (const DataPart &part : parts)
    print(part.name + ".tsv", part.numLines);
  if (arguments.pieces)
    print("pieces.model", 3 + int64_t(pieces.pieces().size()));
}

bool DataCommand::write() {
  for (DataPart &part : parts) {
    if (!check(part.file->close()))
      return false;
    if (part.numLines == 0)
      return fail(parts.size() == 1
                      ? "every line is dropped; help: relax the limits"
                      : "no line is left for '" + part.name +
                            "'; help: give it a larger share, or choose "
                            "another '--seed'");
    if (arguments.shuffles && !shuffle(part))
      return false;
  }
  return writePieces() && caughtSignal() == 0 && check(folder.finish());
}

int DataCommand::run() {
  std::string mistake;
  if (!readParts(mistake))
    return wrongUsage(mistake);
  catchInterrupts();
  bool isWritten = openSources() && readAll() && write();
  if (int signal = caughtSignal(); !isWritten && signal != 0)
    return 128 + signal;
  if (isWritten)
    print();
  return session.finish();
}

int fovea::cli::runData(const Arguments &arguments) {
  return DataCommand(arguments).run();
}

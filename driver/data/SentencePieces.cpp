//===- SentencePieces.cpp - vocabularies of SentencePiece -----------------===//
//
// The library believes the tables of a model and reads beyond their ends where
// they are damaged. So the bytes are looked at before it gets them.
//
//===----------------------------------------------------------------------===//

#include "driver/data/SentencePieces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/Endian.h"

#include <cmath>
#include <fmt/format.h>
#include <sentencepiece_processor.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;
using runtime::Status;

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

namespace {
/// Walks over the fields of a message of protocol buffers.
class Fields {
public:
  explicit Fields(StringRef bytes) : rest(bytes) {}

  /// Goes to the next field; false at the end, or where `isBroken()`.
  bool next();
  bool isBroken() const { return broken; }
  uint64_t number() const { return key >> 3; }
  unsigned wire() const { return key & 7; }
  StringRef bytes() const { return value; }

private:
  bool varint(uint64_t &result);

  StringRef rest, value;
  uint64_t key = 0;
  bool broken = false;
};
} // namespace

bool Fields::varint(uint64_t &result) {
  result = 0;
  for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    auto byte = static_cast<uint8_t>(rest.front());
    rest = rest.drop_front();
    result |= uint64_t(byte & 127) << shift;
    if (byte < 128)
      return true;
  }
  return false;
}

bool Fields::next() {
  if (rest.empty() || broken)
    return false;
  uint64_t size = 0;
  StringRef before;
  broken = !varint(key) || number() == 0;
  if (broken)
    return false;
  before = rest;
  switch (wire()) {
  case 0: {
    uint64_t ignored;
    broken = !varint(ignored);
    value = before.drop_back(rest.size());
    return !broken;
  }
  case 1:
    size = 8;
    break;
  case 2:
    broken = !varint(size);
    break;
  case 5:
    size = 4;
    break;
  default:
    broken = true;
  }
  broken |= size > rest.size();
  if (broken)
    return false;
  value = rest.take_front(size);
  rest = rest.drop_front(size);
  return true;
}

/// Whether the table of a normaliser, a double array of Darts with the texts
/// that its leaves point at, leads nowhere outside. Each node has its children
/// in one block of 256.
static bool isTable(StringRef table) {
  if (table.empty())
    return true;
  if (table.size() < 4)
    return false;
  uint32_t bytes = llvm::support::endian::read32le(table.data());
  if (bytes > table.size() - 4 || bytes % 1024 != 0 || bytes == 0)
    return false;
  uint64_t count = bytes / 4;
  StringRef texts = table.drop_front(4 + bytes);
  if (!texts.empty() && texts.back() != '\0')
    return false;
  auto unitAt = [&](uint64_t i) {
    return llvm::support::endian::read32le(table.data() + 4 + 4 * i);
  };
  for (uint64_t i = 0; i < count; ++i) {
    uint32_t unit = unitAt(i);
    uint64_t child = i ^ uint64_t(unit >> 10) << ((unit & (1u << 9)) >> 6);
    // The first unit is the root, whatever it says.
    bool isLeaf = i > 0 && unit >> 31, hasLeaf = unit & (1u << 8);
    if (isLeaf)
      continue;
    if ((child | 255) >= count ||
        (hasLeaf && (unitAt(child) & 0x7fffffff) >= texts.size()))
      return false;
  }
  return true;
}

/// Whether a normaliser's message has a good table.
static bool isNormaliser(StringRef message) {
  Fields fields(message);
  while (fields.next())
    if (fields.number() == 2 && fields.wire() == 2 && !isTable(fields.bytes()))
      return false;
  return !fields.isBroken();
}

/// Whether a piece has a text and a score that is a number.
static bool isPiece(StringRef message) {
  Fields fields(message);
  bool hasText = false;
  while (fields.next()) {
    if (fields.number() == 1 && fields.wire() == 2) {
      StringRef text = fields.bytes();
      hasText = !text.empty() &&
                text.find_first_of(StringRef("\n\0", 2)) == StringRef::npos;
    }
    if (fields.number() == 2 && fields.wire() == 5 &&
        !std::isfinite(llvm::bit_cast<float>(
            llvm::support::endian::read32le(fields.bytes().data()))))
      return false;
  }
  return hasText && !fields.isBroken();
}

/// What is wrong with the bytes of a model; empty: nothing that can be seen.
static std::string mistakeIn(StringRef bytes) {
  Fields fields(bytes);
  bool has[4] = {};
  while (fields.next()) {
    uint64_t number = fields.number();
    if (number <= 3 && fields.wire() == 2)
      has[number] = true;
    bool isGood = true;
    if (fields.wire() == 2 && number == 1)
      isGood = isPiece(fields.bytes());
    else if (fields.wire() == 2 && (number == 3 || number == 5))
      isGood = isNormaliser(fields.bytes());
    if (!isGood)
      return "it is damaged";
  }
  if (fields.isBroken() || !has[1])
    return has[1] ? "it is damaged, or ends early" : "its bytes are no model";
  return has[2] && has[3] ? "" : "it ends early";
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

namespace {
class SentencePieces : public runtime::Pieces {
public:
  Status load(const std::string &bytes);
  /// The symbols by our ids.
  std::vector<std::string> symbols() const;

  std::vector<Piece> cut(std::string_view line) const override;
  std::string join(const std::vector<std::string> &pieces) const override;

private:
  sentencepiece::SentencePieceProcessor processor;
  std::vector<int> theirs; // by our ids; -1: the model has no such piece
  std::vector<int64_t> ours;
};
} // namespace

Status SentencePieces::load(const std::string &bytes) {
  if (!processor.LoadFromSerializedProto(bytes).ok())
    return Status::error("the library refuses it");
  theirs = {processor.bos_id(), processor.eos_id(), processor.unk_id()};
  ours.assign(processor.GetPieceSize(), runtime::Symbol::unknown);
  for (int64_t id = 0; id < 3; ++id)
    if (theirs[id] >= 0)
      ours[theirs[id]] = id;
  for (int id = 0; id < processor.GetPieceSize(); ++id)
    if (!llvm::is_contained(llvm::ArrayRef(theirs).take_front(3), id)) {
      ours[id] = static_cast<int64_t>(theirs.size());
      theirs.push_back(id);
    }
  return Status::success();
}

std::vector<std::string> SentencePieces::symbols() const {
  std::vector<std::string> result = {"<s>", "</s>", "<unk>"};
  for (size_t id = result.size(); id < theirs.size(); ++id)
    result.push_back(processor.IdToPiece(theirs[id]));
  return result;
}

std::vector<runtime::Pieces::Piece>
SentencePieces::cut(std::string_view line) const {
  std::vector<std::string> texts;
  std::vector<int> ids;
  std::vector<Piece> pieces;
  if (!processor.Encode(line, &texts).ok() ||
      !processor.Encode(line, &ids).ok())
    return pieces;
  for (auto [text, id] : llvm::zip_equal(texts, ids))
    pieces.push_back({text, ours[id]});
  return pieces;
}

std::string SentencePieces::join(const std::vector<std::string> &pieces) const {
  std::string line;
  return processor.Decode(pieces, &line).ok() ? line : "";
}

//===----------------------------------------------------------------------===//
// Vocabularies
//===----------------------------------------------------------------------===//

static Status load(const std::string &path, const std::string &bytes,
                   std::shared_ptr<SentencePieces> &pieces) {
  std::string mistake = mistakeIn(bytes);
  pieces = std::make_shared<SentencePieces>();
  if (mistake.empty())
    if (Status status = pieces->load(bytes); status.failed())
      mistake = status.text();
  return mistake.empty()
             ? Status::success()
             : Status::error(fmt::format("'{}' is no model of SentencePiece: "
                                         "{}",
                                         path, mistake));
}

Status fovea::cli::readPieces(const std::string &path, const std::string &bytes,
                              runtime::Vocabulary &vocabulary) {
  std::shared_ptr<SentencePieces> pieces;
  if (Status status = load(path, bytes, pieces); status.failed())
    return status;
  vocabulary = {};
  for (const std::string &symbol : pieces->symbols())
    vocabulary.add(symbol);
  vocabulary.model = llvm::encodeBase64(bytes);
  vocabulary.pieces = std::move(pieces);
  return Status::success();
}

Status fovea::cli::restorePieces(const std::string &path,
                                 runtime::Vocabulary &vocabulary) {
  std::vector<char> bytes;
  if (llvm::Error error = llvm::decodeBase64(vocabulary.model, bytes)) {
    llvm::consumeError(std::move(error));
    return Status::error(
        fmt::format("'{}' is no model of SentencePiece: it is damaged", path));
  }
  std::shared_ptr<SentencePieces> pieces;
  if (Status status =
          load(path, std::string(bytes.begin(), bytes.end()), pieces);
      status.failed())
    return status;
  if (pieces->symbols() != vocabulary.byId)
    return Status::error(fmt::format(
        "'{}': the symbols are not those of the model of SentencePiece", path));
  vocabulary.pieces = std::move(pieces);
  return Status::success();
}

//===- SentencePieceFile.cpp - the bytes of a model of SentencePiece ------===//
//
// Reads a protocol buffers message (sentencepiece_model.proto) and checks its
// tables, so that segmentation never leaves them.
//
//===----------------------------------------------------------------------===//

#include "runtime/data/SentencePieces.h"
#include "runtime/data/Text.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <optional>

using namespace fovea::runtime;

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

static constexpr std::string_view base64Digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool fovea::runtime::readBase64(std::string_view text, std::string &bytes) {
  bytes.clear();
  if (text.size() % 4 != 0)
    return false;
  size_t numFilled = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  uint32_t bits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    size_t digit = i + numFilled < text.size() ? base64Digits.find(text[i]) : 0;
    if (digit == base64Digits.npos)
      return false;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    if (i % 4 == 3)
      for (int shift : {16, 8, 0})
        bytes += static_cast<char>(bits >> shift);
  }
  bytes.resize(bytes.size() - numFilled);
  return true;
}

std::string fovea::runtime::writeBase64(std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t j = i; j < i + 3; ++j)
      bits =
          bits << 8 | (j < bytes.size() ? static_cast<uint8_t>(bytes[j]) : 0);
    for (int shift : {18, 12, 6, 0})
      text += base64Digits[bits >> shift & 63];
  }
  text.replace(text.size() - (3 - bytes.size() % 3) % 3, text.npos,
               (3 - bytes.size() % 3) % 3, '=');
  return text;
}

namespace {
/// Iterates over the fields of a protocol buffers message.
class Fields {
public:
  explicit Fields(std::string_view bytes) : rest(bytes) {}

  /// Advances to the next field; returns false at the end, or if `isBroken()`.
  bool next();
  bool isBroken() const { return broken; }

  /// Returns the content of a field of this number and kind.
  bool isBytes(uint64_t number) const { return key == (number << 3 | 2); }
  bool isNumber(uint64_t number) const { return key == number << 3; }
  bool isWord(uint64_t number) const { return key == (number << 3 | 5); }
  std::string_view bytes() const { return value; }
  int64_t number() const { return static_cast<int64_t>(digits); }

private:
  bool readNumber(uint64_t &result);

  std::string_view rest, value;
  uint64_t key = 0, digits = 0;
  bool broken = false;
};
} // namespace

bool Fields::readNumber(uint64_t &result) {
  result = 0;
  for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    auto byte = static_cast<uint8_t>(rest.front());
    rest.remove_prefix(1);
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
  broken = !readNumber(key) || key >> 3 == 0;
  if (broken)
    return false;
  switch (key & 7) {
  case 0:
    broken = !readNumber(digits);
    return !broken;
  case 1:
    size = 8;
    break;
  case 2:
    broken = !readNumber(size);
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
  value = rest.substr(0, size);
  rest.remove_prefix(size);
  return true;
}

//===----------------------------------------------------------------------===//
// Normalisers
//===----------------------------------------------------------------------===//

bool SentencePieces::Normaliser::read(std::string_view message) {
  Fields fields(message);
  while (fields.next()) {
    if (fields.isBytes(2) && !table.read(fields.bytes()))
      return false;
    if (fields.isNumber(3))
      addsSpace = fields.number() != 0;
    if (fields.isNumber(4))
      removesSpaces = fields.number() != 0;
    if (fields.isNumber(5))
      escapesSpaces = fields.number() != 0;
  }
  return !fields.isBroken();
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

std::string SentencePieces::pieceOf(uint8_t byte) {
  return fmt::format("<0x{:02X}>", byte);
}

int SentencePieces::byteOf(std::string_view piece) {
  for (int byte = 0; byte < 256; ++byte)
    if (piece == pieceOf(static_cast<uint8_t>(byte)))
      return byte;
  return -1;
}

/// A piece has a text, which must be unique, and a finite
/// score.
bool SentencePieces::readEntry(std::string_view message) {
  Fields fields(message);
  Entry &entry = entries.emplace_back();
  while (fields.next()) {
    if (fields.isBytes(1))
      entry.text = fields.bytes();
    if (fields.isWord(2))
      std::memcpy(&entry.score, fields.bytes().data(), sizeof(float));
    if (fields.isNumber(3) && fields.number() >= 1 && fields.number() <= 6)
      entry.use = static_cast<Use>(fields.number());
  }
  return !fields.isBroken() && !entry.text.empty() &&
         entry.text.find_first_of(std::string_view("\n\0", 2)) ==
             std::string::npos &&
         std::isfinite(entry.score);
}

bool SentencePieces::readTrainer(std::string_view message) {
  Fields fields(message);
  while (fields.next()) {
    if (fields.isNumber(3) && fields.number() >= 1 && fields.number() <= 4)
      kind = static_cast<Kind>(fields.number());
    if (fields.isNumber(24))
      before.isSuffix = fields.number() != 0;
    if (fields.isNumber(35))
      hasBytes = fields.number() != 0;
    if (fields.isBytes(44))
      unknownText = fields.bytes();
    if (fields.isBytes(45))
      unknownPiece = fields.bytes();
    if (fields.isBytes(46))
      beginPiece = fields.bytes();
    if (fields.isBytes(47))
      endPiece = fields.bytes();
  }
  return !fields.isBroken();
}

Status SentencePieces::parse(std::string_view bytes) {
  Fields fields(bytes);
  bool hasTrainer = false, hasNormaliser = false;
  while (fields.next()) {
    bool isGood = true;
    if (fields.isBytes(1)) {
      isGood = readEntry(fields.bytes());
    } else if (fields.isBytes(2)) {
      hasTrainer = true;
      isGood = readTrainer(fields.bytes());
    } else if (fields.isBytes(3)) {
      hasNormaliser = true;
      isGood = before.read(fields.bytes());
    } else if (fields.isBytes(5)) {
      isGood = after.read(fields.bytes());
    }
    if (!isGood)
      return Status::error("it is damaged");
  }
  if (entries.empty())
    return Status::error("its bytes are not a model");
  if (fields.isBroken())
    return Status::error("it is damaged, or ends early");
  return hasTrainer && hasNormaliser ? Status::success()
                                     : Status::error("it ends early");
}

/// Determines the role of each piece.
Status SentencePieces::index() {
  std::array<bool, 256> bytes = {};
  lowest = FLT_MAX;
  highest = FLT_MIN;
  for (int id = 0; id < static_cast<int>(entries.size()); ++id) {
    const Entry &entry = entries[id];
    bool isPlain = entry.use == Use::Normal || entry.use == Use::UserDefined ||
                   entry.use == Use::Unused;
    (isPlain ? plain : reserved).add(entry.text, id);
    if (entry.use == Use::UserDefined)
      userDefined.add(entry.text, id);
    if (entry.use == Use::Normal) {
      lowest = std::min(lowest, entry.score);
      highest = std::max(highest, entry.score);
    }
    if (entry.use == Use::Unknown) {
      if (unknownId >= 0)
        return Status::error(
            fmt::format("both '{}' and '{}' are unknown pieces",
                        entries[unknownId].text, entry.text));
      unknownId = id;
    }
    if (entry.use != Use::Byte)
      continue;
    int byte = byteOf(entry.text);
    if (!hasBytes || byte < 0)
      return Status::error(fmt::format("'{}' is not a byte", entry.text));
    bytes[byte] = true;
  }
  for (Texts *texts : {&plain, &reserved, &userDefined})
    if (auto twice = texts->finish())
      return Status::error(fmt::format("'{}' appears twice", *twice));
  if (unknownId < 0)
    return Status::error("it has no unknown piece");
  if (hasBytes && std::find(bytes.begin(), bytes.end(), false) != bytes.end())
    return Status::error("not all bytes have a piece");
  if (kind == Kind::Unigram && plain.empty())
    return Status::error("it has no pieces to segment text into");
  return Status::success();
}

/// Assigns ids to the pieces.
void SentencePieces::number() {
  auto named = [&](const std::string &name, const char *usual, Use use) {
    int id = find(name.empty() ? usual : name.c_str());
    return useOf(id) == use ? id : -1;
  };
  theirs = {named(beginPiece, "<s>", Use::Control),
            named(endPiece, "</s>", Use::Control),
            named(unknownPiece, "<unk>", Use::Unknown)};
  ours.assign(entries.size(), Symbol::unknown);
  for (int64_t id = 0; id < 3; ++id)
    if (theirs[id] >= 0)
      ours[theirs[id]] = id;
  for (int id = 0; id < static_cast<int>(entries.size()); ++id)
    if (std::find(theirs.begin(), theirs.begin() + 3, id) ==
        theirs.begin() + 3) {
      ours[id] = static_cast<int64_t>(theirs.size());
      theirs.push_back(id);
    }
}

Status SentencePieces::read(std::string_view bytes,
                            std::shared_ptr<const SentencePieces> &result) {
  auto pieces = std::make_shared<SentencePieces>();
  Status status = pieces->parse(bytes);
  if (status.succeeded())
    status = pieces->index();
  if (status.failed())
    return status;
  pieces->number();
  result = std::move(pieces);
  return status;
}

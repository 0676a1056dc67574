//===- PackedFile.cpp - text files, unpacked while they are read ----------===//

#include "runtime/data/PackedFile.h"
#include "runtime/data/OpenFile.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

using namespace fovea::runtime;

static constexpr size_t chunkSize = 1 << 16;
/// What may be unpacked in any case, and the factor beyond it.
static constexpr uint64_t muchText = uint64_t(1) << 26, mostPerByte = 1032;
/// The memory of what unpacks. `xz -9` needs 65 MB, `zstd --ultra -22` 128 MB.
static constexpr unsigned mostMemoryLog = 28, mostWindowLog = 27;

static constexpr const char *tooEarly = "it ends too early",
                            *goesOn = "there is something after its end",
                            *damaged = "it is damaged",
                            *largeWindow =
                                "unpacking it needs over 256 MB of memory; "
                                "help: pack it without options";

/// Unpacks the bytes that it is shown.
class PackedFile::Unpacker {
public:
  virtual ~Unpacker() = default;

  /// Unpacks from `from` into `to`, and moves both beginnings to what is not
  /// used. Returns why it cannot; or null.
  virtual const char *unpack(std::string_view &from, char *&to, char *end) = 0;
  /// Returns whether the content may end here.
  virtual bool isWhole() const = 0;
};

std::string_view fovea::runtime::withoutPacking(std::string_view name) {
  for (std::string_view ending : {".gz", ".zst", ".xz"})
    if (name.ends_with(ending))
      return name.substr(0, name.size() - ending.size());
  return name;
}

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

namespace {

/// gzip (RFC 1952): members, one after another; zeros may follow the last.
class Gzip : public PackedFile::Unpacker {
public:
  Gzip() { isReady = inflateInit2(&stream, 15 + 16) == Z_OK; }
  ~Gzip() override { inflateEnd(&stream); }
  bool isWhole() const override { return isBetween; }
  const char *unpack(std::string_view &from, char *&to, char *end) override;

private:
  z_stream stream = {};
  bool isReady = false, isBetween = false, isPadding = false;
};

/// Zstandard (RFC 8878): frames, one after another.
class Zstd : public PackedFile::Unpacker {
public:
  Zstd() : stream(ZSTD_createDStream()) {
    ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, mostWindowLog);
  }
  ~Zstd() override { ZSTD_freeDStream(stream); }
  bool isWhole() const override { return isBetween; }
  const char *unpack(std::string_view &from, char *&to, char *end) override;

private:
  ZSTD_DStream *stream;
  bool isBetween = false;
};

/// The .xz format: streams, one after another, and zeros between and after
/// them.
class Xz : public PackedFile::Unpacker {
public:
  Xz() { begin(); }
  ~Xz() override { lzma_end(&stream); }
  bool isWhole() const override { return isBetween; }
  const char *unpack(std::string_view &from, char *&to, char *end) override;

private:
  void begin() {
    isReady = lzma_stream_decoder(&stream, uint64_t(1) << mostMemoryLog, 0) ==
              LZMA_OK;
  }

  lzma_stream stream = LZMA_STREAM_INIT;
  bool isReady = false, isBetween = false;
};

} // namespace

const char *Gzip::unpack(std::string_view &from, char *&to, char *end) {
  if (!isReady)
    return "no memory";
  if (isBetween) {
    isPadding |= from.front() == 0;
    if (isPadding) {
      size_t zeros = std::min(from.find_first_not_of('\0'), from.size());
      from.remove_prefix(zeros);
      return from.empty() ? nullptr : goesOn;
    }
    // The first byte of another member; `inflate` checks the second.
    if (from.front() != '\x1f')
      return goesOn;
    inflateReset(&stream);
    isBetween = false;
  }
  stream.next_in =
      const_cast<Bytef *>(reinterpret_cast<const Bytef *>(from.data()));
  stream.avail_in = static_cast<uInt>(from.size());
  stream.next_out = reinterpret_cast<Bytef *>(to);
  stream.avail_out = static_cast<uInt>(end - to);
  int code = inflate(&stream, Z_NO_FLUSH);
  from.remove_prefix(from.size() - stream.avail_in);
  to = reinterpret_cast<char *>(stream.next_out);
  isBetween = code == Z_STREAM_END;
  if (code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR)
    return nullptr;
  return code == Z_MEM_ERROR ? "no memory" : damaged;
}

const char *Zstd::unpack(std::string_view &from, char *&to, char *end) {
  if (!stream)
    return "no memory";
  if (isBetween && from.empty())
    return nullptr;
  ZSTD_inBuffer in = {from.data(), from.size(), 0};
  ZSTD_outBuffer out = {to, size_t(end - to), 0};
  bool wasBetween = isBetween;
  size_t left = ZSTD_decompressStream(stream, &out, &in);
  from.remove_prefix(in.pos);
  to += out.pos;
  isBetween = left == 0;
  if (!ZSTD_isError(left))
    return nullptr;
  // Codes of version 1.5; others have a general text.
  std::string_view name = ZSTD_getErrorName(left);
  if (name.find("too much memory") != name.npos)
    return largeWindow;
  return wasBetween && name.find("Unknown frame") != name.npos ? goesOn
                                                               : damaged;
}

const char *Xz::unpack(std::string_view &from, char *&to, char *end) {
  if (isBetween) {
    from.remove_prefix(std::min(from.find_first_not_of('\0'), from.size()));
    if (from.empty())
      return nullptr;
    if (from.front() != '\xfd')
      return goesOn;
    begin();
    isBetween = false;
  }
  if (!isReady)
    return "no memory";
  stream.next_in = reinterpret_cast<const uint8_t *>(from.data());
  stream.avail_in = from.size();
  stream.next_out = reinterpret_cast<uint8_t *>(to);
  stream.avail_out = static_cast<size_t>(end - to);
  lzma_ret code = lzma_code(&stream, LZMA_RUN);
  from.remove_prefix(from.size() - stream.avail_in);
  to = reinterpret_cast<char *>(stream.next_out);
  isBetween = code == LZMA_STREAM_END;
  switch (code) {
  case LZMA_OK:
  case LZMA_STREAM_END:
  case LZMA_BUF_ERROR: // no progress: the file has ended
    return nullptr;
  case LZMA_MEMLIMIT_ERROR:
    return largeWindow;
  case LZMA_MEM_ERROR:
    return "no memory";
  case LZMA_OPTIONS_ERROR:
    return "it is packed in a way that this version of liblzma does not know";
  default:
    return damaged;
  }
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

PackedFile::PackedFile(int descriptor) : descriptor(descriptor) {}

PackedFile::~PackedFile() { close(descriptor); }

std::unique_ptr<PackedFile> PackedFile::open(const std::string &path,
                                             std::string &why) {
  int descriptor = openToRead(path, why);
  return descriptor < 0 ? nullptr : std::make_unique<PackedFile>(descriptor);
}

ptrdiff_t PackedFile::fail(const std::string &text) {
  why = text;
  return -1;
}

/// Appends the next bytes of the file to the unused ones.
bool PackedFile::refill() {
  input.erase(0, place);
  place = 0;
  size_t before = input.size();
  input.resize(before + chunkSize);
  ssize_t count = throughSignals(
      [&] { return ::read(descriptor, input.data() + before, chunkSize); });
  input.resize(before + size_t(std::max<ssize_t>(count, 0)));
  if (count < 0)
    return fail(std::strerror(errno)) == 0;
  isAtEnd = count == 0;
  numRead += static_cast<uint64_t>(count);
  return true;
}

/// Finds out what the file is.
bool PackedFile::begin() {
  isBegun = true;
  constexpr std::string_view ofGzip("\x1f\x8b", 2),
      ofZstd("\x28\xb5\x2f\xfd", 4),
      ofXz("\xfd"
           "7zXZ\0",
           6);
  while (!isAtEnd && input.size() < ofXz.size())
    if (!refill())
      return false;
  std::string_view first = input;
  if (first.starts_with(ofGzip))
    unpacker = std::make_unique<Gzip>();
  else if (first.starts_with(ofZstd))
    unpacker = std::make_unique<Zstd>();
  else if (first.starts_with(ofXz))
    unpacker = std::make_unique<Xz>();
  return true;
}

ptrdiff_t PackedFile::readPlain(char *bytes, size_t size) {
  if (place == input.size() && !isAtEnd && !refill())
    return -1;
  size_t count = std::min(size, input.size() - place);
  std::memcpy(bytes, input.data() + place, count);
  place += count;
  return static_cast<ptrdiff_t>(count);
}

ptrdiff_t PackedFile::read(char *bytes, size_t size) {
  if (!why.empty() || (!isBegun && !begin()))
    return -1;
  if (!unpacker)
    return readPlain(bytes, size);
  for (char *to = bytes;;) {
    if (place == input.size() && !isAtEnd && !refill())
      return -1;
    std::string_view from = std::string_view(input).substr(place);
    if (from.empty() && isAtEnd && unpacker->isWhole())
      return 0;
    size_t before = from.size();
    if (const char *problem = unpacker->unpack(from, to, bytes + size))
      return fail(problem);
    place += before - from.size();
    if (to > bytes) {
      numGiven += uint64_t(to - bytes);
      if (numGiven > muchText && numGiven / mostPerByte > numRead)
        return fail(fmt::format("it unpacks to over {} times its size; help: "
                                "unpack it first if that is no mistake",
                                mostPerByte));
      return to - bytes;
    }
    if (from.size() == before && isAtEnd && !unpacker->isWhole())
      return fail(tooEarly);
  }
}

bool fovea::runtime::readUnpacked(const std::string &path, std::string &text,
                                  std::string &why) {
  std::unique_ptr<PackedFile> file = PackedFile::open(path, why);
  if (!file)
    return false;
  text.clear();
  std::string part(chunkSize, '\0');
  ptrdiff_t count;
  while ((count = file->read(part.data(), part.size())) > 0)
    text.append(part.data(), static_cast<size_t>(count));
  why = file->problem();
  return count == 0;
}

//===- Npy.cpp - arrays of numpy ------------------------------------------===//
//
// The header of an array is a Python literal, a dict of three entries in any
// order. A dedicated grammar parses it and accepts nothing else.
//
//===----------------------------------------------------------------------===//

#include "app/data/Npy.h"
#include "runtime/data/Half.h"
#include "runtime/data/OpenFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;
using runtime::DType;
using runtime::Status;

//===----------------------------------------------------------------------===//
// One array
//===----------------------------------------------------------------------===//

namespace {

/// The content of a header.
struct Header {
  std::string type; // `<f4`
  bool isFortran = false;
  std::vector<int64_t> shape;

  bool isHalf() const {
    return StringRef(type).drop_front(!type.empty()) == "f2";
  }
  /// The size of an element in the file.
  size_t width = 0;
  DType element = DType::F64;

  /// Whether rows of the first axis are consecutive.
  bool isByRows() const { return !isFortran || shape.size() < 2; }
};

/// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
class HeaderReader {
public:
  HeaderReader(StringRef text, Header &header) : text(text), header(header) {}

  /// Returns false if it is not such a dict.
  bool read() {
    if (!take("{"))
      return false;
    int found = 0;
    while (!take("}")) {
      std::string key;
      if (!string(key) || !take(":") || !value(key, found) ||
          (!take(",") && !text.ltrim().starts_with("}")))
        return false;
    }
    return found == 7 && text.trim().empty();
  }

private:
  bool take(StringRef token) {
    text = text.ltrim();
    return text.consume_front(token);
  }
  bool string(std::string &result) {
    text = text.ltrim();
    if (text.empty() || (text.front() != '\'' && text.front() != '"'))
      return false;
    size_t end = text.find(text.front(), 1);
    if (end == StringRef::npos)
      return false;
    result = text.slice(1, end).str();
    text = text.drop_front(end + 1);
    return true;
  }
  bool value(const std::string &key, int &found) {
    if (key == "descr") {
      found |= 1;
      // Structured types are lists.
      if (text.ltrim().starts_with("[")) {
        header.type = "a record";
        size_t end = text.rfind(']');
        text = text.substr(end == StringRef::npos ? text.size() : end + 1);
        return true;
      }
      return string(header.type);
    }
    if (key == "fortran_order") {
      found |= 2;
      header.isFortran = take("True");
      return header.isFortran || take("False");
    }
    if (key != "shape" || !take("("))
      return false;
    found |= 4;
    header.shape.clear();
    while (!take(")")) {
      int64_t extent = 0;
      text = text.ltrim();
      if (text.consumeInteger(10, extent) || extent < 0)
        return false;
      text.consume_front("L"); // of Python 2
      header.shape.push_back(extent);
      if (!take(",") && !text.ltrim().starts_with(")"))
        return false;
    }
    return true;
  }

  StringRef text;
  Header &header;
};

} // namespace

/// Converts the elements of an array to little-endian bytes, first axis
/// first.
static std::string inOrder(std::string_view bytes, size_t size,
                           const Header &header) {
  std::string result(bytes);
  if (header.type.front() == '>')
    for (size_t begin = 0; begin < result.size(); begin += size)
      std::reverse(result.begin() + begin, result.begin() + begin + size);
  if (!header.isFortran || header.shape.size() < 2)
    return result;
  std::string swapped = std::move(result);
  result.assign(swapped.size(), '\0');
  std::vector<int64_t> at(header.shape.size());
  for (size_t from = 0; from < swapped.size(); from += size) {
    int64_t place = 0;
    for (size_t axis = 0; axis < at.size(); ++axis)
      place = place * header.shape[axis] + at[axis];
    std::memcpy(&result[place * size], &swapped[from], size);
    for (size_t axis = 0; axis < at.size(); ++axis) {
      if (++at[axis] < header.shape[axis])
        break;
      at[axis] = 0;
    }
  }
  return result;
}

/// The type of the elements, except half precision; nothing for other content.
static std::optional<DType> typeOf(StringRef name) {
  if (name.size() < 3 || !StringRef("<>|=").contains(name[0]))
    return std::nullopt;
  static const std::pair<StringRef, DType> known[] = {
      {"f8", DType::F64}, {"f4", DType::F32}, {"i8", DType::I64},
      {"i4", DType::I32}, {"i2", DType::I16}, {"i1", DType::I8},
      {"u8", DType::U64}, {"u4", DType::U32}, {"u2", DType::U16},
      {"u1", DType::U8},  {"b1", DType::Bool}};
  for (const auto &[text, type] : known)
    if (name.drop_front() == text)
      return type;
  return std::nullopt;
}

/// Names the content of an array without numbers.
static std::string contentOf(StringRef type) {
  StringRef kind = type.drop_while(
      [](char c) { return c == '|' || c == '<' || c == '>' || c == '='; });
  return kind.starts_with("O")   ? "Python objects"
         : kind.starts_with("U") ? "texts"
         : kind.starts_with("S") ? "byte strings"
         : kind.starts_with("c") ? "complex numbers"
                                 : "elements of type '" + type.str() + "'";
}

/// The bytes before a header: the magic string, a version and the header's
/// size.
static constexpr size_t markSize = 12;

static Status mistake(const std::string &name, const std::string &text) {
  return Status::error(fmt::format("'{}' {}", name, text));
}

/// Returns where a header begins, and its size, from the first `markSize`
/// bytes, or from a whole shorter file.
static Status readMark(std::string_view bytes, const std::string &name,
                       size_t &begin, size_t &size) {
  if (!bytes.starts_with("\x93NUMPY"))
    return mistake(name, "is not a numpy array: its header is missing");
  if (bytes.size() < markSize)
    return mistake(name, "has a truncated or damaged header");
  auto version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3)
    return mistake(
        name, fmt::format("has format version {}; only 1 to 3 are supported",
                          version));
  begin = version == 1 ? 10 : 12;
  const auto *data = reinterpret_cast<const unsigned char *>(bytes.data());
  size = version == 1 ? llvm::support::endian::read16le(data + 8)
                      : llvm::support::endian::read32le(data + 8);
  return Status::success();
}

/// Parses a header that `available` bytes follow.
static Status readHeader(std::string_view text, size_t available,
                         const std::string &name, Header &header) {
  if (!HeaderReader(StringRef(text.data(), text.size()), header).read())
    return mistake(name, "has a truncated or damaged header");
  std::optional<DType> type =
      header.isHalf() ? DType::F32 : typeOf(header.type);
  if (!type)
    return mistake(name,
                   "holds " + contentOf(header.type) +
                       ", which are not supported; only numbers and bits are");
  header.element = *type;
  header.width = header.isHalf() ? 2 : runtime::sizeOf(*type);
  // No product of extents exceeds the file.
  size_t wanted = header.width;
  for (int64_t extent : header.shape) {
    if (extent == 0)
      return mistake(name, fmt::format("has extents {}, so it is empty",
                                       runtime::shapeText(header.shape)));
    if (wanted > available / extent)
      return mistake(name,
                     fmt::format("has extents {} but only {} bytes of values",
                                 runtime::shapeText(header.shape), available));
    wanted *= extent;
  }
  if (wanted != available)
    return mistake(
        name,
        fmt::format(
            "has extents {}, which need {} bytes of values, but contains {}",
            runtime::shapeText(header.shape), wanted, available));
  return Status::success();
}

/// Values in the layout of a file, with the extents of `header`.
static runtime::Tensor tensorOf(std::string_view bytes, const Header &header) {
  std::string values = inOrder(bytes, header.width, header);
  if (!header.isHalf()) {
    const auto *first = reinterpret_cast<const std::byte *>(values.data());
    return {header.element, header.shape, {first, first + values.size()}};
  }
  std::vector<double> numbers(values.size() / 2);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] =
        runtime::halfOf(llvm::support::endian::read16le(&values[2 * i]));
  return runtime::Tensor::of(header.element, header.shape, numbers);
}

Status fovea::cli::parseNpy(std::string_view bytes, const std::string &name,
                            runtime::Tensor &tensor) {
  size_t begin = 0, size = 0;
  if (Status status = readMark(bytes, name, begin, size); status.failed())
    return status;
  if (size > bytes.size() - begin)
    return mistake(name, "has a truncated or damaged header");
  std::string_view values = bytes.substr(begin + size);
  Header header;
  if (Status status =
          readHeader(bytes.substr(begin, size), values.size(), name, header);
      status.failed())
    return status;
  tensor = tensorOf(values, header);
  return Status::success();
}

namespace {

/// Rows of an array whose bytes are read sequentially.
class StreamedRows : public NpyRows {
public:
  explicit StreamedRows(std::string name) : name(std::move(name)) {}

  /// Reads the header of an array that has `size` bytes.
  Status begin(size_t size);
  Status read(int64_t count, runtime::Tensor &tensor) override;

protected:
  /// Returns the next `size` bytes; fewer only at the end.
  virtual Status take(size_t size, std::string &bytes) = 0;
  const std::string name;

private:
  Header header;
  size_t numLeft = 0; // bytes of values
};

} // namespace

Status StreamedRows::begin(size_t size) {
  std::string bytes, text;
  size_t first = 0, length = 0;
  if (Status status = take(markSize, bytes); status.failed())
    return status;
  if (Status status = readMark(bytes, name, first, length); status.failed())
    return status;
  if (length > size - first || length < bytes.size() - first)
    return mistake(name, "has a truncated or damaged header");
  if (Status status = take(length - (bytes.size() - first), text);
      status.failed())
    return status;
  text.insert(0, bytes.substr(first));
  if (Status status = readHeader(text, size - first - length, name, header);
      status.failed())
    return status;
  numLeft = size - first - length;
  extents = header.shape;
  hasRows = header.isByRows();
  return Status::success();
}

Status StreamedRows::read(int64_t count, runtime::Tensor &tensor) {
  Header part = header;
  size_t size = header.width;
  if (!part.shape.empty())
    part.shape.front() = count;
  for (int64_t extent : part.shape)
    size *= extent;
  std::string bytes;
  if (Status status = take(size, bytes); status.failed())
    return status;
  if (bytes.size() < size)
    return mistake(name, "has fewer values than its header claims");
  // An archive's checksum is compared at its end.
  numLeft -= size;
  if (std::string rest; numLeft == 0)
    if (Status status = take(1, rest); status.failed())
      return status;
  tensor = tensorOf(bytes, part);
  return Status::success();
}

namespace {

/// Reads the bytes of a file with one array.
class FileRows : public StreamedRows {
public:
  using StreamedRows::StreamedRows;
  ~FileRows() override {
    if (descriptor >= 0)
      close(descriptor);
  }

  Status open() {
    std::string why;
    struct stat status;
    descriptor = runtime::openToRead(name, why);
    if (descriptor >= 0 && fstat(descriptor, &status) == 0)
      return begin(status.st_size);
    return Status::error(fmt::format("cannot read '{}': {}", name, why));
  }

private:
  Status take(size_t size, std::string &bytes) override {
    size_t have = 0;
    bytes.resize(size);
    while (have < bytes.size()) {
      ssize_t count = runtime::throughSignals([&] {
        return ::read(descriptor, bytes.data() + have, bytes.size() - have);
      });
      if (count < 0)
        return Status::error(
            fmt::format("cannot read '{}': {}", name, std::strerror(errno)));
      if (count == 0)
        break;
      have += size_t(count);
    }
    bytes.resize(have);
    return Status::success();
  }

  int descriptor = -1;
};

} // namespace

Status NpyRows::openFile(const std::string &path,
                         std::unique_ptr<NpyRows> &rows) {
  auto file = std::make_unique<FileRows>(path);
  Status status = file->open();
  rows = std::move(file);
  return status;
}

//===----------------------------------------------------------------------===//
// Archives
//===----------------------------------------------------------------------===//

namespace {
struct CloseZip {
  void operator()(zip_t *archive) const { zip_discard(archive); }
};
struct CloseEntry {
  void operator()(zip_file_t *file) const { zip_fclose(file); }
};
using Zip = std::unique_ptr<zip_t, CloseZip>;
} // namespace

static Status openZip(const std::string &path, Zip &archive) {
  std::string why;
  int code = 0, descriptor = runtime::openToRead(path, why);
  if (descriptor >= 0) {
    archive.reset(zip_fdopen(descriptor, ZIP_CHECKCONS, &code));
    if (archive)
      return Status::success();
    close(descriptor);
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    why =
        code == ZIP_ER_NOZIP ? "not a zip archive" : zip_error_strerror(&error);
    zip_error_fini(&error);
  }
  return Status::error(fmt::format("cannot read '{}': {}", path, why));
}

Status fovea::cli::listNpz(const std::string &path,
                           std::vector<std::string> &names) {
  Zip archive;
  if (Status status = openZip(path, archive); status.failed())
    return status;
  for (zip_int64_t i = 0; i < zip_get_num_entries(archive.get(), 0); ++i) {
    const char *name = zip_get_name(archive.get(), i, 0);
    StringRef text = name ? name : "";
    if (text.consume_back(".npy"))
      names.push_back(text.str());
  }
  if (names.empty())
    return Status::error("'" + path + "' has no array");
  return Status::success();
}

namespace {

/// Reads the bytes of one array in an archive.
class MemberRows : public StreamedRows {
public:
  MemberRows(const std::string &path, std::string member)
      : StreamedRows(path + ":" + member), path(path),
        member(std::move(member) + ".npy") {}

  Status open() {
    if (Status status = openZip(path, archive); status.failed())
      return status;
    zip_stat_t about;
    file.reset(zip_fopen(archive.get(), member.c_str(), 0));
    if (!file || zip_stat(archive.get(), member.c_str(), 0, &about) != 0)
      return fail(zip_strerror(archive.get()));
    return begin(about.size);
  }

private:
  Status fail(const char *why) {
    return Status::error(fmt::format("cannot read '{}': {}", name, why));
  }
  /// The size that the archive claims is not allocated in advance.
  Status take(size_t size, std::string &bytes) override {
    bytes.clear();
    std::vector<char> buffer(std::min<size_t>(size, 1 << 20));
    while (bytes.size() < size) {
      zip_int64_t count =
          zip_fread(file.get(), buffer.data(),
                    std::min(buffer.size(), size - bytes.size()));
      if (count < 0)
        return fail(zip_file_strerror(file.get()));
      if (count == 0)
        break;
      bytes.append(buffer.data(), count);
    }
    return Status::success();
  }

  std::string path, member;
  Zip archive;
  std::unique_ptr<zip_file_t, CloseEntry> file;
};

} // namespace

Status NpyRows::openMember(const std::string &path, const std::string &name,
                           std::unique_ptr<NpyRows> &rows) {
  auto file = std::make_unique<MemberRows>(path, name);
  Status status = file->open();
  rows = std::move(file);
  return status;
}

Status fovea::cli::readNpz(const std::string &path, const std::string &name,
                           runtime::Tensor &tensor) {
  std::unique_ptr<NpyRows> rows;
  if (Status status = NpyRows::openMember(path, name, rows); status.failed())
    return status;
  return rows->read(rows->shape().empty() ? 1 : rows->shape().front(), tensor);
}

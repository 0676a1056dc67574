//===- Npy.cpp - arrays of numpy ------------------------------------------===//
//
// The header of an array is a literal of Python, a dict of three entries in any
// order; it is read by a grammar of its own, which has nothing else.
//
//===----------------------------------------------------------------------===//

#include "driver/data/Npy.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <optional>
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

/// What a header says.
struct Header {
  std::string type; // `<f4`
  bool isFortran = false;
  std::vector<int64_t> shape;
};

/// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
class HeaderReader {
public:
  HeaderReader(StringRef text, Header &header) : text(text), header(header) {}

  /// False where it is no such dict.
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
      // What has several fields is a list.
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

/// The elements of an array that are turned to little-endian bytes, first axis
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

/// Half precision (IEEE 754) as a number.
static double halfOf(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double size = exponent == 31  ? (fraction ? NAN : INFINITY)
                : exponent == 0 ? std::ldexp(fraction, -24)
                                : std::ldexp(fraction + 1024, exponent - 25);
  return bits >> 15 ? -size : size;
}

/// The type of elements, but for half precision; nothing: they are no numbers.
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

/// What is in an array that holds no numbers.
static std::string contentOf(StringRef type) {
  StringRef kind = type.drop_while(
      [](char c) { return c == '|' || c == '<' || c == '>' || c == '='; });
  return kind.starts_with("O")   ? "objects of Python"
         : kind.starts_with("U") ? "texts"
         : kind.starts_with("S") ? "strings of bytes"
         : kind.starts_with("c") ? "complex numbers"
                                 : "elements of the type '" + type.str() + "'";
}

Status fovea::cli::parseNpy(std::string_view bytes, const std::string &name,
                            runtime::Tensor &tensor) {
  auto fail = [&](const std::string &text) {
    return Status::error(fmt::format("'{}' {}", name, text));
  };
  if (!bytes.starts_with("\x93NUMPY"))
    return fail("is no array of numpy: it does not begin as one");
  auto cut = [&] { return fail("is cut off, or damaged, in its header"); };
  if (bytes.size() < 12)
    return cut();
  auto version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3)
    return fail(fmt::format("has version {} of its format, but 1 to 3 are "
                            "known",
                            version));
  size_t begin = version == 1 ? 10 : 12;
  const auto *data = reinterpret_cast<const unsigned char *>(bytes.data());
  size_t size = version == 1 ? llvm::support::endian::read16le(data + 8)
                             : llvm::support::endian::read32le(data + 8);
  Header header;
  if (size > bytes.size() - begin)
    return cut();
  if (!HeaderReader(StringRef(bytes.data() + begin, size), header).read())
    return cut();
  bytes.remove_prefix(begin + size);

  bool isHalf = StringRef(header.type).drop_front(!header.type.empty()) == "f2";
  std::optional<DType> type = isHalf ? DType::F32 : typeOf(header.type);
  if (!type)
    return fail("holds " + contentOf(header.type) +
                ", which are not read; numbers and bits are");
  size_t width = isHalf ? 2 : runtime::sizeOf(*type);
  // No product of extents goes beyond what the file has.
  size_t wanted = width;
  for (int64_t extent : header.shape) {
    if (extent == 0)
      return fail(fmt::format("has the extents {}, and so no values",
                              runtime::shapeText(header.shape)));
    if (wanted > bytes.size() / extent)
      return fail(fmt::format("has the extents {} but only {} bytes of values",
                              runtime::shapeText(header.shape), bytes.size()));
    wanted *= extent;
  }
  if (wanted != bytes.size())
    return fail(fmt::format("has the extents {}, which are {} bytes of values, "
                            "but {} are there",
                            runtime::shapeText(header.shape), wanted,
                            bytes.size()));
  std::string values = inOrder(bytes, width, header);
  if (isHalf) {
    std::vector<double> numbers(values.size() / 2);
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = halfOf(llvm::support::endian::read16le(&values[2 * i]));
    tensor = runtime::Tensor::of(*type, header.shape, numbers);
    return Status::success();
  }
  const auto *first = reinterpret_cast<const std::byte *>(values.data());
  tensor = {*type, header.shape, {first, first + values.size()}};
  return Status::success();
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
  int code = 0;
  archive.reset(zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code));
  if (archive)
    return Status::success();
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string why = code == ZIP_ER_NOENT   ? "No such file or directory"
                    : code == ZIP_ER_NOZIP ? "it is no archive (zip)"
                                           : zip_error_strerror(&error);
  zip_error_fini(&error);
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

Status fovea::cli::readNpz(const std::string &path, const std::string &name,
                           runtime::Tensor &tensor) {
  Zip archive;
  if (Status status = openZip(path, archive); status.failed())
    return status;
  std::string shown = path + ":" + name;
  auto fail = [&](const char *why) {
    return Status::error(fmt::format("cannot read '{}': {}", shown, why));
  };
  std::unique_ptr<zip_file_t, CloseEntry> file(
      zip_fopen(archive.get(), (name + ".npy").c_str(), 0));
  if (!file)
    return fail(zip_strerror(archive.get()));
  // What the archive says of the size is no reason to allocate it.
  std::string bytes;
  std::vector<char> buffer(1 << 20);
  zip_int64_t count = 0;
  while ((count = zip_fread(file.get(), buffer.data(), buffer.size())) > 0)
    bytes.append(buffer.data(), count);
  if (count < 0)
    return fail(zip_file_strerror(file.get()));
  return parseNpy(bytes, shown, tensor);
}

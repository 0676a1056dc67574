//===- ExampleStore.cpp - examples that may be more than memory -----------===//
//
// All examples form one byte sequence, cut into pages of one size. A record
// contains the id. For each data name it has its number, type, extents and
// values, in the smallest type that holds them exactly. For each length it has
// its number, whether it is nested, and its values.
//
//===----------------------------------------------------------------------===//

#include "app/data/ExampleStore.h"
#include "runtime/data/OpenFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits>
#include <unistd.h>

using namespace fovea;
using namespace fovea::cli;
using runtime::DType;
using runtime::Status;

static constexpr int64_t pageSize = 1 << 20;

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

template <typename T> static bool holds(const std::vector<double> &values) {
  return llvm::all_of(values, [](double value) {
    if constexpr (std::is_integral_v<T>)
      if (!(value >= double(std::numeric_limits<T>::min()) &&
            value <= double(std::numeric_limits<T>::max())) ||
          (value == 0 && std::signbit(value)))
        return false;
    return double(T(value)) == value;
  });
}

/// Returns the smallest type that holds all values, bit for bit.
static DType typeFor(const std::vector<double> &values) {
  return holds<uint8_t>(values)   ? DType::U8
         : holds<int16_t>(values) ? DType::I16
         : holds<int32_t>(values) ? DType::I32
         : holds<float>(values)   ? DType::F32
                                  : DType::F64;
}

namespace {

class Writer {
public:
  explicit Writer(std::vector<std::string> &names) : names(names) {}

  std::string write(const runtime::Example &example);

private:
  void put(const void *bytes, size_t size) {
    record.append(static_cast<const char *>(bytes), size);
  }
  void number(int64_t value) { put(&value, sizeof(value)); }
  void numbers(const std::vector<int64_t> &values) {
    number(int64_t(values.size()));
    put(values.data(), values.size() * sizeof(int64_t));
  }
  void name(const std::string &text) {
    auto found = llvm::find(names, text);
    number(found - names.begin());
    if (found == names.end())
      names.push_back(text);
  }

  std::vector<std::string> &names;
  std::string record;
};

class Reader {
public:
  Reader(const std::vector<std::string> &names, const std::string &record)
      : names(names), rest(record) {}

  void read(runtime::Example &example);

private:
  const char *take(size_t size) {
    assert(size <= rest.size() && "a record is what was written");
    const char *bytes = rest.data();
    rest.remove_prefix(size);
    return bytes;
  }
  int64_t number() {
    int64_t value = 0;
    std::memcpy(&value, take(sizeof(value)), sizeof(value));
    return value;
  }
  std::vector<int64_t> numbers() {
    std::vector<int64_t> values(number());
    if (!values.empty())
      std::memcpy(values.data(), take(values.size() * sizeof(int64_t)),
                  values.size() * sizeof(int64_t));
    return values;
  }
  const std::string &name() { return names[number()]; }

  const std::vector<std::string> &names;
  std::string_view rest;
};

} // namespace

std::string Writer::write(const runtime::Example &example) {
  assert(example.prefix.empty() && example.words.empty() &&
         "these are of decoding");
  number(example.id);
  number(int64_t(example.data.size()));
  for (const auto &[text, data] : example.data) {
    name(text);
    numbers(data.shape);
    number(int64_t(data.values.size()));
    DType type = typeFor(data.values);
    number(int64_t(type));
    runtime::Tensor tensor =
        runtime::Tensor::of(type, {int64_t(data.values.size())}, data.values);
    put(tensor.bytes.data(), tensor.bytes.size());
  }
  number(int64_t(example.lengths.size()));
  for (const auto &[text, length] : example.lengths) {
    name(text);
    number(length.nested);
    numbers(length.values);
  }
  return std::move(record);
}

void Reader::read(runtime::Example &example) {
  example = {};
  example.id = number();
  for (int64_t left = number(); left > 0; --left) {
    runtime::DataValues &data = example.data[name()];
    data.shape = numbers();
    int64_t count = number();
    auto type = DType(number());
    const char *bytes = take(count * runtime::sizeOf(type));
    data.values.resize(count);
    for (int64_t i = 0; i < count; ++i)
      data.values[i] = runtime::elementOf(
          type, reinterpret_cast<const std::byte *>(bytes), i);
  }
  for (int64_t left = number(); left > 0; --left) {
    runtime::LengthValues &length = example.lengths[name()];
    length.nested = number() != 0;
    length.values = numbers();
  }
}

//===----------------------------------------------------------------------===//
// Pages
//===----------------------------------------------------------------------===//

ExampleStore::~ExampleStore() {
  if (file >= 0)
    close(file);
}

/// Returns the file position of a byte offset.
int64_t ExampleStore::inFile(int64_t place) const {
  return place - int64_t(pages.size()) * pageSize;
}

static std::string folderOfData() {
  const char *given = std::getenv("TMPDIR");
  return given && *given ? given : "/var/tmp";
}

static Status noRoom(const std::string &why) {
  return Status::machine(fmt::format(
      "cannot store data in '{}': {}; help: set $TMPDIR to another folder",
      folderOfData(), why));
}

/// Creates a file that no other process can open and that vanishes with this
/// one.
Status ExampleStore::openFile() {
  llvm::SmallString<128> path;
  std::error_code failure = llvm::sys::fs::createUniqueFile(
      folderOfData() + "/fovea-data-%%%%%%%%", file, path);
  if (!failure)
    failure = llvm::sys::fs::remove(path);
  return failure ? noRoom(failure.message()) : Status::success();
}

/// Moves a full page to its final place.
Status ExampleStore::keepPage() {
  if (numStored == 0 && int64_t(pages.size() + 1) * pageSize <= limit) {
    pages.push_back(std::move(open));
    open = {};
    return Status::success();
  }
  if (file < 0)
    if (Status status = openFile(); status.failed())
      return status;
  for (int64_t done = 0; done < pageSize;) {
    ssize_t count = runtime::throughSignals([&] {
      return pwrite(file, open.data() + done, pageSize - done,
                    numStored * pageSize + done);
    });
    if (count < 0)
      return noRoom(std::strerror(errno));
    done += count;
  }
  ++numStored;
  open.clear();
  return Status::success();
}

Status ExampleStore::append(const std::string &record) {
  for (size_t done = 0; done < record.size();) {
    open.reserve(pageSize);
    size_t size = std::min(record.size() - done, pageSize - open.size());
    open.insert(open.end(), record.begin() + done,
                record.begin() + done + size);
    done += size;
    if (open.size() == pageSize)
      if (Status status = keepPage(); status.failed())
        return status;
  }
  return Status::success();
}

Status ExampleStore::add(const runtime::Example &example) {
  std::string record = Writer(names).write(example);
  ends.push_back(beginOf(size()) + int64_t(record.size()));
  return append(record);
}

Status ExampleStore::load(int64_t begin, int64_t end,
                          std::string &record) const {
  record.resize(end - begin);
  int64_t numKept = int64_t(pages.size());
  for (int64_t place = begin; place < end;) {
    int64_t number = place / pageSize, offset = place % pageSize;
    int64_t size = std::min(end - place, pageSize - offset);
    char *to = record.data() + (place - begin);
    if (number < numKept || number == numKept + numStored) {
      const Page &page = number < numKept ? pages[number] : open;
      std::memcpy(to, page.data() + offset, size);
      place += size;
      continue;
    }
    ssize_t count = runtime::throughSignals(
        [&] { return pread(file, to, size, inFile(place)); });
    if (count <= 0)
      return Status::machine(
          fmt::format("cannot read data back from disk ({})",
                      count == 0 ? "they are gone" : std::strerror(errno)));
    place += count;
  }
  return Status::success();
}

Status ExampleStore::read(int64_t index, runtime::Example &example) const {
  std::string record;
  if (Status status = load(beginOf(index), ends[index], record);
      status.failed())
    return status;
  Reader(names, record).read(example);
  return Status::success();
}

void ExampleStore::willRead(const std::vector<int64_t> &indices) const {
  for (int64_t index : indices)
    if (int64_t begin = inFile(beginOf(index)), end = inFile(ends[index]);
        file >= 0 && end > 0)
      posix_fadvise(file, std::max<int64_t>(0, begin), end - begin,
                    POSIX_FADV_WILLNEED);
}

Status LoadedBatch::load(const ExampleStore &store,
                         const std::vector<int64_t> &indices) {
  examples.resize(indices.size());
  pointers.clear();
  for (auto [example, index] : llvm::zip(examples, indices)) {
    if (Status status = store.read(index, example); status.failed())
      return status;
    pointers.push_back(&example);
  }
  return Status::success();
}

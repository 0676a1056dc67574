//===- EventFile.cpp - a log as TensorBoard reads it ----------------------===//
//
// A record is the size of its data, the data, and a checksum of each. The data
// are protobuf messages (tensorflow/core/util/event.proto) with so few fields
// that they are written here.
//
//===----------------------------------------------------------------------===//

#include "app/watch/EventFile.h"
#include "runtime/data/OpenFile.h"
#include "llvm/Support/FileSystem.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace fovea;
using namespace fovea::cli;
using fovea::runtime::Status;
using nlohmann::json;

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

/// CRC-32C (Castagnoli), rotated and offset as records require.
static uint32_t maskedChecksum(std::string_view bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> result;
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit)
        value = (value >> 1) ^ (value & 1 ? 0x82F63B78 : 0);
      result[i] = value;
    }
    return result;
  }();
  uint32_t sum = ~uint32_t(0);
  for (unsigned char byte : bytes)
    sum = table[(sum ^ byte) & 0xFF] ^ (sum >> 8);
  sum = ~sum;
  return ((sum >> 15) | (sum << 17)) + 0xA282EAD8;
}

/// The bytes of a number; every supported machine is little-endian.
template <typename T> static std::string bytesOf(T value) {
  return {reinterpret_cast<const char *>(&value), sizeof(value)};
}

/// The fields of a message: the field number with its wire type, and the value.
enum Wire { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

static std::string varint(uint64_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7)
    text += char(value | 0x80);
  return text + char(value);
}

static std::string field(int number, Wire wire, const std::string &value) {
  std::string key = varint(number << 3 | wire);
  return wire == Bytes ? key + varint(value.size()) + value : key + value;
}

static double now() {
  std::chrono::duration<double> since =
      std::chrono::system_clock::now().time_since_epoch();
  return since.count();
}

Status EventFile::write(const std::string &event) {
  std::string size = bytesOf(uint64_t(event.size()));
  std::string record = size + bytesOf(maskedChecksum(size)) + event +
                       bytesOf(maskedChecksum(event));
  if (!runtime::writeAll(file, record))
    return Status::machine(
        fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

EventFile::~EventFile() {
  if (file >= 0)
    close(file);
}

Status EventFile::open(const std::string &folder) {
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return Status::machine(
        fmt::format("cannot make '{}': {}", folder, error.message()));
  double time = now();
  // Creates a new file: an existing file or link is not touched.
  for (int number = 0; number < 100 && file < 0; ++number) {
    path = fmt::format("{}/events.out.tfevents.{}.fovea.{}.{}", folder,
                       int64_t(time), getpid(), number);
    file = ::open(path.c_str(),
                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file < 0 && errno != EEXIST && errno != EINTR)
      break;
  }
  if (file < 0)
    return Status::machine(
        fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
  return write(field(1, Fixed64, bytesOf(time)) +
               field(3, Bytes, "brain.Event:2"));
}

Status EventFile::add(std::string_view line) {
  json values = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!values.is_object())
    return Status::success();
  std::string summary;
  for (const auto &[name, value] : values.items()) {
    if (!value.is_number() || name == "step" || name == "seconds")
      continue;
    // Validations have a group of their own: `valid/loss`.
    std::string tag = name.starts_with("valid_") ? "valid/" + name.substr(6)
                                                 : "train/" + name;
    summary += field(1, Bytes,
                     field(1, Bytes, tag) +
                         field(2, Fixed32, bytesOf(value.get<float>())));
  }
  return write(field(1, Fixed64, bytesOf(now())) +
               field(2, Varint, varint(values.value("step", uint64_t(0)))) +
               field(5, Bytes, summary));
}

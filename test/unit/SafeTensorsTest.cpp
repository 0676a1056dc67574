//===- SafeTensorsTest.cpp - good files, and hostile ones -----------------===//

#include "runtime/data/SafeTensors.h"
#include "runtime/data/TensorLayout.h"
#include "runtime/data/TensorSeal.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace fovea::runtime;

/// A file with this header and so many bytes of data.
static std::string fileOf(const std::string &header, size_t data) {
  std::string bytes(8, '\0');
  for (int i = 0; i < 8; ++i)
    bytes[i] = static_cast<char>(header.size() >> (8 * i));
  return bytes + header + std::string(data, '\0');
}

static std::string errorOf(const std::string &bytes) {
  TensorFile file;
  file.tensors["left over"];
  Status status = parseSafeTensors(bytes, "w.safetensors", file);
  EXPECT_TRUE(status.failed());
  EXPECT_TRUE(file.tensors.empty());
  EXPECT_EQ(status.getWhere(), "w.safetensors");
  return status.getMessage();
}

static std::string tensor(const std::string &type, const std::string &shape,
                          const std::string &offsets) {
  return fmt::format(
      R"({{"a": {{"dtype": "{}", "shape": {}, "data_offsets": {}}}}})", type,
      shape, offsets);
}

TEST(SafeTensors, ReadsEveryType) {
  for (DType type :
       {DType::F64, DType::F32, DType::I64, DType::I32, DType::I16, DType::I8,
        DType::U64, DType::U32, DType::U16, DType::U8, DType::Bool}) {
    std::vector<double> values = {0, 1, 1, 0, 1, 1};
    if (type != DType::Bool)
      values[2] = 100;
    Tensor written = Tensor::of(type, {2, 3}, values);
    EXPECT_EQ(written.bytes.size(), 6 * sizeOf(type));
    std::string bytes =
        fileOf(tensor(std::string(nameOf(type)), "[2, 3]",
                      fmt::format("[0, {}]", written.bytes.size())),
               written.bytes.size());
    std::memcpy(bytes.data() + bytes.size() - written.bytes.size(),
                written.bytes.data(), written.bytes.size());
    TensorFile file;
    Status status = parseSafeTensors(bytes, "w", file);
    ASSERT_TRUE(status.succeeded()) << status.text();
    EXPECT_EQ(file.tensors["a"].shape, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(file.tensors["a"].toDoubles(), values);
  }
}

TEST(SafeTensors, WritesWhatItReads) {
  TensorFile file;
  file.metadata["format"] = "a \"quoted\" text";
  file.tensors["grad/a.weight"] = Tensor::of(DType::F64, {2}, {0.1, -1e300});
  file.tensors["x"] = Tensor::of(DType::Bool, {3}, {1, 0, 1});
  file.tensors["loss"] = Tensor::of(DType::F32, {}, {0.5});
  file.tensors["none"] = Tensor::of(DType::I64, {0, 4}, {});
  std::string path =
      fmt::format("{}/fovea-unit-{}.safetensors", testing::TempDir(), getpid());
  Status status = writeSafeTensors(path, file);
  ASSERT_TRUE(status.succeeded()) << status.text();
  TensorFile read;
  status = readSafeTensors(path, read);
  ASSERT_TRUE(status.succeeded()) << status.text();
  EXPECT_EQ(read.metadata, file.metadata);
  ASSERT_EQ(read.tensors.size(), 4u);
  for (const auto &[name, tensor] : file.tensors) {
    EXPECT_EQ(read.tensors[name].type, tensor.type);
    EXPECT_EQ(read.tensors[name].shape, tensor.shape);
    EXPECT_EQ(read.tensors[name].bytes, tensor.bytes);
  }
  unlink(path.c_str());
}

TEST(SafeTensors, BrainNumbersAreStoredInTwoBytes) {
  TensorFile file;
  file.tensors["w:bf16"] = file.tensors["v"] =
      Tensor::of(DType::BF16, {3}, {1, -0.375, 1e30});
  ASSERT_EQ(file.tensors["w:bf16"].bytes.size(), 6u);
  std::string path =
      fmt::format("{}/fovea-unit-{}.safetensors", testing::TempDir(), getpid());
  ASSERT_TRUE(writeSafeTensors(path, file).succeeded());
  TensorFile read;
  Status status = readSafeTensors(path, read);
  ASSERT_TRUE(status.succeeded()) << status.text();
  // A parameter in bf16 stays so; other numbers are read as f32.
  EXPECT_EQ(read.tensors["w:bf16"].type, DType::BF16);
  EXPECT_EQ(read.tensors["v"].type, DType::F32);
  for (const char *name : {"w:bf16", "v"})
    EXPECT_EQ(read.tensors[name].toDoubles(), file.tensors[name].toDoubles());
  unlink(path.c_str());
}

TEST(SafeTensors, NoFileIsAnError) {
  TensorFile file;
  EXPECT_EQ(readSafeTensors("/nowhere/w.safetensors", file).text(),
            "cannot open '/nowhere/w.safetensors': No such file or directory");
  EXPECT_EQ(readSafeTensors("/", file).text(),
            "cannot open '/model.safetensors': No such file or directory");
  EXPECT_EQ(writeSafeTensors("/nowhere/w", file).text().substr(0, 12),
            "cannot write");
}

//===----------------------------------------------------------------------===//
// Checksums
//===----------------------------------------------------------------------===//

static TensorFile smallFile() {
  TensorFile file;
  file.metadata["vocabulary.words"] = "words\n<s>\n";
  file.tensors["a"] = Tensor::of(DType::F32, {2, 2}, {1, 2, 3, 4});
  file.tensors["b"] = Tensor::of(DType::F64, {1}, {0.5});
  return file;
}

static bool isSame(const TensorFile &a, const TensorFile &b) {
  if (a.metadata != b.metadata || a.tensors.size() != b.tensors.size())
    return false;
  for (const auto &[name, tensor] : a.tensors) {
    auto found = b.tensors.find(name);
    if (found == b.tensors.end() || found->second.type != tensor.type ||
        found->second.shape != tensor.shape ||
        found->second.bytes != tensor.bytes)
      return false;
  }
  return true;
}

/// Whatever single bit is damaged: the file is refused, or says the same. It
/// may also no longer say that it has a checksum.
TEST(SafeTensors, NoDamagedBitIsUsed) {
  TensorFile file = smallFile();
  std::string bytes = formatSafeTensors(file);
  size_t refused = 0;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    TensorFile read;
    if (parseSafeTensors(damaged, "w", read).failed()) {
      ++refused;
      continue;
    }
    for (const auto &[key, value] : file.metadata)
      EXPECT_EQ(read.metadata[key], value) << "bit " << bit;
    read.metadata = file.metadata;
    EXPECT_TRUE(isSame(read, file)) << "bit " << bit;
  }
  // All but those of the entry's own name.
  EXPECT_GT(refused, bytes.size() * 8 - 8 * std::strlen(sealKey) - 1);
}

TEST(SafeTensors, DamageIsSaid) {
  TensorFile file = smallFile();
  std::string bytes = formatSafeTensors(file);
  std::string damaged = bytes;
  damaged.back() = static_cast<char>(damaged.back() ^ 0x40);
  std::string text = errorOf(damaged);
  EXPECT_EQ(text.find("the tensors are not those that were written"), 0u)
      << text;
  EXPECT_NE(text.find("remove 'fovea.checksum' from its metadata"),
            std::string::npos)
      << text;
  damaged = bytes;
  damaged[damaged.find("<s>")] = '[';
  text = errorOf(damaged);
  EXPECT_EQ(text.find("the metadata are not those that were written"), 0u)
      << text;
}

/// What other tools write, and a header in another layout.
TEST(SafeTensors, AnotherLayoutIsTheSame) {
  TensorFile file = smallFile(), read;
  std::string seal = sealOf(file);
  EXPECT_EQ(seal.find("xxh3-128 tensors "), 0u);
  std::string data(reinterpret_cast<char *>(file.tensors["a"].bytes.data()),
                   16);
  data.append(reinterpret_cast<char *>(file.tensors["b"].bytes.data()), 8);
  auto bytesWith = [&](const std::string &entry) {
    return fileOf(R"({ "a": {"shape": [2, 2], "dtype": "F32",)"
                  R"( "data_offsets": [0, 16]}, "b": {"dtype": "F64",)"
                  R"( "shape": [1], "data_offsets": [16, 24]},)"
                  R"("__metadata__": {"vocabulary.words": "words\n<s>\n")" +
                      entry + "}}",
                  0) +
           data;
  };
  for (const std::string &entry :
       {std::string(), R"(, "fovea.checksum": ")" + seal + "\""}) {
    Status status = parseSafeTensors(bytesWith(entry), "w", read);
    ASSERT_TRUE(status.succeeded()) << status.text();
    EXPECT_TRUE(isSame(read, file));
  }
  EXPECT_TRUE(
      parseSafeTensors(bytesWith(R"(, "fovea.checksum": "")"), "w", read)
          .failed());
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// A place that cannot be examined does not count as a device: nothing there is
/// touched.
TEST(SafeTensors, WhatCannotBeLookedAtIsNotWritten) {
  namespace fs = std::filesystem;
  fs::path folder =
      fs::path(testing::TempDir()) / fmt::format("fovea-places-{}", getpid());
  fs::create_directory(folder);
  TensorFile file = smallFile();
  // A loop of links fails as a broken disk does.
  fs::create_symlink("loop", folder / "loop");
  EXPECT_EQ(writeSafeTensors(folder / "loop", file).getMessage(),
            fmt::format("cannot write '{}': Too many levels of symbolic links",
                        (folder / "loop").string()));
  EXPECT_TRUE(fs::is_symlink(folder / "loop"));
  EXPECT_EQ(writeSafeTensors(folder, file).getMessage(),
            fmt::format("cannot write '{}': it is a folder", folder.string()));

  // Of a link the target is replaced, and no part is left.
  std::ofstream(folder / "target") << "old";
  fs::create_symlink("target", folder / "link");
  ASSERT_TRUE(writeSafeTensors(folder / "link", file).succeeded());
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  TensorFile read;
  ASSERT_TRUE(readSafeTensors(folder / "target", read).succeeded());
  EXPECT_TRUE(isSame(read, file));
  for (const fs::directory_entry &entry : fs::directory_iterator(folder))
    EXPECT_NE(entry.path().extension(), ".part");
  fs::remove_all(folder);
}

TEST(SafeTensors, HeaderThatIsNone) {
  EXPECT_EQ(errorOf("abc"),
            "a header needs 8 bytes for its length, but the file has 3");
  std::string tooLong = fileOf("{}", 0);
  tooLong[7] = '\x7f';
  EXPECT_EQ(
      errorOf(tooLong),
      "the file is cut off or damaged: it says that its header has "
      "9151314442816847874 bytes, but only 2 follow; help: use another copy "
      "of it");
  EXPECT_EQ(errorOf(fileOf(std::string(100'000'001, ' '), 0)),
            "the header is 100000001 bytes long, over 100000000");
  EXPECT_EQ(errorOf(fileOf(R"({"a": true})", 0)),
            "'a' has a boolean in an unexpected place");
  EXPECT_EQ(errorOf(fileOf("{", 0)),
            "the file is damaged: its header is not JSON at byte 9 of the "
            "file; help: use another copy of it");
  EXPECT_EQ(errorOf(fileOf("", 0)),
            "the file is damaged: its header is not JSON at byte 8 of the "
            "file; help: use another copy of it");
  EXPECT_EQ(errorOf(fileOf("[]", 0)), "the header is a list, not an object");
  EXPECT_EQ(errorOf(fileOf("\"a\"", 0)), "the header is a text, not an object");
  EXPECT_EQ(errorOf(fileOf(R"({"a": 3})", 0)),
            "'a' has a number in an unexpected place");
  // Brackets without end use no stack.
  EXPECT_EQ(errorOf(fileOf(std::string(1000000, '['), 0)),
            "the header is a list, not an object");
  EXPECT_EQ(errorOf(fileOf(R"({"a": {"b": {"c": 1}}})", 0)),
            "'a' has an unknown entry 'b'");
}

TEST(SafeTensors, EntriesThatAreWrong) {
  EXPECT_EQ(
      errorOf(fileOf(R"({"a": {"shape": [1], "data_offsets": [0, 8]}})", 8)),
      "'a' has no 'dtype'");
  EXPECT_EQ(errorOf(fileOf(tensor("F8_E5M2", "[1]", "[0, 2]"), 2)),
            "'a' has the unknown dtype 'F8_E5M2'");
  EXPECT_EQ(errorOf(fileOf(tensor("F64", "[-1]", "[0, 8]"), 8)),
            "'a' has a negative number in an unexpected place");
  EXPECT_EQ(errorOf(fileOf(tensor("F64", "[1.5]", "[0, 8]"), 8)),
            "'a' has a fraction or a number beyond 2^64 in an "
            "unexpected place");
  EXPECT_EQ(errorOf(fileOf(tensor("F64", "3", "[0, 8]"), 8)),
            "'a' has a number in an unexpected place");
  EXPECT_EQ(errorOf(fileOf(tensor("F64", "[[1]]", "[0, 8]"), 8)),
            "'a' has a list in an unexpected place");
  EXPECT_EQ(errorOf(fileOf(tensor("F64", "[1]", "[0]"), 8)),
            "'a' has 1 data offsets, not 2");
  EXPECT_EQ(errorOf(fileOf(
                R"({"a": {"dtype": "F64", "dtype": "F32", "shape": []}})", 8)),
            "'a' has 'dtype' twice");
}

TEST(SafeTensors, ExtentsAndPlacesThatDoNotFit) {
  EXPECT_EQ(errorOf(fileOf(tensor("F64", "[2]", "[0, 16]"), 8)),
            "'a' occupies bytes 0 to 16, but the file has 8");
  EXPECT_EQ(errorOf(fileOf(tensor("F64", "[1]", "[8, 0]"), 8)),
            "'a' occupies bytes 8 to 0, but the file has 8");
  EXPECT_EQ(errorOf(fileOf(tensor("F64", "[1]", "[0, 4]"), 4)),
            "'a' has extents [1], more than the file has bytes");
  EXPECT_EQ(errorOf(fileOf(tensor("F32", "[1]", "[0, 8]"), 8)),
            "'a' has extents [1] of F32, 4 bytes, but occupies 8 bytes");
  // Products that wrap around: 2^63, 2^32 * 2^32, 2^64 - 1.
  for (const char *shape :
       {"[9223372036854775808]", "[4294967296, 4294967296]",
        "[18446744073709551615]", "[0, 9223372036854775808]"})
    EXPECT_NE(errorOf(fileOf(tensor("F64", shape, "[0, 8]"), 8))
                  .find("more than the file has bytes"),
              std::string::npos);
  EXPECT_EQ(errorOf(fileOf(tensor("F64", "[0]", "[0, 8]"), 8)),
            "'a' has extents [0] of F64, 0 bytes, but occupies 8 bytes");
  EXPECT_EQ(errorOf(fileOf(tensor("F64", "[1]", "[0, 8]"), 16)),
            "no tensor has the bytes after 8, but the file has 16");
  EXPECT_EQ(errorOf(fileOf(tensor("F64", "[1]", "[8, 16]"), 16)),
            "no tensor has the bytes 0 to 8 before 'a'");
}

TEST(SafeTensors, TensorsThatOverlap) {
  std::string twice =
      R"({"a": {"dtype": "F64", "shape": [2], "data_offsets": [0, 16]},)"
      R"( "b": {"dtype": "F64", "shape": [2], "data_offsets": [8, 24]}})";
  EXPECT_EQ(errorOf(fileOf(twice, 24)), "'a' and 'b' overlap");
  std::string same =
      R"({"a": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]},)"
      R"( "a": {"dtype": "F64", "shape": [1], "data_offsets": [8, 16]}})";
  EXPECT_EQ(errorOf(fileOf(same, 16)), "'a' appears twice in the header");
}

// Any byte of a file may be anything: an error, never a crash.
TEST(SafeTensors, ChangedBytes) {
  std::string good = fileOf(tensor("I16", "[2, 1]", "[0, 4]"), 4);
  for (size_t place = 0; place < good.size(); ++place)
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = good;
      changed[place] = static_cast<char>(byte);
      TensorFile file;
      Status status = parseSafeTensors(changed, "w", file);
      if (status.succeeded() && file.tensors.count("a"))
        EXPECT_EQ(file.tensors["a"].toDoubles().size(),
                  static_cast<size_t>(file.tensors["a"].numElements()));
      changed.resize(place);
      (void)parseSafeTensors(changed, "w", file).succeeded();
    }
}

// Another process may cut a file off while it is read.
TEST(SafeTensors, FileBecomesShorter) {
  std::string good = fileOf(tensor("I16", "[2, 1]", "[0, 4]"), 4);
  for (size_t left = 0; left < good.size(); ++left) {
    auto read = [&](uint64_t offset, void *to, uint64_t count) {
      errno = 0;
      if (offset + count > left)
        return false;
      std::memcpy(to, good.data() + offset, count);
      return true;
    };
    TensorFile file;
    Status status = readTensors({good.size(), read}, "w", file);
    EXPECT_EQ(status.getMessage(), "it cannot be read: it has become shorter");
    EXPECT_TRUE(file.tensors.empty());
  }
}

//===- DataHashes.cpp - which data files a training read ------------------===//

#include "app/train/DataHashes.h"
#include "app/data/Examples.h"
#include "app/data/FileData.h"
#include "runtime/data/OpenFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

#include <array>
#include <optional>
#include <unistd.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

static std::string digitsOf(llvm::SHA256 &hash) {
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

static std::optional<std::string> hashOfFile(const std::string &path) {
  if (!llvm::sys::fs::is_regular_file(path))
    return std::nullopt;
  std::string why;
  int descriptor = runtime::openToRead(path, why);
  if (descriptor < 0)
    return std::nullopt;
  llvm::SHA256 hash;
  std::array<char, 1 << 16> part;
  ssize_t count;
  while ((count = runtime::throughSignals(
              [&] { return read(descriptor, part.data(), part.size()); })) > 0)
    hash.update(StringRef(part.data(), static_cast<size_t>(count)));
  close(descriptor);
  return count == 0 ? std::optional(digitsOf(hash)) : std::nullopt;
}

static std::optional<std::string> hashOf(const std::string &path) {
  if (!llvm::sys::fs::is_directory(path))
    return hashOfFile(path);
  std::vector<std::string> files;
  if (listFiles(path, files).failed())
    return std::nullopt;
  llvm::SHA256 hash;
  for (const std::string &file : files) {
    std::optional<std::string> one = hashOfFile(file);
    if (!one)
      return std::nullopt;
    hash.update(*one + "  " + llvm::sys::path::filename(file).str() + "\n");
  }
  return digitsOf(hash);
}

std::map<std::string, std::string>
fovea::cli::hashesOfData(const std::vector<std::string> &texts) {
  std::map<std::string, std::string> hashes;
  for (const GivenData &data : splitData(texts)) {
    // A column or a key may follow the path.
    std::string path = data.path;
    if (!llvm::sys::fs::exists(path))
      path = StringRef(path).rsplit(':').first.str();
    if (hashes.contains(path))
      continue;
    if (std::optional<std::string> hash = hashOf(path))
      hashes[path] = *hash;
  }
  return hashes;
}

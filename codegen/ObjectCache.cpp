//===- ObjectCache.cpp - compiled objects on disk -------------------------===//
//
// An entry is a file `llvmcache-KEY`: a line of magic, the key, the BLAKE3 of
// the object, the object. The prefix is what llvm::pruneCache counts.
//
//===----------------------------------------------------------------------===//

#include "codegen/ObjectCache.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace fovea::codegen;
namespace fs = llvm::sys::fs;

static constexpr llvm::StringLiteral magic = "fovea object 1\n";

static std::string hashOf(llvm::StringRef bytes) {
  auto hash = llvm::BLAKE3::hash(llvm::arrayRefFromStringRef(bytes));
  return llvm::toHex(hash, /*LowerCase=*/true);
}

std::string ObjectCache::defaultFolder() {
  if (auto folder = llvm::sys::Process::GetEnv("FOVEA_CACHE"))
    return *folder;
  llvm::SmallString<128> folder;
  if (!llvm::sys::path::cache_directory(folder))
    return "";
  llvm::sys::path::append(folder, "fovea");
  return folder.str().str();
}

std::string ObjectCache::keyOf(llvm::ArrayRef<llvm::StringRef> parts) {
  llvm::BLAKE3 hasher;
  auto add = [&](llvm::StringRef part) {
    // The size separates parts: "ab", "c" is not "a", "bc".
    char size[8];
    llvm::support::endian::write64le(size, part.size());
    hasher.update(llvm::StringRef(size, sizeof(size)));
    hasher.update(part);
  };
  add(compilerIdentity());
  llvm::for_each(parts, add);
  return llvm::toHex(hasher.final<20>(), /*LowerCase=*/true);
}

ObjectCache::ObjectCache(std::string folder, uint64_t limit)
    : folder(std::move(folder)), limit(limit) {}

std::string ObjectCache::pathOf(llvm::StringRef key) const {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, "llvmcache-" + key);
  return path.str().str();
}

/// Marks a file as used now: pruning goes by the time of access, which file
/// systems do not keep by themselves.
static void touch(llvm::StringRef path) {
  int descriptor;
  if (fs::openFileForReadWrite(path, descriptor, fs::CD_OpenExisting,
                               fs::OF_None))
    return;
  (void)fs::setLastAccessAndModificationTime(
      descriptor, std::chrono::time_point_cast<std::chrono::nanoseconds>(
                      std::chrono::system_clock::now()));
  llvm::sys::Process::SafelyCloseFileDescriptor(descriptor);
}

std::unique_ptr<llvm::MemoryBuffer> ObjectCache::load(llvm::StringRef key) {
  std::string path = pathOf(key);
  // Read, not mapped: nobody can change it under the linker then.
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false,
                                          /*IsVolatile=*/true);
  llvm::StringRef object = file && !folder.empty() ? (*file)->getBuffer() : "";
  if (!object.consume_front(magic) || !object.consume_front(key) ||
      object.size() < 64 ||
      object.take_front(64) != hashOf(object.substr(64))) {
    ++missed;
    return nullptr;
  }
  ++found;
  touch(path);
  return llvm::MemoryBuffer::getMemBufferCopy(object.substr(64), key);
}

void ObjectCache::store(llvm::StringRef key, llvm::StringRef object) {
  if (folder.empty() ||
      fs::create_directories(folder, /*IgnoreExisting=*/true, fs::owner_all))
    return;
  int descriptor;
  llvm::SmallString<128> temporary;
  if (fs::createUniqueFile(pathOf(key) + "-%%%%%%%%", descriptor, temporary))
    return;
  llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  stream << magic << key << hashOf(object) << object;
  stream.close();
  bool complete = !stream.has_error();
  stream.clear_error();
  if (!complete || fs::rename(temporary, pathOf(key)))
    (void)fs::remove(temporary);
}

void ObjectCache::trim() {
  if (folder.empty() || !fs::is_directory(folder))
    return;
  llvm::CachePruningPolicy policy;
  policy.Interval = std::chrono::seconds(0);
  policy.Expiration = std::chrono::seconds(0);
  policy.MaxSizeBytes = limit;
  llvm::pruneCache(folder, policy);
}

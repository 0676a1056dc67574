//===- ObjectCache.cpp - compiled objects on disk -------------------------===//
//
// An entry is a file `llvmcache-KEY`: a line of magic, the key, the BLAKE3 of
// the object, the object. The prefix is what llvm::pruneCache counts.
//
//===----------------------------------------------------------------------===//

#include "codegen/native/ObjectCache.h"
#include "runtime/data/OpenFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

using namespace fovea;
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
    // The size separates parts: "ab", "c" differs from "a", "bc".
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

//===----------------------------------------------------------------------===//
// Who may write
//===----------------------------------------------------------------------===//

namespace {
/// A descriptor that is closed with it.
class File {
public:
  explicit File(int descriptor) : descriptor(descriptor) {}
  ~File() {
    if (descriptor >= 0)
      close(descriptor);
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  int get() const { return descriptor; }
  bool isOpen() const { return descriptor >= 0; }

private:
  int descriptor;
};
} // namespace

/// Returns why others may have written the open file; empty: nobody else can.
static std::string strangers(const File &file) {
  struct stat status;
  if (fstat(file.get(), &status) != 0)
    return std::strerror(errno);
  if (status.st_uid != geteuid())
    return "it belongs to user " + std::to_string(status.st_uid);
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return "others may write there";
  return "";
}

/// Cached code is executed, so anyone who can write it runs code as this user.
/// Warns about a folder once per process.
static bool isOwn(const File &file, llvm::StringRef folder) {
  std::string problem = strangers(file);
  static std::atomic<bool> isSaid = false;
  if (!problem.empty() && !isSaid.exchange(true))
    llvm::errs() << "warning: '" << folder
                 << "' is not used as a cache: " << problem << '\n';
  return problem.empty();
}

static int openFolder(const std::string &folder) {
  return folder.empty()
             ? -1
             : open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

static std::string nameOf(llvm::StringRef key) {
  return ("llvmcache-" + key).str();
}

/// The complete entry; nothing if there is none, or others may have
/// written it. It is read, not mapped: nobody can change it under the
/// linker then.
static std::optional<std::string> readEntry(const File &folder,
                                            llvm::StringRef key) {
  // A pipe or a link is not an entry.
  File file(openat(folder.get(), nameOf(key).c_str(),
                   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status;
  if (!file.isOpen() || !strangers(file).empty() ||
      fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return std::nullopt;
  std::string bytes;
  bool isRead = runtime::readAll(file.get(), bytes);
  // Pruning uses access times, which file systems do not reliably
  // update.
  (void)futimens(file.get(), nullptr);
  return isRead ? std::optional(std::move(bytes)) : std::nullopt;
}

std::unique_ptr<llvm::MemoryBuffer> ObjectCache::load(llvm::StringRef key) {
  File place(openFolder(folder));
  std::optional<std::string> file;
  if (place.isOpen() && isOwn(place, folder))
    file = readEntry(place, key);
  llvm::StringRef object = file ? llvm::StringRef(*file) : "";
  if (!object.consume_front(magic) || !object.consume_front(key) ||
      object.size() < 64 ||
      object.take_front(64) != hashOf(object.substr(64))) {
    ++missed;
    return nullptr;
  }
  ++found;
  return llvm::MemoryBuffer::getMemBufferCopy(object.substr(64), key);
}

void ObjectCache::store(llvm::StringRef key, llvm::StringRef object) {
  if (folder.empty() ||
      fs::create_directories(folder, /*IgnoreExisting=*/true, fs::owner_all))
    return;
  File place(openFolder(folder));
  if (!place.isOpen() || !isOwn(place, folder))
    return;
  llvm::SmallString<128> temporary;
  fs::createUniquePath(nameOf(key) + "-%%%%%%%%", temporary,
                       /*MakeAbsolute=*/false);
  int descriptor =
      openat(place.get(), temporary.c_str(),
             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0)
    return;
  bool complete =
      runtime::writeAll(descriptor, (magic + key + hashOf(object)).str()) &&
      runtime::writeAll(descriptor, object);
  complete &= close(descriptor) == 0;
  if (!complete || renameat(place.get(), temporary.c_str(), place.get(),
                            nameOf(key).c_str()) != 0)
    (void)unlinkat(place.get(), temporary.c_str(), 0);
}

void ObjectCache::trim() {
  File place(openFolder(folder));
  if (!place.isOpen() || !isOwn(place, folder))
    return;
  llvm::CachePruningPolicy policy;
  policy.Interval = std::chrono::seconds(0);
  policy.Expiration = std::chrono::seconds(0);
  policy.MaxSizeBytes = limit;
  llvm::pruneCache(folder, policy);
}

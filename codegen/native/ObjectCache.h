//===- ObjectCache.h - compiled objects on disk ---------------*- C++ -*-===//
//
// Stores compiled code for the next process. The cache is optional: an
// unwritable folder, a full disk or a damaged entry cost only time. Any number
// of processes and threads may share a folder. Cached code is executed, so
// folder and entries must belong to the user, and nobody else may be able to
// write them; another folder is not used, with one warning.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_NATIVE_OBJECTCACHE_H
#define FOVEA_CODEGEN_NATIVE_OBJECTCACHE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace fovea::codegen {

class ObjectCache {
public:
  static constexpr uint64_t defaultLimit = uint64_t(1) << 30;

  /// `$FOVEA_CACHE`, else `$XDG_CACHE_HOME/fovea`, else `~/.cache/fovea`.
  /// Empty, meaning no cache, if $FOVEA_CACHE is empty or there is no home
  /// folder.
  static std::string defaultFolder();

  /// A hash of the parts and of the compiler (compilerIdentity), for use as a
  /// key. Equal keys mean equal objects.
  static std::string keyOf(llvm::ArrayRef<llvm::StringRef> parts);

  /// The folder is made on the first store. `limit` is in bytes.
  explicit ObjectCache(std::string folder, uint64_t limit = defaultLimit);

  /// Returns the object of a key, or null. An entry with a wrong checksum is
  /// null.
  std::unique_ptr<llvm::MemoryBuffer> load(llvm::StringRef key);

  /// Stores an object; readers see the whole entry or none.
  void store(llvm::StringRef key, llvm::StringRef object);

  /// Removes the least recently used entries until the folder is within the
  /// limit. Call it after a batch of stores.
  void trim();

  unsigned hits() const { return found; }
  unsigned misses() const { return missed; }

private:
  std::string folder;
  uint64_t limit;
  std::atomic<unsigned> found = 0, missed = 0;
};

/// Version and build of the compiler and of the LLVM and MLIR it runs with.
llvm::StringRef compilerIdentity();

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_NATIVE_OBJECTCACHE_H

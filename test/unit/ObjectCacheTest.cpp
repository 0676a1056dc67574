//===- ObjectCacheTest.cpp - the cache of objects under load --------------===//
//
// What files say is tested in test/codegen/cache.mlir; here: order of use,
// the bound, and many at once.
//
//===----------------------------------------------------------------------===//

#include "codegen/native/ObjectCache.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using fovea::codegen::ObjectCache;
namespace fs = llvm::sys::fs;

namespace {

/// A folder that is gone after the test.
class Folder {
public:
  Folder() {
    EXPECT_FALSE(fs::createUniqueDirectory("fovea-cache", path));
    EXPECT_FALSE(fs::setPermissions(path, fs::owner_all));
  }
  ~Folder() { fs::remove_directories(path); }
  std::string str() const { return path.str().str(); }

  unsigned entries() const {
    std::error_code error;
    unsigned count = 0;
    for (fs::directory_iterator at(path, error), end; at != end && !error;
         at.increment(error))
      count += llvm::sys::path::filename(at->path()).starts_with("llvmcache-");
    return count;
  }

private:
  llvm::SmallString<128> path;
};

std::string keyOf(unsigned number) {
  return ObjectCache::keyOf({"test", std::to_string(number)});
}

std::string objectOf(unsigned number) {
  return std::string(10000, char('a' + number % 26)) + std::to_string(number);
}

} // namespace

TEST(ObjectCache, KeysTellPartsApart) {
  EXPECT_EQ(ObjectCache::keyOf({"ab", "c"}), ObjectCache::keyOf({"ab", "c"}));
  EXPECT_NE(ObjectCache::keyOf({"ab", "c"}), ObjectCache::keyOf({"a", "bc"}));
  EXPECT_NE(ObjectCache::keyOf({"ab", ""}), ObjectCache::keyOf({"ab"}));
}

TEST(ObjectCache, GivesBackWhatItKeeps) {
  Folder folder;
  ObjectCache cache(folder.str());
  EXPECT_EQ(cache.load(keyOf(1)), nullptr);
  std::string binary("\0\n\xff object", 10);
  cache.store(keyOf(1), binary);
  cache.store(keyOf(2), "");
  ASSERT_NE(cache.load(keyOf(1)), nullptr);
  EXPECT_EQ(cache.load(keyOf(1))->getBuffer(), binary);
  EXPECT_EQ(cache.load(keyOf(2))->getBuffer(), "");
  EXPECT_EQ(cache.hits(), 3u);
  EXPECT_EQ(cache.misses(), 1u);
}

TEST(ObjectCache, ForgetsWhatWasUsedLongestAgo) {
  Folder folder;
  ObjectCache cache(folder.str(), /*limit=*/35000);
  for (unsigned i = 0; i < 3; ++i)
    cache.store(keyOf(i), objectOf(i));
  cache.trim();
  EXPECT_EQ(folder.entries(), 3u);
  EXPECT_NE(cache.load(keyOf(0)), nullptr);
  cache.store(keyOf(3), objectOf(3));
  cache.trim();
  EXPECT_EQ(folder.entries(), 3u);
  EXPECT_EQ(cache.load(keyOf(1)), nullptr);
  EXPECT_NE(cache.load(keyOf(0)), nullptr);
  EXPECT_NE(cache.load(keyOf(2)), nullptr);
  EXPECT_NE(cache.load(keyOf(3)), nullptr);
}

// Caches of several processes share nothing but the folder; so do these.
TEST(ObjectCache, ServesManyAtOnce) {
  Folder folder;
  std::atomic<unsigned> wrong = 0;
  auto work = [&](unsigned seed) {
    ObjectCache cache(folder.str(), /*limit=*/100000);
    for (unsigned step = 0; step < 200; ++step) {
      unsigned number = (seed + step * 7) % 20;
      auto object = cache.load(keyOf(number));
      if (object)
        wrong += object->getBuffer() != objectOf(number);
      else
        cache.store(keyOf(number), objectOf(number));
      if (step % 10 == 0)
        cache.trim();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 8; ++seed)
    threads.emplace_back(work, seed);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0u);
  ObjectCache(folder.str(), 100000).trim();
  EXPECT_LE(folder.entries(), 10u);
}

// What others may have written is not run.
TEST(ObjectCache, TakesNothingFromStrangers) {
  Folder folder;
  ObjectCache cache(folder.str());
  cache.store(keyOf(1), "object");
  ASSERT_NE(cache.load(keyOf(1)), nullptr);
  std::string entry = folder.str() + "/llvmcache-" + keyOf(1);
  fs::file_status status;
  ASSERT_FALSE(fs::status(entry, status));
  EXPECT_EQ(status.permissions(), fs::owner_read | fs::owner_write);

  auto isTaken = [&](const std::string &path, int mode) {
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return cache.load(keyOf(1)) != nullptr;
  };
  EXPECT_FALSE(isTaken(entry, 0620));
  EXPECT_FALSE(isTaken(entry, 0602));
  EXPECT_TRUE(isTaken(entry, 0644));
  EXPECT_FALSE(isTaken(folder.str(), 0770));
  EXPECT_FALSE(isTaken(folder.str(), 01777));
  EXPECT_TRUE(isTaken(folder.str(), 0755));
  if (geteuid() == 0) {
    EXPECT_EQ(chown(entry.c_str(), 65534, 65534), 0);
    EXPECT_EQ(cache.load(keyOf(1)), nullptr);
    EXPECT_EQ(chown(entry.c_str(), 0, 0), 0);
    EXPECT_EQ(chown(folder.str().c_str(), 65534, 65534), 0);
    EXPECT_EQ(cache.load(keyOf(1)), nullptr);
    EXPECT_EQ(chown(folder.str().c_str(), 0, 0), 0);
  }
  EXPECT_NE(cache.load(keyOf(1)), nullptr);
}

// Nor is what leads elsewhere, or would be waited for.
TEST(ObjectCache, TakesFilesAlone) {
  Folder folder;
  ObjectCache cache(folder.str());
  cache.store(keyOf(1), "object");
  std::string entry = folder.str() + "/llvmcache-" + keyOf(1);
  EXPECT_EQ(rename(entry.c_str(), (folder.str() + "/else").c_str()), 0);
  EXPECT_EQ(symlink("else", entry.c_str()), 0);
  EXPECT_EQ(cache.load(keyOf(1)), nullptr);
  EXPECT_EQ(unlink(entry.c_str()), 0);
  EXPECT_EQ(mkfifo(entry.c_str(), 0600), 0);
  EXPECT_EQ(cache.load(keyOf(1)), nullptr);
  cache.store(keyOf(1), "object");
  EXPECT_NE(cache.load(keyOf(1)), nullptr);
}

TEST(ObjectCache, WorksWithoutAFolder) {
  for (const char *folder : {"", "/proc/nowhere/fovea"}) {
    ObjectCache cache(folder);
    cache.store(keyOf(1), "object");
    cache.trim();
    EXPECT_EQ(cache.load(keyOf(1)), nullptr);
  }
}

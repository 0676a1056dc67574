//===- OwnFile.cpp - is this program as it was made? ----------------------===//
//
// A truncated file has no bytes for some of its pages, and the first access to
// one kills the process. So its size is checked before any other code of it
// runs, by a function that the compiler puts among the first pages
// (codegen/native/SealProgram.cpp). That function uses nothing outside these
// pages: no library, and no constants that the compiler of this file creates.
//
//===----------------------------------------------------------------------===//

#include "runtime/model/OwnFile.h"
#include "runtime/model/ProgramSeal.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace fovea::runtime;

// Not constant, so that it is stored among the first pages.
static volatile FoveaSeal seal = {FOVEA_SEAL_MARK, 0, 0, 0, 0, 0};
static char ownPath[] = "/proc/self/exe";
static char cutMessage[] = "error: this program is truncated: its file is "
                           "smaller than when it was built\n";

#if defined(__x86_64__)
enum { callWrite = 1, callSeek = 8, callExit = 231, callOpen = 257 };
__attribute__((always_inline)) static inline long
systemCall(long number, long a, long b, long c) {
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c)
               : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
enum { callWrite = 64, callSeek = 62, callExit = 94, callOpen = 56 };
__attribute__((always_inline)) static inline long
systemCall(long number, long a, long b, long c) {
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
  return x0;
}
#else
#error "the system calls of this architecture are unknown"
#endif

/// The descriptor stays open; it is only one, and no child inherits it.
extern "C" __attribute__((visibility("hidden"))) void
fovea_check_size(int, char **, char **) {
  if (seal.size == 0)
    return;
  long file = systemCall(callOpen, AT_FDCWD, reinterpret_cast<long>(ownPath),
                         O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return;
  long size = systemCall(callSeek, file, 0, SEEK_END);
  if (size < 0 || static_cast<uint64_t>(size) == seal.size)
    return;
  systemCall(callWrite, STDERR_FILENO, reinterpret_cast<long>(cutMessage),
             sizeof(cutMessage) - 1);
  systemCall(callExit, 1, 0, 0);
}

/// Runs before the program is initialised.
__attribute__((section(".preinit_array"),
               used)) static void (*const atFirst)(int, char **,
                                                   char **) = fovea_check_size;

Status fovea::runtime::checkOwnFile() {
  FoveaSeal own = {{},           seal.size,    seal.place, seal.skipBegin,
                   seal.skipEnd, seal.checksum};
  int file = own.size == 0 ? -1 : open(ownPath, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return Status::success();
  struct stat status;
  bool isRead = fstat(file, &status) == 0;
  bool isWhole = isRead && static_cast<uint64_t>(status.st_size) == own.size &&
                 own.place + sizeof(FoveaSeal) <= own.skipBegin &&
                 own.skipBegin <= own.skipEnd && own.skipEnd <= own.size;
  void *bytes = isWhole
                    ? mmap(nullptr, own.size, PROT_READ, MAP_PRIVATE, file, 0)
                    : MAP_FAILED;
  close(file);
  if (isWhole && bytes == MAP_FAILED)
    return Status::success();
  if (isWhole) {
    isWhole = checksumOf({static_cast<const char *>(bytes), own.size}, own) ==
              own.checksum;
    munmap(bytes, own.size);
  }
  return isWhole || !isRead ? Status::success()
                            : Status::error("this program is damaged: its file "
                                            "has changed since it was built");
}

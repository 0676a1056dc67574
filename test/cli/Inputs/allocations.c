/* Counts the allocations of a program, and lets one of them fail. Loaded by
 * LD_PRELOAD:
 *
 *   FOVEA_COUNTS=FILE       adds a line at the end: allocations, bytes
 *   FOVEA_FAIL=NUMBER       this allocation, from 1, gives no memory
 *
 * `new` calls malloc. MLIR does not check the memory of interfaces, which it
 * takes by malloc, in code that is partly in the program (InterfaceMap). So the
 * next allocation fails where these two call malloc themselves. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_llong allocations, bytes;
static long long failing;
static atomic_int isFailed;
static char counts[4096];

/* Where the code of the program and of MLIR lies. */
static struct {
  uintptr_t begin, end;
} unchecked[2];

static int findCode(struct dl_phdr_info *info, size_t size, void *data) {
  int number = !info->dlpi_name[0]                   ? 0
               : strstr(info->dlpi_name, "libMLIR.") ? 1
                                                     : -1;
  (void)size, (void)data;
  for (int i = 0; number >= 0 && i < info->dlpi_phnum; ++i)
    if (info->dlpi_phdr[i].p_type == PT_LOAD &&
        info->dlpi_phdr[i].p_flags & PF_X) {
      unchecked[number].begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
      unchecked[number].end =
          unchecked[number].begin + info->dlpi_phdr[i].p_memsz;
    }
  return 0;
}

__attribute__((constructor)) static void begin(void) {
  const char *number = getenv("FOVEA_FAIL"), *file = getenv("FOVEA_COUNTS");
  if (file)
    snprintf(counts, sizeof(counts), "%s", file);
  allocations = bytes = 0;
  failing = number ? atoll(number) : 0;
  if (failing)
    dl_iterate_phdr(findCode, NULL);
}

__attribute__((destructor)) static void end(void) {
  char line[64];
  if (!counts[0])
    return;
  int size = snprintf(line, sizeof(line), "%lld %lld\n", (long long)allocations,
                      (long long)bytes);
  int file = open(counts, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0 || write(file, line, size) != size)
    abort();
  close(file);
}

static int isChecked(uintptr_t caller) {
  for (int i = 0; i < 2; ++i)
    if (unchecked[i].begin <= caller && caller < unchecked[i].end)
      return 0;
  return 1;
}

static int isGiven(size_t size, void *caller) {
  long long number =
      atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed) + 1;
  atomic_fetch_add_explicit(&bytes, (long long)size, memory_order_relaxed);
  if (!failing || number < failing || !isChecked((uintptr_t)caller) ||
      atomic_exchange(&isFailed, 1))
    return 1;
  errno = ENOMEM;
  return 0;
}

#define IS_GIVEN(size) isGiven(size, __builtin_return_address(0))

void *malloc(size_t size) {
  return IS_GIVEN(size) ? __libc_malloc(size) : NULL;
}

void *calloc(size_t count, size_t size) {
  return IS_GIVEN(count * size) ? __libc_calloc(count, size) : NULL;
}

void *realloc(void *old, size_t size) {
  return IS_GIVEN(size) ? __libc_realloc(old, size) : NULL;
}

void *memalign(size_t alignment, size_t size) {
  return IS_GIVEN(size) ? __libc_memalign(alignment, size) : NULL;
}

void *aligned_alloc(size_t alignment, size_t size) {
  return IS_GIVEN(size) ? __libc_memalign(alignment, size) : NULL;
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  if (!IS_GIVEN(size))
    return ENOMEM;
  *result = __libc_memalign(alignment, size);
  return *result ? 0 : ENOMEM;
}

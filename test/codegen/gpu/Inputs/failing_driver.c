/* A driver of CUDA whose calls go to another one, but for one call that fails:
 *
 *   FOVEA_DRIVER=FILE              the other driver
 *   FOVEA_COUNTS=FILE              adds lines at the end: function, calls
 *   FOVEA_FAIL=NAME:NUMBER:ERROR   this call of a function, from 1, gives an
 * error
 */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUDA_FUNCTION(name, arguments)                                         \
  __attribute__((used)) static void *name##Real;                               \
  __attribute__((used)) static unsigned name##Calls, name##Fails;              \
  __attribute__((used)) static int name##Error;                                \
  __attribute__((naked)) void name(void) {                                     \
    __asm__("lock incl " #name "Calls(%rip)\n\t"                               \
            "movl " #name "Calls(%rip), %eax\n\t"                              \
            "cmpl " #name "Fails(%rip), %eax\n\t"                              \
            "je 1f\n\t"                                                        \
            "jmp *" #name "Real(%rip)\n"                                       \
            "1:\n\t"                                                           \
            "movl " #name "Error(%rip), %eax\n\t"                              \
            "ret");                                                            \
  }
#include "runtime/device/CudaApi.def"

__attribute__((constructor)) static void begin(void) {
  void *driver = dlopen(getenv("FOVEA_DRIVER"), RTLD_NOW | RTLD_LOCAL);
  char failing[128] = "";
  unsigned number = 0;
  int error = 0;
  const char *given = getenv("FOVEA_FAIL");
  if (!driver ||
      (given && sscanf(given, "%127[^:]:%u:%d", failing, &number, &error) != 3))
    abort();
#define CUDA_FUNCTION(name, arguments)                                         \
  name##Real = dlsym(driver, #name);                                           \
  if (strcmp(failing, #name) == 0) {                                           \
    name##Fails = number;                                                      \
    name##Error = error;                                                       \
  }
#include "runtime/device/CudaApi.def"
}

__attribute__((destructor)) static void end(void) {
  const char *counts = getenv("FOVEA_COUNTS");
  FILE *file = counts ? fopen(counts, "a") : NULL;
  if (!file)
    return;
#define CUDA_FUNCTION(name, arguments)                                         \
  fprintf(file, "%s %u\n", #name, name##Calls);
#include "runtime/device/CudaApi.def"
  fclose(file);
}

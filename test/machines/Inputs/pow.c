/* A pow that rounds otherwise than that of this system's libc. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>

double pow(double x, double y) {
  double (*own)(double, double) =
      (double (*)(double, double))dlsym(RTLD_NEXT, "pow");
  return own(x, y) * (1 + 1e-6);
}

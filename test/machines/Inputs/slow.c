/* A pow that takes 2.5 s at first: a process that is slow. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <unistd.h>

double pow(double x, double y) {
  static int calls = 0;
  double (*own)(double, double) =
      (double (*)(double, double))dlsym(RTLD_NEXT, "pow");
  if (calls++ < 1)
    usleep(2500000);
  return own(x, y);
}

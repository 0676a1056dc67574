/* A floor that rounds upwards: a machine that computes other rates. */

#define _GNU_SOURCE
#include <dlfcn.h>

double floor(double x) {
  double (*own)(double) = (double (*)(double))dlsym(RTLD_NEXT, "ceil");
  return own(x);
}

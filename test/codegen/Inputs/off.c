/* Functions of libm that are off by one unit in the last place. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>

#define OFF(name)                                                              \
  double name(double x) {                                                      \
    double (*own)(double) = (double (*)(double))dlsym(RTLD_NEXT, #name);       \
    return nextafter(own(x), INFINITY);                                        \
  }

OFF(exp)
OFF(exp2)
OFF(expm1)
OFF(log)
OFF(log2)
OFF(log1p)
OFF(sin)
OFF(cos)
OFF(tanh)
OFF(erf)

double pow(double x, double y) {
  double (*own)(double, double) =
      (double (*)(double, double))dlsym(RTLD_NEXT, "pow");
  return nextafter(own(x, y), INFINITY);
}

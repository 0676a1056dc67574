/* Rounds upwards: a CPU that computes otherwise. */

#include <fenv.h>

__attribute__((constructor)) static void begin(void) { fesetround(FE_UPWARD); }

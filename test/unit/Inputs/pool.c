/* The thread pool as a C program sees it: no C++ library is linked. */

#include "runtime/ThreadPool.h"

static void count(void *frame, int64_t first, int64_t last) {
  for (; first < last; ++first)
    ((int *)frame)[first]++;
}

int main(void) {
  int done[100] = {0};
  FoveaPool *pool = fovea_pool_create(2);
  fovea_parallel(pool, count, done, 100, 1);
  fovea_pool_destroy(pool);
  for (int i = 0; i < 100; ++i)
    if (done[i] != 1)
      return 1;
  return 0;
}

/* An alignment of rnnsearch, from C. */
#include "rnnsearch.h"

#include <math.h>
#include <stdio.h>

int main(void) {
  const int64_t src[] = {4, 5, 1};
  const int64_t length[] = {3};
  rnnsearch_batch batch = {0};
  batch.examples = 1;
  batch.src = src;
  batch.src_extent = 3;
  batch.src_length = length;
  rnnsearch_model *model = NULL;
  rnnsearch_result *result = NULL;
  if (rnnsearch_create(NULL, 1, &model) != rnnsearch_done ||
      rnnsearch_decode(model, &batch, NULL, &result) != rnnsearch_done) {
    printf("error: %s\n", rnnsearch_message());
    return 1;
  }
  rnnsearch_hypothesis best;
  rnnsearch_result_get(result, 0, 0, &best);
  const double *values = NULL;
  const int64_t *shape = NULL;
  int64_t axes = rnnsearch_result_show(result, 0, 0, "align", &values, &shape);
  int good = 1;
  for (int64_t t = 0; axes == 2 && t < shape[0]; ++t) {
    double sum = 0;
    for (int64_t i = 0; i < shape[1]; ++i)
      sum += values[t * shape[1] + i];
    good = good && fabs(sum - 1) < 1e-5;
  }
  printf("%d axes, a row for each symbol: %s, %d columns, sums of 1: %s\n",
         (int)axes, shape[0] == best.tgt_size ? "yes" : "no", (int)shape[1],
         good ? "yes" : "no");
  axes = rnnsearch_result_show(result, 0, 0, "aline", &values, &shape);
  printf("%d: %s\n", (int)axes, rnnsearch_message());
  axes = rnnsearch_result_show(result, 0, 9, "align", &values, &shape);
  printf("%d: %s\n", (int)axes, rnnsearch_message());
  axes = rnnsearch_result_show(result, 0, 0, "align", NULL, &shape);
  printf("%d: %s\n", (int)axes, rnnsearch_message());
  rnnsearch_result_destroy(result);
  rnnsearch_destroy(model);
  return 0;
}

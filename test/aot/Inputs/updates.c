/*===- updates.c - a training whose every bit is printed -------------------===*
 *
 *   updates WEIGHTS OUTPUT: 20 updates of models/rnnsearch.fov, then the best
 *   hypotheses; writes the weights that are left.
 *
 *===----------------------------------------------------------------------===*/

#include "rnnsearch.h"

#include <stdio.h>

static const int64_t source[2][20] = {
    {5, 6, 7, 8, 9, 5, 4, 3, 5, 6, 7, 8, 9, 5, 4, 3, 7, 7, 2, 1}, {8, 3, 1}};
static const int64_t source_length[2] = {20, 3};
static const int64_t target[2][5] = {{9, 4, 3, 3, 1}, {3, 1}};
static const int64_t target_length[2] = {5, 2};

static int explain(void) {
  fprintf(stderr, "error: %s\n", rnnsearch_message());
  return 1;
}

int main(int argc, char **argv) {
  rnnsearch_model *model = NULL;
  if (argc != 3 || rnnsearch_create(argv[1], 2, &model) != rnnsearch_done)
    return explain();
  rnnsearch_batch batch = {0};
  batch.examples = 2;
  batch.src = &source[0][0];
  batch.src_extent = 20;
  batch.src_length = source_length;
  batch.tgt = &target[0][0];
  batch.tgt_extent = 5;
  batch.tgt_length = target_length;
  for (int update = 1; update <= 20; ++update) {
    double loss = 0;
    if (rnnsearch_train_step(model, &batch, update, &loss) != rnnsearch_done)
      return explain();
    printf("%a\n", loss);
  }
  rnnsearch_search options = {0};
  options.beam = options.nbest = 3;
  options.max_length = 12;
  rnnsearch_result *result = NULL;
  if (rnnsearch_decode(model, &batch, &options, &result) != rnnsearch_done)
    return explain();
  for (int64_t i = 0; i < batch.examples; ++i)
    for (int64_t rank = 0; rank < rnnsearch_result_size(result, i); ++rank) {
      rnnsearch_hypothesis best;
      rnnsearch_result_get(result, i, rank, &best);
      printf("%a", best.logp);
      for (int64_t t = 0; t < best.tgt_size; ++t)
        printf(" %d", (int)best.tgt[t]);
      printf("\n");
    }
  rnnsearch_result_destroy(result);
  int code = rnnsearch_save(model, argv[2]) == rnnsearch_done ? 0 : explain();
  rnnsearch_destroy(model);
  return code;
}

/*===- learn.c - losses, gradients and updates from C ----------------------===*
 *
 * Uses models/rnnsearch.fov as a shared library (README.md says how to build
 * it): evaluates a batch, compares a gradient with a difference, and learns the
 * batch by heart.
 *
 *===----------------------------------------------------------------------===*/

#include "rnnsearch.h"

#include <stdio.h>

/* Two sentences of ids, padded on the right; 1 ends each of them. */
static const int64_t source[2][4] = {{5, 6, 7, 1}, {8, 1, 0, 0}};
static const int64_t source_length[2] = {4, 2};
static const int64_t target[2][3] = {{9, 4, 1}, {3, 1, 0}};
static const int64_t target_length[2] = {3, 2};

static int explain(void) {
  fprintf(stderr, "error: %s\n", rnnsearch_message());
  return 1;
}

int main(int argc, char **argv) {
  const char *weights = argc > 1 ? argv[1] : NULL;
  rnnsearch_model *model = NULL;
  if (rnnsearch_create(weights, 0, &model) != rnnsearch_done)
    return explain();

  rnnsearch_batch batch = {0};
  batch.examples = 2;
  batch.src = &source[0][0];
  batch.src_extent = 4;
  batch.src_length = source_length;
  batch.tgt = &target[0][0];
  batch.tgt_extent = 3;
  batch.tgt_length = target_length;

  int code = 1;
  double loss = 0, logp[2] = {0, 0};
  if (rnnsearch_grad(model, &batch, &loss, logp) != rnnsearch_done)
    goto failed;
  printf("loss %.4f, log p %.4f and %.4f\n", loss, logp[0], logp[1]);

  /* A gradient says how much the loss grows when a weight does. */
  rnnsearch_real *v = rnnsearch_parameter(model, rnnsearch_parameter_v);
  double slope = rnnsearch_gradient(model, rnnsearch_parameter_v)[0];
  rnnsearch_real before = v[0];
  double more = 0, less = 0;
  v[0] = before + 0.01f;
  if (rnnsearch_loss(model, &batch, &more, NULL) != rnnsearch_done)
    goto failed;
  v[0] = before - 0.01f;
  if (rnnsearch_loss(model, &batch, &less, NULL) != rnnsearch_done)
    goto failed;
  v[0] = before;
  double error = slope - (more - less) / 0.02;
  printf("the gradient of v[0] agrees with a difference: %s\n",
         error < 1e-3 && error > -1e-3 ? "yes" : "no");

  for (int update = 1; update <= 200; ++update) {
    if (rnnsearch_train_step(model, &batch, 1, &loss) != rnnsearch_done)
      goto failed;
    if (update == 1 || update == 200)
      printf("loss before update %d: %.4f\n", update, loss);
  }
  code = 0;

failed:
  if (code != 0)
    explain();
  rnnsearch_destroy(model);
  return code;
}

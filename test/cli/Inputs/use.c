/* use.c: loads weights into the C library of copy.fov, trains, generates and
 * saves. Whatever fails is one error, with the exit code of the library. */

#include "copy.h"

#include <stdio.h>

static int explain(int code) {
  fprintf(stderr, "error: %s\n", copy_message());
  return code;
}

static int use(copy_model *model) {
  static const int64_t source[2][3] = {{2, 3, 1}, {3, 1, 0}};
  static const int64_t lengths[2] = {3, 2};
  copy_batch batch = {0};
  batch.examples = 2;
  batch.src = batch.tgt = &source[0][0];
  batch.src_extent = batch.tgt_extent = 3;
  batch.src_length = batch.tgt_length = lengths;
  double loss = 0;
  int code = 0;
  for (int update = 1; update <= 3; ++update) {
    if ((code = copy_train_step(model, &batch, update, &loss)))
      return code;
    printf("loss %.4f\n", loss);
  }
  copy_search search = {0};
  search.beam = 2;
  copy_result *result = NULL;
  if ((code = copy_decode(model, &batch, &search, &result)))
    return code;
  for (int64_t example = 0; example < 2 && !code; ++example) {
    copy_hypothesis best;
    if (!(code = copy_result_get(result, example, 0, &best)))
      printf("log p %.4f\n", best.logp);
  }
  copy_result_destroy(result);
  return code ? code : copy_save(model, "used.safetensors");
}

int main(int argc, char **argv) {
  if (argc < 2)
    return 0;
  copy_model *model = NULL;
  int code = copy_create(argv[1], 2, &model);
  if (code)
    return explain(code);
  code = use(model);
  if (code)
    explain(code);
  copy_destroy(model);
  if (!code && fflush(stdout)) {
    fprintf(stderr, "error: cannot write to standard output\n");
    code = 3;
  }
  return code;
}

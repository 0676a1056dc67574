/* Each mistake of a caller is a code and a sentence, and nothing more. */
#define _XOPEN_SOURCE 700
#include "errors.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static void show(const char *what, int code) {
  printf("%s: %d %s\n", what, code, errors_message());
}

/* Generating, and steps of one's own. */
static void generate(errors_model *model, errors_batch *batch) {
  errors_search search;
  memset(&search, 0, sizeof(search));
  errors_result *result = NULL;
  errors_hypothesis best;
  show("no result", errors_decode(model, batch, NULL, NULL));
  search.beam = -1;
  show("beam", errors_decode(model, batch, &search, &result));
  search.beam = 2;
  search.nbest = 3;
  show("nbest", errors_decode(model, batch, &search, &result));
  search.nbest = 2;
  search.top_p = 2;
  show("top_p", errors_decode(model, batch, &search, &result));
  printf("%d\n", result == NULL);
  search.top_p = 0;
  show("decode", errors_decode(model, batch, &search, &result));
  printf("%d %d\n", (int)errors_result_size(result, 0),
         (int)errors_result_size(result, 2));
  show("rank", errors_result_get(result, 0, 2, &best));
  show("get", errors_result_get(result, 1, 0, &best));
  printf("%d\n", best.y[best.y_size - 1] == 1 || !best.ended);
  errors_result_destroy(result);

  double logp[4][errors_num_symbols];
  int64_t parents[4] = {1, 0, 1, 1}, symbols[4] = {3, 2, 2, 3};
  show("too soon", errors_step(model, 4, parents, symbols, &logp[0][0]));
  show("no log p", errors_encode(model, batch, NULL));
  show("encode", errors_encode(model, batch, &logp[0][0]));
  show("rows", errors_step(model, 0, parents, symbols, &logp[0][0]));
  show("no array", errors_step(model, 4, NULL, symbols, &logp[0][0]));
  parents[2] = 2;
  show("parent", errors_step(model, 4, parents, symbols, &logp[0][0]));
  parents[2] = 1;
  symbols[3] = 4;
  show("symbol", errors_step(model, 4, parents, symbols, &logp[0][0]));
  symbols[3] = 3;
  show("step", errors_step(model, 4, parents, symbols, &logp[0][0]));
  printf("%d\n", memcmp(logp[0], logp[3], sizeof(logp[0])) == 0);
}

int main(int argc, char **argv) {
  errors_model *model = NULL;
  printf("at first: '%s'\n", errors_message());
  show("no place", errors_create(NULL, 1, NULL));
  show("no weights", errors_create(NULL, 1, &model));
  show("threads", errors_create(NULL, -1, &model));
  for (int i = 2; i < argc; ++i) {
    show("file", errors_create(argv[i], 1, &model));
    printf("%s\n", model ? "a model" : "null");
  }
  if (errors_create(argv[1], 1, &model) != errors_done)
    return 1;

  int64_t src[4] = {3, 2, 0, 1}, lengths[2] = {1, 2}, ids[2] = {7, -9};
  errors_batch batch;
  memset(&batch, 0, sizeof(batch));
  double loss = 0;
  show("no model", errors_loss(NULL, &batch, &loss, NULL));
  show("no batch", errors_loss(model, NULL, &loss, NULL));
  show("empty", errors_loss(model, &batch, &loss, NULL));
  batch.examples = 2;
  show("no data", errors_loss(model, &batch, &loss, NULL));
  batch.src = src;
  batch.src_extent = -1;
  batch.src_length = lengths;
  batch.y = src;
  batch.y_extent = 2;
  batch.y_length = lengths;
  show("extent", errors_loss(model, &batch, &loss, NULL));
  batch.src_extent = INT64_MAX / 4;
  show("overflow", errors_loss(model, &batch, &loss, NULL));
  batch.src_extent = 1;
  show("length", errors_loss(model, &batch, &loss, NULL));
  batch.src_extent = 2;
  src[0] = 50;
  show("id", errors_loss(model, &batch, &loss, NULL));
  src[0] = 3;
  batch.ids = ids;
  show("good", errors_loss(model, &batch, &loss, NULL));
  show("no places", errors_loss(model, &batch, NULL, NULL));

  printf("%d\n", errors_gradient(model, 0) == NULL);
  show("too early", 0);
  show("gradients", errors_grad(model, &batch, NULL, NULL));
  printf("%d\n", errors_gradient(model, 0) != NULL);

  generate(model, &batch);

  struct rlimit limit = {(rlim_t)1 << 30, (rlim_t)1 << 30};
  setrlimit(RLIMIT_AS, &limit);
  batch.src_extent = (int64_t)1 << 28;
  show("memory", errors_loss(model, &batch, &loss, NULL));
  batch.src_extent = 2;
  show("good again", errors_loss(model, &batch, &loss, NULL));

  printf("%d\n", errors_parameter(model, 99) == NULL);
  show("parameter", 0);
  printf("%d\n", (int)errors_parameter_size(model, -1));
  printf("%s\n", errors_parameter_name(model, 0));
  show("save", errors_save(model, "/nowhere/w.safetensors"));
  show("no path", errors_save(model, NULL));
  printf("%d\n", (int)errors_id(model, "nothing", "a"));
  show("no such data", 0);
  printf("%d\n", (int)errors_id(model, "src", "a"));
  show("no id", 0);
  printf("%d\n", errors_symbol(model, "src", 3) == NULL);
  show("no symbol", 0);
  errors_destroy(model);
  errors_destroy(NULL);
  return 0;
}

/* Opens any model by the name of its file, and asks what it has. */
#include "fovea.h"

#include <stdio.h>
#include <string.h>

static int say(int code) {
  printf("%d: %s\n", code, fovea_message());
  return code;
}

static int heard(void *user, int64_t example, const char *name, double value,
                 const char *symbol) {
  int *left = user;
  printf("heard %d: %s = %d, %s\n", (int)example, name, (int)value,
         symbol ? symbol : "no symbol");
  return --*left > 0;
}

static int cancels(void *user, int64_t example, const char *name, double value,
                   const char *symbol) {
  (void)example, (void)name, (void)value, (void)symbol;
  fovea_model_cancel(user);
  return 1;
}

static int generate(fovea_model *model) {
  const char *const lines[] = {"ein Haus", "Baum Baum ein", "ein nie"};
  fovea_search search = {.beam = 3, .max_length = 6};
  fovea_result *result = NULL;
  if (fovea_model_text(model, 3, lines, &search, NULL, NULL, &result))
    return say(1);
  for (int64_t i = 0; i < 3; ++i) {
    double logp = 0;
    fovea_result_score(result, i, 0, &logp, NULL);
    printf("%.10g\t%s\n", logp, fovea_result_text(result, i, 0, "tgt"));
  }
  fovea_result_close(result);
  return 0;
}

static void listen(fovea_model *model) {
  const char *const lines[] = {"ein Haus"};
  fovea_search search = {.beam = 1, .max_length = 6, .min_length = 4};
  fovea_result *result = NULL;
  int left = 100;
  say(fovea_model_text(model, 1, lines, &search, heard, &left, &result));
  const void *ids = NULL;
  int64_t count = fovea_result_values(result, 0, 0, "tgt", &ids);
  printf("values: %d, of which the first is %s\n", (int)count,
         fovea_model_symbol(model, "tgt", ((const int64_t *)ids)[0]));
  fovea_result_close(result);
  left = 2;
  say(fovea_model_text(model, 1, lines, &search, heard, &left, &result));
  fovea_result_close(result);
  say(fovea_model_text(model, 1, lines, &search, cancels, model, &result));
  printf("no result: %d\n", result == NULL);
  search.beam = 2;
  say(fovea_model_text(model, 1, lines, &search, heard, &left, &result));
}

/* The same batch as arrays by name. */
static void compute(fovea_model *model) {
  int64_t src[] = {3, 4, 3, 0}, tgt[] = {3, 1, 4, 1}, lengths[] = {2, 1};
  int64_t words[] = {2, 2};
  int64_t shape[] = {2, 2}, count[] = {2};
  fovea_array arrays[] = {{"src", fovea_i64, 2, shape, src},
                          {"src.length", fovea_i64, 1, count, lengths},
                          {"tgt", fovea_i64, 2, shape, tgt},
                          {"tgt.length", fovea_i64, 1, count, words}};
  fovea_batch batch = {0, 4, arrays};
  double loss = 0, logp[2];
  say(fovea_model_loss(model, &batch, &loss, logp));
  printf("loss %.10g, log p %.10g and %.10g\n", loss, logp[0], logp[1]);
  say(fovea_model_grad(model, &batch, &loss, NULL));
  printf("a gradient: %s, %d numbers\n",
         fovea_model_gradient(model, 0) ? "yes" : "no",
         (int)fovea_model_parameter_size(model, 0));
  say(fovea_model_train_step(model, &batch, 1, &loss));
  batch.count = 2;
  say(fovea_model_loss(model, &batch, &loss, logp));
  arrays[1].values = NULL;
  say(fovea_model_loss(model, &batch, &loss, logp));
  arrays[0].type = 7;
  say(fovea_model_loss(model, &batch, &loss, logp));
  batch.count = 0;
  say(fovea_model_loss(model, &batch, &loss, logp));
  say(fovea_model_loss(model, NULL, &loss, logp));
}

int main(int argc, char **argv) {
  fovea_model *model = NULL;
  if (argc < 3 || fovea_version() != 1)
    return 1;
  if (fovea_model_open(argv[2], NULL, 1, &model))
    return say(1);
  if (!strcmp(argv[1], "about"))
    printf("%s\n%d names, the second is %s\n", fovea_model_about(model),
           (int)fovea_model_inputs(model), fovea_model_input(model, 1));
  else if (!strcmp(argv[1], "nothing"))
    printf("%d: %s\n", fovea_model_input(model, 2) != NULL, fovea_message());
  else if (!strcmp(argv[1], "generate"))
    generate(model);
  else if (!strcmp(argv[1], "listen"))
    listen(model);
  else
    compute(model);
  fovea_model_close(model);
  return 0;
}

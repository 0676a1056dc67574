/* Each mistake of a caller is a code and a sentence, and nothing more. */
#define _DEFAULT_SOURCE
#include "errors.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Threads that use one model: each call is done, or says that it is busy. */
typedef struct share {
  errors_model *model;
  const errors_batch *batch;
  double loss;
  int done, wrong;
} share;

static void *evaluate(void *argument) {
  share *own = argument;
  for (int i = 0; i < 2000 || (own->done == 0 && i < 2000000); ++i) {
    double loss = 0;
    int code = errors_loss(own->model, own->batch, &loss, NULL);
    own->done += code == errors_done;
    own->wrong += code == errors_done ? loss != own->loss || *errors_message()
                  : code == errors_busy
                      ? !!strcmp(errors_message(), "another thread is using "
                                                   "this model")
                      : 1;
  }
  return NULL;
}

static void share_model(errors_model *model, const errors_batch *batch) {
  share shares[3] = {{model, batch, 0, 0, 0}};
  errors_loss(model, batch, &shares[0].loss, NULL);
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) {
    shares[i] = shares[0];
    pthread_create(&threads[i], NULL, evaluate, &shares[i]);
  }
  for (int i = 0; i < 3; ++i)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < 3; ++i)
    printf("thread: %s, %d wrong\n", shares[i].done ? "served" : "never served",
           shares[i].wrong);
}

/* On a stack of 128 KB; and of 1 MB and what threads keep for themselves. */
static void *evaluate_once(void *argument) {
  share *own = argument;
  own->done = errors_grad(own->model, own->batch, NULL, NULL);
  printf("says '%s'\n", errors_message());
  return NULL;
}

static void try_stack(share own, size_t bytes) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, bytes);
  pthread_create(&thread, &attributes, evaluate_once, &own);
  pthread_join(thread, NULL);
  printf("stack of %d KB: %d\n", (int)(bytes / 1024), own.done);
}

/* Padding that may not be read: it lies where nothing is. */
static void show(const char *what, int code);
static void read_no_padding(errors_model *model, errors_batch batch) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANON, -1, 0);
  mprotect(pages + page, page, PROT_NONE);
  /* Two examples with room for 8 each; of the second only one is there. */
  int64_t *tokens = (int64_t *)(pages + page) - 9;
  int64_t lengths[2] = {2, 1};
  tokens[0] = 3;
  tokens[1] = tokens[8] = 1;
  batch.src = batch.y = tokens;
  batch.src_extent = batch.y_extent = 8;
  batch.src_length = batch.y_length = lengths;
  show("padding", errors_loss(model, &batch, NULL, NULL));
  errors_result *result = NULL;
  show("padding", errors_decode(model, &batch, NULL, &result));
  errors_result_destroy(result);
}

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

/* How many threads this process has. */
static long threads(void) {
  char line[256];
  long count = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof(line), file))
    if (strncmp(line, "Threads:", 8) == 0)
      count = strtol(line + 8, NULL, 10);
  if (file)
    fclose(file);
  return count;
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
  if (errors_create(argv[1], 1000, &model) != errors_done)
    return 1;
  printf("no more than CPUs: %d\n", threads() <= sysconf(_SC_NPROCESSORS_ONLN));
  errors_destroy(model);
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

  share_model(model, &batch);
  share own = {model, &batch, 0, 0, 0};
  try_stack(own, 128 << 10);
  try_stack(own, (1 << 20) + (64 << 10));
  read_no_padding(model, batch);

  /* No more memory than there is. */
  struct rlimit limit = {1 << 20, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
  errors_search wide;
  memset(&wide, 0, sizeof(wide));
  wide.beam = wide.nbest = 8000;
  wide.min_length = wide.max_length = 100;
  errors_result *result = NULL;
  show("memory", errors_decode(model, &batch, &wide, &result));
  limit.rlim_cur = RLIM_INFINITY;
  setrlimit(RLIMIT_AS, &limit);
  show("good again", errors_loss(model, &batch, &loss, NULL));

  printf("%d\n", errors_parameter(model, 99) == NULL);
  show("parameter", 0);
  printf("%d\n", (int)errors_parameter_size(model, -1));
  printf("%s\n", errors_parameter_name(model, 0));
  show("save", errors_save(model, "/nowhere/w.safetensors"));
  show("no path", errors_save(model, NULL));
  show("no key", errors_metadata(model, NULL, "text"));
  show("no text", errors_metadata(model, "key", NULL));
  show("bytes", errors_metadata(model, "key", "a\xff"));
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

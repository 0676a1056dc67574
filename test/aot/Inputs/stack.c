/* A thread with the stack that the header asks for computes everything; the
 * first one's, which grows as it is used, may have no memory to grow into. */
#include "rnnsearch.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { examples = 24, length = 12 };
static int64_t words[examples][length], lengths[examples];

static rnnsearch_batch whole(void) {
  rnnsearch_batch batch = {0};
  batch.examples = examples;
  batch.src = batch.tgt = &words[0][0];
  batch.src_extent = batch.tgt_extent = length;
  batch.src_length = batch.tgt_length = lengths;
  return batch;
}

/* With no more memory than the process has now. */
static int limited(rnnsearch_model *model) {
  rnnsearch_batch batch = whole();
  struct rlimit before, limit;
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld", &pages) != 1)
    return -1;
  fclose(file);
  getrlimit(RLIMIT_AS, &before);
  limit = before;
  limit.rlim_cur = pages * sysconf(_SC_PAGESIZE);
  setrlimit(RLIMIT_AS, &limit);
  int code = rnnsearch_loss(model, &batch, NULL, NULL);
  setrlimit(RLIMIT_AS, &before);
  return code;
}

static void *compute(void *argument) {
  rnnsearch_model *model = argument;
  rnnsearch_batch batch = whole();
  rnnsearch_search search = {0};
  search.beam = 8;
  rnnsearch_result *result = NULL;
  printf("loss %d\n", rnnsearch_loss(model, &batch, NULL, NULL));
  printf("grad %d\n", rnnsearch_grad(model, &batch, NULL, NULL));
  printf("train_step %d\n", rnnsearch_train_step(model, &batch, 1, NULL));
  printf("decode %d\n", rnnsearch_decode(model, &batch, &search, &result));
  rnnsearch_result_destroy(result);
  return NULL;
}

int main(int argc, char **argv) {
  for (int i = 0; i < examples; ++i) {
    lengths[i] = length;
    for (int j = 0; j < length; ++j)
      words[i][j] = j + 1 < length ? 2 + (i + j) % 50 : 1;
  }
  rnnsearch_model *model = NULL;
  if (argc < 2 || rnnsearch_create(argv[1], 1, &model) != rnnsearch_done)
    return 1;
  printf("limited %d: %s\n", limited(model), rnnsearch_message());
  /* 64 KB for what threads keep for themselves. */
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, (1 << 20) + (64 << 10));
  pthread_create(&thread, &attributes, compute, model);
  pthread_join(thread, NULL);
  rnnsearch_destroy(model);
  return 0;
}

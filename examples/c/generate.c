/*===- generate.c - generating from C --------------------------------------===*
 *
 * Uses models/rnnsearch.fov as a shared library (README.md says how to build
 * it): generates with the beam search inside, and again, step by step, with a
 * greedy search of its own.
 *
 *===----------------------------------------------------------------------===*/

#include "rnnsearch.h"

#include <stdio.h>

/* Two sentences of ids, padded on the right; 1 ends each of them. */
static const int64_t source[2][4] = {{5, 6, 7, 1}, {8, 1, 0, 0}};
static const int64_t source_length[2] = {4, 2};
enum { sentences = 2, longest = 20 };

static int explain(void) {
  fprintf(stderr, "error: %s\n", rnnsearch_message());
  return 1;
}

/* The best hypotheses of each sentence. */
static int search(rnnsearch_model *model, const rnnsearch_batch *batch,
                  const rnnsearch_search *options) {
  rnnsearch_result *result = NULL;
  if (rnnsearch_decode(model, batch, options, &result) != rnnsearch_done)
    return explain();
  for (int64_t i = 0; i < batch->examples; ++i)
    for (int64_t rank = 0; rank < rnnsearch_result_size(result, i); ++rank) {
      rnnsearch_hypothesis best;
      rnnsearch_result_get(result, i, rank, &best);
      printf("sentence %d: log p %.6f:", (int)i, best.logp);
      for (int64_t t = 0; t < best.tgt_size; ++t)
        printf(" %d", (int)best.tgt[t]);
      printf("\n");
    }
  rnnsearch_result_destroy(result);
  return 0;
}

/* Takes the likeliest symbol at each step; a row that has ended is left out. */
static int step_by_step(rnnsearch_model *model, const rnnsearch_batch *batch) {
  double logp[sentences][rnnsearch_num_symbols], total[sentences] = {0, 0};
  int64_t words[sentences][longest], length[sentences] = {0, 0};
  int64_t rows = sentences, sentence_of[sentences] = {0, 1};
  int code = rnnsearch_encode(model, batch, &logp[0][0]);
  while (code == rnnsearch_done && rows > 0) {
    int64_t parents[sentences], symbols[sentences], left = 0;
    for (int64_t row = 0; row < rows; ++row) {
      int64_t best = 0, sentence = sentence_of[row];
      for (int64_t symbol = 1; symbol < rnnsearch_num_symbols; ++symbol)
        if (logp[row][symbol] > logp[row][best])
          best = symbol;
      total[sentence] += logp[row][best];
      words[sentence][length[sentence]++] = best;
      if (best == 1 || length[sentence] == longest)
        continue;
      parents[left] = row;
      symbols[left] = best;
      sentence_of[left++] = sentence;
    }
    rows = left;
    if (rows > 0)
      code = rnnsearch_step(model, rows, parents, symbols, &logp[0][0]);
  }
  if (code != rnnsearch_done)
    return explain();
  for (int i = 0; i < sentences; ++i) {
    printf("step by step %d: log p %.6f:", i, total[i]);
    for (int64_t t = 0; t < length[i]; ++t)
      printf(" %d", (int)words[i][t]);
    printf("\n");
  }
  return 0;
}

int main(int argc, char **argv) {
  rnnsearch_model *model = NULL;
  if (rnnsearch_create(argc > 1 ? argv[1] : NULL, 0, &model) != rnnsearch_done)
    return explain();

  rnnsearch_batch batch = {0};
  batch.examples = sentences;
  batch.src = &source[0][0];
  batch.src_extent = 4;
  batch.src_length = source_length;

  rnnsearch_search options = {0};
  options.beam = 4;
  options.nbest = 2;
  options.max_length = longest;
  int code = search(model, &batch, &options);
  options.beam = options.nbest = 1;
  if (code == 0)
    code = search(model, &batch, &options);
  if (code == 0)
    code = step_by_step(model, &batch);
  rnnsearch_destroy(model);
  return code;
}

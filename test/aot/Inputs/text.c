/* Text in and text out of rnnsearch, from C. */
#include "rnnsearch.h"

#include <stdio.h>
#include <string.h>

static const char *const lines[] = {"ein Haus", "Baum Baum ein", "ein nie"};
static const char *const begins[] = {"a", NULL, "the house"};

static int generate(rnnsearch_model *model, const rnnsearch_search *search) {
  rnnsearch_result *result = NULL;
  if (rnnsearch_text(model, 3, lines, search, &result) != rnnsearch_done) {
    printf("error: %s\n", rnnsearch_message());
    return 1;
  }
  for (int64_t i = 0; i < 3; ++i) {
    rnnsearch_hypothesis best;
    rnnsearch_result_get(result, i, 0, &best);
    printf("%.10g\t%s\n", best.logp,
           rnnsearch_result_text(result, i, 0, i == 1 ? "tgt" : NULL));
  }
  rnnsearch_result_destroy(result);
  return 0;
}

static void say(int code) { printf("%d: %s\n", code, rnnsearch_message()); }

static void mistakes(rnnsearch_model *model) {
  int64_t ids[3] = {0, 0, 0};
  int64_t count = rnnsearch_ids(model, "src", lines[2], 3, ids);
  printf("ids of '%s': %d %d %d, of %d\n", lines[2], (int)ids[0], (int)ids[1],
         (int)ids[2], (int)count);
  int64_t first = 0;
  count = rnnsearch_ids(model, "src", lines[2], 1, &first);
  printf("room for one: %d, of %d\n", (int)first, (int)count);
  rnnsearch_result *result = NULL;
  rnnsearch_search search = {0};
  search.max_length = 6;
  const char *two[] = {"ein", NULL};
  const char *prefix[] = {"nie"};
  search.prefixes = prefix;
  say(rnnsearch_text(model, 1, two, &search, &result));
  prefix[0] = "a </s> a";
  say(rnnsearch_text(model, 1, two, &search, &result));
  say(rnnsearch_text(model, 2, two, NULL, &result));
  say(rnnsearch_text(model, 0, two, NULL, &result));
  search.prefixes = NULL;
  rnnsearch_text(model, 1, two, &search, &result);
  const char *text = rnnsearch_result_text(result, 0, 0, "src");
  printf("%s: %s\n", text ? text : "null", rnnsearch_message());
  text = rnnsearch_result_text(result, 0, 5, NULL);
  printf("%s: %s\n", text ? text : "null", rnnsearch_message());
  say((int)rnnsearch_ids(model, "nothing", "a", 0, NULL));
  say((int)rnnsearch_ids(model, "src", "\377", 0, NULL));
  say(rnnsearch_add(model, "nowhere"));
  rnnsearch_batch batch = {0};
  int64_t words[2], length = 2;
  rnnsearch_ids(model, "src", "ein", 2, words);
  batch.examples = 1;
  batch.src = words;
  batch.src_extent = 2;
  batch.src_length = &length;
  rnnsearch_result *by_ids = NULL;
  rnnsearch_decode(model, &batch, &search, &by_ids);
  printf("by ids: %s\n", strcmp(rnnsearch_result_text(result, 0, 0, NULL),
                                rnnsearch_result_text(by_ids, 0, 0, "tgt")) == 0
                             ? "the same text"
                             : "another text");
  rnnsearch_result_destroy(by_ids);
  rnnsearch_result_destroy(result);
}

int main(int argc, char **argv) {
  rnnsearch_model *model = NULL;
  rnnsearch_search search = {0};
  search.beam = 3;
  search.max_length = 6;
  if (argc < 2 || rnnsearch_create(NULL, 1, &model) != rnnsearch_done)
    return 1;
  if (strcmp(argv[1], "both") == 0 &&
      rnnsearch_add(model, "b.safetensors") != rnnsearch_done)
    return 1;
  if (strcmp(argv[1], "prefixed") == 0)
    search.prefixes = begins;
  int code = 0;
  if (strcmp(argv[1], "mistakes") == 0)
    mistakes(model);
  else
    code = generate(model, &search);
  rnnsearch_destroy(model);
  return code;
}

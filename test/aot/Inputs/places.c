/* A place in a story of two facts, inside of it and outside. */
#include "facts.h"
#include <stdio.h>

int main(void) {
  facts_model *model;
  if (facts_create(NULL, 1, &model) != facts_done)
    return 1;
  for (int64_t at = 1; at <= 2; ++at) {
    int64_t story[] = {3, 4, 5, 3}, facts = 2, words[] = {2, 1};
    facts_batch batch = {.examples = 1,
                         .story = story,
                         .story_extent = 2,
                         .story_length = &facts,
                         .story_extent_2 = 2,
                         .story_length_2 = words,
                         .at = &at};
    facts_result *result;
    int code = facts_decode(model, &batch, NULL, &result);
    printf("place %d: %s\n", (int)at,
           code == facts_done ? "done" : facts_message());
    if (code == facts_done)
      facts_result_destroy(result);
  }
  facts_destroy(model);
  return 0;
}

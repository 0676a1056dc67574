/* Losses of a library that packs its weights, before and after an update.
 */

#include "trained.h"

#include <stdio.h>

static double loss_of(trained_model *model, const trained_batch *batch) {
  double loss = -1, logp[1];
  trained_loss(model, batch, &loss, logp);
  return loss;
}

int main(int argc, char **argv) {
  float x[4 * 32];
  for (int i = 0; i < 4 * 32; ++i)
    x[i] = 1;
  int64_t length[1] = {4};
  trained_batch batch = {
      .examples = 1, .x = x, .x_extent = 4, .x_length = length};
  trained_model *model, *other;
  if (argc < 2 || trained_create(NULL, 1, &model) != trained_done)
    return 1;
  double before = loss_of(model, &batch), again = loss_of(model, &batch);
  printf("before: %s\n", before == again ? "the same loss twice" : "different");
  double updated;
  if (trained_train_step(model, &batch, 0, &updated) != trained_done)
    return 1;
  double after = loss_of(model, &batch);
  printf("after an update: %s\n",
         after < before ? "a smaller loss" : "not smaller");
  if (trained_save(model, argv[1]) != trained_done ||
      trained_create(argv[1], 1, &other) != trained_done)
    return 1;
  printf("after an update: %s\n", loss_of(other, &batch) == after
                                      ? "that of a model with the saved weights"
                                      : "another loss");
  trained_destroy(other);
  trained_destroy(model);
  return 0;
}

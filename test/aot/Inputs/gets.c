/* Prints equations of two examples, and gradients by what they are given. */

#include "square.h"

#include <inttypes.h>
#include <stdio.h>

static void show(square_model *model, const char *name, int64_t example) {
  const double *values;
  const int64_t *shape;
  int64_t rank = square_value(model, example, name, &values, &shape);
  printf("%s of example %" PRId64 ":", name, example);
  int64_t count = 1;
  for (int64_t axis = 0; axis < rank; ++axis) {
    printf(" [%" PRId64 "]", shape[axis]);
    count *= shape[axis];
  }
  for (int64_t i = 0; i < count; ++i)
    printf(" %g", values[i]);
  printf("\n");
}

static void refuse(square_model *model, const char *what, const char *name,
                   int64_t example) {
  int64_t rank = square_value(model, example, name, NULL, NULL);
  printf("%s: %" PRId64 ", %s\n", what, rank, square_message());
}

int main(void) {
  square_model *model;
  if (square_create(NULL, 1, &model) != square_done)
    return 1;
  /* What lies past the length of the second example is never looked at. */
  const double x[2][2] = {{1, 2}, {3, 100}};
  const int64_t length[2] = {2, 1}, n[2] = {4, 5};
  square_batch batch = {
      .examples = 2, .x = x[0], .x_extent = 2, .x_length = length, .n = n};
  if (square_get(model, &batch) != square_done)
    return 1;
  show(model, "y", 0);
  show(model, "y", 1);
  refuse(model, "nothing yet", "adjoint/x", 0);
  double loss;
  if (square_grad(model, &batch, &loss, NULL) != square_done)
    return 1;
  printf("loss %g\n", loss);
  show(model, "adjoint/x", 0);
  show(model, "adjoint/x", 1);
  refuse(model, "outside", "y", 2);
  refuse(model, "unknown", "z", 0);
  square_destroy(model);
  return 0;
}

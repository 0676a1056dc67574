/* Evaluates an equation with weights that stay, and with weights that change.
 */

#include "product.h"

#include <inttypes.h>
#include <stdio.h>

/* Prints an element of y in the last example of so many equal ones. */
static int show(product_model *model, const char *what, float x,
                int64_t examples) {
  float numbers[5 * 4 * 32];
  int64_t length[5];
  for (int i = 0; i < 5 * 4 * 32; ++i)
    numbers[i] = x;
  for (int i = 0; i < 5; ++i)
    length[i] = 4;
  product_batch batch = {
      .examples = examples, .x = numbers, .x_extent = 4, .x_length = length};
  if (product_get(model, &batch) != product_done)
    return 1;
  const double *values;
  const int64_t *shape;
  if (product_value(model, examples - 1, "y", &values, &shape) != 2)
    return 1;
  printf("%s: %g\n", what, values[3 * 32 + 31]);
  return 0;
}

static void fill(float *weights, float value) {
  for (int i = 0; i < 32 * 32; ++i)
    weights[i] = value;
}

int main(void) {
  product_model *model;
  if (product_create(NULL, 1, &model) != product_done)
    return 1;
  if (show(model, "ones", 1, 1) || show(model, "twos, five of them", 2, 5) ||
      show(model, "ones", 1, 1))
    return 1;
  float *weights = product_parameter(model, 0);
  fill(weights, 3);
  if (show(model, "with weights of 3", 1, 1))
    return 1;
  /* The caller may keep the address. */
  fill(weights, 5);
  if (show(model, "with weights of 5", 1, 1))
    return 1;
  product_destroy(model);
  return 0;
}

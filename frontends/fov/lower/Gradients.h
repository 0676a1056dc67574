//===- Gradients.h - what gradients inside a model go through -------------===//

#ifndef FOVEA_FRONTENDS_FOV_LOWER_GRADIENTS_H
#define FOVEA_FRONTENDS_FOV_LOWER_GRADIENTS_H

#include "frontends/fov/Diagnostics.h"
#include "frontends/fov/elaborate/Terms.h"

namespace fovea::fov {

/// Prepares each `grad(e, x[p])` of a checked model for lowering.
///
/// With F, the free indices of `e`, three kinds of arrays are added:
///  - `y[F, ..] = x[p, ..]`, the element that the gradient is taken by;
///  - for each array between `e` and `x`, the same equation over F with `y` in
///    the place of `x[p]`. A place that follows from F becomes part of the
///    equation, so `loss[t]` of each step is one element, not one per pair of
///    steps;
///  - the gradient, over F: a Grad term of `e` over `y`.
/// The derivative of the sum of all `e[F]` by `y[F]` is then the gradient at F,
/// which ordinary adjoints compute. `grad(..)` becomes a read of it.
///
/// Returns false after an error.
bool prepareGradients(Elaborated &model, Diagnostics &diagnostics);

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_LOWER_GRADIENTS_H

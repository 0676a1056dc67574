//===- Describe.h - a checked model as its users see it -------------------===//

#ifndef FOVEA_FRONTENDS_FOV_DESCRIBE_H
#define FOVEA_FRONTENDS_FOV_DESCRIBE_H

#include "frontends/fov/Description.h"
#include "frontends/fov/elaborate/Elaborate.h"

namespace fovea::fov {

/// Fills in `result` from the training system of a spec.
void describe(const Program &program, const Elaborated &model,
              Description &result);

/// Adds the results of inference, even if they disagree.
void collectFacts(const Elaborated &model, SpecFacts &facts,
                  const ModelPart &part = {});

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_DESCRIBE_H

//===- Check.h - do all uses of an inferred model agree? ------------------===//

#ifndef FOVEA_FRONTENDS_FOV_CHECK_CHECK_H
#define FOVEA_FRONTENDS_FOV_CHECK_CHECK_H

#include "frontends/fov/Diagnostics.h"
#include "frontends/fov/elaborate/Terms.h"

namespace fovea::fov {

/// Reports what inference left open, and every disagreement of ranges, shapes
/// and kinds. Returns true if there was none.
bool checkModel(Elaborated &model, Diagnostics &diagnostics,
                const ModelPart &part = {});

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_CHECK_CHECK_H

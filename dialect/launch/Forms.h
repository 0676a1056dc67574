//===- Forms.h - the forms of memories as text ------------------*- C++ -*-===//

#ifndef FOVEA_DIALECT_LAUNCH_FORMS_H
#define FOVEA_DIALECT_LAUNCH_FORMS_H

#include "dialect/launch/LaunchDialect.h"

namespace fovea::launch {

/// Returns `each ["T", 16] x f32`, as kernels are printed.
std::string textOf(FormAttr form);

} // namespace fovea::launch

#endif // FOVEA_DIALECT_LAUNCH_FORMS_H

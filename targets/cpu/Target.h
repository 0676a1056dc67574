//===- Target.h - what a CPU decides ----------------------------*- C++ -*-===//

#ifndef FOVEA_TARGETS_CPU_TARGET_H
#define FOVEA_TARGETS_CPU_TARGET_H

#include "dialect/AttnDialect.h"

#include "targets/cpu/Dialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "targets/cpu/Attributes.h.inc"

#endif // FOVEA_TARGETS_CPU_TARGET_H

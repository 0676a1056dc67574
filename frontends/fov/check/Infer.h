//===- Infer.h - ranges, shapes and kinds of an elaborated model ----------===//

#ifndef FOVEA_FRONTENDS_FOV_CHECK_INFER_H
#define FOVEA_FRONTENDS_FOV_CHECK_INFER_H

#include "frontends/fov/Diagnostics.h"
#include "frontends/fov/elaborate/Terms.h"
#include "llvm/ADT/DenseMap.h"

namespace fovea::fov {

/// Finds the extent of every index, the shape and kind of every term, and the
/// sizes that calls bind, by one fixed point (GRAMMAR 4 and 5); then checks
/// that all uses agree. True when everything is known and agrees; mistakes are
/// reported.
bool infer(Elaborated &model, Diagnostics &diagnostics);

/// The kind of every term and equation; part of infer.
void inferKinds(Elaborated &model);

/// Of sizes that are bound to a nested length W[m]: m.
using Rows = llvm::DenseMap<const Atom *, Term *>;

/// The m in whose row an axis with a length nested in `parent` lies: ch[m] has
/// W[m] places. Null when all rows are there, or nothing says which.
Term *rowOf(Elaborated &model, Term &whole, unsigned axis, StringRef parent);

/// Gives every index over a nested length that has none yet its row: that of
/// what bound the length, or else the only one that is there. Part of infer.
void findRows(Elaborated &model, const Rows &rows);

/// Proves every read in bounds or reports it (GRAMMAR 4). Requires infer.
bool proveBounds(Elaborated &model, Diagnostics &diagnostics);

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_CHECK_INFER_H

//===- Infer.h - ranges, shapes and kinds of an elaborated model ----------===//

#ifndef FOVEA_FRONTENDS_FOV_CHECK_INFER_H
#define FOVEA_FRONTENDS_FOV_CHECK_INFER_H

#include "frontends/fov/Diagnostics.h"
#include "frontends/fov/elaborate/Terms.h"
#include "llvm/ADT/DenseMap.h"

namespace fovea::fov {

/// Finds the extent of every index, the shape and kind of every term, and the
/// sizes that calls bind. It uses one fixed point (GRAMMAR 4 and 5), then
/// checks that all uses agree. Returns true if everything is known and agrees;
/// errors are reported.
bool infer(Elaborated &model, Diagnostics &diagnostics);

/// Returns the shape of a term, if its parts determine it already; part of
/// infer.
std::optional<Shape> shapeOf(const Term &term, Sizes &sizes);

/// Infers the kind of every term and equation; part of infer.
void inferKinds(Elaborated &model);

/// For sizes bound to a nested length W[m]: m.
using Rows = llvm::DenseMap<const Atom *, Term *>;

/// Returns the m of the row that contains an axis whose length is nested in
/// `parent`: ch[m] has W[m] places. Null if all rows are present, or the row is
/// unknown.
Term *rowOf(Elaborated &model, Term &whole, unsigned axis, StringRef parent);

/// Assigns a row to every index over a nested length that has none: the row of
/// what bound the length, or else the only one in scope. Part of infer.
void findRows(Elaborated &model, const Rows &rows);

/// Proves every read in bounds or reports it (GRAMMAR 4). Requires infer.
bool proveBounds(Elaborated &model, Diagnostics &diagnostics);

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_CHECK_INFER_H

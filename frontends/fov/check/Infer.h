//===- Infer.h - ranges, shapes and kinds of an elaborated model ----------===//

#ifndef FOVEA_FRONTENDS_FOV_CHECK_INFER_H
#define FOVEA_FRONTENDS_FOV_CHECK_INFER_H

#include "frontends/fov/Diagnostics.h"
#include "frontends/fov/elaborate/Terms.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace fovea::fov {

/// Finds the extent of every index, the shape and kind of every term, and the
/// sizes that calls bind. It uses one fixed point (GRAMMAR 4 and 5), then
/// checks that all uses agree. Returns true if everything is known and agrees;
/// errors are reported.
bool infer(Elaborated &model, Diagnostics &diagnostics);

/// Returns the shape of a term, if its parts determine it already; part of
/// infer.
std::optional<Shape> shapeOf(const Term &term, Sizes &sizes);

/// Finds extents and shapes; part of infer.
void inferShapes(Elaborated &model, const ModelPart &part = {});

/// Infers the kind of every term and equation; part of infer. With `unknown`,
/// only what does not follow from the kinds of these arrays.
void inferKinds(Elaborated &model, const ModelPart &part = {},
                const llvm::DenseSet<const Array *> *unknown = nullptr);

/// For sizes bound to a nested length W[m]: m.
using Rows = llvm::DenseMap<const Atom *, Term *>;

/// Returns the m of the row that contains an axis whose length is nested in
/// `parent`: ch[m] has W[m] places. Null if all rows are present, or the row is
/// unknown.
Term *rowOf(Elaborated &model, Term &whole, unsigned axis, StringRef parent);

/// Assigns a row to every index over a nested length that has none: the row of
/// what bound the length, or else the only one in scope. ModelPart of infer.
void findRows(Elaborated &model, const Rows &rows);

/// Proves every read in bounds or reports it (GRAMMAR 4). Requires infer.
bool proveBounds(Elaborated &model, Diagnostics &diagnostics,
                 const ModelPart &part = {});

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_CHECK_INFER_H

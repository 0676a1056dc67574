//===- Guards.h - under which conditions a term is evaluated --------------===//

#ifndef FOVEA_FRONTENDS_FOV_CHECK_GUARDS_H
#define FOVEA_FRONTENDS_FOV_CHECK_GUARDS_H

#include "frontends/fov/elaborate/Terms.h"
#include "llvm/ADT/DenseSet.h"

#include <set>

namespace fovea::fov {

/// Visits every term of a model with the conditions around it: those of
/// reductions and branches, and in the equations of a def, conditions that hold
/// at every call. A conjunction counts as its parts, and its left operand is a
/// condition around its right one; so is the negated left operand of an `or`.
class GuardedTerms {
public:
  using Visitor = llvm::function_ref<void(Term *, const Conditions &)>;

  /// Finds what holds wherever the equations of a def are read.
  explicit GuardedTerms(Elaborated &model, const ModelPart &part = {});

  /// Visits a term once for each different set of conditions.
  void visit(Visitor visitor);

private:
  /// Returns whether this is the first visit of a term under these conditions.
  bool isFirst(Term *term, const Conditions &path);
  void walk(Term *term, const Conditions &path, Visitor visitor);
  void walkRoots(Visitor visitor);
  void walkPieces(const Array &array, Visitor visitor);

  Elaborated &model;
  ModelPart part;
  std::map<const Array *, Conditions> found;
  /// Under conditions, and under none, as most are.
  std::set<std::pair<Term *, Conditions>> visited;
  llvm::DenseSet<Term *> visitedAlways;
};

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_CHECK_GUARDS_H

//===- Polyhedra.cpp - whole numbers that satisfy inequalities ------------===//
//
// The questions that MLIR's Presburger library answers. A web page has another
// implementation (frontends/browser/Elimination.cpp).
//
//===----------------------------------------------------------------------===//

#include "dialect/conditions/Inequalities.h"
#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "mlir/Analysis/Presburger/Simplex.h"

#include <limits>

using namespace fovea;
using llvm::DynamicAPInt;
using mlir::presburger::IntegerPolyhedron;
using mlir::presburger::PresburgerSpace;
using mlir::presburger::Simplex;

static IntegerPolyhedron
polyhedronOf(unsigned numVariables,
             const std::vector<std::vector<int64_t>> &rows) {
  IntegerPolyhedron system(PresburgerSpace::getSetSpace(numVariables));
  for (const std::vector<int64_t> &row : rows)
    system.addInequality(row);
  return system;
}

bool Inequalities::isEmpty(const Rows &rows) const {
  return polyhedronOf(numVariables, rows).isIntegerEmpty();
}

std::optional<int64_t> Inequalities::largest(const WholeSum &sum) const {
  llvm::SmallVector<DynamicAPInt> row;
  for (int64_t factor : rowOf(sum))
    row.push_back(DynamicAPInt(factor));
  int64_t most = std::numeric_limits<int64_t>::min();
  bool isBounded = eachCase({}, [&](const Rows &rows, llvm::ArrayRef<int>) {
    Simplex simplex(polyhedronOf(numVariables, rows));
    if (simplex.isEmpty())
      return true;
    auto bound = simplex.computeIntegerBounds(row).second;
    if (!bound.isBounded())
      return bound.isEmpty();
    most = std::max(most, int64_t(*bound));
    return true;
  });
  return isBounded ? std::optional(most) : std::nullopt;
}

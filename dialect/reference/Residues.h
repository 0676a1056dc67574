//===- Residues.h - exact arithmetic with drawn numbers --------*- C++ -*-===//
//
// Numbers modulo the prime 2^61 - 1. Expressions that are equal by the laws of
// arithmetic have one residue, in any order of their sums. Others have the same
// only by chance, at about one in 10^18: Schwartz (1980), Zippel (1979). Other
// functions, such as exp, have drawn values: only their symmetry is known.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_REFERENCE_RESIDUES_H
#define FOVEA_DIALECT_REFERENCE_RESIDUES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace fovea::reference {

/// A residue and the value that it has in f32, which decides branches.
struct Residue {
  uint64_t residue = 0;
  double value = 0;
};

/// The residue of a number of f64, which is exact.
uint64_t residueOf(double value);
/// A residue drawn for a name.
uint64_t drawnResidue(llvm::StringRef name, uint64_t number);

/// The residue of the result of an op called `name`.
uint64_t residueOf(llvm::StringRef name, llvm::ArrayRef<Residue> operands);

} // namespace fovea::reference

#endif // FOVEA_DIALECT_REFERENCE_RESIDUES_H

//===- Agreement.h - processes that go on together, or end ----------------===//
//
// Where one process may fail and the others wait for it, all of them first
// agree: whether all may go on, what all end with, and who says why.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_MACHINES_AGREEMENT_H
#define FOVEA_DRIVER_MACHINES_AGREEMENT_H

#include "runtime/train/Team.h"

#include <map>

namespace fovea::cli {

/// The team of this process: that of one, where nothing has started several.
runtime::Team &team();
void setTeam(runtime::Team &team);

/// Called by all, with the exit code of each. Gives what all end with: 0 where
/// all may go on, the code that all have, or that of the machine, as they
/// should do the same. The first rank that fails says why; no other does.
int agree(int code);

/// Compares what has to be the same in all processes, by what it is called.
/// All get the same sentence: the first thing of the first rank that has
/// another value than rank 0; empty: none.
std::string findOdd(const std::map<std::string, std::string> &own);

/// The sentence, of the texts of each rank. What is long or a hash is no text
/// for a reader.
std::string oddOf(const std::vector<std::map<std::string, std::string>> &texts,
                  const runtime::Team &team);

/// Gives to all what stands in the standard input of rank 0.
void shareStandardInput(runtime::Team &team);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_MACHINES_AGREEMENT_H

//===- Agreement.h - processes that go on together, or end ----------------===//
//
// Wherever one process may fail while others wait for it, all agree first:
// whether they may continue, with which code they end, and which of them
// reports it.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_MACHINES_AGREEMENT_H
#define FOVEA_APP_MACHINES_AGREEMENT_H

#include "runtime/Status.h"
#include "runtime/train/Team.h"

#include <map>

namespace fovea::cli {

/// Returns the team of this process: a team of one, unless MPI started several.
runtime::Team &team();
void setTeam(runtime::Team &team);

/// A collective call with each process's exit code. Returns 0 if all may
/// continue, the code that all share, or an environment failure if they differ.
/// The first failing rank reports the error, alone.
int agree(int code);

/// Compares named values that must be the same in all processes. All get the
/// same sentence about the first value of the first rank that differs from rank
/// 0; empty: none differs.
std::string findOdd(const std::map<std::string, std::string> &own);

/// Makes the sentence from the texts of each rank. Omits long texts and hashes,
/// which tell a reader nothing.
std::string oddOf(const std::vector<std::map<std::string, std::string>> &texts,
                  const runtime::Team &team);

/// Broadcasts the standard input of rank 0. All ranks call it; each returns
/// whether it has the whole input.
runtime::Status shareStandardInput(runtime::Team &team);

} // namespace fovea::cli

#endif // FOVEA_APP_MACHINES_AGREEMENT_H

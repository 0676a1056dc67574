//===- Proof.h - compile --prove -------------------------------*- C++ -*-===//

#ifndef FOVEA_APP_MODEL_PROOF_H
#define FOVEA_APP_MODEL_PROOF_H

#include "app/open/Session.h"
#include "compiler/proof/Prover.h"

namespace fovea::cli {

/// The prover of the phases of a model, which outlives it; null without
/// `--prove`.
std::unique_ptr<proof::Prover> proverOf(const Arguments &arguments,
                                        const Model &model);

/// Proves the schedules of what has been compiled, and prints what is proved.
/// Returns false where a phase gives something else (diagnosed). Does nothing
/// without a prover.
bool finishProof(Session &session, proof::Prover *prover, mlir::ModuleOp module,
                 mlir::ModuleOp schedules);

} // namespace fovea::cli

#endif // FOVEA_APP_MODEL_PROOF_H

//===- Licences.h - of the software inside of a program -------------------===//

#ifndef FOVEA_RUNTIME_MODEL_LICENCES_H
#define FOVEA_RUNTIME_MODEL_LICENCES_H

namespace fovea::runtime {

/// Prints the licence of Fovea, and those of the libraries whose code a program
/// contains.
void printLicences();

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_LICENCES_H

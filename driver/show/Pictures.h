//===- Pictures.h - arrays of examples as panels and files ----------------===//

#ifndef FOVEA_DRIVER_SHOW_PICTURES_H
#define FOVEA_DRIVER_SHOW_PICTURES_H

#include "pictures/Page.h"
#include "runtime/data/Batch.h"
#include "llvm/ADT/StringRef.h"

namespace fovea::cli {

/// Whether a file of this name is drawn: .html, .svg or .png.
bool isPicture(llvm::StringRef path);

/// Axis `number` of `axes` with its extent; labels that are not as many say
/// nothing of it.
pictures::Axis fittedAxis(const std::vector<pictures::Axis> &axes,
                          size_t number, int64_t size);

/// Adds an array to a page: one axis or none as bars, two as a matrix, more as
/// a matrix of the last two for each place of those before. `axes` have the
/// names and labels of its axes. Arrays of one
/// name have one scale.
void addPanels(pictures::Page &page, const std::string &title,
               const std::string &name, const runtime::DataValues &array,
               const std::vector<pictures::Axis> &axes);

/// Draws a page into a file by the ending of its name. Returns an exit code; an
/// error has been printed. More than `mostBytes` (0: of
/// any size) are written only where somebody at a terminal says so.
int writePicture(const std::string &path, const pictures::Page &page,
                 int64_t mostBytes = 0);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_SHOW_PICTURES_H

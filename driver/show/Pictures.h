//===- Pictures.h - pages of pictures as files ----------------------------===//

#ifndef FOVEA_DRIVER_SHOW_PICTURES_H
#define FOVEA_DRIVER_SHOW_PICTURES_H

#include "pictures/Page.h"
#include "runtime/data/Batch.h"
#include "llvm/ADT/StringRef.h"

namespace fovea::cli {

/// Whether a file of this name is drawn: .html, .svg or .png.
bool isPicture(llvm::StringRef path);

/// Draws a page into a file by the ending of its name. Returns an exit code; an
/// error has been printed. More than `mostBytes` (0: of
/// any size) are written only where somebody at a terminal says so.
int writePicture(const std::string &path, const pictures::Page &page,
                 int64_t mostBytes = 0);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_SHOW_PICTURES_H

//===- Pictures.h - pages of pictures as files ----------------------------===//

#ifndef FOVEA_APP_SHOW_PICTURES_H
#define FOVEA_APP_SHOW_PICTURES_H

#include "app/Arguments.h"
#include "pictures/Page.h"
#include "runtime/data/Batch.h"
#include "llvm/ADT/StringRef.h"

namespace fovea::cli {

/// Returns whether a file with this extension is drawn: .html, .svg, .png or
/// .pdf.
bool isPicture(llvm::StringRef path);

/// Sets the title, the width and the font of a page. The title `none` also
/// removes those of its panels.
void setLook(pictures::Page &page, const PictureLook &look,
             const std::string &title);

/// Draws a page into a file, in the format of its extension. Returns an exit
/// code; errors have been printed. A picture of more than `mostBytes` (0: no
/// limit) is written only if the user at a terminal agrees.
int writePicture(const std::string &path, const pictures::Page &page,
                 int64_t mostBytes = 0);

} // namespace fovea::cli

#endif // FOVEA_APP_SHOW_PICTURES_H

//===- Renderer.h - an SVG as PNG or PDF ----------------------------------===//
//
// Drawing a PNG or PDF needs librsvg and some thirty libraries that it loads.
// They are linked by a plug-in, `libfovea_pictures.so`, which is opened for
// such a file alone: other commands start without them.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PICTURES_RENDERER_H
#define FOVEA_PICTURES_RENDERER_H

#include <string>

namespace fovea::pictures {

enum class Format { png, pdf };

} // namespace fovea::pictures

/// Sets `file` to the bytes of a file that shows `svg`; otherwise returns false
/// and sets `problem`. The only function of the plug-in.
extern "C" __attribute__((visibility("default"))) bool
fovea_render(const std::string &svg, fovea::pictures::Format format,
             std::string &file, std::string &problem);

#endif // FOVEA_PICTURES_RENDERER_H

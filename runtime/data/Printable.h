//===- Printable.h - text that a terminal only shows ----------*- C++ -*-===//

#ifndef FOVEA_RUNTIME_DATA_PRINTABLE_H
#define FOVEA_RUNTIME_DATA_PRINTABLE_H

#include <string>
#include <string_view>

namespace fovea::runtime {

/// Replaces terminal control characters, and bytes that are not UTF-8, with
/// their codes: `<1B>`, `<U+009B>`. Errors quote files, whose authors are
/// unknown.
std::string printable(std::string_view text);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_PRINTABLE_H

//===- Answers.h - a model that a page in a browser asks ------*- C++ -*-===//
//
// What the script of a page calls. Texts are UTF-8 with a zero at the end;
// answers are JSON, and stay until the next call. A mistake is an answer with
// `error` alone. Where there is no memory the module ends (`proc_exit` 3), and
// nothing of it may be called again.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_WEB_ANSWERS_H
#define FOVEA_RUNTIME_WEB_ANSWERS_H

#include "runtime/model/Image.h"

extern "C" {

/// Takes the model, once: `model`, `compiler`, `inputs` and `outputs` by name,
/// `beam`, and the equations that are drawn, `shows`. `files` has the inputs
/// that are files: `kind`, `picture` with `rows` and `columns` (null: any), or
/// `sound` with its `rate`. The compiler defines `fovea_page_open` of no
/// argument, which calls this.
const char *fovea_web_open(const FoveaImage *image);

/// Where the page writes a question of so many bytes, with the zero.
char *fovea_web_room(int32_t bytes);

/// Where the page writes the content of the file of input number `input`, whose
/// name is in the line; it stays until the next one. Null: the input is text.
char *fovea_web_file(int32_t input, int32_t bytes);

/// Answers the question in that room, `line` (columns with tabs between them),
/// `nbest` and `beam`: `hypotheses`, best first, each with `text`, `logp`,
/// `score`, and `pictures`: `name`, `drawing` (HTML with SVG) and the same as
/// `tables`, each with `title`, `rows`, `columns` and `values`.
const char *fovea_web_answer(void);

} // extern "C"

#endif // FOVEA_RUNTIME_WEB_ANSWERS_H

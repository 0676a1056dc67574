//===- Renderer.cpp - an SVG as PNG or PDF --------------------------------===//
//
// librsvg draws what Page.cpp wrote, text of any script included.
//
//===----------------------------------------------------------------------===//

#include "pictures/Renderer.h"

#include <algorithm>
#include <cairo-pdf.h>
#include <fmt/format.h>
#include <librsvg/rsvg.h>

using namespace fovea::pictures;

/// Twice the pixels of CSS: sharp in print and on dense screens.
static constexpr double density = 2;
/// What cairo takes.
static constexpr double mostPixels = 32767;

static cairo_status_t append(void *to, const unsigned char *data,
                             unsigned size) {
  static_cast<std::string *>(to)->append(reinterpret_cast<const char *>(data),
                                         size);
  return CAIRO_STATUS_SUCCESS;
}

/// Draws `handle` and appends the file to `png`.
static cairo_status_t paint(RsvgHandle *handle, double width, double height,
                            std::string &png) {
  cairo_surface_t *surface = cairo_image_surface_create(
      CAIRO_FORMAT_RGB24, static_cast<int>(width), static_cast<int>(height));
  cairo_t *cairo = cairo_create(surface);
  RsvgRectangle place{0, 0, width, height};
  rsvg_handle_render_document(handle, cairo, &place, nullptr);
  cairo_status_t status = cairo_status(cairo);
  cairo_destroy(cairo);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_write_to_png_stream(surface, append, &png);
  cairo_surface_destroy(surface);
  return status;
}

/// Draws `handle`, of a size in pixels of CSS, and appends the file to `pdf`.
static cairo_status_t print(RsvgHandle *handle, double width, double height,
                            std::string &pdf) {
  // A pixel of CSS is 3/4 of a point.
  RsvgRectangle place{0, 0, width * 0.75, height * 0.75};
  cairo_surface_t *surface = cairo_pdf_surface_create_for_stream(
      append, &pdf, place.width, place.height);
  // The same picture is the same file on any day.
  cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE,
                                 "2000-01-01T00:00:00Z");
  cairo_t *cairo = cairo_create(surface);
  rsvg_handle_render_document(handle, cairo, &place, nullptr);
  cairo_status_t status = cairo_status(cairo);
  cairo_destroy(cairo);
  cairo_surface_finish(surface);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_status(surface);
  cairo_surface_destroy(surface);
  return status;
}

bool fovea_render(const std::string &svg, Format format, std::string &file,
                  std::string &problem) {
  GError *error = nullptr;
  RsvgHandle *handle = rsvg_handle_new_from_data(
      reinterpret_cast<const guint8 *>(svg.data()), svg.size(), &error);
  if (!handle) {
    problem =
        fmt::format("the picture is too large for a {} ({}); help: draw "
                    "fewer examples, or write HTML",
                    format == Format::png ? "PNG" : "PDF", error->message);
    g_error_free(error);
    return false;
  }
  rsvg_handle_set_dpi(handle, 96); // as in CSS
  double width = 0, height = 0;
  rsvg_handle_get_intrinsic_size_in_pixels(handle, &width, &height);
  file.clear();
  cairo_status_t status = CAIRO_STATUS_SUCCESS;
  if (format == Format::pdf)
    status = print(handle, width, height, file);
  else if (density * std::max(width, height) <= mostPixels)
    status = paint(handle, density * width, density * height, file);
  else
    problem = fmt::format(
        "a PNG has at most {:.0f} pixels in each direction, but this picture "
        "has {:.0f} by {:.0f}; help: draw fewer examples, or write HTML",
        mostPixels, density * width, density * height);
  g_object_unref(handle);
  if (status != CAIRO_STATUS_SUCCESS)
    problem = cairo_status_to_string(status);
  return problem.empty();
}

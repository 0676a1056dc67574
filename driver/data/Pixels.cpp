//===- Pixels.cpp - pictures from PNG and JPEG ----------------------------===//
//
// Uses libpng and libjpeg. Their warnings about damaged or truncated files are
// errors here: half a picture is not an example.
//
//===----------------------------------------------------------------------===//

#include "driver/data/Pixels.h"

#include <csetjmp>
#include <cstdio>
#include <fmt/format.h>
#include <string_view>

#include <jpeglib.h>
#include <png.h>

using namespace fovea::cli;
using fovea::runtime::Status;

/// No picture for a model has more pixels.
static constexpr int64_t mostPixels = int64_t(1) << 28;

static Status explain(const std::string &path, const std::string &why) {
  return Status::error(
      fmt::format("cannot read the picture '{}': {}", path, why));
}

/// `most` pixels are more than the bytes of the file can hold.
static Status checkSize(const std::string &path, int64_t rows, int64_t columns,
                        double most, const TakeSize &take) {
  if (rows < 1 || columns < 1 || rows > mostPixels / columns)
    return explain(path,
                   fmt::format("it has {} rows of {} pixels", rows, columns));
  if (double(rows) * double(columns) > most)
    return explain(
        path,
        fmt::format(
            "it claims {} rows of {} pixels, more than its bytes can hold",
            rows, columns));
  return take(rows, columns);
}

//===----------------------------------------------------------------------===//
// PNG
//===----------------------------------------------------------------------===//

namespace {
/// Frees libpng's data.
struct Png : png_image {
  Png() : png_image() { version = PNG_IMAGE_VERSION; }
  ~Png() { png_image_free(this); }
};
} // namespace

static Status readPng(const std::string &bytes, const std::string &path,
                      const TakeSize &take, Picture &picture) {
  Png png;
  auto fail = [&] { return explain(path, png.message); };
  if (!png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()))
    return fail();
  picture.rows = png.height;
  picture.columns = png.width;
  // Deflate expands by a factor of at most 1032; a pixel has at least one bit.
  double most = double(bytes.size()) * 1032 * 8;
  if (Status status =
          checkSize(path, picture.rows, picture.columns, most, take);
      status.failed())
    return status;
  png.format = PNG_FORMAT_RGBA;
  picture.channels = 4;
  picture.bytes.resize(PNG_IMAGE_SIZE(png));
  if (!png_image_finish_read(&png, nullptr, picture.bytes.data(), 0, nullptr))
    return fail();
  return Status::success();
}

//===----------------------------------------------------------------------===//
// JPEG
//===----------------------------------------------------------------------===//

namespace {
/// libjpeg reports fatal errors with longjmp.
struct JpegErrors {
  jpeg_error_mgr manager;
  std::jmp_buf back;
  char text[JMSG_LENGTH_MAX];
};

/// The state of a picture during decoding. No object with a destructor is
/// created between setjmp and longjmp.
struct Jpeg {
  jpeg_decompress_struct info = {};
  JpegErrors errors = {};

  explicit Jpeg(const std::string &bytes);
  ~Jpeg() { jpeg_destroy_decompress(&info); }
  bool readHeader();
  bool readRows(uint8_t *target);

private:
  const std::string &bytes;
};
} // namespace

static void jumpBack(j_common_ptr info) {
  auto *errors = reinterpret_cast<JpegErrors *>(info->err);
  info->err->format_message(info, errors->text);
  std::longjmp(errors->back, 1);
}

Jpeg::Jpeg(const std::string &bytes) : bytes(bytes) {
  info.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = jumpBack;
  errors.manager.output_message = [](j_common_ptr) {};
  // A warning means that the file is damaged.
  errors.manager.emit_message = [](j_common_ptr info, int level) {
    if (level < 0)
      jumpBack(info);
  };
}

bool Jpeg::readHeader() {
  if (setjmp(errors.back) != 0)
    return false;
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char *>(bytes.data()),
               bytes.size());
  jpeg_read_header(&info, TRUE);
  return true;
}

bool Jpeg::readRows(uint8_t *target) {
  if (setjmp(errors.back) != 0)
    return false;
  info.out_color_space =
      info.jpeg_color_space == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
  // One result on every machine.
  info.dct_method = JDCT_ISLOW;
  jpeg_start_decompress(&info);
  size_t width = size_t(info.output_width) * info.output_components;
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = target + info.output_scanline * width;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  return true;
}

static Status readJpeg(const std::string &bytes, const std::string &path,
                       const TakeSize &take, Picture &picture) {
  Jpeg jpeg(bytes);
  if (!jpeg.readHeader())
    return explain(path, jpeg.errors.text);
  picture.rows = jpeg.info.image_height;
  picture.columns = jpeg.info.image_width;
  // A block of 8 by 8 pixels has at least a bit.
  double most = double(bytes.size()) * 8 * 64;
  if (Status status =
          checkSize(path, picture.rows, picture.columns, most, take);
      status.failed())
    return status;
  picture.channels = jpeg.info.jpeg_color_space == JCS_GRAYSCALE ? 1 : 3;
  picture.bytes.resize(picture.rows * picture.columns * picture.channels);
  if (!jpeg.readRows(picture.bytes.data()))
    return explain(path, jpeg.errors.text);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

/// Converts a pixel's red, green, blue and opacity to other channels.
static void putPixel(const uint8_t (&from)[4], int64_t channels, uint8_t *to) {
  uint8_t color[3];
  for (int i = 0; i < 3; ++i)
    color[i] = channels == 4
                   ? from[i]
                   : (from[i] * from[3] + 255 * (255 - from[3]) + 127) / 255;
  if (channels == 1) {
    // ITU-R BT.601, rounded.
    to[0] = (299 * color[0] + 587 * color[1] + 114 * color[2] + 500) / 1000;
    return;
  }
  for (int i = 0; i < 3; ++i)
    to[i] = color[i];
  if (channels == 4)
    to[3] = from[3];
}

static void convert(Picture &picture, int64_t channels) {
  if (picture.channels == channels)
    return;
  std::vector<uint8_t> result(picture.rows * picture.columns * channels);
  const uint8_t *from = picture.bytes.data();
  for (uint8_t *to = result.data(); to < result.data() + result.size();
       to += channels, from += picture.channels) {
    bool isGrey = picture.channels == 1;
    uint8_t pixel[4] = {from[0], from[isGrey ? 0 : 1], from[isGrey ? 0 : 2],
                        picture.channels == 4 ? from[3] : uint8_t(255)};
    putPixel(pixel, channels, to);
  }
  picture.bytes = std::move(result);
  picture.channels = channels;
}

Status fovea::cli::readPicture(const std::string &bytes,
                               const std::string &path, int64_t channels,
                               const TakeSize &take, Picture &picture) {
  std::string_view begin = bytes;
  bool isPng = begin.starts_with("\x89PNG"),
       isJpeg = begin.starts_with("\xff\xd8");
  if (!isPng && !isJpeg)
    return explain(path, "neither PNG nor JPEG");
  Status status = isPng ? readPng(bytes, path, take, picture)
                        : readJpeg(bytes, path, take, picture);
  if (status.succeeded())
    convert(picture, channels);
  return status;
}

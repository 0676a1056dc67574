//===- Pixels.cpp - pictures from PNG and JPEG ----------------------------===//
//
// Uses libpng and libjpeg. Their warnings about damaged or truncated files are
// errors here: half a picture is not an example.
//
//===----------------------------------------------------------------------===//

#include "app/data/Pixels.h"

#include <csetjmp>
#include <cstdio>
#include <string_view>

#include <jpeglib.h>
#include <png.h>

using namespace fovea::cli;
using fovea::runtime::Picture;
using fovea::runtime::Status;
using fovea::runtime::TakeSize;
using fovea::runtime::unreadablePicture;

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
  auto fail = [&] { return unreadablePicture(path, png.message); };
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
    return unreadablePicture(path, jpeg.errors.text);
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
    return unreadablePicture(path, jpeg.errors.text);
  return Status::success();
}

Status fovea::cli::readPicture(const std::string &bytes,
                               const std::string &path, int64_t channels,
                               const TakeSize &take, Picture &picture) {
  std::string_view begin = bytes;
  bool isPng = begin.starts_with("\x89PNG"),
       isJpeg = begin.starts_with("\xff\xd8");
  if (!isPng && !isJpeg)
    return unreadablePicture(path, "neither PNG nor JPEG");
  Status status = isPng ? readPng(bytes, path, take, picture)
                        : readJpeg(bytes, path, take, picture);
  if (status.succeeded())
    picture.convertTo(channels);
  return status;
}

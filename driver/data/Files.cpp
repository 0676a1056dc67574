//===- Files.cpp - whole files, read and written --------------------------===//

#include "driver/data/Files.h"
#include "driver/Arguments.h"
#include "frontends/fov/syntax/SourceFile.h"
#include "runtime/data/OpenFile.h"
#include "llvm/Support/FileSystem.h"

using namespace fovea;
using namespace fovea::cli;
using namespace llvm;

std::optional<std::string> fovea::cli::readInput(const std::string &path) {
  std::string why;
  std::optional<std::string> text = readSource(path, why);
  if (!text)
    errs() << "error: cannot read '" << path << "': " << why << '\n';
  return text;
}

static std::error_code writeTo(int file, StringRef text) {
  raw_fd_ostream stream(file, /*shouldClose=*/false);
  stream << text;
  stream.flush();
  std::error_code failure = stream.error();
  stream.clear_error();
  return failure;
}

/// Writes beside the place and renames.
static Error replaceFile(StringRef path, StringRef text) {
  Expected<sys::fs::TempFile> file =
      sys::fs::TempFile::create(path + ".%%%%%%.part");
  if (!file)
    return file.takeError();
  if (std::error_code failure = writeTo(file->FD, text)) {
    consumeError(file->discard());
    return errorCodeToError(failure);
  }
  return file->keep(path);
}

/// Writes into what is no file: a device, a pipe.
static Error writeInto(const std::string &path, StringRef text) {
  std::string why;
  int file = runtime::openToWriteInto(path, why);
  if (file < 0)
    return createStringError(why);
  std::error_code failure = writeTo(file, text);
  sys::fs::file_t handle = sys::fs::convertFDToNativeFile(file);
  if (std::error_code other = sys::fs::closeFile(handle); !failure)
    failure = other;
  return failure ? errorCodeToError(failure) : Error::success();
}

static Error write(const std::string &path, StringRef text) {
  sys::fs::file_status status;
  if (sys::fs::status(path, status))
    return replaceFile(path, text);
  if (!sys::fs::is_regular_file(status))
    return writeInto(path, text);
  SmallString<128> real;
  if (std::error_code failure = sys::fs::real_path(path, real))
    return errorCodeToError(failure);
  if (Error error = replaceFile(real, text))
    return error;
  return errorCodeToError(sys::fs::setPermissions(real, status.permissions()));
}

int fovea::cli::writeText(const std::string &path, StringRef text) {
  if (path.empty() || path == "-") {
    outs() << text;
    return done;
  }
  Error error = write(path, text);
  if (!error)
    return done;
  errs() << "error: cannot write '" << path
         << "': " << toString(std::move(error)) << '\n';
  return badMachine;
}

int fovea::cli::writeTensors(const std::string &path,
                             const runtime::TensorFile &file) {
  runtime::Status status = runtime::writeSafeTensors(path, file);
  if (status.succeeded())
    return done;
  errs() << "error: " << status.text() << '\n';
  return badMachine;
}

//===- Files.cpp - whole files, read and written --------------------------===//

#include "app/data/Files.h"
#include "app/Arguments.h"
#include "app/open/Errors.h"
#include "frontends/fov/syntax/SourceFile.h"
#include "runtime/data/OpenFile.h"
#include "runtime/data/ReplaceFile.h"
#include "llvm/Support/FileSystem.h"

using namespace fovea;
using namespace fovea::cli;
using namespace llvm;

std::optional<std::string> fovea::cli::readInput(const std::string &path) {
  std::string why;
  std::optional<std::string> text = readSource(path, why);
  if (!text)
    beginError() << "cannot read '" << path << "': " << why << '\n';
  return text;
}

static Error replaceFile(const std::string &path, StringRef text) {
  runtime::ReplaceFile file;
  return file.open(path) && file.write(text) && file.finish()
             ? Error::success()
             : errorCodeToError(errnoAsErrorCode());
}

/// Writes into a device or a pipe.
static Error writeInto(const std::string &path, StringRef text) {
  std::string why;
  int file = runtime::openToWriteInto(path, why);
  if (file < 0)
    return createStringError(why);
  raw_fd_ostream stream(file, /*shouldClose=*/false);
  stream << text;
  stream.flush();
  std::error_code failure = stream.error();
  stream.clear_error();
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
  return replaceFile(real.str().str(), text);
}

int fovea::cli::writeText(const std::string &path, StringRef text) {
  if (path.empty() || path == "-") {
    outs() << text;
    return done;
  }
  Error error = write(path, text);
  if (!error)
    return done;
  beginError() << "cannot write '" << path
               << "': " << toString(std::move(error)) << '\n';
  return badMachine;
}

int fovea::cli::writeTensors(const std::string &path,
                             const runtime::TensorFile &file) {
  runtime::Status status = runtime::writeSafeTensors(path, file);
  if (status.succeeded())
    return done;
  beginError() << status.text() << '\n';
  return badMachine;
}

//===- NewFolder.cpp - a folder that appears when it is whole -------------===//

#include "tools/fovea/NewFolder.h"
#include "runtime/data/OpenFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace fovea::cli;
using fovea::runtime::Status;

static Status failure(const char *what, const std::string &path,
                      const std::string &why) {
  return Status::machine(fmt::format("cannot {} '{}': {}", what, path, why));
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

Status NewFile::open() {
  std::error_code error = llvm::sys::fs::remove(path);
  if (!error)
    stream.emplace(path, error);
  return error ? failure("write", path, error.message()) : Status::success();
}

Status NewFile::close() {
  stream->flush();
  std::error_code error = stream->error();
  stream->clear_error();
  stream.reset();
  return error ? failure("write", path, error.message()) : Status::success();
}

Status NewFile::read(std::unique_ptr<llvm::MemoryBuffer> &text) const {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return failure("read", path, file.getError().message());
  text = std::move(*file);
  return Status::success();
}

Status NewFile::sync() const {
  std::string why;
  int file = runtime::openToRead(path, why);
  if (file < 0)
    return failure("read", path, why);
  bool isSynced = runtime::throughSignals([&] { return fsync(file); }) == 0;
  why = std::strerror(errno);
  ::close(file);
  return isSynced ? Status::success() : failure("write", path, why);
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

NewFolder::~NewFolder() {
  std::error_code ignored;
  if (!part.empty())
    std::filesystem::remove_all(part, ignored);
}

Status NewFolder::open(const std::string &given) {
  path = llvm::StringRef(given).rtrim('/').str();
  std::error_code error;
  bool isThere = std::filesystem::exists(path, error);
  if (isThere && !(std::filesystem::is_directory(path, error) &&
                   std::filesystem::is_empty(path, error)))
    return Status::error(
        fmt::format("'{}' already exists and is not an empty folder; help: "
                    "choose another name",
                    path));
  llvm::StringRef parent = llvm::sys::path::parent_path(path);
  if (!parent.empty())
    std::filesystem::create_directories(parent.str(), error);
  std::string made = path + ".part.XXXXXX";
  if (!error && !mkdtemp(made.data()))
    error.assign(errno, std::generic_category());
  if (error)
    return failure("make the folder", path, error.message());
  part = made;
  return Status::success();
}

Status NewFolder::add(const std::string &name, NewFile *&file) {
  std::string whole = part + "/" + name;
  if (std::error_code error = llvm::sys::fs::create_directories(
          llvm::sys::path::parent_path(whole)))
    return failure("create", whole, error.message());
  files.push_back(std::make_unique<NewFile>(whole));
  file = files.back().get();
  return file->open();
}

Status NewFolder::finish() {
  for (const std::unique_ptr<NewFile> &file : files)
    if (Status status = file->sync(); status.failed())
      return status;
  // Only its owner could read the folder before.
  mode_t mask = umask(0);
  umask(mask);
  if (chmod(part.c_str(), 0777 & ~mask) != 0 ||
      std::rename(part.c_str(), path.c_str()) != 0)
    return failure("make the folder", path, std::strerror(errno));
  part.clear();
  return Status::success();
}

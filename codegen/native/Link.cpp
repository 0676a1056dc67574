//===- Link.cpp - objects become libraries and programs -------------------===//
//
// Writes the objects to a temporary folder and runs the driver there.
//
//===----------------------------------------------------------------------===//

#include "codegen/native/Link.h"
#include "codegen/native/SealProgram.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/Binary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <fcntl.h>

using namespace fovea::codegen;

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static std::string joined(llvm::StringRef folder, const llvm::Twine &name) {
  llvm::SmallString<128> file(folder);
  path::append(file, name);
  return file.str().str();
}

/// The driver and the flags that select its linker, and the machine where
/// `triple` names another than this one.
static llvm::Expected<std::vector<std::string>>
findDriver(const std::string &triple) {
  // Beside the LLVM that this compiler was built with, or on PATH.
  auto clang = llvm::sys::findProgramByName("clang", {FOVEA_LLVM_TOOLS});
  if (!clang)
    clang = llvm::sys::findProgramByName("clang");
  if (clang) {
    std::vector<std::string> driver = {*clang, "-fuse-ld=lld"};
    if (!triple.empty())
      driver.push_back("--target=" + triple);
    // Debian's folders have a name that clang would rather not see.
    if (llvm::Triple(triple).isWasm())
      driver.push_back("-Wno-deprecated");
    return driver;
  }
  if (!triple.empty())
    return llvm::createStringError("linking for '" + triple +
                                   "' needs 'clang' with 'lld', which is not "
                                   "installed");
  if (auto cc = llvm::sys::findProgramByName("cc"))
    return std::vector<std::string>{*cc};
  return llvm::createStringError(
      "linking needs 'clang' with 'lld', or 'cc'; neither is installed");
}

llvm::Expected<std::string>
fovea::codegen::findLinker(const std::string &triple) {
  auto driver = findDriver(triple);
  if (!driver)
    return driver.takeError();
  return driver->front();
}

/// Returns whether a file of so many bytes fits beside `path`. A linker out of
/// space crashes, because it writes through a mapping.
static std::error_code checkSpace(llvm::StringRef path, uint64_t bytes) {
  int descriptor;
  llvm::SmallString<128> name;
  if (std::error_code error =
          fs::createUniqueFile(path + "-%%%%%%%%", descriptor, name))
    return error;
  int error = posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  llvm::sys::Process::SafelyCloseFileDescriptor(descriptor);
  (void)fs::remove(name);
  return std::error_code(error, std::generic_category());
}

/// The part of a linker's output that a user can act on: its errors.
static std::string errorsIn(llvm::StringRef log) {
  llvm::SmallVector<llvm::StringRef> lines, errors;
  log.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines)
    if (line.contains("error: ") && !line.contains("linker command failed") &&
        errors.size() < 5)
      errors.push_back(line.trim());
  if (errors.empty() && !lines.empty())
    errors.push_back(lines.front().trim());
  return llvm::join(errors, "\n");
}

static llvm::Error run(llvm::ArrayRef<std::string> command,
                       const std::string &log) {
  std::vector<llvm::StringRef> arguments(command.begin(), command.end());
  std::optional<llvm::StringRef> redirects[] = {"", log, log};
  std::string message;
  int status = llvm::sys::ExecuteAndWait(command.front(), arguments,
                                         /*Env=*/std::nullopt, redirects,
                                         /*SecondsToWait=*/0, /*MemoryLimit=*/0,
                                         &message);
  if (status == 0)
    return llvm::Error::success();
  if (auto said = llvm::MemoryBuffer::getFile(log))
    message += errorsIn((*said)->getBuffer());
  return llvm::createStringError("cannot link: " + message);
}

llvm::Error fovea::codegen::writeFile(const std::string &path,
                                      llvm::StringRef text) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (!error) {
    stream << text;
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  if (!error)
    return llvm::Error::success();
  return llvm::createStringError("cannot write '" + path +
                                 "': " + error.message());
}

/// Makes hidden names local: they were visible while the object was built.
static llvm::Error localise(llvm::StringRef path) {
  auto read = llvm::object::createBinary(path);
  if (!read)
    return read.takeError();
  llvm::objcopy::ConfigManager config;
  config.ELF.LocalizeHidden = true;
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::Error failure = llvm::objcopy::executeObjcopyOnBinary(
          config, *read->getBinary(), stream))
    return failure;
  return writeFile(path.str(), text);
}

llvm::Expected<std::string> fovea::codegen::outputFile(llvm::StringRef output) {
  auto failed = [&](const std::string &why) {
    return llvm::createStringError("cannot write '" + output + "': " + why);
  };
  llvm::SmallString<128> target(output), real;
  if (std::error_code error = fs::make_absolute(target))
    return failed(error.message());
  fs::file_status status;
  if (!fs::status(target, status)) {
    if (!fs::is_regular_file(status))
      return failed("it is not a regular file");
    if (std::error_code error = fs::real_path(target, real))
      return failed(error.message());
    return real.str().str();
  }
  std::error_code error = fs::status(path::parent_path(target), status);
  if (!error && !fs::is_directory(status))
    error = std::make_error_code(std::errc::not_a_directory);
  if (error)
    return failed(error.message());
  return target.str().str();
}

llvm::Expected<std::string>
fovea::codegen::outputFolder(llvm::StringRef output) {
  llvm::SmallString<128> target(output);
  std::error_code error = fs::make_absolute(target);
  fs::file_status status;
  if (!error && !fs::status(target, status) && !fs::is_directory(status))
    error = std::make_error_code(std::errc::not_a_directory);
  if (error)
    return llvm::createStringError("cannot write '" + output +
                                   "': " + error.message());
  return target.str().str();
}

/// Adds the integrity check to a program.
static llvm::Error seal(llvm::StringRef path) {
  auto read = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false,
                                          /*IsVolatile=*/true);
  if (!read)
    return llvm::createStringError("cannot read '" + path +
                                   "': " + read.getError().message());
  std::string file = (*read)->getBuffer().str();
  sealProgram(file);
  return writeFile(path.str(), file);
}

enum class Output { Object, Library, Program, Module };

static llvm::Error link(llvm::ArrayRef<llvm::MemoryBufferRef> objects,
                        llvm::StringRef output,
                        const fovea::codegen::LinkOptions &options,
                        llvm::ArrayRef<std::string> flags, Output kind) {
  bool isObject = kind == Output::Object;
  auto command = findDriver(options.triple);
  if (!command)
    return command.takeError();
  llvm::SmallString<128> folder;
  if (std::error_code error = fs::createUniqueDirectory("fovea-link", folder))
    return llvm::createStringError("cannot create a temporary folder: " +
                                   error.message());
  llvm::scope_exit remove([&] { fs::remove_directories(folder); });

  command->insert(command->end(), flags.begin(), flags.end());
  if (!isObject)
    command->push_back("-Wl,--gc-sections");
  // The tables of functions cannot be overwritten once the program runs.
  if (kind == Output::Program || kind == Output::Library)
    command->push_back("-Wl,-z,relro,-z,now");
  // Debian's startup code returns as calls expect, but has no note of it.
  llvm::Triple machine(options.triple.empty()
                           ? llvm::sys::getDefaultTargetTriple()
                           : options.triple);
  if (kind != Output::Object && machine.isX86())
    command->push_back("-Wl,-z,shstk");
  if (kind == Output::Module) {
    for (const std::string &name : options.exports)
      command->push_back("-Wl,--export=" + name);
  } else if (!isObject && !options.exports.empty()) {
    std::string script = "{ global:";
    for (const std::string &name : options.exports)
      script += " " + name + ";";
    std::string path = joined(folder, "exports");
    if (llvm::Error failure = writeFile(path, script + " local: *; };\n"))
      return failure;
    command->push_back("-Wl,--version-script=" + path);
  }
  // Startup code comes first, weights come last (Seal.cpp).
  if (kind == Output::Program && llvm::is_contained(*command, "-fuse-ld=lld")) {
    std::string path = joined(folder, "order");
    if (llvm::Error failure = writeFile(path, "fovea_check_size\n"))
      return failure;
    command->insert(command->end(), {"-Wl,--symbol-ordering-file=" + path,
                                     "-Wl,-z,lrodata-after-bss"});
  }
  // An absolute name is never mistaken for a flag. The driver removes its
  // output on failure, so it writes to a temporary name.
  llvm::Expected<std::string> target = outputFile(output);
  if (!target)
    return target.takeError();
  llvm::SmallString<128> beside;
  if (std::error_code error =
          fs::getPotentiallyUniqueFileName(*target + "-%%%%%%%%", beside))
    return llvm::createStringError("cannot find '" + output +
                                   "': " + error.message());
  llvm::scope_exit removeBeside([&] { (void)fs::remove(beside); });
  command->insert(command->end(), {"-o", beside.str().str()});
  uint64_t bytes = 0; // at most, of what is linked
  for (size_t i = 0; i < objects.size(); ++i) {
    bytes += objects[i].getBufferSize();
    std::string name = joined(folder, std::to_string(i) + ".o");
    if (llvm::Error failure = writeFile(name, objects[i].getBuffer()))
      return failure;
    command->push_back(name);
  }
  for (const std::string &file : options.files) {
    llvm::SmallString<128> absolute(file);
    if (std::error_code error = fs::make_absolute(absolute))
      return llvm::createStringError("cannot find '" + file +
                                     "': " + error.message());
    uint64_t size = 0;
    (void)fs::file_size(absolute, size);
    bytes += size;
    command->push_back(absolute.str().str());
  }
  // The user's machine may have no C++ library.
  if (kind == Output::Module)
    command->insert(command->end(), {"-lc++", "-lc++abi"});
  else if (!isObject && options.isCxx)
    command->insert(command->end(), {"-Wl,-Bstatic", "-lstdc++",
                                     "-Wl,-Bdynamic", "-static-libgcc"});
  if (!isObject)
    command->push_back("-lm");
  if (llvm::Error failure = run(*command, joined(folder, "log"))) {
    std::error_code error = checkSpace(*target, bytes);
    if (!error)
      return failure;
    llvm::consumeError(std::move(failure));
    return llvm::createStringError("cannot write '" + output +
                                   "': " + error.message());
  }
  if (isObject)
    if (llvm::Error failure = localise(beside))
      return failure;
  if (kind == Output::Program)
    if (llvm::Error failure = seal(beside))
      return failure;
  // A replacement keeps the permissions, and is executable for those who can
  // read it.
  if (fs::file_status before;
      !fs::status(*target, before) && fs::is_regular_file(before)) {
    auto mode = unsigned(before.permissions());
    if (!isObject)
      mode |= (mode & 0444) >> 2;
    (void)fs::setPermissions(beside, fs::perms(mode));
  }
  if (std::error_code error = fs::rename(beside, *target))
    return llvm::createStringError("cannot write '" + output +
                                   "': " + error.message());
  removeBeside.release();
  return llvm::Error::success();
}

llvm::Error
fovea::codegen::linkShared(llvm::ArrayRef<llvm::MemoryBufferRef> objects,
                           llvm::StringRef output, const LinkOptions &options) {
  // Missing symbols are an error here, not when the library is loaded.
  std::string name = path::filename(output).str();
  return link(
      objects, output, options,
      {"-shared", "-Wl,-Bsymbolic", "-Wl,-z,defs", "-Wl,-soname," + name},
      Output::Library);
}

llvm::Error
fovea::codegen::linkObject(llvm::ArrayRef<llvm::MemoryBufferRef> objects,
                           llvm::StringRef output, const LinkOptions &options) {
  // A group in several objects becomes one group of this object.
  return link(objects, output, options,
              {"-r", "-nostdlib", "-Wl,--force-group-allocation"},
              Output::Object);
}

llvm::Error
fovea::codegen::linkExecutable(llvm::ArrayRef<llvm::MemoryBufferRef> objects,
                               llvm::StringRef output,
                               const LinkOptions &options) {
  return link(objects, output, options, {}, Output::Program);
}

llvm::Error
fovea::codegen::linkModule(llvm::ArrayRef<llvm::MemoryBufferRef> objects,
                           llvm::StringRef output, const LinkOptions &options) {
  // A stack overflow ends the module instead of overwriting its
  // data. Compiled code is promised 1 MB
  // (runtime/model/CInterface.cpp).
  return link(objects, output, options,
              {"-mexec-model=reactor", "-Wl,--stack-first",
               "-Wl,-z,stack-size=4194304", "-Wl,--strip-all"},
              Output::Module);
}

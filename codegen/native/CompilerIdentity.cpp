//===- CompilerIdentity.cpp - which compiler made an object? --------------===//
//
// A version number does not change with every build, but the linker's build-id
// does. Objects of another build are not reused.
//
//===----------------------------------------------------------------------===//

#include "codegen/native/ObjectCache.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

#include <link.h>

/// The build-id of a loaded file as hexadecimal digits, or nothing.
static std::string buildIdOf(const dl_phdr_info &file) {
  for (int i = 0; i < file.dlpi_phnum; ++i) {
    const auto &header = file.dlpi_phdr[i];
    if (header.p_type != PT_NOTE)
      continue;
    auto *at = reinterpret_cast<const char *>(file.dlpi_addr + header.p_vaddr);
    const char *end = at + header.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      auto *note = reinterpret_cast<const ElfW(Nhdr) *>(at);
      const char *name = at + sizeof(*note);
      const char *id = name + llvm::alignTo(note->n_namesz, 4);
      if (note->n_type == NT_GNU_BUILD_ID &&
          llvm::StringRef(name, note->n_namesz) == llvm::StringRef("GNU", 4))
        return llvm::toHex(llvm::StringRef(id, note->n_descsz));
      at = id + llvm::alignTo(note->n_descsz, 4);
    }
  }
  return "";
}

/// Size and time of the program: the fallback without a build-id.
static std::string statusOfProgram() {
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status("/proc/self/exe", status))
    return "unknown";
  auto time = status.getLastModificationTime().time_since_epoch().count();
  return std::to_string(status.getSize()) + "@" + std::to_string(time);
}

static int addFile(dl_phdr_info *file, size_t, void *data) {
  // The program itself has no name.
  llvm::StringRef name = llvm::sys::path::filename(file->dlpi_name);
  if (!name.empty() && !name.starts_with("libLLVM") &&
      !name.starts_with("libMLIR"))
    return 0;
  std::string id = buildIdOf(*file);
  if (name.empty() && id.empty())
    id = statusOfProgram();
  auto &identity = *static_cast<std::string *>(data);
  identity += (" " + name + "=" + id).str();
  return 0;
}

llvm::StringRef fovea::codegen::compilerIdentity() {
  static const std::string identity = [] {
    std::string text = "llvm " LLVM_VERSION_STRING;
    dl_iterate_phdr(addFile, &text);
    return text;
  }();
  return identity;
}

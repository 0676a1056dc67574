//===- PackedFile.h - text files, unpacked while they are read -*- C++ -*-===//
//
// Reads files that gzip, zstd or xz have packed, and all others unchanged.
// Their first bytes decide, not their names. Only a part of a file is in
// memory.
//
// Every file that is damaged, ends too early or goes on after its end is one
// error. A small file cannot become any amount of text: what unpacks to over
// 64 MB and to over 1032 times its size is refused. (No gzip file is packed
// more tightly, and no text.) Unpacking takes at most 256 MB of memory.
//
// The compiler's commands read with this; programs do not have these libraries.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_PACKEDFILE_H
#define FOVEA_RUNTIME_DATA_PACKEDFILE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace fovea::runtime {

/// The name of a file without `.gz`, `.zst` or `.xz`.
std::string_view withoutPacking(std::string_view name);

/// A file that is read from its beginning.
class PackedFile {
public:
  /// Takes over the descriptor of an open file.
  explicit PackedFile(int descriptor);
  ~PackedFile();
  PackedFile(const PackedFile &) = delete;
  PackedFile &operator=(const PackedFile &) = delete;

  /// Opens the file at `path` as `openToRead` does; null, with the reason.
  static std::unique_ptr<PackedFile> open(const std::string &path,
                                          std::string &why);

  /// Reads at most `size` bytes of content. Returns their number; 0 at the end;
  /// -1, with `problem`, for a file that cannot be read to its end.
  ptrdiff_t read(char *bytes, size_t size);

  /// Returns why the file cannot be read on.
  const std::string &problem() const { return why; }
  /// Returns whether the part that was read is packed.
  bool isPacked() const { return unpacker != nullptr; }

  /// One format; the libraries stay in the implementation.
  class Unpacker;

private:
  bool refill();
  bool begin();
  ptrdiff_t fail(const std::string &text);
  ptrdiff_t readPlain(char *bytes, size_t size);

  int descriptor;
  std::string input; // read, of which the bytes from `place` on are not used
  size_t place = 0;
  uint64_t numRead = 0, numGiven = 0; // bytes of the file, and of its content
  bool isBegun = false, isAtEnd = false;
  std::unique_ptr<Unpacker> unpacker;
  std::string why;
};

/// Reads the whole content of the file at `path`; false, with the reason.
bool readUnpacked(const std::string &path, std::string &text, std::string &why);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_PACKEDFILE_H

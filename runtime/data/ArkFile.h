//===- ArkFile.h - archives of Kaldi's features ----------------*- C++ -*-===//
//
// Reads the vectors and matrices of a .ark file: binary ones of floats, doubles
// and the three compressed kinds, and text. Each has a key before it. A list
// (.scp) names a place in an archive, which is where the matrix begins.
//
// The compiler's commands read with this; programs do not.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_ARKFILE_H
#define FOVEA_RUNTIME_DATA_ARKFILE_H

#include "runtime/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fovea::runtime {

class ArkFile {
public:
  /// Takes over the descriptor of an open file; messages call it `name`.
  ArkFile(int descriptor, std::string name);
  ~ArkFile();
  ArkFile(const ArkFile &) = delete;
  ArkFile &operator=(const ArkFile &) = delete;

  static Status open(const std::string &path, std::unique_ptr<ArkFile> &file);

  /// Goes on at a byte of the file.
  Status seek(uint64_t place);
  /// Reads the key of the next entry; an empty one at the end.
  Status nextKey(std::string &key);
  /// Reads a vector, [columns], or a matrix, [rows, columns].
  Status read(std::vector<int64_t> &shape, std::vector<double> &values);

private:
  using Shape = std::vector<int64_t>;
  using Values = std::vector<double>;

  Status fail(const std::string &why) const;
  /// Why there is no next byte.
  Status tooEarly() const;
  bool refill();
  /// The next byte; -1 at the end.
  int peek();
  int take();
  bool take(void *bytes, size_t count);
  template <typename T> bool take(T &value) {
    return take(&value, sizeof(value));
  }
  bool takeCount(int64_t &count);
  template <typename T>
  Status readNumbers(int64_t count, double factor, double offset,
                     Values &values);
  Status readBinary(Shape &shape, Values &values);
  Status readCompressed(int kind, Shape &shape, Values &values);
  Status readText(Shape &shape, Values &values);

  int descriptor;
  std::string name, input;
  size_t place = 0; // in `input`
  bool isAtEnd = false;
  int error = 0; // of the system, if it could not be read to its end
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_ARKFILE_H

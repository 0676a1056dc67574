//===- Generator.h - random specs that are well typed ---------------------===//
//
// `generate` writes a `.fov` model from a seed. Every spec is well typed by
// construction: whatever the front end refuses of it is a mistake of ours.
// Values stay small (tanh and sigmoid around products), so that central
// differences mean something.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TEST_RANDOM_GENERATOR_H
#define FOVEA_TEST_RANDOM_GENERATOR_H

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace fovea::random {

/// A length of the data; a nested one has a parent and may be 0.
struct LengthInfo {
  std::string name, parent;
};

struct SpecData {
  enum Kind { Real, Bit, Int, Token, Class, Position };
  std::string name;
  Kind kind;
  std::vector<std::string> extents; // names of lengths or dims
  int64_t bound = 0;                // tokens, classes: how many
  std::string boundLength{};        // positions: the extent they point into
  bool generated = false;           // has a `~`
  bool ends = false;                // a sentence: symbol 1 ends it
  bool hasZeros = false;            // reals: 0, or well away from it
};

struct Spec {
  std::string text;
  std::map<std::string, std::string> included; // by the name that `use` says
  std::vector<std::pair<std::string, std::string>> sets;
  std::map<std::string, int64_t> sizes; // of dims
  std::vector<LengthInfo> lengths;
  std::vector<SpecData> data;
  std::set<std::string> features; // what the spec is about, for statistics
  /// Whether the decoding of the spec can be compared with its training: all
  /// generated names are discrete and the step reads only what is generated.
  bool decodable = false;
};

/// Two namings of the same spec: everything but the identifiers is equal.
enum class Naming { Plain, Renamed };

/// Small dims, which the oracles of gradients and decoding need, or ones that
/// are worth matrix products.
enum class Scale { Small, Large };

Spec generate(uint64_t seed, Naming naming = Naming::Plain,
              Scale scale = Scale::Small);

} // namespace fovea::random

#endif // FOVEA_TEST_RANDOM_GENERATOR_H

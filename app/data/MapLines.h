//===- MapLines.h - the lines of a map of weights -------------------------===//
//
// A map relates the parameters of a spec to the tensors of another program:
// lines `PARAMETER = TERM`, where a term is a tensor or a function of terms
// (docs/WEIGHTS.md). `fovea init --map` evaluates the terms, and
// `fovea export --map` inverts them.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_DATA_MAPLINES_H
#define FOVEA_APP_DATA_MAPLINES_H

#include "app/data/Inputs.h"
#include "llvm/ADT/StringMap.h"

namespace fovea::cli {

/// A tensor on its way between a file and a parameter.
struct MapValues {
  std::vector<int64_t> shape;
  std::vector<double> numbers;
  /// Which of the numbers are known; empty: all.
  std::vector<bool> known;
};

/// Axis i of the result is axis order[i].
MapValues permuted(const MapValues &from, llvm::ArrayRef<int64_t> order);
/// `count` of the places of the first axis, from `first` on.
MapValues rowsOf(const MapValues &from, int64_t first, int64_t count);
/// Place order[i] of the first axis at place i.
MapValues rowsInOrder(const MapValues &from, llvm::ArrayRef<int64_t> order);
/// `first`, and then the other numbers below `count`; empty if one of `first`
/// is not below it, or occurs twice.
std::vector<int64_t> orderOf(llvm::ArrayRef<int64_t> first, int64_t count);
/// The last `count` places of the first axis moved to its front.
MapValues rolled(const MapValues &from, int64_t count);

/// The name of a tensor, or a function of terms.
struct MapTerm {
  llvm::StringRef name; // where there is a function, that of it
  bool isCall = false;
  std::vector<MapTerm> arguments;
  /// Alternative names: the first one in the file is used.
  std::vector<llvm::StringRef> others;

  llvm::SMLoc place() const { return llvm::SMLoc::getFromPointer(name.data()); }
};

/// Reads the lines of one map. Those who derive say what a line does.
class MapLines {
public:
  /// Without a map, `text` is made: it has no places to report.
  MapLines(Session &session, const Model &model, bool hasMap)
      : session(session), model(model), hasMap(hasMap) {}
  virtual ~MapLines() = default;

  /// Returns false on a mistake (reported).
  bool read(llvm::StringRef text);

protected:
  /// Carries out the line of one parameter. `stars` has what its stars match.
  virtual void carryOut(const ParameterInfo &parameter,
                        const MapTerm &term) = 0;

  /// A name without stars: `*` is replaced by the text that the parameter's
  /// star matches, and `*+1` by the number after it.
  std::optional<std::string> withStars(llvm::StringRef pattern);
  /// The numbers that a function other than `join` takes after its first term.
  std::optional<std::vector<int64_t>> numbersOf(const MapTerm &call);
  /// Reports each parameter that has no line: `nothing gives 'x' [3]`.
  bool eachHasLine(const std::string &map, llvm::StringRef verb);

  void fail(llvm::SMLoc place, const std::string &text);
  void fail(const MapTerm &term, const std::string &text) {
    fail(term.place(), text);
  }

  Session &session;
  const Model &model;
  /// An optional prefix of every name in the file.
  std::string prefix;

private:
  void readLine(llvm::StringRef line);
  std::optional<llvm::StringRef> readName(llvm::StringRef &rest);
  std::optional<MapTerm> readTerm(llvm::StringRef &rest, int depth);
  void assign(llvm::StringRef path, const ParameterInfo &parameter,
              const MapTerm &term);

  bool hasMap;
  llvm::StringMap<llvm::SMLoc> given; // by parameter
  /// The text that the parameter's stars match in this line.
  std::vector<std::string> stars;
};

/// Reads a map of the command line into `name` and `text`; without one, each
/// parameter is the tensor of the same name, and `name` is `other`. Returns
/// false on an error (reported).
bool readMap(const std::string &map, const std::string &other,
             const Model &model, std::string &name, std::string &text);

/// `; did you mean 'x'?`, or nothing.
std::string meant(llvm::StringRef name,
                  std::vector<llvm::StringRef> candidates);

} // namespace fovea::cli

#endif // FOVEA_APP_DATA_MAPLINES_H

//===- Shows.h - equations that a decoder is asked to show ----------------===//
//
// `--show NAME=FILE`: keeps the values of the best hypothesis of each example,
// and draws or stores them, with the words that stand along their axes.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_SHOW_SHOWS_H
#define FOVEA_DRIVER_SHOW_SHOWS_H

#include "dialect/reference/Search.h"
#include "driver/model/Execution.h"
#include "driver/show/Underlays.h"
#include "runtime/data/Shown.h"

namespace fovea::cli {

/// The equations of `@decoding` that `name` means, with their extents. Empty
/// when there is none (diagnosed).
std::vector<runtime::ShownEquation>
shownEquations(Session &session, Model &model, const std::string &name);

/// The equation that one looks at first: the last weights of attention whose
/// rows are what is generated and whose columns what is given; where there are
/// none, the last over two lengths. Empty: there is no such.
std::string alignmentOf(const Model &model);

/// What may stand along their axes.
std::vector<runtime::AxisSymbols> axisSymbolsOf(const Model &model);

class Shows {
public:
  /// Reads each `--show`; `model` still has its equations. False when one is
  /// wrong (diagnosed).
  bool read(Session &session, const Arguments &arguments, Model &model);

  /// What the decoder has to give besides what it generates.
  std::vector<std::string> equations() const;

  /// Takes the best hypothesis of the next example.
  void add(const Execution &execution, const runtime::Example &example,
           const reference::Hypothesis &best);

  /// Writes the files. Returns an exit code; errors have been printed.
  int write() const;

private:
  /// One equation, and its value in each example.
  struct Equation {
    runtime::ShownEquation about;
    std::string asked;        // as `--show` names it, which may mean several
    bool isGenerated = false; // data that the model generates
    Underlay underlay;
    std::vector<runtime::ShownValues> examples;
    std::vector<runtime::DataValues> unders, lifts; // of `underlay`
  };
  struct Show {
    std::string path;
    std::vector<Equation> equations;
  };
  Show &showOf(const std::string &path);
  int store(const Show &show) const;
  int draw(const Show &show) const;
  size_t membersFrom(const Show &show, size_t first, size_t example) const;
  Drawn drawnOf(const Show &show, size_t first, size_t end,
                size_t example) const;

  std::string title;
  std::vector<runtime::AxisSymbols> symbols;
  std::vector<Show> shows;
  std::vector<double> logps; // of the examples
};

} // namespace fovea::cli

#endif // FOVEA_DRIVER_SHOW_SHOWS_H

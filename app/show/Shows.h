//===- Shows.h - equations that a decoder is asked to show ----------------===//
//
// `--show NAME=FILE`: keeps the values of the best hypothesis of each example,
// and draws or stores them, with the words that stand along their axes.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_SHOW_SHOWS_H
#define FOVEA_APP_SHOW_SHOWS_H

#include "app/model/Execution.h"
#include "app/show/Underlays.h"
#include "dialect/reference/Search.h"
#include "runtime/data/Shown.h"

namespace fovea::cli {

/// Returns the equations of `@decoding` called `name`, with their extents.
/// Empty if there is none (diagnosed).
std::vector<runtime::ShownEquation>
shownEquations(Session &session, Model &model, const std::string &name);

/// Returns the default equation: the last attention weights with generated rows
/// and given columns, or else the last weights over two lengths. Empty if there
/// are none.
std::string alignmentOf(const Model &model);

/// The possible labels of their axes.
std::vector<runtime::AxisSymbols> axisSymbolsOf(const Model &model);

class Shows {
public:
  /// Reads each `--show`; `model` still has its equations. Returns false on an
  /// error (diagnosed).
  bool read(Session &session, const Arguments &arguments, Model &model);

  /// The given data that labels an axis of the picture; empty: none. Its words
  /// are shown unchanged.
  std::string givenWords() const;

  /// The equations that the decoder must return in addition.
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

  PictureLook look;
  std::string title;
  std::vector<runtime::AxisSymbols> symbols;
  std::vector<Show> shows;
  std::vector<double> logps; // of the examples
};

} // namespace fovea::cli

#endif // FOVEA_APP_SHOW_SHOWS_H

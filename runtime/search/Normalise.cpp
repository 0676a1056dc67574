//===- Normalise.cpp - the text of a length normalisation -----------------===//
//
// A spec, the command line and the IR write it alike.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/SearchOptions.h"

#include <cmath>
#include <cstdlib>

using namespace fovea::runtime;

bool fovea::runtime::readNormalise(std::string_view text,
                                   SearchOptions &options) {
  if (text == "none" || text == "per_symbol" || text == "gnmt") {
    options.normalise = text == "none"         ? Normalise::None
                        : text == "per_symbol" ? Normalise::PerSymbol
                                               : Normalise::Gnmt;
    return true;
  }
  constexpr std::string_view gnmt = "gnmt(";
  if (!text.starts_with(gnmt) || !text.ends_with(')'))
    return false;
  std::string number(text.substr(gnmt.size(), text.size() - gnmt.size() - 1));
  number.erase(number.find_last_not_of(' ') + 1);
  char *end = nullptr;
  double power = std::strtod(number.c_str(), &end);
  if (number.empty() || *end != 0 || !std::isfinite(power))
    return false;
  options.normalise = Normalise::Gnmt;
  options.gnmt = power;
  return true;
}

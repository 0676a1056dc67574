//===- Prefixes.cpp - what generated lines begin with ---------------------===//

#include "app/model/Prefixes.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

const DataInfo *fovea::cli::findGenerated(Session &session, const Model &model,
                                          const std::string &text,
                                          std::string &path) {
  std::vector<StringRef> names;
  std::vector<const DataInfo *> generated;
  for (const DataInfo &data : model.data)
    if (data.isChosen) {
      names.push_back(data.name);
      generated.push_back(&data);
    }
  std::string name;
  if (!splitPair(text, name, path)) {
    path = text;
    if (generated.size() == 1)
      return generated.front();
    session.error(fmt::format("'{}' generates {}; help: name the one with this "
                              "prefix: '--prefix {}={}'",
                              model.name, llvm::join(names, ", "),
                              names.front().str(), path));
    return nullptr;
  }
  for (const DataInfo *data : generated)
    if (data->name == name)
      return data;
  StringRef meant = nearest(name, names);
  session.error("'" + name + "' is not generated" +
                (meant.empty() ? "" : "; did you mean '" + meant.str() + "'?"));
  return nullptr;
}

bool fovea::cli::readPrefixes(Session &session, const Arguments &arguments,
                              Execution &execution) {
  bool good = true;
  for (const std::string &text : arguments.prefixes) {
    std::string path;
    const DataInfo *data = findGenerated(session, *execution.model, text, path);
    if (!data)
      return false;
    bool isRow = data->numIndices == 2 && !data->parents[1].empty();
    if ((data->numIndices != 1 && !isRow) ||
        (data->kind != DataInfo::Token && data->kind != DataInfo::Class &&
         data->kind != DataInfo::Position)) {
      session.error(fmt::format(
          "'{}' is not generated symbol by symbol, so it cannot have a prefix",
          data->name));
      return false;
    }
    auto report = [&](std::string_view place, const std::string &what) {
      session.diagnostics().error(
          Code::dataValue, llvm::SMLoc::getFromPointer(place.data()), what);
    };
    runtime::TextField field = fieldOf(*data);
    size_t count = 0;
    good &= forLines(session, sourceOf(path), [&](StringRef line) {
      std::vector<double> values;
      bool isGood = runtime::readPrefix(
          line, field, execution.vocabularies.words(), values, report);
      if (count < execution.examples.size() && !values.empty())
        execution.examples[count].prefix[data->name] = std::move(values);
      ++count;
      return isGood;
    });
    if (good && count != execution.examples.size()) {
      session.error(fmt::format("'{}' has {} lines but there are {} examples",
                                path, count, execution.examples.size()));
      good = false;
    }
  }
  return good;
}

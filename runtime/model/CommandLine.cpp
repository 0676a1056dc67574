//===- CommandLine.cpp - what a program is asked to do --------------------===//
//
// The options of a program and its help. The file that knows CLI11 here: what
// it throws does not leave it.
//
//===----------------------------------------------------------------------===//

#include "runtime/model/CommandLine.h"
#include "runtime/model/SearchFlagsCli.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

using namespace fovea::runtime;

std::string fovea::runtime::shownNames(const Description &description) {
  std::string text;
  for (const ShownEquation &equation : description.shows)
    text += (text.empty() ? "" : ", ") + equation.name;
  return text;
}

/// `src, tgt`, of the data that `keeps` takes.
template <typename Keeps>
static std::string namesOf(const Description &description, Keeps keeps) {
  std::string text;
  for (const DataDescription &data : description.data)
    if (keeps(data))
      text += (text.empty() ? "" : ", ") + data.spec.name;
  return text;
}

/// What the program does, for its help.
static std::string summaryOf(const Description &description) {
  const Decoder &decoder = description.decoder;
  std::string given = namesOf(description, [&](const DataDescription &data) {
    if (!description.hasDecoder)
      return true;
    const auto &arrays = decoder.programs[decoder.encode].arrays;
    return std::any_of(arrays.begin(), arrays.end(), [&](const auto &array) {
      return array.role == Program::Role::Data && array.name == data.spec.name;
    });
  });
  std::string generated =
      namesOf(description, [](const auto &data) { return data.isChosen; });
  std::string text = "The model '" + description.model + "' ";
  text += description.hasDecoder
              ? "generates " + generated + ", one line for each example."
              : "prints log p of each example.";
  if (given.empty())
    return text;
  bool isOne = given.find(',') == given.npos;
  return text + " A line of the input holds " + given +
         (isOne ? "." : ", separated by tabs.");
}

std::optional<int> fovea::runtime::readFlags(const Description &description,
                                             int argc, char **argv,
                                             Flags &flags) {
  std::string name = argc > 0 ? argv[0] : description.model;
  name = name.substr(name.find_last_of('/') + 1);
  CLI::App app{summaryOf(description), name};
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("--version",
                       fmt::format("{}, compiled by fovea {} for {}",
                                   description.model, description.compiler,
                                   description.cpu),
                       "print what this is");
  app.footer("exit codes: 0 done, 1 the input is at fault, 2 wrong usage, "
             "3 the machine is, 130 interrupted");
  app.add_option("FILE", flags.files,
                 "text, one example per line, or batches as FILE.safetensors; "
                 "- and nothing: standard input");
  app.add_option("--weights", flags.weights,
                 "a safetensors file, instead of the weights inside; several "
                 "are an ensemble, which chooses from the mean of the members' "
                 "probabilities")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_option("--threads", flags.threads,
                 "how many work; the results do not depend on it (one for "
                 "each CPU)")
      ->check(atLeast(1))
      ->type_name("N");
  if (description.hasDecoder) {
    addSearchFlags(app, flags.search);
    app.add_option("--prefix", flags.prefixes,
                   "what each line of the output begins with, one line per "
                   "example; NAME=FILE where several names are generated")
        ->type_name("FILE")
        ->allow_extra_args(false);
    if (!description.shows.empty())
      app.add_option("--show", flags.shows,
                     "stores an equation of the best hypothesis of each "
                     "example as FILE.safetensors, for fovea plot: " +
                         shownNames(description))
          ->check([](const std::string &text) {
            size_t place = text.find('=');
            return place != text.npos && place > 0 &&
                           text.ends_with(".safetensors")
                       ? std::string()
                       : "'" + text + "' is not NAME=FILE.safetensors";
          })
          ->allow_extra_args(false)
          ->type_name("NAME=FILE");
    for (const Program &program : description.programs)
      if (program.entry == "loss")
        app.add_flag("--score", flags.score,
                     "print log p of what is given, the generated names among "
                     "it, instead of generating");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &) {
    std::fputs(app.help().c_str(), stdout);
    return done;
  } catch (const CLI::CallForVersion &version) {
    std::printf("%s\n", version.what());
    return done;
  } catch (const CLI::ExtrasError &) {
    std::fprintf(stderr, "error: '%s' is no option of '%s'; see '%s --help'\n",
                 app.remaining().front().c_str(), name.c_str(), name.c_str());
    return badUsage;
  } catch (const CLI::Error &error) {
    std::fprintf(stderr, "error: %s; see '%s --help'\n", error.what(),
                 name.c_str());
    return badUsage;
  }
  return std::nullopt;
}

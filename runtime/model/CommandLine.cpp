//===- CommandLine.cpp - what a program is asked to do --------------------===//
//
// The options of a program and its help. Only this file uses CLI11, whose
// exceptions do not leave it.
//
//===----------------------------------------------------------------------===//

#include "runtime/model/CommandLine.h"
#include "runtime/model/Licences.h"
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

/// The purpose of the program, for its help.
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
  bool isFile = std::any_of(description.data.begin(), description.data.end(),
                            [](const auto &data) { return data.isFile(); });
  return text + " A line of the input " +
         (isFile && isOne ? "names a file of " : "holds ") + given +
         (isOne ? "." : ", separated by tabs.");
}

/// The files that are examples themselves.
static std::string filesOf(const Description &description) {
  for (const DataDescription &data : description.data)
    if (data.isFile())
      return data.isSound ? "WAV and FLAC files, lists of them, "
                          : "PNG files, lists of them, ";
  return "";
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
                       "print the model's name and version");
  bool wantsLicences = false;
  app.add_flag("--licences", wantsLicences,
               "print the licences of the software in this program");
  app.footer("exit codes: 0 done, 1 error in the input, 2 wrong usage, "
             "3 machine failure (disk, memory, device), 130 interrupted");
  app.add_option("FILE", flags.files,
                 "text with one example per line, " + filesOf(description) +
                     "or batches as FILE.safetensors (default, and -: standard "
                     "input)");
  app.add_option("--weights", flags.weights,
                 "a safetensors file that replaces the built-in weights; "
                 "several files form an ensemble that averages probabilities")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_option(
         "--threads", flags.threads,
         "number of threads (default: one per CPU); does not change results")
      ->check(atLeast(1))
      ->type_name("N");
  if (description.hasDecoder) {
    addSearchFlags(app, flags.search);
    app.add_option("--prefix", flags.prefixes,
                   "fixed beginning of each output, one line per example; "
                   "NAME=FILE if the model generates several names")
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
    std::fprintf(stderr,
                 "error: '%s' is not an option of '%s'; see '%s --help'\n",
                 app.remaining().front().c_str(), name.c_str(), name.c_str());
    return badUsage;
  } catch (const CLI::Error &error) {
    std::fprintf(stderr, "error: %s; see '%s --help'\n", error.what(),
                 name.c_str());
    return badUsage;
  }
  if (wantsLicences) {
    printLicences();
    return done;
  }
  return std::nullopt;
}

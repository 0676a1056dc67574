//===- CommandLine.cpp - what was given, and what is wrong with it --------===//
//
// Parses the command line and answers mistakes with what may have been meant.
// Only this file and Options.cpp know CLI11.
//
//===----------------------------------------------------------------------===//

#include "driver/model/StoredSpec.h"
#include "frontends/fov/Diagnostics.h"
#include "runtime/model/Model.h"
#include "runtime/model/SearchFlagsCli.h"
#include "tools/fovea/Advice.h"
#include "tools/fovea/Manual.h"
#include "tools/fovea/Options.h"
#include "tools/fovea/Version.h"

#include <cstdio>

using namespace fovea::cli;

static int explain(const std::string &text) {
  std::fprintf(stderr, "error: %s\n", text.c_str());
  return badUsage;
}

/// Without exceptions: does a command have this name?
static CLI::App *findCommand(CLI::App &app, const std::string &name) {
  for (CLI::App *command : app.get_subcommands(nullptr))
    if (command->get_name() == name)
      return command;
  return nullptr;
}

/// The error for a word that is no command, with the nearest that is.
static int explainCommand(CLI::App &app, const std::string &name) {
  std::vector<std::string> names;
  for (CLI::App *command : app.get_subcommands(nullptr))
    names.push_back(command->get_name());
  std::vector<llvm::StringRef> candidates(names.begin(), names.end());
  std::string meant = fovea::nearest(name, candidates).str();
  return explain("'" + name + "' is no command of fovea" +
                 (meant.empty() ? "; 'fovea help' lists them"
                                : "; did you mean '" + meant + "'?"));
}

/// `fovea`, or `fovea run` when a command is given.
static std::string commandOf(CLI::App &app) {
  std::vector<CLI::App *> given = app.get_subcommands();
  return given.empty() ? "fovea" : "fovea " + given.front()->get_name();
}

/// The error for the first argument that no option takes.
static int explainExtra(CLI::App &app) {
  std::vector<CLI::App *> given = app.get_subcommands();
  CLI::App &command = given.empty() ? app : *given.front();
  std::string extra = app.remaining(/*recurse=*/true).front();
  std::string advice = adviceFor(extra, [&](llvm::StringRef name) {
    return command.get_option_no_throw(name.str()) != nullptr;
  });
  if (!advice.empty())
    return explain("'" + extra + "' is no option of '" + commandOf(app) +
                   "'; " + advice);
  std::vector<std::string> names;
  for (const CLI::Option *option : command.get_options())
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
  std::vector<llvm::StringRef> candidates(names.begin(), names.end());
  std::string meant = fovea::nearest(extra, candidates).str();
  return explain("'" + extra + "' is no option of '" + commandOf(app) + "'" +
                 (meant.empty() ? "; see '" + commandOf(app) + " --help'"
                                : "; did you mean '" + meant + "'?"));
}

/// Says of options that are given what they do not do.
static void explainIdle(CLI::App &command, const Arguments &arguments) {
  auto isGiven = [&](llvm::StringRef name) {
    const CLI::Option *option = command.get_option_no_throw(name.str());
    return option && option->count() > 0;
  };
  std::vector<std::string> idle = idleOptions(command.get_name(), isGiven);
  if (command.get_name() == "decode")
    for (const std::string &text : idleFlags(arguments.search))
      idle.push_back(text);
  for (const std::string &text : idle)
    if (!arguments.quiet)
      std::fprintf(stderr, "warning: %s\n", text.c_str());
}

/// What a command needs unless weights have it, and does not have; or empty.
static std::string missingOption(const Arguments &arguments) {
  bool isTraining = arguments.command == "train";
  bool goesOn = isTraining && arguments.resume;
  if ((isTraining || arguments.command == "score") && arguments.data.empty() &&
      (arguments.stored.empty() || (isTraining && !goesOn)))
    return "--data";
  return isTraining && arguments.folder.empty() ? "--out" : "";
}

static int printHelp(CLI::App &app, const Arguments &arguments) {
  CLI::App *about = nullptr;
  app.clear();
  if (!arguments.helpFor.empty() &&
      !(about = findCommand(app, arguments.helpFor)))
    return explainCommand(app, arguments.helpFor);
  std::string text = arguments.asManual ? manualPage(app, about)
                     : about            ? about->help("fovea")
                                        : app.help();
  std::fputs(text.c_str(), stdout);
  return done;
}

std::optional<Arguments> fovea::cli::parseCommandLine(int argc, char **argv,
                                                      int &exitCode) {
  Arguments arguments;
  CLI::App app{"Fovea: a compiler for attention models", "fovea"};
  app.require_subcommand(0, 1);
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("--version", versionText(),
                       "print version, commit and targets");
  app.footer("exit codes: 0 done, 1 the input is at fault, 2 wrong usage, "
             "3 the machine is, 130 interrupted");
  addCommands(app, arguments);
  auto end = [&](int code) {
    exitCode = code;
    return std::nullopt;
  };
  if (argc > 1 && argv[1][0] != '-' && !findCommand(app, argv[1]))
    return end(explainCommand(app, argv[1]));
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &) {
    std::fputs(app.help().c_str(), stdout);
    return end(done);
  } catch (const CLI::CallForVersion &version) {
    std::printf("%s\n", version.what());
    return end(done);
  } catch (const CLI::ExtrasError &) {
    return end(explainExtra(app));
  } catch (const CLI::Error &error) {
    return end(explain(std::string(error.what()) + "; see '" + commandOf(app) +
                       " --help'"));
  }
  if (app.get_subcommands().empty())
    return end(explain("a command is missing; 'fovea help' lists them"));
  arguments.command = app.get_subcommands().front()->get_name();
  if (arguments.command == "help")
    return end(printHelp(app, arguments));
  if (arguments.command == "completion") {
    std::fputs(completionFor(app, arguments.shell).c_str(), stdout);
    return end(done);
  }
  findStored(arguments);
  if (std::string missing = missingOption(arguments); !missing.empty())
    return end(
        explain(missing + " is required; see '" + commandOf(app) + " --help'"));
  explainIdle(*app.get_subcommands().front(), arguments);
  std::string said = fovea::runtime::limitThreads(arguments.threads);
  if (!said.empty() && !arguments.quiet)
    std::fprintf(stderr, "note: %s\n", said.c_str());
  return arguments;
}

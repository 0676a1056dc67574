//===- CommandLine.cpp - parsing of the command line ----------------------===//
//
// Parses the command line and answers mistakes with suggestions.
// Only this file and those of the options know CLI11.
//
//===----------------------------------------------------------------------===//

#include "app/open/Errors.h"
#include "app/open/StoredSpec.h"
#include "frontends/fov/Diagnostics.h"
#include "runtime/model/Model.h"
#include "runtime/model/SearchFlagsCli.h"
#include "tools/fovea/Advice.h"
#include "tools/fovea/ConfigFile.h"
#include "tools/fovea/Manual.h"
#include "tools/fovea/Options.h"
#include "tools/fovea/Version.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Process.h"

#include <cstdio>
#include <fmt/format.h>

using namespace fovea::cli;

using fovea::Code;

/// Prints an error of the command line with its code.
static int explain(Code code, const std::string &text) {
  beginError() << text << " [" << fovea::idOf(code) << "]\n";
  return badUsage;
}

/// Returns the command of this name, or null. Never throws.
static CLI::App *findCommand(CLI::App &app, const std::string &name) {
  for (CLI::App *command : app.get_subcommands(nullptr))
    if (command->get_name() == name)
      return command;
  return nullptr;
}

/// The error for an unknown command, with the nearest known one.
static int explainCommand(CLI::App &app, const std::string &name) {
  std::vector<std::string> names;
  for (CLI::App *command : app.get_subcommands(nullptr))
    names.push_back(command->get_name());
  std::vector<llvm::StringRef> candidates(names.begin(), names.end());
  std::string meant = fovea::nearest(name, candidates).str();
  std::string ours = commandFor(name);
  return explain(Code::unknownCommand,
                 "unknown command '" + name + "'" +
                     (!ours.empty() ? "; help: use 'fovea " + ours + "'"
                      : meant.empty()
                          ? "; help: 'fovea help' lists the commands"
                          : "; did you mean '" + meant + "'?"));
}

/// The error for no command at all, with the ones to begin with.
static int explainNone(CLI::App &app) {
  explain(Code::missingArgument,
          "a command is missing; help: 'fovea help' lists all commands");
  fmt::print(stderr, "Five commands to begin with:\n");
  for (const char *name : {"new", "check", "train", "decode", "compile"})
    fmt::print(stderr, "  fovea {:<8} {}\n", name,
               app.get_subcommand(name)->get_description());
  return badUsage;
}

/// `fovea`, or `fovea run` when a command is given.
static std::string commandOf(const CLI::App &app) {
  std::vector<CLI::App *> given = app.get_subcommands();
  return given.empty() ? "fovea" : "fovea " + given.front()->get_name();
}

/// The error for an argument of a command that no option takes. The options of
/// a file have no dashes: there, `shown` is what the file has.
static int explainExtra(const CLI::App &command, const std::string &name,
                        const std::string &extra, std::string shown = "",
                        const std::string &place = "") {
  std::string advice = adviceFor(extra, [&](llvm::StringRef option) {
    return command.get_option_no_throw(option.str()) != nullptr;
  });
  bool isOption = extra.starts_with("-");
  if (shown.empty())
    shown = extra;
  std::string fault =
      place + (isOption ? "unknown option '" : "unexpected argument '") +
      shown + "' of '" + name + "'";
  if (!advice.empty())
    return explain(Code::unknownOption, fault + "; help: " + advice);
  std::vector<std::string> names;
  for (const CLI::Option *option : command.get_options())
    for (const std::string &known : option->get_lnames())
      names.push_back("--" + known);
  std::vector<llvm::StringRef> candidates(names.begin(), names.end());
  std::string meant = fovea::nearest(extra, candidates).str();
  if (!place.empty())
    meant = llvm::StringRef(meant).ltrim('-').str();
  return explain(Code::unknownOption,
                 fault + (meant.empty() ? "; help: see '" + name + " --help'"
                                        : "; did you mean '" + meant + "'?"));
}

/// Adds the options of a file that the command line does not have. Another
/// parse of the command line alone finds those. Returns false on an error
/// (reported).
static bool addConfig(std::vector<std::string> &words, const Config &config) {
  if (config.path.empty() || words.size() < 2)
    return true;
  Arguments unused;
  CLI::App alone{"", "fovea"};
  addCommands(alone, unused);
  CLI::App *command = findCommand(alone, words[1]);
  if (!command)
    return true;
  std::vector<const char *> texts;
  for (const std::string &word : words)
    texts.push_back(word.c_str());
  try {
    alone.parse(static_cast<int>(texts.size()), texts.data());
  } catch (const CLI::Error &) {
    // The parse of all words reports it.
  }
  // Options that take several values would also take an argument after them:
  // the model and the settings come first, all others last.
  std::vector<std::string> first, last;
  for (const ConfigLine &line : config.lines) {
    bool isSpec = line.name == "spec" && command->get_option_no_throw("SPEC");
    const CLI::Option *option = command->get_option_no_throw(
        isSpec                  ? "SPEC"
        : line.name.size() == 1 ? "-" + line.name
                                : "--" + line.name);
    if (!option) {
      explainExtra(*command, "fovea " + words[1], "--" + line.name, line.name,
                   line.place + ": ");
      return false;
    }
    if (isSpec && !line.value) {
      explain(Code::configLine,
              line.place + ": 'spec' has no value; help: write spec = FILE");
      return false;
    }
    bool isSet = line.name == "set";
    if (option->count() > 0 && !isSet)
      continue;
    std::string word = isSpec ? "" : "--" + option->get_lnames().front() + "=";
    if (!isSpec && !line.value)
      word.pop_back();
    (isSpec || isSet ? first : last).push_back(word + line.value.value_or(""));
  }
  words.insert(words.begin() + 2, first.begin(), first.end());
  words.insert(llvm::find(words, "--"), last.begin(), last.end());
  return true;
}

/// Returns `FILE:LINE: ` of the line that an error of the parser is about, or
/// an empty string if that is on the command line.
static std::string placeOf(const Config &config, llvm::StringRef error) {
  std::string place;
  for (const ConfigLine &line : config.lines) {
    size_t at = error.find("--" + line.name);
    if (at == llvm::StringRef::npos)
      continue;
    llvm::StringRef rest = error.drop_front(at + 2 + line.name.size());
    if (!rest.empty() && (llvm::isAlnum(rest.front()) || rest.front() == '-'))
      continue;
    // Of an option that is repeated, the last line is too many.
    if (place.empty() || rest.contains(" but received ") ||
        (line.value && rest.contains(*line.value)))
      place = line.place + ": ";
  }
  return place;
}

/// The code of a mistake that the parser finds.
static Code codeOf(const CLI::Error &error) {
  if (dynamic_cast<const CLI::RequiredError *>(&error))
    return Code::missingArgument;
  if (dynamic_cast<const CLI::ExcludesError *>(&error) ||
      dynamic_cast<const CLI::RequiresError *>(&error))
    return Code::argumentConflict;
  return Code::argumentValue;
}

/// Rewrites a message of CLI11, such as `--dtype: f16 not in {f32,f64}`, in the
/// form of all errors.
static std::string faultOf(llvm::StringRef text, const CLI::App &app) {
  std::string command = commandOf(app);
  std::string help =
      text.contains("; help: ") ? "" : "; help: see '" + command + " --help'";
  auto [fault, choices] = text.split(" not in {");
  auto [name, value] = fault.split(": ");
  if (!choices.empty())
    return fmt::format("'{}' cannot be '{}'; help: use one of {}", name.str(),
                       value.str(),
                       llvm::join(llvm::split(choices.rtrim('}'), ','), ", "));
  if (text.consume_back(" is required"))
    return "'" + text.str() + "' is required" + help;
  if (text.consume_front("Could not convert: ")) {
    auto [option, given] = text.split(" = ");
    const CLI::Option *flag =
        app.get_subcommands().front()->get_option_no_throw(option.str());
    if (flag && flag->get_expected_max() == 0)
      return fmt::format("'{}' takes no value{}", option.str(), help);
    double number = 0;
    bool isWhole = !given.empty() && llvm::all_of(given, llvm::isDigit);
    return fmt::format("'{}' takes {}, not '{}'{}", option.str(),
                       isWhole                     ? "a smaller number"
                       : given.getAsDouble(number) ? "a number"
                                                   : "a whole number",
                       given.str(), help);
  }
  if (value.contains(" required but received ")) {
    llvm::StringRef count = value.rsplit(' ').second;
    return fmt::format("'{}' has {} values; help: give one", name.str(),
                       count.str());
  }
  if (value.consume_back(" missing"))
    return fmt::format("'{}' has no value; help: write '{} {}'", name.str(),
                       name.str(), value.split(" required ").second.str());
  for (llvm::StringRef verb : {" excludes ", " requires "})
    if (text.contains(verb)) {
      auto [one, other] = text.split(verb);
      return fmt::format(
          "'{}'{}'{}'; help: {}", one.str(), verb.str(), other.str(),
          verb == " excludes " ? "remove one of them" : "add the other");
    }
  return (value.starts_with("takes ") ? "'" + name.str() + "' " + value.str()
                                      : text.str()) +
         help;
}

/// The option that is given an empty value, or null. A shell makes one from a
/// variable that is not set. Words may be empty.
static const CLI::Option *emptyOption(const CLI::App &command) {
  for (const CLI::Option *option : command.get_options()) {
    std::string type = option->get_type_name();
    if (type != "WORDS" && type != "TEXT" && option->get_expected_max() > 0 &&
        llvm::is_contained(option->results(), ""))
      return option;
  }
  return nullptr;
}

/// Warns about options that have no effect.
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

namespace {

/// Wraps descriptions to the terminal, and prints `{f32,f64}` instead of
/// `TEXT:{f32,f64}`.
struct HelpFormatter : CLI::Formatter {
  HelpFormatter() {
    label("REQUIRED", "(required)");
    label("Needs", "needs");
    label("Excludes", "excludes");
  }

  std::string make_option_opts(const CLI::Option *option) const override {
    std::string text = Formatter::make_option_opts(option);
    // Everyone reads a default or an exclusion in the description.
    text =
        text.substr(0, std::min(text.find(" excludes:"), text.find(" needs:")));
    if (text.starts_with(" TEXT"))
      text = text.substr(5);
    // `K=V ...` would mean several values after one option.
    if (isRepeated(option))
      text = text.substr(0, text.rfind(" ..."));
    size_t open = text.find(":{");
    if (open == std::string::npos)
      return text;
    // The description explains each choice of a long list.
    constexpr size_t columns = 64;
    std::string choices = text.substr(open + 1);
    if (choices.size() > columns)
      choices = choices.substr(0, choices.rfind(',', columns) + 1) + "..}";
    return " " + choices;
  }

  std::string make_option_desc(const CLI::Option *option) const override {
    size_t columns = llvm::sys::Process::StandardOutColumns();
    size_t width = (columns == 0 ? 100 : std::max<size_t>(columns, 60)) -
                   get_column_width();
    std::string result;
    size_t used = 0;
    std::string description = option->get_description();
    if (isRepeated(option))
      description += "; may be repeated";
    for (llvm::StringRef word : llvm::split(description, ' ')) {
      bool fits = used == 0 || used + 1 + word.size() <= width;
      result += (used == 0 ? "" : fits ? " " : "\n") + word.str();
      used = fits && used ? used + 1 + word.size() : word.size();
    }
    return result;
  }

private:
  static bool isRepeated(const CLI::Option *option) {
    return option->get_expected_max() > 1 && !option->get_positional() &&
           !option->get_allow_extra_args();
  }
};

} // namespace

/// The missing option that this command requires, or an empty string.
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
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("--version", versionText(),
                       "print version, commit and targets");
  app.footer("exit codes: 0 done, 1 error in the input, 2 wrong usage, "
             "3 machine failure, 130 interrupted");
  addCommands(app, arguments);
  auto end = [&](int code) {
    exitCode = code;
    return std::nullopt;
  };
  if (argc > 1 && argv[1][0] != '-' && !findCommand(app, argv[1]))
    return end(explainCommand(app, argv[1]));
  std::vector<std::string> words(argv, argv + argc);
  std::optional<Config> config = takeConfig(words);
  if (!config || !addConfig(words, *config))
    return end(badUsage);
  arguments.commandLine = llvm::join(words, " ");
  arguments.version = versionNumber() + ", commit " + versionCommit();
  std::vector<const char *> texts;
  for (const std::string &word : words)
    texts.push_back(word.c_str());
  try {
    app.parse(static_cast<int>(texts.size()), texts.data());
  } catch (const CLI::CallForHelp &) {
    std::fputs(app.help().c_str(), stdout);
    return end(done);
  } catch (const CLI::CallForVersion &version) {
    std::printf("%s\n", version.what());
    return end(done);
  } catch (const CLI::ExtrasError &) {
    std::vector<CLI::App *> given = app.get_subcommands();
    return end(explainExtra(given.empty() ? app : *given.front(),
                            commandOf(app),
                            app.remaining(/*recurse=*/true).front()));
  } catch (const CLI::Error &error) {
    return end(explain(codeOf(error), placeOf(*config, error.what()) +
                                          faultOf(error.what(), app)));
  }
  if (app.get_subcommands().empty())
    return end(explainNone(app));
  arguments.command = app.get_subcommands().front()->get_name();
  if (arguments.command == "help")
    return end(printHelp(app, arguments));
  if (arguments.command == "completion") {
    std::fputs(completionFor(app, arguments.shell).c_str(), stdout);
    return end(done);
  }
  if (const CLI::Option *option = emptyOption(*app.get_subcommands().front()))
    return end(explain(Code::argumentValue,
                       "'" + option->get_name() +
                           "' has an empty value; help: name what it takes, "
                           "or leave the option out"));
  findStored(arguments);
  if (std::string missing = missingOption(arguments); !missing.empty())
    return end(
        explain(Code::missingArgument, faultOf(missing + " is required", app)));
  explainIdle(*app.get_subcommands().front(), arguments);
  std::string said = fovea::runtime::limitThreads(arguments.threads);
  if (!said.empty() && !arguments.quiet)
    std::fprintf(stderr, "note: %s\n", said.c_str());
  return arguments;
}

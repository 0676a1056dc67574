//===- HelpGroups.cpp - the order of commands and options in help ---------===//

#include "tools/fovea/HelpGroups.h"

#include <CLI/CLI.hpp>

/// Sorts the options of a command with many into groups, for its help.
static void groupOptions(CLI::App &command) {
  struct Group {
    const char *title;
    std::vector<std::string> names;
  };
  static const Group groups[] = {
      {"Model", {"--set", "--weights", "--config", "--vocab", "--seed"}},
      {"Data",
       {"--data", "--valid", "--valid-ref", "--batch", "--lengths",
        "--max-data-mb", "--prefix", "--dictionary", "--hyp", "--ref",
        "--empty-references", "--sweep"}},
      {"When to stop",
       {"--steps", "--epochs", "--minutes", "--patience", "--dry-run"}},
      {"Validation and output",
       {"--out", "--resume", "--change", "--metric", "--best-by",
        "--valid-every", "--report-every", "--save-every", "--serve",
        "--tensorboard", "--quiet", "--output", "--emit", "--show", "--title",
        "--width", "--font", "--json", "--scores"}},
      {"Selection",
       {"--drop-empty", "--drop-repeated", "--min-words", "--max-words",
        "--max-chars", "--max-ratio"}},
      {"Parts", {"--split", "--key", "--shuffle", "--seed"}},
      {"Search",
       {"--beam", "--nbest", "--sample", "--temperature", "--top-k", "--top-p",
        "--max-length", "--min-length", "--length-norm", "--replace-unknown"}},
      {"Machine",
       {"--threads", "--dtype", "--cpu", "--target", "--precision", "--cache",
        "--max-activation-mb", "--shard-optimiser", "--max-silence"}},
      {"Debugging",
       {"--reference", "--stop-after", "--explain", "--trace", "--checked",
        "--launches", "--prove"}},
  };
  constexpr size_t most = 8;
  if (command.get_options().size() <= most)
    return;
  // Without parts, a seed belongs to the model.
  bool hasParts = command.get_option_no_throw("--split") != nullptr;
  for (const Group &group : groups)
    for (const std::string &name : group.names)
      if (CLI::Option *option = command.get_option_no_throw(name);
          option && (hasParts || std::string_view(group.title) != "Parts"))
        option->group(group.title);
}

static void groupCommands(CLI::App &app) {
  struct Group {
    const char *title;
    std::vector<const char *> names;
  };
  static const Group groups[] = {
      {"Begin", {"new", "check", "explain"}},
      {"Train and use",
       {"data", "train", "decode", "chat", "score", "eval", "compile"}},
      {"Look inside",
       {"info", "plot", "serve", "params", "run", "bench", "doctor"}},
      {"Tools", {"init", "export", "fmt", "lsp", "completion", "help"}},
  };
  for (const Group &group : groups)
    for (const char *name : group.names)
      app.get_subcommand(name)->group(group.title);
}

void fovea::cli::groupHelp(CLI::App &app) {
  groupCommands(app);
  for (CLI::App *command : app.get_subcommands(nullptr))
    groupOptions(*command);
}

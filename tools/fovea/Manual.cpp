//===- Manual.cpp - what the command line says of itself ------------------===//
//
// Generated from the parser: every accepted option is on the page and is
// completed, with its values.
//
//===----------------------------------------------------------------------===//

#include "tools/fovea/Manual.h"
#include "tools/fovea/Version.h"

#include <CLI/CLI.hpp>

using namespace fovea::cli;

namespace {

using Texts = std::vector<std::string>;

/// An option in the form that all generators need.
struct Described {
  explicit Described(const CLI::Option &option)
      : text(option.get_description()), isPositional(option.get_positional()) {
    for (const std::string &name : option.get_snames())
      flags.push_back("-" + name);
    for (const std::string &name : option.get_lnames())
      flags.push_back("--" + name);
    takesValue = option.get_type_size() > 0;
    isRepeated =
        option.get_expected_max() > 1 || option.get_items_expected_max() > 1;
    // `TEXT:{f32,f64}`, `N:a number of at least 1`, `FILE`.
    std::string type = option.get_type_name();
    size_t open = type.find('{'), close = type.find('}');
    if (open != std::string::npos && close != std::string::npos) {
      std::string list = type.substr(open + 1, close - open - 1);
      for (size_t begin = 0; begin <= list.size();) {
        size_t end = std::min(list.find(',', begin), list.size());
        values.push_back(list.substr(begin, end - begin));
        begin = end + 1;
      }
    }
    value = type.substr(0, type.find(':'));
    if (isPositional)
      value = option.get_name(/*positional=*/true);
  }

  bool takesFile() const {
    return value == "FILE" || value == "NAME=FILE" || value == "DIR";
  }

  Texts flags, values;
  std::string value, text;
  bool isPositional = false, takesValue = false, isRepeated = false;
};

} // namespace

static std::vector<Described> optionsOf(const CLI::App &app) {
  std::vector<Described> result;
  for (const CLI::Option *option : app.get_options(nullptr))
    if (!option->get_group().empty()) // the others are hidden
      result.emplace_back(*option);
  return result;
}

static std::vector<const CLI::App *> commandsOf(const CLI::App &app) {
  return app.get_subcommands([](const CLI::App *) { return true; });
}

static std::string joined(const Texts &texts, const std::string &between) {
  std::string result;
  for (const std::string &text : texts)
    result += (result.empty() ? "" : between) + text;
  return result;
}

/// `text` with `before` before each character that is one of `these`.
static std::string escaped(const std::string &text, const std::string &these,
                           const std::string &before = "\\") {
  std::string result;
  for (char letter : text) {
    if (these.find(letter) != std::string::npos)
      result += before;
    result += letter;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Manual pages
//===----------------------------------------------------------------------===//

/// Escapes text for troff: hyphens stay hyphens, and no line starts a request.
static std::string roff(const std::string &text) {
  std::string result;
  for (char letter : text)
    result += letter == '\\'   ? "\\e"
              : letter == '-'  ? "\\-"
              : letter == '\'' ? "\\(aq"
                               : std::string(1, letter);
  return result.empty() || result[0] != '.' ? result : "\\&" + result;
}

static std::string bold(const std::string &text) {
  return "\\fB" + roff(text) + "\\fR";
}

static std::string italic(const std::string &text) {
  return "\\fI" + roff(text) + "\\fR";
}

static std::string entryOf(const Described &option) {
  Texts flags;
  for (const std::string &flag : option.flags)
    flags.push_back(bold(flag));
  std::string line = joined(flags, ", ");
  std::string value = option.values.empty() ? italic(option.value)
                                            : roff(joined(option.values, "|"));
  if (option.isPositional || option.takesValue)
    line += (line.empty() ? "" : " ") + value;
  return ".TP\n" + line + (option.isRepeated ? " ..." : "") + "\n" +
         roff(option.text) + "\n";
}

std::string fovea::cli::manualPage(const CLI::App &app,
                                   const CLI::App *command) {
  const CLI::App &about = command ? *command : app;
  std::string name = command ? "fovea-" + command->get_name() : "fovea";
  std::string upper = name;
  for (char &letter : upper)
    letter =
        static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  std::vector<Described> options = optionsOf(about);
  std::string page = ".TH " + roff(upper) + " 1 \"\" \"fovea " +
                     versionNumber() + "\" \"Fovea\"\n.SH NAME\n" + roff(name) +
                     " \\- " + roff(about.get_description()) +
                     "\n.SH SYNOPSIS\n";
  if (command) {
    page += ".B fovea " + command->get_name() + "\n[" + italic("options") + "]";
    for (const Described &option : options)
      if (option.isPositional)
        page += " " + italic(option.value) + (option.isRepeated ? " ..." : "");
  } else {
    page += ".B fovea\n" + italic("command") + " [" + italic("options") + "]";
  }
  page += "\n";
  if (!command) {
    page += ".SH COMMANDS\n";
    for (const CLI::App *one : commandsOf(app))
      page += ".TP\n.B " + one->get_name() + "\n" +
              roff(one->get_description()) + "\n";
  }
  page += ".SH OPTIONS\n";
  for (const Described &option : options)
    page += entryOf(option);
  page += ".SH EXIT STATUS\n0: done; 1: error in the input; 2: wrong usage; "
          "3: machine failure (disk, memory, device); 130: interrupted\n.SH "
          "SEE ALSO\n";
  Texts others;
  if (command)
    others.push_back(bold("fovea") + "(1)");
  else
    for (const CLI::App *one : commandsOf(app))
      others.push_back(bold("fovea-" + one->get_name()) + "(1)");
  return page + joined(others, ",\n") + "\n";
}

//===----------------------------------------------------------------------===//
// Completion
//===----------------------------------------------------------------------===//

/// The flags, and the values of options with a fixed set.
static std::string bashCase(const std::string &label, const CLI::App &app) {
  Texts flags;
  std::string cases;
  for (const Described &option : optionsOf(app)) {
    flags.insert(flags.end(), option.flags.begin(), option.flags.end());
    if (option.flags.empty() && !option.values.empty())
      cases = "      values='" + joined(option.values, " ") + "'\n" + cases;
    else if (!option.values.empty())
      cases += "      case $before in " + joined(option.flags, "|") +
               ") values='" + joined(option.values, " ") + "' ;; esac\n";
    else if (option.takesValue && !option.flags.empty())
      cases += "      case $before in " + joined(option.flags, "|") +
               ") values= takes=1 ;; esac\n";
  }
  return "    " + label + ")\n      options='" + joined(flags, " ") + "'\n" +
         cases + "      ;;\n";
}

static std::string bash(const CLI::App &app) {
  Texts names;
  std::string cases = bashCase("''", app);
  for (const CLI::App *command : commandsOf(app)) {
    names.push_back(command->get_name());
    cases += bashCase(command->get_name(), *command);
  }
  return "# bash completion of fovea: eval \"$(fovea completion bash)\"\n"
         "_fovea() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} command= i\n"
         "  local before=${COMP_WORDS[COMP_CWORD-1]} options= values= takes=\n"
         "  # `--dtype=f32` is three words.\n"
         "  [[ $word == '=' ]] && word=\n"
         "  [[ $before == '=' ]] && before=${COMP_WORDS[COMP_CWORD-2]}\n"
         "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
         "    [[ ${COMP_WORDS[i]} == -* ]] && continue\n"
         "    command=${COMP_WORDS[i]}\n"
         "    break\n"
         "  done\n"
         "  case $command in\n" +
         cases +
         "  esac\n"
         "  COMPREPLY=()\n"
         "  if [[ -n $takes ]]; then\n"
         "    return\n"
         "  elif [[ $word == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
         "  elif [[ -n $values ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n"
         "  elif [[ -z $command ]]; then\n"
         "    COMPREPLY=($(compgen -W '" +
         joined(names, " ") +
         "' -- \"$word\"))\n"
         "  fi\n"
         "}\n"
         "# Where nothing of ours fits, files are completed.\n"
         "complete -o default -F _fovea fovea\n";
}

/// Of an option of zsh's `_arguments`.
static std::string zshOf(const Described &option) {
  std::string action = !option.values.empty()
                           ? "(" + joined(option.values, " ") + ")"
                       : option.takesFile() || option.isPositional ? "_files"
                                                                   : " ";
  // A quote closes the word, is escaped, and reopens it.
  auto quoted = [](const std::string &text) {
    std::string result;
    for (char letter : escaped(text, "[]:\\"))
      result += letter == '\'' ? "'\\''" : std::string(1, letter);
    return result;
  };
  if (option.isPositional)
    return std::string("      '") + (option.isRepeated ? "*" : "") + ":" +
           quoted(option.value) + ":" + action + "'";
  std::string lines;
  for (const std::string &flag : option.flags) {
    bool isLong = flag.starts_with("--");
    lines += (lines.empty() ? "" : " \\\n") + std::string("      '*") + flag +
             (option.takesValue ? (isLong ? "=" : "+") : "") + "[" +
             quoted(option.text) + "]";
    if (option.takesValue)
      lines += ":" + quoted(option.value) + ":" + action;
    lines += "'";
  }
  return lines;
}

static std::string zsh(const CLI::App &app) {
  std::string names, cases;
  for (const CLI::App *command : commandsOf(app)) {
    std::string text;
    for (char letter : command->get_description())
      text += letter == '\'' ? "'\\''" : std::string(1, letter);
    names += "    '" + command->get_name() + ":" + text + "'\n";
    cases += "    " + command->get_name() + ") _arguments";
    for (const Described &option : optionsOf(*command))
      cases += " \\\n" + zshOf(option);
    cases += "\n      ;;\n";
  }
  return "#compdef fovea\n"
         "# zsh completion of fovea: fovea completion zsh > _fovea, in a "
         "folder "
         "of $fpath\n"
         "_fovea() {\n"
         "  local -a commands\n"
         "  commands=(\n" +
         names +
         "  )\n"
         "  if (( CURRENT == 2 )); then\n"
         "    _describe command commands\n"
         "    return\n"
         "  fi\n"
         "  shift words\n"
         "  (( CURRENT-- ))\n"
         "  case $words[1] in\n" +
         cases +
         "  esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _fovea ]; then\n"
         "  _fovea \"$@\"\n"
         "else\n"
         "  compdef _fovea fovea\n"
         "fi\n";
}

static std::string fish(const CLI::App &app) {
  std::string result = "# fish completion of fovea: fovea completion fish > "
                       "~/.config/fish/completions/fovea.fish\n";
  auto quoted = [](const std::string &text) {
    return "'" + escaped(text, "'\\") + "'";
  };
  auto add = [&](const std::string &condition, const Described &option) {
    std::string line = "complete -c fovea -n " + condition;
    for (const std::string &flag : option.flags)
      line += flag.starts_with("--") ? " -l " + flag.substr(2)
                                     : " -s " + flag.substr(1);
    if (!option.values.empty())
      line += (option.flags.empty() ? " -f -a '" : " -x -a '") +
              joined(option.values, " ") + "'";
    else if (option.takesValue && !option.flags.empty())
      line += option.takesFile() ? " -r" : " -x";
    if (!option.flags.empty() || !option.values.empty())
      result += line + " -d " + quoted(option.text) + "\n";
  };
  for (const Described &option : optionsOf(app))
    add("__fish_use_subcommand", option);
  for (const CLI::App *command : commandsOf(app))
    result += "complete -c fovea -n __fish_use_subcommand -f -a " +
              command->get_name() + " -d " +
              quoted(command->get_description()) + "\n";
  for (const CLI::App *command : commandsOf(app))
    for (const Described &option : optionsOf(*command))
      add("'__fish_seen_subcommand_from " + command->get_name() + "'", option);
  return result;
}

std::string fovea::cli::completionFor(const CLI::App &app,
                                      const std::string &shell) {
  return shell == "bash" ? bash(app) : shell == "zsh" ? zsh(app) : fish(app);
}

//===- Main.cpp - the command line of fovea -------------------------------===//
//
// Turns arguments into the options of one command and runs it. The only file
// of the program with exceptions: CLI11 reports wrong usage by them.
//
//===----------------------------------------------------------------------===//

#include "tools/fovea/Commands.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <functional>

using namespace fovea;

int main(int argc, char **argv) {
  CLI::App app("Fovea compiles models with attention, written as equations.",
               "fovea");
  app.require_subcommand(1);
  std::function<int()> run;

  FmtOptions fmt;
  CLI::App *command = app.add_subcommand("fmt", "lay out .fov files");
  command->add_option("FILE", fmt.files, "files, or - for standard input")
      ->required();
  CLI::Option *inPlace =
      command->add_flag("-i", fmt.inPlace, "rewrite the files");
  command
      ->add_flag("--check", fmt.check,
                 "print nothing; exit with 1 when a file would change")
      ->excludes(inPlace);
  command->callback([&] { run = [&] { return runFmt(fmt); }; });

  CheckOptions check;
  command = app.add_subcommand("check", "say what is wrong with a model");
  command->add_option("SPEC", check.spec, "a .fov file")->required();
  command->add_flag("--syntax-only", check.syntaxOnly,
                    "only parse: names, shapes and ranges are not checked");
  command->callback([&] { run = [&] { return runCheck(check); }; });

  CompileOptions compile;
  command = app.add_subcommand("compile", "print a stage of the compilation");
  command->add_option("SPEC", compile.spec, "a .fov file")->required();
  command->add_option("--emit", compile.emit, "what to print: ast")
      ->required()
      ->check(CLI::IsMember({"ast"}));
  command->callback([&] { run = [&] { return runCompile(compile); }; });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : exitUsage;
  }
  return run();
}

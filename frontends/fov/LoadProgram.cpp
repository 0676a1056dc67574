//===- LoadProgram.cpp - a spec with the models that it uses --------------===//
//
// `use m` reads the model `m` further down in the file, or the file `m.fov`.
// What a use means is decided in elaborate/ElaborateUses.cpp.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/LoadProgram.h"
#include "frontends/fov/syntax/Parser.h"
#include "frontends/fov/syntax/SourceFile.h"
#include "runtime/data/OpenFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

#include <map>

using namespace fovea;
using namespace fovea::fov;
using ast::StatementKind;

namespace {

/// Reads and parses a file and everything that it uses.
class Loader {
public:
  Loader(const FrontendOptions &options, Diagnostics &diagnostics)
      : directory(options.includeDir), readUsed(options.readUsed),
        diagnostics(diagnostics) {}

  /// Loads a file: its first model, which may use the others.
  std::unique_ptr<Program> loadFile(llvm::StringRef text) {
    std::unique_ptr<Program> program = load(text);
    for (const auto &[name, section] : sections)
      if (!section.isUsed)
        diagnostics.error(Code::unusedModel, section.loc,
                          "nothing uses the model '" + name +
                              "'; help: remove it, or add 'use " + name + "'");
    return program;
  }

private:
  /// A model in the same file as the one that uses it.
  struct Section {
    llvm::StringRef text;
    llvm::SMLoc loc;
    bool isUsed = false;
  };

  std::unique_ptr<Program> load(llvm::StringRef text) {
    ++numFiles;
    auto program = std::make_unique<Program>();
    program->source = text;
    program->file = parse(text, diagnostics);
    if (!program->file)
      return nullptr;
    addSections(program->file->rest);
    for (ast::Statement *s : program->file->statements) {
      if (s->kind != StatementKind::Use)
        continue;
      Program::Import import{s->name.str(), s->model.str(), s, nullptr};
      if (std::optional<llvm::StringRef> used = read(s->model, s->loc)) {
        open.push_back(s->model.str());
        import.program = load(*used);
        open.pop_back();
      }
      program->imports.push_back(std::move(import));
    }
    return program;
  }

  void addSections(llvm::StringRef rest) {
    while (!rest.empty()) {
      std::unique_ptr<ast::File> file = parse(rest, diagnostics);
      llvm::StringRef text = rest.drop_back(file->rest.size());
      rest = file->rest;
      if (file->model.empty())
        continue;
      auto [known, isNew] = sections.try_emplace(file->model.str(),
                                                 Section{text, file->modelLoc});
      if (!isNew)
        diagnostics.error(Code::declaredTwice, file->modelLoc,
                          "'" + file->model.str() + "' is declared twice",
                          {{known->second.loc, "it is first declared here"}});
    }
  }

  std::optional<llvm::StringRef> read(llvm::StringRef model, llvm::SMLoc loc) {
    if (llvm::is_contained(open, model)) {
      if (selfUsers.insert(model).second)
        diagnostics.error(Code::usesItself, loc,
                          "'" + model.str() + "' uses itself");
      return std::nullopt;
    }
    if (numFiles == maxFiles) {
      diagnostics.error(Code::tooLarge, loc,
                        "this model uses more than " +
                            std::to_string(maxFiles) + " files");
      return std::nullopt;
    }
    if (auto section = sections.find(model.str()); section != sections.end()) {
      section->second.isUsed = true;
      return section->second.text;
    }
    auto [file, isNew] = files.try_emplace(model.str(), std::nullopt);
    if (isNew)
      file->second = readFile(model, loc);
    return file->second;
  }

  std::optional<llvm::StringRef> readFile(llvm::StringRef model,
                                          llvm::SMLoc loc) {
    llvm::SmallString<128> path(directory);
    llvm::sys::path::append(path, model + ".fov");
    std::string file, why;
    std::optional<std::string> text;
    if (readUsed)
      text = readUsed(path.str().str());
    if (!text &&
        runtime::findBeside(directory, model.str() + ".fov", file, why)) {
      text = readSource(path.str().str(), why);
      why.clear(); // that it is not there needs no more words
    }
    if (directory.empty() || !text) {
      diagnostics.error(Code::unreadableFile, loc,
                        "cannot read '" + std::string(path) + "' of 'use " +
                            model.str() + "'" +
                            (why.empty() ? "" : ": " + why));
      return std::nullopt;
    }
    return diagnostics.addSource(llvm::sys::path::remove_leading_dotslash(path),
                                 std::move(*text));
  }

  static constexpr unsigned maxFiles = 64;
  std::string directory;
  decltype(FrontendOptions::readUsed) readUsed;
  Diagnostics &diagnostics;
  std::vector<std::string> open;
  std::map<std::string, Section> sections;
  // Each file is read once, so that its mistakes are reported once.
  std::map<std::string, std::optional<llvm::StringRef>> files;
  llvm::StringSet<> selfUsers;
  unsigned numFiles = 0;
};

} // namespace

std::unique_ptr<Program> fovea::fov::loadProgram(llvm::StringRef text,
                                                 const FrontendOptions &options,
                                                 Diagnostics &diagnostics) {
  return Loader(options, diagnostics).loadFile(text);
}

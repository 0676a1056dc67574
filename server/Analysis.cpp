//===- Analysis.cpp - all that is known of one file -----------------------===//

#include "server/Analysis.h"
#include "codegen/native/ObjectCache.h"
#include "frontends/fov/CheckSpec.h"
#include "frontends/fov/Recheck.h"
#include "frontends/fov/syntax/Lexer.h"
#include "frontends/fov/syntax/Parser.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <set>

using namespace fovea;
using namespace fovea::editors;
using llvm::SMLoc;
using llvm::SourceMgr;
using llvm::StringRef;
namespace lsp = llvm::lsp;

Analysis::Analysis(const std::string &path, const std::string &text,
                   const ReadOpen &readOpen, const std::atomic<bool> &stop)
    : path(path) {
  diagnostics = std::make_unique<Diagnostics>(llvm::nulls(), mostProblems);
  check(text, readOpen, stop);
}

Analysis::~Analysis() = default;

void Analysis::listenTo(Diagnostics &diagnostics,
                        std::vector<Message> &messages) {
  diagnostics.listen([&](SourceMgr::DiagKind kind, Code code, SMLoc loc,
                         const std::string &text) {
    messages.push_back({kind, code, loc, text});
  });
}

/// Turns messages into problems.
void Analysis::addMessages(llvm::ArrayRef<Message> messages) {
  for (const Message &message : messages)
    add(message.kind, message.code, present(message.loc), message.text);
}

void Analysis::check(const std::string &text, const ReadOpen &readOpen,
                     const std::atomic<bool> &stop) {
  std::vector<Message> messages;
  Description description;
  FrontendOptions options;
  options.includeDir = llvm::sys::path::parent_path(path).str();
  options.readUsed = readOpen;
  options.facts = &facts;
  listenTo(*diagnostics, messages);
  spec = fov::checkSpec(text, path, options, *diagnostics, description,
                        fov::Systems::training, &stop);
  diagnostics->listen(nullptr);
  stopped = stop;
  if (stopped)
    return;
  isGood = spec != nullptr;
  if (isGood)
    dimValues = description.dims;
  findFiles();
  addMessages(messages);
  if (!isGood)
    return;
  recheck = std::make_unique<fov::Recheck>(*spec, lines().text(), *diagnostics);
  early = takeEarly(messages, spec->numEarlier);
}

/// The first warnings, with their notes.
std::vector<Analysis::Message>
Analysis::takeEarly(llvm::ArrayRef<Message> messages, unsigned count) {
  std::vector<Message> result;
  for (const Message &message : messages) {
    if (message.kind == SourceMgr::DK_Warning && count-- == 0)
      break;
    result.push_back(message);
  }
  return result;
}

bool Analysis::amend(const std::string &newText) {
  if (!recheck)
    return false;
  std::vector<Message> messages, late;
  listenTo(*diagnostics, messages);
  bool isAmended =
      recheck->amend(newText, [&](SourceMgr::DiagKind kind, Code code,
                                  SMLoc loc, const std::string &text) {
        late.push_back({kind, code, loc, text});
      });
  diagnostics->listen(nullptr);
  if (!isAmended)
    return false;
  // What was said elsewhere. Texts with the number of a line are old.
  std::vector<Message> kept;
  bool isKept = true;
  for (const Message &message : early) {
    if (message.kind != SourceMgr::DK_Note)
      isKept =
          !message.loc.isValid() || recheck->placeOf(message.loc).isValid();
    if (!isKept)
      continue;
    if (StringRef(message.text).contains("line"))
      return false;
    kept.push_back(message);
  }
  llvm::append_range(kept, messages);
  size_t numEarly = kept.size();
  llvm::append_range(kept, late);
  recheck->updateFacts(facts);
  factsAt.clear();
  resolved.reset();
  Lines before = lines();
  std::vector<Problem> problems = std::move(found);
  found.clear();
  isRepeating = false;
  allLines[mainFile] = Lines(recheck->text());
  addMessages(kept);
  kept.resize(numEarly);
  early = std::move(kept);
  keepTrial(problems, before);
  return true;
}

/// A place in the present text.
SMLoc Analysis::present(SMLoc loc) const {
  return recheck ? recheck->placeOf(loc) : loc;
}

/// Finds the files that the check read.
void Analysis::findFiles() {
  SourceMgr &sources = diagnostics->sources();
  std::set<std::string> known;
  // What a file uses was read after it: the last comes first, but for the
  // prelude, which the compiler reads before all.
  unsigned count = sources.getNumBuffers();
  std::vector<unsigned> order;
  if (count > 0)
    order.push_back(1);
  for (unsigned id = count; id > 1; --id)
    order.push_back(id);
  for (unsigned id : order) {
    const llvm::MemoryBuffer &buffer = *sources.getMemoryBuffer(id);
    std::string name = buffer.getBufferIdentifier().str();
    if (id > 2 && !known.insert(name).second)
      continue; // read a second time
    paths.push_back(name);
    allLines.emplace_back(buffer.getBuffer());
  }
  mainFile = paths.size() - 1;
}

/// Finds the names of all files that the check read.
const Names &Analysis::names() const {
  if (resolved)
    return *resolved;
  std::vector<Names::File> files;
  std::map<std::string, int> fileOf; // by path
  Diagnostics silent(llvm::nulls());
  for (auto [name, lines] : llvm::zip_equal(paths, allLines)) {
    Names::File &file = files.emplace_back();
    file.text = lines.text();
    file.ast = parse(file.text, silent);
    if (!file.ast)
      file.ast = std::make_unique<ast::File>();
    for (const ast::Statement *s : file.ast->statements) {
      if (s->kind != ast::StatementKind::Use)
        continue;
      llvm::SmallString<128> used(llvm::sys::path::parent_path(path));
      llvm::sys::path::append(used, s->model + ".fov");
      auto known =
          fileOf.find(llvm::sys::path::remove_leading_dotslash(used).str());
      file.used[s->model.str()] = known == fileOf.end() ? -1 : known->second;
    }
    if (files.size() > 1 && files.size() < paths.size())
      fileOf[name] = files.size() - 1;
  }
  resolved = std::make_unique<Names>(std::move(files));
  return *resolved;
}

bool Analysis::reads(StringRef other) const {
  return llvm::is_contained(paths, other);
}

std::string Analysis::pathOf(unsigned file) const {
  if (file > 0)
    return paths[file];
  // The prelude is part of the program; editors open files.
  llvm::SmallString<128> copy(codegen::ObjectCache::defaultFolder());
  if (copy.empty() || llvm::sys::fs::make_absolute(copy) ||
      llvm::sys::fs::create_directories(copy))
    return "";
  llvm::sys::path::append(copy, "prelude.fov");
  auto known = llvm::MemoryBuffer::getFile(copy);
  if (known && (*known)->getBuffer() == fov::preludeText())
    return copy.str().str();
  if (llvm::Error error = llvm::writeToOutput(copy, [](llvm::raw_ostream &out) {
        out << fov::preludeText();
        return llvm::Error::success();
      })) {
    llvm::consumeError(std::move(error));
    return "";
  }
  return copy.str().str();
}

//===----------------------------------------------------------------------===//
// What is wrong
//===----------------------------------------------------------------------===//

/// The word at a place, as the lexer sees it.
static StringRef wordAt(const Lines &lines, SMLoc loc) {
  const char *begin = loc.getPointer();
  StringRef rest(begin, lines.text().end() - begin);
  rest = rest.take_until([](char c) { return c == '\n' || c == '\r'; });
  Diagnostics silent(llvm::nulls());
  Token token = Lexer(rest, silent).next();
  if (token.is(Token::EndOfFile) || token.text.begin() < begin)
    return rest.take_front(0);
  return StringRef(begin, std::max<size_t>(1, token.end() - begin))
      .take_front(rest.size());
}

/// The range of the word at a place, and its file; of what has no place the
/// begin of the main file.
lsp::Range Analysis::placeOf(SMLoc loc, unsigned &file) const {
  for (file = 0; loc.isValid() && file < allLines.size(); ++file)
    if (allLines[file].contains(loc.getPointer()))
      return allLines[file].rangeOf(wordAt(allLines[file], loc));
  file = mainFile;
  return lsp::Range();
}

/// Where the main file uses another.
lsp::Range Analysis::useOf(unsigned file) const {
  StringRef stem = llvm::sys::path::stem(paths[file]);
  const ast::Statement *first = nullptr;
  for (const ast::Statement *s : names().files()[mainFile].ast->statements) {
    if (s->kind != ast::StatementKind::Use)
      continue;
    if (s->model == stem)
      return lines().rangeOf(s->model);
    first = first ? first : s;
  }
  return first ? lines().rangeOf(first->model) : lsp::Range();
}

void Analysis::add(SourceMgr::DiagKind kind, Code code, SMLoc loc,
                   const std::string &text) {
  unsigned file;
  lsp::Range range = placeOf(loc, file);
  if (paths[file] == path) // read a second time, by itself
    file = mainFile;
  if (kind == SourceMgr::DK_Note) {
    std::string where = pathOf(file);
    if (found.empty() || isRepeating || !loc.isValid() || where.empty())
      return;
    auto uri = lsp::URIForFile::fromFile(where);
    if (!uri)
      return llvm::consumeError(uri.takeError());
    auto &related = found.back().diagnostic.relatedInformation;
    if (!related)
      related.emplace();
    related->emplace_back(lsp::Location(*uri, range), clean(text));
    return;
  }
  isRepeating = false;
  Problem &problem = found.emplace_back();
  problem.code = code;
  lsp::Diagnostic &diagnostic = problem.diagnostic;
  diagnostic.source = "fovea";
  diagnostic.severity = kind == SourceMgr::DK_Error
                            ? lsp::DiagnosticSeverity::Error
                            : lsp::DiagnosticSeverity::Warning;
  diagnostic.message = clean(text);
  diagnostic.range = range;
  if (file != mainFile) {
    // Reported where this file uses the other.
    diagnostic.range = useOf(file);
    diagnostic.message = llvm::sys::path::filename(paths[file]).str() + ":" +
                         std::to_string(range.start.line + 1) + ": " +
                         diagnostic.message;
    add(SourceMgr::DK_Note, Code::none, loc, "here");
    return;
  }
  bool isRepeated = llvm::any_of(
      llvm::ArrayRef(found).drop_back(), [&](const Problem &other) {
        return other.diagnostic.range == range &&
               other.diagnostic.message == diagnostic.message;
      });
  if (isRepeated) {
    found.pop_back();
    isRepeating = true;
    return;
  }
  if (StringRef(text).ends_with("is never used"))
    diagnostic.tags.push_back(lsp::DiagnosticTag::Unnecessary);
  if (loc.isValid())
    addFixes(problem, wordAt(lines(), loc), text);
}

void Analysis::addFixes(Problem &problem, StringRef word,
                        const std::string &text) {
  problem.fixes = fixesOf(lines(), word, text);
  const lsp::Diagnostic &diagnostic = problem.diagnostic;
  if (diagnostic.severity == lsp::DiagnosticSeverity::Warning) {
    StringRef line = lines().line(diagnostic.range.start.line);
    if (!line.contains('#')) {
      lsp::Position end =
          lines().positionOf(line.rtrim().end() - lines().text().begin());
      problem.fixes.push_back(
          {"Mark this as intended", {lsp::Range(end, end), "  # as meant"}});
    }
  }
}

//===----------------------------------------------------------------------===//
// What is known
//===----------------------------------------------------------------------===//

std::vector<const SpecFacts::ArrayFact *>
Analysis::factsOf(const Declaration &declaration) const {
  std::vector<const SpecFacts::ArrayFact *> result;
  if (factsAt.empty())
    for (auto [number, fact] : llvm::enumerate(facts.arrays))
      factsAt[present(fact.loc).getPointer()].push_back(number);
  for (StringRef place : declaration.places)
    if (auto at = factsAt.find(place.data()); at != factsAt.end())
      for (unsigned number : at->second)
        result.push_back(&facts.arrays[number]);
  if (!result.empty() || declaration.def)
    return result;
  auto it = older.find(declaration.name.str());
  if (it != older.end())
    for (const SpecFacts::ArrayFact &fact : it->second)
      result.push_back(&fact);
  return result;
}

const SpecFacts::IndexFact *
Analysis::indexFactOf(const Declaration &declaration) const {
  for (StringRef place : declaration.places)
    for (const SpecFacts::IndexFact &fact : facts.indices)
      if (present(fact.loc).getPointer() == place.data())
        return &fact;
  return nullptr;
}

StringRef Analysis::stepOf(StringRef name) const {
  auto it = steps.find(name.str());
  if (it != steps.end())
    return it->second;
  // The first member of a family represents all.
  it = steps.lower_bound(name.str() + ".");
  return it != steps.end() && StringRef(it->first).starts_with(name.str() + ".")
             ? StringRef(it->second)
             : StringRef();
}

void Analysis::keepFactsOf(const Analysis &last) {
  if (dimValues.empty())
    dimValues = last.dimValues;
  older = last.older;
  for (const Declaration &declaration : last.names().declarations()) {
    if (declaration.file != last.mainFile || declaration.def)
      continue;
    std::vector<SpecFacts::ArrayFact> kept;
    for (const SpecFacts::ArrayFact *fact : last.factsOf(declaration))
      kept.push_back(*fact);
    if (!kept.empty())
      older[declaration.name.str()] = std::move(kept);
  }
}

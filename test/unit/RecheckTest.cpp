//===- RecheckTest.cpp - a text that is amended, against a whole check ----===//
//
// Edits all models of the repository at random places. What is known after each
// edit must be what a check of the whole text finds, whether the text is right
// or not. `--gtest_random_seed=N` makes other edits.
//
//===----------------------------------------------------------------------===//

#include "server/Analysis.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

#include <random>

using namespace fovea;
using namespace fovea::editors;
using llvm::StringRef;

namespace {

const std::atomic<bool> never = false;

std::unique_ptr<Analysis> check(const std::string &path,
                                const std::string &text) {
  auto none = [](const std::string &) { return std::nullopt; };
  return std::make_unique<Analysis>(path, text, none, never);
}

/// `gru#2.h`: the number of the call.
std::string withoutCalls(StringRef name) {
  std::string result;
  while (!name.empty()) {
    auto [before, after] = name.split('#');
    result += before;
    name = after.drop_while(llvm::isDigit);
  }
  return result;
}

/// Every message and fact, sorted.
std::vector<std::string> factsOf(const Analysis &analysis) {
  std::vector<std::string> result;
  for (const Problem &problem : analysis.problems()) {
    std::string text;
    llvm::raw_string_ostream out(text);
    out << idOf(problem.code) << " " << toJSON(problem.diagnostic);
    for (const Fix &fix : problem.fixes)
      out << " " << fix.title << " " << toJSON(fix.edit);
    result.push_back(text);
  }
  for (const Declaration &declaration : analysis.names().declarations()) {
    if (declaration.file == 0)
      continue;
    std::string at = std::to_string(declaration.places.front().begin() -
                                    analysis.lines().text().begin()) +
                     " " + declaration.name.str();
    std::vector<std::string> members;
    for (const SpecFacts::ArrayFact *fact : analysis.factsOf(declaration))
      members.push_back(at + ": " + withoutCalls(fact->name) + " " +
                        fact->shape + " " + fact->kind);
    llvm::sort(members);
    llvm::append_range(result, members);
    // An index of a def has the range of any of its calls.
    if (const SpecFacts::IndexFact *fact =
            declaration.def ? nullptr : analysis.indexFactOf(declaration))
      result.push_back(at + " < " + fact->extent);
  }
  llvm::sort(result);
  return result;
}

class Edits {
public:
  Edits(unsigned seed) : random(seed) {}

  /// A text that differs from `text` at one place, or at a few.
  std::string edit(const std::string &text) {
    std::vector<std::pair<size_t, size_t>> numbers, names, operators;
    bool inComment = false;
    for (size_t at = 0; at < text.size(); ++at) {
      char c = text[at];
      inComment = c == '#' || (inComment && c != '\n');
      if (inComment)
        continue;
      if (StringRef("+-*/").contains(c) && at > 0 && text[at - 1] == ' ')
        operators.push_back({at, 1});
      if (!llvm::isAlnum(c) && c != '_')
        continue;
      size_t length = 1;
      while (llvm::isAlnum(text[at + length]) || text[at + length] == '_')
        ++length;
      (llvm::isDigit(c) ? numbers : names).push_back({at, length});
      at += length - 1;
    }
    auto replaced = [&](auto &places, const std::string &by) {
      if (places.empty())
        return text + "\n";
      auto [at, length] = places[below(places.size())];
      return text.substr(0, at) + by + text.substr(at + length);
    };
    std::vector<std::string> lines = linesOf(text);
    std::vector<size_t> equations;
    for (size_t i = 0; i < lines.size(); ++i)
      if (StringRef(lines[i]).contains(" = ") && (llvm::isAlpha(lines[i][0])) &&
          StringRef(lines[i]).contains('[') &&
          StringRef(lines[i]).find('[') < StringRef(lines[i]).find('='))
        equations.push_back(i);
    size_t line = below(lines.size());
    if (!equations.empty() && below(4))
      line = equations[below(equations.size())];
    std::string &chosen = lines[line];
    switch (below(12)) {
    case 0:
      return replaced(numbers, std::to_string(below(9)));
    case 1:
      return replaced(operators, std::string(1, "+-*/"[below(4)]));
    case 2: {
      auto [at, length] = names[below(names.size())];
      return replaced(names, text.substr(at, length));
    }
    case 3:
      chosen += " + 0.5";
      break;
    case 4:
      chosen += "  # as meant";
      break;
    case 5:
      lines.insert(lines.begin() + line, "# a comment");
      break;
    case 6: // the right side of another
      if (!equations.empty()) {
        std::string other = lines[equations[below(equations.size())]];
        size_t begin = chosen.find(" = ");
        if (begin != std::string::npos)
          chosen = chosen.substr(0, begin) + other.substr(other.find(" = "));
      }
      break;
    case 7: // and of more
      if (size_t begin = chosen.find(" = ");
          begin != std::string::npos && !equations.empty()) {
        std::string other = lines[equations[below(equations.size())]];
        chosen += " + " + other.substr(other.find(" = ") + 3);
      }
      break;
    case 8: { // a name of an equation
      auto [at, length] = names[below(names.size())];
      size_t begin = chosen.find(" = ");
      if (begin != std::string::npos)
        chosen = chosen.substr(0, begin) + " = " +
                 (below(2) ? "tanh(" : "2 * (") + chosen.substr(begin + 3) +
                 (below(8) ? ")" : ") + " + text.substr(at, length));
      break;
    }
    case 9: // reads itself
      if (size_t begin = chosen.find(" = "); begin != std::string::npos)
        chosen += " + " + chosen.substr(0, begin);
      break;
    case 10:
      chosen = " " + chosen;
      break;
    default:
      lines.erase(lines.begin() + line);
    }
    return llvm::join(lines, "\n");
  }

  unsigned below(size_t count) { return random() % count; }

private:
  static std::vector<std::string> linesOf(StringRef text) {
    llvm::SmallVector<StringRef> lines;
    text.split(lines, '\n');
    return std::vector<std::string>(lines.begin(), lines.end());
  }

  std::mt19937 random;
};

TEST(RecheckTest, FindsWhatAWholeCheckFinds) {
  unsigned seed = testing::UnitTest::GetInstance()->random_seed();
  unsigned amended = 0, right = 0;
  std::error_code error;
  std::vector<std::string> paths;
  for (llvm::sys::fs::directory_iterator it(FOVEA_MODELS, error), end;
       it != end && !error; it.increment(error))
    if (llvm::sys::path::extension(it->path()) == ".fov")
      paths.push_back(it->path());
  llvm::sort(paths);
  for (const std::string &path : paths) {
    Edits edits(seed + std::hash<std::string>()(path));
    std::string text = (*llvm::MemoryBuffer::getFile(path))->getBuffer().str();
    std::string before = text;
    auto analysis = check(path, text);
    for (unsigned i = 0; i < 6; ++i) {
      std::string next = edits.edit(text);
      auto fresh = check(path, next);
      right += fresh->canBeTried();
      if (analysis->amend(next)) {
        ++amended;
        ASSERT_EQ(factsOf(*fresh), factsOf(*analysis)) << path << " after\n"
                                                       << text << "\nbecame\n"
                                                       << next;
      } else {
        // What is known of the text before stays.
        if (fresh->canBeTried())
          analysis = std::move(fresh);
        else
          analysis = check(path, text);
      }
      if (analysis->lines().text() == next)
        text = next;
    }
  }
  // Not each text is right, and not each edit is of an equation.
  EXPECT_GT(amended * 6, right);
}

} // namespace

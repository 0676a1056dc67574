//===- MutateSpecs.cpp - fovea-mutate: broken models, thousands a second --===//
//
// Splits models into words, signs and lines, damages them and passes them to
// tryText. The same seed makes the same texts. A text that crashes, hangs or
// breaks a promise is written to a file, whose name is printed.
//
//===----------------------------------------------------------------------===//

#include "tools/fuzz/Target.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"

#include <csignal>
#include <fcntl.h>
#include <random>
#include <unistd.h>

using namespace fovea;
using namespace llvm;

static cl::OptionCategory category("fovea-mutate");
static cl::list<std::string> seeds(cl::Positional, cl::desc("MODEL.."),
                                   cl::OneOrMore, cl::cat(category));
static cl::opt<unsigned> number("number", cl::init(1000), cl::cat(category),
                                cl::desc("texts to try"));
static cl::opt<unsigned> start("seed", cl::init(1), cl::cat(category),
                               cl::desc("of the random numbers"));
static cl::opt<unsigned> seconds("seconds", cl::init(10), cl::cat(category),
                                 cl::desc("that one text may take"));
static cl::opt<bool> compile("compile", cl::cat(category),
                             cl::desc("go beyond parsing, through every pass"));
static cl::opt<std::string>
    messageFile("messages", cl::cat(category),
                cl::desc("where all that is said is written, whatever it says; "
                         "each text's messages stand below its number"));
static cl::opt<std::string> includeDir("include", cl::cat(category),
                                       cl::desc("where `use` looks"));
static cl::opt<std::string> keep("keep", cl::init("fovea-mutate.fov"),
                                 cl::cat(category),
                                 cl::desc("where a text that fails is kept"));

// The output of the signal handler: only async-signal-safe calls.
static StringRef current;
static char keepPath[4096];

static void fail(int signal) {
  int file = open(keepPath, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  (void)!write(file, current.data(), current.size());
  StringRef what = signal == SIGALRM ? "hangs: see " : "crashes: see ";
  (void)!write(STDOUT_FILENO, what.data(), what.size());
  (void)!write(STDOUT_FILENO, keepPath, strlen(keepPath));
  (void)!write(STDOUT_FILENO, "\n", 1);
  _exit(1);
}

static void catchFailures() {
  // A separate stack: the main stack may have overflowed.
  static char stack[1 << 16];
  stack_t alternative = {};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof(stack);
  sigaltstack(&alternative, nullptr);
  struct sigaction action = {};
  action.sa_handler = fail;
  action.sa_flags = SA_ONSTACK;
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM})
    sigaction(signal, &action, nullptr);
}

/// Runs of word characters, and everything else character by character.
static std::vector<std::string> split(StringRef text) {
  std::vector<std::string> pieces;
  while (!text.empty()) {
    StringRef word =
        text.take_while([](char c) { return isAlnum(c) || c == '_'; });
    StringRef piece = word.empty() ? text.take_front() : word;
    pieces.push_back(piece.str());
    text = text.drop_front(piece.size());
  }
  return pieces;
}

namespace {

class Mutator {
public:
  Mutator(std::vector<std::string> texts, unsigned seed)
      : texts(std::move(texts)), random(seed) {
    for (const std::string &text : this->texts) {
      for (StringRef line : llvm::split(text, '\n'))
        lines.push_back(line.str() + "\n");
      for (std::string &piece : split(text))
        pool.push_back(std::move(piece));
    }
    for (const char *word :
#define KEYWORD(word) #word,
#define REDUCER(word) #word,
#define NORMALISER(word) #word,
#define SIGN(name, text) text,
         {
#include "frontends/fov/syntax/Tokens.def"
             "0",
             "-1",
             "9223372036854775807",
             "9223372036854775808",
             "1e999",
             "1e-9",
             "\"",
             "#",
             "\r",
             "\t",
             "\n",
             "\n\n",
             "é",
             "\xff",
             "\xc3",
             "\xe2\x80\xae",
             "_",
             "$",
             "x[i]",
             "(",
             "((((((((",
             "[[[[[[[["})
      for (int i = 0; i < 30; ++i)
        pool.push_back(word);
  }

  /// With `careful`, words stand for words, numbers for numbers and lines for
  /// lines, so that most texts parse.
  std::string next(bool careful) {
    std::vector<std::string> pieces = split(any(texts));
    if (careful) {
      for (size_t times = 1 + random() % 3; times > 0; --times)
        exchange(pieces);
      return join(pieces, "");
    }
    for (size_t times = 1 + random() % 4; times > 0 && !pieces.empty(); --times)
      damage(pieces);
    return join(pieces, "");
  }

private:
  template <typename T> const T &any(const std::vector<T> &list) {
    return list[random() % list.size()];
  }

  static bool isWord(const std::string &piece) {
    return isAlpha(piece[0]) || piece[0] == '_';
  }

  /// The pieces of the line around `at`, including its end.
  static std::pair<size_t, size_t>
  lineAround(const std::vector<std::string> &pieces, size_t at) {
    size_t from = at, to = at;
    while (from > 0 && pieces[from - 1] != "\n")
      --from;
    while (to < pieces.size() && pieces[to] != "\n")
      ++to;
    return {from, std::min(to + 1, pieces.size())};
  }

  void exchange(std::vector<std::string> &pieces) {
    if (pieces.empty())
      return;
    size_t at = random() % pieces.size();
    auto likeAt = [&](auto is) {
      for (size_t tries = 0; tries < 200 && !is(pieces[at]); ++tries)
        at = random() % pieces.size();
      size_t other = at;
      for (size_t tries = 0; tries < 200; ++tries)
        if (is(pieces[other = random() % pieces.size()]))
          return other;
      return at;
    };
    auto isNumber = [](const std::string &piece) { return isDigit(piece[0]); };
    auto isSign = [](const std::string &piece) {
      return StringRef("+-*/^@<>").contains(piece[0]);
    };
    auto [from, to] = lineAround(pieces, at);
    switch (random() % 8) {
    case 0:
    case 1:
    case 2: {
      size_t other = likeAt(isWord);
      pieces[at] = pieces[other];
      break;
    }
    case 3: {
      static const char *numbers[] = {"0", "1", "2", "3", "7", "1000000007"};
      likeAt(isNumber);
      if (isNumber(pieces[at]))
        pieces[at] = numbers[random() % std::size(numbers)];
      break;
    }
    case 4: {
      size_t other = likeAt(isSign);
      pieces[at] = pieces[other];
      break;
    }
    case 5:
      pieces.erase(pieces.begin() + from, pieces.begin() + to);
      break;
    case 6: {
      std::vector<std::string> line = split(any(lines));
      pieces.insert(pieces.begin() + from, line.begin(), line.end());
      break;
    }
    case 7: {
      likeAt(isWord);
      std::string word = pieces[at];
      if (isWord(word))
        pieces.insert(pieces.begin() + at + 1,
                      random() % 2 ? std::string("-1") : std::string("+1"));
      break;
    }
    }
  }

  void damage(std::vector<std::string> &pieces) {
    size_t at = random() % pieces.size();
    auto place = pieces.begin() + at;
    size_t some = std::min<size_t>(1 + random() % 8, pieces.size() - at);
    switch (random() % 10) {
    case 0:
      pieces.erase(place, place + some);
      break;
    case 1:
      std::swap(*place, pieces[random() % pieces.size()]);
      break;
    case 2:
    case 3:
      *place = any(pool);
      break;
    case 4:
    case 5:
      pieces.insert(place, any(pool));
      break;
    case 6: {
      std::vector<std::string> copy(place, place + some);
      size_t to = random() % pieces.size();
      pieces.insert(pieces.begin() + to, copy.begin(), copy.end());
      break;
    }
    case 7:
      while (place != pieces.end() && *place != "\n")
        ++place;
      pieces.insert(place == pieces.end() ? place : place + 1, any(lines));
      break;
    case 8:
      if (random() % 8 == 0)
        pieces.insert(place, random() % 2000, *place);
      else
        pieces.insert(place, std::string(1, char(random())));
      break;
    case 9:
      if (random() % 4 == 0)
        pieces.resize(at);
      else
        (*place)[random() % place->size()] ^= 1 << random() % 8;
      break;
    }
  }

  std::vector<std::string> texts, lines, pool;
  std::mt19937 random;
};

} // namespace

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Damages models and parses them\n");
  std::vector<std::string> texts;
  for (const std::string &path : seeds) {
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
    if (!buffer) {
      errs() << "error: '" << path
             << "' cannot be read: " << buffer.getError().message() << '\n';
      return 1;
    }
    texts.push_back((*buffer)->getBuffer().str());
  }
  strncpy(keepPath, keep.c_str(), sizeof(keepPath) - 1);
  catchFailures();

  // A context keeps every type and attribute that was ever made in it.
  constexpr unsigned textsPerContext = 200;
  std::optional<mlir::MLIRContext> context;
  unsigned tried = 0;
  unsigned counts[4] = {};
  unsigned numTexts = 0;
  std::unique_ptr<raw_fd_ostream> said;
  if (!messageFile.empty()) {
    std::error_code failure;
    said = std::make_unique<raw_fd_ostream>(messageFile, failure);
    if (failure) {
      errs() << "error: '" << messageFile
             << "' cannot be written: " << failure.message() << '\n';
      return 1;
    }
  }
  auto attempt = [&](StringRef text) {
    current = text;
    if (compile && tried++ % textsPerContext == 0)
      context.emplace(mlir::MLIRContext::Threading::DISABLED);
    alarm(seconds);
    if (!said)
      return fuzz::tryText(text, context ? &*context : nullptr, includeDir);
    std::string messages;
    fuzz::Outcome outcome = fuzz::tryText(text, context ? &*context : nullptr,
                                          includeDir, &messages);
    std::string mistake = fuzz::wordingMistake(messages);
    *said << "== " << numTexts++ << '\n' << messages;
    if (!mistake.empty())
      *said << "!! " << mistake << '\n';
    return outcome;
  };
  // Unchanged: with `--number 0` a kept text reproduces its
  // failure.
  for (const std::string &text : texts)
    attempt(text);
  Mutator mutator(std::move(texts), start);
  for (unsigned i = 0; i < number; ++i)
    ++counts[int(attempt(mutator.next(compile && i % 4 != 0)))];
  outs() << number << " texts: " << counts[0] << " refused by the parser, "
         << counts[1] << " parsed, " << counts[2] << " compiled, " << counts[3]
         << " scheduled\n";
  return 0;
}

//===- Harness.cpp - checks many random specs -----------------------------===//
//
// fovea-random --seeds 0..499     all checks of each seed; a line per failure
//     --compiled               only checks of compiled code
//     --bits                   only checks that generated names have the log p
//                              of their score, bit for bit, for several
//                              examples; otherwise three seeds of four are
//                              checked with one example
//     --every-program          both precisions for each seed
//     --cpu x86-64-v3          compiles for another CPU than this one
//     --same-as x86-64-v4      checks that this CPU, or cuda, has the same bits
//     --bf16                   rounds factors: the bits are others, and the
//                              same in any batch
//     --mistakes 20            plants mistakes into each spec's gradients, and
//                              counts the ones that the checks find
//     --launches               interprets the launches of programs, and
//                              compares compiled code after each
//     --carries                decoders with states of every kind: their
//                              compiled beams must equal the interpreter's
//     --nearly                 the same; many of the specs cannot be decoded
// fovea-random --print 7          the spec of a seed
// fovea-random --shrink 7         the smallest part of it that fails alike
// fovea-random --features 0..499  how often each part of the language occurs
//
//===----------------------------------------------------------------------===//

#include "dialect/AttnDialect.h"
#include "test/random/Carries.h"
#include "test/random/Checks.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

using namespace fovea::random;
namespace cl = llvm::cl;

static cl::opt<std::string> seeds("seeds", cl::desc("check the seeds A..B"));
static cl::opt<std::string> features("features",
                                     cl::desc("count features of A..B"));
static cl::opt<int64_t> print("print", cl::desc("print the spec of a seed"),
                              cl::init(-1));
static cl::opt<bool> compiledOnly("compiled",
                                  cl::desc("check compiled code and no more"));
static cl::opt<bool> bitsOnly("bits",
                              cl::desc("check that log p of what is generated "
                                       "has the bits of its score, alone"));
static cl::opt<bool>
    everyProgram("every-program",
                 cl::desc("compile each program of a seed in each precision"));
static cl::opt<int64_t>
    mistakes("mistakes", cl::desc("put so many mistakes into compiled gradients"
                                  " and count those that are found"));
static cl::opt<bool>
    debugPool("debug-pool",
              cl::desc("run programs with units in random order and NaN in "
                       "free memory, and cut some live ranges short"));
static cl::opt<bool>
    checked("checked", cl::desc("run programs as checked code, and with arrays "
                                "that are too short or end too early"));
static cl::opt<bool>
    launches("launches", cl::desc("interpret the launches of programs, for a "
                                  "CPU and for a GPU"));
static cl::opt<bool> large("large", cl::desc("with dims that are worth matrix "
                                             "products; implies --compiled"));
static cl::opt<bool> carries("carries",
                             cl::desc("decoders with states of every kind, and "
                                      "their compiled beams"));
static cl::opt<bool> nearly("nearly", cl::desc("the same, many of which cannot "
                                               "be decoded"));
static cl::opt<std::string> cpu("cpu", cl::desc("what compiled code is for"),
                                cl::init("native"));
static cl::opt<std::string>
    otherCpu("same-as",
             cl::desc("a CPU, or cuda, that has to give the same bits"));
static cl::opt<bool>
    roundsFactors("bf16", cl::desc("that one rounds factors to bf16; its bits "
                                   "are the same in any batch"));
static cl::opt<bool> renamed("renamed", cl::desc("print it with other names"));
static cl::opt<int64_t> shrink("shrink", cl::desc("shrink a failing seed"),
                               cl::init(-1));

static bool parseRange(llvm::StringRef text, int64_t &first, int64_t &last) {
  auto [a, b] = text.split("..");
  return !a.getAsInteger(10, first) && !b.getAsInteger(10, last) &&
         first >= 0 && first <= last;
}

/// The text with the options that it needs, as comments.
static void printSpec(const Spec &spec) {
  for (const auto &[name, text] : spec.included)
    llvm::outs() << "# " << name << ".fov\n" << text << "\n";
  llvm::outs() << spec.text;
  for (const auto &[key, value] : spec.sets)
    llvm::outs() << "# --set " << key << "=" << value << "\n";
}

/// A failure without its names and numbers: what has to stay when it shrinks.
static std::string kindOf(const std::string &failure) {
  llvm::SmallVector<llvm::StringRef> words;
  llvm::StringRef(failure).split(words, ' ', -1, /*KeepEmpty=*/false);
  std::string kind;
  for (llvm::StringRef word : llvm::ArrayRef(words).take_front(14))
    if (word.find_first_of("0123456789/'") == llvm::StringRef::npos)
      kind += word.str() + " ";
  return kind;
}

/// The text without parameters and defs that nothing uses.
static std::string withoutUnused(std::string text) {
  for (bool changed = true; changed;) {
    changed = false;
    llvm::SmallVector<llvm::StringRef> lines;
    std::string before = text;
    llvm::StringRef(before).split(lines, '\n');
    for (size_t i = 0; i < lines.size(); ++i) {
      llvm::StringRef line = lines[i];
      if (!line.consume_front("param ") && !line.consume_front("def "))
        continue;
      std::string name =
          line.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; })
              .str();
      size_t uses = 0;
      for (size_t at = 0; (at = before.find(name, at)) != std::string::npos;
           at += name.size())
        uses += !llvm::isAlnum(before[at + name.size()]) &&
                (at == 0 || !llvm::isAlnum(before[at - 1]));
      if (uses > 1)
        continue;
      size_t end = i + 1;
      if (lines[i].ends_with("{"))
        while (end < lines.size() && !lines[end - 1].starts_with("}"))
          ++end;
      text.clear();
      for (size_t k = 0; k < lines.size(); ++k)
        if (k < i || k >= end)
          text += lines[k].str() + (k + 1 < lines.size() ? "\n" : "");
      changed = true;
      break;
    }
  }
  return text;
}

/// Smaller texts: without a line, or with a small part in place of a call or of
/// parentheses.
static std::vector<std::string> smaller(const std::string &text,
                                        const Spec &spec) {
  std::vector<std::string> found;
  size_t start = 0;
  for (size_t end; start < text.size(); start = end + 1) {
    end = std::min(text.find('\n', start), text.size() - 1);
    llvm::StringRef line(text.data() + start, end - start);
    if (!line.empty() && !line.starts_with("data ") &&
        !line.starts_with("model ") && !line.starts_with(" ") &&
        !line.starts_with("def ") && !line.starts_with("}"))
      found.push_back(text.substr(0, start) + text.substr(end + 1));
  }
  std::vector<std::string> parts{"0.5"};
  for (const auto &[dim, size] : spec.sizes)
    parts.push_back("ones(" + dim + ")");
  for (size_t open = text.find("= "); open < text.size(); ++open) {
    if (text[open] != '(')
      continue;
    size_t close = open, depth = 0;
    do
      depth += text[close] == '(' ? 1 : text[close] == ')' ? -1 : 0;
    while (depth && ++close < text.size());
    if (close - open < 4)
      continue;
    size_t head = open; // the name and the brackets before the parentheses
    if (head && text[head - 1] == ']')
      while (head && text[head - 1] != '[')
        --head;
    head -= head != open;
    while (head && (llvm::isAlnum(text[head - 1]) || text[head - 1] == '_'))
      --head;
    for (const std::string &part : parts)
      found.push_back(text.substr(0, head) + part + text.substr(close + 1));
    if (head != open)
      found.push_back(text.substr(0, head) +
                      text.substr(open, close + 1 - open) +
                      text.substr(close + 1));
  }
  return found;
}

/// Runs the checks in a child, because a spec may crash the compiler. The
/// first failure, and what was counted.
static std::string inChild(llvm::function_ref<Failures(Statistics &)> check,
                           Statistics &total) {
  int ends[2];
  if (pipe(ends))
    return "there is no pipe";
  pid_t child = fork();
  if (child == 0) {
    Statistics statistics;
    Failures failures = check(statistics);
    std::string text(reinterpret_cast<const char *>(&statistics),
                     sizeof(statistics));
    text += failures.empty() ? "" : failures.front();
    _exit(write(ends[1], text.data(), text.size()) < 0);
  }
  close(ends[1]);
  std::string text;
  char buffer[512];
  for (ssize_t got; (got = ::read(ends[0], buffer, sizeof(buffer))) > 0;)
    text.append(buffer, got);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0 || text.size() < sizeof(Statistics))
    return "the compiler crashes";
  Statistics statistics;
  std::memcpy(&statistics, text.data(), sizeof(statistics));
  total += statistics;
  return text.substr(sizeof(statistics));
}

static CheckOptions onlyBits(CheckOptions options) {
  options.everyPass = options.gradients = options.decoding = options.compiled =
      options.renaming = options.formatting = options.beams = false;
  return options;
}

/// What is checked of decoders with states of every kind.
static CheckOptions carryOptions() {
  CheckOptions options;
  options.beams = true;
  options.mayBeRefused = nearly;
  options.everyPass = !nearly;
  options.gradients = options.compiled = false;
  options.renaming = options.formatting = false;
  return options;
}

static std::string firstFailure(const Spec &spec, int64_t seed,
                                bool isCompiled) {
  CheckOptions options;
  if (carries || nearly)
    options = carryOptions();
  options.renaming = options.formatting = false;
  options.everyProgram = options.thoroughBits = true;
  options.cpu = cpu;
  options.otherCpu = otherCpu;
  options.roundsFactors = roundsFactors;
  if (!carries && !nearly)
    options.gradients = options.decoding = !isCompiled;
  if (bitsOnly)
    options = onlyBits(options);
  Statistics statistics;
  return inChild(
      [&](Statistics &counts) {
        return checkSpec(spec, nullptr, seed, options, counts);
      },
      statistics);
}

static Spec specOf(int64_t seed, Naming naming = Naming::Plain) {
  if (carries || nearly)
    return generateCarries(seed, nearly);
  return generate(seed, naming, large ? Scale::Large : Scale::Small);
}

/// Leaves out whatever can be left out while the first failure stays the same.
static int shrinkSeed(int64_t seed) {
  Spec spec = specOf(seed);
  std::string first = firstFailure(spec, seed, /*isCompiled=*/large);
  const std::string kind = kindOf(first);
  bool isCompiled = llvm::StringRef(first).starts_with("compiled");
  if (first.empty()) {
    llvm::errs() << "seed " << seed << " does not fail\n";
    return 1;
  }
  for (bool changed = true; changed;) {
    changed = false;
    // The parts after a change are tried at once, the parts before it in the
    // next round.
    std::vector<std::string> texts = smaller(spec.text, spec);
    for (size_t i = 0; i < texts.size(); ++i) {
      Spec less = spec;
      less.text = withoutUnused(texts[i]);
      if (less.text.size() >= spec.text.size())
        continue;
      std::string now = firstFailure(less, seed, isCompiled);
      if (now == "the compiler crashes" && now != first) {
        llvm::errs() << "another mistake: this crashes\n" << less.text;
        continue;
      }
      if (kindOf(now) != kind)
        continue;
      spec = less;
      changed = true;
      texts = smaller(spec.text, spec);
      i = std::min(i, texts.size());
      i -= i != 0;
    }
  }
  std::string last = firstFailure(spec, seed, isCompiled);
  printSpec(spec);
  llvm::outs() << "# " << last << "\n";
  return 0;
}

static int countFeatures(int64_t first, int64_t last) {
  std::map<std::string, int64_t> counts;
  for (int64_t seed = first; seed <= last; ++seed)
    for (const std::string &feature : specOf(seed).features)
      ++counts[feature];
  for (const auto &[feature, count] : counts)
    llvm::outs() << llvm::format("%6lld ", static_cast<long long>(count))
                 << feature << "\n";
  return 0;
}

static int checkSeeds(int64_t first, int64_t last) {
  Statistics statistics;
  CheckOptions options;
  if (carries || nearly)
    options = carryOptions();
  options.everyProgram = everyProgram;
  options.mistakes = mistakes;
  options.debugPool = debugPool;
  options.checked = checked;
  options.launches = launches;
  options.cpu = cpu;
  options.otherCpu = otherCpu;
  options.roundsFactors = roundsFactors;
  options.scale = large ? Scale::Large : Scale::Small;
  if (compiledOnly || large || debugPool || checked || launches || mistakes > 0)
    options.gradients = options.decoding = options.renaming =
        options.formatting = options.everyPass = false;
  if (bitsOnly)
    options = onlyBits(options);
  int64_t failing = 0;
  for (int64_t seed = first; seed <= last; ++seed) {
    // It costs as much as all others.
    options.thoroughBits = bitsOnly || everyProgram || seed % 4 == 0;
    std::string failure = inChild(
        [&](Statistics &counts) {
          return carries || nearly
                     ? checkSpec(specOf(seed), nullptr, seed, options, counts)
                     : checkSeed(seed, options, counts);
        },
        statistics);
    if (failure.empty())
      continue;
    ++failing;
    llvm::outs() << "seed " << seed << ": " << llvm::StringRef(failure).rtrim()
                 << "; reproduce: fovea-random --seeds " << seed << ".." << seed
                 << ", --shrink " << seed << (large ? " --large" : "")
                 << (nearly    ? " --nearly"
                     : carries ? " --carries"
                               : "")
                 << "\n";
    llvm::outs().flush();
  }
  llvm::outs() << statistics.specs << " specs, " << failing << " wrong; "
               << statistics.passes << " passes judged; "
               << statistics.directions << " directions, " << statistics.kinks
               << " at a kink; " << statistics.steps << " steps decoded, "
               << statistics.bruteForced << " beams against brute force; "
               << statistics.states << " states, " << statistics.unnecessary
               << " unnecessary; " << statistics.compiled
               << " programs compiled";
  if (statistics.logps > 0)
    llvm::outs() << "; " << statistics.logps
                 << " log p have the bits of their scores, and the interpreter "
                    "those of code after "
                 << statistics.phases << " phases";
  if (carries || nearly)
    llvm::outs() << "; " << statistics.hypotheses
                 << " hypotheses of compiled searches, " << statistics.refused
                 << " specs refused";
  if (statistics.planted > 0)
    llvm::outs() << "; of " << statistics.planted << " mistakes f64 tells "
                 << statistics.foundInDouble << ", and of these f32 "
                 << statistics.foundInSingle;
  if (debugPool)
    llvm::outs() << "; of " << statistics.shortened << " live ranges cut short "
                 << statistics.noticed << " are noticed";
  if (checked)
    llvm::outs() << "; of " << statistics.shortened
                 << " arrays that are too short or end too early "
                 << statistics.noticed << " are named";
  if (launches)
    llvm::outs() << "; of " << statistics.leftOut << " launches left out "
                 << statistics.named << " are named";
  // What the specs reach: a kind that none reaches is tested by none.
  for (auto [kind, count] : llvm::enumerate(statistics.products))
    llvm::outs() << "; "
                 << fovea::attn::stringifyProductKind(
                        fovea::attn::ProductKind(kind))
                 << " " << count;
  for (auto [kind, count] : llvm::enumerate(statistics.kernels))
    llvm::outs() << "; "
                 << fovea::attn::stringifySchedule(fovea::attn::Schedule(kind))
                 << " " << count;
  for (auto [kind, count] : llvm::enumerate(statistics.units))
    llvm::outs() << "; "
                 << fovea::attn::stringifyUnits(fovea::attn::Units(kind)) << " "
                 << count;
  llvm::outs() << "; " << statistics.ordered << " modules with ordered sums; "
               << statistics.inLoops << " products in loops; convolutions "
               << statistics.convolutions[0] << "; their weights "
               << statistics.convolutions[1] << "\n";
  return failing != 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "checks random specs\n");
  if (print >= 0) {
    printSpec(specOf(print, renamed ? Naming::Renamed : Naming::Plain));
    return 0;
  }
  if (shrink >= 0)
    return shrinkSeed(shrink);
  int64_t first = 0, last = 0;
  if (parseRange(features, first, last))
    return countFeatures(first, last);
  if (parseRange(seeds, first, last))
    return checkSeeds(first, last);
  llvm::errs()
      << "say --seeds A..B, --print N, --shrink N or --features A..B\n";
  return 2;
}

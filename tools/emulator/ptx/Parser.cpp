//===- Parser.cpp - from the text of PTX to its decoded form --------------===//

#include "tools/emulator/ptx/Code.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

using namespace fovea::emulator::ptx;

namespace {
struct Token {
  std::string_view text;
  uint32_t line;
};

struct Variable {
  uint64_t bytes = 0, align = 1;
  bool isExtern = false;
};

/// A name in a function, and in the scopes of inline PTX.
using Names = std::map<std::string, uint32_t, std::less<>>;

class Parser {
public:
  Parser(std::string_view text, Code &code) : code(code) { tokenize(text); }
  void parseModule();

  std::string error;

private:
  void tokenize(std::string_view text);
  /// Keeps the first error, and ends the parsing.
  void fail(const std::string &what) {
    if (error.empty())
      error = fmt::format("line {} of the PTX: {}",
                          tokens[std::min(at, tokens.size() - 1)].line, what);
    at = tokens.size();
  }
  bool isOver() const { return at >= tokens.size(); }
  std::string_view peek() const {
    return isOver() ? std::string_view() : tokens[at].text;
  }
  std::string_view next() {
    if (!isOver())
      return tokens[at++].text;
    fail("it ends too early");
    return "";
  }
  bool consume(std::string_view text) {
    bool isThere = peek() == text;
    at += isThere;
    return isThere;
  }
  void expect(std::string_view text) {
    if (!consume(text))
      fail(fmt::format("'{}' is expected, not '{}'", text, peek()));
  }
  uint64_t number(std::string_view text);

  void parseVariable(bool isShared, bool isExtern);
  void parseEntry();
  void parseParameters();
  void parseBody();
  void parseStatement();
  void parseRegisters();
  void parseInstruction();
  Operand parseOperand();
  void parseAddress(Instruction &instruction);
  Operand constant(uint64_t value);
  Operand registerNamed(std::string_view name);

  Code &code;
  std::vector<Token> tokens;
  size_t at = 0;
  std::map<std::string, Variable, std::less<>> shared;

  // Of the function.
  Entry *entry = nullptr;
  std::vector<Names> scopes;
  std::vector<std::vector<std::pair<size_t, std::string>>> branches;
  std::vector<Names> labels;
  std::map<std::string, uint64_t, std::less<>> addresses;
};
} // namespace

static bool isOfWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' ||
         c == '%' || c == '.';
}

void Parser::tokenize(std::string_view text) {
  uint32_t line = 1;
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    if (c == '\n')
      ++line;
    if (std::isspace(static_cast<unsigned char>(c))) {
      ++i;
      continue;
    }
    if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    size_t end = i + 1;
    if (isOfWord(c))
      while (end < text.size() &&
             (isOfWord(text[end]) || text.substr(end, 2) == "::"))
        end += text[end] == ':' ? 2 : 1;
    tokens.push_back({text.substr(i, end - i), line});
    i = end;
  }
}

uint64_t Parser::number(std::string_view text) {
  bool isNegative = text.starts_with('-');
  std::string_view digits = text.substr(isNegative ? 1 : 0);
  int base = 10;
  for (std::string_view prefix : {"0x", "0f", "0d"})
    if (digits.starts_with(prefix)) {
      base = 16;
      digits.remove_prefix(2);
      break;
    }
  uint64_t value = 0;
  auto [end, error] = std::from_chars(
      digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size())
    fail(fmt::format("'{}' is no number", text));
  return isNegative ? -value : value;
}

void Parser::parseModule() {
  while (!isOver()) {
    std::string_view word = next();
    if (word == ".version" || word == ".target" || word == ".address_size")
      next();
    else if (word == ".shared")
      parseVariable(/*isShared=*/true, /*isExtern=*/false);
    else if (word == ".global")
      parseVariable(/*isShared=*/false, /*isExtern=*/false);
    else if (word == ".extern" && consume(".shared"))
      parseVariable(/*isShared=*/true, /*isExtern=*/true);
    else if (word == ".visible" && consume(".entry"))
      parseEntry();
    else
      fail(fmt::format("'{}' is not known", word));
  }
}

static uint64_t bytesOf(std::string_view type) {
  constexpr std::pair<std::string_view, uint64_t> types[] = {
      {".b8", 1}, {".u32", 4}, {".b32", 4}, {".u64", 8}, {".b64", 8}};
  for (auto [name, bytes] : types)
    if (type == name)
      return bytes;
  return 0;
}

void Parser::parseVariable(bool isShared, bool isExtern) {
  Variable variable;
  variable.isExtern = isExtern;
  if (consume(".align"))
    variable.align = number(next());
  variable.bytes = bytesOf(peek());
  if (variable.bytes == 0)
    fail(fmt::format("a variable of '{}' is not known", peek()));
  next();
  std::string name(next());
  if (consume("[")) {
    variable.bytes *= peek() == "]" ? 0 : number(next());
    expect("]");
  }
  expect(";");
  if (isShared)
    shared[name] = variable;
  else
    code.globals[name].assign((variable.bytes + 7) / 8, 0);
}

void Parser::parseEntry() {
  auto own = std::make_unique<Entry>();
  entry = own.get();
  entry->name = next();
  scopes.assign(1, {});
  labels.assign(1, {});
  branches.assign(1, {});
  addresses.clear();
  parseParameters();
  while (!isOver() && peek() != "{") {
    std::string_view word = next();
    if (word == ".maxntid")
      entry->maxThreads = static_cast<uint32_t>(number(next()));
    else if (word == ".maxnreg")
      entry->maxRegisters = static_cast<uint32_t>(number(next()));
    else if (word == ".minnctapersm")
      (void)number(next()); // of registers, which are not counted here
    else
      fail(fmt::format("'{}' is not known", word));
  }
  parseBody();
  code.entries[entry->name] = std::move(own);
}

/// A kernel has a list of numbers and a number.
void Parser::parseParameters() {
  expect("(");
  uint64_t offset = 0;
  for (int which = 0; which < 2; ++which) {
    expect(".param");
    if (consume(".align"))
      next();
    uint64_t bytes = bytesOf(peek());
    next();
    addresses[std::string(next())] = parametersBegin + offset;
    if (consume("[")) {
      bytes *= number(next());
      expect("]");
    }
    offset += (bytes + 7) / 8 * 8;
    if (which == 0) {
      entry->listBytes = offset;
      expect(",");
    }
  }
  expect(")");
}

void Parser::parseBody() {
  size_t begin = at;
  // Shared memory has to have its place before it is read.
  for (int depth = 0; !isOver();) {
    if (consume(".shared")) {
      parseVariable(/*isShared=*/true, /*isExtern=*/false);
      continue;
    }
    depth += peek() == "{" ? 1 : peek() == "}" ? -1 : 0;
    if (depth == 0)
      break;
    ++at;
  }
  size_t end = at;
  at = begin;
  std::vector<std::string_view> used;
  for (size_t i = begin; i < end; ++i)
    if (shared.contains(tokens[i].text))
      used.push_back(tokens[i].text);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  uint64_t place = sharedBegin;
  for (bool isExtern : {false, true})
    for (std::string_view name : used) {
      const Variable &variable = shared.find(name)->second;
      if (variable.isExtern != isExtern)
        continue;
      place = (place + variable.align - 1) / variable.align * variable.align;
      addresses[std::string(name)] = place;
      place += variable.bytes;
    }
  entry->sharedBytes = place - sharedBegin;
  for (auto &[name, memory] : code.globals)
    addresses[name] = reinterpret_cast<uint64_t>(memory.data());
  expect("{");
  while (!isOver() && !scopes.empty())
    parseStatement();
}

void Parser::parseStatement() {
  if (consume("{")) {
    scopes.emplace_back();
    labels.emplace_back();
    branches.emplace_back();
    return;
  }
  if (consume("}")) {
    for (const auto &[number, name] : branches.back()) {
      auto found = labels.back().find(name);
      if (found != labels.back().end())
        entry->code[number].target = found->second;
      else if (branches.size() > 1)
        branches[branches.size() - 2].emplace_back(number, name);
      else
        fail(fmt::format("there is no label '{}'", name));
    }
    scopes.pop_back();
    labels.pop_back();
    branches.pop_back();
    return;
  }
  if (consume(".reg"))
    return parseRegisters();
  if (consume(".shared"))
    return parseVariable(/*isShared=*/true, /*isExtern=*/false);
  if (consume(".pragma")) {
    while (!isOver() && !consume(";"))
      next();
    return;
  }
  if (at + 1 < tokens.size() && tokens[at + 1].text == ":") {
    labels.back()[std::string(next())] =
        static_cast<uint32_t>(entry->code.size());
    expect(":");
    return;
  }
  parseInstruction();
}

void Parser::parseRegisters() {
  std::string_view type = next();
  constexpr std::string_view types[] = {".pred", ".b16", ".b32", ".b64"};
  if (std::find(std::begin(types), std::end(types), type) == std::end(types))
    fail(fmt::format("registers of '{}' are not known", type));
  std::string name(next());
  if (!consume("<")) {
    scopes.back()[name] = entry->numRegisters++;
  } else {
    uint64_t count = number(next());
    for (uint64_t i = 0; i < count && !isOver(); ++i)
      scopes.back()[name + std::to_string(i)] = entry->numRegisters++;
    expect(">");
  }
  expect(";");
}

Operand Parser::constant(uint64_t value) {
  Register all;
  std::fill(std::begin(all.lane), std::end(all.lane), value);
  all.known = everyLane;
  entry->constants.push_back(all);
  return {static_cast<uint32_t>(entry->constants.size() - 1), true};
}

Operand Parser::registerNamed(std::string_view name) {
  for (size_t scope = scopes.size(); scope-- > 0;)
    if (auto found = scopes[scope].find(name); found != scopes[scope].end())
      return {found->second, false};
  constexpr std::string_view known[] = {
      "%tid.x",           "%ctaid.x",          "%ntid.x", "%nctaid.x",
      "%cluster_ctarank", "%cluster_nctarank", "%laneid"};
  if (std::find(std::begin(known), std::end(known), name) == std::end(known))
    fail(fmt::format("register '{}' is not known", name));
  auto [own, isNew] =
      entry->special.emplace(std::string(name), entry->numRegisters);
  entry->numRegisters += isNew;
  return {own->second, false};
}

Operand Parser::parseOperand() {
  if (consume("_"))
    return {};
  std::string text(consume("-") ? "-" : "");
  text += next();
  if (auto found = addresses.find(text); found != addresses.end())
    return constant(found->second);
  if (std::isdigit(static_cast<unsigned char>(text[0])) || text[0] == '-')
    return constant(number(text));
  return registerNamed(text);
}

void Parser::parseAddress(Instruction &instruction) {
  Operand operand = parseOperand();
  if (consume("+")) {
    std::string text(consume("-") ? "-" : "");
    operand.displacement = static_cast<int64_t>(number(text += next()));
  }
  instruction.operands.push_back(operand);
  expect("]");
}

void Parser::parseInstruction() {
  Instruction instruction;
  instruction.line = tokens[at].line;
  if (consume("@")) {
    instruction.isGuardNegated = consume("!");
    instruction.guard = registerNamed(next());
  }
  size_t begin = at;
  std::string_view name = next();
  if (name == "bra" || name == "bra.uni") {
    instruction.flow = Flow::Branch;
    branches.back().emplace_back(entry->code.size(), std::string(next()));
  } else if (name == "ret") {
    instruction.flow = Flow::End;
  } else {
    bool isFirst = true, isInside = false;
    while (!isOver() && peek() != ";") {
      if (!isFirst)
        expect(",");
      isFirst = false;
      if (consume("["))
        parseAddress(instruction);
      else {
        if (consume("{")) {
          isInside = true;
          instruction.beginsWithVector |= instruction.operands.empty();
        }
        instruction.operands.push_back(parseOperand());
        if (consume("}"))
          isInside = false;
      }
    }
    if (isInside || !decode(name, instruction)) {
      at = begin;
      fail(fmt::format("'{}' with {} operands is not known", name,
                       instruction.operands.size()));
    }
  }
  expect(";");
  entry->code.push_back(std::move(instruction));
}

std::string fovea::emulator::ptx::parse(std::string_view text, Code &code) {
  Parser parser(text, code);
  parser.parseModule();
  return parser.error;
}

bool fovea::emulator::ptx::decodeKnown(std::span<const Known> list,
                                       std::string_view name,
                                       Instruction &code) {
  for (const Known &known : list)
    if (known.name == name && known.operands == code.operands.size()) {
      code.run = known.run;
      return true;
    }
  return false;
}

bool fovea::emulator::ptx::decode(std::string_view name, Instruction &code) {
  return decodeArithmetic(name, code) || decodeAccess(name, code) ||
         decodeBarrier(name, code) || decodePhase(name, code) ||
         decodeProduct(name, code) || decodeGroupProduct(name, code);
}

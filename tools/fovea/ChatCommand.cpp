//===- ChatCommand.cpp - fovea chat ---------------------------------------===//
//
// Answers each line of a conversation. The template of the model makes a text
// of all messages so far; the answer is what the model generates after it, and
// it is printed symbol by symbol.
//
//===----------------------------------------------------------------------===//

#include "app/chat/ChatTemplate.h"
#include "app/model/Execution.h"
#include "app/model/Programs.h"
#include "app/open/JsonDepth.h"
#include "dialect/reference/Search.h"
#include "runtime/data/OpenFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fmt/format.h>
#include <iostream>
#include <unistd.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;
using json = ChatValue;
using runtime::Status;

namespace {

/// What a published model says about conversations.
struct ChatForm {
  ChatTemplate shape;
  std::string begin, end; // the texts of its symbols; empty: none

  Status read(const std::string &folder, const std::string &given);
  Status render(const json &messages, std::string &text) const;

private:
  Status readConfig(const std::string &path, std::string &text);
};

/// Prints the text of an answer as its symbols come. Bytes of a character that
/// is not complete wait for the next symbol.
class Answer {
public:
  Answer(const runtime::Segmenter &pieces, const runtime::Vocabularies &words,
         const runtime::TextField &field)
      : pieces(pieces), words(words), field(field) {}

  void add(int64_t symbol) {
    symbols.push_back(words.wordOf(field, symbol));
    print(/*isWhole=*/false);
  }
  std::string finish() {
    print(/*isWhole=*/true);
    return text;
  }

private:
  void print(bool isWhole);

  const runtime::Segmenter &pieces;
  const runtime::Vocabularies &words;
  const runtime::TextField &field;
  std::vector<std::string> symbols;
  std::string text; // that is printed
};

} // namespace

void Answer::print(bool isWhole) {
  std::string all = pieces.join(symbols);
  constexpr StringRef incomplete = "\xEF\xBF\xBD";
  StringRef ready = StringRef(all).take_front(runtime::validUtf8(all));
  while (!isWhole && ready.consume_back(incomplete))
    ;
  if (ready.size() <= text.size() || !ready.starts_with(text))
    return;
  llvm::outs() << ready.drop_front(text.size());
  llvm::outs().flush();
  text = ready.str();
}

//===----------------------------------------------------------------------===//
// The template
//===----------------------------------------------------------------------===//

/// A symbol of tokenizer_config.json: its text, or an object with it.
static std::string symbolIn(const json &config, const char *name) {
  auto found = config.find(name);
  if (found == config.end())
    return "";
  const json &value = *found;
  if (value.is_object() && value.contains("content") &&
      value["content"].is_string())
    return value["content"].get<std::string>();
  return value.is_string() ? value.get<std::string>() : "";
}

Status ChatForm::readConfig(const std::string &path, std::string &text) {
  std::string file, why;
  if (!runtime::readWhole(path, file, why))
    return Status::error("cannot read '" + path + "': " + why);
  constexpr unsigned deepest = 100;
  json config = nestsDeeper(file, deepest)
                    ? json()
                    : json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!config.is_object())
    return Status::error("'" + path + "' is not a JSON object");
  begin = symbolIn(config, "bos_token");
  end = symbolIn(config, "eos_token");
  auto found = config.find("chat_template");
  if (found == config.end())
    return Status::success();
  // Several templates have names.
  json chosen = *found;
  if (chosen.is_array())
    for (const json &one : *found)
      if (one.is_object() && one.value("name", json()) == "default")
        chosen = one.value("template", json());
  if (!chosen.is_string())
    return Status::error("'chat_template' in '" + path + "' is not a text");
  text = chosen.get<std::string>();
  return Status::success();
}

Status ChatForm::read(const std::string &folder, const std::string &given) {
  auto beside = [&](StringRef name) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    return path.str().str();
  };
  std::string config = beside("tokenizer_config.json"), text, why;
  if (llvm::sys::fs::exists(config))
    if (Status status = readConfig(config, text); status.failed())
      return status;
  std::string file = given.empty() ? beside("chat_template.jinja") : given;
  bool hasFile = !given.empty() || llvm::sys::fs::exists(file);
  if (hasFile && !runtime::readWhole(file, text, why))
    return Status::error("cannot read '" + file + "': " + why);
  if (text.empty())
    return Status::error(fmt::format(
        "'{}' has no chat template; help: give one with '--template FILE', or "
        "put chat_template.jinja or tokenizer_config.json beside the weights",
        folder));
  if (Status status = ChatTemplate::parse(text, shape); status.failed())
    return Status::error((hasFile ? file : config + ": chat_template") + ": " +
                         status.text());
  return Status::success();
}

Status ChatForm::render(const json &messages, std::string &text) const {
  if (llvm::any_of(messages, [](const json &one) {
        const auto &content = one["content"].get_ref<const std::string &>();
        return runtime::validUtf8(content) != content.size();
      }))
    return Status::error("a message is not UTF-8");
  Status status = shape.render({{"messages", messages},
                                {"add_generation_prompt", true},
                                {"bos_token", begin},
                                {"eos_token", end}},
                               text);
  return status.failed() ? Status::error("chat template: " + status.text())
                         : status;
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

static std::string folderOf(const Arguments &arguments) {
  const std::string &given = arguments.spec();
  if (llvm::sys::fs::is_directory(given))
    return given;
  StringRef folder = llvm::sys::path::parent_path(given);
  return folder.empty() ? "." : folder.str();
}

/// The one name that the model generates; null if it is not like that
/// (reported).
static const DataInfo *generatedIn(Session &session, const Model &model) {
  const DataInfo *found = nullptr;
  size_t count = 0;
  for (const DataInfo &data : model.data) {
    count += data.isChosen;
    found = data.isChosen ? &data : found;
  }
  if (count == 1 && found->kind == DataInfo::Token && found->numIndices == 1)
    return found;
  session.error(fmt::format("'{}' does not generate one text; help: 'fovea "
                            "decode' answers lines",
                            model.name));
  return nullptr;
}

/// Takes the tokeniser beside the weights for the generated text, if the
/// command line gives no vocabulary.
static bool addTokeniser(Arguments &arguments) {
  llvm::SmallString<128> file(folderOf(arguments));
  llvm::sys::path::append(file, "tokenizer.json");
  if (!arguments.vocabularies.empty() || !llvm::sys::fs::exists(file))
    return true;
  Session session(arguments);
  std::unique_ptr<Model> model = session.open();
  const DataInfo *data = model ? generatedIn(session, *model) : nullptr;
  if (!data) {
    session.finish();
    return false;
  }
  runtime::TextField field = fieldOf(*data);
  arguments.vocabularies.push_back(
      (field.vocabulary.empty() ? field.name : field.vocabulary) + "=" +
      file.str().str());
  return true;
}

namespace {

/// A conversation, and the model that takes part in it.
class Conversation {
public:
  Conversation(const Arguments &arguments, Session &session)
      : arguments(arguments), session(session) {}

  bool open();
  /// Answers one message. Returns false on an error (reported); the message
  /// is then not part of the conversation.
  bool answer(const std::string &message);

private:
  bool readPrompt(std::vector<double> &ids);

  const Arguments &arguments;
  Session &session;
  Execution execution;
  std::unique_ptr<Programs> programs;
  std::unique_ptr<CompiledDecoder> decoder;
  ChatForm form;
  const DataInfo *data = nullptr;
  runtime::TextField field;
  const runtime::Segmenter *pieces = nullptr;
  reference::SearchOptions options;
  std::optional<int64_t> end; // the symbol that ends an answer
  json messages = json::array();
};

} // namespace

bool Conversation::open() {
  if (Status status = form.read(folderOf(arguments), arguments.chatTemplate);
      status.failed()) {
    session.fail(status);
    return false;
  }
  execution.keepsFiles = true;
  if (!openExecution(session, arguments, "decoding", execution))
    return false;
  data = generatedIn(session, *execution.model);
  if (!data)
    return false;
  field = fieldOf(*data);
  pieces = execution.vocabularies.words().piecesOf(field);
  if (!pieces) {
    session.error(fmt::format(
        "'{}' has no tokeniser; help: add '--vocab "
        "{}=tokenizer.json'",
        field.name, field.vocabulary.empty() ? field.name : field.vocabulary));
    return false;
  }
  Status status =
      reference::readSearchOptions(*execution.model->module, options);
  if (status.succeeded())
    status = applyFlags(arguments.search, options);
  if (status.failed()) {
    session.fail(status);
    return false;
  }
  // Words are printed as they come: one path.
  options.beam = 1;
  std::vector<runtime::Segmenter::Piece> ends = pieces->cut(form.end);
  if (ends.size() == 1)
    end = ends.front().id;
  Request request;
  bool isReference = false;
  if (!chooseExecutor(arguments, request, isReference))
    return false;
  programs = std::make_unique<Programs>(session, *execution.model, request,
                                        compiledOptionsOf(arguments));
  if (!programs->open({"decode"}))
    return false;
  if (!programs->dataOf("decode").empty()) {
    session.error(fmt::format("'{}' reads other data; help: 'fovea decode' "
                              "answers lines",
                              execution.model->name));
    return false;
  }
  status = programs->create(decoder);
  if (status.succeeded())
    status = decoder->setWeights(std::move(execution.files),
                                 arguments.dtype == "f64");
  if (status.failed())
    session.fail(status);
  if (!arguments.system.empty())
    messages.push_back({{"role", "system"}, {"content", arguments.system}});
  return status.succeeded();
}

/// The ids of the conversation so far.
bool Conversation::readPrompt(std::vector<double> &ids) {
  std::string text;
  if (Status status = form.render(messages, text); status.failed()) {
    session.fail(status);
    return false;
  }
  for (const runtime::Segmenter::Piece &piece : pieces->cut(text))
    ids.push_back(static_cast<double>(piece.id));
  // A sentence begins with its first symbol in any case.
  if (field.isSentence && !ids.empty() &&
      ids.front() == double(runtime::Symbol::start))
    ids.erase(ids.begin());
  return true;
}

bool Conversation::answer(const std::string &message) {
  messages.push_back({{"role", "user"}, {"content", message}});
  auto takeBack = [&] {
    messages.erase(messages.size() - 1);
    return false;
  };
  runtime::Example example;
  std::vector<double> ids;
  if (!readPrompt(ids))
    return takeBack();
  constexpr int64_t mostSymbols = 512;
  auto before = static_cast<int64_t>(ids.size());
  options.longest = before + arguments.search.maxLength.value_or(mostSymbols);
  example.prefix[data->name] = std::move(ids);
  Answer printed(*pieces, execution.vocabularies.words(), field);
  options.listen = [&](int64_t, const std::string &, double value) {
    auto symbol = static_cast<int64_t>(value);
    if (symbol == end || (field.isSentence && symbol == runtime::Symbol::end))
      return false;
    printed.add(symbol);
    return true;
  };
  std::vector<std::vector<runtime::Generated>> results;
  Status status = decoder->search().decode({&example}, options, results);
  std::string text = printed.finish();
  llvm::outs() << '\n';
  llvm::outs().flush();
  if (status.failed()) {
    session.fail(status);
    return takeBack();
  }
  messages.push_back({{"role", "assistant"}, {"content", text}});
  return true;
}

/// Prints what the model would read of a conversation: lines are the messages
/// of the user and of the model in turn.
static int printPrompt(const Arguments &arguments) {
  Session session(arguments);
  ChatForm form;
  json messages = json::array();
  if (!arguments.system.empty())
    messages.push_back({{"role", "system"}, {"content", arguments.system}});
  std::string line, text;
  for (bool isUser = true; std::getline(std::cin, line); isUser = !isUser)
    messages.push_back(
        {{"role", isUser ? "user" : "assistant"}, {"content", line}});
  Status status = form.read(folderOf(arguments), arguments.chatTemplate);
  if (status.succeeded())
    status = form.render(messages, text);
  if (status.failed())
    session.fail(status);
  llvm::outs() << text;
  return session.finish();
}

int fovea::cli::runChat(const Arguments &given) {
  Arguments arguments = given;
  if (arguments.printsPrompt)
    return printPrompt(arguments);
  if (!addTokeniser(arguments))
    return badInput;
  Session session(arguments);
  Conversation conversation(arguments, session);
  if (!conversation.open())
    return session.finish();
  bool isTyped = isatty(STDIN_FILENO);
  if (isTyped && !arguments.quiet)
    llvm::errs() << "note: type one message per line; Ctrl-D ends\n";
  std::string line;
  auto ask = [&] {
    if (isTyped && !arguments.quiet)
      llvm::errs() << "> ";
    return bool(std::getline(std::cin, line));
  };
  while (ask()) {
    if (!StringRef(line).trim().empty())
      conversation.answer(line);
  }
  return session.finish();
}

//===- Rows.cpp - rows of JSON lines and of tables ------------------------===//

#include "app/data/Rows.h"
#include "app/open/JsonDepth.h"
#include "runtime/data/PackedFile.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;
using runtime::Status;

/// An object, a list in it and no more.
static constexpr unsigned deepestJson = 8;

RowKind fovea::cli::rowKindOf(StringRef name) {
  name = runtime::withoutPacking(name);
  if (name.ends_with(".jsonl") || name.ends_with(".ndjson"))
    return RowKind::Json;
  if (name.ends_with(".json"))
    return RowKind::Objects;
  return name.ends_with(".csv") ? RowKind::Table : RowKind::Text;
}

/// A value that is not a list, or nothing.
static std::optional<std::string> scalar(const llvm::json::Value &value) {
  if (auto text = value.getAsString())
    return text->str();
  if (auto truth = value.getAsBoolean())
    return *truth ? "1" : "0";
  if (auto number = value.getAsInteger())
    return std::to_string(*number);
  if (auto number = value.getAsNumber())
    return fmt::format("{}", *number);
  return std::nullopt;
}

static Status readList(const llvm::json::Array &list, StringRef key,
                       std::string &text) {
  for (const llvm::json::Value &item : list) {
    std::optional<std::string> one = scalar(item);
    if (!one)
      return Status::error(
          fmt::format("the list '{}' has an item that is neither text nor a "
                      "number",
                      key.str()));
    if (StringRef(*one).contains(' ') || one->empty())
      return Status::error(fmt::format(
          "'{}' in the list '{}' is not one symbol", *one, key.str()));
    text += (text.empty() ? "" : " ") + *one;
  }
  return Status::success();
}

Status fovea::cli::valueAsLine(const llvm::json::Object &object, StringRef key,
                               std::string &text) {
  text.clear();
  const llvm::json::Value *value = object.get(key);
  if (!value)
    return Status::error(fmt::format("this object has no '{}'", key.str()));
  if (std::optional<std::string> one = scalar(*value))
    text = std::move(*one);
  else if (const llvm::json::Array *list = value->getAsArray()) {
    if (Status status = readList(*list, key, text); status.failed())
      return status;
  } else {
    return Status::error(
        fmt::format("'{}' is neither text nor a number nor a list", key.str()));
  }
  if (StringRef(text).contains('\0'))
    return Status::error(fmt::format("'{}' has a NUL", key.str()));
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::replace(text.begin(), text.end(), '\r', ' ');
  return Status::success();
}

Status fovea::cli::readJsonValue(StringRef line, StringRef key,
                                 std::string &text) {
  text.clear();
  if (nestsDeeper(line, deepestJson))
    return Status::error("this JSON nests too deep");
  llvm::Expected<llvm::json::Value> row = llvm::json::parse(line);
  if (!row) {
    llvm::consumeError(row.takeError());
    return Status::error("this is not a line of JSON");
  }
  const llvm::json::Object *object = row->getAsObject();
  if (!object)
    return Status::error("this is not a JSON object: {\"NAME\": ..}");
  return valueAsLine(*object, key, text);
}

Status fovea::cli::readTableRow(StringRef line,
                                std::vector<std::string> &values) {
  values.assign(1, "");
  bool isQuoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    char c = line[i];
    if (c == '"' && isQuoted && line.substr(i + 1).starts_with("\""))
      values.back() += line[++i];
    else if (c == '"' && (isQuoted || values.back().empty()))
      isQuoted = !isQuoted;
    else if (c == ',' && !isQuoted)
      values.emplace_back();
    else
      values.back() += c;
  }
  if (isQuoted)
    return Status::error("a quoted value does not end in its line; help: write "
                         "each row on one line");
  return Status::success();
}

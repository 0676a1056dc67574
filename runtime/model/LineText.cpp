//===- LineText.cpp - lines as examples, hypotheses as text ---------------===//

#include "runtime/model/LineText.h"
#include "runtime/data/RowText.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace fovea::runtime;

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

/// The names of data that a program of the description reads, or that provide a
/// length of such data.
static bool isRead(const Program &program, const DataSpec &spec) {
  for (const Program::Array &array : program.arrays)
    if (array.role == Program::Role::Data && array.name == spec.name)
      return true;
  return false;
}

/// Returns why text is not a line of a file; empty: it is one.
static std::string mistakeIn(std::string_view line) {
  size_t valid = validUtf8(line);
  return valid < line.size() ? fmt::format("byte {} is not UTF-8", valid + 1)
                             : "";
}

static std::vector<std::string_view> splitColumns(std::string_view line) {
  std::vector<std::string_view> texts;
  for (size_t begin = 0; begin <= line.size();) {
    size_t end = std::min(line.find('\t', begin), line.size());
    texts.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return texts;
}

static Status wrongColumns(const std::vector<std::string> &names,
                           size_t count) {
  return Status::error(fmt::format("expected {} columns ({}), found {}",
                                   names.size(), fmt::join(names, ", "),
                                   count));
}

static bool hasLength(const DataSpec &spec, const std::string &length) {
  return std::any_of(
      spec.axes.begin(), spec.axes.end(),
      [&](const DataAxis &axis) { return axis.length == length; });
}

LineText::LineText(const Description &description, const Vocabularies &words,
                   const Program &program, LoadFile load)
    : description(description), words(words), load(load) {
  for (const DataDescription &data : description.data)
    if (isRead(program, data.spec))
      columns.push_back(&data);
  for (const Program::Length &length : program.lengths) {
    if (!length.formula.empty())
      continue;
    auto gives = [&](const DataDescription *data) {
      return hasLength(data->spec, length.name);
    };
    if (std::any_of(columns.begin(), columns.end(), gives))
      continue;
    for (const DataDescription &data : description.data)
      if (gives(&data)) {
        columns.push_back(&data);
        break;
      }
  }
}

const DataDescription *LineText::unreadable() const {
  for (const DataDescription *data : columns)
    if (!data->isText && !(load && data->isFile()))
      return data;
  return nullptr;
}

Status LineText::readColumn(std::string_view text, const DataDescription &data,
                            Example &example) const {
  std::string mistake;
  DataValues &values = example.data[data.spec.name];
  // One message per line is enough.
  auto report = [&](std::string_view, const std::string &what) {
    if (mistake.empty())
      mistake = what;
  };
  if (data.spec.name == description.unknown.given)
    example.words = wordsOf(text, data.text, words);
  Lengths lengths;
  if (load && data.isFile()) {
    Status status = load(std::string(text), data, values, lengths);
    if (status.failed())
      return status;
    mistake = addLengths(data.spec.name, lengths, example);
  } else if (readLine(text, data.text, data.spec, words, values, lengths,
                      report)) {
    mistake = addLengths(data.spec.name, lengths, example);
  }
  return mistake.empty() ? Status::success() : Status::error(mistake);
}

Status LineText::readColumns(const std::string &line, Example &example) const {
  if (std::string mistake = mistakeIn(line); !mistake.empty())
    return Status::error(mistake);
  if (columns.size() == 1)
    return readColumn(line, *columns[0], example);
  std::vector<std::string_view> texts = splitColumns(line);
  if (texts.size() != columns.size()) {
    std::vector<std::string> names;
    for (const DataDescription *data : columns)
      names.push_back(data->spec.name);
    return wrongColumns(names, texts.size());
  }
  for (size_t i = 0; i < texts.size(); ++i)
    if (Status status = readColumn(texts[i], *columns[i], example);
        status.failed())
      return status;
  return Status::success();
}

Status LineText::read(const std::string &line, size_t number,
                      Example &example) const {
  Status status = readColumns(line, example);
  // Places in other data lie within those data.
  for (const DataDescription *data : columns)
    if (status.succeeded())
      status = checkLimit(data->spec, example, number);
  return status;
}

//===----------------------------------------------------------------------===//
// Hypotheses
//===----------------------------------------------------------------------===//

std::vector<std::string> LineText::generated() const {
  std::vector<std::string> names;
  for (const DataDescription &data : description.data)
    if (data.isChosen)
      names.push_back(data.spec.name);
  return names;
}

Status LineText::readPrefix(const std::string &name, std::string_view line,
                            Example &example) const {
  if (std::string mistake = mistakeIn(line); !mistake.empty())
    return Status::error(mistake);
  std::vector<std::string> names = generated();
  std::vector<std::string_view> texts = {line};
  if (!name.empty())
    names = {name};
  else if (names.size() > 1)
    texts = splitColumns(line);
  if (texts.size() != names.size())
    return wrongColumns(names, texts.size());
  for (size_t i = 0; i < names.size(); ++i) {
    auto data = std::find_if(
        description.data.begin(), description.data.end(),
        [&](const auto &own) { return own.spec.name == names[i]; });
    std::string mistake;
    std::vector<double> values;
    auto report = [&](std::string_view, const std::string &what) {
      mistake = what;
    };
    if (!runtime::readPrefix(texts[i], data->text, words, values, report))
      return Status::error(mistake);
    if (!values.empty())
      example.prefix[names[i]] = std::move(values);
  }
  return Status::success();
}

std::string LineText::textOf(const DataDescription &data,
                             const Example &example,
                             const Generated &generated) const {
  auto found = generated.outputs.find(data.spec.name);
  if (found == generated.outputs.end())
    return "";
  if (const std::vector<int64_t> *rows =
          rowsOf(data.spec.axes, found->second, example.lengths))
    return textOfRows(data.text, found->second, *rows, generated.hasEnd, words);
  Replacement replacement;
  if (data.spec.name == description.unknown.generated)
    replacement = [&](size_t place) {
      const UnknownWords &unknown = description.unknown;
      return unknown.wordAt(place, generated.outputs.at(unknown.weights),
                            example.words);
    };
  return runtime::textOf(data.text, found->second, generated.hasEnd, words,
                         replacement);
}

std::string LineText::textOf(const Example &example,
                             const Generated &generated) const {
  std::string text;
  bool isFirst = true;
  for (const DataDescription &data : description.data) {
    if (!data.isChosen || !generated.outputs.contains(data.spec.name))
      continue;
    if (!isFirst)
      text += '\t';
    isFirst = false;
    text += textOf(data, example, generated);
  }
  return text;
}

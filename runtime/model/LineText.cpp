//===- LineText.cpp - lines as examples, hypotheses as text ---------------===//

#include "runtime/model/LineText.h"

#include <algorithm>
#include <fmt/format.h>

using namespace fovea::runtime;

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

/// The names of data that a program of the description reads, or that give a
/// length which it has.
static bool isRead(const Program &program, const DataSpec &spec) {
  for (const Program::Array &array : program.arrays)
    if (array.role == Program::Role::Data && array.name == spec.name)
      return true;
  return false;
}

static bool hasLength(const DataSpec &spec, const std::string &length) {
  return std::any_of(
      spec.axes.begin(), spec.axes.end(),
      [&](const DataAxis &axis) { return axis.length == length; });
}

LineText::LineText(const Description &description, const Vocabularies &words,
                   const Program &program)
    : description(description), words(words) {
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

Status LineText::readColumn(std::string_view text, const DataDescription &data,
                            Example &example) const {
  std::string mistake;
  DataValues &values = example.data[data.spec.name];
  // One sentence for each line is enough.
  auto report = [&](std::string_view, const std::string &what) {
    if (mistake.empty())
      mistake = what;
  };
  if (data.spec.name == description.unknown.given)
    example.words = wordsOf(text, data.text, words);
  Lengths lengths;
  if (readLine(text, data.text, data.spec, words, values, lengths, report))
    mistake = addLengths(data.spec.name, lengths, example);
  return mistake.empty() ? Status::success() : Status::error(mistake);
}

Status LineText::readColumns(const std::string &line, Example &example) const {
  if (validUtf8(line) < line.size())
    return Status::error(
        fmt::format("byte {} is not UTF-8", validUtf8(line) + 1));
  if (columns.size() == 1)
    return readColumn(line, *columns[0], example);
  std::vector<std::string_view> texts;
  for (size_t begin = 0; begin <= line.size();) {
    size_t end = std::min(line.find('\t', begin), line.size());
    texts.push_back(std::string_view(line).substr(begin, end - begin));
    begin = end + 1;
  }
  if (texts.size() != columns.size()) {
    std::string names;
    for (const DataDescription *data : columns)
      names += (names.empty() ? "" : ", ") + data->spec.name;
    return Status::error(
        fmt::format("{} columns are wanted ({}) but this line has {}",
                    columns.size(), names, texts.size()));
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
  // What is a place in other data lies in them.
  for (const DataDescription *data : columns)
    if (status.succeeded())
      status = checkLimit(data->spec, example, number);
  return status;
}

//===----------------------------------------------------------------------===//
// Hypotheses
//===----------------------------------------------------------------------===//

std::string LineText::textOf(const Example &example,
                             const Generated &generated) const {
  std::string text;
  bool isFirst = true;
  for (const DataDescription &data : description.data) {
    auto found = generated.outputs.find(data.spec.name);
    if (!data.isChosen || found == generated.outputs.end())
      continue;
    if (!isFirst)
      text += '\t';
    isFirst = false;
    Replacement replacement;
    if (data.spec.name == description.unknown.generated)
      replacement = [&](size_t place) {
        const UnknownWords &unknown = description.unknown;
        return unknown.wordAt(place, generated.outputs.at(unknown.weights),
                              example.words);
      };
    text += runtime::textOf(data.text, found->second, generated.hasEnd, words,
                            replacement);
  }
  return text;
}

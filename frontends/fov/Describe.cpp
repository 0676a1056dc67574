//===- Describe.cpp - a checked model as its users see it -----------------===//

#include "frontends/fov/Describe.h"

#include <set>

using namespace fovea;
using namespace fovea::fov;
using ast::ExprKind;
using ast::StatementKind;

/// The metrics that are calls: `bleu(tgt)`.
static std::vector<std::string> metricsOf(const Program &program) {
  std::vector<std::string> result;
  for (const ast::Statement *s : program.file->statements) {
    if (s->kind != StatementKind::Metric || !s->value || !s->name.empty())
      continue;
    const ast::Expr &value = *s->value;
    std::string text =
        (value.kind == ExprKind::Call ? value.args[0] : s->value)->name.str();
    if (value.kind == ExprKind::Call && !value.items.empty() &&
        value.items[0].value->kind == ExprKind::Name)
      text += "(" + value.items[0].value->name.str() + ")";
    result.push_back(text);
  }
  for (const Program::Import &import : program.imports)
    if (result.empty() && import.name.empty() && import.program)
      result = metricsOf(*import.program);
  return result;
}

static void describeUses(const Program &program, const std::string &prefix,
                         std::vector<UseInfo> &uses) {
  for (const Program::Import &import : program.imports) {
    std::string own = prefix + (import.name.empty() ? "" : import.name + ".");
    if (import.program)
      describeUses(*import.program, own, uses);
    const ast::Statement &use = *import.statement;
    if (use.from.empty() && !use.frozen)
      continue;
    uses.push_back({own, use.from.str(), use.frozen, {}});
    for (const ast::Item &binding : use.bindings)
      uses.back().bindings[binding.name.str()] =
          prefix + binding.value->name.str();
  }
}

static void describeModel(const Elaborated &model, Description &result) {
  for (const Array *param : model.params) {
    ParameterInfo info;
    for (const Update &update : model.updates)
      if (update.state == param)
        info.change = update.isOnce ? ParameterInfo::once : ParameterInfo::mean;
    info.path = param->name;
    info.role = param->initial;
    for (const Extent &size : param->declared) {
      info.shape.push_back(size.value().value_or(-1));
      info.extents.push_back(size.resolved().value_or(size).text());
    }
    result.parameters.push_back(std::move(info));
  }
  for (const Array *data : model.data) {
    DataInfo info;
    info.name = data->name;
    bool isClass = data->vocabulary && data->vocabulary->isClass;
    info.kind = isClass                     ? DataInfo::Class
                : data->positionOf          ? DataInfo::Position
                : data->kind == Kind::Token ? DataInfo::Token
                : data->kind == Kind::Int   ? DataInfo::Int
                : data->kind == Kind::Bit   ? DataInfo::Bit
                                            : DataInfo::Real;
    auto addExtent = [&](const Extent &size) {
      const Atom *length = size.length();
      info.extents.push_back(size.text());
      info.sizes.push_back(size.value().value_or(-1));
      info.parents.push_back(length ? length->parent : "");
    };
    llvm::for_each(data->extents, addExtent);
    info.numIndices = data->extents.size();
    llvm::for_each(*data->valueShape, addExtent);
    if (data->vocabulary) {
      info.vocabulary = data->vocabulary->name;
      info.vocabularySize = data->vocabulary->size.value().value_or(-1);
      info.vocabularyKind = data->vocabulary->kind;
      info.vocabularyLimit = data->vocabulary->limit;
      info.vocabularyFile = data->vocabulary->file;
      info.labels = data->vocabulary->labels;
    }
    if (data->positionOf)
      info.positionOf = data->positionOf->extents.front().text();
    info.isSentence = data->isSentence;
    info.ends = data->ends;
    info.isChosen = data->generated;
    info.loader = data->loader;
    result.data.push_back(std::move(info));
  }
  for (const Array *array : model.arrays)
    if (array->latent)
      result.latents.push_back(array->name);
  for (const Vocabulary &vocabulary : model.vocabularies)
    if (vocabulary.isAssumed)
      result.assumedVocabularies.push_back(vocabulary.name);
  for (const Array *data : model.data)
    for (const Extent &size : data->extents)
      if (!size.value() && !llvm::is_contained(result.lengths, size.text()))
        result.lengths.push_back(size.text());
  for (const auto &[length, equation] : model.lengthValues)
    result.valueLengths.emplace_back(length->name, length->bound->text());
  result.dims = model.sizes.dims();
  result.refusals = model.refusals;
}

void fovea::fov::describe(const Program &program, const Elaborated &model,
                          Description &result) {
  result.name = model.name;
  describeModel(model, result);
  describeUses(program, "", result.uses);
  result.metrics = metricsOf(program);
}

void fovea::fov::collectFacts(const Elaborated &model, SpecFacts &facts,
                              const ModelPart &part) {
  auto add = [&](const Array &array, const Shape &axes) {
    SpecFacts::ArrayFact &fact = facts.arrays.emplace_back();
    fact.loc = array.loc;
    fact.name = array.text.empty() ? array.name : array.text;
    Shape known;
    for (const Extent &extent : axes) {
      known.push_back(extent.resolved().value_or(extent));
      fact.extents.push_back(known.back().text());
    }
    fact.shape = shapeText(known);
    if (array.kind)
      fact.kind = kindName(*array.kind);
  };
  for (const Array *array : part.arraysOf(model))
    if (std::optional<Shape> shape = array->shape())
      add(*array, *shape);
  for (const IndexVar &index : llvm::drop_begin(model.indices, part.indices))
    if (index.extent)
      facts.indices.push_back(
          {index.loc, index.name, index.extent->textWithValue(), index.origin});
  if (!part.isAll())
    return;
  for (const Array *data : model.data) {
    Shape shape(data->extents.begin(), data->extents.end());
    if (data->valueShape)
      llvm::append_range(shape, *data->valueShape);
    add(*data, shape);
  }
  for (const Array *param : model.params)
    add(*param, param->declared);
}

//===- Frontend.cpp - a .fov file to a module of the attn dialect ---------===//
//
// Reads the files and runs the front end twice: for training, and for decoding,
// where `decode { set .. }` applies. Answers the command line's questions about
// a model.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/Frontend.h"
#include "frontends/fov/LoadProgram.h"
#include "frontends/fov/Options.h"
#include "frontends/fov/check/Infer.h"
#include "frontends/fov/check/Warnings.h"
#include "frontends/fov/elaborate/Elaborate.h"
#include "frontends/fov/lower/Gradients.h"
#include "frontends/fov/lower/Lower.h"
#include "frontends/fov/syntax/Parser.h"
#include "frontends/fov/syntax/SourceFile.h"
#include "llvm/Support/Path.h"

#include <cmath>
#include <set>

using namespace fovea;
using namespace fovea::fov;
using ast::ExprKind;
using ast::StatementKind;

llvm::StringRef fovea::preludeText() {
  static constexpr char text[] = {
#include "frontends/fov/Prelude.inc"
      , 0};
  return llvm::StringRef(text, sizeof(text) - 1);
}

/// Returns the error in the value of an option that shapes the objective;
/// empty: none. Options for the updates are checked by the training
/// (runtime/train/TrainOptions.h).
static std::string valueMistake(llvm::StringRef name, mlir::Attribute value) {
  if (name != "smooth")
    return "";
  double number = std::nan("");
  if (auto whole = llvm::dyn_cast<mlir::IntegerAttr>(value))
    number = static_cast<double>(whole.getInt());
  if (auto real = llvm::dyn_cast<mlir::FloatAttr>(value))
    number = real.getValueAsDouble();
  return number >= 0 && number < 1
             ? ""
             : "'smooth' is a number of at least 0 and below 1";
}

/// `train { .. }` or `decode { .. }` as a dictionary; later entries and --set
/// win. Numbers are numbers, everything else is its text.
static mlir::DictionaryAttr optionsOf(const Program &program,
                                      llvm::StringRef block,
                                      const FrontendOptions &options,
                                      Diagnostics &diagnostics,
                                      mlir::Builder &builder) {
  std::map<std::string, mlir::Attribute> values;
  std::function<void(const Program &)> collect = [&](const Program &p) {
    for (const Program::Import &import : p.imports)
      if (import.name.empty() && import.program)
        collect(*import.program);
    for (const ast::Statement *s : p.file->statements) {
      if (s->kind != StatementKind::Block || s->name != block)
        continue;
      for (const ast::Entry &entry : s->entries) {
        if (entry.kind != ast::Entry::Option)
          continue;
        std::string key = entry.left.name.str();
        if (!entry.left.places.empty()) {
          // `clip_value[cell]`; the equations of decode { } are no options.
          const ast::Expr &place = *entry.left.places.front().value;
          if (block != "train")
            continue;
          key += "[" +
                 std::string(place.range.Start.getPointer(),
                             place.range.End.getPointer()) +
                 "]";
        }
        const ast::Expr &value = *entry.value;
        mlir::Attribute &slot = values[key];
        if (value.kind == ExprKind::Integer)
          slot = builder.getI64IntegerAttr(value.integer);
        else if (value.kind == ExprKind::Real)
          slot = builder.getF64FloatAttr(value.real);
        else
          slot = builder.getStringAttr(llvm::StringRef(
              value.range.Start.getPointer(),
              value.range.End.getPointer() - value.range.Start.getPointer()));
        if (std::string mistake = valueMistake(key, slot); !mistake.empty())
          diagnostics.error(Code::optionValue, value.loc, mistake);
      }
    }
  };
  collect(program);
  for (const auto &[key, text] : options.sets) {
    llvm::StringRef name(key);
    if (!name.consume_front(block.str() + "."))
      continue;
    std::string mistake =
        optionMistake(block, name, llvm::StringRef(text).split('(').first);
    if (!mistake.empty()) {
      diagnostics.error(Code::override, {},
                        "--set " + key + "=" + text + ": " + mistake);
      continue;
    }
    int64_t whole;
    double number;
    if (!llvm::StringRef(text).getAsInteger(10, whole))
      values[name.str()] = builder.getI64IntegerAttr(whole);
    else if (!llvm::StringRef(text).getAsDouble(number))
      values[name.str()] = builder.getF64FloatAttr(number);
    else
      values[name.str()] = builder.getStringAttr(text);
    mistake = valueMistake(name, values[name.str()]);
    if (!mistake.empty())
      diagnostics.error(Code::override, {},
                        "--set " + key + "=" + text + ": " + mistake);
  }
  llvm::SmallVector<mlir::NamedAttribute> attributes;
  for (auto &[name, value] : values)
    attributes.push_back(builder.getNamedAttr(name, value));
  return builder.getDictionaryAttr(attributes);
}

/// Suggests a metric for an unknown one.
static std::string metricHelp(llvm::StringRef name) {
  std::string foreign = ourWord(name, WordPlace::Metric);
  return foreign.empty() ? suggestion(name, metrics()) : foreign;
}

/// An unknown metric is a typo; a metric may also be an equation.
static void checkMetrics(const Program &program, Diagnostics &diagnostics) {
  for (const ast::Statement *s : program.file->statements) {
    if (s->kind != StatementKind::Metric || !s->value || !s->name.empty())
      continue;
    const ast::Expr *callee =
        s->value->kind == ExprKind::Call ? s->value->args[0] : s->value;
    if (callee->kind != ExprKind::Name ||
        llvm::is_contained(metrics(), callee->name))
      continue;
    diagnostics.error(Code::unknownMetric, callee->loc,
                      "unknown metric '" + callee->name.str() + "'" +
                          metricHelp(callee->name));
  }
}

/// What a metric compares is data, a choice or an equation of the model.
static void checkMetricArguments(const Program &program,
                                 const Elaborated &model,
                                 Diagnostics &diagnostics) {
  llvm::SmallVector<llvm::StringRef> names;
  for (const auto &arrays : {model.data, model.arrays})
    for (const Array *array : arrays)
      names.push_back(array->name);
  for (const Choice &choice : model.choices)
    names.push_back(choice.target->name);
  for (const ast::Statement *s : program.file->statements) {
    if (s->kind != StatementKind::Metric || !s->value || !s->name.empty() ||
        s->value->kind != ExprKind::Call)
      continue;
    for (const ast::Item &item : s->value->items) {
      if (item.value->kind != ExprKind::Name)
        continue;
      llvm::StringRef wanted = item.value->name;
      // A member of a family is named after it.
      if (llvm::none_of(names, [&](llvm::StringRef name) {
            return name.consume_front(wanted) &&
                   (name.empty() || !llvm::isAlnum(name.front()));
          }))
        diagnostics.error(Code::unknownMetric, item.value->loc,
                          "'" + wanted.str() +
                              "' is not in the model, so no "
                              "metric can compare it" +
                              suggestion(wanted, names));
    }
  }
}

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

/// Whether the example, or a random number, may change a term.
static bool isOfExample(const Term &term) {
  auto differs = [](const IndexVar *var) {
    return var->extent && var->extent->differs();
  };
  switch (term.kind) {
  case TermKind::Dropout:
    return true;
  case TermKind::Size:
    return term.extent.differs();
  default:
    break;
  }
  const Array *array = term.array;
  bool isGiven =
      array && (array->source == Array::Data ||
                (array->source == Array::Equation && array->pieces.empty()));
  return isGiven || llvm::any_of(term.vars, differs);
}

/// Finds the updates that are the same for all examples. They keep their value
/// where the others are means.
static void findUpdatesOnce(Elaborated &model) {
  for (Update &update : model.updates) {
    llvm::SetVector<const Array *> arrays;
    arrays.insert(update.value);
    bool isOnce = true;
    for (size_t i = 0; i < arrays.size() && isOnce; ++i)
      for (const Piece &piece : arrays[i]->pieces)
        forEachPart(piece.value, [&](const Term *part) {
          isOnce &= !isOfExample(*part);
          if (part->array)
            arrays.insert(part->array);
        });
    update.isOnce = isOnce;
    if (isOnce)
      update.value->name = "update.once/" + update.state->name;
  }
}

static void describe(const Elaborated &model, Model &result) {
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
  result.dims = model.sizes.dims();
  result.refusals = model.refusals;
}

/// The results of inference, even if they disagree.
static void collectFacts(const Elaborated &model, Facts &facts) {
  auto add = [&](const Array &array, const Shape &axes) {
    Facts::ArrayFact &fact = facts.arrays.emplace_back();
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
  for (const Array *array : model.arrays)
    if (std::optional<Shape> shape = array->shape())
      add(*array, *shape);
  for (const Array *data : model.data) {
    Shape shape(data->extents.begin(), data->extents.end());
    if (data->valueShape)
      llvm::append_range(shape, *data->valueShape);
    add(*data, shape);
  }
  for (const Array *param : model.params)
    add(*param, param->declared);
  for (const IndexVar &index : model.indices)
    if (index.extent)
      facts.indices.push_back(
          {index.loc, index.name, index.extent->textWithValue(), index.origin});
}

/// Warns about unused parameters. Skips parameters that have no size without a
/// use. `own` is a place in the spec itself: parameters of an included model
/// may be unused because the spec replaced their equations.
static void dropUnused(Elaborated &model, llvm::SMLoc own, bool hasReplaced,
                       Diagnostics &diagnostics) {
  std::set<const Array *> read;
  for (const Term &term : model.terms)
    if (term.array)
      read.insert(term.array);
  std::map<std::string, bool> members;  // `cell.2`: whether anything uses it
  std::map<std::string, bool> families; // `cell`
  auto familyOf = [](const Array &param) {
    return param.root.substr(0, param.root.find('.'));
  };
  for (const Array *param : model.params) {
    members[param->root] |= read.count(param) > 0;
    families[familyOf(*param)] |= read.count(param) > 0;
  }
  for (const Array *param : model.params) {
    if (param->root.empty() || members[param->root] || model.decoding)
      continue;
    llvm::SourceMgr &sources = diagnostics.sources();
    bool isIncluded = sources.FindBufferContainingLoc(param->loc) !=
                      sources.FindBufferContainingLoc(own);
    if (hasReplaced && isIncluded)
      continue;
    std::string family = familyOf(*param);
    diagnostics.warning(Code::unusedName, param->loc,
                        (param->isState ? "state '" : "parameter '") +
                            (families[family] ? param->root : family) +
                            "' is never used");
  }
  auto isOpen = [](const Array *param) {
    return llvm::any_of(param->declared, [](const Extent &size) {
      return !size.value().has_value();
    });
  };
  std::set<std::string> open; // modules with such a parameter
  for (const Array *param : model.params)
    if (isOpen(param) && !param->root.empty())
      open.insert(param->root);
  llvm::erase_if(model.params, [&](const Array *param) {
    return isOpen(param) || open.count(param->root);
  });
}

/// A latent that, at one of its places, is drawn in its own way or given by an
/// equation.
static void refuseInside(Elaborated &model) {
  auto refuse = [&](const std::string &refusal) {
    if (!llvm::is_contained(model.refusals, refusal))
      model.refusals.push_back(refusal);
    model.isLowered = false;
  };
  auto isInside = [](const Array &target, ArrayRef<PiecePlace> places) {
    bool isOwn = false;
    for (auto [axis, place] : llvm::enumerate(places)) {
      std::optional<Extent> size = target.axis(axis);
      if (!place.var && size && isOutside(place.constant, *size))
        return false;
      isOwn |= !place.var;
    }
    return isOwn;
  };
  for (const Choice &choice : model.choices)
    if (const Array &target = *choice.target; choice.latent) {
      if (isInside(target, choice.places))
        refuse("'" + target.name +
               "' is drawn in its own way at one of its places, which cannot "
               "be executed yet; draw it at every place, with an 'if' in its "
               "parameters");
      for (const Piece &piece : target.pieces)
        if (piece.value && isInside(target, piece.places))
          refuse("'" + target.name +
                 "' is drawn, and an equation gives it at one of its places, "
                 "which cannot be executed yet; draw another name, and give "
                 "'" +
                 target.name + "' by equations that read it");
    }
}

/// A search finds one length, not one per row of nested data: a row that ends
/// by a symbol is followed by another row. Adds notes to `result` about rows
/// that cannot be generated.
static void findContinued(Elaborated &model, Model &result) {
  auto isGiven = [&](const Extent &size) {
    return llvm::any_of(model.data, [&](const Array *data) {
      return !data->generated && llvm::is_contained(data->extents, size);
    });
  };
  for (Array *data : model.data)
    for (const Extent &size : data->extents) {
      const Atom *length = size.length();
      bool isRow = data->generated && length && !length->parent.empty() &&
                   !isGiven(size);
      data->continued |= isRow && data->isSentence && data->numPlaces == 2;
      if (!isRow || data->continued)
        continue;
      result.undecoded =
          "'" + data->name + "' cannot be generated, since nothing gives " +
          length->name + " for each place of " + length->parent +
          "; write it as one sequence with a symbol between its rows, or give "
          "other data over " +
          length->name;
      result.undecodedAt = data->loc;
      return;
    }
  for (DataInfo &info : result.data)
    info.isContinued = llvm::any_of(model.data, [&](const Array *data) {
      return data->continued && data->name == info.name;
    });
}

/// GRAMMAR 8.15: something must determine the length of generated data.
static void checkGenerated(const Elaborated &model, Diagnostics &diagnostics) {
  std::set<std::string> given;
  for (const Array *data : model.data)
    if (!data->generated || data->isSentence || data->ends)
      for (const Extent &size : data->extents)
        given.insert(size.text());
  for (auto &[atom, term] : model.setLengths)
    given.insert(atom->name);
  bool stops =
      llvm::any_of(model.marks, [](auto &mark) { return mark.name == "stop"; });
  for (const Array *data : model.data) {
    if (!data->generated || data->isSentence || data->ends || stops)
      continue;
    std::string open, sets;
    for (const Extent &size : data->extents)
      if (!size.value() && !given.count(size.text())) {
        open += (open.empty() ? "" : ", ") + size.text();
        sets += (sets.empty() ? "set " : ", set ") + size.text() + " = ...";
      }
    if (!open.empty())
      diagnostics.error(Code::openExtent, data->loc,
                        "generated data '" + data->name + "' has extents " +
                            open +
                            " that nothing determines; add: decode "
                            "{ " +
                            sets + " }");
  }
}

std::unique_ptr<Model> fovea::compileText(llvm::StringRef text,
                                          llvm::StringRef name,
                                          const FrontendOptions &options,
                                          mlir::MLIRContext &context,
                                          Diagnostics &diagnostics) {
  context.loadDialect<attn::AttnDialect>();
  unsigned before = diagnostics.numErrors();
  Program prelude;
  prelude.source = diagnostics.addSource("prelude.fov", preludeText().str());
  prelude.file = parse(prelude.source, diagnostics);
  std::unique_ptr<Program> program = loadProgram(
      diagnostics.addSource(name, text.str()), options, diagnostics);
  if (!program || diagnostics.numErrors() != before)
    return nullptr;
  diagnostics.joinRepeated();
  checkMetrics(*program, diagnostics);

  auto result = std::make_unique<Model>();
  mlir::OpBuilder builder(&context);
  result->module = mlir::ModuleOp::create(builder.getUnknownLoc());
  mlir::ModuleOp module = *result->module;
  Overrides overrides;
  for (const auto &set : options.sets)
    if (!llvm::StringRef(set.first).starts_with("train.") &&
        !llvm::StringRef(set.first).starts_with("decode."))
      overrides.push_back(set);
  bool isLowered = true;
  std::unique_ptr<Elaborated> training;
  for (bool decoding : {false, true}) {
    Elaborator elaborator(diagnostics, prelude, overrides, decoding);
    std::unique_ptr<Elaborated> model = elaborator.run(*program);
    if (!decoding)
      result->replacements = elaborator.replacements;
    if (diagnostics.numErrors() != before)
      return nullptr;
    bool generates = llvm::any_of(
        model->choices, [](const Choice &choice) { return !choice.latent; });
    if (decoding && generates)
      findContinued(*model, *result);
    if (decoding && (!generates || !result->undecoded.empty()))
      break;
    bool isInferred = infer(*model, diagnostics);
    if (options.facts && !decoding)
      collectFacts(*model, *options.facts);
    if (!isInferred || !proveBounds(*model, diagnostics))
      return nullptr;
    refuseInside(*model);
    isLowered &= model->isLowered;
    dropUnused(*model, program->file->modelLoc,
               !elaborator.replacements.empty(), diagnostics);
    if (decoding)
      checkGenerated(*model, diagnostics);
    if (!decoding) {
      findUpdatesOnce(*model);
      checkMetricArguments(*program, *model, diagnostics);
      result->name = model->name;
      describe(*model, *result);
      describeUses(*program, "", result->uses);
      result->metrics = metricsOf(*program);
    }
    if (decoding)
      for (const std::string &refusal : model->refusals)
        if (!llvm::is_contained(result->refusals, refusal))
          result->refusals.push_back(refusal);
    if (isLowered && !prepareGradients(*model, diagnostics))
      return nullptr;
    if (isLowered) {
      builder.setInsertionPointToEnd(module.getBody());
      Lowering(*model, diagnostics, builder, training.get())
          .run(decoding ? "decoding" : "training");
      if (diagnostics.numErrors() != before)
        return nullptr;
    }
    if (!decoding)
      training = std::move(model);
  }
  module->setAttr("attn.model", builder.getStringAttr(result->name));
  mlir::DictionaryAttr train =
      optionsOf(*program, "train", options, diagnostics, builder);
  module->setAttr("attn.train", train);
  module->setAttr("attn.decode",
                  optionsOf(*program, "decode", options, diagnostics, builder));
  if (diagnostics.numErrors() != before)
    return nullptr;
  auto init = train.getAs<mlir::StringAttr>("init");
  warnOfMistakes(*training, init ? init.getValue() : "", diagnostics);
  warnOfUnused(*program, diagnostics);
  if (!isLowered)
    result->module = nullptr;
  return result;
}

std::unique_ptr<Model> fovea::compileSpec(llvm::StringRef path,
                                          const FrontendOptions &options,
                                          mlir::MLIRContext &context,
                                          Diagnostics &diagnostics) {
  std::string why;
  std::optional<std::string> text = readSource(path.str(), why);
  if (!text) {
    diagnostics.error(Code::unreadableFile, {},
                      "cannot read '" + path.str() + "': " + why);
    return nullptr;
  }
  FrontendOptions beside = options;
  if (beside.includeDir.empty())
    beside.includeDir = llvm::sys::path::parent_path(path).str();
  if (beside.includeDir.empty())
    beside.includeDir = ".";
  return compileText(*text, sourceName(path), beside, context, diagnostics);
}

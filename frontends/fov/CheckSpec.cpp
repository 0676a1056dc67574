//===- CheckSpec.cpp - everything that can be wrong with a spec -----------===//
//
// Reads the files and checks the model twice: for training, and for decoding,
// where `decode { set .. }` applies.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/CheckSpec.h"
#include "frontends/fov/Describe.h"
#include "frontends/fov/LoadProgram.h"
#include "frontends/fov/Options.h"
#include "frontends/fov/check/Infer.h"
#include "frontends/fov/check/Warnings.h"
#include "frontends/fov/lower/Gradients.h"
#include "frontends/fov/syntax/Parser.h"
#include "runtime/search/SearchOptions.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <set>

using namespace fovea;
using namespace fovea::fov;
using ast::ExprKind;
using ast::StatementKind;

llvm::StringRef fovea::fov::preludeText() {
  static constexpr char text[] = {
#include "frontends/fov/Prelude.inc"
      , 0};
  return llvm::StringRef(text, sizeof(text) - 1);
}

/// Returns the error in a whole number of `decode { }`; empty: none.
static std::string countMistake(llvm::StringRef name, const OptionValue &value,
                                int64_t least, int64_t most) {
  const auto *whole = std::get_if<int64_t>(&value);
  if (whole && *whole >= least && *whole <= most)
    return "";
  return "'" + name.str() + "' is a whole number from " +
         std::to_string(least) + " to " + std::to_string(most);
}

static bool isLengthNorm(const OptionValue &value) {
  const auto *text = std::get_if<std::string>(&value);
  runtime::SearchOptions unused;
  return text && runtime::readNormalise(*text, unused);
}

/// Returns the error in the value of an option that shapes the objective or the
/// search; empty: none. Options for the updates are checked by the training
/// (runtime/train/TrainOptions.h).
static std::string valueMistake(llvm::StringRef block, llvm::StringRef name,
                                const OptionValue &value) {
  if (block == "decode") {
    if (name == "beam")
      return countMistake(name, value, 1, runtime::mostHypotheses);
    if (name == "shortest")
      return countMistake(name, value, 0, runtime::mostSteps);
    // An expression of lengths is an equation.
    if (name == "longest" && !std::holds_alternative<std::string>(value))
      return countMistake(name, value, 1, runtime::mostSteps);
    if (name == "normalise" && !isLengthNorm(value))
      return "'normalise' is none, per_symbol or gnmt(A), with a number A";
    return "";
  }
  if (name != "smooth")
    return "";
  double number = std::nan("");
  if (const auto *whole = std::get_if<int64_t>(&value))
    number = static_cast<double>(*whole);
  if (const auto *real = std::get_if<double>(&value))
    number = *real;
  return number >= 0 && number < 1
             ? ""
             : "'smooth' is a number of at least 0 and below 1";
}

static llvm::StringRef textOf(llvm::SMRange range) {
  const char *begin = range.Start.getPointer();
  return llvm::StringRef(begin, range.End.getPointer() - begin);
}

/// Adds the entries of `train { .. }` or `decode { .. }`; those of the
/// including file win.
static void addBlock(const Program &program, llvm::StringRef block,
                     OptionValues &values, Diagnostics &diagnostics) {
  for (const Program::Import &import : program.imports)
    if (import.name.empty() && import.program)
      addBlock(*import.program, block, values, diagnostics);
  for (const ast::Statement *s : program.file->statements) {
    if (s->kind != StatementKind::Block || s->name != block)
      continue;
    for (const ast::Entry &entry : s->entries) {
      if (entry.kind != ast::Entry::Option)
        continue;
      std::string key = entry.left.name.str();
      if (!entry.left.places.empty()) {
        // `clip_value[cell]`; the equations of decode { } are not options.
        if (block != "train")
          continue;
        const ast::Expr &place = *entry.left.places.front().value;
        key += "[" + textOf(place.range).str() + "]";
      }
      const ast::Expr &value = *entry.value;
      Option &option = values[key];
      option.place = value.loc;
      OptionValue &slot = option.value;
      if (value.kind == ExprKind::Integer)
        slot = value.integer;
      else if (value.kind == ExprKind::Real)
        slot = value.real;
      else
        slot = textOf(value.range).str();
      if (std::string mistake = valueMistake(block, key, slot);
          !mistake.empty())
        diagnostics.error(Code::optionValue, value.loc, mistake);
    }
  }
}

/// The options of `train` or `decode`; later entries and `--set` win.
static OptionValues optionsOf(const Program &program, llvm::StringRef block,
                              const FrontendOptions &options,
                              Diagnostics &diagnostics) {
  OptionValues values;
  addBlock(program, block, values, diagnostics);
  for (const auto &[key, text] : options.sets) {
    llvm::StringRef name(key);
    if (!name.consume_front(block.str() + "."))
      continue;
    std::string mistake =
        optionMistake(block, name, llvm::StringRef(text).split('(').first);
    if (mistake.empty()) {
      Option &option = values[name.str()];
      option.place = {};
      OptionValue &slot = option.value;
      int64_t whole;
      double number;
      if (!llvm::StringRef(text).getAsInteger(10, whole))
        slot = whole;
      else if (!llvm::StringRef(text).getAsDouble(number))
        slot = number;
      else
        slot = text;
      mistake = valueMistake(block, name, slot);
    }
    if (!mistake.empty())
      diagnostics.error(Code::override, {},
                        "--set " + key + "=" + text + ": " + mistake);
  }
  return values;
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
  for (const Array *param : model.params) {
    llvm::StringRef other = param->initial;
    if (!model.decoding && other.consume_front("as ") &&
        llvm::none_of(model.params,
                      [&](const Array *kept) { return kept->name == other; }))
      diagnostics.error(Code::state, param->loc,
                        "'" + param->name + "' begins as '" + other.str() +
                            "', which the model does not have, since nothing "
                            "uses it; help: let it begin with a number");
  }
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
               "be executed yet; help: draw it at every place, with an 'if' in "
               "its parameters");
      for (const Piece &piece : target.pieces)
        if (piece.value && isInside(target, piece.places))
          refuse(
              "'" + target.name +
              "' is drawn, and an equation gives it at one of its places, "
              "which cannot be executed yet; help: draw another name, and give "
              "'" +
              target.name + "' by equations that read it");
    }
}

/// A search finds one length, not one per row of nested data: a row that ends
/// by a symbol is followed by another row. Adds notes to `result` about rows
/// that cannot be generated.
static void findContinued(Elaborated &model, Description &result) {
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
      result.undecoded = "'" + data->name +
                         "' cannot be generated, since nothing gives " +
                         length->name + " for each place of " + length->parent +
                         "; help: write it as one sequence with a symbol "
                         "between its rows, or give other data over " +
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
                            " that nothing determines; help: add decode "
                            "{ " +
                            sets + " }");
  }
}

/// Checks one of the two systems; false after an error, which is diagnosed.
static bool checkSystem(CheckedSpec &spec, Elaborated &model, bool hasReplaced,
                        const FrontendOptions &options,
                        Diagnostics &diagnostics, Description &result) {
  bool isInferred = infer(model, diagnostics);
  if (options.facts && !model.decoding && !model.isStopped())
    collectFacts(model, *options.facts);
  if (!isInferred || !proveBounds(model, diagnostics) || model.isStopped())
    return false;
  refuseInside(model);
  spec.isLowered &= model.isLowered;
  dropUnused(model, spec.program->file->modelLoc, hasReplaced, diagnostics);
  if (model.decoding) {
    checkGenerated(model, diagnostics);
    for (const std::string &refusal : model.refusals)
      if (!llvm::is_contained(result.refusals, refusal))
        result.refusals.push_back(refusal);
  } else {
    findUpdatesOnce(model);
    checkMetricArguments(*spec.program, model, diagnostics);
    describe(*spec.program, model, result);
  }
  return !spec.isLowered || prepareGradients(model, diagnostics);
}

std::unique_ptr<CheckedSpec>
fovea::fov::checkSpec(llvm::StringRef text, llvm::StringRef name,
                      const FrontendOptions &options, Diagnostics &diagnostics,
                      Description &result, Systems systems,
                      const std::atomic<bool> *stop) {
  unsigned before = diagnostics.numErrors();
  auto hasErrors = [&] { return diagnostics.numErrors() != before; };
  auto spec = std::make_unique<CheckedSpec>();
  spec->prelude.source =
      diagnostics.addSource("prelude.fov", preludeText().str());
  spec->prelude.file = parse(spec->prelude.source, diagnostics);
  spec->program = loadProgram(diagnostics.addSource(name, text.str()), options,
                              diagnostics);
  if (!spec->program || hasErrors())
    return nullptr;
  diagnostics.joinRepeated();
  checkMetrics(*spec->program, diagnostics);

  Overrides &overrides = spec->overrides;
  for (const auto &set : options.sets)
    if (!llvm::StringRef(set.first).starts_with("train.") &&
        !llvm::StringRef(set.first).starts_with("decode."))
      overrides.push_back(set);
  size_t numGiven = overrides.size();
  llvm::append_range(overrides, options.sizes);
  for (bool decoding : {false, true}) {
    spec->elaborator = std::make_unique<Elaborator>(
        diagnostics, spec->prelude, overrides, numGiven, decoding, stop);
    Elaborator &elaborator = *spec->elaborator;
    std::unique_ptr<Elaborated> model = elaborator.run(*spec->program);
    if (!decoding)
      result.replacements = elaborator.replacements;
    if (hasErrors() || model->isStopped())
      return nullptr;
    bool generates = llvm::any_of(
        model->choices, [](const Choice &choice) { return !choice.latent; });
    // What `generate` gives has no choice in training.
    if (decoding)
      for (DataInfo &info : result.data)
        info.isChosen = llvm::any_of(model->data, [&](const Array *data) {
          return data->name == info.name && data->generated;
        });
    if (decoding && generates)
      findContinued(*model, result);
    if (decoding && (!generates || !result.undecoded.empty()))
      break;
    if (!checkSystem(*spec, *model, !elaborator.replacements.empty(), options,
                     diagnostics, result))
      return nullptr;
    (decoding ? spec->decoding : spec->training) = std::move(model);
    if (systems == Systems::training)
      break;
  }
  spec->train = optionsOf(*spec->program, "train", options, diagnostics);
  spec->decode = optionsOf(*spec->program, "decode", options, diagnostics);
  if (hasErrors())
    return nullptr;
  for (const auto &[name, option] : spec->train)
    if (option.place.isValid())
      result.trainPlaces[name] = option.place;
  if (systems != Systems::training)
    spec->elaborator.reset();
  spec->numEarlier = diagnostics.numWarnings();
  warnOfAll(*spec, diagnostics);
  return spec;
}

void fovea::fov::warnOfAll(const CheckedSpec &spec, Diagnostics &diagnostics) {
  auto init = spec.train.find("init");
  const auto *rule = init == spec.train.end()
                         ? nullptr
                         : std::get_if<std::string>(&init->second.value);
  warnOfMistakes(*spec.training, rule ? *rule : "", diagnostics);
  warnOfUnused(*spec.program, diagnostics);
}

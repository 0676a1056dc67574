//===- Recheck.cpp - a checked spec after an edit -------------------------===//
//
// Every rule here asks whether a whole check could find something else than
// this one, and gives up if it could.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/Recheck.h"
#include "frontends/fov/Describe.h"
#include "frontends/fov/check/Check.h"
#include "frontends/fov/check/Infer.h"
#include "frontends/fov/syntax/Parser.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace fovea;
using namespace fovea::fov;
using ast::Statement;
using ast::StatementKind;

/// Texts and terms that edits leave behind take memory until the next whole
/// check.
static constexpr unsigned mostAmended = 200;
/// More than an editor lists.
static constexpr unsigned mostWarnings = 1000;
/// Equations that one edit may change.
static constexpr size_t mostChanged = 16;
/// A line that begins a text, for the parser.
static constexpr llvm::StringLiteral head("model m\n");

static bool isIn(SMLoc loc, StringRef text) {
  return loc.getPointer() >= text.begin() && loc.getPointer() <= text.end();
}

static bool isIn(SMLoc loc, llvm::SMRange range) {
  return loc.getPointer() >= range.Start.getPointer() &&
         loc.getPointer() < range.End.getPointer();
}

static StringRef textOf(llvm::SMRange range) {
  const char *begin = range.Start.getPointer();
  return StringRef(begin, range.End.getPointer() - begin);
}

Recheck::Recheck(CheckedSpec &spec, StringRef text, Diagnostics &diagnostics)
    : spec(spec), diagnostics(diagnostics), present(text) {
  stretches.push_back(text);
  texts.push_back(text);
  const Elaborated &model = *spec.training;
  auto isNested = [](const Array *data) {
    return llvm::any_of(data->extents, [](const Extent &size) {
      const Atom *length = size.nestedLength();
      return length != nullptr;
    });
  };
  isPossible = spec.elaborator && spec.program->imports.empty() &&
               spec.program->file->rest.empty() && model.updates.empty() &&
               model.lengthValues.empty() && !model.hasGuesses &&
               llvm::none_of(model.data, isNested) &&
               llvm::none_of(model.terms,
                             [](const Term &term) {
                               return term.kind == TermKind::Grad ||
                                      term.kind == TermKind::GradOver;
                             }) &&
               findRecords();
}

/// Finds the lines of each statement. Returns false where it cannot.
bool Recheck::findRecords() {
  auto recordOf = [&](const char *begin, const char *end) {
    Record record;
    record.begin = begin - present.begin();
    record.begin = present.rfind('\n', record.begin) + 1;
    record.end = present.find('\n', end - present.begin());
    record.end =
        record.end == StringRef::npos ? present.size() : record.end + 1;
    return record;
  };
  const char *name = spec.program->file->modelLoc.getPointer();
  if (!name || !isIn(spec.program->file->modelLoc, present))
    return false;
  records.push_back(recordOf(name, name));
  for (Statement *&s : spec.program->file->statements) {
    const char *begin = s->range.Start.getPointer(),
               *end = s->range.End.getPointer();
    Record record = recordOf(begin, end);
    record.statement = &s;
    record.isAmendable = canAmend(*s);
    // Statements that share a line.
    if (Record &other = records.back(); record.begin < other.end) {
      other.isAmendable = false;
      other.end = std::max(other.end, record.end);
      continue;
    }
    records.push_back(record);
  }
  return true;
}

bool Recheck::canAmend(const Statement &s) const {
  return s.kind == StatementKind::Equation &&
         spec.elaborator->made.contains(&s);
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

SMLoc Recheck::placeOf(SMLoc loc) const {
  size_t offset = 0;
  for (StringRef stretch : stretches) {
    if (isIn(loc, stretch)) {
      // The end of one may be the begin of the next.
      size_t at = loc.getPointer() - stretch.begin();
      if (at < stretch.size() || stretch.end() == stretches.back().end())
        return SMLoc::getFromPointer(present.begin() + offset + at);
    }
    offset += stretch.size();
  }
  bool isGone =
      llvm::any_of(texts, [&](StringRef text) { return isIn(loc, text); });
  return isGone ? SMLoc() : loc;
}

/// Finds the lines that differ, with the statements in them: [begin, end) of
/// the present text and [begin, newEnd) of the new one.
bool Recheck::findChanges(StringRef newText, size_t &begin, size_t &end,
                          size_t &newEnd, std::vector<Change> &changes) {
  StringRef old = present;
  size_t most = std::min(old.size(), newText.size());
  begin =
      std::mismatch(old.begin(), old.begin() + most, newText.begin()).first -
      old.begin();
  size_t same = 0;
  while (same < most - begin &&
         old[old.size() - 1 - same] == newText[newText.size() - 1 - same])
    ++same;
  begin = old.take_front(begin).rfind('\n') + 1;
  end = old.size() - same;
  auto isLine = [](StringRef text, size_t at) {
    return at == 0 || text[at - 1] == '\n';
  };
  if (!isLine(old, end) || !isLine(newText, newText.size() - same)) {
    size_t line = old.find('\n', end);
    end = line == StringRef::npos ? old.size() : line + 1;
  }
  end = std::max(end, begin);
  auto first = llvm::partition_point(
      records, [&](const Record &record) { return record.end <= begin; });
  for (auto it = first; it != records.end() && it->begin < end; ++it) {
    if (!it->isAmendable || changes.size() == mostChanged)
      return false;
    begin = std::min(begin, it->begin);
    end = std::max(end, it->end);
    changes.push_back({&*it, *it->statement, nullptr});
  }
  if (old.size() - end > newText.size() - begin)
    return false;
  newEnd = newText.size() - (old.size() - end);
  return true;
}

void Recheck::replaceText(StringRef newText, size_t begin, size_t end,
                          size_t newEnd, StringRef chunk) {
  std::vector<StringRef> result;
  size_t offset = 0;
  bool isIn = false;
  auto add = [&](StringRef text) {
    if (!text.empty())
      result.push_back(text);
  };
  for (StringRef text : stretches) {
    size_t from = offset, to = offset + text.size();
    offset = to;
    if (from < begin)
      add(text.take_front(std::min(to, begin) - from));
    if (!isIn && to >= begin) {
      add(chunk);
      isIn = true;
    }
    if (to > end)
      add(text.drop_front(std::max(from, end) - from));
  }
  stretches = std::move(result);
  for (Record &record : records) {
    if (record.begin >= end) {
      record.begin += newEnd - end;
      record.end += newEnd - end;
    }
  }
  present = newText;
  spec.program->source = newText;
}

//===----------------------------------------------------------------------===//
// What reads what
//===----------------------------------------------------------------------===//

void Recheck::count(const Term &term, int change) {
  if (!term.array)
    return;
  int &number = numReads[term.array];
  changedReads.try_emplace(term.array, number);
  number += change;
}

void Recheck::addReads(const Array &array) {
  SmallVector<const Array *, 4> &result = reads[&array];
  result.clear();
  for (const Piece &piece : array.pieces)
    forEachPart(piece.value, [&](const Term *term) {
      if (term->array && !llvm::is_contained(result, term->array))
        result.push_back(term->array);
    });
}

/// The sizes of a list that a call binds.
static SmallVector<const Atom *, 4> atomsIn(ArrayRef<Extent> sizes) {
  SmallVector<const Atom *, 4> result;
  for (const Extent &size : sizes)
    for (const auto &[monomial, factor] : size.terms())
      for (const auto &[atom, exponent] : monomial)
        if (atom->kind == Atom::Size)
          result.push_back(atom);
  return result;
}

static SmallVector<const Atom *, 4> atomsOf(const Array &param) {
  return atomsIn(param.declared);
}

void Recheck::addBinding(size_t number) {
  for (const Atom *atom : atomsIn(spec.training->bindings[number].sizes))
    bound[atom].push_back(number);
}

void Recheck::findReads() {
  if (std::exchange(hasReads, true))
    return;
  const Elaborated &model = *spec.training;
  for (const Term &term : model.terms)
    if (term.array)
      ++numReads[term.array];
  for (const Array *array : model.arrays)
    addReads(*array);
  for (size_t i = 0; i < model.bindings.size(); ++i)
    addBinding(i);
}

/// Finds the arrays that depend on `defined`.
void Recheck::findDependents(const std::vector<Array *> &defined) {
  llvm::DenseMap<const Array *, SmallVector<const Array *, 4>> readers;
  for (auto &[array, given] : reads)
    for (const Array *other : given)
      readers[other].push_back(array);
  for (const Array *param : spec.training->params)
    for (const Atom *atom : atomsOf(*param))
      if (auto it = bound.find(atom); it != bound.end())
        for (size_t binding : it->second)
          forEachPart(spec.training->bindings[binding].term,
                      [&](const Term *term) {
                        if (term->array)
                          readers[term->array].push_back(param);
                      });
  dependents.clear();
  SmallVector<const Array *> work(defined.begin(), defined.end());
  dependents.insert_range(defined);
  while (!work.empty())
    if (auto it = readers.find(work.pop_back_val()); it != readers.end())
      for (const Array *reader : it->second)
        if (dependents.insert(reader).second)
          work.push_back(reader);
}

/// Whether its shape (or kind) follows without what has changed: from an
/// equation all of whose reads are such arrays, or for a parameter from calls.
bool Recheck::isOwn(const Array &array, Fact fact, Visited &visited) const {
  constexpr unsigned deepest = 100;
  if (!dependents.contains(&array))
    return true;
  if (llvm::is_contained(names, &array) || visited.size() > deepest ||
      !visited.insert(&array).second)
    return false;
  auto areOwn = [&](const Term *value) {
    bool result = true;
    forEachPart(value, [&](const Term *term) {
      result = result && (!term->array || isOwn(*term->array, fact, visited));
    });
    return result;
  };
  if (array.source == Array::Param)
    return fact == Fact::kind ||
           llvm::all_of(atomsOf(array), [&](const Atom *atom) {
             auto it = bound.find(atom);
             return it == bound.end() ||
                    llvm::any_of(it->second, [&](size_t binding) {
                      return areOwn(spec.training->bindings[binding].term);
                    });
           });
  return llvm::any_of(array.pieces, [&](const Piece &piece) {
    bool gives = piece.value &&
                 (fact == Fact::shape ? piece.value->shape.has_value()
                                      : piece.value->kindOf == array.kind);
    return gives && areOwn(piece.value);
  });
}

/// Whether the range of an axis follows from nothing that has changed.
bool Recheck::hasOwnRange(const Array &array, unsigned axis,
                          unsigned steps) const {
  if (!dependents.contains(&array) || array.source != Array::Equation)
    return true;
  const Piece *piece = array.general();
  if (llvm::is_contained(defined, &array) || axis >= array.numPlaces ||
      !piece || steps > 1000)
    return false;
  const IndexVar &var = *piece->places[axis].var;
  if (var.strength == 1 || var.strength == 2)
    return true;
  return var.giver && hasOwnRange(*var.giver, var.giverAxis, steps + 1);
}

//===----------------------------------------------------------------------===//
// One edit
//===----------------------------------------------------------------------===//

/// Makes inert what an equation has made.
void Recheck::remove(const ModelPart &begin, const ModelPart &end) {
  Elaborated &model = *spec.training;
  for (size_t i = begin.terms; i < end.terms; ++i) {
    Term &term = model.terms[i];
    count(term, -1);
    Term none = term;
    none.args.clear();
    none.free.clear();
    none.vars.clear();
    none.sizes.clear();
    none.kind = TermKind::Number;
    none.array = nullptr;
    none.index = nullptr;
    none.fallback = none.condition = nullptr;
    none.vocabulary = nullptr;
    none.loc = SMLoc();
    none.range = llvm::SMRange();
    none.isInteger = true;
    none.shape = Shape();
    none.kindOf = Kind::Int;
    term = std::move(none);
  }
  numRemoved += end.terms - begin.terms;
  for (size_t i = begin.bindings; i < end.bindings; ++i)
    model.bindings[i].def = nullptr;
  bool hasArrays = false;
  for (size_t i = begin.storage; i < end.storage; ++i) {
    Array &array = model.storage[i];
    if (!array.isOfCall)
      continue;
    hasArrays = true;
    if (!array.name.empty())
      goneNames.insert(array.text);
    reads.erase(&array);
    array.pieces.clear();
  }
  if (hasArrays)
    llvm::erase_if(model.arrays, [](const Array *array) {
      return array->isOfCall && array->pieces.empty() && !array->latent &&
             array->source == Array::Equation;
    });
}

/// Whether the calls give all sizes of parameters that the old ones gave.
bool Recheck::keepSizes(const ModelPart &oldBegin, const ModelPart &oldEnd,
                        const ModelPart &part) const {
  const Elaborated &model = *spec.training;
  llvm::DenseSet<const Atom *> now, ofParams;
  for (const SizeBinding &binding :
       llvm::drop_begin(model.bindings, part.bindings))
    now.insert_range(atomsIn(binding.sizes));
  for (const Array *param : model.params)
    ofParams.insert_range(atomsOf(*param));
  for (size_t i = oldBegin.bindings; i < oldEnd.bindings; ++i)
    for (const Atom *atom : atomsIn(model.bindings[i].sizes))
      if (ofParams.contains(atom) && !now.contains(atom))
        return false;
  ArrayRef all(model.vocabularyBindings);
  ArrayRef before = all.slice(oldBegin.vocabularies,
                              oldEnd.vocabularies - oldBegin.vocabularies);
  return llvm::all_of(before, [&](auto &old) {
    return llvm::any_of(all.drop_front(part.vocabularies),
                        [&](auto &given) { return given.first == old.first; });
  });
}

/// Whether each index has a range whatever rule finds it first, and from
/// something else than itself.
bool Recheck::haveOneRange(const ModelPart &part) const {
  const Elaborated &model = *spec.training;
  llvm::DenseMap<const IndexVar *, bool> isGiven;
  for (const IndexUse &use : llvm::drop_begin(model.uses, part.uses)) {
    const Array *array =
        use.read->kind == TermKind::Read ? use.read->array : nullptr;
    if (array && array->source == Array::Equation && !array->isOfCall &&
        use.axis < array->numPlaces && array->general() &&
        array->general()->places[use.axis].var->isDemanded)
      return false;
    if (use.read->fallback || use.shift > 0 || use.var->strength <= 2)
      continue;
    if (array && llvm::is_contained(defined, array) && !array->isOfCall)
      continue; // reads itself
    std::optional<Extent> extent = extentOf(use);
    if (!extent || *extent != *use.var->extent ||
        extent->text() != use.var->extent->text())
      return false;
    isGiven[use.var] |= !array || hasOwnRange(*array, use.axis);
  }
  for (const IndexVar &var : llvm::drop_begin(model.indices, part.indices))
    if (var.strength > 2 && !var.like && !isGiven.lookup(&var))
      return false;
  return true;
}

Recheck::Interface::Interface(const Array &array)
    : shape(array.shape()), kind(array.kind), vocabulary(array.vocabulary) {
  if (shape)
    text = shapeText(*shape);
}

/// Infers and checks the new equations. Returns whether the others find what
/// they found before.
bool Recheck::isSame(ArrayRef<Change> changes, const ModelPart &part) {
  Elaborated &model = *spec.training;
  const auto &made = spec.elaborator->made;
  for (Array *array : names) {
    array->valueShape = std::nullopt;
    array->kind = std::nullopt;
    array->vocabulary = nullptr;
  }
  findDependents(names);
  // What is read has its facts from elsewhere.
  llvm::DenseSet<const Array *> unknown;
  for (const Term &term : llvm::drop_begin(model.terms, part.terms)) {
    const Array *array = term.array;
    if (!array || llvm::is_contained(defined, array))
      continue;
    Visited shapes, kinds;
    if (!isOwn(*array, Fact::shape, shapes))
      return false;
    if (!isOwn(*array, Fact::kind, kinds))
      unknown.insert(array);
  }
  unknown.insert_range(names);
  inferShapes(model, part);
  inferKinds(model, part, &unknown);
  std::vector<std::optional<Kind>> kinds;
  for (const Array *array : names)
    kinds.push_back(array->kind);
  inferKinds(model, part);
  for (auto [array, was, kind] : llvm::zip_equal(names, needed, kinds))
    if (!(Interface(*array) == was) || kind != array->kind)
      return false;
  if (!checkModel(model, diagnostics, part) || !haveOneRange(part) ||
      !proveBounds(model, diagnostics, part))
    return false;
  for (const Change &change : changes) {
    auto old = made.find(change.was)->second;
    if (!keepSizes(old.first, old.second, part))
      return false;
    // What only the old equation demanded.
    for (const IndexVar &var : model.indices)
      if (var.strength == 5 && isIn(var.originLoc, change.was->range))
        return false;
  }
  return true;
}

bool Recheck::elaborate(ArrayRef<Change> changes, ModelPart &part) {
  Elaborated &model = *spec.training;
  part = ModelPart::after(model);
  // What the equations define, and what others need of it.
  for (const Change &change : changes)
    for (Array *array : model.arrays)
      for (const Piece &piece : array->pieces)
        if (!array->isOfCall && isIn(piece.loc, change.was->range) &&
            !llvm::is_contained(names, array)) {
          names.push_back(array);
          needed.emplace_back(*array);
        }
  for (const Change &change : changes) {
    const Statement &was = *change.was, &now = *change.now;
    if (was.kind != now.kind || was.lefts.size() != now.lefts.size() ||
        !llvm::all_of(llvm::zip(was.lefts, now.lefts), [](auto both) {
          auto &[a, b] = both;
          auto isSamePlace = [](auto places) {
            auto &[p, q] = places;
            return textOf(p.value->range) == textOf(q.value->range) &&
                   !p.bound == !q.bound &&
                   (!p.bound ||
                    textOf(p.bound->range) == textOf(q.bound->range));
          };
          return a.name == b.name && a.places.size() == b.places.size() &&
                 llvm::all_of(llvm::zip(a.places, b.places), isSamePlace);
        }))
      return false;
    if (!spec.elaborator->elaborateAgain(spec.training, was, now))
      return false;
  }
  defined = names;
  for (Array &array : llvm::drop_begin(model.storage, part.storage))
    defined.push_back(&array);
  part.only = &defined;
  return diagnostics.numErrors() == 0 &&
         llvm::none_of(names,
                       [](const Array *array) {
                         return array->latent || array->generated ||
                                array->vocabulary ||
                                array->source != Array::Equation;
                       }) &&
         llvm::none_of(llvm::drop_begin(model.terms, part.terms),
                       [](const Term &term) {
                         return term.kind == TermKind::Grad ||
                                term.kind == TermKind::GradOver;
                       });
}

bool Recheck::amend(StringRef newText, Diagnostics::Listener listener) {
  newText.consume_front("\xef\xbb\xbf");
  if (!std::exchange(isPossible, false) || numAmended == mostAmended ||
      numRemoved > spec.training->terms.size() / 2)
    return false;
  ++numAmended;
  spec.training->stop = nullptr;
  std::vector<Change> changes;
  size_t begin, end, newEnd;
  if (!findChanges(newText, begin, end, newEnd, changes))
    return false;
  StringRef name =
      diagnostics.sources().getMemoryBuffer(2)->getBufferIdentifier();
  StringRef owned = diagnostics.addSource(name, newText.str());
  StringRef chunk = diagnostics.addSource(
      name, (llvm::Twine(head) + newText.slice(begin, newEnd)).str());
  chunk = chunk.drop_front(head.size());
  texts.push_back(chunk);
  files.push_back(
      parse(StringRef(chunk.begin() - head.size(), chunk.size() + head.size()),
            diagnostics));
  ast::File &file = *files.back();
  if (diagnostics.numErrors() || !file.rest.empty() ||
      file.statements.size() != changes.size())
    return false;
  gone.clear();
  goneNames.clear();
  defined.clear();
  names.clear();
  needed.clear();
  changedReads.clear();
  last = ModelPart::after(*spec.training);
  for (auto [change, now] : llvm::zip_equal(changes, file.statements))
    change.now = now;
  if (!changes.empty()) {
    findReads();
    if (!elaborate(changes, last))
      return false;
    for (const Array *array : defined)
      addReads(*array);
    for (const Change &change : changes) {
      auto [from, to] = spec.elaborator->made.find(change.was)->second;
      for (size_t i = from.bindings; i < to.bindings; ++i)
        for (const Atom *atom : atomsIn(spec.training->bindings[i].sizes))
          llvm::erase(bound[atom], i);
    }
    for (size_t i = last.bindings; i < spec.training->bindings.size(); ++i)
      addBinding(i);
    if (!isSame(changes, last))
      return false;
    for (const Term &term : llvm::drop_begin(spec.training->terms, last.terms))
      count(term, 1);
    for (const Change &change : changes) {
      auto old = spec.elaborator->made.find(change.was)->second;
      remove(old.first, old.second);
      spec.elaborator->made.erase(change.was);
      gone.push_back(change.was->range);
      *change.record->statement = change.now;
    }
    for (auto &[array, before] : changedReads)
      if (array->source == Array::Param &&
          (before == 0) != (numReads.lookup(array) == 0))
        return false;
  }
  // The statements keep their order, and get the lines that they have now.
  replaceText(owned, begin, end, newEnd, chunk);
  for (const Change &change : changes) {
    Record &record = *change.record;
    SMLoc at = placeOf(change.now->range.Start),
          stop = placeOf(change.now->range.End);
    record.begin =
        present.take_front(at.getPointer() - present.begin()).rfind('\n') + 1;
    record.end = present.find('\n', stop.getPointer() - present.begin());
    record.end =
        record.end == StringRef::npos ? present.size() : record.end + 1;
  }
  for (size_t i = 1; i < records.size(); ++i)
    if (records[i].begin < records[i - 1].end)
      return false;
  // These warnings are new ones, even if they were given before.
  Diagnostics warnings(llvm::nulls(), mostWarnings);
  llvm::SourceMgr &sources = diagnostics.sources();
  for (unsigned id = 1; id <= sources.getNumBuffers(); ++id) {
    const llvm::MemoryBuffer &buffer = *sources.getMemoryBuffer(id);
    warnings.sources().AddNewSourceBuffer(
        llvm::MemoryBuffer::getMemBuffer(buffer.getMemBufferRef()), SMLoc());
  }
  warnings.listen(std::move(listener));
  warnOfAll(spec, warnings);
  return isPossible = true;
}

void Recheck::updateFacts(SpecFacts &facts) const {
  auto isOld = [&](auto &fact) {
    return llvm::any_of(
        gone, [&](llvm::SMRange range) { return isIn(fact.loc, range); });
  };
  llvm::erase_if(facts.indices, isOld);
  llvm::erase_if(facts.arrays, [&](const SpecFacts::ArrayFact &fact) {
    return isOld(fact) || goneNames.contains(fact.name) ||
           llvm::any_of(names, [&](const Array *array) {
             return fact.name == array->text;
           });
  });
  if (last.only)
    collectFacts(*spec.training, facts, last);
}

//===- ElaborateUpdates.cpp - states --------------------------------------===//
//
// `update code[n] = ..` is an equation of the new values of a state. An update
// of a module is one of each of its arrays, where the names of modules stand
// for their arrays of the same name.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/elaborate/Elaborate.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace fovea;
using namespace fovea::fov;
using ast::ExprKind;
using ast::Statement;

/// The array of a module that an update of modules is about.
Term *Elaborator::partOf(const Instance &module, SMLoc loc) {
  for (Array *param : model->params)
    if (param->name == module.path + partOfModules->suffix) {
      Term *term = make(TermKind::Read, loc);
      term->array = param;
      computeFree(term);
      // A module that is only updated has the sizes of the other.
      Array *state = partOfModules->state;
      if (param != state)
        model->bindings.push_back(
            {term,
             {state->declared.begin(), state->declared.end()},
             loc,
             "",
             {}});
      return term;
    }
  error(Code::state, loc,
        "'" + module.path + "' has no array '" +
            partOfModules->suffix.substr(1) +
            "', but the module that is updated has one");
  return nullptr;
}

void Elaborator::addUpdate(Array &state, SmallVector<PiecePlace, 2> places,
                           Term *value, SMLoc loc) {
  for (const Update &other : model->updates)
    if (other.state == &state)
      return error(Code::givenTwice, loc,
                   "'" + state.text + "' is updated twice",
                   {{other.loc, "it is first updated here"}});
  Array *array = &model->storage.emplace_back();
  array->source = Array::Equation;
  array->name = "update/" + state.name;
  array->text = "update " + state.text;
  array->loc = loc;
  array->numPlaces = places.size();
  model->arrays.push_back(array);
  model->updates.push_back({&state, array, loc});
  addPiece(array, {std::move(places), value, loc});
}

void Elaborator::elaborateUpdate(const Statement &s, Scope &scope,
                                 const Bindings *bindings) {
  const ast::Left &left = s.lefts.front();
  Symbol *symbol = lookup(scope, left.name);
  if (!symbol)
    return undefined(left.name, left.loc, scope, bindings);
  if (symbol->kind == Symbol::Mistake)
    return;
  Family *family = symbol->kind == Symbol::Equations ? symbol->family : nullptr;
  size_t numStatic = family ? family->isStatic.size() : 0;
  StaticIndices at;
  for (const ast::Place &place :
       llvm::ArrayRef(left.places).take_front(numStatic))
    if (auto value = staticValue(*place.value, scope, bindings))
      at.push_back(*value);
  auto found = family && at.size() == numStatic
                   ? family->members.find(at)
                   : decltype(family->members.end())();
  bool isMember =
      family && at.size() == numStatic && found != family->members.end();
  Array *array = isMember ? found->second.array : nullptr;
  Instance *module = isMember ? found->second.instance : nullptr;
  SmallVector<Array *> parts;
  for (Array *param : model->params)
    if (module && StringRef(param->name).starts_with(module->path + "."))
      parts.push_back(param);
  Array *first = array ? array : parts.empty() ? nullptr : parts.front();
  if (!first || !first->isState)
    return error(Code::state, left.loc,
                 "'" + left.name.str() + "' is " +
                     (first ? "a parameter, which its gradient changes"
                            : "not a state") +
                     "; help: declare it: state " + left.name.str() +
                     " : vector(n)",
                 {{symbol->loc, "it is declared here"}});

  ArrayRef<ast::Place> rest = llvm::ArrayRef(left.places).drop_front(numStatic);
  if (module) {
    if (!rest.empty())
      return error(Code::numberOfIndices, rest.front().loc,
                   "'" + left.name.str() +
                       "' is a module, whose update has no index");
    for (Array *part : parts) {
      llvm::SaveAndRestore<std::optional<Part>> inside(
          partOfModules, Part{part, part->name.substr(module->path.size())});
      Term *value = expression(*s.value, scope, bindings);
      if (!value)
        return;
      addUpdate(*part, {}, value, s.loc);
    }
    return;
  }
  SmallVector<PiecePlace, 2> places;
  if (rest.size() > array->declared.size())
    return error(Code::numberOfIndices, rest.front().loc,
                 "'" + array->text + "' has " +
                     counted(array->declared.size(), "axis") + " but " +
                     counted(rest.size(), "index") + " here");
  for (auto [k, place] : llvm::enumerate(rest)) {
    PiecePlace &read = places.emplace_back();
    if (!readPlace(left, place, scope, bindings, read))
      return;
    if (!read.var || read.shift != 0)
      return error(Code::state, place.loc,
                   "an update gives all of a state: its places are indices");
    if (!read.var->extent) {
      read.var->extent = array->declared[k];
      read.var->strength = 2;
      read.var->originLoc = array->loc;
      read.var->origin = array->text + "[" + read.var->name + "]";
    }
  }
  if (Term *value = expression(*s.value, scope, bindings))
    addUpdate(*array, std::move(places), value, s.loc);
}

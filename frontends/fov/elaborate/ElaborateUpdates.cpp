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
  std::string name = module.path + partOfModules->suffix;
  for (Array *param : model->params)
    if (param->name == name) {
      Term *term = make(TermKind::Read, loc);
      term->array = param;
      findFree(*term);
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

/// The array or module that a left side names with its first places; neither:
/// nothing has this name.
Member Elaborator::namedMember(const ast::Left &left, Symbol &symbol,
                               Scope &scope, const Bindings *bindings) {
  if (symbol.kind != Symbol::Equations)
    return {};
  StaticIndices at;
  for (const ast::Place &place :
       ArrayRef(left.places).take_front(symbol.family->isStatic.size()))
    if (auto value = staticValue(*place.value, scope, bindings))
      at.push_back(*value);
  auto found = symbol.family->members.find(at);
  return found == symbol.family->members.end() ? Member() : found->second;
}

/// Each array of a module has an update of its own.
void Elaborator::updateModule(const Instance &module, const Statement &s,
                              Scope &scope, const Bindings *bindings) {
  SmallVector<Array *> parts;
  for (Array *param : model->params)
    if (StringRef(param->name).starts_with(module.path + "."))
      parts.push_back(param);
  for (Array *part : parts) {
    llvm::SaveAndRestore<std::optional<Part>> inside(
        partOfModules, Part{part, part->name.substr(module.path.size())});
    Term *value = expression(*s.value, scope, bindings);
    if (!value)
      return;
    addUpdate(*part, {}, value, s.loc);
  }
}

void Elaborator::elaborateUpdate(const Statement &s, Scope &scope,
                                 const Bindings *bindings) {
  const ast::Left &left = s.lefts.front();
  Symbol *symbol = lookup(scope, left.name);
  if (!symbol)
    return undefined(left.name, left.loc, scope, bindings);
  if (symbol->kind == Symbol::Mistake)
    return;
  Member member = namedMember(left, *symbol, scope, bindings);
  bool isOfState =
      member.instance
          ? llvm::any_of(model->params,
                         [&](const Array *param) {
                           return param->isState &&
                                  StringRef(param->name)
                                      .starts_with(member.instance->path + ".");
                         })
          : member.array && member.array->isState;
  if (!isOfState)
    return error(Code::state, left.loc,
                 "'" + left.name.str() + "' is " +
                     (member.array || member.instance
                          ? "a parameter, which its gradient changes"
                          : "not a state") +
                     "; help: declare it: state " + left.name.str() +
                     " : vector(n)",
                 {{symbol->loc, "it is declared here"}});

  ArrayRef<ast::Place> rest =
      ArrayRef(left.places).drop_front(symbol->family->isStatic.size());
  if (member.instance && !rest.empty())
    return error(Code::numberOfIndices, rest.front().loc,
                 "'" + left.name.str() +
                     "' is a module, whose update has no index");
  if (member.instance)
    return updateModule(*member.instance, s, scope, bindings);
  Array &state = *member.array;
  if (rest.size() > state.declared.size())
    return error(Code::numberOfIndices, rest.front().loc,
                 "'" + state.text + "' has " +
                     counted(state.declared.size(), "axis") + " but " +
                     counted(rest.size(), "index") + " here");
  SmallVector<PiecePlace, 2> places;
  for (auto [k, place] : llvm::enumerate(rest)) {
    PiecePlace &read = places.emplace_back();
    if (!readPlace(left, place, scope, bindings, read))
      return;
    if (!read.var || read.shift != 0)
      return error(Code::state, place.loc,
                   "an update gives all of a state: its places are indices");
    if (!read.var->extent) {
      read.var->extent = state.declared[k];
      read.var->strength = 2;
      read.var->originLoc = state.loc;
      read.var->origin = state.text + "[" + read.var->name + "]";
    }
  }
  if (Term *value = expression(*s.value, scope, bindings))
    addUpdate(state, std::move(places), value, s.loc);
}

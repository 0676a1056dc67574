//===- ElaborateUpdates.cpp - states --------------------------------------===//
//
// `update code[n] = ..` is an equation of the new values of a state. An update
// of a module is one of each of its arrays, where the names of modules stand
// for their arrays of the same name. A module that declares a state updates it
// in each call; the new value is the mean of what the calls make of it.
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
  StringRef part = partOfModules->suffix;
  error(Code::state, loc,
        part.empty()
            ? "'" + module.path + "' is a module, but the state is an array"
            : "'" + module.path + "' has no array '" + part.drop_front().str() +
                  "', but the state has one");
  return nullptr;
}

/// An array for the next value of a state.
Array *Elaborator::nextValue(std::string name,
                             SmallVector<PiecePlace, 2> places, Term *value,
                             SMLoc loc) {
  Array *array = &model->storage.emplace_back();
  array->source = Array::Equation;
  array->name = std::move(name);
  array->loc = loc;
  array->numPlaces = places.size();
  model->arrays.push_back(array);
  addPiece(array, {std::move(places), value, loc});
  return array;
}

void Elaborator::addUpdate(Array &state, SmallVector<PiecePlace, 2> places,
                           Term *value, SMLoc loc, Scope &scope) {
  auto other = llvm::find_if(
      model->updates, [&](const Update &each) { return each.state == &state; });
  SmallVector<CallUpdate, 1> &calls = callUpdates[&state];
  auto call = llvm::find_if(
      calls, [&](const CallUpdate &each) { return each.call == &scope; });
  if (other != model->updates.end() || call != calls.end())
    return error(Code::givenTwice, loc, "'" + state.text + "' is updated twice",
                 {{call != calls.end() ? call->loc : other->loc,
                   "it is first updated here"}});
  Array *array = nullptr;
  if (scope.isCall) {
    // A call at each place of an index has one value for all of them.
    Term *mean = make(TermKind::Reduce, loc, {value});
    mean->reduction = Reduction::Mean;
    llvm::copy_if(value->free, std::back_inserter(mean->vars),
                  [&](IndexVar *var) {
                    return llvm::none_of(places, [&](const PiecePlace &place) {
                      return place.var == var;
                    });
                  });
    findFree(*mean);
    std::string part = state.name.substr(scope.instance->path.size() + 1);
    array = nextValue(scope.prefix + "next." + part, std::move(places),
                      mean->vars.empty() ? value : mean, loc);
    calls.push_back({&scope, array, loc});
  } else {
    array = nextValue("update/" + state.name, std::move(places), value, loc);
    model->updates.push_back({&state, array, loc});
  }
  array->text = "update " + state.text;
}

/// The next value of a state of a module is the mean of those of the calls.
void Elaborator::joinUpdates() {
  for (Array *state : model->params) {
    ArrayRef<CallUpdate> calls = callUpdates[state];
    if (calls.empty())
      continue;
    SMLoc loc = calls.front().loc;
    Term *sum = nullptr;
    for (const CallUpdate &call : calls) {
      Term *next = make(TermKind::Read, call.loc);
      next->array = call.value;
      findFree(*next);
      sum = sum ? map(Fn::Add, {sum, next}, loc) : next;
    }
    if (calls.size() > 1)
      sum = map(Fn::Div, {sum, number(calls.size(), loc, false)}, loc);
    Array *array = nextValue("update/" + state->name, {}, sum, loc);
    array->text = "update " + state->text;
    model->updates.push_back({state, array, loc});
  }
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
    addUpdate(*part, {}, value, s.loc, scope);
  }
}

void Elaborator::elaborateUpdate(const Statement &s, Scope &scope,
                                 const Bindings *bindings) {
  const ast::Left &left = s.lefts.front();
  Symbol *symbol = lookup(scope, left.name);
  if (!symbol && scope.isCall)
    return error(Code::misplacedStatement, s.loc,
                 "an update belongs to the model, or to the def that declares "
                 "the state '" +
                     left.name.str() + "'");
  if (!symbol)
    return undefined(left.name, left.loc, scope, bindings);
  if (symbol->kind == Symbol::Mistake)
    return;
  Member member = namedMember(left, *symbol, scope, bindings);
  bool isOfState = member.instance ? member.instance->isState
                                   : member.array && member.array->isState;
  // A parameter becomes a state of the same module.
  std::string module = "vector(n)";
  if (symbol->statement && symbol->statement->module) {
    llvm::SMRange range = symbol->statement->module->range;
    module.assign(range.Start.getPointer(), range.End.getPointer());
  }
  if (!isOfState)
    return error(Code::state, left.loc,
                 "'" + left.name.str() + "' is " +
                     (member.array || member.instance
                          ? "a parameter, which its gradient changes"
                          : "not a state") +
                     "; help: declare it: state " + left.name.str() + " : " +
                     module,
                 {{symbol->loc, "it is declared here"}});

  ArrayRef<ast::Place> rest =
      ArrayRef(left.places).drop_front(symbol->family->isStatic.size());
  if (member.instance && !rest.empty())
    return error(
        Code::numberOfIndices, rest.front().loc,
        "'" + left.name.str() +
            "' is a module, whose update has no index; help: write update " +
            left.name.str() + " = ..");
  if (member.instance)
    return updateModule(*member.instance, s, scope, bindings);
  Array &state = *member.array;
  if (rest.size() > state.declared.size())
    return error(Code::numberOfIndices, rest.front().loc,
                 "'" + state.text + "' has " +
                     counted(state.declared.size(), "axis") + " but " +
                     counted(rest.size(), "index") +
                     " here; help: write one index for each axis");
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
    addUpdate(state, std::move(places), value, s.loc, scope);
}

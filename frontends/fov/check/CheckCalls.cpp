//===- CheckCalls.cpp - what a call is given ------------------------------===//
//
// Checks the sizes and vocabularies of call arguments against the def, and
// suggests fixes.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/check/CheckImpl.h"
#include "frontends/fov/elaborate/Elaborate.h"

using namespace fovea;
using namespace fovea::fov;

/// Suggests a fix for an argument whose size differs from `binding`. If another
/// order of the arguments would fit, they were exchanged. A declared module
/// size holds for all calls; a size from the first call may differ in a second
/// module.
std::string Checker::bindingHelp(const SizeBinding &binding) {
  if (!binding.def)
    return "";
  std::vector<const SizeBinding *> call;
  for (const SizeBinding &other : model.bindings)
    if (other.def == binding.def && other.loc == binding.loc &&
        other.callee == binding.callee && other.term->shape)
      call.push_back(&other);
  auto isDeclared = [](const SizeBinding &each) {
    const ast::Expr &axis = *each.def->parameters[each.argument].shape.front();
    return axis.kind == ast::ExprKind::Name &&
           llvm::is_contained(each.def->sizes, axis.name);
  };
  // This call binds an undeclared size, unless an earlier one did.
  auto takes = [&](const SizeBinding &want, const SizeBinding &have) {
    bool isOpen = !isDeclared(want) && want.calleeLoc == want.def->nameLoc;
    return isOpen || sameShape(want.sizes, *have.term->shape);
  };
  bool isExchanged = llvm::any_of(call, [&](const SizeBinding *other) {
    return other->argument != binding.argument &&
           sameShape(binding.sizes, *other->term->shape) &&
           takes(*other, binding);
  });
  std::string signature = signatureOf(binding.callee, *binding.def);
  if (isExchanged)
    return "; help: exchange the arguments; their order is " + signature;
  return isDeclared(binding)
             ? "; help: its arguments are " + signature
             : "; a module has one input size: declare a second one";
}

bool Checker::checkBinding(const SizeBinding &binding) {
  const Term &term = *binding.term;
  if (!term.shape)
    return true;
  if (binding.callee.empty() || binding.callee == "cut") {
    // A tuple on the left, or the parts of a cut.
    std::optional<int64_t> wanted = binding.sizes[0].value();
    std::optional<int64_t> got =
        term.shape->empty() ? std::nullopt : term.shape->front().value();
    if (wanted && got && *wanted == *got)
      return true;
    std::string have =
        term.shape->empty() ? "a number" : shapeText(*term.shape);
    if (binding.callee == "cut")
      error(Code::argumentShape, binding.loc,
            "cut: the parts have " + binding.sizes[0].textWithValue() +
                " values but " + termText(term) + " is " + have);
    else
      error(Code::numberOfValues, binding.loc,
            "the left has " + binding.sizes[0].text() +
                " names but the right side is " + have);
    return false;
  }
  const Shape &wanted = binding.sizes;
  if (term.shape->size() != wanted.size()) {
    error(Code::argumentShape, binding.loc,
          "'" + binding.callee + "' takes " +
              (wanted.size() == 1 ? std::string("a vector")
                                  : counted(wanted.size(), "axis")) +
              " but " + termText(term) + " is " + shapeText(*term.shape),
          {{binding.calleeLoc, "'" + binding.callee + "' is defined here"}});
    return false;
  }
  for (auto [want, have] : llvm::zip(wanted, *term.shape)) {
    if (want.unresolved() || have.unresolved() || want == have)
      continue;
    auto number = [](const Extent &extent) {
      auto value = extent.value();
      return value ? std::to_string(*value) : extent.text();
    };
    if (wanted.size() == 1)
      error(Code::argumentShape, binding.loc,
            "'" + binding.callee + "' takes vectors of " + number(want) + " (" +
                want.text() + ", " +
                diagnostics.lineText(binding.calleeLoc, binding.loc) +
                ") but gets " + number(have) + " (" + have.text() + ") here" +
                bindingHelp(binding),
            {{binding.calleeLoc, "the size is fixed here"}});
    else
      error(Code::argumentShape, binding.loc,
            "'" + binding.callee + "' takes " + shapeText(wanted) + " but " +
                termText(term) + " is " + shapeText(*term.shape),
            {{binding.calleeLoc, "the size is fixed here"}});
    return false;
  }
  return true;
}

bool Checker::checkVocabulary(const Atom *atom, const Term &term) {
  if (term.kindOf != Kind::Token || !term.vocabulary) {
    error(Code::tokenExpected, term.loc,
          "an embedding takes a token, but " + termText(term) + " is " +
              (term.shape && !term.shape->empty() ? shapeText(*term.shape)
                                                  : std::string("a number")));
    return false;
  }
  auto first = model.vocabularyOf.find(atom);
  if (first == model.vocabularyOf.end() ||
      first->second->hasSame(*term.vocabulary))
    return true;
  differentVocabularies(*first->second, *term.vocabulary, term.loc);
  return false;
}

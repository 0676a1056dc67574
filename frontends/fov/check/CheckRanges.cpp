//===- CheckRanges.cpp - has every index a range, and every axis a size? --===//
//
// A part of Check.cpp: undefined names, the ranges that indices get
// from their uses, and whether the rest of the compiler supports the
// extents.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/check/CheckImpl.h"

using namespace fovea;
using namespace fovea::fov;

/// Every array that is read must be defined somewhere.
void Checker::unread() {
  for (Array *array : arrays()) {
    if (!array->pieces.empty() && !array->latent && !array->general())
      error(
          Code::missingEquation, array->pieces.front().loc,
          "'" + array->text +
              "' is given at its boundary only; help: add an equation for its "
              "other places");
    if (!array->pieces.empty() || array->latent || !array->firstRead.isValid())
      continue;
    std::string shape;
    // A sibling shows the required shape.
    for (Array *other : model.arrays)
      if (other != array && other->valueShape && other->loc == array->loc) {
        if (!other->valueShape->empty())
          shape = " of shape " + shapeText(*other->valueShape);
        break;
      }
    error(Code::missingEquation, array->firstRead,
          "this reads " + array->text +
              ", which no equation gives; help: add " + array->text + " = ..." +
              shape,
          {{array->loc, "the other equations of this name are here"}});
  }
}

/// Returns whether a size contains `wanted`.
static bool mentions(const Extent &size, const Atom *wanted) {
  for (const auto &[monomial, c] : size.terms())
    for (const auto &[atom, exponent] : monomial)
      if (atom == wanted || mentions(atom->numerator, wanted) ||
          mentions(atom->denominator, wanted))
        return true;
  return false;
}

/// A module whose parameter takes its size from its argument supports one
/// argument size.
void Checker::params() {
  for (const Array *param : model.params)
    for (const Extent &size : param->declared) {
      std::optional<Extent> given = size.resolved();
      if (!given || !given->differs())
        continue;
      auto gives = [&](const Extent &bound) {
        const auto &terms = bound.terms();
        return bound.differs() && terms.size() == 1 &&
               llvm::any_of(terms.begin()->first, [&](const auto &factor) {
                 return mentions(size, factor.first);
               });
      };
      Notes notes;
      for (const SizeBinding &binding : model.bindings)
        if (notes.empty() && llvm::any_of(binding.sizes, gives))
          notes.push_back({binding.loc, termText(*binding.term) + " is " +
                                            shapeText(*binding.term->shape) +
                                            " here"});
      error(Code::sizeOfExample, param->loc,
            "'" + param->name +
                "' is a parameter, which has one size, but it gets " +
                given->text() + ", which differs between examples",
            std::move(notes));
      break;
    }
}

void Checker::ranges() {
  bool hasErrors = !reported.empty();
  for (IndexVar &var : indices()) {
    if (var.extent)
      continue;
    auto owner = owners.find(&var);
    // Without an owner it is most likely a consequence.
    if (owner == owners.end() ? hasErrors
                              : explained.count({owner->second, var.name}) > 0)
      continue;
    std::string where = var.name + " < ...";
    error(Code::noRange, var.loc,
          "nothing gives index '" + var.name + "' a range; help: write " +
              (owner == owners.end()
                   ? where
                   : owner->second->text + "[" + where + "]"));
  }
}

void Checker::disagreements() {
  std::set<const IndexVar *> seen;
  for (const IndexUse &use : llvm::drop_begin(model.uses, part.uses)) {
    // A stated or declared range is final; the reads are proved.
    if (use.shift != 0 || !use.var->extent || use.read->fallback ||
        use.var->strength != 3 || seen.count(use.var))
      continue;
    auto owner = owners.find(use.var);
    bool isRead = use.read->kind == TermKind::Read;
    if (owner != owners.end() && isRead && owner->second == use.read->array)
      continue;
    std::optional<Extent> extent = extentOf(use);
    bool isCircular = extent && (use.var->extent->unresolved() != nullptr ||
                                 extent->unresolved() != nullptr);
    if (!extent || (!isCircular && *extent == *use.var->extent))
      continue;
    seen.insert(use.var);
    // Ranges that depend on a circular range are circular too: one error
    // reports it.
    if (isCircular && reported.empty())
      error(Code::rangeOfItself, use.loc,
            "the range of index '" + use.var->name +
                "' follows from itself: " + termText(*use.read) +
                " has as many places as it, and is computed from it; help: "
                "state a range, " +
                use.var->name + " < ...");
    if (isCircular)
      continue;
    std::string stated = use.var->name + " < " + use.var->extent->text();
    if (owner != owners.end())
      stated = owner->second->text + "[" + stated + "]";
    std::string meant = exchanged(*use.read, use.var, *use.var->extent);
    for (const IndexUse &other : model.uses)
      if (meant.empty() && other.var == use.var && other.shift == 0)
        meant = exchanged(*other.read, use.var, *extent);
    error(Code::twoRanges, use.loc,
          "index '" + use.var->name + "' has two ranges: " +
              use.var->extent->text() + " from " + use.var->origin + " (" +
              diagnostics.lineText(use.var->originLoc, use.loc) + ") and " +
              extent->text() + " from " + termText(*use.read) + " here; " +
              (meant.empty() ? "help: state one: " + stated
                             : "did you mean " + meant + "?"),
          {{use.var->originLoc, "the other range comes from here"}});
  }
}

/// An extent is a number, or a sum of multiples of lengths.
void Checker::checkExtent(const Extent &extent, SMLoc loc,
                          const std::string &what) {
  std::optional<int64_t> value = extent.value();
  if (value && *value >= 0)
    return;
  if (value)
    return error(Code::numberOfPlaces, loc,
                 what + " has " + std::to_string(*value) +
                     " places, which is less than none");
  if (extent.isTooLarge() || !extent.differs())
    return error(Code::numberOfPlaces, loc, what + " is too large");
  if (extent.isSum())
    return;
  const Atom *nested = extent.nestedLength();
  // Every reader of such an axis has it as well.
  if (nested && !nestedSizes.insert(extent.text()).second)
    return;
  if (nested)
    return error(Code::nestedLength, loc,
                 what + " has " + extent.text() +
                     " places, but of a length as " + nested->name +
                     ", which differs for each place of " + nested->parent +
                     ", only " + nested->name +
                     " itself can be a number of places");
  error(Code::numberOfPlaces, loc,
        what + " has " + extent.text() +
            " places, which is not a sum of multiples of lengths");
}

void Checker::extents() {
  for (const IndexVar &var : indices()) {
    std::string what = "index '" + var.name + "'";
    checkExtent(*var.extent, var.loc, what);
    const Atom *length = var.extent->length();
    if (!length || length->parent.empty())
      continue;
    const Term *parent = var.parentIndex;
    const Extent *outer = parent && parent->kind == TermKind::Index
                              ? &*parent->index->extent
                              : nullptr;
    if (!outer || outer->text() != length->parent)
      error(Code::nestedLength, var.loc,
            what + " runs over " + length->name +
                ", which differs for each place of " + length->parent +
                "; help: write " + var.name + " < " + length->name +
                "[...] with an index over " + length->parent);
  }
  for (const Array *data : model.data)
    for (const Extent &size : data->extents)
      checkExtent(size, data->loc, "'" + data->text + "'");
  for (const Term &term : terms()) {
    if (!term.shape)
      continue;
    // A length as a number.
    const Atom *one = term.kind == TermKind::Size && term.args.empty()
                          ? term.extent.length()
                          : nullptr;
    if (term.kind == TermKind::Size && !term.extent.value() &&
        (!term.extent.isSum() || (one && !one->parent.empty())))
      error(Code::numberOfPlaces, term.loc,
            termText(term) + " is " + term.extent.text() +
                ", which is not a sum of multiples of lengths");
    for (auto [k, size] : llvm::enumerate(*term.shape)) {
      if (!size.value() || *size.value() < 0)
        checkExtent(size, term.loc,
                    "axis " + std::to_string(k) + " of " + termText(term));
      const Atom *length = size.length();
      if (!length || length->parent.empty())
        continue;
      bool hasParent = llvm::any_of(
          ArrayRef(*term.shape).take_front(k),
          [&](const Extent &other) { return other.text() == length->parent; });
      for (const IndexVar *var : term.free)
        hasParent |= var->extent->text() == length->parent;
      if (!hasParent)
        error(Code::nestedLength, term.loc,
              termText(term) + " has an axis of " + length->name +
                  ", which differs for each place of " + length->parent);
    }
  }
}

/// No machine has so many places, and later counts of them fit into 64
/// bits.
static constexpr double mostElements = 0x1p48;

/// Every index is a loop, and the time to compile a loop nest grows with the
/// cube of its depth. No model of the literature comes near this depth.
static constexpr size_t mostIndices = 16;

/// Returns the number of places of an axis; one per unit of a length, which
/// comes with the data.
static double placesOf(const Extent &extent) {
  if (std::optional<int64_t> value = extent.value())
    return std::max(std::abs(double(*value)), 1.0);
  if (extent.length())
    return 1;
  std::optional<Extent::Linear> sum = extent.linear();
  if (!sum)
    return 1;
  double places = std::abs(double(sum->constant));
  for (const auto &[length, coefficient] : sum->coefficients)
    places += std::abs(double(coefficient));
  return std::max(places, 1.0);
}

/// An array with a name must fit, and so must an equation's iteration space.
void Checker::elements() {
  auto check = [&](const Shape &shape, SMLoc loc, auto what) {
    double count = 1;
    for (const Extent &extent : shape)
      count *= placesOf(extent);
    if (count > mostElements)
      error(Code::tooLarge, loc,
            what() + " is " + shapeText(shape) +
                ", but an array has at most 2^48 elements");
  };
  for (const std::vector<Array *> *list :
       std::initializer_list<const std::vector<Array *> *>{
           &model.params, &model.data, &arrays()})
    for (const Array *array : *list)
      if (std::optional<Shape> shape = array->shape())
        check(*shape, array->loc, [&] {
          return "'" + (array->text.empty() ? array->name : array->text) + "'";
        });
  if (!reported.empty())
    return;
  for (const Term &term : terms()) {
    if (!term.shape)
      continue;
    Shape all;
    for (const IndexVar *var : term.free)
      all.push_back(*var->extent);
    all.append(term.shape->begin(), term.shape->end());
    if (all.size() > mostIndices) {
      // Every enclosing term would report the same.
      error(Code::tooLarge, term.loc,
            termText(term) + " runs over " + std::to_string(all.size()) +
                " indices, but at most " + std::to_string(mostIndices) +
                " are supported; help: sum over some of them in an "
                "equation of its own");
      return;
    }
    check(all, term.loc, [&] { return termText(term) + " with its indices"; });
  }
}

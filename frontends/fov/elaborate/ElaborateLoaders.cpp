//===- ElaborateLoaders.cpp - how files of data are read ------------------===//
//
// `from pixels(..)`, `from sound(..)` and `from text(..)` after a type of data:
// the words, their arguments, and whether the data can hold what they give.
// Files are opened elsewhere.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/elaborate/Elaborate.h"

#include <cmath>

using namespace fovea;
using namespace fovea::fov;
using ast::Expr;
using ast::ExprKind;

namespace {

/// An argument of a loader.
struct LoaderNumber {
  StringRef name;
  double usual;
  double least, most;
  bool isWhole;
  StringRef wants;
};

} // namespace

static constexpr double unlimited = INFINITY;

/// The numeric arguments, in order.
static ArrayRef<LoaderNumber> numbersOf(StringRef kind) {
  static const LoaderNumber pixels[] = {
      {"mean", 0, -unlimited, unlimited, false, "a number"},
      {"deviation", 1, 1e-12, unlimited, false, "a number above 0"},
      {"resize", 0, 0, 1, true, "0 or 1"}};
  static const LoaderNumber sound[] = {
      {"rate", 0, 1000, 1000000, true, "a whole number from 1000 to 1000000"},
      {"filters", 40, 1, 1024, true, "a whole number from 1 to 1024"},
      {"deltas", 2, 0, 2, true, "0, 1 or 2"},
      {"window", 0.025, 0.001, 1, false, "seconds, from 0.001 to 1"},
      {"shift", 0.01, 0.001, 1, false, "seconds, from 0.001 to 1"},
      {"normalise", 1, 0, 1, true, "0 or 1"},
      {"resample", 0, 0, 1, true, "0 or 1"}};
  if (kind == "pixels")
    return pixels;
  return kind == "sound" ? ArrayRef(sound) : ArrayRef<LoaderNumber>();
}

/// The number of channels of some data's pictures; 0: not pictures.
static int64_t channelsOf(const Array &array) {
  Shape shape = array.extents;
  llvm::append_range(shape, *array.valueShape);
  if (shape.size() == 2)
    return 1;
  // Also for a film, whose first axis is the frames and whose last is the
  // channels.
  if (shape.size() == 4) {
    int64_t count = shape[3].value().value_or(0);
    return count == 1 || count == 3 || count == 4 ? count : 0;
  }
  if (shape.size() != 3)
    return 0;
  for (const Extent *extent : {&shape[2], &shape[0]}) {
    int64_t count = extent->value().value_or(0);
    if (count == 1 || count == 3 || count == 4)
      return count;
  }
  return 0;
}

/// Returns whether the rows and columns of pictures have a fixed size, which
/// those of films need not have: they are no files.
static bool haveSize(const Array &array) {
  Shape shape = array.extents;
  llvm::append_range(shape, *array.valueShape);
  if (shape.size() == 4)
    return false;
  auto isCount = [&](size_t axis) {
    int64_t count = shape[axis].value().value_or(0);
    return count == 1 || count == 3 || count == 4;
  };
  size_t first = shape.size() == 3 && !isCount(2) ? 1 : 0;
  return shape[first].value() && shape[first + 1].value();
}

/// Returns why some data cannot be read with this loader; empty: they can.
static std::string misfitOf(const FileLoader &loader, const Array &array) {
  std::string name = "'" + array.name + "'";
  if (loader.kind == "text") {
    size_t outer = array.extents.size() > 1 ? array.extents.size() - 1 : 0;
    return loader.separators.size() == outer
               ? ""
               : "'text' takes a separator for each axis that lies outside of "
                 "another one: " +
                     name + " needs " + std::to_string(outer) + ", not " +
                     std::to_string(loader.separators.size());
  }
  bool isPixels = loader.kind == "pixels";
  if (array.kind != Kind::Real && !(isPixels && array.kind == Kind::Bit))
    return "'" + loader.kind + "' gives numbers, but " + name +
           " is not 'real'";
  if (isPixels) {
    int64_t channels = channelsOf(array);
    if (channels == 0)
      return "pixels have rows and columns, and 1, 3 or 4 channels: " + name +
             " is written '[Y, X] : real(3)', '[Y, X] : real' in grey, or "
             "'[N, Y, X] : real(3)' with N frames";
    for (const auto &[argument, values] : loader.numbers)
      if (values.size() > 1 && int64_t(values.size()) != channels)
        return "'" + argument + "' has " + std::to_string(values.size()) +
               " numbers, but " + name + " has " + counted(channels, "channel");
    if (loader.number("resize") != 0 && !haveSize(array))
      return "'resize' needs a number of rows and of columns: " + name +
             " is written '[64, 96] : real(3)'";
    return "";
  }
  auto wanted =
      int64_t((loader.number("filters") + 1) * (loader.number("deltas") + 1));
  bool fits = array.extents.size() == 1 && !array.extents[0].value() &&
              array.valueShape->size() == 1 &&
              (*array.valueShape)[0].value() == wanted;
  return fits
             ? ""
             : "'sound' gives " + std::to_string(wanted) +
                   " numbers per frame, (filters + 1) * (deltas + 1): " + name +
                   " is written '[S] : real(" + std::to_string(wanted) + ")'";
}

/// `0.5`, or `[0.485, 0.456, 0.406]`.
bool Elaborator::readLoaderNumbers(const ast::Item &item, FileLoader &loader,
                                   const std::string &name, Scope &scope) {
  ArrayRef<LoaderNumber> known = numbersOf(loader.kind);
  const LoaderNumber &argument = *llvm::find_if(
      known, [&](const LoaderNumber &each) { return each.name == name; });
  bool isList = item.value->kind == ExprKind::List &&
                (name == "mean" || name == "deviation");
  std::vector<double> numbers;
  for (const Expr *expr : isList ? item.value->args : ArrayRef(item.value)) {
    double number = NAN;
    if (std::optional<Extent> whole =
            size(*expr, scope, nullptr, /*report=*/false);
        whole && whole->value()) {
      number = static_cast<double>(*whole->value());
    } else {
      Term *value = expression(*expr, scope, nullptr);
      if (!value)
        return false;
      if (value->kind == TermKind::Number)
        number = value->number;
    }
    if (!(number >= argument.least && number <= argument.most) ||
        std::isinf(number) ||
        (argument.isWhole && number != std::floor(number))) {
      error(Code::loaderArgument, expr->loc,
            "'" + name + "' of '" + loader.kind + "' is " +
                argument.wants.str());
      return false;
    }
    numbers.push_back(number);
  }
  loader.numbers[name] = std::move(numbers);
  return true;
}

bool Elaborator::readLoader(const ast::Type &type, Array &array, Scope &scope) {
  if (!type.loader)
    return true;
  static constexpr StringRef kinds[] = {"pixels", "sound", "text"};
  const Expr &call = *type.loader;
  const Expr &callee = call.kind == ExprKind::Call ? *call.args[0] : call;
  auto fail = [&](SMLoc loc, const std::string &text) {
    error(Code::loaderArgument, loc, text);
    return false;
  };
  if (callee.kind != ExprKind::Name || !llvm::is_contained(kinds, callee.name))
    return fail(callee.loc,
                "'" +
                    std::string(callee.range.Start.getPointer(),
                                callee.range.End.getPointer()) +
                    "' is not a kind of files (pixels, sound, text)" +
                    suggestion(callee.name, kinds));
  FileLoader &loader = array.loader;
  loader.kind = callee.name.str();
  ArrayRef<LoaderNumber> known = numbersOf(loader.kind);
  std::vector<StringRef> names;
  for (const LoaderNumber &each : known)
    names.push_back(each.name);
  if (call.kind == ExprKind::Call)
    for (auto [position, item] : llvm::enumerate(call.items)) {
      if (loader.kind == "text") {
        if (item.value->kind != ExprKind::String || !item.name.empty() ||
            item.value->name.empty())
          return fail(item.loc,
                      "'text' takes the separator between the lists of "
                      "each outer axis: text(\"|\")");
        loader.separators.push_back(item.value->name.str());
        continue;
      }
      StringRef name = !item.name.empty()        ? item.name
                       : position < names.size() ? names[position]
                                                 : StringRef();
      if (!llvm::is_contained(names, name))
        return fail(item.loc, name.empty()
                                  ? "'" + loader.kind + "' takes at most " +
                                        counted(names.size(), "argument")
                                  : "'" + loader.kind + "' has no argument '" +
                                        name.str() + "'" +
                                        suggestion(name, names));
      if (loader.numbers.contains(name.str()))
        return fail(item.loc, "'" + name.str() + "' of '" + loader.kind +
                                  "' is given twice");
      if (!readLoaderNumbers(item, loader, name.str(), scope))
        return false;
    }
  if (loader.kind == "sound" && !loader.numbers.contains("rate"))
    return fail(callee.loc, "'sound' needs the samples per second of its "
                            "files: sound(rate = 16000)");
  for (const LoaderNumber &each : known)
    loader.numbers.try_emplace(each.name.str(),
                               std::vector<double>{each.usual});
  if (std::string misfit = misfitOf(loader, array); !misfit.empty())
    return fail(callee.loc, misfit);
  return true;
}

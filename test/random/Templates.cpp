//===- Templates.cpp - statements of a random spec ------------------------===//
//
// Recurrences read their past by names that are not yet readable for others,
// so no statement closes a cycle that it does not mean.
//
//===----------------------------------------------------------------------===//

#include "test/random/Templates.h"

using namespace fovea::random;
using std::string;

//===----------------------------------------------------------------------===//
// Left sides and boundaries
//===----------------------------------------------------------------------===//

Context Templates::at(const Place &place) {
  Context context;
  if (!place.extent.empty())
    context.indices.push_back({freshIndex(), place.extent,
                               place.step ? Index::Step : Index::Free, "",
                               false});
  return context;
}

string Templates::left(const string &name, const Context &context) {
  string text;
  for (const Index &index : context.indices) {
    text += text.empty() ? "" : ", ";
    text += index.name;
    bool states = random.chance(0.25) && index.parent.empty();
    assert((index.hasRange || index.parent.empty()) &&
           "a nested index takes its range from a read");
    if (!index.hasRange || states)
      text += " < " + index.extent;
  }
  return name + (text.empty() ? "" : "[" + text + "]");
}

void Templates::add(const string &name, const Context &context,
                    const string &dim, bool causal) {
  Array array{name, Array::Real, {}, dim, causal};
  for (const Index &index : context.indices)
    array.axes.push_back(index.extent);
  arrays.push_back(array);
}

const Array *Templates::vectorsAlong(const Place &place) const {
  return latest([&](const Array &array) {
    return array.isVectors() && array.axes[0] == place.extent &&
           array.causal == place.step && !array.generated;
  });
}

string Templates::before(const string &index, bool down, int64_t by) {
  return index + (down ? "+" : "-") + std::to_string(by);
}

string Templates::outside(const string &extent, bool down, int64_t by) {
  if (!down)
    return "-" + std::to_string(by);
  return by == 1 ? extent : extent + "+" + std::to_string(by - 1);
}

string Templates::boundary(const Context &rest, const string &dim) {
  Context context = rest;
  for (Index &index : context.indices)
    if (index.role == Index::Step)
      index.role = Index::Free;
  switch (random.below(4)) {
  case 0:
    return dim.empty() ? squash(num(context, 1)) : squash(vec(context, dim, 1));
  case 1:
    return dim.empty() ? "1" : module("vector(" + dim + ")");
  default:
    return dim.empty() ? "0" : "zeros(" + dim + ")";
  }
}

//===----------------------------------------------------------------------===//
// Maps and recurrences
//===----------------------------------------------------------------------===//

void Templates::map(Place place) {
  begin("map");
  Context context = at(place);
  if (random.chance(0.2)) {
    string other = random.pick(dims);
    context.indices.push_back({freshIndex(), other, Index::Free, "", false});
  }
  string dim = random.chance(0.7) ? random.pick(dims) : "";
  string value =
      dim.empty() ? squash(num(context, 2)) : squash(vec(context, dim, 2));
  string name = fresh("x");
  say(left(name, context) + " = " + value);
  add(name, context, dim, place.step);
}

void Templates::recurrence(Place place) {
  bool down = !place.step && random.chance(0.4);
  begin(down ? "recurrence down" : "recurrence up");
  Context context = at(place);
  const string i = context.indices[0].name;
  string h = fresh("h"), dim = random.pick(dims);
  string old = h + "[" + before(i, down) + "]";
  string edge = h + "[" + outside(place.extent, down) + "] = ";
  switch (random.below(6)) {
  case 0:
  case 1: {
    static const char *cells[] = {"gru", "rnn", "cho"};
    string kind = cells[random.below(3)];
    spec.features.insert(kind);
    string sizes = kind == "cho" ? dim + ", form = cho" : dim;
    string width, input = anyVec(context, width, 1);
    string cell = module((kind == "cho" ? "gru" : kind) + "(" + sizes + ")");
    say(left(h, context) + " = " + cell + "(" + old + ", " + input + ")");
    say(edge + boundary({}, dim));
    break;
  }
  case 2: {
    spec.features.insert("lstm");
    string c = fresh("c"), width, input = anyVec(context, width, 1);
    string cell = module("lstm(" + dim +
                         (random.chance(0.3) ? ", peephole = true)" : ")"));
    string place1 = left(h, context).substr(h.size());
    say(h + place1 + ", " + c + place1 + " = " + cell + "(" + old + ", " + c +
        "[" + before(i, down) + "], " + input + ")");
    say(edge + boundary({}, dim));
    say(c + "[" + outside(place.extent, down) + "] = zeros(" + dim + ")");
    add(c, context, dim, place.step);
    break;
  }
  case 3: {
    dim = "";
    string gate = num(context, 1), input = num(context, 1);
    say(left(h, context) + " = sigmoid(" + gate + ") * " + old +
        " + 0.3 * tanh(" + input + ")");
    say(edge + boundary({}, dim));
    break;
  }
  case 4: {
    // A place inside the range; the general equation covers the rest. Only at
    // the start: the front end does not know yet that h[S-1] covers the end.
    down = false;
    old = h + "[" + before(i, down) + "]";
    spec.features.insert("place inside");
    string input = vec(context, dim, 1);
    Context none;
    say(left(h, context) + " = tanh(" + linear(dim, dim) + "(" + old + ") + " +
        input + ")");
    say(h + "[0] = " + squash(vec(none, dim, 1)));
    break;
  }
  default: {
    string input = vec(context, dim, 2);
    say(left(h, context) + " = tanh(" + linear(dim, dim, false) + "(" + old +
        ") + " + input + ")");
    say(edge + boundary({}, dim));
  }
  }
  add(h, context, dim, place.step);
}

void Templates::secondOrder(Place place) {
  begin("second order");
  Context context = at(place);
  const string i = context.indices[0].name;
  bool down = !place.step && random.chance(0.3);
  string h = fresh("h"), dim = random.pick(dims);
  string input = vec(context, dim, 1);
  say(left(h, context) + " = tanh(" + linear(dim, dim) + "(" + h + "[" +
      before(i, down) + "]) - 0.5 * " + h + "[" + before(i, down, 2) + "] + " +
      input + ")");
  say(h + "[" + outside(place.extent, down) + "] = " + boundary({}, dim));
  say(h + "[" + outside(place.extent, down, 2) + "] = " + boundary({}, dim));
  add(h, context, dim, place.step);
}

void Templates::mutual(Place place) {
  begin("mutual");
  Context context = at(place);
  const string i = context.indices[0].name;
  string a = fresh("a"), b = fresh("b"), dim = random.pick(dims);
  string inputA = vec(context, dim, 1), inputB = num(context, 1);
  // a reads the past of b, b reads a of the same place.
  say(left(a, context) + " = tanh(" + b + "[" + i + "-1] * " + inputA + " + " +
      a + "[" + i + "-1])");
  say(a + "[-1] = " + boundary({}, dim));
  Context second = context;
  say(left(b, second) + " = sigmoid(dot(" + a + "[" + i + "], " +
      module("vector(" + dim + ")") + ") - " + inputB + ")");
  say(b + "[-1] = 1");
  add(a, context, dim, place.step);
  add(b, second, "", place.step);
}

void Templates::shifted(Place place) {
  begin("shifted left");
  Context context = at(place);
  Index &index = context.indices[0];
  string h = fresh("h"), dim = random.pick(dims);
  string input = vec(context, dim, 1);
  if (!index.hasRange) { // the form has no place for a stated range
    say(left(h, context) + " = " + squash(input));
    add(h, context, dim, place.step);
    return;
  }
  say(h + "[" + index.name + "+1] = tanh(" + h + "[" + index.name + "] + " +
      input + ")");
  Context none;
  say(h + "[0] = " + boundary(none, dim));
  string last = fresh("x");
  say(last + " = " + h + "[" + place.extent + "] + 0.5 * " + h + "[" +
      place.extent + "-1]");
  add(last, none, dim, false);
}

void Templates::plane(Place place, const string &other) {
  begin("two dimensions");
  Context context = at(place);
  context.indices.push_back({freshIndex(), other, Index::Free, "", false});
  const string i = context.indices[0].name, j = context.indices[1].name;
  string g = fresh("g"), input = num(context, 1);
  bool down = random.chance(0.3);
  string dim = random.chance(0.5) ? "" : random.pick(dims);
  string add0 = dim.empty() ? "" : " * " + module("vector(" + dim + ")");
  say(left(g, context) + " = tanh(0.6 * " + g + "[" + i + "-1," + j +
      "] - 0.4 * " + g + "[" + i + "," + before(j, down) + "] + " + input +
      add0 + ")");
  Context first, second;
  first.indices.push_back(context.indices[1]);
  second.indices.push_back(context.indices[0]);
  second.indices[0].role = Index::Free;
  say(g + "[-1," + j + "] = " + boundary({}, dim));
  say(g + "[" + i + "," + outside(other, down) + "] = " + boundary({}, dim));
  add(g, context, dim, place.step);
}

void Templates::family(Place place) {
  begin("family");
  Context context = at(place);
  const string i = context.indices[0].name;
  string h = fresh("h"), l = freshIndex(), dim = random.pick(dims);
  string depth = fresh("L");
  int64_t number = random.between(1, 3);
  declarations.push_back("dim " + depth + " = " + std::to_string(number));
  string input = vec(context, dim, 1);
  bool down = !place.step && random.chance(0.3);
  string cell = fresh("m");
  if (random.chance(0.5)) {
    declarations.push_back("param " + cell + "[" + l + " < " + depth +
                           "] : gru(" + dim + ")");
    say(h + "[" + l + "," + i + "] = " + cell + "[" + l + "](" + h + "[" + l +
        "," + before(i, down) + "], " + h + "[" + l + "-1," + i + "])");
    say(h + "[" + l + "," + outside(place.extent, down) +
        "] = " + boundary({}, dim));
  } else {
    // Depth alone: no recurrence along the extent.
    declarations.push_back("param " + cell + "[" + l + " < " + depth +
                           "] : linear(" + dim + ")");
    say(h + "[" + l + "," + i + "] = " + h + "[" + l + "-1," + i + "] + tanh(" +
        cell + "[" + l + "](" + h + "[" + l + "-1," + i + "]))");
  }
  string boundaryLeft = left("", context); // "[i]" or "[i < S]"
  say(h + "[-1, " + boundaryLeft.substr(1) + " = " + input);
  string top = fresh("x");
  Context result = context;
  result.indices[0].hasRange = true;
  say(left(top, result) + " = " + h + "[" + depth + "-1," + i + "]");
  add(top, result, dim, place.step);
}

void Templates::labels(Place place) {
  begin("family by name");
  Context context = at(place);
  string w = fresh("m"), first = fresh("left"), second = fresh("right"),
         k = fresh("k"), z = fresh("x"), dim = random.pick(dims), width,
         p = freshIndex();
  string input = anyVec(context, width, 1);
  declarations.push_back("param " + w + "[" + p + " in {" + first + ", " +
                         second + "}] : linear(" + dim + ")");
  string at = left("", context);
  string row = context.indices.empty() ? "" : ", " + context.indices[0].name;
  say(k + "[" + p + ", " + at.substr(1) + " = " + w + "[" + p + "](" + input +
      ")");
  Context rows = context;
  rows.indices[0].hasRange = true;
  say(left(z, rows) + " = tanh(" + k + "[" + first + row + "] - " + k + "[" +
      second + row + "])");
  add(z, rows, dim, place.step);
}

void Templates::hops(Place place) {
  begin("hops");
  Context context = at(place);
  const string i = context.indices[0].name;
  string k = freshIndex(), count = fresh("K");
  declarations.push_back("dim " + count + " = " +
                         std::to_string(random.between(1, 3)));
  string o = fresh("o"), s = fresh("s"), dim = random.pick(dims);
  string input = vec(context, dim, 1);
  say(o + "[" + i + ", " + k + " < " + count + "] = tanh(" + linear(dim, dim) +
      "(" + o + "[" + i + "," + k + "-1]) + " + s + "[" + i + "-1])");
  say(o + "[" + i + ",-1] = " + s + "[" + i + "-1]");
  say(left(s, context) + " = tanh(" + o + "[" + i + "," + count + "-1] + " +
      input + ")");
  say(s + "[-1] = " + boundary({}, dim));
  add(s, context, dim, place.step);
}

//===----------------------------------------------------------------------===//
// Sums, pairs, tuples, whole arrays
//===----------------------------------------------------------------------===//

void Templates::running(Place place) {
  begin("cumsum");
  Context context = at(place);
  string name = fresh("x");
  const string i = context.indices[0].name;
  if (place.step) {
    // A sum of the past, which a decoder may keep as one number.
    Context inner = context;
    inner.indices.push_back(
        {freshIndex(), place.extent, Index::Past, "", false});
    string body = leaf(inner, "");
    const Index &u = inner.indices.back();
    say(left(name, context) + " = tanh(0.3 * sum[" + u.name +
        (u.hasRange ? "" : " < " + place.extent) + " where " + u.name +
        " <= " + i + "](" + body + "))");
  } else {
    string value = num(context, 1);
    say(left(name, context) + " = cumsum[" + i + "]((" + i + " + 1) * " +
        value + ") / 4");
  }
  add(name, context, "", place.step);
}

void Templates::pairs(Place place) {
  begin("pairs");
  string half = place.extent + "//2", dim = random.pick(dims);
  extents[half].mayBeEmpty = true;
  const Array *found = vectorsAlong(place);
  if (!found)
    return;
  string x = found->name, width = found->dim + "+" + found->dim;
  string i = freshIndex(), name = fresh("x");
  string second = x + "[2*" + i + "+1]";
  if (random.chance(0.5))
    second = "(" + second + " ?? 0)";
  say(name + "[" + i + " < " + half + "] = tanh(" + linear(dim, width) + "(" +
      x + "[2*" + i + "] ++ " + second + "))");
  Context context;
  context.indices.push_back({i, half, Index::Free, "", true});
  add(name, context, dim, false);
}

void Templates::pyramid(Place place) {
  const Array *found = vectorsAlong(place);
  if (!found)
    return;
  const Array from = *found;
  begin("pyramid");
  string N = fresh("N"), L = fresh("L"), l = freshIndex(), i = freshIndex();
  string p = fresh("p"), h = fresh("h"), w = fresh("m"), top = fresh("x");
  declarations.push_back("dim " + L + " = " +
                         std::to_string(random.between(1, 2)));
  declarations.push_back("length " + N + "[-1] = " + place.extent);
  declarations.push_back("length " + N + "[" + l + "] = (" + N + "[" + l +
                         "-1] + 1) // 2");
  declarations.push_back("param " + w + "[" + l + " < " + L + "] : linear(" +
                         from.dim + ")");
  say(h + "[-1," + i + "] = " + from.name + "[" + i + "]");
  say(p + "[" + l + ", " + i + " < " + N + "[" + l + "]] = " + h + "[" + l +
      "-1, 2*" + i + "] ++ (" + h + "[" + l + "-1, 2*" + i + "+1] ?? 0)");
  say(h + "[" + l + "," + i + "] = tanh(" + w + "[" + l + "](" + p + "[" + l +
      "," + i + "]))");
  string extent = N + "[" + L + "-1]";
  extents[extent].mayBeEmpty = true;
  Context context;
  context.indices.push_back({i, extent, Index::Free, "", true});
  say(top + "[" + i + "] = " + h + "[" + L + "-1," + i + "]");
  add(top, context, from.dim, false);
}

void Templates::convolution(Place place) {
  const Array *found = vectorsAlong(place);
  if (!found)
    return;
  const Array from = *found;
  begin("convolution");
  string y = fresh("x"), z = fresh("x"), dim = random.pick(dims);
  Context context = at(place);
  context.indices[0].hasRange = true;
  const string i = context.indices[0].name;
  if (random.chance(0.3)) {
    say(y + " = " + module("conv1d(" + dim + ", 3, pad = 1)") + "(" +
        from.name + ")");
    say(left(z, context) + " = tanh(" + y + "[" + i + "])");
    return add(z, context, dim, false);
  }
  // Over up to three axes, with two small ones, at any places.
  int64_t axes = random.between(1, 3);
  spec.features.insert("convolution over " + std::to_string(axes));
  string x = from.name, sizes, inside, range = i + " < " + place.extent;
  const char *extents[] = {"", "3", "2"};
  std::vector<string> along = {i};
  for (int64_t axis = 1; axis < axes; ++axis) {
    along.push_back(freshIndex());
    sizes += string(extents[axis]) + ", ";
    inside += (axis > 1 ? ", " : "") + along[axis];
    range += ", " + along[axis] + " < " + extents[axis];
  }
  if (axes > 1) {
    x = fresh("x");
    say(x + "[" + i + ", " + inside + "] = tanh(" + from.name + "[" + i +
        "] * " + module("tensor(" + sizes + from.dim + ")") + "[" + inside +
        "])");
  }
  string widths, taps, ranges, places;
  for (const string &index : along) {
    string tap = freshIndex(), width = std::to_string(random.between(1, 3));
    widths += width + ", ";
    taps += tap + ", ";
    ranges += tap + " < " + width + ", ";
    string stride = random.chance(0.3) ? "2*" : "";
    string dilation = random.chance(0.3) ? " - 2*" : " + ";
    places += stride + index + dilation + tap + " - " +
              std::to_string(random.below(3)) + ", ";
  }
  string o = freshIndex(), c = freshIndex();
  string w = module("tensor(" + dim + ", " + widths + from.dim + ")");
  say(y + "[" + range + ", " + o + " < " + dim + "] = sum[" + ranges + c +
      "](" + w + "[" + o + ", " + taps + c + "] * (" + x + "[" + places + c +
      "] ?? 0))");
  string pooled = y + "[" + i + "]";
  if (axes > 1)
    pooled = "mean[" + inside + "](" + y + "[" + i + ", " + inside + "])";
  say(left(z, context) + " = tanh(" + pooled + ")");
  add(z, context, dim, false);
}

void Templates::cuts(Place place) {
  begin("cut");
  Context context = at(place);
  string width, input = anyVec(context, width, 1);
  string a = fresh("x"), b = fresh("x"), m = fresh("x"),
         dim = random.pick(dims);
  string at = left("", context);
  string name = linear("1 + " + dim + " + 2*" + dim, width);
  say((at.empty() ? a : a + at) + ", " + b + at + ", " + m + at + " = cut(" +
      name + "(" + input + "), scalar, " + dim + ", [2, " + dim + "])");
  string k = freshIndex(), z = fresh("x");
  Context rows = context;
  for (Index &index : rows.indices)
    index.hasRange = true;
  string inside = rows.indices.empty() ? "" : rows.indices[0].name + ",";
  say(left(z, rows) + " = tanh(sum[" + k + "](" + m + "[" + inside + k + "]))");
  add(a, context, "", place.step);
  add(b, context, dim, place.step);
  add(z, rows, dim, place.step);
}

void Templates::nested(const string &outer, const string &inner) {
  begin("nested");
  const Array *source = latest([&](const Array &array) {
    return array.axes.size() == 2 && array.axes[1] == inner;
  });
  if (!source)
    return;
  const Array from = *source;
  Context context;
  string m = freshIndex(), j = freshIndex(), dim = random.pick(dims);
  context.indices.push_back({m, outer, Index::Free, "", true});
  Context rows = context;
  context.indices.push_back({j, inner, Index::Free, m, true});
  string name = fresh("x");
  string item = asVec(from, from.name + "[" + m + "," + j + "]", dim);
  switch (random.below(4)) {
  case 0: // bags of words, weighted by place and length
    say(name + "[" + m + "] = sum[" + j + "]((1 - (" + j + " + 1) / (" + inner +
        "[" + m + "] + 1)) * " + item + ")");
    add(name, rows, dim, false);
    break;
  case 1: { // attention inside each row, which may be empty
    string e = score(context, vec(rows, dim, 1), dim, item, dim);
    string a = fresh("a");
    say(left(a, context) + " = softmax[" + j + "](" + e + ")");
    say(name + "[" + m + "] = sum[" + j + "](" + a + "[" + m + "," + j +
        "] * " + item + ")");
    add(name, rows, dim, false);
    break;
  }
  case 2: { // a recurrence inside each row
    spec.features.insert("nested recurrence");
    string h = fresh("h");
    say(left(h, context) + " = tanh(" + linear(dim, dim) + "(" + h + "[" + m +
        "," + j + "-1]) + " + item + ")");
    say(h + "[" + m + ",-1] = " + boundary({}, dim));
    say(name + "[" + m + "] = mean[" + j + "](" + h + "[" + m + "," + j + "])");
    add(name, rows, dim, false);
    add(h, context, dim, false);
    break;
  }
  default: { // a map over all items
    string other = random.chance(0.5) ? " + " + vec(rows, dim, 1) : "";
    say(left(name, context) + " = tanh(" + item + other + ")");
    add(name, context, dim, false);
  }
  }
}

void Templates::pool() {
  begin("pool");
  Context none;
  string dim = random.chance(0.7) ? random.pick(dims) : "";
  string value = dim.empty() ? squash(num(none, 2)) : squash(vec(none, dim, 2));
  string name = fresh("x");
  say(name + " = " + value);
  add(name, none, dim, false);
}

void Templates::wholeArray(Place place) {
  const Array *found = vectorsAlong(place);
  if (!found)
    return;
  const Array from = *found;
  begin("def over whole arrays");
  string f = fresh("f"), n = fresh("n"), d = fresh("n"), x = fresh("p"),
         y = fresh("q"), a = fresh("r"), w = fresh("w");
  string i = freshIndex(), j = freshIndex();
  string past = place.step ? " where " + j + " <= " + i : "";
  declarations.push_back(
      "def " + f + "(" + d + ")(" + x + "[" + n + ", " + fresh("n") + "]) {\n" +
      "  param " + w + " : linear(" + d + ")\n" + "  " + y + "[" + i +
      "] = tanh(" + w + "(" + x + "[" + i + "]))\n" + "  " + a + "[" + i + "," +
      j + "] = softmax[" + j + past + "](dot(" + y + "[" + i + "], " + y + "[" +
      j + "]))\n  return " + y + ", " + a + "\n}");
  string dim = random.pick(dims);
  string instance = module(f + "(" + dim + ")");
  string z = fresh("x"), weights = fresh("a"), c = fresh("x");
  Context context;
  context.indices.push_back(
      {i, place.extent, place.step ? Index::Step : Index::Free, "", true});
  say(z + ", " + weights + " = " + instance + "(" + from.name + ")");
  say(c + "[" + i + "] = sum[" + j + past + "](" + weights + "[" + i + "," + j +
      "] * " + z + "[" + j + "])");
  add(c, context, dim, place.step);
}

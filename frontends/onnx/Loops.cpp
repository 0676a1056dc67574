//===- Loops.cpp - Loop and Scan ------------------------------------------===//
//
// A body with a known number of steps is a recurrence: each of its nodes is an
// equation with the step as its first index, and state is read at the previous
// step. If a condition may end it earlier, all steps are computed, and the
// state stays constant after the end. A loop that only a condition ends has no
// length, and is refused.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Importer.h"
#include "frontends/onnx/onnx.pb.h"

#include <fmt/format.h>

using namespace fovea::onnx;

namespace {

/// One node of either kind.
class Steps {
public:
  Steps(Importer &importer, const Node &node)
      : importer(importer), node(node), outer(importer.values) {}

  bool runLoop();
  bool runScan();

private:
  /// The state between steps: each step reads the previous value, the first one
  /// the initial value.
  struct State {
    std::string name;
    Value value;
  };

  const schema::GraphProto *findBody();
  bool refuse(const std::string &why) { return importer.refuse(node, why); }
  std::string readAt(const Value &value, const std::string &step,
                     const Indices &indices);
  const std::string &input(size_t number) const {
    return body->input(static_cast<int>(number)).name();
  }
  const Value *output(size_t number) const {
    return importer.find(body->output(static_cast<int>(number)).name());
  }
  void begin(const Size &steps);
  void addState(const Value &initial, const std::string &name);
  bool runBody(size_t firstState);
  std::string whetherRuns();
  void addEnd();
  bool giveStates();
  bool giveRows(size_t from, size_t to, int64_t axis, bool isBackward);

  Importer &importer;
  const Node &node;
  const schema::GraphProto *body = nullptr;
  Importer::Scope outer;
  std::string index;
  Size count;
  bool isLoop = false; // whose first output is a condition
  std::vector<State> states;
  /// For a loop that a condition may end: whether it continues after each step.
  std::optional<Value> goesOn;
  Importer::Scope inner; // what the body has given
};

} // namespace

/// Returns whether `value` is a condition that holds.
static bool isTrue(const Value *value) {
  return value && value->known && value->kind() != Kind::Real &&
         value->known->whole.size() == 1 && value->known->whole[0].is(1);
}

const fovea::onnx::schema::GraphProto *Steps::findBody() {
  const schema::AttributeProto *found = node.attribute("body");
  if (found->g().output_size() == 0)
    refuse("needs a 'body' with outputs");
  else
    body = &found->g();
  return body;
}

/// One element of the body's output at `step`.
std::string Steps::readAt(const Value &value, const std::string &step,
                          const Indices &indices) {
  importer.loops.push_back({step, count});
  std::string text = importer.read(value, indices);
  importer.loops.pop_back();
  return text;
}

void Steps::begin(const Size &steps) {
  count = steps;
  index = fmt::format("t{}", importer.loops.size());
  importer.loops.push_back({index, count});
}

void Steps::addState(const Value &initial, const std::string &name) {
  State state = {name, importer.declare(node, name + "_next", initial.type,
                                        initial.shape)};
  Value before = importer.declare(node, name, initial.type, initial.shape);
  importer.define(before, [&](const Indices &at) {
    importer.loops.pop_back();
    std::string text =
        fmt::format("({} ?? {})", readAt(state.value, index + " - 1", at),
                    importer.read(initial, at));
    importer.loops.push_back({index, count});
    return text;
  });
  importer.values[name] = before;
  states.push_back(state);
}

/// Returns whether the current step is executed.
std::string Steps::whetherRuns() {
  importer.loops.pop_back();
  std::string text =
      fmt::format("({} ?? 1.0) > 0.5", readAt(*goesOn, index + " - 1", {}));
  importer.loops.push_back({index, count});
  return text;
}

/// The body's condition ends it.
void Steps::addEnd() {
  const Value condition = *output(0);
  goesOn = importer.declare(node, "goes_on", floatType, {});
  importer.define(*goesOn, [&](const Indices &) {
    return fmt::format(
        "if {} and {} then 1.0 else 0.0", whetherRuns(),
        importer.readAs(condition, Indices(condition.rank(), "0"), Kind::Bit));
  });
}

/// The nodes of the body, and the new value of each state: outputs from
/// `firstState` on. What has names inside has none outside.
bool Steps::runBody(size_t firstState) {
  bool isGiven = importer.runBranch(*body);
  for (const schema::ValueInfoProto &output : body->output())
    if (isGiven && !importer.find(output.name()))
      isGiven =
          refuse(fmt::format("nothing in 'body' gives '{}'", output.name()));
  if (isGiven && isLoop && !isTrue(output(0))) {
    if (body->output_size() > static_cast<int>(firstState + states.size()))
      isGiven = refuse("gives a row for each step until a condition ends it, "
                       "and how many these are is not known when the model is "
                       "compiled");
    else if (!productOf(output(0)->shape).is(1))
      isGiven = refuse("ends by a condition of more than one element");
    else
      addEnd();
  }
  for (size_t i = 0; isGiven && i < states.size(); ++i) {
    const Value next = *output(firstState + i);
    const Value &state = states[i].value;
    const Value before = *importer.find(states[i].name);
    if (next.type != state.type || next.shape != state.shape)
      isGiven = refuse(fmt::format(
          "'{}' is {} {} at first and {} {} after a step, and a state has one "
          "shape",
          states[i].name, typeName(state.type), shapeText(state.shape),
          typeName(next.type), shapeText(next.shape)));
    else
      importer.define(state, [&](const Indices &at) {
        std::string text = importer.read(next, at);
        return goesOn ? fmt::format("if {} then {} else {}", whetherRuns(),
                                    text, importer.read(before, at))
                      : text;
      });
  }
  importer.loops.pop_back();
  inner = importer.values;
  return isGiven;
}

/// The states after the last step.
bool Steps::giveStates() {
  for (size_t i = 0; i < states.size(); ++i)
    if (!importer.give(node, i, states[i].value.type, states[i].value.shape,
                       [&](const Indices &at) {
                         return readAt(states[i].value,
                                       (count - Size(1)).text(), at);
                       }))
      return false;
  return true;
}

/// Output `from` of the body at all steps, along `axis`, as output `to`.
bool Steps::giveRows(size_t from, size_t to, int64_t axis, bool isBackward) {
  const Value row = inner.at(body->output(static_cast<int>(from)).name());
  std::optional<size_t> along = importer.axisOf(node, axis, row.rank() + 1);
  if (!along)
    return false;
  Shape shape = row.shape;
  shape.insert(shape.begin() + *along, count);
  return importer.give(node, to, row.type, shape, [&](const Indices &at) {
    Indices own = at;
    own.erase(own.begin() + *along);
    const std::string &step = at[*along];
    return readAt(row,
                  isBackward
                      ? fmt::format("{} - {}", (count - Size(1)).text(), step)
                      : step,
                  own);
  });
}

//===----------------------------------------------------------------------===//
// The two operators
//===----------------------------------------------------------------------===//

bool Steps::runLoop() {
  if (!findBody())
    return false;
  const Value *most = node.input(0);
  if (!most)
    return refuse("has no number of steps: it ends by a condition, which is "
                  "not supported");
  const Contents *known = importer.knownInput(node, 0);
  if (!known)
    return false;
  size_t carried = node.numInputs() < 2 ? 0 : node.numInputs() - 2;
  if (body->input_size() != static_cast<int>(carried + 2) ||
      body->output_size() < static_cast<int>(carried + 1) ||
      body->output_size() != static_cast<int>(node.numOutputs() + 1))
    return refuse(fmt::format("carries {} values, and its 'body' takes {} and "
                              "gives {}",
                              carried, body->input_size(),
                              body->output_size()));
  if (node.input(1) && !isTrue(node.input(1)))
    return importer.knownInput(node, 1) &&
           refuse("begins by a condition that does not hold");
  std::optional<int64_t> steps = known->whole[0].value();
  if (steps && (*steps < 1 || *steps > INT32_MAX))
    return refuse(fmt::format("has {} steps, and 1 to {} are supported", *steps,
                              INT32_MAX));
  std::vector<Value> initial;
  for (size_t i = 0; i < carried; ++i) {
    if (!node.input(i + 2))
      return refuse("carries what is left out");
    initial.push_back(node.at(i + 2));
  }
  begin(known->whole[0]);
  importer.values[input(0)] = importer.helper(
      node, int64Type, {}, [&](const Indices &) { return index; });
  Value holds;
  holds.type = boolType;
  holds.name = input(1);
  holds.known = std::make_shared<Contents>(Contents{{Size(1)}, {}});
  importer.values[input(1)] = holds;
  for (size_t i = 0; i < carried; ++i)
    addState(initial[i], input(i + 2));
  isLoop = true;
  bool isGiven = runBody(1);
  importer.values = outer;
  isGiven = isGiven && giveStates();
  for (size_t i = carried; isGiven && i < node.numOutputs(); ++i)
    isGiven = giveRows(i + 1, i, 0, false);
  return isGiven;
}

bool Steps::runScan() {
  if (!findBody())
    return false;
  if (importer.opset() < 9)
    return refuse("of version 8 is not supported; that of 9 and later is");
  int64_t scanned = node.integer("num_scan_inputs", 0);
  int64_t carried = static_cast<int64_t>(node.numInputs()) - scanned;
  if (scanned < 1 || carried < 0 ||
      body->input_size() != static_cast<int>(node.numInputs()) ||
      body->output_size() != static_cast<int>(node.numOutputs()) ||
      body->output_size() < carried)
    return refuse(fmt::format("scans {} of {} inputs, and its 'body' takes {} "
                              "and gives {}",
                              scanned, node.numInputs(), body->input_size(),
                              body->output_size()));
  auto numbers = [&](const char *name, size_t size) {
    std::vector<int64_t> all = node.integers(name);
    all.resize(size, 0);
    return all;
  };
  size_t rows = body->output_size() - carried;
  std::vector<int64_t> axes = numbers("scan_input_axes", scanned),
                       ways = numbers("scan_input_directions", scanned),
                       outAxes = numbers("scan_output_axes", rows),
                       outWays = numbers("scan_output_directions", rows);
  std::vector<Value> given;
  std::vector<size_t> along;
  for (size_t i = 0; i < node.numInputs(); ++i) {
    given.push_back(node.at(i));
    if (static_cast<int64_t>(i) < carried)
      continue;
    std::optional<size_t> axis =
        importer.axisOf(node, axes[i - carried], given[i].rank());
    if (!axis)
      return false;
    along.push_back(*axis);
    if (!importer.areEqual(given[carried].shape[along[0]],
                           given[i].shape[*axis]))
      return refuse(fmt::format("'{}' has {} steps, and '{}' has {}",
                                given[carried].name,
                                given[carried].shape[along[0]].text(),
                                given[i].name, given[i].shape[*axis].text()));
  }
  begin(given[carried].shape[along[0]]);
  for (int64_t i = 0; i < carried; ++i)
    addState(given[i], input(i));
  for (int64_t i = 0; i < scanned; ++i) {
    const Value &x = given[carried + i];
    Shape shape = x.shape;
    shape.erase(shape.begin() + along[i]);
    std::string place =
        ways[i] == 0 ? index
                     : fmt::format("{} - {}", (count - Size(1)).text(), index);
    Value row = importer.declare(node, input(carried + i), x.type, shape);
    importer.define(row, [&](const Indices &at) {
      Indices all = at;
      all.insert(all.begin() + along[i], place);
      return importer.read(x, all);
    });
    importer.values[input(carried + i)] = row;
  }
  bool isGiven = runBody(0);
  importer.values = outer;
  isGiven = isGiven && giveStates();
  for (size_t i = 0; isGiven && i < rows; ++i)
    isGiven = giveRows(carried + i, carried + i, outAxes[i], outWays[i] != 0);
  return isGiven;
}

void fovea::onnx::addLoops(Handlers &handlers) {
  handlers["Loop"] = [](Importer &importer, const Node &node) {
    return Steps(importer, node).runLoop();
  };
  handlers["Scan"] = [](Importer &importer, const Node &node) {
    return Steps(importer, node).runScan();
  };
}

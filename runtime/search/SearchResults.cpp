//===- SearchResults.cpp - what a search gives ----------------------------===//
//
// Stacks the rows of a hypothesis's steps, and runs the program after the
// search.
//
//===----------------------------------------------------------------------===//

#include "runtime/Element.h"
#include "runtime/Functions.h"
#include "runtime/search/SearchRun.h"

#include <algorithm>
#include <cstring>

using namespace fovea::runtime;

static std::vector<double> valuesOf(const std::vector<std::byte> &bytes,
                                    Program::Element element) {
  auto size = static_cast<int64_t>(bytes.size());
  return loadNumbers(bytes.data(), element, size / sizeOf(element));
}

bool SearchRun::needsStates() const {
  if (decoder.finish < 0)
    return false;
  const auto &arrays = decoder.programs[decoder.finish].arrays;
  return std::any_of(arrays.begin(), arrays.end(), [](const auto &array) {
    return array.role == Program::Role::Data && array.name.starts_with("last/");
  });
}

/// The last step of a hypothesis, for its continuations.
void SearchRun::keepStep(Hypothesis &hypothesis) {
  Node node;
  node.parent = hypothesis.node;
  node.logps = std::move(hypothesis.logps);
  hypothesis.logps.clear();
  for (const Decoder::Stack &stack : decoder.stacks)
    node.rows.push_back(read(sources.at(stack.value), hypothesis));
  hypothesis.node = nodes.size();
  nodes.push_back(std::move(node));
}

/// log p of all choices of a hypothesis.
double SearchRun::logpOf(const Hypothesis &hypothesis) const {
  std::vector<double> logps = startOf(hypothesis.example).logps;
  auto add = [&](const std::vector<Chosen> &step) {
    for (const Chosen &one : step)
      logps.push_back(one.logp);
  };
  add(hypothesis.logps);
  for (int64_t node = hypothesis.node; node >= 0; node = nodes[node].parent)
    add(nodes[node].logps);
  return exactSum(logps);
}

bool SearchRun::hasOutput(const std::string &name) const {
  return std::any_of(
      decoder.outputs.begin(), decoder.outputs.end(),
      [&](const Decoder::Output &output) { return output.name == name; });
}

/// log p of each choice, in order, and which of them the outputs give.
void SearchRun::listLogps(const Finished &finished, Generated &result) const {
  std::vector<const std::vector<Chosen> *> steps = {&finished.last.logps};
  for (int64_t node = finished.node; node >= 0; node = nodes[node].parent)
    steps.push_back(&nodes[node].logps);
  for (size_t step = steps.size(); step-- > 0;)
    for (const Chosen &one : *steps[step]) {
      const Decoder::Choice &choice = decoder.choices[one.choice];
      bool isReal = !Distribution(choice.distribution).isDiscrete();
      std::string output = (isReal ? "logp/" : "logp/sum/") + choice.name;
      if (isReal || hasOutput(output))
        result.computed[output].push_back(result.stepLogp.size());
      result.stepLogp.push_back(one.logp);
    }
}

/// Copies what an array has inside `limits` into the corner of a larger one, at
/// `at` of axis `axis`.
static void copyInto(DataValues &to, const std::vector<int64_t> &shape,
                     const std::vector<int64_t> &limits,
                     const std::vector<double> &values, size_t axis,
                     int64_t at) {
  std::vector<int64_t> indices(shape.size());
  for (size_t source = 0; source < values.size(); ++source) {
    int64_t target = 0, stride = 1;
    for (size_t i = to.shape.size(); i-- > 0;) {
      int64_t index = i == axis ? at : indices[i < axis ? i : i - 1];
      target += index * stride;
      stride *= to.shape[i];
    }
    bool isInside = true;
    for (size_t i = 0; i < indices.size(); ++i)
      isInside &= indices[i] < limits[i];
    if (isInside)
      to.values[target] = values[source];
    for (size_t i = indices.size(); i-- > 0;) {
      if (++indices[i] != shape[i])
        break;
      indices[i] = 0;
    }
  }
}

DataValues SearchRun::stackOf(int number, const Finished &finished,
                              int64_t example) {
  const Decoder::Stack &stack = decoder.stacks[number];
  DataValues result;
  auto shapeAt = [&](int64_t length) {
    std::vector<int64_t> shape;
    for (int64_t extent : stack.shape)
      shape.push_back(-1 - extent == openLength && extent < 0
                          ? length
                          : lengthAt(extent, example));
    return shape;
  };
  result.shape = shapeAt(finished.steps);
  int64_t extent = finished.steps;
  if (decoder.known)
    extent = lengthAt(decoder.extent, example);
  result.shape.insert(result.shape.begin() + stack.axis, extent);
  int64_t count = 1;
  for (int64_t extent : result.shape)
    count *= extent;
  result.values.assign(count, 0);
  int64_t at = finished.steps;
  for (int64_t node = finished.node; node >= 0; node = nodes[node].parent) {
    --at;
    int64_t index = indexOf(at, example);
    std::vector<int64_t> limits = shapeAt(at + 1);
    for (size_t axis = 0; axis < limits.size(); ++axis)
      if (isRowOfStep(stack.shape[axis]))
        limits[axis] = rowLengthAt(stack.shape[axis], example, index);
    copyInto(result, shapeAt(at + 1), limits,
             valuesOf(nodes[node].rows[number], stack.element), stack.axis,
             index);
  }
  return result;
}

DataValues SearchRun::stateOf(int number, const Finished &finished,
                              int64_t example) {
  const Decoder::State &state = decoder.states[number];
  DataValues result;
  for (int64_t extent : state.shape)
    result.shape.push_back(-1 - extent == openLength && extent < 0
                               ? finished.steps
                               : lengthAt(extent, example));
  result.values = valuesOf(finished.states[number], state.element);
  return result;
}

/// Runs the program after the search for one hypothesis.
Status SearchRun::runFinish(const Finished &finished, int64_t example,
                            Generated &result) {
  const Program &program = decoder.programs[decoder.finish];
  Example own;
  own.id = examples[example]->id;
  own.lengths = examples[example]->lengths;
  for (const Program::Length &length : program.lengths) {
    const Tables::Length *given = encoded.lengthNamed(length.name);
    if (given && length.parent.empty())
      own.lengths[length.name] = LengthValues::of(given->extents[example]);
  }
  if (openLength >= 0)
    own.lengths[decoder.lengths[openLength]] = LengthValues::of(finished.steps);
  OwnedMemory memory = search.members.front()->parameters;
  for (const Program::Array &array : program.arrays) {
    const std::string &name = array.name;
    if (array.role == Program::Role::Parameter && !memory.contains(name))
      memory[name] = encoded.memoryOf(name);
    if (array.role != Program::Role::Data)
      continue;
    if (name.starts_with("stack/"))
      own.data[name] = stackOf(std::stoi(name.substr(6)), finished, example);
    else if (name.starts_with("last/"))
      own.data[name] = stateOf(std::stoi(name.substr(5)), finished, example);
    else
      own.data[name] = encoded.output(name, example);
  }
  Workspace workspace(program);
  Binding binding;
  binding.memory = &memory;
  binding.pool = search.pool;
  binding.draws = options.seed;
  if (Status status = workspace.bind({&own}, binding); status.failed())
    return status;
  const ProgramCode &code = search.code[decoder.finish];
  if (code.prepare)
    code.prepare(workspace.frame());
  workspace.willRun();
  if (Status status = code.runChecked(workspace.frame()); status.failed())
    return status;
  for (const Decoder::Output &output : decoder.outputs)
    if (output.value.empty())
      result.outputs[output.name] = workspace.output(output.name, 0);
  return Status::success();
}

Status SearchRun::finish(const Finished &finished, int64_t example,
                         Generated &result) {
  result.logp = finished.logp;
  result.score = finished.score;
  result.isMarked = hasMark(Decoder::Mark::Score);
  result.steps = finished.steps;
  result.ended = !finished.cut;
  result.hasEnd = finished.hasEnd;
  listLogps(finished, result);
  for (const Decoder::Output &output : decoder.outputs) {
    DataValues &values = result.outputs[output.name];
    if (output.value.starts_with("stack/"))
      values = stackOf(std::stoi(output.value.substr(6)), finished, example);
    else if (output.value.starts_with("encode/"))
      values = encoded.output(output.value, example);
    else if (!output.value.empty()) {
      const ValueSource &source = sources.at(output.value);
      Program::Element element = Program::Element::F64;
      const std::vector<int64_t> *shape = nullptr;
      if (source.kind == ValueSource::Choice) {
        element = decoder.choices[source.index].element;
        shape = &decoder.choices[source.index].shape;
        for (int64_t extent : *shape)
          values.shape.push_back(lengthAt(extent, example));
      } else {
        element = source.array->element;
        const Program &program =
            decoder.programs[decoder.segments[source.index]];
        for (int64_t extent : source.array->shape)
          values.shape.push_back(
              extent >= 0
                  ? extent
                  : encoded.lengthNamed(program.lengths[-1 - extent].name)
                        ->extents[example]);
      }
      values.values = valuesOf(read(source, finished.last), element);
    }
  }
  return decoder.finish < 0 ? Status::success()
                            : runFinish(finished, example, result);
}

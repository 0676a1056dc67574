//===- LaunchTrace.cpp - what each launch of a program leaves -------------===//

#include "app/interpret/LaunchTrace.h"
#include "dialect/reference/Lengths.h"
#include "runtime/Element.h"
#include "runtime/device/Device.h"

#include <cmath>
#include <fmt/format.h>

using namespace mlir;
using namespace fovea;
using namespace fovea::cli;
using reference::Arrays;
using reference::Inputs;
using runtime::Program;
using runtime::Status;
using Role = Program::Role;

//===----------------------------------------------------------------------===//
// ProgramFrame
//===----------------------------------------------------------------------===//

ProgramFrame::ProgramFrame(const Program &program, void *frame)
    : program(program), slots(static_cast<int64_t *>(frame)) {
  for (const Program::Array &array : program.arrays)
    arrays.try_emplace(array.slot, &array);
}

const Program::Array &ProgramFrame::arrayAt(int slot) const {
  const Program::Array *array = arrays.lookup(slot);
  assert(array && "a memory is one of the program");
  return *array;
}

std::byte *ProgramFrame::place(const Program::Array &array, size_t example,
                               size_t row) const {
  int64_t places = 0;
  if (array.layout == 0)
    places = static_cast<int64_t>(row);
  else if (array.layout > 0)
    places = table(program.layouts[array.layout].slot)[example];
  return reinterpret_cast<std::byte *>(slots[array.slot]) +
         places * array.count * sizeOf(array.element);
}

reference::Array ProgramFrame::valueOf(const Program::Array &array,
                                       size_t row) const {
  reference::Array result;
  int64_t count = 1;
  for (int64_t extent : array.shape) {
    result.shape.push_back(
        extent >= 0 ? extent : table(program.lengths[-1 - extent].slot)[row]);
    count *= result.shape.back();
  }
  result.values =
      runtime::loadNumbers(place(array, row, row), array.element, count);
  result.integer = !runtime::isReal(array.element);
  return result;
}

reference::Length ProgramFrame::lengthOf(const Program::Length &length,
                                         size_t row) const {
  if (length.parent.empty())
    return reference::Length::of(table(length.slot)[row]);
  int64_t count = length.parentExtent;
  int64_t start = static_cast<int64_t>(row) * count;
  if (length.parentLayout >= 0) {
    start = table(program.layouts[length.parentLayout].slot)[row];
    auto parent = llvm::find_if(program.lengths, [&](const auto &other) {
      return other.name == length.parent;
    });
    count = table(parent->slot)[row];
  }
  const int64_t *values = table(length.valuesSlot) + start;
  return reference::Length::perParent({values, values + count});
}

std::vector<Inputs> ProgramFrame::inputs(Arrays &parameters) const {
  std::vector<Inputs> rows(numRows());
  for (const Program::Array &array : program.arrays)
    if (array.role == Role::Parameter)
      parameters[array.name] = valueOf(array, 0);
  for (auto [row, own] : llvm::enumerate(rows)) {
    own.parameters = &parameters;
    int64_t seed = slots[Program::seedSlot];
    if (seed >= 0)
      own.seed = seed;
    else
      own.draws = -1 - seed;
    own.update = slots[Program::updateSlot];
    own.example = table(Program::examplesSlot)[row];
    if (program.stepSlot != 0)
      own.step = slots[program.stepSlot];
    if (program.insideSlot != 0)
      own.inside = slots[program.insideSlot];
    for (const Program::Length &length : program.lengths)
      if (length.formula.empty())
        own.lengths[length.name] = lengthOf(length, row);
    for (const Program::Array &array : program.arrays)
      if (array.role == Role::Data)
        own.data[array.name] = valueOf(array, row);
  }
  return rows;
}

double ProgramFrame::read(const Element &element) const {
  const Program::Array &array = arrayAt(element.slot);
  const std::byte *from = place(array, element.example, element.row) +
                          element.offset * sizeOf(array.element);
  return runtime::visitType(array.element, [&](auto zero) {
    std::memcpy(&zero, from, sizeof(zero));
    return static_cast<double>(zero);
  });
}

void ProgramFrame::append(const Element &element) {
  const Program::Array &array = arrayAt(element.slot);
  if (array.role == Role::Data)
    runtime::storeNumbers({element.value}, array.element,
                          place(array, element.example, element.row) +
                              element.offset * sizeOf(array.element));
}

void ProgramFrame::grow(size_t row, const Arrays &grown) {
  for (const Program::Array &array : program.arrays)
    if (auto found = grown.find(array.name);
        array.role == Role::Data && found != grown.end())
      runtime::storeNumbers(found->second.values, array.element,
                            place(array, row, row));
}

void ProgramFrame::store(size_t row, const Arrays &outputs) {
  for (const Program::Array &array : program.arrays)
    if (array.role == Role::Output)
      runtime::storeNumbers(outputs.at(array.name).values, array.element,
                            place(array, row, row));
}

void ProgramFrame::clearOutputs() {
  for (const Program::Array &array : program.arrays)
    for (size_t row = 0; array.role == Role::Output && row < numRows(); ++row)
      runtime::storeNumbers(
          std::vector<double>(valueOf(array, row).values.size()), array.element,
          place(array, row, row));
}

//===----------------------------------------------------------------------===//
// LaunchTrace
//===----------------------------------------------------------------------===//

/// The trace that compiled code is compared with.
static LaunchTrace *compared = nullptr;

void LaunchTrace::add(launch::RunOp run, ArrayRef<launch::Written> written) {
  // What is packed once is a function of its own, and nothing to compare.
  if (run->getParentOfType<launch::PrepareOp>())
    return;
  Launch &own = launches.emplace_back();
  own.text = textOf(run);
  own.place = reference::placeOf(run);
  own.loop = run->getParentOfType<launch::PersistentOp>();
  for (const launch::Written &each : written) {
    launch::MemoryOp memory = each.memory;
    // What belongs to a step is not there after the loop.
    if (own.loop && own.loop->isAncestor(memory))
      continue;
    auto slot = static_cast<int>(memory.getSlot());
    names.try_emplace(slot, memory.getName().str());
    own.elements.push_back(
        {slot, each.example, each.row, each.offset, each.value});
  }
}

void LaunchTrace::append(ProgramFrame &frame) const {
  for (const Launch &own : launches)
    for (const ProgramFrame::Element &element : own.elements)
      frame.append(element);
}

//===----------------------------------------------------------------------===//
// Compiled code
//===----------------------------------------------------------------------===//

namespace fovea::cli {

/// A device whose launches are compared one by one.
class WatchedDevice final : public runtime::Device {
public:
  explicit WatchedDevice(Device &own) : own(own) {}

  const std::string &name() const override { return own.name(); }
  int major() const override { return own.major(); }
  int minor() const override { return own.minor(); }
  int64_t totalBytes() const override { return own.totalBytes(); }
  void *allocate(size_t bytes) override { return own.allocate(bytes); }
  void free(void *memory) override { own.free(memory); }
  void *allocatePinned(size_t bytes) override {
    return own.allocatePinned(bytes);
  }
  void freePinned(void *memory) override { own.freePinned(memory); }
  void shareMemory() override { own.shareMemory(); }
  void send() override { own.send(); }
  void wait() override { own.wait(); }
  bool launchOwn(const std::string &name,
                 runtime::KernelLaunch launch) override {
    return own.launchOwn(name, launch);
  }
  void launch(const runtime::KernelLaunch &launch) override {
    own.launch(launch);
    if (!compared)
      return;
    own.wait();
    compared->compareNext();
  }
  bool launchLoop(const runtime::KernelLaunch &launch,
                  int64_t barriers) override {
    bool isDone = own.launchLoop(launch, barriers);
    if (compared) {
      own.wait();
      compared->compareLoop(/*isEmpty=*/launch.units == 0, isDone);
    }
    return isDone;
  }

private:
  Device &own;
};

} // namespace fovea::cli

void LaunchTrace::parallel(FoveaPool *pool, FoveaWork work, void *frame,
                           int64_t units, int64_t atOnce) {
  if (!compared)
    return fovea_parallel(pool, work, frame, units, atOnce);
  compared->launch(pool, work, frame, units, atOnce);
  if (compared->frame->address() == frame)
    compared->compareNext();
}

void LaunchTrace::shareMemory() {
  if (runtime::Device *device = runtime::Device::current())
    device->shareMemory();
}

Status LaunchTrace::compare(const ProgramFrame &own,
                            decltype(&fovea_parallel) parallel,
                            llvm::function_ref<void()> code) {
  static bool isWatched = false;
  if (runtime::Device *device = runtime::Device::current();
      device && !std::exchange(isWatched, true))
    runtime::Device::use(std::make_unique<WatchedDevice>(*device));
  frame = &own;
  launch = parallel;
  compared = this;
  code();
  compared = nullptr;
  assert((difference.failed() || next == launches.size()) &&
         "each launch of the schedule is a call");
  return difference;
}

void LaunchTrace::compareNext() {
  if (numAhead > 0) {
    if (--numAhead == 0)
      compareEnd();
    return;
  }
  if (difference.failed())
    return;
  assert(next < launches.size() && "each call is a launch of the schedule");
  const Launch &own = launches[next++];
  for (const ProgramFrame::Element &each : own.elements)
    if (!isRight(own, each))
      return;
}

void LaunchTrace::compareLoop(bool isEmpty, bool isDone) {
  endOfLoop = next;
  while (!isEmpty && endOfLoop < launches.size() &&
         launches[endOfLoop].loop == launches[next].loop)
    ++endOfLoop;
  if (isDone)
    compareEnd();
  else
    numAhead = endOfLoop - next;
}

/// The elements as the last launch leaves them that writes them.
void LaunchTrace::compareEnd() {
  using Place = std::tuple<int, size_t, int64_t>;
  std::map<Place, std::pair<const Launch *, const ProgramFrame::Element *>>
      last;
  for (; next < endOfLoop; ++next)
    for (const ProgramFrame::Element &each : launches[next].elements)
      last[{each.slot, each.example, each.offset}] = {&launches[next], &each};
  for (const auto &[place, written] : last)
    if (difference.failed() || !isRight(*written.first, *written.second))
      return;
}

bool LaunchTrace::isRight(const Launch &own,
                          const ProgramFrame::Element &element) {
  double got = frame->read(element);
  if (std::memcmp(&got, &element.value, sizeof(double)) == 0 ||
      (std::isnan(got) && std::isnan(element.value)))
    return true;
  difference = Status::error(
      fmt::format("compiled code differs first in {}: element {} of '{}' of "
                  "example {} is {:.9g}, and should be {:.9g}",
                  own.text, element.offset, names[element.slot],
                  element.example, got, element.value),
      own.place);
  return false;
}

//===- SearchRows.cpp - values between the programs of a search -----------===//
//
// Finds values by name, and moves the rows of continued hypotheses: replaced
// state is gathered in each step; growing state stays in its hypothesis's
// buffer and is copied only if two hypotheses continue one.
//
//===----------------------------------------------------------------------===//

#include "runtime/Element.h"
#include "runtime/search/SearchRun.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstring>
#include <utility>

using namespace fovea::runtime;
using State = Decoder::State;

//===----------------------------------------------------------------------===//
// Values by name
//===----------------------------------------------------------------------===//

/// `carry/3`: 3.
static bool takeNumber(const std::string &name, const char *prefix,
                       int &number) {
  size_t length = std::strlen(prefix);
  if (name.compare(0, length, prefix) != 0)
    return false;
  return std::from_chars(name.data() + length, name.data() + name.size(),
                         number)
             .ec == std::errc();
}

ValueSource SearchRun::find(const std::string &name) const {
  ValueSource source;
  if (takeNumber(name, "carry/", source.index)) {
    source.kind = ValueSource::State;
    return source;
  }
  if (takeNumber(name, "inner/", source.index)) {
    source.kind = ValueSource::Inner;
    return source;
  }
  if (takeNumber(name, "choice/", source.index)) {
    source.kind = ValueSource::Choice;
    return source;
  }
  source.kind = ValueSource::Segment;
  const auto &segments = search.members.front()->segments;
  for (size_t number = 0; number < segments.size(); ++number)
    if (const StepMemory *memory = segments[number].get())
      if ((source.array = memory->findOutput(name))) {
        source.index = number;
        return source;
      }
  source.kind = ValueSource::Encoded;
  for (const Program::Array &array : decoder.programs[decoder.encode].arrays)
    if (array.role == Program::Role::Output && array.name == name) {
      source.array = &array;
      return source;
    }
  assert(false && "a program of the decoder gives what others read");
  return source;
}

void SearchRun::findSources() {
  std::vector<std::string> names;
  for (const auto *states : {&decoder.states, &decoder.inner})
    for (const State &state : *states) {
      names.push_back(state.initial);
      names.push_back(state.next);
    }
  for (const Decoder::Choice &choice : decoder.choices)
    for (const Decoder::Parameter &parameter : choice.parameters)
      names.push_back(parameter.value);
  for (const Decoder::Mark &mark : decoder.marks)
    names.push_back(mark.value);
  for (const Decoder::Stack &stack : decoder.stacks)
    names.push_back(stack.value);
  if (!decoder.isSearch)
    for (const Decoder::Output &output : decoder.outputs)
      names.push_back(output.value);
  names.push_back(decoder.longest);
  for (int number : decoder.segments) {
    if (number < 0)
      continue;
    for (const Program::Array &array : decoder.programs[number].arrays)
      if (array.role == Program::Role::Data)
        names.push_back(array.name);
  }
  for (const std::string &name : names)
    if (!name.empty())
      sources[name] = find(name);
}

/// The bytes of a value for one hypothesis.
std::vector<std::byte> SearchRun::read(const MemberRows &own,
                                       const ValueSource &source,
                                       const Hypothesis &from) const {
  const Workspace &encoded = own.member.encoded;
  const std::byte *memory = nullptr;
  int64_t bytes = 0;
  switch (source.kind) {
  case ValueSource::Encoded: {
    const Program::Array &array = *source.array;
    int64_t width = sizeOf(array.element) * array.count;
    memory = static_cast<const std::byte *>(encoded.memoryOf(array.name));
    bytes = width;
    if (array.layout < 0)
      break;
    memory += encoded.placeOf(array.name, from.example) * width;
    bytes = (encoded.placeOf(array.name, from.example + 1) -
             encoded.placeOf(array.name, from.example)) *
            width;
    break;
  }
  case ValueSource::State: {
    const State &state = decoder.states[source.index];
    if (state.written == State::replaced) {
      memory = own.states[source.index].row(from.state);
      bytes = own.states[source.index].bytesOf(from.state);
      break;
    }
    bytes = countOf(state.shape, from.example) * sizeOf(state.element);
    memory = own.buffers[source.index].data() + from.buffer * bufferSteps *
                                                    mostPlaces[source.index] *
                                                    sizeOf(state.element);
    break;
  }
  case ValueSource::Inner:
    memory = own.inner[source.index].row(from.inner);
    bytes = own.inner[source.index].bytesOf(from.inner);
    break;
  case ValueSource::Choice: {
    const Decoder::Choice &choice = decoder.choices[source.index];
    const std::vector<double> &values = from.chosen[source.index];
    std::vector<std::byte> result(values.size() * sizeOf(choice.element));
    storeNumbers(values, choice.element, result.data());
    return result;
  }
  case ValueSource::Segment:
    memory = own.member.segments[source.index]->row(
        *source.array, from.rows[source.index], bytes);
    break;
  }
  std::vector<std::byte> result(bytes);
  copyBytes(result.data(), memory, bytes);
  return result;
}

/// The address of a value's row, if it has one.
const std::byte *SearchRun::placeOf(const MemberRows &own,
                                    const ValueSource &source,
                                    const Hypothesis &from,
                                    int64_t &bytes) const {
  if (source.kind == ValueSource::Segment)
    return own.member.segments[source.index]->row(
        *source.array, from.rows[source.index], bytes);
  if (source.kind == ValueSource::Inner) {
    bytes = own.inner[source.index].bytesOf(from.inner);
    return own.inner[source.index].row(from.inner);
  }
  if (source.kind != ValueSource::State ||
      decoder.states[source.index].written != State::replaced)
    return nullptr;
  bytes = own.states[source.index].bytesOf(from.state);
  return own.states[source.index].row(from.state);
}

/// Appends the rows of a value.
void SearchRun::addRows(const MemberRows &own, const ValueSource &source,
                        const std::vector<Hypothesis> &from,
                        GatheredRows &rows) const {
  for (const Hypothesis &hypothesis : from) {
    RowCopy &row = rows.copies.emplace_back();
    row.from = placeOf(own, source, hypothesis, row.bytes);
    if (row.from)
      continue;
    rows.made.push_back(read(own, source, hypothesis));
    row.from = rows.made.back().data();
    row.bytes = rows.made.back().size();
  }
}

void GatheredRows::copyTo(RowArray &to, int64_t elementBytes) {
  to.elementBytes = elementBytes;
  to.starts.assign(1, 0);
  for (const RowCopy &row : copies)
    to.starts.push_back(to.starts.back() + row.bytes / elementBytes);
  // It does not shrink: a device has its content.
  size_t bytes = to.starts.back() * elementBytes;
  to.isFromHost = !made.empty();
  auto grow = [&](auto &memory) {
    if (memory.size() < bytes)
      memory.resize(bytes);
  };
  if (to.isFromHost)
    grow(to.exchanged);
  else
    grow(to.bytes);
  for (size_t i = 0; i < copies.size(); ++i)
    copies[i].to = to.row(i);
  copyRows(copies);
}

/// The rows of a value, one after another.
void SearchRun::gather(const MemberRows &own, const ValueSource &source,
                       const std::vector<Hypothesis> &from,
                       int64_t elementBytes, RowArray &to) const {
  GatheredRows rows;
  addRows(own, source, from, rows);
  rows.copyTo(to, elementBytes);
}

/// Makes a device find the best symbols of all hypotheses, one more than there
/// is room for, besides one that may be forbidden.
void SearchRun::findBestOnDevice(int number) {
  best.clear();
  const Decoder::Choice &choice = decoder.choices[number];
  if (followsOnePath() || members.size() != 1 || live.empty() ||
      !choice.shape.empty() || choice.parameters.size() != 1 ||
      choice.parameters.front().name != "logp")
    return;
  const Decoder::Parameter &parameter = choice.parameters.front();
  const ValueSource &source = sources.at(parameter.value);
  if (source.kind != ValueSource::Segment || !source.array)
    return;
  const StepMemory &memory = *members.front().member.segments[source.index];
  int64_t count = countOf(parameter.shape, live.front().example);
  int64_t width = count * sizeOf(source.array->element), rows = 0, room = 0;
  auto at = [&](int64_t row) {
    int64_t bytes;
    return memory.row(*source.array, row, bytes);
  };
  for (const Hypothesis &hypothesis : live) {
    int64_t row = hypothesis.rows[source.index];
    if (countOf(parameter.shape, hypothesis.example) != count ||
        at(row) != at(0) + row * width)
      return;
    rows = std::max(rows, row + 1);
    room = std::max(room, roomOf(hypothesis.group));
  }
  best = findBest(at(0), source.array->element, rows, count, room + 2);
}

/// The device's results, or null.
const BestSymbols *SearchRun::bestOf(int number, const Hypothesis &from) const {
  if (best.empty())
    return nullptr;
  const std::string &value = decoder.choices[number].parameters.front().value;
  return &best[from.rows[sources.at(value).index]];
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

bool SearchRun::hasGrowing() const {
  return std::any_of(
      decoder.states.begin(), decoder.states.end(),
      [](const State &state) { return state.written != State::replaced; });
}

/// The elements per step of a growing state; all of them if its length is
/// known.
int64_t SearchRun::placesOf(size_t number, int64_t example) const {
  const State &state = decoder.states[number];
  if (decoder.known)
    return countOf(state.shape, example);
  int64_t count = 1;
  for (size_t axis = 1; axis < state.shape.size(); ++axis)
    count *= lengthAt(state.shape[axis], example);
  return count;
}

/// Reserves so many steps in so many buffers, and keeps the content.
void SearchRun::makeRoom(int64_t wantedSteps, int64_t wantedBuffers) {
  if (decoder.known)
    wantedSteps = 1;
  if (wantedSteps <= bufferSteps && wantedBuffers <= numBuffers)
    return;
  int64_t newSteps =
      wantedSteps > bufferSteps
          ? std::max(wantedSteps, decoder.known ? 1 : 2 * bufferSteps)
          : bufferSteps;
  if (!decoder.known)
    newSteps = std::max<int64_t>(newSteps, 16);
  int64_t newBuffers = wantedBuffers > numBuffers
                           ? std::max(wantedBuffers, numBuffers + 4)
                           : numBuffers;
  for (MemberRows &own : members) {
    own.buffers.resize(decoder.states.size());
    for (size_t number = 0; number < own.buffers.size(); ++number) {
      const State &state = decoder.states[number];
      if (state.written == State::replaced)
        continue;
      int64_t bytes = mostPlaces[number] * sizeOf(state.element);
      SharedVector<std::byte> larger(newBuffers * newSteps * bytes);
      for (int64_t buffer = 0; buffer < numBuffers; ++buffer)
        if (bufferSteps * bytes != 0)
          std::memcpy(larger.data() + buffer * newSteps * bytes,
                      own.buffers[number].data() + buffer * bufferSteps * bytes,
                      bufferSteps * bytes);
      own.buffers[number] = std::move(larger);
    }
  }
  bufferSteps = newSteps;
  numBuffers = newBuffers;
}

/// Gives each hypothesis a buffer that neither another one nor one of `others`
/// uses, and copies the rows of its former buffer. The segments before
/// `segment` have already written their rows of this step.
void SearchRun::ownBuffers(int segment, std::vector<Hypothesis> &hypotheses,
                           const std::vector<Hypothesis> &others) {
  std::vector<char> isUsed(numBuffers), isTaken(numBuffers);
  std::vector<RowCopy> rows;
  for (const Hypothesis &hypothesis : hypotheses)
    isUsed[hypothesis.buffer] = true;
  for (const Hypothesis &other : others)
    isUsed[other.buffer] = isTaken[other.buffer] = true;
  int64_t next = 0;
  for (Hypothesis &hypothesis : hypotheses) {
    int from = hypothesis.buffer;
    if (!isTaken[from]) {
      isTaken[from] = true;
      continue;
    }
    while (next < numBuffers && isUsed[next])
      ++next;
    if (next == numBuffers) {
      copyRows(std::exchange(rows, {}));
      waitForDevice();
      makeRoom(bufferSteps, numBuffers + 1);
      isUsed.resize(numBuffers);
      isTaken.resize(numBuffers);
    }
    hypothesis.buffer = next;
    isUsed[next] = isTaken[next] = true;
    for (size_t number = 0; number < decoder.states.size(); ++number) {
      const State &state = decoder.states[number];
      if (state.written == State::replaced)
        continue;
      int64_t size = sizeOf(state.element);
      int64_t stride = bufferSteps * mostPlaces[number] * size;
      bool isWritten = state.written >= 0 && state.written < segment;
      int64_t steps = decoder.known ? 1 : step + isWritten;
      int64_t bytes = placesOf(number, hypothesis.example) * size * steps;
      for (MemberRows &own : members)
        rows.push_back({own.buffers[number].data() + next * stride,
                        own.buffers[number].data() + from * stride, bytes});
    }
  }
  copyRows(rows);
  waitForDevice();
}

void SearchRun::beginStates() {
  for (MemberRows &own : members) {
    own.states.resize(decoder.states.size());
    own.nextStates.resize(decoder.states.size());
    own.inner.resize(decoder.inner.size());
    own.nextInner.resize(decoder.inner.size());
  }
  mostPlaces.assign(decoder.states.size(), 1);
  for (size_t number = 0; number < mostPlaces.size(); ++number)
    for (size_t example = 0; example < examples.size(); ++example)
      mostPlaces[number] =
          std::max(mostPlaces[number], placesOf(number, example));
  if (hasGrowing()) {
    makeRoom(1, live.size());
    for (size_t i = 0; i < live.size(); ++i)
      live[i].buffer = i;
  }
  for (MemberRows &own : members)
    for (size_t number = 0; number < decoder.states.size(); ++number) {
      const State &state = decoder.states[number];
      if (state.initial.empty() && state.written == State::replaced) {
        RowArray &rows = own.states[number];
        rows = {};
        rows.elementBytes = int64_t(sizeOf(state.element));
        rows.starts = {0};
        for (const Hypothesis &hypothesis : live)
          rows.starts.push_back(rows.starts.back() +
                                countOf(state.shape, hypothesis.example));
        rows.bytes.assign(rows.starts.back() * rows.elementBytes, {});
      }
      if (state.initial.empty())
        continue;
      const ValueSource &source = sources.at(state.initial);
      if (state.written == State::replaced) {
        gather(own, source, live, sizeOf(state.element), own.states[number]);
        waitForDevice();
        continue;
      }
      int64_t stride = bufferSteps * mostPlaces[number] * sizeOf(state.element);
      for (const Hypothesis &hypothesis : live) {
        std::vector<std::byte> row = read(own, source, hypothesis);
        std::memcpy(own.buffers[number].data() + hypothesis.buffer * stride,
                    row.data(), row.size());
      }
    }
}

/// Moves the rows of a state with variable length to their places in the next
/// step; new ones are 0.
void SearchRun::lengthen(const State &state,
                         const std::vector<Hypothesis> &from,
                         RowArray &rows) const {
  RowArray longer;
  longer.elementBytes = rows.elementBytes;
  longer.starts = {0};
  for (size_t i = 0; i < from.size(); ++i) {
    std::vector<int64_t> old, wanted;
    int64_t count = 1;
    for (int64_t extent : state.shape) {
      old.push_back(lengthAt(extent, from[i].example));
      bool isOpen = extent < 0 && -1 - extent == openLength;
      wanted.push_back(old.back() + (isOpen ? 1 : 0));
      count *= wanted.back();
    }
    longer.starts.push_back(longer.starts.back() + count);
    longer.bytes.resize(longer.starts.back() * longer.elementBytes);
    std::vector<int64_t> at(old.size());
    for (int64_t source = rows.starts[i]; source < rows.starts[i + 1];
         ++source) {
      int64_t target = 0;
      for (size_t axis = 0; axis < at.size(); ++axis)
        target = target * wanted[axis] + at[axis];
      std::memcpy(longer.row(i) + target * longer.elementBytes,
                  rows.data() + source * rows.elementBytes, rows.elementBytes);
      for (size_t axis = at.size(); axis-- > 0;) {
        if (++at[axis] != old[axis])
          break;
        at[axis] = 0;
      }
    }
  }
  rows = std::move(longer);
}

/// The states after the step; the hypotheses `from` continue, in this order.
void SearchRun::moveStates(const std::vector<Hypothesis> &from) {
  bool writes = false;
  for (size_t number = 0; number < decoder.states.size(); ++number) {
    const State &state = decoder.states[number];
    writes |= state.written == State::bySearch;
    if (state.written != State::replaced)
      continue;
    for (MemberRows &own : members) {
      RowArray &rows = own.nextStates[number];
      gather(own, sources.at(state.next), from, sizeOf(state.element), rows);
      if (state.initial.empty()) {
        waitForDevice();
        lengthen(state, from, rows);
      }
    }
  }
  waitForDevice();
  live = from;
  if (writes) {
    makeRoom(step + 1, numBuffers);
    ownBuffers(decoder.segments.size(), live, {});
  }
  for (size_t number = 0; writes && number < decoder.states.size(); ++number) {
    const State &state = decoder.states[number];
    if (state.written != State::bySearch)
      continue;
    int64_t stride = bufferSteps * mostPlaces[number] * sizeOf(state.element);
    for (MemberRows &own : members)
      for (const Hypothesis &hypothesis : live) {
        std::vector<std::byte> row =
            read(own, sources.at(state.next), hypothesis);
        int64_t at = indexOf(step, hypothesis.example);
        std::memcpy(own.buffers[number].data() + hypothesis.buffer * stride +
                        at * row.size(),
                    row.data(), row.size());
      }
  }
  for (MemberRows &own : members)
    own.states.swap(own.nextStates);
  for (size_t i = 0; i < live.size(); ++i)
    live[i].state = i;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// Runs a segment over hypotheses. `keepsParents`: the live ones also continue
/// from their present state, and keep their buffers.
Status SearchRun::runSegment(int number, std::vector<Hypothesis> &hypotheses,
                             bool keepsParents) {
  if (hypotheses.empty())
    return Status::success();
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    hypotheses[i].rows.resize(decoder.segments.size(), -1);
    hypotheses[i].rows[number] = i;
  }
  if (decoder.segments[number] < 0)
    return Status::success();
  bool writes =
      std::any_of(decoder.states.begin(), decoder.states.end(),
                  [&](const State &state) { return state.written == number; });
  if (writes) {
    makeRoom(step + 1, numBuffers);
    ownBuffers(number, hypotheses,
               keepsParents ? live : std::vector<Hypothesis>());
  }
  StepRows rows;
  bool isInOrder = decoder.states.empty() || hypotheses.size() == live.size();
  for (const Hypothesis &hypothesis : hypotheses) {
    isInOrder &= hypothesis.state == int64_t(rows.examples.size());
    rows.examples.push_back(hypothesis.example);
  }
  rows.length = step + 1;
  rows.step = indexOf(step, rows.examples.front());
  rows.inside = inside;
  for (MemberRows &own : members)
    if (Status status = runSegment(own, number, rows, hypotheses, isInOrder);
        status.failed())
      return status;
  return Status::success();
}

/// The same for one member. `isInOrder`: states are in reading order.
Status SearchRun::runSegment(MemberRows &own, int number, const StepRows &rows,
                             const std::vector<Hypothesis> &hypotheses,
                             bool isInOrder) {
  StepMemory *memory = own.member.segments[number].get();
  if (Status status = memory->setRows(rows); status.failed())
    return status;
  const Program &program = decoder.programs[decoder.segments[number]];
  std::vector<int64_t> places(hypotheses.size());
  for (const Program::Array &array : program.arrays) {
    if (array.role != Program::Role::Data)
      continue;
    const ValueSource &source = sources.at(array.name);
    if (source.kind == ValueSource::Encoded)
      continue;
    bool isState = source.kind == ValueSource::State;
    if (isState && decoder.states[source.index].written != State::replaced) {
      // A place of the layout is all that its lengths do not say.
      int64_t stride = bufferSteps * mostPlaces[source.index] / array.count;
      if (decoder.known)
        stride = mostPlaces[source.index] / array.count;
      for (size_t i = 0; i < places.size(); ++i)
        places[i] = hypotheses[i].buffer * stride;
      memory->setBuffers(array.name, own.buffers[source.index].data(), places);
      continue;
    }
    if (isState && isInOrder) {
      memory->setData(array.name, own.states[source.index].data());
      continue;
    }
    RowArray &values = own.gathered[std::to_string(number) + array.name];
    gather(own, source, hypotheses, sizeOf(array.element), values);
    memory->setData(array.name, values.data());
  }
  return memory->run();
}

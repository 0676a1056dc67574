//===- Block.cpp - the threads of a grid, one after the other -------------===//

#include "tools/emulator/Block.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

using namespace fovea::emulator;

Machine &fovea::emulator::machine() {
  static auto *own = new Machine;
  return *own;
}

std::vector<uint32_t> Machine::order(uint32_t count) {
  std::vector<uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  if (schedule == Schedule::Descending)
    std::reverse(numbers.begin(), numbers.end());
  if (schedule == Schedule::Shuffled)
    std::shuffle(numbers.begin(), numbers.end(), random);
  return numbers;
}

void Machine::blame(const std::string &what) {
  if (failure.empty())
    failure = fmt::format("thread {} of block {} {}", current, block, what);
}

std::string Machine::run(const Grid &given, bool waits,
                         const std::function<void()> &body) {
  grid = given;
  kernel = &body;
  failure.clear();
  random.seed(seed);
  memory.beginLaunch();
  registers.ntid = grid.threads;
  registers.nctaid = grid.blocks;
  for (uint32_t block : order(grid.blocks)) {
    runBlock(block, waits);
    if (!failure.empty())
      break;
  }
  return failure;
}

void Machine::runBlock(uint32_t number, bool waits) {
  block = number;
  registers.ctaid = fault == Fault::Blocks ? 0 : number;
  memory.beginBlock();
  if (waits)
    return runFibers();
  // Nobody waits: one after the other, on this stack.
  isFiber = false;
  if (setjmp(end) != 0)
    return;
  for (uint32_t thread : order(grid.threads)) {
    registers.tid = current = thread;
    alone = {.block = block, .thread = thread};
    char here;
    memory.setStack(&here - (size_t(1) << 20), &here + (size_t(1) << 12));
    (*kernel)();
    if (!failure.empty())
      return;
  }
}

void Machine::enter() {
  Machine &own = machine();
  (*own.kernel)();
  own.fibers[own.current].state = State::Done;
  // The context that it goes on in is home.
}

void Machine::runFibers() {
  constexpr size_t stackBytes = size_t(1) << 16;
  isFiber = true;
  if (fibers.size() < grid.threads)
    fibers.resize(grid.threads);
  for (uint32_t thread = 0; thread < grid.threads; ++thread) {
    Fiber &fiber = fibers[thread];
    fiber.stack.resize(stackBytes);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.data();
    fiber.context.uc_stack.ss_size = stackBytes;
    fiber.context.uc_link = &home;
    makecontext(&fiber.context, &Machine::enter, 0);
    fiber.state = State::Ready;
    fiber.access = {.block = block, .thread = thread};
    fiber.numExchanges = 0;
  }
  bool isDone = false;
  while (!isDone && failure.empty()) {
    isDone = true;
    bool hasRun = false;
    for (uint32_t thread : order(grid.threads)) {
      Fiber &fiber = fibers[thread];
      isDone &= fiber.state == State::Done;
      if (fiber.state != State::Ready && !release(thread))
        continue;
      hasRun = true;
      isDone = false;
      registers.tid = current = thread;
      memory.setStack(fiber.stack.data(),
                      fiber.stack.data() + fiber.stack.size());
      swapcontext(&home, &fiber.context);
      if (!failure.empty())
        return;
    }
    if (!isDone && !hasRun)
      blame("waits for threads that never come");
  }
}

/// Whether those that a waiting thread waits for are there; they go on.
bool Machine::release(uint32_t number) {
  Fiber &fiber = fibers[number];
  if (fiber.state == State::AtBlock) {
    for (uint32_t other = 0; other < grid.threads; ++other)
      if (fibers[other].state != State::AtBlock)
        return false;
    for (uint32_t other = 0; other < grid.threads; ++other) {
      fibers[other].state = State::Ready;
      ++fibers[other].access.blockWaits;
    }
    return true;
  }
  uint32_t first = number / 32 * 32;
  if (fiber.state == State::AtWarp) {
    for (uint32_t other = first; other < first + 32; ++other)
      if (other >= grid.threads || fibers[other].state != State::AtWarp)
        return false;
    for (uint32_t other = first; other < first + 32; ++other)
      fibers[other].state = State::Ready;
    return true;
  }
  if (fiber.state != State::AtGroup)
    return false;
  auto forGroup = [&](auto body) {
    for (uint32_t lane = 0; lane < 32; ++lane)
      if (fiber.mask >> lane & 1)
        if (!body(first + lane))
          return false;
    return true;
  };
  uint32_t mask = fiber.mask;
  if (!forGroup([&](uint32_t other) {
        return other < grid.threads && fibers[other].state == State::AtGroup &&
               fibers[other].mask == mask;
      }))
    return false;
  return forGroup([&](uint32_t other) {
    fibers[other].state = State::Ready;
    ++fibers[other].access.groupWaits;
    return true;
  });
}

void Machine::stopAt(State state) {
  Fiber &fiber = fibers[current];
  fiber.state = state;
  swapcontext(&fiber.context, &home);
}

void Machine::waitForBlock() {
  if (fault != Fault::Barriers)
    stopAt(State::AtBlock);
}

void Machine::waitForGroup(uint32_t mask) {
  if (!(mask >> current % 32 & 1))
    blame("waits for a group that it is not in");
  fibers[current].mask = mask;
  stopAt(State::AtGroup);
}

uint32_t Machine::shuffle(uint32_t mask, uint32_t value, uint32_t source) {
  Fiber &fiber = fibers[current];
  unsigned turn = fiber.access.groupWaits % 2;
  fiber.given[turn] = value;
  uint32_t first = warpFirst();
  waitForGroup(mask);
  // What a thread outside of the mask has is not known.
  return mask >> source & 1 ? fibers[first + source].given[turn] : 0xDEADBEEF;
}

Machine::Exchange Machine::exchange(const Fragment &own) {
  Fiber &fiber = fibers[current];
  Exchange result;
  result.machine = this;
  result.first = warpFirst();
  result.turn = fiber.numExchanges++ % 2;
  fiber.fragments[result.turn] = own;
  stopAt(State::AtWarp);
  return result;
}

const Fragment &Machine::Exchange::of(uint32_t lane) const {
  return machine->fibers[first + lane].fragments[turn];
}

void Machine::touch(const char *address, size_t bytes, bool writes) {
  const Access &access = isFiber ? fibers[current].access : alone;
  std::string wrong = memory.access(address, bytes, writes, access);
  if (!wrong.empty())
    fail(wrong);
}

void Machine::fail(const std::string &what) {
  blame(what);
  // What is not there cannot be touched: the thread ends here.
  if (isFiber)
    stopAt(State::Done);
  else
    std::longjmp(end, 1);
}

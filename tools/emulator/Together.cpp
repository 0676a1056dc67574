//===- Together.cpp - blocks that run at the same time --------------------===//
//
// Blocks of a cooperative launch may wait for each other, by numbers in memory
// that they read again and again. A block runs until all of its threads wait,
// or read such a number; then the next one does. The memory on the chip is that
// of the block that runs.
//
//===----------------------------------------------------------------------===//

#include "tools/emulator/Block.h"

#include <utility>

using namespace fovea::emulator;

/// The fibers and the memory of a block come, or go.
void Machine::exchangeBlock(Resident &resident) {
  std::swap(fibers, resident.fibers);
  std::swap(async, resident.async);
  memory.exchangeBlock(resident.memory);
}

std::string Machine::runTogether(const Grid &given,
                                 const std::function<void()> &body) {
  beginGrid(given, body);
  memory.ordering.begin(given.blocks);
  residents.resize(given.blocks);
  auto enterBlock = [&](uint32_t number) {
    block = number;
    registers.ctaid = fault == Fault::Blocks ? 0 : number;
  };
  for (uint32_t number = 0; number < given.blocks; ++number) {
    enterBlock(number);
    exchangeBlock(residents[number]);
    memory.beginBlock();
    async = Async();
    beginFibers();
    residents[number].isDone = false;
    exchangeBlock(residents[number]);
  }
  bool isDone = false, hasRun = true;
  while (!isDone && hasRun && failure.empty()) {
    isDone = true;
    hasRun = false;
    for (uint32_t number : order(given.blocks)) {
      Resident &resident = residents[number];
      if (resident.isDone)
        continue;
      enterBlock(number);
      exchangeBlock(resident);
      uint64_t writes = atomicWrites;
      for (Fiber &fiber : fibers)
        if (fiber.state == State::AtNumber)
          fiber.state = State::Asks;
      hasRun |= runFibers() || writes != atomicWrites;
      resident.isDone = areDone();
      isDone &= resident.isDone;
      exchangeBlock(resident);
      if (!failure.empty())
        break;
    }
  }
  if (!isDone && failure.empty())
    blame("waits for blocks that never come");
  memory.ordering.begin(0);
  return failure;
}

uint32_t Machine::readNumber(const uint32_t *address, bool acquires) {
  // It is not what it was.
  if (acquires && fault == Fault::Grids)
    return *address + 1;
  // Others may write it first.
  if (isFiber)
    stopAt(State::AtNumber);
  memory.ordering.read(block, address, acquires);
  return *address;
}

void Machine::writeNumber(uint32_t *address, uint32_t value, bool releases) {
  memory.ordering.write(block, address, releases, /*joins=*/false);
  ++atomicWrites;
  *address = value;
}

/// NVPTX makes one without an order of it, whatever the order is.
uint32_t Machine::addNumber(uint32_t *address, uint32_t value) {
  memory.ordering.read(block, address, /*acquires=*/false);
  memory.ordering.write(block, address, /*releases=*/false, /*joins=*/true);
  ++atomicWrites;
  return std::exchange(*address, *address + value);
}

void Machine::fence() {
  if (fault != Fault::Fences)
    memory.ordering.fence(block);
}

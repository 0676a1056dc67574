//===- Together.cpp - blocks that run at the same time --------------------===//
//
// Blocks of a cooperative launch wait for each other by polling words in
// memory. Blocks of a cluster wait by barriers in their shared memory, to which
// others also copy. A block runs until all of its threads wait, or poll such a
// word; then the next one runs. Shared memory belongs to the running block.
//
//===----------------------------------------------------------------------===//

#include "tools/emulator/Block.h"

#include <utility>

using namespace fovea::emulator;

/// Saves or restores a block's fibers and memory.
void Machine::exchangeBlock(Resident &resident) {
  std::swap(fibers, resident.fibers);
  std::swap(async, resident.async);
  memory.exchangeBlock(resident.memory);
}

std::string Machine::runTogether(const Grid &given,
                                 const std::function<void()> &body) {
  beginGrid(given, body);
  memory.ordering.begin(given.blocks);
  runBlocks(0, given.blocks);
  memory.ordering.begin(0);
  return failure;
}

std::string Machine::runClusters(const Grid &given,
                                 const std::function<void()> &body) {
  beginGrid(given, body);
  for (uint32_t number : order(given.blocks / given.cluster)) {
    runBlocks(number * given.cluster, given.cluster);
    if (!failure.empty())
      break;
  }
  return failure;
}

/// Concurrent blocks, from `first` on.
void Machine::runBlocks(uint32_t first, uint32_t count) {
  residents.resize(count);
  clusterArrivals = clusterTurns = 0;
  for (uint32_t number = 0; number < count; ++number) {
    enterBlock(first + number);
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
    for (uint32_t number : order(count)) {
      Resident &resident = residents[number];
      if (resident.isDone)
        continue;
      enterBlock(first + number);
      exchangeBlock(resident);
      uint64_t writes = atomicWrites;
      for (Fiber &fiber : fibers)
        if (fiber.state == State::AtNumber)
          fiber.state = State::Asks;
      hasRun |= runFibers() || writes != atomicWrites;
      resident.isDone = areDone();
      if (resident.isDone)
        checkEnd();
      isDone &= resident.isDone;
      exchangeBlock(resident);
      if (!failure.empty())
        break;
    }
  }
  if (!isDone && failure.empty())
    blame("waits for blocks that never come");
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

Async &Machine::asyncOf(uint32_t rank) {
  return rank == registers.ctarank ? async : residents[rank].async;
}
std::vector<Machine::Fiber> &Machine::fibersOf(uint32_t rank) {
  return rank == registers.ctarank ? fibers : residents[rank].fibers;
}
char *Machine::placeIn(uint32_t rank, char *address) {
  return rank == registers.ctarank
             ? address
             : residents[rank].memory.data() + memory.offsetInBlock(address);
}

void Machine::arriveAtCluster() {
  if (++clusterArrivals < grid.threads * grid.cluster)
    return;
  clusterArrivals = 0;
  ++clusterTurns;
}

/// The first of a kernel is the one at its start, the others are those at its
/// end.
void Machine::waitForCluster() {
  Fiber &fiber = fibers[current];
  Fault missing = fiber.clusterWaits == 0 ? Fault::Begins : Fault::Ends;
  if (fault != missing)
    stopAt(State::AtCluster);
  ++fiber.clusterWaits;
}

//===----------------------------------------------------------------------===//
// Numbers in memory
//===----------------------------------------------------------------------===//

uint32_t Machine::readNumber(const uint32_t *address, bool acquires) {
  // The word has changed.
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

/// NVPTX compiles it to an unordered access, whatever the order is.
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

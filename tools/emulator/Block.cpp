//===- Block.cpp - the threads of a grid, one after the other -------------===//

#include "tools/emulator/Block.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <numeric>
#include <sanitizer/asan_interface.h>
#include <span>

using namespace fovea::emulator;
using namespace boost::context::detail;

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

void Machine::beginGrid(const Grid &given, const std::function<void()> &body) {
  grid = given;
  kernel = &body;
  failure.clear();
  random.seed(seed);
  memory.beginLaunch();
  registers.ntid = grid.threads;
  registers.nctaid = grid.blocks;
  registers.nctarank = grid.cluster;
}

std::string Machine::run(const Grid &given, bool waits,
                         const std::function<void()> &body) {
  beginGrid(given, body);
  for (uint32_t block : order(grid.blocks)) {
    runBlock(block, waits);
    if (!failure.empty())
      break;
  }
  return failure;
}

void Machine::enterBlock(uint32_t number) {
  block = number;
  registers.ctaid = fault == Fault::Blocks ? 0 : number;
  registers.ctarank = number % grid.cluster;
}

void Machine::runBlock(uint32_t number, bool waits) {
  enterBlock(number);
  memory.beginBlock();
  async = Async();
  clusterArrivals = clusterTurns = 0;
  if (waits) {
    beginFibers();
    runFibers();
    checkEnd();
    return;
  }
  // Without waiting threads: run sequentially, on this stack.
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

void Machine::enter(transfer_t from) {
  Machine &own = machine();
  own.home = from.fctx;
  (*own.kernel)();
  Fiber &fiber = own.fibers[own.current];
  if (fiber.product.isOnItsWay())
    own.blame("ends while products are on their way");
  if (fiber.copies.areOnTheirWay())
    own.blame("ends while copies are on their way");
  own.stopAt(State::Done);
}

void Machine::beginFibers() {
  constexpr size_t stackBytes = size_t(1) << 16;
  isFiber = true;
  if (fibers.size() < grid.threads)
    fibers.resize(grid.threads);
  for (uint32_t thread = 0; thread < grid.threads; ++thread) {
    Fiber &fiber = fibers[thread];
    fiber.stack.resize(stackBytes);
    // The memory that the last thread keeps has no owner.
    ASAN_UNPOISON_MEMORY_REGION(fiber.stack.data(), stackBytes);
    fiber.context = make_fcontext(fiber.stack.data() + stackBytes, stackBytes,
                                  &Machine::enter);
    fiber.state = State::Ready;
    fiber.access = {.block = block, .thread = thread};
    fiber.numExchanges = fiber.clusterWaits = 0;
    fiber.product = GroupProduct();
    fiber.copies = CopiesOfThread();
  }
}

bool Machine::areDone() const {
  return std::all_of(
      fibers.begin(), fibers.begin() + grid.threads,
      [](const Fiber &fiber) { return fiber.state == State::Done; });
}

/// Runs until all are done, or wait for other blocks. Returns whether any made
/// progress.
bool Machine::runFibers() {
  bool hasGoneOn = false;
  while (!areDone()) {
    bool hasRun = false, asks = false;
    for (uint32_t thread : order(grid.threads)) {
      Fiber &fiber = fibers[thread];
      bool hasAsked = fiber.state == State::Asks;
      if (fiber.state != State::Ready && !hasAsked && !release(thread)) {
        asks |= fiber.state == State::AtNumber;
        continue;
      }
      hasRun = true;
      registers.tid = current = thread;
      memory.setStack(fiber.stack.data(),
                      fiber.stack.data() + fiber.stack.size());
      fiber.context = jump_fcontext(fiber.context, nullptr).fctx;
      hasGoneOn |= !hasAsked || fiber.state != State::AtNumber;
      if (!failure.empty())
        return hasGoneOn;
    }
    bool hasCome = (!hasRun || schedule == Schedule::Shuffled) && !areDone() &&
                   finishSomeCopy();
    hasGoneOn |= hasCome;
    if (!hasRun && !asks && !hasCome && grid.cluster == 1)
      blame("waits for threads that never come");
    if (!hasRun && !hasCome)
      break;
    // Others of the cluster may be ahead.
    if (grid.cluster > 1 && schedule == Schedule::Shuffled && random() % 4 == 0)
      break;
  }
  return hasGoneOn;
}

/// Resumes `count` threads if all are at `state`, and returns whether they are.
bool Machine::releaseAll(State state, uint32_t first, uint32_t count) {
  if (first + count > grid.threads)
    return false;
  auto all = std::span(fibers).subspan(first, count);
  if (!std::ranges::all_of(
          all, [&](State each) { return each == state; }, &Fiber::state))
    return false;
  for (Fiber &each : all) {
    each.state = State::Ready;
    // A warp's threads do not wait for others of the block.
    each.access.blockWaits += state != State::AtWarp;
  }
  return true;
}

/// Resumes the threads that a waiting thread waits for, if all have arrived.
bool Machine::release(uint32_t number) {
  Fiber &fiber = fibers[number];
  if (fiber.state == State::AtBlock) {
    if (!releaseAll(State::AtBlock, 0, grid.threads))
      return false;
    memory.ordering.waited(block);
    return true;
  }
  if (fiber.state == State::AtThreads)
    return releaseAll(State::AtThreads, 0, fiber.count);
  uint32_t first = number / 32 * 32;
  if (fiber.state == State::AtWarp)
    return releaseAll(State::AtWarp, first, 32);
  if (fiber.state == State::AtPhase) {
    if (!barrierAt(fiber.barrier).hasEnded(fiber.parity))
      return false;
    fiber.state = State::Ready;
    return true;
  }
  if (fiber.state == State::AtCluster) {
    if (fiber.clusterWaits == clusterTurns)
      return false;
    fiber.state = State::Ready;
    ++fiber.access.blockWaits;
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
  home = jump_fcontext(home, nullptr).fctx;
}

void Machine::waitForBlock() {
  if (fault != Fault::Barriers)
    stopAt(State::AtBlock);
}

/// Earlier accesses of others count as seen from here
/// on.
void Machine::waitForThreads(uint32_t count) {
  if (fault == Fault::Barriers)
    return;
  fibers[current].count = count;
  stopAt(State::AtThreads);
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
  // The value of a thread outside the mask is undefined.
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
  Access access = isFiber ? fibers[current].access : alone;
  access.time = memory.ordering.now();
  std::string wrong = memory.access(address, bytes, writes, access);
  if (!wrong.empty())
    fail(wrong);
}

void Machine::fail(const std::string &what) {
  blame(what);
  // Memory that does not exist cannot be accessed: the thread ends here.
  if (isFiber)
    stopAt(State::Done);
  else
    std::longjmp(end, 1);
}

//===----------------------------------------------------------------------===//
// What is on its way
//===----------------------------------------------------------------------===//

/// Whether the operation completes now, if it may complete now or later.
bool Machine::isEager() {
  return schedule == Schedule::Ascending ||
         (schedule == Schedule::Shuffled && random() % 2 == 0);
}

Barrier &Machine::barrierAt(const char *address, uint32_t rank) {
  if (rank >= grid.cluster)
    fail("has to do with a block that its cluster does not have");
  if (rank != registers.ctarank && residents[rank].isDone)
    fail("has to do with a barrier of a block that has ended");
  auto &barriers = asyncOf(rank).barriers;
  auto found = barriers.find(address);
  if (found == barriers.end())
    fail("has to do with a barrier that has not begun");
  return found->second;
}

void Machine::beginBarrier(const char *address, uint32_t arrivals) {
  touch(address, sizeof(int64_t), true);
  Barrier barrier;
  barrier.arrivals = barrier.missing = arrivals;
  barrier.thread = current;
  async.barriers[address] = barrier;
}

void Machine::showBarriers() {
  for (auto &[address, barrier] : async.barriers)
    if (barrier.thread == current && fault != Fault::Proxies)
      barrier.isShown = true;
}

void Machine::expect(const char *barrier, int64_t bytes) {
  barrierAt(barrier).arrive(fault == Fault::Bytes ? 0 : bytes);
}

void Machine::arrive(const char *barrier, uint32_t rank) {
  barrierAt(barrier, fault == Fault::Peers ? registers.ctarank : rank)
      .arrive(/*expected=*/0);
}

void Machine::waitForPhase(const char *barrier, uint32_t parity) {
  if (barrierAt(barrier).hasEnded(parity) || fault == Fault::Copies)
    return;
  fibers[current].barrier = barrier;
  fibers[current].parity = parity;
  stopAt(State::AtPhase);
}

void Machine::copy(Copy copy, uint32_t blocks) {
  constexpr uintptr_t grain = 16;
  if ((reinterpret_cast<uintptr_t>(copy.from) |
       reinterpret_cast<uintptr_t>(copy.to) | copy.bytes) %
          grain !=
      0)
    fail("copies what 16 bytes do not divide");
  if (!memory.holds(copy.to, copy.bytes))
    fail("copies to where no memory of the block is");
  touch(copy.from, copy.bytes, false);
  for (copy.rank = 0; blocks >> copy.rank != 0; ++copy.rank) {
    if (!(blocks >> copy.rank & 1))
      continue;
    if (!barrierAt(copy.barrier, copy.rank).isShown)
      fail("copies to a barrier that copies do not see yet");
    for (const Fiber &fiber : fibersOf(copy.rank))
      if (fiber.product.reads(copy.to, copy.bytes))
        fail("copies over what a product on its way reads");
    if (isCopiedTo(copy.rank, copy.to, copy.bytes))
      fail("copies over what another copy brings");
    // Until it completes, its target holds no numbers.
    std::memset(placeIn(copy.rank, copy.to), 0xFF, copy.bytes);
    async.copies.push_back(copy);
    if (isEager())
      finishCopy(async.copies.size() - 1);
  }
}

bool Machine::isCopiedTo(uint32_t rank, const char *address, size_t bytes) {
  for (uint32_t from = 0; from < grid.cluster; ++from)
    for (const Copy &copy : asyncOf(from).copies)
      if (copy.rank == rank && copy.overlaps(address, bytes))
        return true;
  return false;
}

static constexpr size_t bytesOfPiece = 16;

void Machine::beginCopy(const CopiesOfThread::Piece &piece) {
  touch(piece.from, bytesOfPiece, false);
  touch(piece.to, bytesOfPiece, true);
  std::memset(piece.to, 0xFF, bytesOfPiece);
  fibers[current].copies.begin(piece);
  if (isEager())
    std::memcpy(piece.to, piece.from, bytesOfPiece);
}

void Machine::waitForCopies(uint64_t allBut) {
  if (fault == Fault::Copies)
    return;
  for (const CopiesOfThread::Piece &piece :
       fibers[current].copies.wait(allBut)) {
    touch(piece.to, bytesOfPiece, true);
    std::memcpy(piece.to, piece.from, bytesOfPiece);
  }
}

void Machine::finishCopy(size_t number) {
  Copy copy = async.copies[number];
  async.copies.erase(async.copies.begin() + static_cast<ptrdiff_t>(number));
  if (copy.rank != registers.ctarank && residents[copy.rank].isDone)
    return blame("copies to a block that has ended");
  std::memcpy(placeIn(copy.rank, copy.to), copy.from, copy.bytes);
  barrierAt(copy.barrier, copy.rank).come(static_cast<int64_t>(copy.bytes));
}

/// One that has not come yet; there may be none.
bool Machine::finishSomeCopy() {
  size_t count = async.copies.size();
  if (count != 0)
    finishCopy(schedule == Schedule::Shuffled ? random() % count : count - 1);
  return count != 0;
}

/// A block has ended: no pending copy may go to it.
void Machine::checkEnd() {
  if (!failure.empty())
    return;
  if (!async.copies.empty())
    blame("ends while copies are on their way");
  for (const auto &[address, barrier] : async.barriers)
    if (barrier.bytes != 0)
      blame("ends while a barrier has other bytes than it expects");
}

/// A side as described to wgmma, with so many rows, or columns if rows are
/// terms.
GroupSide Machine::sideOf(uint64_t description, size_t rows, bool isTurned) {
  constexpr uint64_t field = 0x3FFF;
  constexpr uint64_t layout = uint64_t(1) << 62 | uint64_t(64) << 32;
  uint64_t next = description >> 16 & field;
  if (!sharedMemory || (description & ~(field | field << 16)) != layout ||
      (!isTurned && next != 1))
    fail("multiplies a side that is not in rows of 128 bytes, swizzled");
  GroupSide side{sharedMemory + (description & field) * 16, isTurned,
                 next * 16};
  for (auto [first, bytes] : side.parts(rows)) {
    if (!memory.holds(first, bytes))
      fail("multiplies what is not in the memory of the block");
    if (isCopiedTo(registers.ctarank, first, bytes))
      fail("multiplies what has not come yet");
  }
  return side;
}

static float ofHalf(uint32_t half) { return std::bit_cast<float>(half << 16); }

void Machine::multiplyGroup(float *result, const float *sums, uint32_t count,
                            std::optional<GroupWords> words, uint64_t left,
                            uint64_t right, uint32_t turned) {
  GroupProduct::Piece piece;
  if (words) {
    Fragment own;
    std::copy(words->begin(), words->end(), own.words);
    Exchange all = exchange(own);
    // Of the four threads that have a row each has two terms of each eight.
    for (uint32_t term = 0; term < 16; ++term)
      for (uint32_t below = 0; below < 2; ++below) {
        uint32_t word =
            all.of(lane() / 4 * 4 + term % 8 / 2).words[term / 8 * 2 + below];
        piece.left[below][term] =
            ofHalf(term % 2 == 0 ? word & 0xFFFF : word >> 16);
      }
  } else {
    piece.leftSide = sideOf(left, 64, (turned & 2) != 0);
  }
  piece.right = sideOf(right, size_t(2) * count, (turned & 1) != 0);
  std::string wrong = groupProduct().multiply(piece, current % 128, sums, count,
                                              isEager(), result);
  if (!wrong.empty())
    fail(wrong);
}

void Machine::finishGroup(float *result, const float *sums, uint32_t count) {
  if (fault == Fault::Products) {
    std::memcpy(result, sums, count * sizeof(float));
    return;
  }
  std::string wrong = groupProduct().finish(sums, count, result);
  if (!wrong.empty())
    fail(wrong);
  // It is an instruction of all threads of a warp.
  exchange({});
}

//===- Tables.cpp - what a frame says of the rows of a batch --------------===//

#include "runtime/memory/Tables.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace fovea::runtime;

static int64_t floorDivide(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/// On overflow, saturates in both directions.
static int64_t outermost(bool isNegative) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  return isNegative ? -most : most;
}

static int64_t plus(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? outermost(a < 0) : sum;
}

static int64_t times(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? outermost((a < 0) != (b < 0))
                                                : product;
}

int64_t fovea::runtime::evaluate(const std::vector<Program::Term> &formula,
                                 const std::vector<int64_t> &lengths) {
  using Term = Program::Term;
  std::vector<int64_t> stack;
  for (const Term &term : formula) {
    if (term.kind == Term::Number || term.kind == Term::Length) {
      stack.push_back(term.kind == Term::Number ? term.value
                                                : lengths[term.value]);
      continue;
    }
    int64_t b = stack.back();
    stack.pop_back();
    int64_t &a = stack.back();
    if (term.kind == Term::Add)
      a = plus(a, b);
    else if (term.kind == Term::Multiply)
      a = times(a, b);
    else if (term.kind == Term::FloorDivide)
      a = floorDivide(a, b);
    else if (term.kind == Term::CeilDivide)
      a = -floorDivide(-a, b);
    else
      a -= floorDivide(a, b) * b;
  }
  return std::max<int64_t>(0, stack.back());
}

int64_t Tables::placesOf(const Program::Layout &layout, int64_t row) const {
  int64_t count = 1;
  for (int length : layout.lengths)
    count = times(count, lengths[length].extents[row]);
  return count;
}

void Tables::computeOrders(const Program &program) {
  ranks.resize(program.orders.size());
  active.resize(program.orders.size());
  for (size_t number = 0; number < program.orders.size(); ++number) {
    const Length &length = lengths[program.orders[number].length];
    std::vector<int64_t> &order = ranks[number];
    order.resize(length.extents.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      int64_t left = length.extents[a], right = length.extents[b];
      return left != right ? left > right : a < b;
    });
    active[number].assign(length.maximum, 0);
    for (int64_t extent : length.extents)
      for (int64_t step = 0; step < extent; ++step)
        ++active[number][step];
  }
}

/// A table begins at a cache line.
static int64_t bytesOfTable(const std::vector<int64_t> &table) {
  constexpr int64_t line = 64, bytes = sizeof(int64_t);
  return (static_cast<int64_t>(table.size()) * bytes + line - 1) / line * line;
}

int64_t Tables::bytes() const {
  int64_t bytes = bytesOfTable(ids);
  for (const Length &length : lengths)
    bytes += bytesOfTable(length.extents) + bytesOfTable(length.values);
  for (const auto *tables : {&offsets, &ranks, &active})
    for (const auto &table : *tables)
      bytes += bytesOfTable(table);
  return bytes;
}

void Tables::enter(const Program &program, std::vector<int64_t> &slots,
                   std::byte *host, std::byte *device) const {
  if (program.hostSlot != 0)
    slots[program.hostSlot] = host - device;
  int64_t begin = 0;
  auto addressOf = [&](const std::vector<int64_t> &table) {
    if (!host)
      return reinterpret_cast<int64_t>(table.data());
    std::copy(table.begin(), table.end(),
              reinterpret_cast<int64_t *>(host + begin));
    auto address = reinterpret_cast<int64_t>(device + begin);
    begin += bytesOfTable(table);
    return address;
  };
  slots[Program::examplesSlot] = addressOf(ids);
  for (size_t number = 0; number < lengths.size(); ++number) {
    const Program::Length &length = program.lengths[number];
    slots[length.slot] = addressOf(lengths[number].extents);
    slots[length.maximumSlot] = lengths[number].maximum;
    if (length.valuesSlot != 0)
      slots[length.valuesSlot] = addressOf(lengths[number].values);
  }
  for (size_t number = 1; number < offsets.size(); ++number)
    slots[program.layouts[number].slot] = addressOf(offsets[number]);
  for (size_t number = 0; number < ranks.size(); ++number) {
    slots[program.orders[number].orderSlot] = addressOf(ranks[number]);
    slots[program.orders[number].activeSlot] = addressOf(active[number]);
  }
}

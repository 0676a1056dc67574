//===- Memory.cpp - the elements of memories, and who uses them -----------===//

#include "dialect/launch-reference/Memory.h"

#include <fmt/format.h>

using namespace mlir;
using namespace fovea;
using namespace fovea::launch;

/// Of a stamp: several units have read the element.
static constexpr int64_t several = -2;

std::string launch::elementText(const Site &site, int64_t at) {
  if (!site.memory)
    return fmt::format("element {} of the workspace", at);
  std::string text = fmt::format("element {} of '{}'", at, site.memory->name());
  if (site.memory->scope() == Scope::each)
    text += fmt::format(" of example {}", site.example);
  return text;
}

void Accesses::begin(RunOp run, Phase phase) {
  now = Stamp();
  now.launch = numLaunches();
  launches.push_back({run, phase});
  written.clear();
  changes.clear();
}

/// Whether the present access comes after an earlier launch of the same phase:
/// a block does its own turns in order.
bool Accesses::isAfter(const Stamp &earlier) const {
  if (earlier.launch < 0 || earlier.launch == now.launch)
    return true;
  const Phase &own = launches[now.launch].phase,
              &other = launches[earlier.launch].phase;
  if (own.number < 0 || own.number != other.number)
    return true;
  return own.byExample && other.byExample && other.turn < own.turn &&
         earlier.unit == now.unit;
}

Status Accesses::conflict(const Site &site, int64_t at, const char *what,
                          const Stamp &other) const {
  const char *whose =
      other.launch != now.launch
          ? "another launch of the same phase"
          : (other.unit != now.unit ? "another unit of the launch"
                                    : "another element of the equation");
  return Status::error(
      fmt::format("{} {}, which {}", what, elementText(site, at), whose));
}

/// Whether two accesses of one launch may happen in any order.
static bool isUnordered(const Stamp &a, const Stamp &b) {
  if (a.launch != b.launch)
    return false;
  return a.unit != b.unit || (a.member == b.member && a.element != b.element);
}

Status Accesses::checkRead(const Site &site, int64_t at) {
  Cells &cells = *site.cells;
  cells.writers.resize(cells.size());
  cells.readers.resize(cells.size());
  const Stamp &writer = cells.writers[at];
  if (isUnordered(writer, now) || !isAfter(writer)) {
    Status status = conflict(site, at, "reads", writer);
    return Status::error(status.getMessage() + " writes");
  }
  Stamp &reader = cells.readers[at];
  bool isOther = reader.launch == now.launch && reader.unit != now.unit;
  reader = now;
  if (isOther)
    reader.unit = several;
  return Status::success();
}

static Status usedLate(const MemoryState &memory) {
  return Status::error(
      fmt::format("uses '{}' after its live range", memory.name()));
}

Accesses::State Accesses::read(const Site &site, int64_t offset,
                               reference::Traced &number, Status &error) {
  auto fail = [&](std::string text) {
    error = Status::error(std::move(text));
    return State::Failed;
  };
  if (!site.problem.empty())
    return fail(site.problem);
  int64_t at = site.base + offset;
  if (at < 0 || at >= site.cells->size())
    return fail(fmt::format("reads {}, which has {} elements",
                            elementText(site, at), site.cells->size()));
  if (MemoryState *memory = site.memory) {
    if (!memory->isAlive) {
      error = usedLate(*memory);
      return State::Failed;
    }
    if (memory->use == MemoryState::None)
      return fail(
          fmt::format("reads '{}', which it does not name", memory->name()));
    bool isTracked =
        memory->use != MemoryState::Read || launches.back().phase.number >= 0;
    if (isTracked && MemoryOp(memory->op).getOrigin() != Origin::given) {
      error = checkRead(site, at);
      if (error.failed())
        return State::Failed;
      // What a launch writes as a whole is undefined before, and so is what it
      // has for itself.
      if ((memory->use == MemoryState::Write ||
           memory->use == MemoryState::Scratch) &&
          site.cells->writers[at].launch != now.launch)
        return State::Undefined;
    }
  }
  number = site.cells->at(at);
  return site.cells->defined[at] ? State::Defined : State::Undefined;
}

Status Accesses::checkWrite(const Site &site, int64_t at) {
  Cells &cells = *site.cells;
  cells.writers.resize(cells.size());
  cells.readers.resize(cells.size());
  Stamp &writer = cells.writers[at], &reader = cells.readers[at];
  if (writer.launch == now.launch && writer.unit == now.unit &&
      writer.member == now.member && writer.element == now.element)
    return Status::error(fmt::format("writes {} twice", elementText(site, at)));
  if (isUnordered(writer, now) || !isAfter(writer)) {
    Status status = conflict(site, at, "writes", writer);
    return Status::error(status.getMessage() + " writes, too");
  }
  if (isUnordered(reader, now) || !isAfter(reader)) {
    Status status = conflict(site, at, "writes", reader);
    return Status::error(status.getMessage() + " reads");
  }
  bool isFirst = writer.launch != now.launch;
  writer = now;
  if (isFirst) {
    ++written[&cells];
    changes.push_back({site.memory, site.example, at});
  }
  return Status::success();
}

Status Accesses::write(const Site &site, int64_t offset,
                       reference::Traced number, bool isDefined) {
  if (!site.problem.empty())
    return Status::error(site.problem);
  int64_t at = site.base + offset;
  if (at < 0 || at >= site.cells->size())
    return Status::error(fmt::format("writes {}, which has {} elements",
                                     elementText(site, at),
                                     site.cells->size()));
  if (MemoryState *memory = site.memory) {
    if (!memory->isAlive)
      return usedLate(*memory);
    if (memory->use == MemoryState::None || memory->use == MemoryState::Read)
      return Status::error(
          fmt::format("writes '{}', which is not among the memories that it "
                      "writes",
                      memory->name()));
    if (Status status = checkWrite(site, at); status.failed())
      return status;
  }
  site.cells->set(at, number);
  site.cells->defined[at] = isDefined;
  return Status::success();
}

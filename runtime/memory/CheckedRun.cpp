//===- CheckedRun.cpp - checks the accesses of compiled code --------------===//

#include "runtime/memory/CheckedRun.h"
#include "runtime/memory/Placement.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <span>

using namespace fovea::runtime;
using Role = Program::Role;
using Layout = Program::Layout;

/// Where accesses go that failed: more than the widest vector.
alignas(64) static thread_local std::byte nowhere[4096];
static thread_local CheckedRun *present = nullptr;

Status Checks::take() {
  if (message.empty())
    return Status::success();
  return Status::error(std::exchange(message, {}));
}

//===----------------------------------------------------------------------===//
// The memories of a program
//===----------------------------------------------------------------------===//

CheckedRun::CheckedRun(Checks &checks, const Program &program, void *frame,
                       bool prepares)
    : checks(checks), program(program), frame(static_cast<int64_t *>(frame)),
      regionOfSlot(program.numSlots, -1), outer(present) {
  Region &slots = regions.emplace_back();
  slots.name = "the frame";
  slots.begin = static_cast<std::byte *>(frame);
  slots.bytes = program.numSlots * int64_t(sizeof(int64_t));
  addTables();
  std::vector<int64_t> values(this->frame, this->frame + program.numSlots);
  for (const Program::Array &array : program.arrays) {
    // An output of a decoder's program is an array that others read, too.
    if (regionOfSlot[array.slot] >= 0)
      continue;
    // Bytes that overflow, or memory that does not exist, have no accesses.
    int64_t bytes = !array.part.empty()
                        ? bytesOfParts(array, values)
                        : bytesAt(array, placesOf(array.layout));
    if (bytes <= 0 || values[array.slot] == 0)
      continue;
    regionOfSlot[array.slot] = int(regions.size());
    Region &region = regions.emplace_back();
    region.name = array.name.starts_with(checkedPrefix)
                      ? array.name.substr(checkedPrefix.size())
                      : array.name;
    region.array = &array;
    region.begin = reinterpret_cast<std::byte *>(values[array.slot]);
    region.bytes = bytes;
    bool isMade = array.role == Role::Temporary || array.role == Role::Output ||
                  (array.role == Role::Packed && prepares);
    if (isMade)
      region.written.assign(bytes, 0);
    markPadding(region);
  }
  enterStep(0);
  present = this;
}

CheckedRun::~CheckedRun() { present = outer; }

CheckedRun *CheckedRun::current() { return present; }

void CheckedRun::add(std::string name, int slot, int64_t count) {
  if (slot == 0 || frame[slot] == 0 || count <= 0)
    return;
  regionOfSlot[slot] = int(regions.size());
  Region &region = regions.emplace_back();
  region.name = std::move(name);
  region.begin = reinterpret_cast<std::byte *>(frame[slot]);
  region.bytes = count * int64_t(sizeof(int64_t));
}

/// The tables that runtime/Program.h describes.
void CheckedRun::addTables() {
  int64_t batch = frame[Program::batchSlot];
  add("the numbers of examples", Program::examplesSlot, batch);
  for (const Program::Length &length : program.lengths) {
    add("the extents of " + length.name, length.slot, batch);
    if (length.parent.empty())
      continue;
    int64_t values = length.parentLayout < 0 ? length.parentExtent * batch
                                             : placesOf(length.parentLayout);
    add("the values of " + length.name, length.valuesSlot, values);
  }
  for (const Layout &layout : program.layouts)
    add("offsets", layout.slot, batch + 1);
  for (const Program::Order &order : program.orders) {
    add("an order", order.orderSlot, batch);
    add("the counts of an order", order.activeSlot,
        frame[program.lengths[order.length].maximumSlot]);
  }
}

/// The places of a layout from the first to the last one of any row.
int64_t CheckedRun::envelopeOf(int layout) const {
  const Layout &own = program.layouts[layout];
  const auto *table = reinterpret_cast<const int64_t *>(frame[own.slot]);
  int64_t end = 0;
  for (int64_t row = 0; table && row < frame[Program::batchSlot]; ++row) {
    int64_t places = 1;
    for (int length : own.lengths)
      places *= reinterpret_cast<const int64_t *>(
          frame[program.lengths[length].slot])[row];
    end = std::max(end, table[row] + places);
  }
  return end;
}

int64_t CheckedRun::placesOf(int layout) const {
  int64_t batch = frame[Program::batchSlot];
  if (layout < 0)
    return 1;
  const Layout &own = program.layouts[layout];
  if (own.kind != Layout::Packed)
    return envelopeOf(layout);
  if (own.slot == 0 || frame[own.slot] == 0)
    return batch;
  return reinterpret_cast<const int64_t *>(frame[own.slot])[batch];
}

/// An entry of an array's shape in an example: a number, or a length.
int64_t CheckedRun::extentOf(int64_t extent, int64_t row) const {
  return extent >= 0 ? extent
                     : reinterpret_cast<const int64_t *>(
                           frame[program.lengths[-1 - extent].slot])[row];
}

/// The number of the example's first element of an array, and its extents.
std::pair<int64_t, std::vector<int64_t>>
CheckedRun::rowOf(const Program::Array &array, int64_t row) const {
  int64_t place = row;
  if (int slot = program.layouts[array.layout].slot; slot != 0)
    place = reinterpret_cast<const int64_t *>(frame[slot])[row];
  std::vector<int64_t> extents;
  for (int64_t extent : array.shape)
    extents.push_back(extentOf(extent, row));
  return {place * array.count, std::move(extents)};
}

/// In memory, the lists of an example are as long as its longest one. Products
/// run over what is beyond the ends of the others, and nobody reads what they
/// give there. So it counts as written.
void CheckedRun::markPadding(Region &region) {
  const Program::Array *array = region.array;
  if (region.written.empty() || !array || array->layout < 0 ||
      !array->part.empty() ||
      program.layouts[array->layout].kind != Layout::Packed)
    return;
  if (array->shape.size() < 2 || array->shape[1] >= 0)
    return;
  const Program::Length &length = program.lengths[-1 - array->shape[1]];
  // Inside of a loop over lists an array has one list for each of other places.
  int64_t outer = array->shape[0];
  bool hasLists =
      length.parentLayout < 0
          ? outer == length.parentExtent
          : outer < 0 && program.lengths[-1 - outer].name == length.parent;
  if (length.parent.empty() || !hasLists)
    return;
  int64_t size = sizeOf(array->element);
  const auto *values =
      reinterpret_cast<const int64_t *>(frame[length.valuesSlot]);
  for (int64_t row = 0; row < frame[Program::batchSlot]; ++row) {
    auto [first, extents] = rowOf(*array, row);
    int64_t inside = 1;
    for (int64_t extent : std::span(extents).subspan(2))
      inside *= extent;
    int64_t list = row * length.parentExtent;
    if (length.parentLayout >= 0)
      list = reinterpret_cast<const int64_t *>(
          frame[program.layouts[length.parentLayout].slot])[row];
    for (int64_t place = 0; place < extents[0]; ++place) {
      int64_t end = values[list + place];
      int64_t begin = (first + (place * extents[1] + end) * inside) * size;
      int64_t bytes = (extents[1] - end) * inside * size;
      if (bytes > 0 && begin + bytes <= region.bytes)
        std::fill_n(region.written.begin() + begin, bytes, 1);
    }
  }
}

/// Arrays with disjoint live ranges share memory: what begins to live was not
/// written.
void CheckedRun::enterStep(int64_t number) {
  live.clear();
  for (Region &region : regions) {
    const Program::Array *array = region.array;
    // Ahead of the first step the function packs, or prepares. Outputs may
    // share memory with what ends before them.
    bool isOutput = array && array->role == Role::Output;
    bool isLimited =
        array && (isOutput || array->role == Role::Temporary) && number > 0;
    region.isLive = !isLimited || (array->firstUse <= number &&
                                   (isOutput || number <= array->lastUse));
    if (isLimited && array->firstUse == number) {
      std::fill(region.written.begin(), region.written.end(), 0);
      markPadding(region);
    }
    if (region.isLive)
      live.push_back(&region);
  }
  std::sort(live.begin(), live.end(), [](const Region *a, const Region *b) {
    return a->begin < b->begin;
  });
}

/// A unit must not read what another one left in the memory of a thread.
void CheckedRun::forgetParts() {
  for (Region &region : regions)
    if (region.array && !region.array->part.empty())
      std::fill(region.written.begin(), region.written.end(), 0);
}

void CheckedRun::parallel(FoveaPool *, FoveaWork work, void *frame,
                          int64_t units, int64_t) {
  CheckedRun *run = present;
  if (!run)
    return work(frame, 0, units);
  if (run->checks.failed())
    return;
  run->forgetParts();
  run->scratch.clear();
  run->passed.clear();
  run->lastSite = -1;
  work(frame, 0, units);
}

void CheckedRun::step(void *, int64_t number) {
  if (present)
    present->enterStep(number);
}

void CheckedRun::addScratch(std::byte *memory, int64_t bytes) {
  // Functions that have returned left theirs.
  std::erase_if(scratch, [&](const Region &other) {
    return other.begin < memory + bytes && memory < other.end();
  });
  Region &region = scratch.emplace_back();
  region.name = "the stack";
  region.begin = memory;
  region.bytes = bytes;
  region.written.assign(bytes, 0);
}

//===----------------------------------------------------------------------===//
// Which memory a pointer belongs to
//===----------------------------------------------------------------------===//

CheckedRun::Region *CheckedRun::find(const std::byte *address) {
  for (size_t i = scratch.size(); i-- > 0;)
    if (scratch[i].has(address))
      return &scratch[i];
  auto next = std::upper_bound(
      live.begin(), live.end(), address,
      [](const std::byte *a, const Region *b) { return a < b->begin; });
  // A shared table may be inside a longer one.
  while (next != live.begin())
    if ((*--next)->has(address))
      return *next;
  return nullptr;
}

CheckedRun::Region *CheckedRun::regionOf(Origin origin,
                                         const std::byte *address) {
  if (origin.slot >= 0 && origin.slot < program.numSlots)
    if (int number = regionOfSlot[origin.slot];
        number >= 0 && regions[number].begin == origin.root)
      return &regions[number];
  auto known = passed.find(origin.root);
  if (known == passed.end())
    return find(origin.root);
  // One pointer may be the end of one array and the beginning of another.
  Region *first = nullptr;
  for (std::byte *begin : known->second) {
    Region *region = find(begin);
    if (region && region->has(address))
      return region;
    first = first ? first : region;
  }
  return first;
}

void CheckedRun::passOn(const std::byte *pointer, Origin origin, int64_t site) {
  if (site >= 0)
    lastSite = site;
  Region *region = regionOf(origin, pointer);
  if (!region)
    return;
  std::vector<std::byte *> &begins = passed[pointer];
  if (std::find(begins.begin(), begins.end(), region->begin) == begins.end())
    begins.push_back(region->begin);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Names an element as the spec does, where its array has the axes for that.
std::string CheckedRun::elementOf(const Region &region, int64_t offset) const {
  const Program::Array *array = region.array;
  int64_t size = array ? sizeOf(array->element) : int64_t(sizeof(int64_t));
  int64_t number = offset / size - (offset % size < 0);
  if (!array || !array->part.empty() || offset < 0 || offset >= region.bytes)
    return fmt::format("element {}", number);
  std::string example;
  int64_t row = 0;
  if (array->layout >= 0 &&
      program.layouts[array->layout].kind == Layout::Packed) {
    const Layout &layout = program.layouts[array->layout];
    const auto *table =
        layout.slot == 0
            ? nullptr
            : reinterpret_cast<const int64_t *>(frame[layout.slot]);
    int64_t place = number / array->count, batch = frame[Program::batchSlot];
    row = table ? std::upper_bound(table, table + batch, place) - table - 1
                : place;
    number -= (table ? table[row] : row) * array->count;
    example = fmt::format(" of example {}", row);
  }
  if (array->shape.empty())
    return fmt::format("element {}{}", number, example);
  std::string indices;
  for (size_t axis = array->shape.size(); axis-- > 0;) {
    int64_t extent = std::max<int64_t>(extentOf(array->shape[axis], row), 1);
    indices = fmt::format("{}{}{}", axis == 0 ? number : number % extent,
                          indices.empty() ? "" : ", ", indices);
    number /= extent;
  }
  return fmt::format("element [{}]{}", indices, example);
}

void CheckedRun::fail(int64_t site, const char *verb, const Region *region,
                      const std::byte *address, const std::string &fault) {
  const CheckedSite *own = checks.site(site);
  std::string element = "memory";
  if (region)
    element =
        fmt::format("{} of '{}'", elementOf(*region, address - region->begin),
                    region->name);
  checks.fail(fmt::format(
      "{}{}equation '{}' of '@{}' {} {}, {}; help: this is a defect of the "
      "compiler: please report it with the spec",
      own ? own->place : "", own && !own->place.empty() ? ": " : "",
      own ? own->equation : "unknown", program.entry, verb, element, fault));
}

void *CheckedRun::access(std::byte *address, Origin origin, int64_t bytes,
                         uint64_t lanes, Access how, int64_t alignment,
                         int64_t site) {
  if (site >= 0)
    lastSite = site;
  if (lanes == 0)
    return address;
  const char *verb = how == Access::Read ? "reads" : "writes";
  Region *region = regionOf(origin, address);
  std::byte *first = address + std::countr_zero(lanes) * bytes;
  std::byte *last = address + (64 - std::countl_zero(lanes)) * bytes;
  std::string fault;
  const std::byte *where = first;
  if (!region) {
    fault = "which belongs to no array";
  } else if (first < region->begin || last > region->end()) {
    where = first < region->begin ? first : std::max(first, region->end());
    fault = fmt::format(
        "which has {} elements",
        region->bytes / (region->array ? sizeOf(region->array->element) : 8));
  } else if (!region->isLive) {
    fault = "outside the steps that keep it";
  } else if (reinterpret_cast<uintptr_t>(address) % alignment != 0) {
    fault = fmt::format("at an address that is not a multiple of {} bytes",
                        alignment);
  }
  if (!fault.empty()) {
    fail(lastSite, verb, region, where, fault);
    return nowhere;
  }
  if (region->written.empty())
    return address;
  unsigned char *written = region->written.data() + (address - region->begin);
  for (uint64_t left = lanes; left != 0; left &= left - 1) {
    int64_t begin = std::countr_zero(left) * bytes;
    if (how == Access::Write) {
      std::memset(written + begin, 1, bytes);
    } else if (const void *hole = std::memchr(written + begin, 0, bytes)) {
      int64_t at = static_cast<const unsigned char *>(hole) - written;
      fail(lastSite, verb, region, address + at, "which was never written");
      return address;
    }
  }
  return address;
}

int64_t CheckedRun::copy(std::byte *to, Origin toOrigin, const std::byte *from,
                         Origin fromOrigin, int64_t bytes, int64_t site) {
  if (site >= 0)
    lastSite = site;
  if (bytes <= 0)
    return 0;
  Region *source = regionOf(fromOrigin, from), *target = regionOf(toOrigin, to);
  for (auto [region, begin, verb] :
       {std::tuple(source, from, "reads"),
        std::tuple(target, static_cast<const std::byte *>(to), "writes")}) {
    bool isInside = region && region->begin <= begin &&
                    begin + bytes <= region->end() && region->isLive;
    if (isInside)
      continue;
    fail(lastSite, verb, region, begin,
         fmt::format("in a copy of {} bytes, which is not inside {}", bytes,
                     region ? fmt::format("'{}'", region->name) : "any array"));
    return 0;
  }
  if (target->written.empty())
    return bytes;
  unsigned char *written = target->written.data() + (to - target->begin);
  if (source->written.empty())
    std::memset(written, 1, bytes);
  else
    std::memmove(written, source->written.data() + (from - source->begin),
                 bytes);
  return bytes;
}

//===----------------------------------------------------------------------===//
// What compiled code calls
//===----------------------------------------------------------------------===//

using Access = CheckedRun::Access;

static CheckedRun::Origin originOf(void *root, int64_t slot) {
  return {static_cast<const std::byte *>(root), slot};
}

void *fovea_check_access(void *address, void *root, int64_t slot, int64_t bytes,
                         int64_t lanes, int64_t how, int64_t site) {
  if (!present)
    return address;
  return present->access(
      static_cast<std::byte *>(address), originOf(root, slot), bytes,
      uint64_t(lanes), how & 1 ? Access::Write : Access::Read, how >> 8, site);
}

void fovea_check_gather(void **addresses, void *root, int64_t slot,
                        int64_t bytes, int64_t lanes, int64_t site) {
  if (!present)
    return;
  for (uint64_t left = uint64_t(lanes); left != 0; left &= left - 1) {
    void *&address = addresses[std::countr_zero(left)];
    address = present->access(static_cast<std::byte *>(address),
                              originOf(root, slot), bytes, 1, Access::Read,
                              /*alignment=*/bytes, site);
  }
}

int64_t fovea_check_clear(void *address, void *root, int64_t slot,
                          int64_t bytes, int64_t site) {
  if (!present)
    return bytes;
  if (bytes <= 0)
    return 0;
  void *checked =
      present->access(static_cast<std::byte *>(address), originOf(root, slot),
                      bytes, 1, Access::Write, /*alignment=*/1, site);
  return checked == address ? bytes : 0;
}

int64_t fovea_check_copy(void *to, void *toRoot, int64_t toSlot, void *from,
                         void *fromRoot, int64_t fromSlot, int64_t bytes,
                         int64_t site) {
  if (!present)
    return bytes;
  return present->copy(static_cast<std::byte *>(to), originOf(toRoot, toSlot),
                       static_cast<const std::byte *>(from),
                       originOf(fromRoot, fromSlot), bytes, site);
}

void fovea_check_scratch(void *memory, int64_t bytes) {
  if (present)
    present->addScratch(static_cast<std::byte *>(memory), bytes);
}

void fovea_check_pointer(void *pointer, void *root, int64_t slot,
                         int64_t site) {
  if (!present)
    return;
  present->passOn(static_cast<const std::byte *>(pointer), originOf(root, slot),
                  site);
}

//===- Trace.cpp - which equations ran when -------------------------------===//
//
// The format is Chrome's Trace Event Format: complete events ("X") of two
// threads, one with the phases and one with the launches.
//
//===----------------------------------------------------------------------===//

#include "app/profile/Trace.h"
#include "app/profile/KernelWork.h"
#include "runtime/device/Device.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace fovea;
using namespace fovea::cli;

/// The number of events at which recording ends: some 30 MB.
static constexpr size_t mostEvents = 200'000;

static Trace *current = nullptr;

Trace::Trace() {
  assert(!current && "one trace at a time");
  current = this;
}

Trace::~Trace() { current = nullptr; }

bool Trace::isFull() const { return events.size() >= mostEvents; }

void Trace::add(Event event) {
  if (isRecording && !isFull())
    events.push_back(std::move(event));
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

void Trace::parallel(FoveaPool *pool, FoveaWork work, void *frame,
                     int64_t units, int64_t atOnce) {
  Clock::time_point begin = Clock::now();
  fovea_parallel(pool, work, frame, units, atOnce);
  if (current && current->isRecording)
    current->add({"", -1, reinterpret_cast<const void *>(work), units, begin,
                  Clock::now()});
}

/// A kernel of a GPU, which has just ended.
void Trace::launch(const char *kernel, double seconds) {
  if (!current || !current->isRecording)
    return;
  auto found = current->bySymbol.find(kernel);
  if (found == current->bySymbol.end())
    return;
  Clock::time_point end = Clock::now();
  auto spent = std::chrono::duration<double>(seconds);
  current->add({"", found->second, nullptr, 0,
                end - std::chrono::duration_cast<Clock::duration>(spent), end});
}

void Trace::attach(CompiledOptions &options) {
  options.notes = &notes;
  options.parallel = &Trace::parallel;
  if (runtime::Device *device = runtime::Device::current())
    device->observe(&Trace::launch);
}

void Trace::addKernel(const codegen::KernelNote &note, const void *address) {
  std::string name = equationName(note.op);
  if (!note.others.empty())
    name += " .. " + equationName(note.others.back()) + ", together";
  int64_t number = int64_t(kernels.size());
  kernels.push_back({name, placeOf(note.op), programOf(note.op).str()});
  if (address)
    byAddress[address] = number;
  // As the GPU has it.
  std::string symbol = note.symbol;
  std::replace(symbol.begin(), symbol.end(), '.', '$');
  bySymbol[symbol] = number;
}

void Trace::nameKernels(
    llvm::StringRef entry,
    llvm::function_ref<void *(const std::string &)> addressOf) {
  for (const codegen::KernelNote &note : notes)
    if (entry.empty() || programOf(note.op) == entry)
      addKernel(note, addressOf(note.symbol));
}

void Trace::forgetKernels() {
  for (Event &event : events)
    if (event.work) {
      auto found = byAddress.find(event.work);
      event.kernel = found == byAddress.end() ? -1 : found->second;
      event.work = nullptr;
      if (event.kernel < 0)
        event.name = "other work";
    }
  byAddress.clear();
  bySymbol.clear();
  notes.clear();
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

Trace::Span::Span(Trace *trace, llvm::StringRef name, int64_t number)
    : trace(trace && trace->isRecording ? trace : nullptr) {
  if (!this->trace)
    return;
  this->name =
      number < 0 ? name.str() : fmt::format("{} {}", name.str(), number);
  begin = Clock::now();
}

Trace::Span::~Span() {
  if (trace)
    trace->add({std::move(name), -1, nullptr, 0, begin, Clock::now()});
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

std::string Trace::text(llvm::StringRef title) const {
  enum Thread { phases = 1, launches = 2 };
  auto micros = [](Clock::duration time) {
    return std::chrono::duration<double, std::micro>(time).count();
  };
  auto dump = [](const nlohmann::json &value) {
    return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  auto named = [&](const char *what, int thread, llvm::StringRef name) {
    return dump({{"ph", "M"},
                 {"name", what},
                 {"pid", 1},
                 {"tid", thread},
                 {"args", {{"name", name.str()}}}});
  };
  std::string all = title.str();
  std::string result =
      "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n" +
      named("process_name", phases, isFull() ? all + ", the first part" : all) +
      ",\n" + named("thread_name", phases, "phases") + ",\n" +
      named("thread_name", launches, "equations");
  for (const Event &event : events) {
    bool isLaunch = event.units > 0 || event.kernel >= 0;
    nlohmann::json line = {{"ph", "X"},
                           {"name", event.name},
                           {"cat", isLaunch ? "equation" : "phase"},
                           {"pid", 1},
                           {"tid", isLaunch ? launches : phases},
                           {"ts", micros(event.begin - first)},
                           {"dur", micros(event.end - event.begin)}};
    if (event.kernel >= 0) {
      const Kernel &kernel = kernels[event.kernel];
      line["name"] = kernel.name;
      line["args"] = {{"place", kernel.place}, {"program", kernel.program}};
    }
    if (event.units > 0)
      line["args"]["units"] = event.units;
    result += ",\n" + dump(line);
  }
  return result + "\n]}\n";
}

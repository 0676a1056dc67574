//===- KernelModel.cpp - how long kernels take at least -------------------===//

#include "app/profile/KernelModel.h"
#include "codegen/Backend.h"
#include "runtime/device/OwnKernels.h"
#include "targets/nvidia/ChooseTiles.h"
#include "targets/nvidia/KeepLoops.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

using namespace fovea;
using namespace fovea::cli;
using namespace fovea::attn;
using codegen::KernelNeeds;
using codegen::KernelNote;
using runtime::Status;

/// The time between two kernels of a graph; not from a data
/// sheet.
static constexpr double secondsOfLaunch = 2e-6;
/// The time of one synchronisation of all blocks of a loop; not from a data
/// sheet.
static constexpr double secondsOfBarrier = 1e-6;

/// In the time of one exponential (ex2.approx), a processor does so many f32
/// operations: 16 and 256 per cycle, from CUDA's programming guide.
static constexpr double operationsOfExponential = 16;
/// The same for issuing an instruction of a warp: a multiply-add of each lane.
static constexpr double lanesOfWarp = 32, operationsOfIssue = 2 * lanesOfWarp;

/// The share of the time that the listed kernels cover, unless all are listed.
static constexpr double mostOfTime = 0.9;

namespace {
/// The bottleneck of a launch.
enum Reason {
  OfLaunches,
  OfBarriers,
  OfMemory,
  OfCache,
  OfArithmetic,
  OfExponentials,
  OfIssue,
  OfFewBlocks
};
constexpr const char *reasonNames[] = {"launches", "barriers",   "memory",
                                       "cache",    "arithmetic", "exponents",
                                       "issue",    "few blocks"};
} // namespace

/// Kernels of one name: those of a family's members are combined.
struct KernelModel::Row {
  std::string name;
  int64_t kernels = 0, launches = 0, blocks = 0, threads = 0;
  int64_t inLoops = 0, barriers = 0;
  KernelNeeds needs;
  /// Bytes: of memory; of the cache, which a tiled product reads repeatedly;
  /// and of those, counted once per receiving block.
  double flops = 0, bytes = 0, cacheBytes = 0, tileBytes = 0, seconds = 0;
  /// For attention by groups of warps: the work outside its tensor cores.
  double otherFlops = 0, exponentials = 0;
  /// Instructions of warps in the loops of products, and those of the units for
  /// exponentials among them; 0 without a disassembler.
  double issued = 0, functions = 0;
  bool hasWork = false, isRounded = false, isByGroups = false;
  /// Three of the bounds: issuing, exponentials, products of tensor cores.
  double issueSeconds = 0, functionSeconds = 0, tensorSeconds = 0;
  Reason reason = OfLaunches;
};

std::unique_ptr<KernelModel> KernelModel::open(const std::string &target) {
  // A name unknown to every back end is reported at compilation.
  llvm::Expected<codegen::Target> own = codegen::targetNamed(target);
  if (!own) {
    llvm::consumeError(own.takeError());
    return nullptr;
  }
  const codegen::DeviceFigures *figures =
      llvm::cantFail(codegen::backendFor(target))->figuresOf(*own);
  if (!figures)
    return nullptr;
  auto device = std::make_unique<PaperDevice>(figures->device.str());
  PaperDevice &opened = *device;
  runtime::Device::use(std::move(device));
  return std::unique_ptr<KernelModel>(
      new KernelModel(*figures, opened, target));
}

/// As many as threads, registers and shared memory allow.
int64_t KernelModel::blocksOnProcessor(const KernelNeeds &needs,
                                       int64_t threads) const {
  // Registers are allocated per warp, in units of 256, and 1 KB of a block's
  // shared memory is reserved.
  constexpr int64_t warp = 32, grain = 256, ofSystem = 1024;
  int64_t blocks = std::min(figures.blocks, figures.threads / threads);
  blocks =
      std::min(blocks, figures.sharedBytes / (needs.sharedBytes + ofSystem));
  if (needs.registers) {
    int64_t ofWarp = (*needs.registers * warp + grain - 1) / grain * grain;
    blocks = std::min(blocks, figures.registers / ofWarp / (threads / warp));
  }
  return blocks;
}

/// For all launches of a row, which are alike.
void KernelModel::findTime(Row &row, bool isDouble) const {
  auto count = static_cast<double>(row.launches);
  double peak = row.isByGroups  ? figures.groupFlops
                : row.isRounded ? figures.roundedFlops
                : isDouble      ? figures.doubleFlops
                                : figures.singleFlops;
  // A processor without a block is idle. With one block per processor, some are
  // idle in the last turn.
  auto processors = static_cast<double>(figures.processors);
  double blocks = double(row.blocks) / count;
  double busy = row.isByGroups ? blocks / std::ceil(blocks / processors)
                               : std::min(processors, blocks);
  // One group of warps uses the tensor cores while the other does the rest.
  row.functionSeconds =
      std::max(row.exponentials, row.functions * lanesOfWarp) *
      operationsOfExponential / figures.singleFlops;
  row.issueSeconds = row.issued * operationsOfIssue / figures.singleFlops;
  double products = (row.flops - row.otherFlops) / peak;
  row.tensorSeconds = row.isRounded ? products : 0;
  double arithmetic = std::max(products, row.otherFlops / figures.singleFlops);
  double ofUnits =
      std::max({arithmetic, row.functionSeconds, row.issueSeconds});
  double ofFew =
      std::max(ofUnits * processors / busy,
               (row.bytes + row.tileBytes) / (figures.processorBytes * busy));
  std::pair<double, Reason> bounds[] = {
      {secondsOfLaunch * double(row.launches - row.inLoops), OfLaunches},
      {secondsOfBarrier * double(row.barriers), OfBarriers},
      {row.bytes / figures.memoryBytes, OfMemory},
      {row.cacheBytes / figures.cacheBytes, OfCache},
      {arithmetic, OfArithmetic},
      {row.functionSeconds, OfExponentials},
      {row.issueSeconds, OfIssue},
      {busy < processors ? ofFew : 0, OfFewBlocks}};
  std::tie(row.seconds, row.reason) = *std::max_element(
      std::begin(bounds), std::end(bounds),
      [](const auto &a, const auto &b) { return a.first < b.first; });
}

/// `grad.12.h.gemm` is the `h.gemm` of `grad`, with its place.
static std::string nameOf(const KernelNote &note) {
  auto [program, rest] = llvm::StringRef(note.symbol).split('.');
  auto [number, name] = rest.split('.');
  std::string place = placeOf(note.op);
  return withoutMembers((program + "." + name).str()) +
         (place.empty() ? "" : "  " + place);
}

/// The numbers that a unit of one of the runtime's own kernels moves
/// (runtime/device/OwnKernels.h); 0: variable.
static double numbersOfUnit(llvm::StringRef kernel) {
  return llvm::StringSwitch<double>(kernel.split('$').second.split('$').first)
      .Case("clear", 1)
      .Cases({"scale", "clamp"}, 2)
      .Cases({"add", "sgd"}, 3)
      .Cases({"momentum", "adagrad"}, 5)
      .Cases({"rmsprop", "adadelta", "adam"}, 7)
      .Case("add_rows", 3.0 * runtime::numbersOfPiece)
      .Case("squares", double(runtime::valuesOfPart))
      .Default(0);
}

/// The share of a product's weights that so many blocks of its loop keep on the
/// chip.
static double keptShare(ComputeOp op, int64_t blocks, bool isDouble) {
  std::optional<KeptColumns> own = keptColumnsOf(op);
  if (!own)
    return 0;
  auto loop = cast<ScanOp>(op->getParentOp());
  int64_t bytes = isDouble ? 8 : 4;
  int64_t most = keptBytesOf(loop, bytes) / bytes / smallColumns;
  int64_t groups = std::max<int64_t>(1, blocks / blocksOfGroup), terms = 0;
  for (int64_t group = 0; group < groups; ++group) {
    int64_t ahead = 0;
    for (auto other : loop.getOps<ComputeOp>()) {
      std::optional<KeptColumns> kept = keptColumnsOf(other);
      if (!kept)
        continue;
      int64_t first = (group - kept->first % groups + groups) % groups;
      for (int64_t strip = first; strip < kept->strips; strip += groups) {
        if (other == op)
          terms += std::clamp<int64_t>(most - ahead, 0, kept->terms);
        ahead += llvm::alignTo(kept->terms, termsOfPiece);
      }
    }
  }
  return double(terms) / double(own->strips * own->terms);
}

std::vector<KernelModel::Row>
KernelModel::rowsOf(const std::vector<ProfiledProgram> &programs, bool isDouble,
                    const codegen::NeedsOfKernels &needs) const {
  llvm::StringMap<WorkCounter> counters;
  for (const ProfiledProgram &each : programs)
    counters.try_emplace(each.program.entry, each, isDouble);
  // Among several kernels of an equation, the product does the work, or else
  // the last.
  llvm::DenseMap<mlir::Operation *, const KernelNote *> mainOf;
  for (const KernelNote &note : notes) {
    const KernelNote *&main = mainOf[note.op];
    if (note.bytesOfUnit == 0 && (!main || main->tileRows == 0))
      main = &note;
  }
  std::map<std::string, Row> byName;
  llvm::StringMap<const KernelNote *> noteOf;
  for (const KernelNote &note : notes) {
    std::string name = note.symbol;
    std::replace(name.begin(), name.end(), '.', '$');
    noteOf[name] = &note;
  }
  for (const auto &[name, launches] : device.launched()) {
    const KernelNote *note = noteOf.lookup(name);
    std::string own = note ? nameOf(*note) : name;
    Row &row = byName[own];
    row.name = own;
    ++row.kernels;
    row.launches += launches.count;
    row.blocks += launches.blocks;
    row.inLoops += launches.inLoops;
    row.barriers += launches.barriers;
    if (launches.barriers != 0) {
      row.blocks += figures.processors * launches.count;
      // A block loads resident data once.
      row.cacheBytes +=
          double(figures.processors * launches.count * launches.sharedBytes);
    }
    row.threads = launches.threads;
    if (auto found = needs.find(name); found != needs.end()) {
      const KernelNeeds &more = found->second;
      row.needs.sharedBytes = std::max(row.needs.sharedBytes,
                                       more.sharedBytes + launches.sharedBytes);
      row.needs.spilledBytes += more.spilledBytes;
      if (more.registers)
        row.needs.registers =
            std::max(row.needs.registers.value_or(0), *more.registers);
    }
    if (!note) {
      row.bytes +=
          numbersOfUnit(name) * double(launches.units) * (isDouble ? 8 : 4);
      row.hasWork = row.bytes > 0;
    }
    if (note && note->bytesOfUnit != 0) {
      row.bytes += double(note->bytesOfUnit * launches.units);
      row.hasWork = true;
    }
    // A product is launched with one kind of tile or another.
    if (!note || (mainOf.lookup(note->op) != note && note->tileRows == 0))
      continue;
    llvm::SmallVector<ComputeOp> equations;
    if (auto compute = dyn_cast<ComputeOp>(note->op))
      equations.push_back(compute);
    for (mlir::Operation *other : note->others)
      if (auto compute = dyn_cast<ComputeOp>(other))
        equations.push_back(compute);
    if (equations.empty())
      continue;
    auto counter = counters.find(programOf(note->op));
    Work work = counter->second.of(equations);
    row.hasWork = true;
    row.isRounded |= note->isRounded;
    row.isByGroups |= note->isByGroups;
    row.flops += work.flops;
    if (note->isByGroups) {
      row.otherFlops += work.flops - work.productFlops;
      row.exponentials += work.exponentials;
    }
    if (auto found = needs.find(name);
        found != needs.end() && found->second.ofProducts && !isDouble &&
        (note->tileRows != 0 || note->isRounded)) {
      row.issued += work.productFlops * found->second.ofProducts->instructions;
      row.functions += work.productFlops * found->second.ofProducts->functions;
    }
    // A copy needs half as many bytes per number.
    row.bytes += work.bytes - (note->readsCopies ? work.readBytes / 2 : 0);
    if (note->tileRows == 0)
      continue;
    // A term of a tile of m x n reads m + n numbers for 2 m n operations.
    // Resident columns are read from the chip, and the cache serves a cluster
    // once.
    double ofNumber = note->readsCopies ? 2 : isDouble ? 8 : 4;
    double ofLeft = ofNumber / double(note->tileColumns),
           ofRight =
               ofNumber / double(note->tileRows) *
               (1 - keptShare(equations.front(), figures.processors, isDouble));
    row.tileBytes += work.flops / 2 * (ofLeft + ofRight);
    row.cacheBytes +=
        work.flops / 2 * (ofLeft + ofRight / double(note->clusterBlocks));
  }
  std::vector<Row> rows;
  for (auto &[name, row] : byName) {
    findTime(row, isDouble);
    rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) {
    return std::tie(b.seconds, a.name) < std::tie(a.seconds, b.name);
  });
  return rows;
}

Status KernelModel::print(const std::string &title,
                          const std::vector<ProfiledProgram> &programs,
                          bool isDouble, bool listsAll,
                          nlohmann::json &report) const {
  codegen::NeedsOfKernels needs;
  codegen::Target own = llvm::cantFail(codegen::targetNamed(target));
  const codegen::Backend *backend = llvm::cantFail(codegen::backendFor(target));
  for (const char *image : device.images()) {
    auto more = backend->needsOf(image, own);
    if (!more)
      return Status::machine(llvm::toString(more.takeError()));
    for (const auto &[name, each] : *more)
      needs[name] = each;
  }
  std::vector<Row> rows = rowsOf(programs, isDouble, needs);
  double total = 0, byReason[std::size(reasonNames)] = {};
  int64_t launches = 0, spilled = 0;
  bool knowsRegisters = false;
  for (const Row &row : rows) {
    total += row.seconds;
    byReason[row.reason] += row.seconds;
    launches += row.launches - row.inLoops;
    spilled += row.needs.spilledBytes;
    knowsRegisters |= row.needs.registers.has_value();
  }
  fmt::print("{}, on paper: {}, an {}\n", title, target, figures.device.str());
  fmt::print("{:>10} {:10} {:>8} {:>8} {:>7} {:>4} {:>7} {:>7} {:>11} {:>9}  "
             "{}\n",
             "least us", "for", "launches", "blocks", "threads", "regs",
             "shared", "at once", "MFLOP", "MB", "kernel");
  nlohmann::json kernels = nlohmann::json::array();
  double said = 0;
  size_t left = rows.size();
  for (const Row &row : rows) {
    int64_t atOnce = blocksOnProcessor(row.needs, row.threads);
    std::string registers =
        row.needs.registers ? fmt::format("{}", *row.needs.registers) : "-";
    std::string work(21, ' ');
    if (row.hasWork)
      work =
          fmt::format("{:11.3f} {:9.3f}", row.flops * 1e-6, row.bytes * 1e-6);
    // The others are negligible.
    if (listsAll || said < mostOfTime * total) {
      fmt::print("{:10.1f} {:10} {:8} {:8} {:7} {:>4} {:7} {:7} {}  {}{}\n",
                 row.seconds * 1e6, reasonNames[row.reason], row.launches,
                 (row.blocks + row.launches - 1) / row.launches, row.threads,
                 registers, row.needs.sharedBytes, atOnce, work, row.name,
                 row.kernels > 1 ? fmt::format(", {} of them", row.kernels)
                                 : "");
      said += row.seconds;
      --left;
    }
    kernels.push_back({{"kernel", row.name},
                       {"kernels", row.kernels},
                       {"least_us", row.seconds * 1e6},
                       {"bound", reasonNames[row.reason]},
                       {"launches", row.launches},
                       {"blocks", row.blocks},
                       {"threads", row.threads},
                       {"shared_bytes", row.needs.sharedBytes},
                       {"blocks_on_processor", atOnce},
                       {"flops", row.flops},
                       {"bytes", row.bytes},
                       {"spilled_bytes", row.needs.spilledBytes}});
    for (auto [key, seconds] : {std::pair("issue_us", row.issueSeconds),
                                {"functions_us", row.functionSeconds},
                                {"tensor_us", row.tensorSeconds}})
      if (seconds > 0)
        kernels.back()[key] = seconds * 1e6;
    if (row.needs.registers)
      kernels.back()["registers"] = *row.needs.registers;
  }
  if (left > 0)
    fmt::print("{:10.1f} {:10} {} others, which '--explain' lists\n",
               (total - said) * 1e6, "", left);
  std::string parts;
  for (size_t reason = 0; reason < std::size(reasonNames); ++reason)
    if (byReason[reason] > 0)
      parts += fmt::format("{}{} {:.3f}", parts.empty() ? "" : ", ",
                           reasonNames[reason], byReason[reason] * 1e3);
  fmt::print("at least {:.3f} ms in a run, by what bounds each: {}; {} "
             "launches\n",
             total * 1e3, parts, launches);
  if (!knowsRegisters)
    fmt::print(
        "register counts unknown: no 'ptxas' in $CUDA_PATH/bin or on PATH\n");
  else if (spilled > 0)
    fmt::print("{} bytes of registers spilled\n", spilled);
  report["least_ms"] = total * 1e3;
  report["launches"] = launches;
  report["kernels"] = kernels;
  return Status::success();
}

//===- MachineCode.cpp - what a GPU issues for a product ------------------===//

#include "codegen/gpu/device/MachineCode.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

using namespace llvm;
using namespace fovea::codegen;

namespace {
/// What multiplies: groups of four warps, a warp, or single lanes.
enum ProductUnit { ByGroups, ByWarps, ByLanes };
constexpr size_t productUnits = 3;

/// What has been issued on a path.
struct Issued {
  /// By unit, the operations of a warp.
  std::array<double, productUnits> operations = {};
  int64_t instructions = 0, functions = 0;
};

/// An instruction of a kernel.
struct MachineInstruction {
  Issued cost;
  /// The number of the instruction that it jumps to, and whether it may go on
  /// with the next one.
  std::optional<size_t> target;
  bool goesOn = true;
};

/// A kernel of a listing.
struct KernelCode {
  std::vector<MachineInstruction> instructions;
  StringMap<size_t> labels;
  /// Instructions with the labels that they jump to.
  std::vector<std::pair<size_t, StringRef>> jumps;
};
} // namespace

/// The numbers of `64x128x16`; none, if there are not three.
static SmallVector<double> shapeOf(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, 'x');
  SmallVector<double> shape;
  for (StringRef part : parts)
    if (int64_t number; !part.getAsInteger(10, number))
      shape.push_back(double(number));
  return shape.size() == 3 ? shape : SmallVector<double>();
}

/// `@!P0 BRA `(.L_x_9)` or another instruction, without its address.
static MachineInstruction readInstruction(StringRef text, StringRef &label) {
  MachineInstruction result;
  result.cost.instructions = 1;
  bool isConditional = text.consume_front("@");
  if (isConditional)
    text = text.split(' ').second.ltrim();
  auto [opcode, operands] = text.split(' ');
  auto [name, modifiers] = opcode.split('.');
  // A multiply-add is two operations.
  if (name == "HGMMA") {
    constexpr double warps = 4;
    if (auto shape = shapeOf(modifiers.split('.').first); !shape.empty())
      result.cost.operations[ByGroups] =
          2 * shape[0] * shape[1] * shape[2] / warps;
  } else if (name == "HMMA" && modifiers.starts_with("16816")) {
    result.cost.operations[ByWarps] = 2 * 16 * 8 * 16;
  } else if (name == "HMMA" && modifiers.starts_with("1688")) {
    result.cost.operations[ByWarps] = 2 * 16 * 8 * 8;
  } else if (name == "FFMA") {
    result.cost.operations[ByLanes] = 2 * 32;
  } else if (name == "MUFU") {
    result.cost.functions = 1;
  } else if (name == "BRA") {
    label = operands.split("`(").second.split(')').first;
    // A branch may have its condition as an operand.
    result.goesOn = isConditional || !operands.ltrim().starts_with("`(");
  } else if (name == "EXIT" || name == "RET") {
    result.goesOn = isConditional;
  }
  return result;
}

/// The kernels of a listing, by name.
static StringMap<KernelCode> readListing(StringRef listing) {
  StringMap<KernelCode> kernels;
  KernelCode *own = nullptr;
  while (!listing.empty()) {
    StringRef line;
    std::tie(line, listing) = listing.split('\n');
    if (line.starts_with(".text.") && line.ends_with(":")) {
      own = &kernels[line.drop_front(strlen(".text.")).drop_back()];
      continue;
    }
    if (!own)
      continue;
    if (line.starts_with(".L") && line.ends_with(":")) {
      own->labels[line.drop_back()] = own->instructions.size();
      continue;
    }
    line = line.ltrim();
    if (!line.consume_front("/*") || !line.contains(';'))
      continue;
    StringRef label;
    MachineInstruction each =
        readInstruction(line.split("*/").second.ltrim(), label);
    if (!label.empty())
      own->jumps.emplace_back(own->instructions.size(), label);
    own->instructions.push_back(each);
  }
  for (auto &[name, code] : kernels)
    for (auto [at, label] : code.jumps)
      if (auto found = code.labels.find(label); found != code.labels.end())
        code.instructions[at].target = found->second;
  return kernels;
}

/// The cost of one turn of a loop: of the paths with the most operations of
/// `unit`, the one with the fewest instructions. Loops inside turn once.
static Issued costOfTurn(ArrayRef<MachineInstruction> code, size_t begin,
                         size_t end, ProductUnit unit) {
  std::vector<std::optional<Issued>> ahead(end - begin + 1);
  ahead.front() = Issued();
  auto arrive = [&](size_t at, const Issued &now) {
    std::optional<Issued> &old = ahead[at - begin];
    auto rank = [&](const Issued &path) {
      return std::tuple(-path.operations[unit], path.instructions);
    };
    if (!old || rank(now) < rank(*old))
      old = now;
  };
  for (size_t at = begin; at < end; ++at) {
    if (!ahead[at - begin])
      continue;
    Issued now = *ahead[at - begin];
    const MachineInstruction &each = code[at];
    for (size_t other = 0; other < productUnits; ++other)
      now.operations[other] += each.cost.operations[other];
    now.instructions += each.cost.instructions;
    now.functions += each.cost.functions;
    // The last one jumps back.
    if (each.goesOn || at + 1 == end)
      arrive(at + 1, now);
    if (each.target && *each.target > at && *each.target < end)
      arrive(*each.target, now);
  }
  return ahead.back().value_or(Issued());
}

/// The cheapest loop that multiplies is the least that a product costs.
static std::optional<ProductCost>
productCostOf(ArrayRef<MachineInstruction> code) {
  std::array<bool, productUnits> has = {};
  for (const MachineInstruction &each : code)
    for (size_t unit = 0; unit < productUnits; ++unit)
      has[unit] |= each.cost.operations[unit] > 0;
  ProductUnit unit = has[ByGroups]  ? ByGroups
                     : has[ByWarps] ? ByWarps
                                    : ByLanes;
  std::optional<ProductCost> least;
  for (size_t at = 0; at < code.size(); ++at) {
    if (!code[at].target || *code[at].target > at)
      continue;
    Issued turn = costOfTurn(code, *code[at].target, at + 1, unit);
    double operations = turn.operations[unit];
    if (operations == 0)
      continue;
    ProductCost cost = {double(turn.instructions) / operations,
                        double(turn.functions) / operations};
    if (!least || cost.instructions < least->instructions)
      least = cost;
  }
  return least;
}

void fovea::codegen::readProductCosts(StringRef listing,
                                      NeedsOfKernels &needs) {
  for (const auto &[name, code] : readListing(listing))
    if (auto found = needs.find(name); found != needs.end())
      found->second.ofProducts = productCostOf(code.instructions);
}

//===- Lengths.cpp - the lengths and layouts of a program -----------------===//
//
// The part of StorageMap that numbers lengths and lists of lengths, and assigns
// their frame slots.
//
//===----------------------------------------------------------------------===//

#include "passes/memory/Storage.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using runtime::Program;

const Program::Length &StorageMap::length(StringRef name) const {
  auto found = lengthIds.find(name);
  assert(found != lengthIds.end() && "an extent is a length of the program");
  return program.lengths[found->second];
}

int StorageMap::layoutOf(ArrayRef<Attribute> extents, LayoutKind kind) {
  std::vector<int> ids;
  for (Attribute extent : extents)
    ids.push_back(lengthIds.at(cast<StringAttr>(extent).getValue()));
  for (auto [number, layout] : llvm::enumerate(program.layouts))
    if (layout.lengths == ids && layout.kind == kind)
      return number;
  program.layouts.push_back({ids, newSlot(), kind});
  return program.layouts.size() - 1;
}

int StorageMap::layoutOfLength(StringAttr length) const {
  int id = lengthIds.find(length.getValue())->second;
  for (auto [number, layout] : llvm::enumerate(program.layouts))
    if (layout.lengths == std::vector<int>{id} &&
        layout.kind == Program::Layout::Packed)
      return number;
  llvm_unreachable("every length has a layout");
}

using Term = Program::Term;

static void addFormula(AffineExpr expression, ArrayRef<int> symbols,
                       std::vector<Term> &formula) {
  if (auto number = dyn_cast<AffineConstantExpr>(expression)) {
    formula.push_back({Term::Number, number.getValue()});
    return;
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression)) {
    formula.push_back({Term::Length, symbols[symbol.getPosition()]});
    return;
  }
  auto binary = cast<AffineBinaryOpExpr>(expression);
  addFormula(binary.getLHS(), symbols, formula);
  addFormula(binary.getRHS(), symbols, formula);
  switch (expression.getKind()) {
  case AffineExprKind::Add:
    formula.push_back({Term::Add});
    return;
  case AffineExprKind::Mul:
    formula.push_back({Term::Multiply});
    return;
  case AffineExprKind::FloorDiv:
    formula.push_back({Term::FloorDivide});
    return;
  case AffineExprKind::CeilDiv:
    formula.push_back({Term::CeilDivide});
    return;
  case AffineExprKind::Mod:
    formula.push_back({Term::Modulo});
    return;
  default:
    llvm_unreachable("a length is an expression of lengths and numbers");
  }
}

void StorageMap::addLengths(ProgramOp op) {
  for (auto length : op.getOps<LengthOp>()) {
    Program::Length &entry = program.lengths.emplace_back();
    entry.name = length.getLength().str();
    entry.parent = length.getParent().value_or("").str();
    if (std::optional<AffineMap> map = length.getMap()) {
      SmallVector<int> symbols;
      for (StringRef name : length.getOf()->getAsValueRange<StringAttr>()) {
        symbols.push_back(lengthIds.at(name));
        // Lengths computed from a nested length are nested too.
        const std::string &parent = program.lengths[symbols.back()].parent;
        if (!parent.empty())
          entry.parent = parent;
      }
      addFormula(map->getResult(0), symbols, entry.formula);
    }
    entry.slot = newSlot();
    entry.maximumSlot = newSlot();
    entry.valuesSlot = entry.parent.empty() ? 0 : newSlot();
    lengthIds[entry.name] = program.lengths.size() - 1;
    layoutOf({length.getLengthAttr()});
    StringRef parent = entry.parent;
    int64_t extent;
    if (parent.empty())
      continue;
    if (!parent.getAsInteger(10, extent)) {
      entry.parentExtent = extent;
      continue;
    }
    int layout = layoutOf({StringAttr::get(op.getContext(), parent)});
    program.lengths.back().parentLayout = layout;
  }
  // The number of tiles of a kernel's copies along a length.
  for (auto kernel : op.getOps<KernelOp>()) {
    int64_t rows = decideStrips(kernel).copyRows;
    if (rows == 0)
      continue;
    for (ComputeOp member : kernel.getMembers())
      for (Attribute extent : member.getExtents()) {
        auto length = dyn_cast<StringAttr>(extent);
        if (!length)
          continue;
        StringAttr tiles = tilesAlong(length, rows);
        if (lengthIds.contains(tiles.getValue()))
          continue;
        Program::Length &entry = program.lengths.emplace_back();
        entry.name = tiles.str();
        entry.formula = {{Term::Length, lengthIds.at(length.getValue())},
                         {Term::Number, rows},
                         {Term::CeilDivide}};
        entry.slot = newSlot();
        entry.maximumSlot = newSlot();
        lengthIds[entry.name] = program.lengths.size() - 1;
        layoutOf({tiles});
      }
  }
}

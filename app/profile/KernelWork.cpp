//===- KernelWork.cpp - what the kernels of a program do ------------------===//

#include "app/profile/KernelWork.h"
#include "dialect/conditions/LinearForm.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Product.h"
#include "passes/analysis/VectorIndex.h"
#include "passes/memory/Locations.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Path.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using namespace mlir;
using namespace fovea::attn;

std::vector<ProfiledProgram>
fovea::cli::programsOf(const runtime::Decoder &decoder,
                       const runtime::BatchSize &size, int64_t hypotheses,
                       int64_t steps) {
  std::vector<ProfiledProgram> programs;
  // Places counted from the end of each example do not advance together.
  bool isApart = decoder.reverse && size.batch > 1;
  for (auto [number, program] : llvm::enumerate(decoder.programs)) {
    ProfiledProgram &own = programs.emplace_back(program, size);
    bool isFinish = int(number) == decoder.finish;
    if (isApart || isFinish)
      own.calls = std::exchange(own.size.batch, 1);
    if (isFinish || int(number) == decoder.encode)
      continue;
    own.calls *= steps;
    own.size.batch *= hypotheses;
    if (decoder.isSearch && !decoder.known && decoder.extent < 0)
      own.size.lengths[decoder.lengths[-1 - decoder.extent]] = (steps + 1) / 2;
  }
  return programs;
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// Returns whether a step of a loop reads a part of the array, not the whole.
static bool readsRow(ReadOp read) {
  return llvm::any_of(read.getIndices(), [](Value index) {
    std::optional<LinearForm> form = LinearForm::of(index);
    return form && llvm::any_of(form->terms, [](const auto &term) {
             auto argument = dyn_cast<BlockArgument>(term.first);
             return argument && isa<ScanOp>(argument.getOwner()->getParentOp());
           });
  });
}

struct WorkCounter::Reads {
  double flops = 0, exponentials = 0;
  /// By array: at most its size, and at most the requested bytes.
  llvm::MapVector<Value, double> bytes;
};

double WorkCounter::extent(Attribute extent) const {
  if (auto number = dyn_cast<IntegerAttr>(extent))
    return number.getInt();
  for (auto [length, value] : llvm::zip_equal(program.lengths, lengths))
    if (length.name == cast<StringAttr>(extent).getValue())
      return value;
  return 1;
}

double WorkCounter::elements(ArrayType type) const {
  double count = 1;
  for (Attribute each : type.getShape())
    count *= extent(each);
  return count;
}

double WorkCounter::elementBytes(Value array) const {
  Type element = cast<ArrayType>(array.getType()).getElementType();
  return element.isF64() ? realBytes : element.isInteger(1) ? 1 : 8;
}

double WorkCounter::bytes(Value array) const {
  return elementBytes(array) * elements(cast<ArrayType>(array.getType())) *
         (isPerExample(array) ? batch : 1);
}

double WorkCounter::stepsOf(Operation *op) const {
  double steps = calls;
  for (auto loop = op->getParentOfType<ScanOp>(); loop;
       loop = loop->getParentOfType<ScanOp>())
    steps *= extent(loop.getExtent());
  return steps;
}

WorkCounter::Reads WorkCounter::readsOf(ComputeOp op) const {
  double places = batchOf(op) == BatchKind::once ? 1 : batch;
  for (Attribute each : op.getExtents())
    places *= extent(each);
  // An index that the condition determines is not iterated over.
  for (const Equality &equality : equalitiesOf(op))
    places /= std::max(1.0, extent(op.getExtents()[equality.index]));
  double steps = stepsOf(op);
  Reads reads;
  double each = op.getReducer() == Reducer::none ? 0 : 1;
  double exponentials = op.getReducer() == Reducer::softmax ? 1 : 0;
  op.getBody().walk([&](Operation *inner) {
    if (auto read = dyn_cast<ReadOp>(inner)) {
      Value array = read.getArray();
      double most = places * steps * elementBytes(array);
      double own = bytes(array) * (readsRow(read) ? double(calls) : steps);
      reads.bytes[array] = std::max(reads.bytes[array], std::min(own, most));
    } else if (inner->getNumResults() == 1 &&
               isa<FloatType>(inner->getResult(0).getType()) &&
               !isa<arith::ConstantOp, arith::SelectOp>(inner)) {
      ++each;
      exponentials += isa<math::ExpOp>(inner);
    }
  });
  reads.exponentials = exponentials * places * steps;
  reads.flops = each * places * steps;
  // A product computes only the columns that its condition allows.
  if (auto product = rowsProductOf(op))
    reads.flops *= double(product->columns()) / product->width;
  return reads;
}

Work WorkCounter::of(ComputeOp op) const { return of(ArrayRef(op)); }

Work WorkCounter::of(ArrayRef<ComputeOp> ops) const {
  Work work;
  llvm::MapVector<Value, double> arrays;
  llvm::SmallPtrSet<Operation *, 8> own(ops.begin(), ops.end());
  for (ComputeOp op : ops) {
    Reads reads = readsOf(op);
    work.flops += reads.flops;
    work.productFlops += productOf(op) ? reads.flops : 0;
    work.exponentials += reads.exponentials;
    for (auto [array, bytes] : reads.bytes) {
      Operation *source = array.getDefiningOp();
      if (!source || !own.contains(source))
        arrays[array] = std::max(arrays[array], bytes);
    }
  }
  for (auto [array, bytes] : arrays)
    work.readBytes += bytes;
  work.bytes = work.readBytes;
  auto kernel = dyn_cast<KernelOp>(ops.front()->getParentOp());
  if (kernel)
    for (Value result : kernel->getResults())
      work.bytes += bytes(result) * stepsOf(kernel);
  for (ComputeOp op : ops) {
    if (!kernel)
      work.bytes += bytes(op.getResult()) * stepsOf(op);
    // In bf16.
    if (storedCopyOf(op))
      work.bytes += bytes(op.getResult()) / 2;
  }
  return work;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string fovea::cli::placeOf(Operation *op) {
  std::string place;
  op->getLoc()->walk([&](Location inner) {
    auto line = dyn_cast<FileLineColLoc>(inner);
    if (!line)
      return WalkResult::advance();
    place = fmt::format("{}:{}",
                        llvm::sys::path::filename(line.getFilename()).str(),
                        line.getLine());
    return WalkResult::interrupt();
  });
  return place;
}

std::string fovea::cli::equationName(Operation *op) {
  if (isa<YieldOp>(op))
    op = op->getParentOp();
  if (auto scan = dyn_cast<ScanOp>(op)) {
    auto name = dyn_cast<StringAttr>(scan.getExtent());
    return fmt::format("(loop over {})",
                       name ? name.str() : std::string("a family"));
  }
  auto label = op->getAttrOfType<StringAttr>("label");
  if (!label || label.empty())
    label = op->getAttrOfType<StringAttr>("attn.part");
  std::string name = label && !label.empty()
                         ? label.str()
                         : op->getName().stripDialect().str();
  auto compute = dyn_cast<ComputeOp>(op);
  if (!compute)
    return name;
  auto listed = [](ArrayRef<Attribute> indices) {
    std::string list;
    for (Attribute index : indices)
      list += (list.empty() ? "" : ",") + cast<StringAttr>(index).str();
    return list.empty() ? list : "[" + list + "]";
  };
  ArrayRef<Attribute> indices = compute.getIndices().getValue();
  name += listed(indices.take_front(compute.getNumParallel()));
  if (compute.getReducer() != Reducer::none)
    name += fmt::format(" {}{}", stringifyReducer(compute.getReducer()).str(),
                        listed(indices.drop_front(compute.getNumParallel())));
  return name;
}

std::string fovea::cli::withoutMembers(StringRef name) {
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  std::string result = parts.front().str();
  for (StringRef part : ArrayRef(parts).drop_front()) {
    StringRef digits = part.take_while(llvm::isDigit);
    if (digits.empty())
      result += "." + part.str();
    else
      result += part.drop_front(digits.size()).str();
  }
  return result;
}

StringRef fovea::cli::programOf(Operation *op) {
  auto program = dyn_cast<ProgramOp>(op);
  return (program ? program : op->getParentOfType<ProgramOp>()).getSymName();
}

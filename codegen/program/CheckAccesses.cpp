//===- CheckAccesses.cpp - code that checks its accesses ------------------===//
//
// All accesses of kernels are a handful of LLVM ops, which KernelBuilder
// builds. Each gets a call with its address and its root: the pointer from
// which the address was computed. The root tells the array that the address has
// to be in, so a neighbour in memory does not hide a wrong index.
//
//===----------------------------------------------------------------------===//

#include "codegen/program/CheckAccesses.h"
#include "codegen/Backend.h"
#include "codegen/kernel/KernelBuilder.h"
#include "codegen/kernel/TensorCoreCall.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::codegen;

void fovea::codegen::nameLocations(attn::ProgramOp program) {
  program.walk([](Operation *op) {
    auto label = op->getAttrOfType<StringAttr>("label");
    if (!label)
      label = StringAttr::get(op->getContext(), op->getName().stripDialect());
    if (!isa<NameLoc>(op->getLoc()))
      op->setLoc(NameLoc::get(label, op->getLoc()));
  });
}

namespace {

/// Where an address comes from, as runtime::CheckedRun::Origin.
struct Root {
  Value pointer;
  int64_t slot = -1;
};

class Checker {
public:
  Checker(ModuleOp module, std::vector<runtime::CheckedSite> &sites)
      : module(module), b(module), sites(sites) {}

  LogicalResult run();

private:
  LogicalResult check(Operation *op);
  void checkCall(func::CallOp call);
  void checkAccess(Operation *op, OpOperand &address, Type type, Value mask,
                   bool isWrite, int64_t alignment);
  void checkGather(LLVM::masked_gather op);
  Root rootOf(Value pointer);
  Value numberOfSite(Operation *op);
  Value bitsOf(Value mask);
  Value callCheck(StringRef name, ValueRange arguments, TypeRange results);

  ModuleOp module;
  KernelBuilder b;
  std::vector<runtime::CheckedSite> &sites;
  llvm::DenseMap<Attribute, int64_t> numbers; // of locations
  llvm::DenseMap<Value, int64_t> slots;       // of pointers in frames
};

} // namespace

/// The number of the frame's slot that a pointer is loaded from, in a function
/// on a frame; -1 for any other pointer.
static int64_t slotOf(Value pointer) {
  auto load = pointer.getDefiningOp<LLVM::LoadOp>();
  auto function = load ? load->getParentOfType<func::FuncOp>() : nullptr;
  if (!function || function.getNumArguments() == 0)
    return -1;
  if (load.getAddr() == function.getArgument(0))
    return 0;
  auto place = load.getAddr().getDefiningOp<LLVM::GEPOp>();
  APInt number;
  if (!place || place.getBase() != function.getArgument(0) ||
      place.getDynamicIndices().size() != 1 ||
      !place.getElemType().isInteger(64) ||
      !matchPattern(place.getDynamicIndices()[0], m_ConstantInt(&number)))
    return -1;
  return number.getSExtValue();
}

/// Whether an index may lead from one array to another: it contains the
/// distance of two addresses, or is an entry of a list, which may be one.
static bool isDistance(Value index) {
  SmallVector<Value> left = {index};
  llvm::SmallDenseSet<Value> seen;
  while (!left.empty()) {
    Value value = left.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<LLVM::PtrToIntOp>(op))
      return true;
    // Entries of a list are read in functions of products, from a pointer that
    // was not loaded from a slot.
    if (auto load = dyn_cast_or_null<LLVM::LoadOp>(op);
        load && !op->getLoc()->findInstanceOf<NameLoc>() &&
        load.getType().isInteger(64))
      return true;
    if (isa_and_nonnull<arith::ArithDialect>(op ? op->getDialect() : nullptr))
      llvm::append_range(left, op->getOperands());
  }
  return false;
}

Root Checker::rootOf(Value pointer) {
  while (true) {
    if (auto place = pointer.getDefiningOp<LLVM::GEPOp>()) {
      // A distance leads to another array.
      if (llvm::any_of(place.getDynamicIndices(), isDistance))
        return {pointer, -1};
      pointer = place.getBase();
      continue;
    }
    // Pointers that a loop moves stay in their array.
    auto argument = dyn_cast<BlockArgument>(pointer);
    auto loop = argument
                    ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                    : nullptr;
    if (!loop || argument == loop.getInductionVar())
      break;
    pointer = loop.getTiedLoopInit(argument)->get();
  }
  if (auto choice = pointer.getDefiningOp<arith::SelectOp>();
      choice && !lanesOf(choice.getCondition())) {
    Root yes = rootOf(choice.getTrueValue()),
         no = rootOf(choice.getFalseValue());
    if (yes.pointer == no.pointer)
      return yes;
    return {b.select(choice.getCondition(), yes.pointer, no.pointer), -1};
  }
  auto slot = slots.find(pointer);
  return {pointer, slot == slots.end() ? -1 : slot->second};
}

/// Functions that all kernels call, such as those of products, have no
/// equation: the runtime names their caller instead.
Value Checker::numberOfSite(Operation *op) {
  auto name = op->getLoc()->findInstanceOf<NameLoc>();
  if (!name)
    return b.number(-1);
  auto [entry, isNew] =
      numbers.try_emplace(Attribute(op->getLoc()), int64_t(sites.size()));
  if (isNew) {
    auto place = op->getLoc()->findInstanceOf<FileLineColLoc>();
    sites.push_back(
        {name.getName().str(),
         place ? (place.getFilename().strref() + ":" + Twine(place.getLine()) +
                  ":" + Twine(place.getColumn()))
                     .str()
               : ""});
  }
  return b.number(entry->second);
}

/// A bit per lane.
Value Checker::bitsOf(Value mask) {
  unsigned lanes = lanesOf(mask);
  Value bits = LLVM::BitcastOp::create(b, b.getIntegerType(lanes), mask);
  return lanes == 64 ? bits
                     : arith::ExtUIOp::create(b, b.i64(), bits).getResult();
}

Value Checker::callCheck(StringRef name, ValueRange arguments,
                         TypeRange results) {
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(module.getBody());
    func::FuncOp::create(b, name,
                         b.getFunctionType(arguments.getTypes(), results))
        .setPrivate();
  }
  auto call = func::CallOp::create(b, name, results, arguments);
  return results.empty() ? Value() : call.getResult(0);
}

static int64_t bytesOf(Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return 8;
  return std::max(8U, type.getIntOrFloatBitWidth()) / 8;
}

void Checker::checkAccess(Operation *op, OpOperand &address, Type type,
                          Value mask, bool isWrite, int64_t alignment) {
  Root root = rootOf(address.get());
  int64_t bytes = bytesOf(getElementTypeOrSelf(type));
  // Without a mask a vector is one element.
  Value lanes = mask ? bitsOf(mask) : b.number(1);
  if (!mask)
    bytes *= std::max(1U, lanesOf(type));
  int64_t how = int64_t(isWrite) | std::max<int64_t>(1, alignment) << 8;
  address.set(
      callCheck("fovea_check_access",
                {address.get(), root.pointer, b.number(root.slot),
                 b.number(bytes), lanes, b.number(how), numberOfSite(op)},
                b.pointer()));
}

void Checker::checkGather(LLVM::masked_gather op) {
  auto place = op.getPtrs().getDefiningOp<LLVM::GEPOp>();
  assert(place && "KernelBuilder gathers from one base");
  Root root = rootOf(place.getBase());
  unsigned lanes = lanesOf(op.getMask());
  Value list;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(
        &op->getParentOfType<func::FuncOp>().getBody().front());
    list = LLVM::AllocaOp::create(b, b.pointer(), b.pointer(), b.number(lanes),
                                  /*alignment=*/64);
  }
  LLVM::StoreOp::create(b, op.getPtrs(), list, /*alignment=*/8);
  callCheck("fovea_check_gather",
            {list, root.pointer, b.number(root.slot),
             b.number(bytesOf(getElementTypeOrSelf(op.getType()))),
             bitsOf(op.getMask()), numberOfSite(op)},
            {});
  op.getPtrsMutable().assign(
      LLVM::LoadOp::create(b, op.getPtrs().getType(), list, /*alignment=*/8));
}

/// What functions get are pointers into arrays, and without this they would
/// have to guess which.
void Checker::checkCall(func::CallOp call) {
  auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
  if (callee.isDeclaration())
    return;
  for (Value operand : call.getOperands())
    if (isa<LLVM::LLVMPointerType>(operand.getType())) {
      Root root = rootOf(operand);
      callCheck(
          "fovea_check_pointer",
          {operand, root.pointer, b.number(root.slot), numberOfSite(call)}, {});
    }
}

LogicalResult Checker::check(Operation *op) {
  b.setInsertionPoint(op);
  b.setLoc(op->getLoc());
  if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
    checkAccess(op, load.getAddrMutable(), load.getType(), nullptr,
                /*isWrite=*/false, load.getAlignment().value_or(1));
  } else if (auto store = dyn_cast<LLVM::StoreOp>(op)) {
    Value value = store.getValue();
    if (isa<LLVM::LLVMPointerType>(value.getType())) {
      Root root = rootOf(value);
      callCheck("fovea_check_pointer",
                {value, root.pointer, b.number(root.slot), numberOfSite(op)},
                {});
    }
    checkAccess(op, store.getAddrMutable(), value.getType(), nullptr,
                /*isWrite=*/true, store.getAlignment().value_or(1));
  } else if (auto load = dyn_cast<LLVM::MaskedLoadOp>(op)) {
    checkAccess(op, load.getDataMutable(), load.getType(), load.getMask(),
                /*isWrite=*/false, load.getAlignment());
  } else if (auto store = dyn_cast<LLVM::MaskedStoreOp>(op)) {
    checkAccess(op, store.getDataMutable(), store.getValue().getType(),
                store.getMask(), /*isWrite=*/true, store.getAlignment());
  } else if (auto gather = dyn_cast<LLVM::masked_gather>(op)) {
    checkGather(gather);
  } else if (auto clear = dyn_cast<LLVM::MemsetOp>(op)) {
    Root root = rootOf(clear.getDst());
    clear.getLenMutable().assign(
        callCheck("fovea_check_clear",
                  {clear.getDst(), root.pointer, b.number(root.slot),
                   clear.getLen(), numberOfSite(op)},
                  b.i64()));
  } else if (auto copy = dyn_cast<LLVM::MemcpyOp>(op)) {
    Root to = rootOf(copy.getDst()), from = rootOf(copy.getSrc());
    copy.getLenMutable().assign(callCheck(
        "fovea_check_copy",
        {copy.getDst(), to.pointer, b.number(to.slot), copy.getSrc(),
         from.pointer, b.number(from.slot), copy.getLen(), numberOfSite(op)},
        b.i64()));
  } else if (auto scratch = dyn_cast<LLVM::AllocaOp>(op)) {
    b.setInsertionPointAfter(op);
    callCheck(
        "fovea_check_scratch",
        {scratch.getResult(), b.mul(scratch.getArraySize(),
                                    b.number(bytesOf(scratch.getElemType())))},
        {});
  } else if (auto call = dyn_cast<func::CallOp>(op)) {
    if (call.getCallee() == tensorCoreName)
      return op->emitError("checked code cannot call the products of a tensor "
                           "core");
    checkCall(call);
  } else {
    assert((!isa<MemoryEffectOpInterface>(op) || isMemoryEffectFree(op) ||
            isa<LLVM::Prefetch, LLVM::FenceOp>(op)) &&
           "KernelBuilder accesses memory with the ops above");
  }
  return success();
}

LogicalResult Checker::run() {
  // Calls that are added need no checks.
  SmallVector<Operation *> all;
  module.walk([&](Operation *op) {
    all.push_back(op);
    // Its check will replace the address of the slot.
    if (auto load = dyn_cast<LLVM::LoadOp>(op))
      if (int64_t slot = slotOf(load); slot >= 0)
        slots[load] = slot;
  });
  for (Operation *op : all)
    if (failed(check(op)))
      return failure();
  return success();
}

LogicalResult
fovea::codegen::checkAccesses(ModuleOp kernels,
                              std::vector<runtime::CheckedSite> &sites) {
  return Checker(kernels, sites).run();
}

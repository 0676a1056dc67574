//===- ShareKernels.cpp - kernels that differ in their places -------------===//
//
// Twelve layers have twelve copies of the same kernels for other arrays,
// and LLVM would compile each. The address of an array is in a frame slot
// whose number is a constant of the kernel. This moves the numbers to the
// launch.
//
//===----------------------------------------------------------------------===//

#include "codegen/program/ShareKernels.h"
#include "codegen/Backend.h"
#include "codegen/kernel/KernelBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace fovea::codegen;

namespace {

/// One call that hands a kernel to the threads.
struct Launch {
  func::CallOp call;
  func::ConstantOp address;
  func::FuncOp kernel;
  /// The slots that the kernel reads, in the order of its list, and the reads.
  SmallVector<int64_t> slots;
  SmallVector<std::pair<LLVM::LoadOp, unsigned>> reads;
  /// An earlier launch has the same kernel.
  bool isAgain = false;
};

} // namespace

/// The slot that a load reads, where the address is the frame's plus a number.
static std::optional<int64_t> slotOf(LLVM::LoadOp load, Value frame) {
  if (load.getAddr() == frame)
    return 0;
  auto place = load.getAddr().getDefiningOp<LLVM::GEPOp>();
  if (!place || place.getBase() != frame ||
      place.getDynamicIndices().size() != 1 || place.getIndices().size() != 1 ||
      !place.getElemType().isInteger(64))
    return std::nullopt;
  APInt number;
  if (!matchPattern(place.getDynamicIndices()[0], m_ConstantInt(&number)))
    return std::nullopt;
  return number.getSExtValue();
}

/// Finds the slots that a kernel reads. Returns false if it uses its frame in
/// another way.
static bool findReads(Launch &launch) {
  Value frame = launch.kernel.getArgument(0);
  size_t uses = 0;
  bool good = true;
  launch.kernel.walk([&](Operation *op) {
    if (auto place = dyn_cast<LLVM::GEPOp>(op);
        place && place.getBase() == frame) {
      ++uses;
      good &= llvm::all_of(place->getUsers(), [&](Operation *user) {
        auto load = dyn_cast<LLVM::LoadOp>(user);
        return load && slotOf(load, frame);
      });
    }
    auto load = dyn_cast<LLVM::LoadOp>(op);
    std::optional<int64_t> slot = load ? slotOf(load, frame) : std::nullopt;
    if (!slot)
      return;
    uses += load.getAddr() == frame;
    auto *found = llvm::find(launch.slots, *slot);
    launch.reads.push_back({load, found - launch.slots.begin()});
    if (found == launch.slots.end())
      launch.slots.push_back(*slot);
  });
  return good && uses == static_cast<size_t>(
                             std::distance(frame.use_begin(), frame.use_end()));
}

std::optional<SmallVector<int64_t>>
fovea::codegen::slotsReadBy(func::FuncOp kernel) {
  Launch launch{{}, {}, kernel, {}, {}};
  if (!findReads(launch))
    return std::nullopt;
  return std::move(launch.slots);
}

/// The launches of a function that runs a program on its frame.
static SmallVector<Launch>
launchesOf(func::FuncOp program,
           const llvm::StringMap<func::FuncOp> &functions) {
  SmallVector<Launch> launches;
  program.walk([&](func::CallOp call) {
    if (call.getCallee() != parallelName ||
        call.getOperand(2) != program.getArgument(0))
      return;
    auto cast = call.getOperand(1).getDefiningOp<UnrealizedConversionCastOp>();
    auto address =
        cast ? cast.getInputs()[0].getDefiningOp<func::ConstantOp>() : nullptr;
    if (!address)
      return;
    Launch launch{call, address, functions.lookup(address.getValue()), {}, {}};
    if (auto slots = call->getAttrOfType<DenseI64ArrayAttr>(launchSlotsName)) {
      llvm::append_range(launch.slots, slots.asArrayRef());
      launch.isAgain = true;
      call->removeAttr(launchSlotsName);
      launches.push_back(std::move(launch));
    } else if (findReads(launch)) {
      launches.push_back(std::move(launch));
    }
  });
  return launches;
}

static Value slotAt(OpBuilder &b, Location loc, Value frame, int64_t number) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value index = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(number));
  return LLVM::GEPOp::create(b, loc, pointer, b.getI64Type(), frame,
                             ArrayRef<LLVM::GEPArg>{index});
}

/// The kernel reads its list.
static void rewriteKernel(Launch &launch) {
  Value list = launch.kernel.getArgument(0);
  SmallVector<Operation *> places;
  for (auto [load, number] : launch.reads) {
    if (Operation *place = load.getAddr().getDefiningOp())
      places.push_back(place);
    OpBuilder b(load);
    load.getAddrMutable().assign(slotAt(b, load.getLoc(), list, number));
  }
  // A leftover constant would make kernels differ.
  for (Operation *place : places) {
    if (!place->use_empty())
      continue;
    Operation *number = place->getOperand(1).getDefiningOp();
    place->erase();
    if (number->use_empty())
      number->erase();
  }
}

/// The name without layer numbers, so that equal kernels have one name after
/// splitModule removes the trailing number.
static std::string nameOf(func::FuncOp kernel,
                          const llvm::StringMap<func::FuncOp> &functions) {
  std::string name;
  for (char c : kernel.getSymName())
    if (!llvm::isDigit(c) && (c != '.' || name.empty() || name.back() != '.'))
      name += c;
  name += '.';
  size_t number = functions.size();
  while (functions.contains(name + std::to_string(number)))
    ++number;
  return name + std::to_string(number);
}

static void share(func::FuncOp program,
                  llvm::StringMap<func::FuncOp> &functions, bool keepsNames) {
  SmallVector<Launch> launches = launchesOf(program, functions);
  if (launches.empty())
    return;
  size_t longest = 0;
  for (const Launch &launch : launches)
    longest = std::max(longest, launch.slots.size());
  OpBuilder b = OpBuilder::atBlockBegin(&program.front());
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value room = arith::ConstantOp::create(
      b, program.getLoc(), b.getI64IntegerAttr(static_cast<int64_t>(longest)));
  Value list = LLVM::AllocaOp::create(b, program.getLoc(), pointer,
                                      b.getI64Type(), room, /*alignment=*/8);
  for (Launch &launch : launches) {
    Location loc = launch.call.getLoc();
    b.setInsertionPoint(launch.call);
    for (auto [at, slot] : llvm::enumerate(launch.slots)) {
      Value value = LLVM::LoadOp::create(
          b, loc, b.getI64Type(), slotAt(b, loc, program.getArgument(0), slot),
          /*alignment=*/8);
      LLVM::StoreOp::create(b, loc, value, slotAt(b, loc, list, at),
                            /*alignment=*/8);
    }
    launch.call.setOperand(2, list);
    if (!launch.isAgain)
      rewriteKernel(launch);
    if (keepsNames)
      continue;
    if (!launch.isAgain) {
      std::string name = nameOf(launch.kernel, functions);
      functions[name] = launch.kernel;
      launch.kernel.setSymName(name);
      launch.kernel.setPrivate();
    }
    launch.address.setValueAttr(FlatSymbolRefAttr::get(launch.kernel));
  }
}

void fovea::codegen::shareKernels(ModuleOp module, bool keepsNames) {
  llvm::StringMap<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    functions[function.getSymName()] = function;
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
    if (function.isPublic() && !function.isDeclaration() &&
        function.getNumArguments() == 1)
      share(function, functions, keepsNames);
}

namespace {

struct ShareKernels : PassWrapper<ShareKernels, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ShareKernels)

  StringRef getArgument() const override { return "fovea-share-kernels"; }
  StringRef getDescription() const override {
    return "let kernels read the slots of their frame in a list";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, LLVM::LLVMDialect>();
  }
  void runOnOperation() override { shareKernels(getOperation()); }
};

} // namespace

void fovea::codegen::registerShareKernelsPass() {
  PassRegistration<ShareKernels>();
}

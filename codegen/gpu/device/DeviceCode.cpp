//===- DeviceCode.cpp - what runs on the device, and what calls it --------===//

#include "codegen/gpu/device/DeviceCode.h"
#include "codegen/gpu/program/GpuEmitter.h"
#include "codegen/native/Emit.h"
#include "codegen/native/Lower.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::codegen;

/// PTX has no dots in names.
static std::string entryName(StringRef kernel) {
  std::string name = kernel.str();
  std::replace(name.begin(), name.end(), '.', '$');
  return name;
}

static bool isKernel(Operation &op) { return op.hasAttr(threadsName); }

/// The size of a kernel's list: one more than the last slot that it reads.
static int64_t slotsOf(func::FuncOp kernel) {
  if (auto slots = kernel->getAttrOfType<IntegerAttr>(slotsName))
    return slots.getInt();
  Value list = kernel.getArgument(0);
  int64_t slots = 1;
  for (Operation *user : list.getUsers())
    if (auto place = dyn_cast<LLVM::GEPOp>(user)) {
      APInt number;
      if (place.getDynamicIndices().size() == 1 &&
          matchPattern(place.getDynamicIndices()[0], m_ConstantInt(&number)))
        slots = std::max(slots, number.getSExtValue() + 1);
    }
  return slots;
}

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

/// The kernels, with everything that they call and read.
static OwningOpRef<ModuleOp> moduleOfDevice(ModuleOp kernels) {
  llvm::SetVector<Operation *> needed;
  for (Operation &op : *kernels.getBody())
    if (isKernel(op))
      needed.insert(&op);
  for (size_t number = 0; number < needed.size(); ++number) {
    auto uses = SymbolTable::getSymbolUses(needed[number]);
    if (!uses)
      continue;
    for (const SymbolTable::SymbolUse &use : *uses)
      if (Operation *used = SymbolTable::lookupSymbolIn(
              kernels, use.getSymbolRef().getRootReference()))
        needed.insert(used);
  }
  OwningOpRef<ModuleOp> device = ModuleOp::create(kernels.getLoc(), "device");
  for (Operation &op : *kernels.getBody())
    if (needed.contains(&op))
      device->getBody()->push_back(op.clone());
  return device;
}

/// Entry functions get their numbers by value.
static void makeEntry(llvm::Function &function, int64_t slots, int64_t threads,
                      int64_t registers, int64_t blocks) {
  llvm::LLVMContext &context = function.getContext();
  function.setCallingConv(llvm::CallingConv::PTX_Kernel);
  llvm::AttrBuilder attributes(context);
  attributes.addByValAttr(
      llvm::ArrayType::get(llvm::Type::getInt64Ty(context), slots));
  attributes.addAlignmentAttr(8);
  function.addParamAttrs(0, attributes);
  function.addFnAttr("nvvm.maxntid", std::to_string(threads));
  if (registers != 0)
    function.addFnAttr("nvvm.maxnreg", std::to_string(registers));
  else
    // Otherwise the assembler spills, so that a processor runs more blocks.
    function.addFnAttr("nvvm.minctasm", std::to_string(blocks));
}

/// Text of PTX may be about all threads of a warp: it stays where these meet.
static void keepTogether(llvm::Module &code) {
  for (llvm::Function &function : code)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
          call && call->isInlineAsm())
        call->setConvergent();
}

llvm::Expected<std::string> fovea::codegen::deviceCode(ModuleOp kernels,
                                                       const Target &target,
                                                       DeviceText text) {
  OwningOpRef<ModuleOp> device = moduleOfDevice(kernels);
  struct Entry {
    std::string name;
    int64_t slots, threads, registers, blocks;
  };
  std::vector<Entry> entries;
  for (auto function : device->getOps<func::FuncOp>()) {
    if (!isKernel(*function)) {
      // Functions called only by kernels become private.
      function->removeAttr("passthrough");
      function.setPrivate();
      continue;
    }
    auto registers = function->getAttrOfType<IntegerAttr>(registersName);
    auto blocks = function->getAttrOfType<IntegerAttr>(blocksName);
    entries.push_back(
        {entryName(function.getSymName()), slotsOf(function),
         function->getAttrOfType<IntegerAttr>(threadsName).getInt(),
         registers ? registers.getInt() : 0, blocks ? blocks.getInt() : 1});
    function.setSymName(entries.back().name);
    function.setPublic();
    for (StringRef name : {threadsName, unitsAtOnceName, clusterName, slotsName,
                           registersName, blocksName, loopName})
      function->removeAttr(name);
  }
  auto machine = target.createMachine();
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code;
  if (succeeded(lowerToLLVM(*device, target)))
    code = translateToLLVM(*device, context, **machine, target);
  if (!code)
    return llvm::createStringError("the kernels cannot be compiled");
  for (const Entry &entry : entries)
    makeEntry(*code->getFunction(entry.name), entry.slots, entry.threads,
              entry.registers, entry.blocks);
  keepTogether(*code);
  optimise(*code, **machine);
  std::string result;
  llvm::raw_string_ostream stream(result);
  switch (text) {
  case DeviceText::LLVM:
    code->print(stream, nullptr);
    break;
  case DeviceText::Assembly: {
    auto bytes =
        emitFile(*code, **machine, llvm::CodeGenFileType::AssemblyFile);
    if (!bytes)
      return bytes.takeError();
    result.assign(bytes->begin(), bytes->end());
    break;
  }
  case DeviceText::MachineCode:
    llvm_unreachable("the toolkit makes it of the assembly");
  }
  return result;
}

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

/// Bytes of the module under a module-private name.
static Value addressOfBytes(OpBuilder &builder, ModuleOp module, StringRef name,
                            StringRef bytes) {
  MLIRContext *context = module.getContext();
  auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
    global = LLVM::GlobalOp::create(
        builder, module.getLoc(), type, /*isConstant=*/true,
        LLVM::Linkage::Internal, name, builder.getStringAttr(bytes),
        /*alignment=*/8);
  }
  return LLVM::AddressOfOp::create(builder, module.getLoc(),
                                   LLVM::LLVMPointerType::get(context), name);
}

/// The loop of launches that a cooperative kernel replaces.
static scf::ForOp loopAfter(Operation *call) {
  for (Operation *next = call->getNextNode(); next; next = next->getNextNode())
    if (auto loop = dyn_cast<scf::ForOp>(next); loop && loop->hasAttr(loopName))
      return loop;
  llvm_unreachable("the kernel of a loop is called ahead of it");
}

/// if (!launch_loop(image, name, list, slots, steps, threads, barriers,
///                  shared bytes))
///   the launches of the loop, which are sent together
static void launchLoopOr(scf::ForOp loop, OpBuilder &builder,
                         ValueRange operands) {
  Location loc = loop.getLoc();
  auto call = func::CallOp::create(builder, loc, launchLoopName,
                                   builder.getI64Type(), operands);
  Value none =
      arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
  Value isRefused = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::eq, call.getResult(0), none);
  builder.setInsertionPoint(loop);
  auto branch = scf::IfOp::create(builder, loc, isRefused,
                                  /*withElseRegion=*/false);
  loop->removeAttr(loopName);
  loop->moveBefore(branch.thenBlock()->getTerminator());
  builder.setInsertionPointAfter(loop);
  func::CallOp::create(builder, loc, sendName, TypeRange(), ValueRange());
}

/// launch(image, name, list, slots, units, threads, units at once, shared
/// bytes, blocks of a cluster)
static void replaceLaunch(func::CallOp call, ModuleOp module, StringRef image) {
  auto cast = call.getOperand(1).getDefiningOp<UnrealizedConversionCastOp>();
  auto address = cast.getInputs()[0].getDefiningOp<func::ConstantOp>();
  auto kernel = module.lookupSymbol<func::FuncOp>(address.getValue());
  assert(call.getOperand(2).getDefiningOp<LLVM::AllocaOp>() &&
         "a kernel reads its frame by slots whose numbers are known");
  OpBuilder builder(call);
  auto number = [&](int64_t value) {
    return arith::ConstantOp::create(builder, call.getLoc(),
                                     builder.getI64IntegerAttr(value));
  };
  auto attribute = [&](StringRef name) {
    return number(kernel->getAttrOfType<IntegerAttr>(name).getInt());
  };
  // The runtime requires a terminating 0.
  std::string entry = entryName(kernel.getSymName());
  Value symbol = addressOfBytes(builder, module, "fovea.name." + entry,
                                StringRef(entry.c_str(), entry.size() + 1));
  Value code = addressOfBytes(builder, module, "fovea.image",
                              StringRef(image.data(), image.size() + 1));
  SmallVector<Value> operands = {code,
                                 number(image.size()),
                                 symbol,
                                 call.getOperand(2),
                                 number(slotsOf(kernel)),
                                 call.getOperand(3),
                                 attribute(threadsName)};
  if (kernel->hasAttr(loopName)) {
    operands.append({attribute(loopName), call.getOperand(4)});
    launchLoopOr(loopAfter(call), builder, operands);
  } else {
    operands.append(
        {attribute(unitsAtOnceName), call.getOperand(4),
         kernel->hasAttr(clusterName) ? attribute(clusterName) : number(0)});
    func::CallOp::create(builder, call.getLoc(), launchName, TypeRange(),
                         operands);
  }
  call.erase();
  if (cast->use_empty())
    cast->erase();
  if (address->use_empty())
    address->erase();
}

void fovea::codegen::embedDevice(ModuleOp kernels, const std::string &image) {
  SmallVector<func::CallOp> launches;
  kernels.walk([&](func::CallOp call) {
    if (call.getCallee() == parallelName)
      launches.push_back(call);
  });
  OpBuilder builder(kernels.getContext());
  builder.setInsertionPointToEnd(kernels.getBody());
  Type pointer = LLVM::LLVMPointerType::get(kernels.getContext()),
       number = builder.getI64Type();
  func::FuncOp::create(
      builder, kernels.getLoc(), launchName,
      builder.getFunctionType({pointer, number, pointer, pointer, number,
                               number, number, number, number, number},
                              {}))
      .setPrivate();
  func::FuncOp::create(
      builder, kernels.getLoc(), launchLoopName,
      builder.getFunctionType({pointer, number, pointer, pointer, number,
                               number, number, number, number},
                              {number}))
      .setPrivate();
  for (StringRef name : {sendName, waitName})
    func::FuncOp::create(builder, kernels.getLoc(), name,
                         builder.getFunctionType({}, {}))
        .setPrivate();
  llvm::SetVector<Operation *> programs;
  for (func::CallOp launch : launches) {
    programs.insert(launch->getParentOfType<func::FuncOp>());
    replaceLaunch(launch, kernels, image);
  }
  auto callOf = [&](StringRef name, Location loc) {
    func::CallOp::create(builder, loc, name, TypeRange(), ValueRange());
  };
  for (Operation *op : programs) {
    auto program = cast<func::FuncOp>(op);
    // The number of launches of a loop varies with lengths; that between two
    // loops does not.
    for (scf::ForOp loop : llvm::to_vector(program.getOps<scf::ForOp>())) {
      builder.setInsertionPoint(loop);
      callOf(sendName, loop.getLoc());
      builder.setInsertionPointAfter(loop);
      callOf(sendName, loop.getLoc());
    }
    // The caller of a program reads its results.
    builder.setInsertionPoint(program.getBody().back().getTerminator());
    callOf(waitName, program.getLoc());
  }
  SmallVector<Operation *> others;
  for (Operation &op : *kernels.getBody()) {
    auto function = dyn_cast<func::FuncOp>(op);
    auto global = dyn_cast<LLVM::GlobalOp>(op);
    bool isShared = global && global.getAddrSpace() != 0;
    if (isKernel(op) || isShared ||
        (function && function.getSymName() == parallelName))
      others.push_back(&op);
  }
  for (Operation *op : others)
    op->erase();
}

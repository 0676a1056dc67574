//===- LaunchEmitter.cpp - the steps of a program and their kernels -------===//

#include "codegen/program/LaunchEmitter.h"
#include "codegen/program/KernelKeys.h"
#include "passes/batch/SplitDecoder.h"
#include "passes/kernels/DivideWork.h"
#include "passes/kernels/Members.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"

#include <map>

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using arith::CmpIPredicate;
using runtime::Program;

LaunchEmitter::LaunchEmitter(ProgramOp program, ModuleOp module,
                             const EmitOptions &options, unsigned lanes,
                             bool listsSlots)
    : program(program), module(module), real(options.real),
      storage(program, options.real), notes(options.notes), lanes(lanes),
      main(program.getLoc(), module.getContext()),
      ops(launch::numberedOps(program)), listsSlots(listsSlots),
      keepsNames(options.keepsNames),
      numOthers(llvm::range_size(module.getOps<func::FuncOp>())) {
  for (auto step : program.getOps<StepOp>())
    steps.push_back(step);
}

//===----------------------------------------------------------------------===//
// The schedule
//===----------------------------------------------------------------------===//

void LaunchEmitter::emitProgram(launch::ProgramOp schedule) {
  assert(succeeded(verify(schedule)) && "a schedule keeps its rules");
  for (auto prepare : schedule.getOps<launch::PrepareOp>()) {
    Program &description = storage.description();
    description.prepare = (program.getSymName() + ".prepare").str();
    beginFunction(description.prepare);
    emitItems(prepare.getBody().front());
    main.create<func::ReturnOp>();
  }
  beginFunction(program.getSymName());
  emitItems(schedule.getBody().front());
  main.create<func::ReturnOp>();
}

bool LaunchEmitter::callsEachRun(launch::ProgramOp schedule) {
  int64_t difference = 0;
  schedule.walk([&](Operation *op) {
    difference += isa<launch::RunOp, launch::PersistentOp>(op);
  });
  for (StringRef name :
       {program.getSymName(), StringRef(storage.description().prepare)})
    if (auto function = module.lookupSymbol<func::FuncOp>(name))
      function.walk([&](func::CallOp call) {
        difference -= call.getCallee() == parallelName;
      });
  return difference == 0;
}

/// A function on a frame, in which `main` continues.
void LaunchEmitter::beginFunction(StringRef name) {
  main.setInsertionPointToEnd(module.getBody());
  auto function = main.create<func::FuncOp>(
      name, main.getFunctionType({main.pointer()}, {}));
  Block *entry = function.addEntryBlock();
  frame = entry->getArgument(0);
  reads = FrameReads();
  reads.frame = frame;
  main.setReads(reads);
  main.setInsertionPointToEnd(entry);
  constants.clear();
}

void LaunchEmitter::emitItems(Block &block) {
  for (Operation &op : block)
    emitItem(op);
}

void LaunchEmitter::emitItem(Operation &op) {
  if (auto item = dyn_cast<launch::RunOp>(op))
    return emitRun(item);
  if (auto item = dyn_cast<launch::ForOp>(op))
    return void(emitLoop(item));
  if (auto item = dyn_cast<launch::PersistentOp>(op)) {
    auto loop = cast<launch::ForOp>(item.getBody().front().front());
    noteLoop(cast<ScanOp>(ops[item.getNumber()]), emitLoop(loop));
    return;
  }
  if (auto item = dyn_cast<launch::StepOp>(op)) {
    Value number = main.number(static_cast<int64_t>(item.getNumber()));
    main.create<func::CallOp>(stepName, TypeRange(), ValueRange{frame, number});
    return;
  }
  if (auto item = dyn_cast<scf::IfOp>(op))
    return main.branch(
        numbers.lookup(item.getCondition()),
        [&] { emitItems(*item.thenBlock()); },
        [&] { emitItems(*item.elseBlock()); });
  if (op.getNumResults() == 1 && !isa<launch::MemoryOp>(op))
    numbers[op.getResult(0)] = emitNumber(op);
}

/// A slot that does not change, which a function reads once.
Value LaunchEmitter::constantOf(int slot, llvm::function_ref<Value()> read) {
  // What is read in a loop or a branch is unknown after it.
  if (main.getInsertionBlock() != cast<BlockArgument>(frame).getOwner())
    return read();
  Value &known = constants[slot];
  if (!known)
    known = read();
  return known;
}

Value LaunchEmitter::entryOfHost(int slot, Value index) {
  int &hostSlot = storage.description().hostSlot;
  if (!listsSlots)
    return main.entry(frame, slot, index);
  if (hostSlot == 0)
    hostSlot = storage.newSlot();
  Value table = main.at(main.getI8Type(), main.pointerSlot(frame, slot),
                        main.slot(frame, hostSlot));
  return main.load(main.i64(), main.at(main.i64(), table, index));
}

Value LaunchEmitter::emitNumber(Operation &op) {
  main.setLoc(op.getLoc());
  auto batch = [&] {
    return constantOf(Program::batchSlot,
                      [&] { return main.slot(frame, Program::batchSlot); });
  };
  if (isa<launch::BatchOp>(op))
    return batch();
  if (auto rows = dyn_cast<launch::RowsOp>(op)) {
    auto step = cast<BlockArgument>(rows.getStep());
    auto loop = cast<launch::ForOp>(step.getOwner()->getParentOp());
    return main.slot(frame, storage.loopOf(ops[loop.getNumber()]).rowsSlot);
  }
  if (auto longest = dyn_cast<launch::LongestOp>(op)) {
    int slot = storage.length(longest.getLength()).maximumSlot;
    return constantOf(slot, [&] { return main.slot(frame, slot); });
  }
  if (auto places = dyn_cast<launch::PlacesOp>(op)) {
    int slot = storage.slotOfLayout(static_cast<int>(places.getLayout()));
    return constantOf(slot, [&] { return entryOfHost(slot, batch()); });
  }
  IRMapping operands;
  for (Value operand : op.getOperands())
    operands.map(operand, numbers.lookup(operand));
  return main.clone(op, operands)->getResult(0);
}

bool LaunchEmitter::isWritten(const Storage &array) {
  return llvm::any_of(run.getWrites(), [&](Value memory) {
    return static_cast<int>(
               memory.getDefiningOp<launch::MemoryOp>().getSlot()) ==
           array.slot;
  });
}

void LaunchEmitter::emitRun(launch::RunOp item) {
  run = item;
  Operation &op = *ops[run.getNumber()];
  main.setLoc(op.getLoc());
  // The kernel finds its scalars in the frame.
  auto numScalars = static_cast<unsigned>(run.getScalars().size());
  for (unsigned number : llvm::reverse(llvm::seq(numScalars)))
    main.setSlot(frame, slotOf(number), scalar(number));
  for (auto [place, slot] :
       llvm::zip_equal(run.getPlaces(), run.getPlaceSlots()))
    main.setSlot(frame, static_cast<int>(slot), main.number(place));
  auto compute = dyn_cast<ComputeOp>(op);
  std::optional<RowsProduct> product;
  if (compute)
    product = rowsProductOf(compute);
  switch (run.getWork()) {
  case launch::Work::pack:
    return emitPack(compute, *product);
  case launch::Work::list:
    return product->gathered
               ? emitRunList(compute, *product)
               : emitRowList(compute, *storage.rowListOf(compute));
  case launch::Work::clear:
    if (product)
      return emitZeros(compute, *product);
    [[fallthrough]];
  case launch::Work::scatter:
  case launch::Work::link:
    (void)emitScatter(compute);
    return;
  case launch::Work::gather:
  case launch::Work::copy:
    return emitCopies(&op);
  case launch::Work::compute:
    return emitOp(op);
  case launch::Work::where:
    return emitRowCondition(compute);
  case launch::Work::start:
    return emitStart(cast<ScanOp>(op));
  case launch::Work::commit:
    return emitCommit(cast<ScanOp>(op.getParentOp()));
  case launch::Work::end:
    return emitEnd(cast<ScanOp>(op));
  }
  llvm_unreachable("every work is emitted");
}

void LaunchEmitter::callParallel(func::FuncOp kernel,
                                 SmallVector<int64_t> slots, Value units,
                                 Value last, int64_t otherwise) {
  Value address = main.create<func::ConstantOp>(kernel.getFunctionType(),
                                                kernel.getSymName());
  address = main.create<UnrealizedConversionCastOp>(main.pointer(), address)
                .getResult(0);
  Value pool = constantOf(Program::poolSlot, [&] {
    return main.pointerSlot(frame, Program::poolSlot);
  });
  auto call = main.create<func::CallOp>(
      parallelName, TypeRange(),
      ValueRange{pool, address, frame, units,
                 last ? last : main.number(otherwise)});
  auto [own, isNew] = emitted.try_emplace(run.getKernelAttr());
  if (isNew)
    own->second = {kernel, slots, argumentsOf(run, storage)};
  if (!listsSlots)
    return;
  assert(llvm::all_of(kernel.getArgument(0).getUsers(),
                      llvm::IsaPred<LLVM::GEPOp>) &&
         "a kernel reads its list only");
  launches.push_back({call, std::move(slots)});
}

bool LaunchEmitter::callKnown(Value units, Value last, int64_t otherwise) {
  auto found = emitted.find(run.getKernelAttr());
  if (found == emitted.end())
    return false;
  const Emitted &known = found->second;
  SmallVector<int64_t> slots = known.reads, own = argumentsOf(run, storage);
  for (int64_t &slot : slots) {
    // Others, such as those of lengths, are of the whole program.
    const auto *argument = llvm::find(known.arguments, slot);
    if (argument != known.arguments.end())
      slot = own[argument - known.arguments.begin()];
  }
  callParallel(known.function, std::move(slots), units, last, otherwise);
  return true;
}

/// fill_list(list, frame, slots, n): list[i] = frame[slots[i]]
static void emitListFiller(KernelBuilder &b) {
  Type pointer = b.pointer();
  b.function(fillListName, {pointer, pointer, pointer, b.i64()},
             /*isPrivate=*/true, [&](ValueRange values) {
               Value list = values[0], frame = values[1], slots = values[2];
               b.loop(b.number(0), values[3], b.number(1), [&](Value place) {
                 Value slot =
                     b.load(b.getI32Type(), b.at(b.getI32Type(), slots, place));
                 slot = b.create<arith::ExtUIOp>(b.i64(), slot);
                 b.store(b.load(b.i64(), b.at(b.i64(), frame, slot)),
                         b.at(b.i64(), list, place));
               });
             });
}

namespace {
/// The slots that the launches of a function read, equal ones once.
struct SlotTable {
  std::vector<int32_t> slots;
  std::map<SmallVector<int64_t>, int64_t> starts;
  size_t longest = 0;

  int64_t startOf(const SmallVector<int64_t> &list) {
    auto [start, isNew] = starts.try_emplace(list, slots.size());
    if (isNew)
      slots.insert(slots.end(), list.begin(), list.end());
    longest = std::max(longest, list.size());
    return start->second;
  }
};
} // namespace

void LaunchEmitter::fillLists() {
  OpBuilder::InsertionGuard guard(main);
  llvm::MapVector<Operation *, SlotTable> tables;
  for (const Launch &launch : launches)
    tables[launch.call->getParentOfType<func::FuncOp>()].startOf(launch.slots);
  llvm::DenseMap<Operation *, std::pair<Value, Value>> lists;
  for (auto &[op, table] : tables) {
    auto function = cast<func::FuncOp>(op);
    main.setLoc(function.getLoc());
    emitListFiller(main);
    main.setInsertionPoint(function);
    auto size = static_cast<int64_t>(table.slots.size());
    auto global = main.create<LLVM::GlobalOp>(
        LLVM::LLVMArrayType::get(main.getI32Type(), size), /*isConstant=*/true,
        LLVM::Linkage::Internal, (function.getSymName() + ".slots").str(),
        DenseElementsAttr::get(RankedTensorType::get(size, main.getI32Type()),
                               ArrayRef(table.slots)),
        /*alignment=*/4);
    main.setInsertionPointToStart(&function.front());
    Value list = main.create<LLVM::AllocaOp>(
        main.pointer(), main.i64(),
        main.number(static_cast<int64_t>(table.longest)), /*alignment=*/8);
    lists[op] = {list, main.create<LLVM::AddressOfOp>(global)};
  }
  for (auto &[call, slots] : launches) {
    auto function = call->getParentOfType<func::FuncOp>();
    auto [list, table] = lists[function];
    main.setLoc(call.getLoc());
    main.setInsertionPoint(call);
    Value start = main.number(tables[function].startOf(slots));
    main.call(fillListName, {list, function.getArgument(0),
                             main.at(main.getI32Type(), table, start),
                             main.number(static_cast<int64_t>(slots.size()))});
    call.setOperand(2, list);
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void LaunchEmitter::emitKernel(KernelOp kernel) {
  main.setLoc(launchedIn(kernel).front()->getLoc());
  switch (kernel.getSchedule()) {
  case Schedule::strips:
    return emitStrips(kernel);
  case Schedule::columns:
    return emitColumns(kernel);
  case Schedule::loop:
    return emitCompute(kernel.getMembers(), *unitsOf(kernel));
  case Schedule::rows:
    return emitRows(kernel);
  case Schedule::places:
    return emitPlaces(kernel);
  }
  llvm_unreachable("every schedule is emitted");
}

/// Each of `ops` after the one before, whose results the team has seen.
static void inTurn(KernelBuilder &kernel, ArrayRef<Operation *> ops,
                   llvm::function_ref<void(Operation *)> emit) {
  for (Operation *op : ops) {
    kernel.setLoc(op->getLoc());
    if (op != ops.front())
      kernel.wait();
    emit(op);
  }
}

void LaunchEmitter::emitRows(KernelOp rows) {
  SmallVector<Operation *> ops = launchedIn(rows);
  launchRows(ops.front(), joinedLabels(ops),
             [&](KernelBuilder &kernel, const Place &place) {
               inTurn(kernel, ops,
                      [&](Operation *op) { emitAt(kernel, place, op); });
             });
  noteOthers(ops);
}

void LaunchEmitter::emitAt(KernelBuilder &kernel, const Place &place,
                           Operation *op) {
  if (auto concat = dyn_cast<ConcatOp>(op))
    emitParts(kernel, place, concat);
  else if (auto append = dyn_cast<AppendOp>(op))
    emitRow(kernel, place, append);
  else
    ComputeEmitter(kernel, storage, cast<ComputeOp>(op), lanes).emit(place, {});
}

void LaunchEmitter::emitOp(Operation &op) {
  if (auto compute = dyn_cast<ComputeOp>(op)) {
    if (auto product = rowsProductOf(compute))
      emitProduct(compute, *product);
    else if (auto product = exampleProductOf(compute))
      emitBatchedProduct(compute, *product);
    else if (!emitScatter(compute))
      emitCompute(compute, *unitsOf(compute));
  } else if (auto kernel = dyn_cast<KernelOp>(op)) {
    emitKernel(kernel);
  } else if (auto concat = dyn_cast<ConcatOp>(op)) {
    emitConcat(concat);
  } else {
    emitAppend(cast<AppendOp>(op));
  }
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The name of an equation as a symbol that tools accept.
static std::string symbolOf(StringRef text) {
  std::string result;
  for (char c : text)
    result += llvm::isAlnum(c) || c == '_' || c == '.' ? c : '_';
  return result;
}

void LaunchEmitter::noteOthers(ArrayRef<Operation *> ops) {
  if (notes)
    llvm::append_range(notes->back().others, ops.drop_front());
}

std::string LaunchEmitter::symbolFor(StringRef name) {
  unsigned number = numKernels++;
  if (keepsNames)
    return symbolOf(
        (program.getSymName() + "." + Twine(number) + "." + name).str());
  std::string result = (program.getSymName() + ".").str();
  for (char c : symbolOf(name))
    if (!llvm::isDigit(c) && (c != '.' || result.back() != '.'))
      result += c;
  return result + "." + std::to_string(numOthers + number);
}

func::FuncOp LaunchEmitter::beginKernel(KernelBuilder &kernel, Operation *op,
                                        StringRef name,
                                        ArrayRef<Type> arguments) {
  launched = op;
  kernel.setInsertionPointToEnd(module.getBody());
  std::string symbol = symbolFor(name);
  auto function = kernel.create<func::FuncOp>(
      symbol, kernel.getFunctionType(arguments, {}));
  if (notes)
    notes->push_back({symbol, op});
  kernel.setInsertionPointToEnd(function.addEntryBlock());
  if (!keepsNames)
    function.setPrivate();
  FrameReads &own = readsOf[function];
  own.frame = function.getArgument(0);
  own.areListed = listsSlots;
  kernel.setReads(own);
  return function;
}

Place LaunchEmitter::placeOf(KernelBuilder &kernel, Operation *op,
                             Value frame) {
  Place place;
  place.frame = frame;
  for (const Loop *loop : storage.around(op))
    place.steps[loop->op->getRegion(0).getArgument(0)] =
        kernel.slot(frame, loop->stepSlot);
  for (StepOp step : steps)
    place.steps[step] =
        kernel.slot(frame, isInsideStep(step) ? storage.description().insideSlot
                                              : storage.description().stepSlot);
  return place;
}

void LaunchEmitter::forRow(KernelBuilder &kernel, Operation *op, Value frame,
                           Value row,
                           llvm::function_ref<void(const Place &)> body,
                           llvm::function_ref<void(const Place &)> ended) {
  Place place = placeOf(kernel, op, frame);
  place.rank = place.example = row;
  Value running;
  for (const Loop *loop : storage.around(op)) {
    if (loop->order >= 0) {
      const Program::Order &order = storage.description().orders[loop->order];
      place.example = kernel.entry(frame, order.orderSlot, row);
      continue;
    }
    auto extent = loop->op->getAttrOfType<StringAttr>("extent");
    if (!extent)
      continue;
    // An inner loop runs as long as any example needs it.
    BodyEmitter values(kernel, storage, place, 0);
    Value bound = values.extent(extent, [](StringRef) { return Value(); });
    running = kernel.both(
        running,
        kernel.compare(
            CmpIPredicate::slt,
            place.steps.lookup(loop->op->getRegion(0).getArgument(0)), bound));
  }
  if (!running)
    return body(place);
  auto yes = [&] { body(place); };
  if (!ended)
    return kernel.branch(running, yes);
  kernel.branch(running, yes, [&] { ended(place); });
}

void LaunchEmitter::launchRows(
    Operation *op, StringRef name,
    llvm::function_ref<void(KernelBuilder &, const Place &)> body) {
  Work work = {.units = count(), .isLarge = true};
  emitLaunch(op, name, work,
             [&](KernelBuilder &kernel, Value frame, Value first, Value last) {
               kernel.loop(first, last, kernel.number(1), [&](Value row) {
                 forRow(kernel, op, frame, row,
                        [&](const Place &place) { body(kernel, place); });
               });
             });
}

//===----------------------------------------------------------------------===//
// Equations
//===----------------------------------------------------------------------===//

void LaunchEmitter::emitCompute(ArrayRef<ComputeOp> ops, Units units) {
  ComputeOp op = ops.front();
  SmallVector<Operation *> together(ops.begin(), ops.end());
  std::string name = joinedLabels(together);
  // For what the batch has once.
  auto launchUnits = [&](int64_t count, auto body) {
    launch(op, name, main.number(count),
           [&](KernelBuilder &kernel, Value frame, Value first, Value last) {
             ComputeEmitter emitter(kernel, storage, ops, lanes);
             body(kernel, emitter, placeOf(kernel, op, frame), first, last);
           });
  };
  auto extentOf = [&](unsigned number) {
    return cast<IntegerAttr>(op.getExtents()[number]).getInt();
  };
  switch (units) {
  case Units::examples:
    launchRows(op, name, [&](KernelBuilder &kernel, const Place &place) {
      ComputeEmitter(kernel, storage, ops, lanes).emit(place, {});
    });
    break;
  case Units::rows:
    emitAllRows(ops, name);
    break;
  case Units::places:
    launchUnits(extentOf(0), [](KernelBuilder &kernel, ComputeEmitter &emitter,
                                const Place &place, Value first, Value last) {
      kernel.loop(first, last, kernel.number(1),
                  [&](Value index) { emitter.emit(place, index); });
    });
    break;
  case Units::ranges: {
    // Some vectors form a unit.
    int64_t chunk = 8 * lanes, size = extentOf(op.getNumParallel() - 1);
    launchUnits(llvm::divideCeil(size, chunk),
                [&](KernelBuilder &kernel, ComputeEmitter &emitter,
                    const Place &place, Value first, Value last) {
                  Value begin = kernel.mul(first, kernel.number(chunk));
                  Value end = kernel.mul(last, kernel.number(chunk));
                  emitter.emitRange(place, begin,
                                    kernel.min(end, kernel.number(size)));
                });
    break;
  }
  case Units::once:
    launchUnits(1,
                [](KernelBuilder &, ComputeEmitter &emitter, const Place &place,
                   Value, Value) { emitter.emit(place, {}); });
    break;
  }
  noteOthers(together);
}

/// The units are the places of the first index, of all examples.
void LaunchEmitter::emitAllRows(ArrayRef<ComputeOp> ops, StringRef name) {
  launchPlaces(ops.front(), name,
               [&](KernelBuilder &kernel, const Place &place, Value index) {
                 ComputeEmitter(kernel, storage, ops, lanes).emit(place, index);
               });
}

void LaunchEmitter::emitPlaces(KernelOp places) {
  SmallVector<Operation *> ops = launchedIn(places);
  launchPlaces(cast<ComputeOp>(ops.front()), joinedLabels(ops),
               [&](KernelBuilder &kernel, const Place &place, Value index) {
                 inTurn(kernel, ops, [&](Operation *op) {
                   ComputeEmitter(kernel, storage, cast<ComputeOp>(op), lanes,
                                  /*given=*/0u)
                       .emit(place, index);
                 });
               });
  noteOthers(ops);
}

void LaunchEmitter::launchPlaces(
    ComputeOp op, StringRef name,
    llvm::function_ref<void(KernelBuilder &, const Place &, Value)> body) {
  auto rows = cast<StringAttr>(op.getExtents()[0]);
  int offsets = storage.slotOfLayout(storage.layoutOfLength(rows));
  launch(op, name, count(),
         [&](KernelBuilder &kernel, Value frame, Value first, Value last) {
           Value batch = kernel.slot(frame, Program::batchSlot);
           kernel.loop(
               kernel.number(0), batch, kernel.number(1), [&](Value example) {
                 Place place = placeOf(kernel, op, frame);
                 place.example = place.rank = example;
                 Value start = kernel.entry(frame, offsets, example);
                 Value end = kernel.entry(
                     frame, offsets, kernel.add(example, kernel.number(1)));
                 kernel.loop(kernel.max(first, start), kernel.min(last, end),
                             kernel.number(1), [&](Value unit) {
                               body(kernel, place, kernel.sub(unit, start));
                             });
               });
         });
}

void LaunchEmitter::emitParts(KernelBuilder &kernel, const Place &place,
                              ConcatOp op) {
  const Storage &target = storage.of(op.getResult());
  BodyEmitter values(kernel, storage, place, 0);
  Type element = storage.elementOf(target.type.getElementType());
  Value rows = kernel.number(1);
  for (int64_t axis = 0; axis + 1 < target.type.getRank(); ++axis)
    rows = kernel.mul(rows, values.extent(target.type.getExtent(axis)));
  Value width = values.extent(target.type.getExtent(target.type.getRank() - 1));
  Value to = values.base(target);
  Value before = kernel.number(0);
  for (Value part : op.getParts()) {
    const Storage &source = storage.of(part);
    Value from = values.base(source);
    Value own = values.extent(source.type.getExtent(source.type.getRank() - 1));
    kernel.loop(kernel.number(0), rows, kernel.number(1), [&](Value row) {
      kernel.copy(
          element,
          kernel.at(element, to, kernel.add(kernel.mul(row, width), before)),
          kernel.at(element, from, kernel.mul(row, own)), own);
    });
    before = kernel.add(before, own);
  }
}

void LaunchEmitter::emitConcat(ConcatOp op) {
  std::string name = op.getLabel().value_or("concat").str();
  if (unitsOf(op) == Units::examples)
    return launchRows(op, name, [&](KernelBuilder &kernel, const Place &place) {
      emitParts(kernel, place, op);
    });
  launch(op, name, main.number(1),
         [&](KernelBuilder &kernel, Value frame, Value, Value) {
           emitParts(kernel, placeOf(kernel, op, frame), op);
         });
}

/// The row goes into the array, in place.
void LaunchEmitter::emitRow(KernelBuilder &kernel, const Place &place,
                            AppendOp op) {
  APInt number;
  Value at = matchPattern(op.getAt(), m_ConstantInt(&number))
                 ? kernel.number(number.getSExtValue())
                 : place.steps.lookup(op.getAt());
  copyRow(kernel, place, storage.of(op.getResult()), op.getAxis(), at,
          storage.of(op.getRow()));
}

void LaunchEmitter::emitAppend(AppendOp op) {
  if (unitsOf(op) == Units::examples)
    return launchRows(op, "append",
                      [&](KernelBuilder &kernel, const Place &place) {
                        emitRow(kernel, place, op);
                      });
  launch(op, "append", main.number(1),
         [&](KernelBuilder &kernel, Value frame, Value, Value) {
           emitRow(kernel, placeOf(kernel, op, frame), op);
         });
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Copies the whole array between its two places.
void LaunchEmitter::copyAll(KernelBuilder &kernel, const Place &to,
                            const Storage &target, const Place &from,
                            const Storage &source) {
  BodyEmitter targets(kernel, storage, to, 0),
      sources(kernel, storage, from, 0);
  Value count = kernel.number(1);
  for (Attribute extent : target.type.getShape())
    count = kernel.mul(count, targets.extent(extent));
  kernel.copy(storage.elementOf(target.type.getElementType()),
              targets.base(target), sources.base(source), count);
}

/// target[.., at, ..] := source, with `at` as the index of `axis`.
void LaunchEmitter::copyRow(KernelBuilder &kernel, const Place &place,
                            const Storage &target, int64_t axis, Value at,
                            const Storage &source) {
  BodyEmitter values(kernel, storage, place, 0);
  Type element = storage.elementOf(target.type.getElementType());
  Value rows = kernel.number(1), count = kernel.number(1);
  for (int64_t other = 0; other < target.type.getRank(); ++other) {
    if (other == axis)
      continue;
    Value &product = other < axis ? rows : count;
    product = kernel.mul(product, values.extent(target.type.getExtent(other)));
  }
  Value steps = values.extent(target.type.getExtent(axis));
  Value to = values.base(target), from = values.base(source);
  kernel.loop(kernel.number(0), rows, kernel.number(1), [&](Value row) {
    Value place = kernel.add(kernel.mul(row, steps), at);
    kernel.copy(element, kernel.at(element, to, kernel.mul(place, count)),
                kernel.at(element, from, kernel.mul(row, count)), count);
  });
}

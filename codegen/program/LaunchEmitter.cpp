//===- LaunchEmitter.cpp - the steps of a program and their kernels -------===//

#include "codegen/program/LaunchEmitter.h"
#include "passes/batch/Batch.h"
#include "passes/batch/SplitDecoder.h"
#include "passes/kernels/DivideWork.h"
#include "passes/kernels/Members.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using arith::CmpIPredicate;
using runtime::Program;

LaunchEmitter::LaunchEmitter(ProgramOp program, ModuleOp module,
                             const EmitOptions &options, unsigned lanes)
    : program(program), module(module), real(options.real),
      storage(program, options.real), notes(options.notes), lanes(lanes),
      main(program.getLoc(), module.getContext()) {
  for (auto step : program.getOps<StepOp>())
    steps.push_back(step);
}

LogicalResult LaunchEmitter::emitProgram() {
  beginFunction(program.getSymName());
  if (failed(emitBlock(program.getBody().front())))
    return failure();
  main.create<func::ReturnOp>();
  return success();
}

/// A function on a frame, in which `main` continues.
void LaunchEmitter::beginFunction(StringRef name) {
  main.setInsertionPointToEnd(module.getBody());
  auto function = main.create<func::FuncOp>(
      name, main.getFunctionType({main.pointer()}, {}));
  Block *entry = function.addEntryBlock();
  frame = entry->getArgument(0);
  main.setInsertionPointToEnd(entry);
}

LogicalResult LaunchEmitter::emitBlock(Block &block) {
  bool isTop = isa<ProgramOp>(block.getParentOp());
  for (Operation &op : block) {
    if (isTop && marksSteps)
      emitStep(op);
    if (isTop)
      emitPacking(op, /*ofParameters=*/false);
    if (failed(emitOp(op)))
      return failure();
  }
  return success();
}

/// Tells the number that StorageMap gives the step.
void LaunchEmitter::emitStep(Operation &op) {
  auto kernel = dyn_cast<KernelOp>(op);
  if (kernel && kernel.getBody().front().without_terminator().empty())
    return;
  main.setLoc(op.getLoc());
  main.create<func::CallOp>(stepName, TypeRange(),
                            ValueRange{frame, main.number(++step)});
}

void LaunchEmitter::emitKernel(KernelOp kernel) {
  SmallVector<ComputeOp> members = kernel.getMembers();
  if (members.empty())
    return;
  main.setLoc(members.front().getLoc());
  switch (kernel.getSchedule()) {
  case Schedule::strips:
    return emitStrips(kernel);
  case Schedule::columns:
    return emitColumns(kernel);
  case Schedule::loop:
    return emitCompute(members, *unitsOf(kernel));
  case Schedule::rows:
    return emitRows(members);
  }
  llvm_unreachable("every schedule is emitted");
}

void LaunchEmitter::emitRows(ArrayRef<ComputeOp> members) {
  SmallVector<Operation *> ops(members.begin(), members.end());
  launchRows(ops.front(), joinedLabels(ops),
             [&](KernelBuilder &kernel, const Place &place) {
               for (ComputeOp op : members) {
                 kernel.setLoc(op.getLoc());
                 if (op != members.front())
                   kernel.wait();
                 ComputeEmitter(kernel, storage, op, lanes).emit(place, {});
               }
             });
  noteOthers(ops);
}

LogicalResult LaunchEmitter::emitOp(Operation &op) {
  main.setLoc(op.getLoc());
  if (hasUnits(op) && !unitsOf(&op))
    return op.emitOpError() << "does not define its units";
  if (auto compute = dyn_cast<ComputeOp>(op)) {
    if (auto product = rowsProductOf(compute))
      emitProduct(compute, *product);
    else if (auto product = exampleProductOf(compute))
      emitBatchedProduct(compute, *product);
    else if (!emitScatter(compute))
      emitCompute(compute, *unitsOf(compute));
    return success();
  }
  if (auto kernel = dyn_cast<KernelOp>(op)) {
    emitKernel(kernel);
    return success();
  }
  if (auto scan = dyn_cast<ScanOp>(op))
    return emitScan(scan);
  if (auto concat = dyn_cast<ConcatOp>(op)) {
    emitConcat(concat);
    return success();
  }
  if (auto append = dyn_cast<AppendOp>(op)) {
    emitAppend(append);
    return success();
  }
  if (!isLaunched(op))
    return success();
  return op.emitOpError() << "cannot be compiled yet";
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

std::string LaunchEmitter::joinedLabels(ArrayRef<Operation *> ops) {
  std::string name;
  for (Operation *op : ops)
    if (auto label = op->getAttrOfType<StringAttr>("label");
        label && !label.empty())
      name += (name.empty() ? "" : ".") + label.str();
  return name;
}

void LaunchEmitter::noteOthers(ArrayRef<Operation *> ops) {
  if (notes)
    llvm::append_range(notes->back().others, ops.drop_front());
}

func::FuncOp LaunchEmitter::beginKernel(KernelBuilder &kernel, Operation *op,
                                        StringRef name,
                                        ArrayRef<Type> arguments) {
  launched = op;
  kernel.setInsertionPointToEnd(module.getBody());
  std::string symbol = symbolOf(
      (program.getSymName() + "." + Twine(numKernels++) + "." + name).str());
  auto function = kernel.create<func::FuncOp>(
      symbol, kernel.getFunctionType(arguments, {}));
  if (notes)
    notes->push_back({symbol, op});
  kernel.setInsertionPointToEnd(function.addEntryBlock());
  return function;
}

Value LaunchEmitter::rowsAround(Operation *op) {
  auto loops = storage.around(op);
  return main.slot(frame, loops.empty() ? int(Program::batchSlot)
                                        : loops.back()->rowsSlot);
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
  Work work = {.units = rowsAround(op), .isLarge = true};
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
  ComputeOp op = ops.front();
  auto rows = cast<StringAttr>(op.getExtents()[0]);
  int offsets = storage.slotOfLayout(storage.layoutOfLength(rows));
  Value batch = main.slot(frame, Program::batchSlot);
  launch(op, name, main.entry(frame, offsets, batch),
         [&](KernelBuilder &kernel, Value frame, Value first, Value last) {
           Value batch = kernel.slot(frame, Program::batchSlot);
           ComputeEmitter emitter(kernel, storage, ops, lanes);
           kernel.loop(
               kernel.number(0), batch, kernel.number(1), [&](Value example) {
                 Place place = placeOf(kernel, op, frame);
                 place.example = place.rank = example;
                 Value start = kernel.entry(frame, offsets, example);
                 Value end = kernel.entry(
                     frame, offsets, kernel.add(example, kernel.number(1)));
                 kernel.loop(kernel.max(first, start), kernel.min(last, end),
                             kernel.number(1), [&](Value unit) {
                               emitter.emit(place, kernel.sub(unit, start));
                             });
               });
         });
}

void LaunchEmitter::emitConcat(ConcatOp op) {
  auto emitParts = [&](KernelBuilder &kernel, const Place &place) {
    const Storage &target = storage.of(op.getResult());
    BodyEmitter values(kernel, storage, place, 0);
    Type element = storage.elementOf(target.type.getElementType());
    Value rows = kernel.number(1);
    for (int64_t axis = 0; axis + 1 < target.type.getRank(); ++axis)
      rows = kernel.mul(rows, values.extent(target.type.getExtent(axis)));
    Value width =
        values.extent(target.type.getExtent(target.type.getRank() - 1));
    Value to = values.base(target);
    Value before = kernel.number(0);
    for (Value part : op.getParts()) {
      const Storage &source = storage.of(part);
      Value from = values.base(source);
      Value own =
          values.extent(source.type.getExtent(source.type.getRank() - 1));
      kernel.loop(kernel.number(0), rows, kernel.number(1), [&](Value row) {
        kernel.copy(
            element,
            kernel.at(element, to, kernel.add(kernel.mul(row, width), before)),
            kernel.at(element, from, kernel.mul(row, own)), own);
      });
      before = kernel.add(before, own);
    }
  };
  std::string name = op.getLabel().value_or("concat").str();
  if (unitsOf(op) == Units::examples)
    return launchRows(op, name, emitParts);
  launch(op, name, main.number(1),
         [&](KernelBuilder &kernel, Value frame, Value, Value) {
           emitParts(kernel, placeOf(kernel, op, frame));
         });
}

/// The row goes into the array, in place.
void LaunchEmitter::emitAppend(AppendOp op) {
  auto emitRow = [&](KernelBuilder &kernel, const Place &place) {
    APInt number;
    Value at = matchPattern(op.getAt(), m_ConstantInt(&number))
                   ? kernel.number(number.getSExtValue())
                   : place.steps.lookup(op.getAt());
    copyRow(kernel, place, storage.of(op.getResult()), op.getAxis(), at,
            storage.of(op.getRow()));
  };
  if (unitsOf(op) == Units::examples)
    return launchRows(op, "append", emitRow);
  launch(op, "append", main.number(1),
         [&](KernelBuilder &kernel, Value frame, Value, Value) {
           emitRow(kernel, placeOf(kernel, op, frame));
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

/// target[.., at, ..] := source, where `at` stands at `axis`.
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

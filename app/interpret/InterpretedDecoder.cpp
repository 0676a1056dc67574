//===- InterpretedDecoder.cpp - a decoder, as a phase leaves it -----------===//

#include "app/interpret/InterpretedDecoder.h"
#include "app/interpret/LaunchTrace.h"
#include "compiler/Contents.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::cli;
using runtime::ProgramCode;
using runtime::Status;

Status InterpretedDecoder::create(ModuleOp module,
                                  const CompiledOptions &options,
                                  std::unique_ptr<InterpretedDecoder> &result) {
  std::unique_ptr<InterpretedDecoder> made(
      new InterpretedDecoder(options.isDouble));
  if (Status status = made->describe(module, options); status.failed())
    return status;
  result = std::move(made);
  return Status::success();
}

Status InterpretedDecoder::describe(ModuleOp module,
                                    const CompiledOptions &options) {
  OwningOpRef<ModuleOp> placed = module.clone();
  std::unique_ptr<codegen::Driver> driver;
  if (Status status =
          codegen::Driver::create(placed->getLoc(), options, driver);
      status.failed())
    return status;
  if (Status status = driver->addDecoder(*placed); status.failed())
    return status;
  for (auto launches : driver->launches().getOps<launch::ProgramOp>())
    names.push_back(launches.getProgram().str());
  codegen::Code code;
  code.description = std::move(driver->description());
  if (Status status = CompiledDecoder::create(std::move(code), options, search);
      status.failed())
    return status;
  search->replaceFunctions([&](size_t number, const ProgramCode &own) {
    return ProgramCode{
        [this, number](void *frame) { run(number, frame); }, own.prepare, {}};
  });
  interpret(module);
  return Status::success();
}

void InterpretedDecoder::interpret(ModuleOp phase) {
  programs.clear();
  for (const std::string &name : names)
    programs.push_back(compiler::findProgram(phase, name));
}

void InterpretedDecoder::run(size_t number, void *memory) {
  ProgramFrame frame(search->description().programs[number], memory);
  reference::Arrays parameters;
  std::vector<reference::Arrays> outputs, grown;
  auto evaluate = [&] {
    std::vector<reference::Inputs> rows = frame.inputs(parameters);
    for (reference::Inputs &row : rows)
      row.single = !isDouble;
    return reference::evaluateEach(programs[number], rows, outputs, &grown);
  };
  bool isRun =
      failure.succeeds([&] { return "'@" + names[number] + "'"; }, evaluate);
  if (!isRun)
    return frame.clearOutputs();
  for (size_t row = 0; row < outputs.size(); ++row) {
    frame.store(row, outputs[row]);
    frame.grow(row, grown[row]);
  }
}

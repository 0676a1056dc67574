//===- LaunchedDecoder.cpp - a decoder, launch by launch ------------------===//

#include "app/interpret/LaunchedDecoder.h"
#include "app/interpret/LaunchTrace.h"
#include "dialect/AttnDialect.h"

#include <fmt/format.h>

using namespace mlir;
using namespace fovea;
using namespace fovea::cli;
using runtime::Program;
using runtime::ProgramCode;
using runtime::Status;

Status LaunchedDecoder::create(ModuleOp module, const CompiledOptions &options,
                               bool compares,
                               std::unique_ptr<LaunchedDecoder> &result) {
  std::unique_ptr<LaunchedDecoder> made(new LaunchedDecoder(module, options));
  if (Status status = made->compile(compares); status.failed())
    return status;
  result = std::move(made);
  return Status::success();
}

Status LaunchedDecoder::compile(bool compares) {
  LaunchTrace::shareMemory();
  CompiledOptions how = options;
  how.parallel = &LaunchTrace::parallel;
  how.debugSeed.reset();
  // Kernels that share code have frames of their own.
  how.keepsNames = true;
  if (Status status = codegen::Driver::create(module->getLoc(), how, driver);
      status.failed())
    return status;
  if (Status status = driver->addDecoder(*module); status.failed())
    return status;
  codegen::Code code;
  if (!compares)
    code.description = std::move(driver->description());
  else if (Status status = driver->finish(code); status.failed())
    return status;
  if (Status status = CompiledDecoder::create(std::move(code), how, search);
      status.failed())
    return status;
  for (auto launches : driver->launches().getOps<launch::ProgramOp>())
    parts.push_back(
        {module->lookupSymbol<attn::ProgramOp>(launches.getProgram()),
         launches});
  search->replaceFunctions([&](size_t number, const ProgramCode &own) {
    Part &part = parts[number];
    part.code = own;
    const Program &description = search->description().programs[number];
    return ProgramCode{[this, &description, &part](void *frame) {
                         run(description, part, frame);
                       },
                       own.prepare,
                       {}};
  });
  return Status::success();
}

void LaunchedDecoder::run(const Program &description, Part &part, void *frame) {
  ++part.numRuns;
  auto name = [&] {
    return fmt::format("run {} of '@{}'", part.numRuns,
                       cast<attn::ProgramOp>(part.program).getSymName().str());
  };
  if (failure.succeeds(name,
                       [&] { return interpret(description, part, frame); }))
    return;
  if (part.code.run)
    part.code.run(frame);
  else
    ProgramFrame(description, frame).clearOutputs();
}

Status LaunchedDecoder::interpret(const Program &description, Part &part,
                                  void *memory) {
  ProgramFrame frame(description, memory);
  reference::Arrays parameters;
  std::vector<reference::Inputs> rows = frame.inputs(parameters);
  for (reference::Inputs &row : rows)
    row.single = !options.isDouble;
  LaunchTrace trace;
  launch::InterpretOptions how;
  how.order = part.numRuns;
  how.onRun = [&](launch::RunOp run, ArrayRef<launch::Written> written) {
    trace.add(run, written);
  };
  std::vector<reference::Arrays> outputs;
  if (Status status =
          launch::interpret(part.launches, cast<attn::ProgramOp>(part.program),
                            rows, how, outputs);
      status.failed())
    return status;
  if (Status status = launch::compareWithProgram(
          cast<attn::ProgramOp>(part.program), rows, outputs);
      status.failed())
    return status;
  if (part.code.run)
    return trace.compare(frame, options.parallel,
                         [&] { part.code.run(memory); });
  trace.append(frame);
  for (auto [row, own] : llvm::enumerate(outputs))
    frame.store(row, own);
  return Status::success();
}

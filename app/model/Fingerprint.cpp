//===- Fingerprint.cpp - hashes of what is compiled -----------------------===//

#include "app/model/Fingerprint.h"
#include "codegen/Backend.h"
#include "codegen/native/Split.h"
#include "runtime/memory/Placement.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using runtime::Program;
using runtime::Status;

/// Adds the bytes of a program's arrays but its parameters, for a batch of 4
/// examples whose lengths are 16.
static Status addBytes(const Program &program, int64_t &bytes) {
  runtime::BatchSize size;
  size.batch = 4;
  size.threads = 2;
  for (const Program::Length &length : program.lengths)
    if (length.formula.empty())
      size.lengths[length.name] = 16;
  std::vector<int64_t> lengths = runtime::lengthsOf(program, size);
  runtime::Placement placement;
  Status status = runtime::placeArrays(
      program,
      [&](const Program::Array &array) {
        return array.role == Program::Role::Parameter
                   ? -1
                   : runtime::bytesOf(program, array, size, lengths);
      },
      placement);
  bytes += placement.numBytes;
  return status;
}

Status fovea::cli::printFingerprint(mlir::ModuleOp module,
                                    llvm::StringRef entry,
                                    const codegen::DriverOptions &options,
                                    llvm::raw_ostream &stream) {
  std::unique_ptr<codegen::Driver> driver;
  if (Status status = codegen::Driver::create(module.getLoc(), options, driver);
      status.failed())
    return status;
  if (Status status = entry == "decode" ? driver->addDecoder(module)
                                        : driver->add(module, entry);
      status.failed())
    return status;
  const runtime::Description &description = driver->description();
  int64_t bytes = 0;
  llvm::StringSet<> host;
  for (const auto *programs :
       {&description.programs, &description.decoder.programs})
    for (const Program &program : *programs) {
      host.insert(program.entry);
      host.insert(program.prepare);
      if (Status status = addBytes(program, bytes); status.failed())
        return status;
    }
  codegen::ModuleHashes hashes =
      codegen::hashModule(driver->kernels(), [&](llvm::StringRef symbol) {
        return host.contains(symbol) || symbol == codegen::fillListName;
      });
  stream << fmt::format(
      "{}: {} kernels {:08x}, host {:08x}, memory {:08x}, {} bytes\n",
      entry.str(), hashes.numKernels, uint32_t(hashes.kernels),
      uint32_t(hashes.host),
      uint32_t(llvm::xxh3_64bits(runtime::writeDescription(description))),
      bytes);
  return Status::success();
}

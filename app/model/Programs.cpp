//===- Programs.cpp - the programs of a model, kept or compiled -----------===//
//
// An entry of the cache is the description of the program
// (runtime/model/Description.h) and its objects, a size ahead of each. The
// cache sees to it that an entry is whole.
//
//===----------------------------------------------------------------------===//

#include "app/model/Programs.h"
#include "codegen/TensorCores.h"
#include "codegen/native/ObjectCache.h"
#include "compiler/Contents.h"
#include "dialect/reference/Batch.h"
#include "passes/analysis/RowLists.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;
using runtime::Status;

Programs::Programs(Session &session, Model &model, Request request,
                   CompiledOptions options)
    : session(session), model(model), request(std::move(request)),
      options(std::move(options)), identity(partsOfKey()) {
  std::string folder = codegen::ObjectCache::defaultFolder();
  // Where kernels are watched, they are made here, and what keeps a limit fits
  // one set of data.
  if (this->options.isCached && !this->options.notes && !this->options.perf &&
      !this->options.debugSeed && !this->options.isChecked &&
      !this->options.memory && !folder.empty())
    cache = std::make_unique<codegen::ObjectCache>(std::move(folder));
}

Programs::~Programs() = default;

//===----------------------------------------------------------------------===//
// What is kept
//===----------------------------------------------------------------------===//

/// What all entries follow from: the model as it is ahead of the pipeline.
std::string Programs::partsOfKey() const {
  llvm::Expected<const codegen::Backend *> backend =
      codegen::backendFor(options.target);
  std::string machine;
  if (!backend) {
    llvm::consumeError(backend.takeError());
  } else if (auto target = (*backend)->target(options.target)) {
    // A device has a host, whose code is kept as well.
    machine = target->describe() + " " + (*backend)->host(*target).describe();
  } else {
    llvm::consumeError(target.takeError());
  }
  std::string parts = fmt::format(
      "{} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", session.identity(),
      machine, options.isDouble, options.roundsFactors,
      options.core ? options.core->name.str() : "",
      options.weights ? options.weights->name : "", options.roundsProducts,
      options.roundsRows, options.prepares, options.optimisation,
      options.codegen, request.gradients, request.each,
      static_cast<int>(request.stopAfter),
      model.module->lookupSymbol("decoding") != nullptr);
  for (const auto *names : {&request.gets, &request.shows, &request.leaveOut})
    parts += "\n" + llvm::join(*names, " ");
  return parts;
}

std::string Programs::keyOf(const std::string &entry) const {
  return codegen::ObjectCache::keyOf(
      {"program", entry, identity, listsRows ? "rows" : ""});
}

/// Takes a size and as many bytes off the front. False when there are fewer.
static bool takePart(StringRef &bytes, StringRef &part) {
  if (bytes.size() < 8)
    return false;
  uint64_t size = llvm::support::endian::read64le(bytes.data());
  bytes = bytes.drop_front(8);
  if (bytes.size() < size)
    return false;
  part = bytes.take_front(size);
  bytes = bytes.drop_front(size);
  return true;
}

static void addPart(std::string &bytes, StringRef part) {
  char size[8];
  llvm::support::endian::write64le(size, part.size());
  bytes.append(size, sizeof(size));
  bytes += part;
}

std::optional<codegen::Code> Programs::load(const std::string &entry) {
  if (!cache)
    return std::nullopt;
  std::unique_ptr<llvm::MemoryBuffer> file = cache->load(keyOf(entry));
  StringRef bytes = file ? file->getBuffer() : "", part;
  codegen::Code code;
  if (!takePart(bytes, part) ||
      runtime::readDescription(std::string_view(part), code.description)
          .failed())
    return std::nullopt;
  while (!bytes.empty()) {
    if (!takePart(bytes, part))
      return std::nullopt;
    code.objects.push_back(llvm::MemoryBuffer::getMemBufferCopy(part, entry));
  }
  return code;
}

void Programs::store(const std::string &entry, const codegen::Code &code) {
  // A user who is warned now is warned by the next start, too.
  if (!cache || session.diagnostics().numWarnings() != 0 ||
      session.diagnostics().failed())
    return;
  std::string bytes;
  addPart(bytes, runtime::writeDescription(code.description));
  for (const auto &object : code.objects)
    addPart(bytes, object->getBuffer());
  cache->store(keyOf(entry), bytes);
  cache->trim();
}

//===----------------------------------------------------------------------===//
// What is compiled
//===----------------------------------------------------------------------===//

bool Programs::lower() {
  if (!session.lower(model, request))
    return false;
  mlir::Operation *gradient = compiler::findProgram(*model.module, "grad");
  if (listsRows && gradient)
    gradient->setAttr(attn::listsRowsName,
                      mlir::UnitAttr::get(gradient->getContext()));
  return true;
}

bool Programs::open(const std::vector<std::string> &entries) {
  for (const std::string &entry : entries) {
    std::optional<codegen::Code> code = load(entry);
    if (!code) {
      kept.clear();
      isLowered = true;
      return lower();
    }
    kept[entry] = std::move(*code);
  }
  return true;
}

mlir::Operation *Programs::containerOf(const std::string &entry) const {
  StringRef name = entry == "choices"  ? "loss"
                   : entry == "decode" ? "encode"
                                       : StringRef(entry);
  return compiler::findProgram(*model.module, name);
}

bool Programs::has(const std::string &entry) const {
  return isLowered ? containerOf(entry) != nullptr : kept.contains(entry);
}

std::vector<runtime::DataSpec>
Programs::dataOf(const std::string &entry) const {
  if (isLowered)
    return describeData(model, containerOf(entry));
  std::vector<runtime::DataSpec> specs;
  for (const runtime::DataDescription &data : kept.at(entry).description.data)
    specs.push_back(data.spec);
  addLimits(model, specs);
  return specs;
}

/// The code of an entry, which is kept for the next start.
Status Programs::take(const std::string &entry, codegen::Code &code) {
  if (!isLowered) {
    code = std::move(kept.at(entry));
    return Status::success();
  }
  mlir::ModuleOp module = *model.module;
  Status status = Status::success();
  if (entry == "decode") {
    status = compileDecoder(module, options, code);
  } else if (entry == "choices") {
    mlir::OwningOpRef<mlir::ModuleOp> counting = compiler::choicesOnly(module);
    CompiledOptions unwatched = options; // notes would outlive the copy
    unwatched.notes = nullptr;
    status = compileProgram(*counting, "loss", unwatched, code);
  } else {
    status = compileProgram(module, entry, options, code);
  }
  if (status.failed())
    return status;
  for (runtime::DataSpec &spec : reference::describeData(containerOf(entry)))
    code.description.data.emplace_back().spec = std::move(spec);
  store(entry, code);
  return status;
}

Status Programs::create(const std::string &entry,
                        std::unique_ptr<CompiledProgram> &result) {
  codegen::Code code;
  if (Status status = take(entry, code); status.failed())
    return status;
  return CompiledProgram::create(std::move(code), options, result);
}

Status Programs::create(std::unique_ptr<CompiledDecoder> &result) {
  codegen::Code code;
  if (Status status = take("decode", code); status.failed())
    return status;
  return CompiledDecoder::create(std::move(code), options, result);
}

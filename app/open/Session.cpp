//===- Session.cpp - one spec, its context and its errors -----------------===//

#include "app/open/Session.h"
#include "app/open/ChooseTarget.h"
#include "app/open/Errors.h"
#include "codegen/Backend.h"
#include "codegen/TensorCores.h"
#include "codegen/native/ObjectCache.h"
#include "compiler/Contents.h"
#include "dialect/Precision.h"
#include "dialect/RoundedFactors.h"
#include "frontends/fov/syntax/SourceFile.h"
#include "runtime/data/Quantise.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::cli;

/// Returns whether a command works on a text that its user is writing, and not
/// on one that has been checked before.
static bool warnsOfText(const Arguments &arguments) {
  static constexpr StringRef checkers[] = {"check", "init", "train", "compile"};
  return arguments.stored.empty() &&
         (arguments.command.empty() ||
          llvm::is_contained(checkers, arguments.command));
}

Session::Session(const Arguments &arguments, llvm::raw_ostream &out,
                 unsigned limit)
    : arguments(arguments), given(arguments.sets), sets(arguments.sets),
      errors(out, limit) {
  mlirContext.printOpOnDiagnostic(false);
  if (!warnsOfText(arguments))
    errors.hideTextWarnings();
  handler = mlirContext.getDiagEngine().registerHandler(
      [this](Diagnostic &diagnostic) { report(diagnostic); });
}

Session::~Session() { mlirContext.getDiagEngine().eraseHandler(handler); }

llvm::SMLoc Session::placeOf(Location location) {
  auto place = location->findInstanceOf<FileLineColLoc>();
  if (!place)
    return {};
  llvm::SourceMgr &sources = errors.sources();
  for (unsigned id = 1; id <= sources.getNumBuffers(); ++id)
    if (sources.getMemoryBuffer(id)->getBufferIdentifier() ==
        place.getFilename())
      return sources.FindLocForLineAndColumn(id, place.getLine(),
                                             place.getColumn());
  return {};
}

/// Returns whether a message comes from a verifier, `'attn.read' op has 0
/// indices`. That is a compiler bug, and its text does not help the author of a
/// model.
static bool isInternal(StringRef text) {
  auto [name, rest] = text.drop_front(text.starts_with("'")).split('\'');
  return rest.starts_with(" op ") && name.contains('.') && !name.contains(' ');
}

/// The passes find that the equations have no order, in training or in
/// decoding; the reward of a policy is examined when it is known.
static Code codeOf(const Diagnostic &diagnostic) {
  std::string text = diagnostic.str();
  if (StringRef(text).starts_with("the reward '"))
    return Code::policyArgument;
  return StringRef(text).starts_with("decoding: ") ? Code::notGenerated
                                                   : Code::notComputed;
}

std::vector<Diagnostics::Note> Session::notesOf(Diagnostic &diagnostic) {
  std::vector<Diagnostics::Note> notes;
  for (Diagnostic &note : diagnostic.getNotes())
    notes.push_back({placeOf(note.getLocation()), note.str()});
  return notes;
}

void Session::report(Diagnostic &diagnostic) {
  if (isInternal(diagnostic.str())) {
    errors.error(Code::none, placeOf(diagnostic.getLocation()),
                 "internal compiler error, not a fault of this line; please "
                 "report it with this file");
    return;
  }
  std::vector<Diagnostics::Note> notes = notesOf(diagnostic);
  llvm::SMLoc place = placeOf(diagnostic.getLocation());
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
    errors.error(codeOf(diagnostic), place, diagnostic.str(), notes);
  else if (diagnostic.getSeverity() == DiagnosticSeverity::Warning)
    errors.warning(Code::none, place, diagnostic.str(), notes);
}

/// `src.vocab = 97` for each vocabulary without a size that is an extent of a
/// parameter in `weights`.
static std::vector<std::pair<std::string, std::string>>
vocabularySizes(const Model &model, const runtime::TensorFile &weights) {
  std::map<std::string, std::string> sizes;
  for (const ParameterInfo &parameter : model.parameters) {
    auto given = weights.tensors.find(parameter.path);
    if (given == weights.tensors.end() ||
        given->second.shape.size() != parameter.shape.size())
      continue;
    for (auto [name, size] :
         llvm::zip_equal(parameter.extents, given->second.shape))
      for (const std::string &vocabulary : model.assumedVocabularies)
        if (name == vocabulary + ".vocab")
          sizes.try_emplace(name, std::to_string(size));
  }
  return {sizes.begin(), sizes.end()};
}

void Session::addSizes(
    const std::vector<std::pair<std::string, std::string>> &more) {
  llvm::append_range(sizes, more);
}

/// Reads the spec that weights contain. Returns false if there is none
/// (reported).
bool Session::readStored() {
  if (stored)
    return true;
  auto left = given;
  runtime::Status status = readModel(arguments.stored, left, storedWeights);
  if (status.failed()) {
    error(arguments.stored == arguments.spec()
              ? status.text()
              : "'" + arguments.spec() +
                    "' is not a training folder: " + status.text());
    return false;
  }
  StoredSpec found;
  if (!found.take(storedWeights.metadata)) {
    error("'" + arguments.stored +
          "' contains no spec; help: name the spec and add '--weights " +
          arguments.stored + "'");
    return false;
  }
  // Only request what exists.
  for (auto &[name, tensor] : storedWeights.tensors)
    tensor.bytes = {};
  stored = std::move(found);
  // Overrides for an ONNX model are not the spec's.
  llvm::erase_if(sets, [&](const auto &set) {
    return llvm::is_contained(given, set) && !llvm::is_contained(left, set);
  });
  given = std::move(left);
  specSource.files = stored->files;
  // Those of the command line follow.
  sets.insert(sets.begin(), stored->sets.begin(), stored->sets.end());
  return true;
}

/// Compiles the spec in weights.
std::unique_ptr<Model> Session::compileStored(FrontendOptions options) {
  options.includeDir = "in " + arguments.spec();
  options.readUsed =
      [&](const std::string &path) -> std::optional<std::string> {
    auto used = stored->used.find(llvm::sys::path::stem(path).str());
    if (used == stored->used.end())
      return std::nullopt;
    return used->second;
  };
  return compiler::open(stored->text, stored->name + " in " + arguments.spec(),
                        options, mlirContext, errors);
}

const std::string *Session::storedFile(StringRef name) const {
  if (!stored)
    return nullptr;
  auto found = stored->files.find(name.str());
  return found == stored->files.end() ? nullptr : &found->second;
}

/// Compiles the spec, and hashes and stores the texts that it read.
std::unique_ptr<Model> Session::compile(const FrontendOptions &options) {
  llvm::SourceMgr &sources = errors.sources();
  unsigned before = sources.getNumBuffers();
  std::unique_ptr<Model> model =
      arguments.stored.empty()
          ? compiler::open(arguments.spec(), options, mlirContext, errors)
          : compileStored(options);
  std::vector<StringRef> parts = {"model"};
  specSource.used.clear();
  for (unsigned id = before + 1; id <= sources.getNumBuffers(); ++id) {
    const llvm::MemoryBuffer &buffer = *sources.getMemoryBuffer(id);
    parts.push_back(buffer.getBuffer());
    // The prelude comes first, then the spec, then the models that it uses.
    StringRef path = buffer.getBufferIdentifier();
    if (id == before + 2)
      specSource.text = buffer.getBuffer().str();
    else if (id > before + 2)
      specSource.used[llvm::sys::path::stem(path).str()] =
          buffer.getBuffer().str();
  }
  specSource.name =
      stored ? stored->name
             : llvm::sys::path::filename(sourceName(arguments.spec())).str();
  specSource.sets = stored ? stored->sets : decltype(sets)();
  llvm::append_range(specSource.sets, given);
  if (model)
    specSource.dims = model->dims;
  parts.push_back("sets");
  for (const auto *pairs : {&options.sets, &options.sizes})
    for (const auto &[name, value] : *pairs) {
      parts.push_back(name);
      parts.push_back(value);
    }
  modelIdentity = codegen::ObjectCache::keyOf(parts);
  return model;
}

std::unique_ptr<Model> Session::open(const runtime::TensorFile *weights) {
  if (!arguments.stored.empty() && !readStored())
    return nullptr;
  FrontendOptions options;
  options.sets = sets;
  options.sizes = sizes;
  std::unique_ptr<Model> model = compile(options);
  if (!weights && stored)
    weights = &storedWeights;
  if (!model || !weights)
    return model;
  auto theirs = vocabularySizes(*model, *weights);
  if (theirs.empty())
    return model;
  llvm::append_range(options.sizes, theirs);
  return compile(options);
}

std::unique_ptr<Model>
Session::openToExecute(const runtime::TensorFile *weights) {
  std::unique_ptr<Model> model = open(weights);
  if (!model || model->refusals.empty())
    return model;
  for (const std::string &refusal : model->refusals)
    error(arguments.spec() + ": " + refusal);
  return nullptr;
}

std::unique_ptr<Model> Session::openText(StringRef text, StringRef name,
                                         const FrontendOptions &options) {
  return compiler::open(text, name, options, mlirContext, errors);
}

bool Session::check(Model &model) {
  if (!model.undecoded.empty())
    warnUndecoded(model, {});
  if (!model.module || !model.refusals.empty())
    return true;
  dropImpossibleDecoder(model);
  Request request;
  request.gets = equationsOf(model, "training");
  request.gradients = true;
  return lower(model, request);
}

void Session::warnUndecoded(const Model &model,
                            std::vector<Diagnostics::Note> notes) {
  errors.warning(Code::notDecoded, model.undecodedAt,
                 "trains; cannot be decoded because " + model.undecoded,
                 std::move(notes));
}

std::optional<Session::Failure> Session::tryLowering(Model &model,
                                                     StringRef system) {
  OwningOpRef<ModuleOp> copy =
      ModuleOp::create(model.module->getLoc(), model.module->getName());
  (*copy)->setAttrs((*model.module)->getAttrDictionary());
  copy->push_back(model.module->lookupSymbol(system)->clone());
  std::optional<Failure> failure;
  ScopedDiagnosticHandler quiet(&mlirContext, [&](Diagnostic &diagnostic) {
    if (isInternal(diagnostic.str()))
      return mlir::failure();
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && !failure)
      failure = {placeOf(diagnostic.getLocation()), diagnostic.str(),
                 notesOf(diagnostic)};
    return success();
  });
  attn::PipelineOptions options;
  options.stopAfter = attn::Phase::schedule;
  bool good = succeeded(compiler::lower(*copy, options));
  assert((good || failure || errors.failed()) && "a pass that fails says why");
  return failure;
}

void Session::dropImpossibleDecoder(Model &model) {
  if (!model.module->lookupSymbol("decoding"))
    return;
  std::optional<Failure> failure = tryLowering(model, "decoding");
  // An error in both systems is an error of training.
  if (!failure || tryLowering(model, "training"))
    return;
  StringRef reason = failure->text;
  reason.consume_front("decoding: ");
  model.undecoded = reason.str();
  model.undecodedAt = failure->place;
  warnUndecoded(model, std::move(failure->notes));
  dropSystem(model, "decoding");
}

/// The target determines which equations are fused: use the one on the command
/// line.
bool Session::setTarget(Model &model) {
  if (llvm::Error error = compiler::setTarget(*model.module, arguments.cpu,
                                              arguments.dtype == "f64")) {
    misuse(llvm::toString(std::move(error)));
    return false;
  }
  if (roundsFactors(arguments))
    attn::setPrecision(*model.module, BFloat16Type::get(&mlirContext));
  return true;
}

/// Returns whether a system or program reads weights in fewer bits.
static bool isQuantised(ModuleOp module) {
  runtime::QuantisedName name;
  return llvm::any_of(compiler::parametersIn(module),
                      [&](const compiler::Parameter &parameter) {
                        return runtime::readQuantisedName(parameter.path, name);
                      });
}

bool Session::lower(Model &model, const Request &request,
                    std::unique_ptr<PassInstrumentation> watcher) {
  if (request.stopAfter >= attn::Phase::kernels && !setTarget(model))
    return false;
  // Programs are compiled after this, too.
  if (const codegen::TensorCore *core = tensorCore(arguments))
    attn::setGroupedSums(*model.module, core->sums);
  if (roundsProducts(arguments))
    attn::allowRoundedFactors(*model.module);
  attn::PipelineOptions options;
  for (const std::string &name : request.gets)
    options.get.push_back(name);
  for (const std::string &name : request.shows)
    options.show.push_back(name);
  options.gradients = request.gradients;
  const runtime::StorageFormat *format = weightFormat(arguments);
  if (format)
    options.weights = std::string(format->name);
  if (format && !format->isTrained && request.gradients) {
    error("'--precision " + arguments.precision +
          "' has no gradients; help: compute them, and train, in " +
          llvm::join(trainedPrecisions(), " or "));
    return false;
  }
  options.roundsRows = arguments.cache == "bf16";
  for (const std::string &name : request.by)
    options.by.push_back(name);
  options.each = request.each;
  options.stopAfter = request.stopAfter;
  for (const std::string &name : request.leaveOut)
    options.leaveOut.push_back(name);
  bool good =
      succeeded(compiler::lower(*model.module, options, std::move(watcher)));
  assert((good || errors.failed()) && "a pass that fails says why");
  if (good && format && !isQuantised(*model.module)) {
    StringRef what = format->hasColumns() ? "matrix product with weights"
                                          : "parameter with two axes or more";
    error("the model has no " + what.str() + ", which '--precision " +
          arguments.precision + "' is for; help: leave the option out");
    return false;
  }
  return good && !errors.failed();
}

void Session::fail(const runtime::Status &status) {
  error(status.text());
  if (status.isOfMachine())
    failureCode = badMachine;
}

int Session::finish() {
  errors.finish();
  return errors.failed() ? failureCode : done;
}

std::string fovea::cli::phaseNames() {
  std::vector<StringRef> names = {
#define PHASE(name, holds) #name,
#include "passes/Phases.def"
  };
  StringRef last = names.back();
  names.pop_back();
  return llvm::join(names, ", ") + " and " + last.str();
}

bool fovea::cli::readPhase(const std::string &name, attn::Phase &phase) {
  if (name.empty())
    return true;
  if (std::optional<attn::Phase> found = attn::phaseNamed(name)) {
    phase = *found;
    return true;
  }
  wrongUsage("'" + name + "' is not a phase; the phases are " + phaseNames());
  return false;
}

int fovea::cli::wrongUsage(const std::string &text, Code code) {
  beginError() << text << " [" << idOf(code) << "]\n";
  return badUsage;
}

void fovea::cli::dropSystem(Model &model, StringRef name) {
  if (Operation *system = model.module->lookupSymbol(name))
    system->erase();
}

std::vector<std::string> fovea::cli::equationsOf(Model &model,
                                                 StringRef system) {
  std::vector<std::string> names;
  for (const compiler::Equation &equation :
       compiler::equationsIn(*model.module, system))
    names.push_back(equation.name);
  return names;
}

std::vector<std::string> fovea::cli::equationsNamed(Session &session,
                                                    Model &model,
                                                    StringRef system,
                                                    const std::string &name) {
  std::vector<std::string> all = equationsOf(model, system), found;
  for (const std::string &equation : all)
    if (equation == name || StringRef(equation).starts_with(name + "."))
      found.push_back(equation);
  if (found.empty()) {
    std::vector<StringRef> candidates(all.begin(), all.end());
    StringRef meant = nearest(name, candidates);
    session.error(
        "there is no equation '" + name + "'" +
        (meant.empty() ? "" : "; did you mean '" + meant.str() + "'?"));
  }
  return found;
}

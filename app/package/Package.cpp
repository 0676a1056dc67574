//===- Package.cpp - a model as a library or a program --------------------===//
//
// Compiles all requested entries, describes them, and links them with the
// runtime. The kernels equal those of the JIT for the same CPU, so the numbers
// are the same, too.
//
//===----------------------------------------------------------------------===//

#include "app/package/Package.h"
#include "app/data/Files.h"
#include "app/machines/Installed.h"
#include "app/model/Compiled.h"
#include "app/model/Execution.h"
#include "app/model/Proof.h"
#include "app/model/Unknown.h"
#include "app/open/ChooseTarget.h"
#include "app/open/Errors.h"
#include "app/show/Shows.h"
#include "app/train/TrainBlock.h"
#include "app/web/WebPage.h"
#include "codegen/Driver.h"
#include "codegen/native/Header.h"
#include "codegen/native/Image.h"
#include "codegen/native/Link.h"
#include "compiler/Compiler.h"
#include "compiler/Contents.h"
#include "dialect/reference/Batch.h"
#include "dialect/reference/Search.h"
#include "passes/derive/Derive.h"
#include "runtime/data/Quantise.h"
#include "runtime/model/Image.h"
#include "runtime/model/LineText.h"
#include "runtime/search/SearchSteps.h"
#include "runtime/train/TrainOptions.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

namespace {

/// One run of the command.
class Package {
public:
  explicit Package(const Arguments &arguments)
      : arguments(arguments), session(arguments) {}
  int run();

private:
  bool readEntries();
  bool completeEntries();
  bool readGets();
  bool checkPageSize();
  bool checkPageData();
  bool openModel();
  bool lower();
  void describe();
  bool describeTraining();
  bool describeSearch();
  bool compile();
  void describeQuantised();
  bool addWeights();
  bool hasDecoder() const {
    return has("encode") || has("step") || has("decode");
  }
  void nameFunctions(mlir::ModuleOp kernels);
  int link();
  llvm::Error checkPackages() const;
  int linkPage(const std::vector<llvm::MemoryBufferRef> &buffers,
               codegen::LinkOptions options);
  int fail(llvm::Error error);

  /// Both take and return text, and use built-in weights.
  bool isProgram() const { return arguments.emit == "exe" || isPage(); }
  bool isPage() const { return arguments.emit == "web"; }
  bool has(StringRef entry) const {
    return llvm::is_contained(entries, entry.str());
  }

  const Arguments &arguments;
  Session session;
  std::vector<std::string> entries;
  std::vector<std::string> equations; // that `get` gives
  std::vector<std::string> by;        // data that `grad` differentiates by
  std::unique_ptr<Model> model;
  std::unique_ptr<proof::Prover> prover; // null without `--prove`
  Vocabularies vocabularies;
  runtime::TensorFile weights;
  std::vector<runtime::TensorFile> members; // the others of an ensemble
  codegen::Target target;
  runtime::Description description;
  codegen::Image image;
  codegen::Objects objects;
};

} // namespace

//===----------------------------------------------------------------------===//
// What is wanted
//===----------------------------------------------------------------------===//

/// `libtranslate.so` is called `translate`.
static std::string prefixOf(const std::string &output) {
  StringRef stem = llvm::sys::path::stem(output);
  stem.consume_front("lib");
  return codegen::cName(stem);
}

bool Package::readEntries() {
  static constexpr llvm::StringLiteral ofLibrary[] = {
      "loss", "grad", "train_step", "get", "encode", "step", "decode"};
  static constexpr llvm::StringLiteral ofProgram[] = {"loss", "decode"};
  llvm::ArrayRef<llvm::StringLiteral> known = ofLibrary;
  if (isPage())
    known = llvm::ArrayRef(ofProgram).drop_front();
  else if (isProgram())
    known = ofProgram;
  entries = arguments.entries;
  for (const std::string &entry : entries)
    if (!llvm::is_contained(known, entry)) {
      wrongUsage("'" + entry + "' is not an entry of '--emit " +
                 arguments.emit + "'; there are " + llvm::join(known, ", "));
      return false;
    }
  return true;
}

/// The default entries, and their prerequisites.
bool Package::completeEntries() {
  if (entries.empty())
    session.dropImpossibleDecoder(*model);
  bool isObjective = compiler::hasObjective(*model->module),
       generates = model->module->lookupSymbol("decoding");
  if (isPage() && !generates) {
    session.error("'" + model->name +
                  "' generates no text, so a page has nothing to show");
    return false;
  }
  if (isPage())
    entries = {"decode"};
  if (entries.empty()) {
    if (isObjective && (!isProgram() || !generates))
      entries.push_back("loss");
    if (isObjective && !isProgram() && !weightFormat(arguments))
      llvm::append_values(entries, "grad", "train_step");
    if (generates && !isProgram())
      llvm::append_values(entries, "encode", "step");
    if (generates)
      entries.push_back("decode");
  }
  // Gradients are those of a mean; the loss counts the choices.
  if (has("train_step") && !has("grad"))
    entries.push_back("grad");
  if (has("grad") && !has("loss"))
    entries.push_back("loss");
  // A step needs its `encode`, and vice versa.
  if (has("step") != has("encode"))
    entries.push_back(has("step") ? "encode" : "step");
  if (isProgram() && has("loss") && !arguments.moreWeights.empty()) {
    session.error("a program that prints log p accepts one '--weights'; help: "
                  "use 'fovea score' for an ensemble");
    return false;
  }
  return readGets() && (has("get") || checkWanted(session, arguments, *model,
                                                  has("loss"), hasDecoder()));
}

/// Determines the equations of `get`, and the data with respect to which `grad`
/// differentiates. A model without other entries consists of its equations.
bool Package::readGets() {
  for (StringRef name : arguments.gets) {
    if (!name.consume_front("adjoint/")) {
      llvm::append_range(
          equations, equationsNamed(session, *model, "training", name.str()));
      continue;
    }
    if (!has("grad"))
      session.error("'adjoint/" + name.str() +
                    "' needs the entry 'grad'; help: add it to --entry");
    if (llvm::none_of(model->data, [&](const DataInfo &data) {
          return data.name == name && data.kind == DataInfo::Real;
        }))
      session.error("'" + name.str() +
                    "' is not real-valued data, so it has no gradient");
    by.push_back(name.str());
  }
  if (isProgram() && !arguments.gets.empty())
    session.error("'--get' applies to libraries, not to executables");
  if (session.diagnostics().failed())
    return false;
  bool isEmpty = entries.empty() && !isProgram();
  if (!has("get") && (isEmpty || !equations.empty()))
    entries.push_back("get");
  if (!has("get") || !equations.empty())
    return true;
  if (compiler::hasObjective(*model->module)) {
    session.error("'--entry get' needs '--get NAME'");
    return false;
  }
  equations = compiler::unreadEquations(*model->module);
  return true;
}

bool Package::checkPageSize() {
  int64_t bytes = 0;
  for (const ParameterInfo &parameter : model->parameters) {
    int64_t count = arguments.dtype == "f64" ? 8 : 4;
    for (int64_t extent : parameter.shape)
      if (__builtin_mul_overflow(count, extent, &count))
        count = mostBytesOfPage + 1;
    bytes = std::min(bytes + count, mostBytesOfPage + 1);
  }
  bytes *= static_cast<int64_t>(1 + arguments.moreWeights.size());
  if (bytes <= mostBytesOfPage)
    return true;
  session.error(
      fmt::format("the weights of '{}' exceed the {} MB that fit into a page",
                  model->name, mostBytesOfPage >> 20));
  return false;
}

/// A field takes a line of text, a picture or a sound; an answer is a line.
bool Package::checkPageData() {
  const runtime::Decoder &decoder = description.decoder;
  runtime::LineText text(description, vocabularies.words(),
                         decoder.programs[decoder.encode]);
  for (const runtime::DataDescription *data : text.inputs())
    if (!data->isText && !data->isFile())
      session.error(
          fmt::format("'{}' is neither text nor a picture or a sound, "
                      "which a page can take",
                      data->spec.name));
  for (const runtime::DataDescription &data : description.data)
    if (data.isChosen && !data.isText)
      session.error(fmt::format("'{}' is no text, but a page answers with text",
                                data.spec.name));
  return !session.diagnostics().failed();
}

bool Package::openModel() {
  if (!readWeightsFile(session, arguments.weights, weights) ||
      !vocabularies.load(session, arguments, weights, arguments.weights))
    return false;
  session.addSizes(vocabularies.sizes());
  model = session.openToExecute(&weights);
  if (!model || !vocabularies.read(session, arguments, *model) ||
      !vocabularies.readModels(session, arguments, *model))
    return false;
  auto sizes = vocabularies.sizes(/*ofAll=*/true);
  session.addSizes(sizes);
  if (!sizes.empty())
    model = session.openToExecute(&weights);
  if (!model || (isPage() && !checkPageSize()))
    return false;
  if (!arguments.weights.empty() || isProgram()) {
    return checkParameters(session, arguments.weights, *model, weights) &&
           readMembers(session, arguments, *model, vocabularies, members);
  }
  for (const std::string &name : model->assumedVocabularies)
    session.error("nothing gives '" + name +
                  ".vocab' a size; help: add '--set " + name + ".vocab=N'");
  return !session.diagnostics().failed();
}

//===----------------------------------------------------------------------===//
// What it is
//===----------------------------------------------------------------------===//

void Package::describe() {
  description.model = model->name;
  description.compiler = FOVEA_VERSION;
  description.cpu = arguments.cpu;
  description.features = target.features;
  description.isDouble = arguments.dtype == "f64";
  for (const ParameterInfo &parameter : model->parameters)
    description.parameters.push_back(
        {parameter.path, {parameter.shape.begin(), parameter.shape.end()}});
  std::vector<runtime::DataSpec> specs;
  for (StringRef system : {"training", "decoding"})
    if (mlir::Operation *op = model->module->lookupSymbol(system))
      for (runtime::DataSpec &spec : reference::describeData(op))
        if (llvm::none_of(specs, [&](const auto &other) {
              return other.name == spec.name;
            }))
          specs.push_back(std::move(spec));
  addLimits(*model, specs);
  for (const DataInfo &data : model->data)
    for (const runtime::DataSpec &spec : specs) {
      if (spec.name != data.name)
        continue;
      runtime::DataDescription &own = description.data.emplace_back();
      own.spec = spec;
      own.text = fieldOf(data);
      own.text.hint.clear();
      own.isChosen = data.isChosen;
      own.isText = data.loader.kind.empty() || data.loader.kind == "text";
      own.isSound = data.loader.kind == "sound";
      if (own.isSound)
        own.sound = runtime::SoundOptions::from(data.loader.numbers);
      runtime::PixelAxes axes(spec);
      own.isPicture =
          data.loader.kind == "pixels" && axes.channels > 0 && !axes.isFilm;
      own.pixels = runtime::PixelOptions::from(data.loader.numbers,
                                               data.kind == DataInfo::Bit);
    }
  vocabularies.store(description.vocabularies);
}

bool Package::describeTraining() {
  TrainBlock block = readTrainBlock(*model);
  description.averagesExamples = block.averagesExamples;
  if (has("grad") && weightFormat(arguments)) {
    session.error("a program in " + arguments.precision +
                  " lacks the f32 weights that training changes; help: leave "
                  "out the entries 'grad' and 'train_step', or '--precision'");
    return false;
  }
  if (!has("train_step"))
    return true;
  description.hasTraining = true;
  description.train = block.entries;
  description.dims = model->dims;
  description.states = readStates(*model);
  if (!readFrozen(session, arguments, *model, description.frozen))
    return false;
  runtime::TrainOptions options;
  runtime::Status status =
      runtime::readTrainOptions(block.entries, model->dims, options);
  if (status.failed())
    session.error(arguments.spec() + ": " + status.text());
  else if (options.polyak > 0)
    session.error(arguments.spec() +
                  ": the entry 'train_step' keeps no average of the weights; "
                  "help: add --set train.polyak=0, or leave out the entry");
  else if (options.isLazy())
    session.error(arguments.spec() +
                  ": the entry 'train_step' updates all rows; help: add --set "
                  "train.lazy=false, or leave out the entry");
  return status.succeeded() && options.polyak == 0 && !options.isLazy();
}

bool Package::describeSearch() {
  description.hasDecoder = hasDecoder();
  reference::SearchOptions options;
  runtime::Status status =
      reference::readSearchOptions(*model->module, options);
  description.search = options;
  if (status.failed())
    session.error(arguments.spec() + ": " + status.text());
  if (!hasDecoder() && !arguments.shows.empty()) {
    session.error("'--show' needs the entry 'decode'; help: add it to --entry");
    return false;
  }
  std::vector<std::string> shows = arguments.shows;
  if (isPage() && shows.empty())
    if (std::string name = alignmentOf(*model); !name.empty())
      shows.push_back(name);
  for (const std::string &name : shows)
    llvm::append_range(description.shows,
                       shownEquations(session, *model, name));
  if (!description.shows.empty())
    description.axisSymbols = axisSymbolsOf(*model);
  if (session.diagnostics().failed())
    return false;
  if (!has("decode"))
    return status.succeeded();
  return status.succeeded() &&
         readUnknown(session, arguments, *model, description.unknown);
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

bool Package::lower() {
  Request request;
  request.gradients = has("grad");
  request.each = has("loss") && compiler::addsUpChoices(*model->module);
  request.gets = equations;
  request.by = by;
  for (const runtime::ShownEquation &equation : description.shows)
    request.shows.push_back(equation.name);
  if (!description.unknown.weights.empty() &&
      !llvm::is_contained(request.shows, description.unknown.weights))
    request.shows.push_back(description.unknown.weights);
  request.stopAfter = attn::Phase::fuse;
  if (!has("loss") && !has("get"))
    dropSystem(*model, "training");
  if (!hasDecoder())
    dropSystem(*model, "decoding");
  prover = proverOf(arguments, *model);
  // The proof covers the kernels and the memory that are compiled.
  if (prover)
    request.stopAfter = attn::Phase::memory;
  return session.lower(*model, request, prover ? prover->watcher() : nullptr);
}

/// With weights in fewer bits, a file has what the programs read, and only
/// weights that they read as well.
void Package::describeQuantised() {
  std::map<std::string, std::vector<int64_t>> read;
  for (const auto *programs :
       {&description.programs, &description.decoder.programs})
    for (const runtime::Program &program : *programs)
      for (const runtime::Program::Array &array : program.arrays)
        if (array.role == runtime::Program::Role::Parameter)
          read[array.name] = array.shape;
  std::vector<runtime::ParameterDescription> parameters;
  for (const runtime::ParameterDescription &parameter :
       description.parameters) {
    size_t before = parameters.size();
    runtime::QuantisedName own;
    for (const auto &[name, shape] : read)
      if (runtime::readQuantisedName(name, own) && own.path == parameter.path)
        parameters.push_back({name, shape});
    if (parameters.size() == before || read.contains(parameter.path))
      parameters.push_back(parameter);
  }
  description.parameters = std::move(parameters);
}

/// The weights inside of the result.
bool Package::addWeights() {
  weights.metadata.clear();
  std::vector<runtime::TensorFile> files = {std::move(weights)};
  llvm::append_range(files, std::move(members));
  std::vector<std::string> names;
  for (const runtime::ParameterDescription &parameter : description.parameters)
    names.push_back(parameter.path);
  auto type = description.isDouble ? runtime::DType::F64 : runtime::DType::F32;
  for (runtime::TensorFile &file : files) {
    if (runtime::Status status = runtime::quantise(file, names);
        status.failed()) {
      session.fail(status);
      return false;
    }
    for (auto &[path, tensor] : file.tensors)
      if (tensor.isReal() && tensor.type != type)
        tensor = runtime::Tensor::of(type, tensor.shape, tensor.toDoubles());
  }
  image.weights =
      runtime::formatSafeTensors(runtime::joinMembers(std::move(files)));
  return true;
}

/// Makes the objects of all programs.
bool Package::compile() {
  auto succeeds = [&](const runtime::Status &status) {
    if (status.failed())
      session.fail(status);
    return status.succeeded();
  };
  codegen::DriverOptions options = compiledOptionsOf(arguments);
  options.isShipped = true;
  options.prepares =
      compiler::packsOnce(*model->module, /*learns=*/false, options);
  std::unique_ptr<codegen::Driver> driver;
  if (!succeeds(
          codegen::Driver::create(model->module->getLoc(), options, driver)))
    return false;
  for (StringRef entry : {"loss", "grad"})
    if ((has(entry) || (entry == "loss" && has("get"))) &&
        !succeeds(driver->add(*model->module, entry)))
      return false;
  if (hasDecoder() && !succeeds(driver->addDecoder(*model->module)))
    return false;
  if (!finishProof(session, prover.get(), *model->module, driver->launches()))
    return false;
  description.programs = std::move(driver->description().programs);
  description.decoder = std::move(driver->description().decoder);
  if (weightFormat(arguments))
    describeQuantised();
  if (has("step") &&
      runtime::SearchSteps::numSymbols(description.decoder) == 0) {
    if (!arguments.entries.empty()) {
      session.error(arguments.spec() + ": a step of '" + model->name +
                    "' is not one choice among a fixed number of symbols; "
                    "help: use the entry 'decode'");
      return false;
    }
    llvm::erase_if(entries, [](const std::string &entry) {
      return entry == "encode" || entry == "step";
    });
  }
  nameFunctions(driver->kernels());
  return succeeds(driver->compile(objects));
}

/// Other objects of a program may have a function 'loss'. So the entry
/// functions get unique names, and all others are private.
void Package::nameFunctions(mlir::ModuleOp kernels) {
  llvm::StringSet<> begins;
  auto add = [&](const std::string &name) {
    if (!name.empty())
      begins.insert(name);
    image.functions.push_back(name.empty() ? "" : image.prefix + "." + name);
  };
  for (const auto *programs :
       {&description.programs, &description.decoder.programs})
    for (const runtime::Program &program : *programs) {
      add(program.entry);
      add(program.prepare);
    }
  for (auto function : kernels.getOps<mlir::func::FuncOp>())
    if (begins.contains(function.getSymName()))
      function.setSymName(image.prefix + "." + function.getSymName().str());
    else
      function.setPrivate();
}

int Package::fail(llvm::Error error) {
  session.finish();
  beginError() << llvm::toString(std::move(error)) << '\n';
  return badMachine;
}

/// Returns the runtime of compiled models in the folder `machine` (empty: this
/// machine's).
static std::optional<std::string> findRuntime(StringRef machine) {
  llvm::SmallString<64> name = machine;
  llvm::sys::path::append(name, "libfovea_rt.a");
  return findInstalled(name);
}

/// Returns the link inputs of a WebAssembly module.
static constexpr llvm::StringLiteral pagePackages =
    "the packages 'wasi-libc', 'libc++-22-dev-wasm32' and "
    "'libclang-rt-22-dev-wasm32'";

/// Links the module in a temporary folder: only the page remains.
int Package::linkPage(const std::vector<llvm::MemoryBufferRef> &buffers,
                      codegen::LinkOptions options) {
  options.exports = {"fovea_page_open", "fovea_web_room", "fovea_web_file",
                     "fovea_web_answer"};
  llvm::SmallString<128> folder;
  if (std::error_code error =
          llvm::sys::fs::createUniqueDirectory("fovea-web", folder))
    return fail(llvm::createStringError("cannot create a temporary folder: " +
                                        error.message()));
  llvm::scope_exit remove([&] { llvm::sys::fs::remove_directories(folder); });
  std::string module = (folder + "/model.wasm").str();
  if (llvm::Error error = codegen::linkModule(buffers, module, options))
    return fail(llvm::createStringError(llvm::toString(std::move(error)) +
                                        "\nnote: linking a page needs " +
                                        pagePackages));
  auto bytes = llvm::MemoryBuffer::getFile(module);
  if (!bytes)
    return fail(llvm::createStringError("cannot read '" + module +
                                        "': " + bytes.getError().message()));
  // A web server may belong to another user.
  if (std::error_code error = llvm::sys::fs::create_directories(
          arguments.output, /*IgnoreExisting=*/true,
          llvm::sys::fs::perms(0755)))
    return fail(llvm::createStringError("cannot write '" + arguments.output +
                                        "': " + error.message()));
  llvm::SmallString<128> page(arguments.output);
  llvm::sys::path::append(page, "index.html");
  int code =
      writeText(page.str().str(), webPage(model->name, (*bytes)->getBuffer()));
  return code == done ? session.finish() : code;
}

/// Returns whether the tools for WebAssembly are installed.
llvm::Error Package::checkPackages() const {
  auto linker = codegen::findLinker(target.triple);
  if (!linker)
    return linker.takeError();
  if (findRuntime(arguments.cpu))
    return llvm::Error::success();
  return llvm::createStringError(
      "a page needs the WebAssembly runtime, which Fovea builds if " +
      pagePackages + " are installed");
}

int Package::link() {
  codegen::HeaderOptions header;
  header.prefix = image.prefix;
  header.hasWeights = !image.weights.empty();
  header.entries = entries;
  header.values = equations;
  for (const std::string &name : by)
    header.values.push_back("adjoint/" + name);
  header.hasShows = !description.shows.empty();
  StringRef machine = target.isForeign() ? StringRef(arguments.cpu) : "";
  std::optional<std::string> runtimeFile = findRuntime(machine);
  if (!runtimeFile)
    return fail(llvm::createStringError(
        "'libfovea_rt.a'" + (machine.empty() ? "" : " for '" + machine + "'") +
        " is not installed beside this program"));
  codegen::LinkOptions options;
  if (target.isForeign())
    options.triple = target.triple;
  options.files.push_back(*runtimeFile);
  options.isCxx = true;
  if (!isProgram()) {
    image.exports = codegen::headerFunctions(header);
    for (const std::string &name : image.exports)
      options.exports.push_back(image.prefix + "_" + name);
  }
  image.isLibrary = arguments.emit == "so";
  if (image.isLibrary)
    options.exports.push_back("fovea_library");
  image.hasMain = isProgram() && !isPage();
  image.isPage = isPage();
  image.description = runtime::writeDescription(description);
  auto data = codegen::emitImage(image, target);
  if (!data)
    return fail(data.takeError());
  objects.push_back(std::move(*data));
  std::vector<llvm::MemoryBufferRef> buffers;
  for (const auto &object : objects)
    buffers.push_back(object->getMemBufferRef());
  if (isPage())
    return linkPage(buffers, std::move(options));
  if (isProgram()) {
    if (llvm::Error error =
            codegen::linkExecutable(buffers, arguments.output, options))
      return fail(std::move(error));
    return session.finish();
  }
  auto link =
      arguments.emit == "obj" ? codegen::linkObject : codegen::linkShared;
  bool isNew = !llvm::sys::fs::exists(arguments.output);
  if (llvm::Error error = link(buffers, arguments.output, options))
    return fail(std::move(error));
  llvm::SmallString<128> path = llvm::sys::path::parent_path(arguments.output);
  llvm::sys::path::append(path, image.prefix + ".h");
  int code =
      writeText(path.str().str(), codegen::writeHeader(description, header));
  if (code == done)
    return session.finish();
  // Neither is useful without the other.
  if (isNew)
    (void)llvm::sys::fs::remove(arguments.output);
  return code;
}

int Package::run() {
  if (arguments.output.empty() || arguments.output == "-")
    return wrongUsage("'--emit " + arguments.emit + "' needs '-o " +
                          (isPage() ? "DIR" : "FILE") + "'",
                      Code::missingArgument);
  if (!readEntries())
    return badUsage;
  llvm::Expected<codegen::Target> parsed = codegen::hostOf(arguments.cpu);
  if (!parsed)
    return wrongUsage(llvm::toString(parsed.takeError()));
  target = *parsed;
  if (auto file = isPage() ? codegen::outputFolder(arguments.output)
                           : codegen::outputFile(arguments.output);
      !file)
    return fail(file.takeError());
  if (isPage())
    if (llvm::Error error = checkPackages())
      return fail(std::move(error));
  image.prefix = prefixOf(arguments.output);
  if (!openModel())
    return session.finish();
  if (!completeEntries())
    return session.finish();
  describe();
  if (!describeTraining() || !describeSearch() || !lower() || !compile() ||
      (isPage() && !checkPageData()))
    return session.finish();
  if (!arguments.weights.empty() && !addWeights())
    return session.finish();
  return link();
}

int fovea::cli::runPackage(const Arguments &arguments) {
  return Package(arguments).run();
}

//===- CompileCommand.cpp - fovea compile ---------------------------------===//

#include "app/data/Files.h"
#include "app/model/Compiled.h"
#include "app/model/Execution.h"
#include "app/model/Fingerprint.h"
#include "app/model/Proof.h"
#include "app/open/ChooseTarget.h"
#include "app/open/Session.h"
#include "app/package/OnnxModel.h"
#include "app/package/Package.h"
#include "codegen/Driver.h"
#include "compiler/Contents.h"
#include "frontends/fov/syntax/Parser.h"
#include "frontends/fov/syntax/SourceFile.h"
#include "passes/schedule/Explain.h"

#include <limits>

using namespace fovea;
using namespace fovea::cli;

/// The systems that the entries need.
struct Wanted {
  bool loss = false, gradients = false, decode = false;
};

static std::optional<Wanted> readEntries(const Arguments &arguments) {
  if (arguments.entries.empty())
    return Wanted{true, !weightFormat(arguments), true};
  Wanted wanted;
  for (const std::string &entry : arguments.entries) {
    if (entry == "loss") {
      wanted.loss = true;
    } else if (entry == "grad" || entry == "train_step") {
      wanted.gradients = true;
    } else if (entry == "decode" || entry == "encode" || entry == "step") {
      wanted.decode = true;
    } else {
      wrongUsage("'" + entry +
                 "' is not an entry; the entries are loss, grad, train_step, "
                 "encode, step and decode");
      return std::nullopt;
    }
  }
  return wanted;
}

static int printTree(const Arguments &arguments) {
  std::optional<std::string> input = readInput(arguments.spec());
  if (!input)
    return badInput;
  Diagnostics diagnostics(llvm::errs());
  llvm::StringRef rest =
      diagnostics.addSource(sourceName(arguments.spec()), std::move(*input));
  std::string text;
  llvm::raw_string_ostream stream(text);
  do {
    std::unique_ptr<ast::File> file = parse(rest, diagnostics);
    printAst(*file, stream);
    rest = file->rest;
  } while (!rest.empty());
  diagnostics.finish();
  return diagnostics.failed() ? int(badInput)
                              : writeText(arguments.output, text);
}

static bool isCode(const std::string &emit) {
  return llvm::is_contained({"plan", "fingerprint", "launches", "kernels",
                             "llvm", "asm", "ptx", "cubin"},
                            emit);
}

static int checkEmit(const Arguments &arguments) {
  const std::string &emit = arguments.emit;
  if (arguments.isChecked &&
      !llvm::is_contained({"kernels", "llvm", "asm"}, emit))
    return wrongUsage("'--checked' changes kernels, which '--emit " + emit +
                          "' does not print; help: use '--emit kernels', or "
                          "'--checked' of fovea run, train and decode",
                      Code::argumentConflict);
  if (emit == "attn" || emit == "mlir")
    return done;
  bool isObject = llvm::is_contained({"obj", "so", "exe"}, emit);
  llvm::StringRef target = arguments.cpu;
  if (llvm::StringRef folder = arguments.output;
      emit == "web" && folder.consume_back(".html"))
    return wrongUsage("'--emit web' writes a folder with index.html, not the "
                      "file '" +
                      arguments.output + "'; help: write -o " + folder.str());
  if (emit == "web" && (target == "native" || target == "wasm32"))
    return done;
  if (emit == "web")
    return wrongUsage("'--emit web' targets WebAssembly, not '" +
                          arguments.cpu + "'",
                      Code::argumentConflict);
  if (isObject && target == "wasm32")
    return wrongUsage("there is no '--emit " + emit +
                      "' for the target 'wasm32'; help: use plan, launches, "
                      "fingerprint, kernels, llvm, asm or web");
  if (!isCode(emit) && !isObject)
    return wrongUsage(
        "'" + emit +
        "' is not a value of --emit; expected spec, ast, attn, mlir, plan, "
        "launches, fingerprint, kernels, llvm, asm, ptx, cubin, obj, so, exe, "
        "web or onnx");
  llvm::Expected<const codegen::Backend *> backend =
      codegen::backendFor(arguments.cpu);
  if (!backend)
    return wrongUsage(llvm::toString(backend.takeError()));
  llvm::StringRef assembly = (*backend)->assembly();
  std::string code = assembly == "ptx" ? "ptx, cubin" : assembly.str();
  bool isOfMachine = llvm::is_contained({"asm", "ptx", "cubin"}, emit);
  if (isOfMachine && !llvm::StringRef(code).contains(emit))
    return wrongUsage(
        "there is no '--emit " + emit + "' for the target '" + arguments.cpu +
        "'; there are plan, launches, fingerprint, kernels, llvm, " + code +
        ", obj, so and exe");
  return done;
}

/// A formula of lengths in the usual notation.
static std::string
formulaText(const runtime::Program &program,
            const std::vector<runtime::Program::Term> &terms) {
  using Term = runtime::Program::Term;
  std::vector<std::string> stack;
  for (const Term &term : terms) {
    if (term.kind == Term::Number || term.kind == Term::Length) {
      stack.push_back(term.kind == Term::Number
                          ? std::to_string(term.value)
                          : program.lengths[term.value].name);
      continue;
    }
    std::string right = std::move(stack.back());
    stack.pop_back();
    std::string &left = stack.back();
    bool isAdd = term.kind == Term::Add;
    for (std::string *side : {&left, &right})
      if (!isAdd && side->find(" + ") != side->npos)
        *side = "(" + *side + ")";
    static constexpr llvm::StringLiteral signs[] = {"",    "",    " + ", " * ",
                                                    " / ", " / ", " % "};
    left += signs[term.kind].str() + right;
    if (term.kind == Term::FloorDivide || term.kind == Term::CeilDivide)
      left = (term.kind == Term::CeilDivide ? "ceil(" : "floor(") + left + ")";
  }
  return stack.back();
}

static llvm::StringRef textOf(runtime::Program::Role role) {
  using Role = runtime::Program::Role;
  switch (role) {
  case Role::Data:
    return "data";
  case Role::Parameter:
    return "parameter";
  case Role::Output:
    return "output";
  case Role::Temporary:
    return "array";
  case Role::Packed:
    return "packed";
  }
  llvm_unreachable("every role has a name");
}

static llvm::StringRef textOf(runtime::Program::Element element) {
  using Element = runtime::Program::Element;
  switch (element) {
  case Element::F32:
    return "f32";
  case Element::F64:
    return "f64";
  case Element::I64:
    return "i64";
  case Element::BF16:
    return "bf16";
  case Element::Bit:
    return "bit";
  }
  llvm_unreachable("every type has a name");
}

/// One line per array: its name, its size, and the steps that use it.
static void printPlan(const runtime::Program &program,
                      llvm::raw_ostream &stream) {
  using Role = runtime::Program::Role;
  for (const runtime::Program::Array &array : program.arrays) {
    stream << textOf(array.role);
    if (array.role != Role::Temporary && !array.name.empty())
      stream << " '" << array.name << "'";
    stream << " at slot " << array.slot << ": "
           << (!array.part.empty() ? "each"
               : array.layout < 0  ? "once"
                                   : "each");
    if (array.layout > 0)
      for (int length : program.layouts[array.layout].lengths)
        stream << " x " << program.lengths[length].name;
    if (array.part.empty())
      stream << " x " << array.count;
    else
      stream << (array.parts ? " block " : " thread ")
             << formulaText(program, array.part);
    bool isNarrow = array.role == Role::Parameter &&
                    array.element == runtime::Program::Element::Bit;
    stream << ' ' << (isNarrow ? "byte" : textOf(array.element));
    if (array.parts)
      stream << ", on the chip up to " << array.onChip << " bytes, else "
             << array.parts << " of them";
    if (array.role == Role::Temporary)
      stream << ", from step " << array.firstUse;
    if (array.role == Role::Temporary &&
        array.lastUse != std::numeric_limits<int>::max())
      stream << " to " << array.lastUse;
    stream << '\n';
  }
}

/// Prints a line for each entry, compiled as `fovea run`, `train` and `decode`
/// compile it.
static runtime::Status emitFingerprints(mlir::ModuleOp module,
                                        const Wanted &wanted,
                                        const Arguments &arguments,
                                        llvm::raw_ostream &stream) {
  codegen::DriverOptions options = compiledOptionsOf(arguments);
  for (auto [entry, program, isWanted] :
       {std::tuple("loss", "loss", wanted.loss),
        std::tuple("grad", "grad", wanted.gradients),
        std::tuple("decode", "encode", wanted.decode)})
    if (isWanted && compiler::findProgram(module, program))
      if (runtime::Status status =
              printFingerprint(module, entry, options, stream);
          status.failed())
        return status;
  return runtime::Status::success();
}

/// Prints the code of programs: their kernels, or a later form of them. A
/// failing proof has no code (diagnosed).
static runtime::Status emitCode(Session &session, mlir::ModuleOp module,
                                const Wanted &wanted,
                                const Arguments &arguments,
                                proof::Prover *prover,
                                llvm::raw_ostream &stream) {
  using runtime::Status;
  codegen::DriverOptions options = compiledOptionsOf(arguments);
  // A schedule shows which launches have the same kernel.
  options.keepsNames = arguments.emit != "launches";
  std::unique_ptr<codegen::Driver> driver;
  if (Status status = codegen::Driver::create(module.getLoc(), options, driver);
      status.failed())
    return status;
  for (auto [entry, isWanted] :
       {std::pair("loss", wanted.loss), std::pair("grad", wanted.gradients)})
    if (isWanted && compiler::findProgram(module, entry))
      if (Status status = driver->add(module, entry); status.failed())
        return status;
  if (compiler::findProgram(module, "encode"))
    if (Status status = driver->addDecoder(module); status.failed())
      return status;
  if (!finishProof(session, prover, module, driver->launches()))
    return Status::success();
  std::vector<runtime::Program> programs = driver->description().programs;
  llvm::append_range(programs, driver->description().decoder.programs);
  if (arguments.emit == "plan") {
    for (const runtime::Program &program : programs) {
      if (programs.size() > 1)
        stream << "program '" << program.entry << "'\n";
      printPlan(program, stream);
    }
    return Status::success();
  }
  using Text = codegen::Driver::Text;
  return driver->print(arguments.emit == "launches"  ? Text::Launches
                       : arguments.emit == "kernels" ? Text::Kernels
                       : arguments.emit == "llvm"    ? Text::LLVM
                       : arguments.emit == "cubin"   ? Text::MachineCode
                                                     : Text::Assembly,
                       stream);
}

/// The text of a used model, under the name in its `use`.
static std::string sectionOf(const std::string &name, const std::string &text) {
  Diagnostics silent(llvm::nulls());
  llvm::StringRef source = silent.addSource(name, text);
  std::unique_ptr<ast::File> file = parse(source, silent);
  if (file->model.empty())
    return text;
  size_t place = file->model.begin() - source.begin();
  return text.substr(0, place) + name + text.substr(place + file->model.size());
}

/// One text with all the models that a spec uses, even if it has an error: as
/// stored in weights, or derived from ONNX.
static int printSpec(const Arguments &arguments) {
  Session session(arguments);
  session.open();
  int code = session.finish();
  if (session.source().text.empty())
    return code;
  std::string text = session.source().text;
  for (const auto &[name, used] : session.source().used)
    text += "\n" + sectionOf(name, used);
  int written = writeText(arguments.output, text);
  return code == done ? written : code;
}

int fovea::cli::runCompile(const Arguments &arguments) {
  if (arguments.proves &&
      (arguments.explain ||
       llvm::is_contained({"spec", "ast", "attn"}, arguments.emit)))
    return wrongUsage(
        "'--prove' proves the phases of the compiler, which '" +
            (arguments.explain ? "--explain" : "--emit " + arguments.emit) +
            "' does not run; help: use '--emit mlir' or code",
        Code::argumentConflict);
  if (arguments.emit == "spec")
    return printSpec(arguments);
  if (arguments.emit == "ast")
    return printTree(arguments);
  if (arguments.emit == "onnx")
    return runOnnx(arguments);
  if (checkEmit(arguments) != done)
    return badUsage;
  if (arguments.emit == "web") {
    Arguments page = arguments;
    page.cpu = "wasm32";
    return runPackage(page);
  }
  if (llvm::is_contained({"obj", "so", "exe"}, arguments.emit))
    return runPackage(arguments);
  if (!arguments.moreWeights.empty())
    return wrongUsage("an ensemble needs '--emit so', obj, exe or web",
                      Code::argumentConflict);
  Request request;
  std::optional<Wanted> wanted = readEntries(arguments);
  if (!wanted || !readPhase(arguments.stopAfter, request.stopAfter))
    return badUsage;
  request.gradients = wanted->gradients;
  if (isCode(arguments.emit))
    request.stopAfter = attn::Phase::fuse;
  Session session(arguments);
  std::unique_ptr<Model> model = session.openToExecute();
  if (!model)
    return session.finish();
  // Of a model without an objective, `loss` computes its equations.
  if (isCode(arguments.emit) && !arguments.entries.empty() &&
      (wanted->gradients || wanted->decode) &&
      !checkWanted(session, arguments, *model, wanted->gradients,
                   wanted->decode))
    return session.finish();
  if (arguments.entries.empty() && arguments.emit != "attn")
    session.dropImpossibleDecoder(*model);
  if (!wanted->loss && !wanted->gradients)
    dropSystem(*model, "training");
  if (!wanted->decode)
    dropSystem(*model, "decoding");

  for (auto [system, names, wantedNames] :
       {std::tuple("training", &arguments.gets, &request.gets),
        std::tuple("decoding", &arguments.shows, &request.shows)})
    for (const std::string &name : *names)
      llvm::append_range(*wantedNames,
                         equationsNamed(session, *model, system, name));
  if (session.diagnostics().failed())
    return session.finish();

  std::unique_ptr<proof::Prover> prover = proverOf(arguments, *model);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (arguments.explain) {
    if (request.stopAfter == attn::Phase::schedule)
      request.stopAfter = attn::Phase::differentiate;
    std::vector<attn::UnreadEquation> unread =
        attn::findUnread(*model->module, request.gets, request.shows);
    if (!session.lower(*model, request))
      return session.finish();
    attn::explainSchedule(*model->module, unread, stream);
  } else if (isCode(arguments.emit)) {
    // The proof covers the kernels and the memory that are compiled.
    if (prover)
      request.stopAfter = attn::Phase::memory;
    if (!session.lower(*model, request, prover ? prover->watcher() : nullptr))
      return session.finish();
    bool isHash = arguments.emit == "fingerprint";
    runtime::Status status =
        isHash ? emitFingerprints(*model->module, *wanted, arguments, stream)
               : emitCode(session, *model->module, *wanted, arguments,
                          prover.get(), stream);
    if (isHash)
      finishProof(session, prover.get(), *model->module, nullptr);
    if (status.failed())
      session.fail(status);
  } else {
    if (arguments.emit == "mlir") {
      if (!session.lower(*model, request,
                         prover ? prover->watcher() : nullptr) ||
          !finishProof(session, prover.get(), *model->module, nullptr))
        return session.finish();
      if (!wanted->loss && wanted->gradients)
        dropSystem(*model, "loss");
    }
    model->module->print(stream);
    stream << '\n';
  }
  int code = session.finish();
  return code == done ? writeText(arguments.output, text) : code;
}

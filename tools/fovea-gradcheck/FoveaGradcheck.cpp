//===- FoveaGradcheck.cpp - gradients against central differences ---------===//
//
// Differentiates the system @loss of a file, and evaluates it and its gradients
// by the reference interpreter. Compares every entry of every parameter with a
// central difference of nll + 0.5 * penalty. A state has its next value in the
// place of a gradient; it is compared with the update before differentiation.
// A NaN anywhere is a failure.
//
// A file may have several parts, separated by `// -----`, as for fovea-opt;
// `--module` picks one. Inputs are random where the command line gives none.
//
//===----------------------------------------------------------------------===//

#include "dialect/reference/Interpreter.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/ToolUtilities.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace fovea::attn;
using fovea::reference::Array;
using fovea::reference::Arrays;
using fovea::reference::Inputs;
using fovea::reference::Length;
using fovea::runtime::Status;

namespace cl = llvm::cl;

static cl::opt<std::string> file(cl::Positional, cl::Required,
                                 cl::desc("FILE.mlir"));
static cl::opt<std::string>
    moduleName("module", cl::desc("the name of the one module to check"));
static cl::list<std::string>
    lengthOption("length", cl::desc("NAME=N, or NAME=N,N,.. when nested"));
static cl::list<std::string>
    valueOption("value", cl::desc("NAME=X,X,..: a parameter or data"));
static cl::opt<std::string>
    passes("passes", cl::desc("what runs between differentiation and "
                              "evaluation, as a pass pipeline"));
static cl::opt<unsigned> seed("seed", cl::init(1), cl::desc("of the inputs"));
static cl::opt<int64_t> below("below", cl::init(3),
                              cl::desc("integers of the data are below this"));
static cl::opt<double> scale("scale", cl::init(1.0),
                             cl::desc("reals are within plus or minus this"));
static cl::opt<double> tolerance("tolerance", cl::init(1e-7));
static cl::opt<double> step("step", cl::init(1e-5),
                            cl::desc("of the central difference"));
static cl::opt<bool>
    print("print", cl::desc("print the gradients, and take no differences: "
                            "for inputs at which there are none"));

static constexpr double penaltyWeight = 0.5;

static LogicalResult fail(const llvm::Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  return failure();
}

/// `NAME=X,X,..` as a name and numbers.
static LogicalResult parseNumbers(llvm::StringRef text, std::string &name,
                                  std::vector<double> &values) {
  auto [left, right] = text.split('=');
  name = left.str();
  llvm::SmallVector<llvm::StringRef> parts;
  right.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts)
    if (part.getAsDouble(values.emplace_back()))
      return fail("'" + text + "': '" + part + "' is not a number");
  return success();
}

namespace {
/// One module, its inputs, and the two compared quantities.
class Check {
public:
  /// `before`: the module before it was differentiated.
  Check(ModuleOp module, ModuleOp before) : module(module), before(before) {}

  LogicalResult run();

private:
  LogicalResult fillLengths();
  LogicalResult fillArray(StringRef name, ArrayType type, Array &array);
  LogicalResult fillInputs();
  std::optional<double> loss();
  LogicalResult compare(StringRef path, const Array &gradient);
  /// What an update makes of a state; nothing if `path` is a parameter.
  std::optional<Array> nextOf(StringRef path);
  std::optional<double> slopeOf(double &value);

  ModuleOp module, before;
  Inputs inputs;
  Arrays parameters;
  std::map<std::string, std::vector<double>> given;
  std::mt19937_64 random;
};
} // namespace

LogicalResult Check::fillLengths() {
  for (const std::string &text : lengthOption) {
    std::string name;
    std::vector<double> values;
    if (failed(parseNumbers(text, name, values)))
      return failure();
    LengthOp declared;
    module.walk([&](LengthOp op) {
      if (op.getLength() == name)
        declared = op;
    });
    // Another part of the file may have it.
    if (!declared)
      continue;
    Length length;
    length.nested = declared.getParent().has_value();
    length.values.assign(values.begin(), values.end());
    inputs.lengths[name] = length;
  }
  // Lengths computed from other, earlier lengths.
  module.walk([&](LengthOp op) {
    std::optional<AffineMap> map = op.getMap();
    if (!map)
      return;
    SmallVector<Attribute> operands, results;
    Builder builder(op.getContext());
    for (StringRef name : op.getOf()->getAsValueRange<StringAttr>())
      operands.push_back(
          builder.getIndexAttr(inputs.lengths.count(name.str())
                                   ? inputs.lengths[name.str()].values.front()
                                   : 0));
    if (succeeded(map->constantFold(operands, results)))
      inputs.lengths[op.getLength().str()] = Length::of(
          std::max<int64_t>(0, cast<IntegerAttr>(results[0]).getInt()));
  });
  return success();
}

LogicalResult Check::fillArray(StringRef name, ArrayType type, Array &array) {
  std::vector<int64_t> shape;
  for (Attribute extent : type.getShape()) {
    if (auto size = dyn_cast<IntegerAttr>(extent)) {
      shape.push_back(size.getInt());
      continue;
    }
    auto found = inputs.lengths.find(extentText(extent));
    if (found == inputs.lengths.end())
      return fail("'" + name + "' has the axis '" + extentText(extent) +
                  "', which needs --length");
    const std::vector<int64_t> &values = found->second.values;
    shape.push_back(
        values.empty() ? 0 : *std::max_element(values.begin(), values.end()));
  }
  array = Array::zeros(shape, !type.getScalarType().isF64());
  auto own = given.find(name.str());
  if (own != given.end()) {
    if (own->second.size() != array.values.size())
      return fail("'" + name + "' has " + llvm::Twine(array.values.size()) +
                  " elements but --value gives " +
                  llvm::Twine(own->second.size()));
    array.values = own->second;
    return success();
  }
  int64_t bound = type.getElementType().isInteger(1) ? 2 : below;
  for (double &value : array.values)
    if (array.integer)
      value = random() % bound;
    else
      value = scale * (2.0 * (random() >> 11) * 0x1p-53 - 1.0);
  return success();
}

LogicalResult Check::fillInputs() {
  for (const std::string &text : valueOption) {
    std::string name;
    std::vector<double> values;
    if (failed(parseNumbers(text, name, values)))
      return failure();
    given[name] = values;
  }
  random.seed(seed);
  WalkResult result = module.walk([&](Operation *op) {
    if (auto param = dyn_cast<ParamOp>(op)) {
      Array array;
      if (parameters.count(param.getPath().str()))
        return WalkResult::advance();
      if (failed(
              fillArray(param.getPath(), param.getResult().getType(), array)))
        return WalkResult::interrupt();
      parameters[param.getPath().str()] = array;
    } else if (auto data = dyn_cast<DataOp>(op)) {
      Array array;
      if (inputs.data.count(data.getSource().str()))
        return WalkResult::advance();
      if (failed(
              fillArray(data.getSource(), data.getResult().getType(), array)))
        return WalkResult::interrupt();
      inputs.data[data.getSource().str()] = array;
    }
    return WalkResult::advance();
  });
  inputs.data["seed.nll"] = Array::scalar(1.0);
  inputs.data["seed.penalty"] = Array::scalar(penaltyWeight);
  inputs.parameters = &parameters;
  return failure(result.wasInterrupted());
}

std::optional<double> Check::loss() {
  Arrays outputs;
  Status status = fovea::reference::evaluate(
      fovea::reference::findContainer(module, "loss"), inputs, outputs);
  if (status.failed()) {
    (void)fail("@loss: " + status.text());
    return std::nullopt;
  }
  double sum = 0;
  if (outputs.count("nll"))
    sum += outputs["nll"].values[0];
  if (outputs.count("penalty"))
    sum += penaltyWeight * outputs["penalty"].values[0];
  return sum;
}

std::optional<double> Check::slopeOf(double &value) {
  double middle = value, h = step * std::max(1.0, std::abs(middle));
  value = middle + h;
  std::optional<double> above = loss();
  value = middle - h;
  std::optional<double> below = loss();
  value = middle;
  if (!above || !below)
    return std::nullopt;
  return (*above - *below) / (2 * h);
}

LogicalResult Check::compare(StringRef path, const Array &gradient) {
  Array &parameter = parameters[path.str()];
  if (gradient.shape != parameter.shape)
    return fail("the gradient of '" + path + "' has another shape");
  std::optional<Array> next = nextOf(path);
  for (size_t i = 0; i < parameter.values.size(); ++i) {
    double slope = gradient.values[i];
    if (std::isnan(slope))
      return fail("the gradient of '" + path + "' at " + llvm::Twine(i) +
                  " is NaN");
    if (print)
      continue;
    std::optional<double> wanted =
        next ? next->values[i] : slopeOf(parameter.values[i]);
    if (!wanted)
      return failure();
    double difference = *wanted;
    double error = std::abs(difference - slope) /
                   std::max({1.0, std::abs(difference), std::abs(slope)});
    // Written so that a NaN fails.
    if (!(error <= tolerance)) {
      std::string numbers;
      llvm::raw_string_ostream(numbers)
          << llvm::format("%.9g", slope) << " but the difference is "
          << llvm::format("%.9g", difference);
      return fail("the gradient of '" + path + "' at " + llvm::Twine(i) +
                  " is " + numbers);
    }
  }
  return success();
}

std::optional<Array> Check::nextOf(StringRef path) {
  Arrays outputs;
  Status status = fovea::reference::evaluate(
      fovea::reference::findContainer(before, "loss"), inputs, outputs);
  auto once = outputs.find("update.once/" + path.str());
  auto mean = outputs.find("update/" + path.str());
  bool isOnce = once != outputs.end();
  if (status.failed() || (!isOnce && mean == outputs.end()))
    return std::nullopt;
  // A mean over the examples has the weight of a penalty.
  Array next = isOnce ? once->second : mean->second;
  for (double &value : next.values)
    value *= isOnce ? 1 : penaltyWeight;
  return next;
}

LogicalResult Check::run() {
  if (failed(fillLengths()) || failed(fillInputs()))
    return failure();
  Arrays outputs;
  Status status = fovea::reference::evaluate(
      fovea::reference::findContainer(module, "grad"), inputs, outputs);
  if (status.failed())
    return fail("@grad: " + status.text());
  if (!loss())
    return failure();
  size_t count = 0;
  for (auto &[name, array] : outputs) {
    StringRef path = name;
    if (!path.consume_front("grad/"))
      continue;
    if (failed(compare(path, array)))
      return failure();
    count += array.values.size();
    if (print) {
      llvm::outs() << path << ":";
      for (double value : array.values)
        llvm::outs() << " " << llvm::format("%.6g", value);
      llvm::outs() << "\n";
    }
  }
  llvm::outs() << count << " entries " << (print ? "without NaN" : "agree")
               << "\n";
  return success();
}

int main(int argc, char **argv) {
  registerFoveaPasses();
  registerTransformsPasses();
  cl::ParseCommandLineOptions(argc, argv,
                              "gradients against central differences\n");
  DialectRegistry registry;
  registry.insert<AttnDialect, arith::ArithDialect, math::MathDialect,
                  scf::SCFDialect>();
  MLIRContext context(registry);
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(file, &message);
  if (!buffer)
    return failed(fail(message));
  unsigned numChecked = 0;
  auto check = [&](std::unique_ptr<llvm::MemoryBuffer> part,
                   llvm::raw_ostream &) -> LogicalResult {
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(std::move(part), llvm::SMLoc());
    SourceMgrDiagnosticHandler handler(sources, &context);
    OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
    if (!module)
      return failure();
    if (!moduleName.empty() && module->getName() != StringRef(moduleName))
      return success();
    if (!module->lookupSymbol("loss"))
      return fail("no '@loss'; help: fovea compile SPEC "
                  "--stop-after=derive");
    ++numChecked;
    OwningOpRef<ModuleOp> before(cast<ModuleOp>(module->clone()));
    PassManager manager(&context);
    if (!module->lookupSymbol("grad"))
      manager.addPass(createDifferentiate());
    if (failed(parsePassPipeline(passes, manager)) ||
        failed(manager.run(*module)))
      return failure();
    return Check(*module, *before).run();
  };
  if (failed(splitAndProcessBuffer(std::move(buffer), check, llvm::outs(),
                                   kDefaultSplitMarker, "")))
    return 1;
  if (numChecked == 0)
    return failed(fail("no module '" + moduleName + "'"));
  return 0;
}

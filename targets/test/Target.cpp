//===- Target.cpp - the target of a test ----------------------------------===//
//
// `--cpu scalar` of the program `fovea-scalar`: a CPU that computes matrix
// products as ordinary sums. docs/NEW_BACKEND.md walks through this file.
//
//===----------------------------------------------------------------------===//

#include "codegen/Backend.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Pass/Pass.h"
#include "passes/analysis/Product.h"
#include "llvm/ADT/TypeSwitch.h"

#include "targets/test/Dialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "targets/test/Attributes.h.inc"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;

//===----------------------------------------------------------------------===//
// What the target decides
//===----------------------------------------------------------------------===//

#include "targets/test/Dialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "targets/test/Attributes.cpp.inc"

void TestDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "targets/test/Attributes.cpp.inc"
      >();
}

namespace {
/// Without its name, a product is the sum that its body says.
struct ForgetProducts : PassWrapper<ForgetProducts, OperationPass<ProgramOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ForgetProducts)

  StringRef getArgument() const override { return "test-forget-products"; }
  StringRef getDescription() const override {
    return "products become ordinary sums";
  }
  void runOnOperation() override {
    getOperation().walk([](ComputeOp op) { setProduct(op, {}); });
  }
};
} // namespace

void TestTargetAttr::addPasses(Stage stage, AddPass add) const {
  if (stage == Stage::beforeStrips)
    add(std::make_unique<ForgetProducts>());
}

//===----------------------------------------------------------------------===//
// How programs become code
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral names[] = {"scalar"};

namespace {
class TestBackend final : public Backend {
public:
  ArrayRef<llvm::StringLiteral> targets() const override { return names; }
  llvm::Expected<Target> target(StringRef name) const override {
    return Target::parse("native");
  }
  TargetAttr describe(const Target &target, Type real) const override {
    MLIRContext *context = real.getContext();
    return TestTargetAttr::get(context, StringAttr::get(context, names[0]));
  }
  void registerDialect(DialectRegistry &registry) const override {
    registry.insert<TestDialect>();
  }
  LogicalResult emitProgram(ProgramOp program, ModuleOp kernels,
                            const EmitOptions &options,
                            runtime::Program &description) const override {
    WalkResult walk = program.walk([](ComputeOp op) {
      if (!productOf(op))
        return WalkResult::advance();
      op.emitError() << "the target 'scalar' has no matrix products";
      return WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      return failure();
    return cpuBackend().emitProgram(program, kernels, options, description);
  }
  Peak emitPeak(ModuleOp kernels, const EmitOptions &options) const override {
    return cpuBackend().emitPeak(kernels, options);
  }
};
} // namespace

/// A shipped back end has a line in codegen/Backends.def instead.
[[maybe_unused]] static const bool isAdded = [] {
  static const TestBackend backend;
  addBackend(backend);
  return true;
}();

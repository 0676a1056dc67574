//===- Debugged.cpp - what a debugger looks at ----------------------------===//
//
// debugger.test stops in `look`.
//
//===----------------------------------------------------------------------===//

#include "dialect/AttnDialect.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace fovea;

static constexpr const char *text = R"(attn.program @p {
  %x = attn.data "x" : !attn.array<["T", 4], f64>
  %y = attn.compute "y" (%t: "T", %i: 4) {
    %0 = attn.read %x[%t, %i] : !attn.array<["T", 4], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 4], f64>
  attn.output "y" %y : !attn.array<["T", 4], f64>
})";

[[clang::optnone]] static void look(attn::ComputeOp op, Operation *operation,
                                    Value value, attn::ArrayType type,
                                    StringAttr label, Operation *nothing) {}

int main() {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<attn::AttnDialect, arith::ArithDialect, math::MathDialect,
                      scf::SCFDialect>();
  auto module = parseSourceString<ModuleOp>(text, &context);
  module->walk([](attn::ComputeOp op) {
    look(op, op->getParentOp(), op.getResult(),
         cast<attn::ArrayType>(op.getResult().getType()),
         op->getAttrOfType<StringAttr>("label"), nullptr);
  });
}

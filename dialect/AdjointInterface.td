//===- AdjointInterface.td - the reverse mode of an op -----*- tablegen -*-===//
#ifndef ATTN_ADJOINT_INTERFACE_TD
#define ATTN_ADJOINT_INTERFACE_TD

include "mlir/IR/Interfaces.td"

def Attn_AdjointInterface : OpInterface<"AdjointInterface"> {
  let cppNamespace = "::fovea::attn";
  let description = [{
    An op that knows its adjoint. `attn-differentiate` asks each op once; an op
    never sees a loop, because recurrences are still equations at that point.
  }];
  let methods = [
    InterfaceMethod<[{
      Given the adjoint of the result (an array of the result's shape), calls
      `add(operand, contribution)` for each array of f64 that the op reads and
      for which `active(operand)` holds; a contribution has the operand's type.
      One array may get several contributions; the caller adds them up. Fails,
      with an error at the scalar, where a scalar has no derivative.
    }], "::llvm::LogicalResult", "buildAdjoint", (ins
      "::mlir::OpBuilder &":$builder, "::mlir::Value":$adjoint,
      "::llvm::function_ref<bool(::mlir::Value)>":$active,
      "::llvm::function_ref<void(::mlir::Value, ::mlir::Value)>":$add)>
  ];
}

#endif // ATTN_ADJOINT_INTERFACE_TD

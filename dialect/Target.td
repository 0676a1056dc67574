//===- Target.td - what a target decides -------------------*- tablegen -*-===//
//
// The interfaces between the passes and the targets. Each folder of targets/
// implements them with attributes of a dialect of its own; docs/NEW_BACKEND.md
// shows how.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_TD
#define ATTN_TARGET_TD

include "mlir/IR/Interfaces.td"

def Attn_TargetInterface : AttrInterface<"TargetAttr"> {
  let cppNamespace = "::fovea::attn";
  let description = [{
    Describes the target of a program. It is the attribute `attn.target` of a
    program or module, so a test can write one by hand. Passes ask it what the
    target can do, and add the passes of the target. No pass compares names:
    the same target under another name gives the same program.

    A target that does not override a method has no such unit: the defaults
    describe a machine without vectors, packed factors, strips and memory on
    the chip.
  }];
  let methods = [
    InterfaceMethod<"Returns the name for messages.",
      "::mlir::StringAttr", "getName">,
    InterfaceMethod<"Returns the number of real numbers in a vector.",
      "int64_t", "getLanes", (ins), "", [{ return 1; }]>,
    InterfaceMethod<[{
      Returns the number of columns in a panel of packed factors, or 0 if
      products read their factors in place.
    }], "int64_t", "getTileColumns", (ins), "", [{ return 0; }]>,
    InterfaceMethod<[{
      Returns the number of rows in a strip, or 0 if the target computes no
      equations strip by strip.
    }], "int64_t", "getStripRows", (ins), "", [{ return 0; }]>,
    InterfaceMethod<[{
      Returns the maximum number of columns in a strip, or 0 for no limit.
    }], "int64_t", "getStripColumns", (ins), "", [{ return 0; }]>,
    InterfaceMethod<[{
      Returns the number of rows that products multiply at once before the
      equations that read them, or 0 if the target forms no kernels in columns.
    }], "int64_t", "getColumnRows", (ins), "", [{ return 0; }]>,
    InterfaceMethod<[{
      Returns the size of the memory that the threads of a work unit share on
      the chip, in bytes. Strips that fit are in it. 0: strips are in memory.
    }], "int64_t", "getSharedBytes", (ins), "", [{ return 0; }]>,
    InterfaceMethod<[{
      Returns the number of workspaces in memory if there is memory on the
      chip; otherwise each thread has a workspace.
    }], "int64_t", "getWorkspaces", (ins), "", [{ return 0; }]>,
    InterfaceMethod<[{
      Returns the number of rows in a tile of copied factors, which large
      products of rounded factors read; 0: they read the arrays themselves.
    }], "int64_t", "getCopyRows", (ins), "", [{ return 0; }]>,
    InterfaceMethod<[{
      Returns whether a sum that adds each term to a computed row gets a list
      of the terms of each row, so that rows are independent work units.
    }], "bool", "listsTerms", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
      Returns whether matrix instructions multiply factors of type `factor` and
      add them up in type `sum`.
    }], "bool", "multiplies",
      (ins "::mlir::Type":$factor, "::mlir::Type":$sum), "",
      [{ return false; }]>,
    InterfaceMethod<[{
      Decides how a kernel in strips uses registers and copies.
    }], "void", "decideStrips",
      (ins "::fovea::attn::KernelOp":$kernel,
           "::fovea::attn::StripDecisions &":$decisions), "", [{ return; }]>,
    InterfaceMethod<[{
      Checks the decisions about a kernel in strips that only this target
      makes; by default, that there are none. Emits an error otherwise.
    }], "::llvm::LogicalResult", "verifyStrips",
      (ins "::fovea::attn::KernelOp":$kernel), "",
      [{ return ::fovea::attn::refuseKeys(kernel, $_attr.getName()); }]>,
    InterfaceMethod<[{
      Checks the decisions about a placed program that only this target makes;
      by default, that there are none. Emits an error otherwise.
    }], "::llvm::LogicalResult", "verifyPlaced",
      (ins "::fovea::attn::ProgramOp":$program), "",
      [{ return ::fovea::attn::refuseDecisions(program, $_attr.getName()); }]>,
    InterfaceMethod<"Calls `add` with the passes of the target at a stage.",
      "void", "addPasses",
      (ins "::fovea::attn::Stage":$stage, "::fovea::attn::AddPass":$add), "",
      [{ return; }]>
  ];
  let extraClassDeclaration = [{
    /// Returns the target of `op`, or of the program or module around it. If
    /// none is written, returns the target of the dialect with a DefaultTarget.
    static ::fovea::attn::TargetAttr of(::mlir::Operation *op);
    /// Makes this the target of `op`, a program or module.
    void setTo(::mlir::Operation *op) const;
  }];
}

def Attn_ConfigInterface : AttrInterface<"ConfigAttr"> {
  let cppNamespace = "::fovea::attn";
  let description = [{
    Describes how a target computes an op, as the attribute `attn.config`: for
    example, with which tiles. It never changes the result.
  }];
  let methods = [
    InterfaceMethod<"Checks that `op` can be computed so; emits an error otherwise.",
      "::llvm::LogicalResult", "verifyConfig",
      (ins "::mlir::Operation *":$op)>
  ];
}

#endif // ATTN_TARGET_TD

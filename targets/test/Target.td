//===- Target.td - what the target of a test decides -------*- tablegen -*-===//

#ifndef FOVEA_TARGETS_TEST_TARGET_TD
#define FOVEA_TARGETS_TEST_TARGET_TD

include "dialect/Target.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"

def Test_Dialect : Dialect {
  let name = "test";
  let cppNamespace = "::fovea::attn";
  let summary = "what the target of a test decides";
  let useDefaultAttributePrinterParser = 1;
}

def Test_Target : AttrDef<Test_Dialect, "TestTarget", [Attn_TargetInterface]> {
  let mnemonic = "target";
  let summary = "a CPU without matrix products";
  let description = [{
    `#test.target<"scalar">`
  }];
  let parameters = (ins "::mlir::StringAttr":$name);
  let assemblyFormat = "`<` $name `>`";
  let extraClassDeclaration = [{
    void addPasses(Stage stage, AddPass add) const;
  }];
}

#endif // FOVEA_TARGETS_TEST_TARGET_TD

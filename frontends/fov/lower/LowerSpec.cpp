//===- LowerSpec.cpp - a checked spec to a module -------------------------===//

#include "frontends/fov/lower/LowerSpec.h"
#include "frontends/fov/lower/Lower.h"

using namespace fovea;
using namespace fovea::fov;

static mlir::Attribute attributeOf(mlir::Builder &builder,
                                   const OptionValue &value) {
  if (const auto *whole = std::get_if<int64_t>(&value))
    return builder.getI64IntegerAttr(*whole);
  if (const auto *real = std::get_if<double>(&value))
    return builder.getF64FloatAttr(*real);
  return builder.getStringAttr(std::get<std::string>(value));
}

static mlir::DictionaryAttr dictionaryOf(mlir::Builder &builder,
                                         const OptionValues &values) {
  llvm::SmallVector<mlir::NamedAttribute> attributes;
  for (const auto &[name, option] : values)
    attributes.push_back(
        builder.getNamedAttr(name, attributeOf(builder, option.value)));
  return builder.getDictionaryAttr(attributes);
}

/// Marks the numbers of blocks of places that decoding generates, in both
/// systems: either may be compiled without the other.
static void markBlocks(mlir::ModuleOp module) {
  auto decoding = module.lookupSymbol<attn::SystemOp>("decoding");
  if (!decoding)
    return;
  llvm::DenseSet<mlir::Attribute> generated;
  for (auto choice : decoding.getOps<attn::ChoiceOp>())
    if (choice.getResult())
      generated.insert_range(
          mlir::cast<attn::ArrayType>(choice.getResult().getType())
              .getShape()
              .getValue());
  for (auto system : module.getOps<attn::SystemOp>())
    for (auto length : system.getOps<attn::LengthOp>())
      if (length.isQuotient() &&
          llvm::any_of(*length.getOf(), [&](mlir::Attribute other) {
            return generated.contains(other);
          }))
        length.setBlocks(true);
}

mlir::OwningOpRef<mlir::ModuleOp> fov::lowerSpec(CheckedSpec &spec,
                                                 llvm::StringRef name,
                                                 mlir::MLIRContext &context,
                                                 Diagnostics &diagnostics) {
  context.loadDialect<attn::AttnDialect>();
  mlir::OpBuilder builder(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  Lowering(*spec.training, diagnostics, builder, nullptr).run("training");
  if (spec.decoding)
    Lowering(*spec.decoding, diagnostics, builder, spec.training.get())
        .run("decoding");
  markBlocks(*module);
  (*module)->setAttr("attn.model", builder.getStringAttr(name));
  (*module)->setAttr("attn.train", dictionaryOf(builder, spec.train));
  (*module)->setAttr("attn.decode", dictionaryOf(builder, spec.decode));
  return module;
}

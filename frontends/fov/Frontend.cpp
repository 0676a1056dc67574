//===- Frontend.cpp - a .fov file to a module of the attn dialect ---------===//

#include "frontends/fov/Frontend.h"
#include "frontends/fov/CheckSpec.h"
#include "frontends/fov/lower/Lower.h"
#include "frontends/fov/syntax/SourceFile.h"
#include "llvm/Support/Path.h"

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

std::unique_ptr<Model> fovea::compileText(llvm::StringRef text,
                                          llvm::StringRef name,
                                          const FrontendOptions &options,
                                          mlir::MLIRContext &context,
                                          Diagnostics &diagnostics) {
  auto result = std::make_unique<Model>();
  std::unique_ptr<CheckedSpec> spec =
      checkSpec(text, name, options, diagnostics, *result);
  if (!spec)
    return nullptr;
  if (!spec->isLowered)
    return result;
  context.loadDialect<attn::AttnDialect>();
  mlir::OpBuilder builder(&context);
  result->module = mlir::ModuleOp::create(builder.getUnknownLoc());
  mlir::ModuleOp module = *result->module;
  builder.setInsertionPointToEnd(module.getBody());
  Lowering(*spec->training, diagnostics, builder, nullptr).run("training");
  if (spec->decoding)
    Lowering(*spec->decoding, diagnostics, builder, spec->training.get())
        .run("decoding");
  markBlocks(module);
  module->setAttr("attn.model", builder.getStringAttr(result->name));
  module->setAttr("attn.train", dictionaryOf(builder, spec->train));
  module->setAttr("attn.decode", dictionaryOf(builder, spec->decode));
  return result;
}

std::unique_ptr<Model> fovea::compileSpec(llvm::StringRef path,
                                          const FrontendOptions &options,
                                          mlir::MLIRContext &context,
                                          Diagnostics &diagnostics) {
  std::string why;
  std::optional<std::string> text = readSource(path.str(), why);
  if (!text) {
    diagnostics.error(Code::unreadableFile, {},
                      "cannot read '" + path.str() + "': " + why);
    return nullptr;
  }
  FrontendOptions beside = options;
  if (beside.includeDir.empty())
    beside.includeDir = llvm::sys::path::parent_path(path).str();
  if (beside.includeDir.empty())
    beside.includeDir = ".";
  return compileText(*text, sourceName(path), beside, context, diagnostics);
}

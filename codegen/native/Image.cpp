//===- Image.cpp - a compiled model as data in an object ------------------===//

#include "codegen/native/Image.h"
#include "codegen/native/Emit.h"
#include "runtime/data/Checksum.h"
#include "runtime/library/Table.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/TargetParser/Triple.h"

using namespace fovea::codegen;
using llvm::Constant;
using llvm::StringRef;

llvm::ArrayRef<CFunction> fovea::codegen::cFunctions() {
  static constexpr CFunction functions[] = {
      {"message", "p"},
      {"create", "iIpip"},
      {"destroy", "vp"},
      {"add", "ipp"},
      {"random", "ipll"},
      {"loss", "ipppp"},
      {"grad", "ipppp"},
      {"train_step", "ipplp"},
      {"get", "ipp"},
      {"value", "lplppp"},
      {"parameter", "ppi"},
      {"gradient", "ppi"},
      {"parameter_size", "lpi"},
      {"parameter_name", "ppi"},
      {"save", "ipp"},
      {"metadata", "ippp"},
      {"id", "lppp"},
      {"ids", "lppplp"},
      {"symbol", "pppl"},
      {"decode", "ipppp"},
      {"text", "iplppp"},
      {"result_size", "lpl"},
      {"result_get", "ipllp"},
      {"result_show", "lpllppp"},
      {"result_text", "ppllp"},
      {"result_destroy", "vp"},
      {"encode", "ippp"},
      {"step", "iplppp"},
  };
  return functions;
}

namespace {

/// Fills one module.
class ImageEmitter {
public:
  ImageEmitter(const Image &image, llvm::Module &module)
      : image(image), module(module), context(module.getContext()),
        address(llvm::PointerType::get(context, 0)),
        number(llvm::Type::getInt64Ty(context)) {}

  void run();

private:
  Constant *bytes(StringRef text, StringRef name);
  Constant *functionTable();
  llvm::GlobalVariable *constant(Constant *value, StringRef name);
  void defineLibrary();
  void forward(StringRef name, StringRef callee, StringRef type);
  llvm::Type *typeOf(char letter);

  const Image &image;
  llvm::Module &module;
  llvm::LLVMContext &context;
  llvm::PointerType *address;
  llvm::Type *number;
  Constant *table = nullptr; // the FoveaImage
};

} // namespace

llvm::GlobalVariable *ImageEmitter::constant(Constant *value, StringRef name) {
  auto *global = new llvm::GlobalVariable(
      module, value->getType(), /*isConstant=*/true,
      llvm::GlobalValue::InternalLinkage, value, image.prefix + "." + name);
  global->setAlignment(llvm::Align(64));
  return global;
}

/// Far from code: addressed by its absolute address only, whatever its size.
Constant *ImageEmitter::bytes(StringRef text, StringRef name) {
  llvm::GlobalVariable *global = constant(
      llvm::ConstantDataArray::getString(context, text, /*AddNull=*/false),
      name);
  if (module.getTargetTriple().isX86()) {
    global->setSection(".lrodata.fovea");
    global->setCodeModel(llvm::CodeModel::Large);
  }
  return global;
}

Constant *ImageEmitter::functionTable() {
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {address}, /*isVarArg=*/false);
  llvm::SmallVector<Constant *> entries;
  for (const std::string &name : image.functions) {
    if (name.empty()) {
      entries.push_back(llvm::ConstantPointerNull::get(address));
      continue;
    }
    auto *function = llvm::Function::Create(
        type, llvm::GlobalValue::ExternalLinkage, name, module);
    function->setVisibility(llvm::GlobalValue::HiddenVisibility);
    entries.push_back(function);
  }
  auto *array = llvm::ArrayType::get(address, entries.size());
  return constant(llvm::ConstantArray::get(array, entries), "functions");
}

llvm::Type *ImageEmitter::typeOf(char letter) {
  switch (letter) {
  case 'v':
    return llvm::Type::getVoidTy(context);
  case 'i':
    return llvm::Type::getInt32Ty(context);
  case 'l':
    return number;
  default:
    return address;
  }
}

/// Defines what fovea.h finds (FoveaLibrary, runtime/library/Table.h).
void ImageEmitter::defineLibrary() {
  auto *functions = new llvm::GlobalVariable(
      module, llvm::Type::getInt8Ty(context), /*isConstant=*/true,
      llvm::GlobalValue::ExternalLinkage, nullptr, "fovea_c_table");
  functions->setVisibility(llvm::GlobalValue::HiddenVisibility);
  Constant *library = llvm::ConstantStruct::getAnon(
      {llvm::ConstantInt::get(number, foveaTableVersion), table, functions});
  new llvm::GlobalVariable(module, library->getType(), /*isConstant=*/true,
                           llvm::GlobalValue::ExternalLinkage, library,
                           "fovea_library");
}

/// Defines `name`, which calls `callee` with its arguments.
void ImageEmitter::forward(StringRef name, StringRef callee, StringRef type) {
  llvm::Type *result = typeOf(type.front());
  llvm::SmallVector<llvm::Type *> given, passed;
  for (char letter : type.drop_front()) {
    passed.push_back(typeOf(letter));
    if (letter != 'I')
      given.push_back(typeOf(letter));
  }
  auto *function = llvm::Function::Create(
      llvm::FunctionType::get(result, given, /*isVarArg=*/false),
      llvm::GlobalValue::ExternalLinkage, name, module);
  llvm::FunctionCallee target = module.getOrInsertFunction(
      callee, llvm::FunctionType::get(result, passed, /*isVarArg=*/false));
  cast<llvm::Function>(target.getCallee())
      ->setVisibility(llvm::GlobalValue::HiddenVisibility);
  llvm::IRBuilder<> builder(
      llvm::BasicBlock::Create(context, "entry", function));
  llvm::SmallVector<llvm::Value *> arguments;
  unsigned next = 0;
  for (char letter : type.drop_front())
    arguments.push_back(letter == 'I' ? static_cast<llvm::Value *>(table)
                                      : function->getArg(next++));
  llvm::CallInst *call = builder.CreateCall(target, arguments);
  call->setTailCall();
  if (result->isVoidTy())
    builder.CreateRetVoid();
  else
    builder.CreateRet(call);
}

void ImageEmitter::run() {
  auto size = [&](const std::string &text) {
    return llvm::ConstantInt::get(number, text.size());
  };
  Constant *none = llvm::ConstantPointerNull::get(address);
  table = constant(
      llvm::ConstantStruct::getAnon(
          {bytes(image.description, "description"), size(image.description),
           image.weights.empty() ? none : bytes(image.weights, "weights"),
           size(image.weights),
           llvm::ConstantInt::get(number,
                                  fovea::runtime::checksum(image.weights)),
           functionTable(),
           llvm::ConstantInt::get(number, image.functions.size())}),
      "image");
  for (const CFunction &function : cFunctions())
    if (llvm::is_contained(image.exports, function.name.str()))
      forward(image.prefix + "_" + function.name.str(),
              "fovea_c_" + function.name.str(), function.type);
  if (image.isLibrary)
    defineLibrary();
  if (image.hasMain)
    forward("main", "fovea_c_main", "iIip");
  if (image.isPage)
    forward("fovea_page_open", "fovea_web_open", "pI");
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
fovea::codegen::emitImage(const Image &image, const Target &target) {
  auto machine = target.createMachine();
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  llvm::Module module(image.prefix, context);
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  module.setPICLevel(llvm::PICLevel::BigPIC);
  ImageEmitter(image, module).run();
  protectControlFlow(module);
  auto object = emitFile(module, **machine, llvm::CodeGenFileType::ObjectFile);
  if (!object)
    return object.takeError();
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(
      std::move(*object), image.prefix, /*RequiresNullTerminator=*/false);
}

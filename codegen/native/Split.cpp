//===- Split.cpp - one kernel module becomes several ----------------------===//
//
// Assigns names first, callees before callers, because the text of a caller
// contains its callees' names. Then distributes the functions in order.
//
//===----------------------------------------------------------------------===//

#include "codegen/native/Split.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

#include <set>

using namespace mlir;
using namespace fovea::codegen;

namespace {

/// A function, and the functions with bodies whose names it uses.
struct Kernel {
  func::FuncOp function;
  std::vector<size_t> uses;
  /// What only this function reads.
  SmallVector<LLVM::GlobalOp, 1> tables;
  size_t ops = 0;
  uint64_t hash = 0;
  bool isCopy = false;
};

class Splitter {
public:
  explicit Splitter(ModuleOp module) : module(module) {}

  /// Reads the functions; returns false if the module stays unchanged.
  bool read();
  /// Names private functions and drops duplicates.
  void rename();
  std::vector<OwningOpRef<ModuleOp>>
  deal(unsigned size, llvm::function_ref<bool(StringRef)> isHost);

private:
  bool sortCalleesFirst();
  void addWithDeclarations(OwningOpRef<ModuleOp> &part,
                           ArrayRef<size_t> members);

  ModuleOp module;
  std::vector<Kernel> kernels;
  llvm::StringMap<size_t> byName;
  llvm::StringMap<func::FuncOp> declarations;
  /// Indices of kernels, callees before callers.
  std::vector<size_t> order;
};

} // namespace

/// Returns whether an op can name a function: skips the attributes of most ops.
static bool namesSymbols(Operation *op) {
  return isa<SymbolUserOpInterface>(op);
}

/// Returns whether an op is a table of constant numbers.
static bool isTable(Operation &op) {
  auto global = dyn_cast<LLVM::GlobalOp>(op);
  return global && global.getConstant() &&
         isa_and_present<DenseElementsAttr>(global.getValueAttr());
}

/// Calls `visit` with every symbol that an op names.
template <typename Visit>
static void forEachSymbol(Operation *op, Visit visit) {
  if (!namesSymbols(op))
    return;
  AttrTypeWalker walker;
  walker.addWalk([&](FlatSymbolRefAttr symbol) { visit(symbol); });
  walker.walk(op->getAttrDictionary());
}

bool Splitter::read() {
  llvm::StringMap<LLVM::GlobalOp> tables;
  for (Operation &op : *module.getBody()) {
    if (isTable(op)) {
      auto table = cast<LLVM::GlobalOp>(op);
      tables[table.getSymName()] = table;
      continue;
    }
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function)
      return false;
    if (function.isDeclaration()) {
      declarations[function.getName()] = function;
      continue;
    }
    byName[function.getName()] = kernels.size();
    kernels.push_back({function, {}, {}});
  }
  for (Kernel &kernel : kernels)
    kernel.function.walk([&](Operation *op) {
      ++kernel.ops;
      forEachSymbol(op, [&](FlatSymbolRefAttr symbol) {
        auto found = byName.find(symbol.getValue());
        if (found != byName.end())
          kernel.uses.push_back(found->second);
        if (LLVM::GlobalOp table = tables.lookup(symbol.getValue()))
          if (!llvm::is_contained(kernel.tables, table))
            kernel.tables.push_back(table);
      });
    });
  size_t used = 0;
  for (const Kernel &kernel : kernels)
    used += kernel.tables.size();
  return used <= tables.size() && sortCalleesFirst();
}

/// Fails on a circle of calls.
bool Splitter::sortCalleesFirst() {
  std::vector<std::vector<size_t>> users(kernels.size());
  std::vector<size_t> open(kernels.size());
  for (size_t i = 0; i < kernels.size(); ++i) {
    open[i] = kernels[i].uses.size();
    for (size_t callee : kernels[i].uses)
      users[callee].push_back(i);
    if (open[i] == 0)
      order.push_back(i);
  }
  for (size_t at = 0; at < order.size(); ++at)
    for (size_t user : users[order[at]])
      if (--open[user] == 0)
        order.push_back(user);
  return order.size() == kernels.size();
}

namespace {

/// Hashes functions by content, the same in every process. Hashing their text
/// would do, but printing takes ten times as long.
class Hasher {
public:
  uint64_t hash(Operation *function) {
    numbers.clear();
    words.clear();
    function->walk<WalkOrder::PreOrder>([&](Operation *op) { add(op); });
    return llvm::xxh3_64bits(
        ArrayRef(reinterpret_cast<const uint8_t *>(words.data()),
                 words.size() * sizeof(uint64_t)));
  }

private:
  /// The hash of the printed form of an attribute or a type, cached because
  /// most are frequent.
  template <typename T> uint64_t textHash(T value) {
    auto [found, isNew] = texts.try_emplace(value.getAsOpaquePointer(), 0);
    if (isNew) {
      std::string text;
      llvm::raw_string_ostream stream(text);
      value.print(stream);
      found->second = llvm::xxh3_64bits(text);
    }
    return found->second;
  }
  /// The hash of an op's attributes. Making a dictionary of an op's properties
  /// is slow, so this is done once for equal ones.
  uint64_t hashOfAttributes(Operation *op) {
    size_t key = llvm::hash_combine(
        op->getName().getAsOpaquePointer(), op->hashProperties(),
        op->getRawDictionaryAttrs().getAsOpaquePointer());
    for (auto &[other, hash] : attributes[key])
      if (other->getName() == op->getName() &&
          other->getRawDictionaryAttrs() == op->getRawDictionaryAttrs() &&
          op->getName().compareOpProperties(op->getPropertiesStorage(),
                                            other->getPropertiesStorage()))
        return hash;
    uint64_t hash = textHash(op->getAttrDictionary());
    attributes[key].push_back({op, hash});
    return hash;
  }
  uint64_t numberOf(const void *value) {
    return numbers.try_emplace(value, numbers.size()).first->second;
  }
  void add(Operation *op) {
    words.push_back(textHash(op->getName().getIdentifier()));
    // Functions are renamed after that.
    words.push_back(isa<FunctionOpInterface>(op)
                        ? textHash(op->getAttrDictionary())
                        : hashOfAttributes(op));
    words.push_back(op->getNumOperands());
    for (Value operand : op->getOperands())
      words.push_back(numberOf(operand.getAsOpaquePointer()));
    for (Block *successor : op->getSuccessors())
      words.push_back(numberOf(successor));
    words.push_back(op->getNumResults());
    for (Value result : op->getResults()) {
      words.push_back(textHash(result.getType()));
      words.push_back(numberOf(result.getAsOpaquePointer()));
    }
    // The start and the number of ops of a block, which the walk does not
    // report.
    for (Region &region : op->getRegions()) {
      words.push_back(region.getBlocks().size());
      for (Block &block : region) {
        words.push_back(numberOf(&block));
        words.push_back(block.getOperations().size());
        for (Value argument : block.getArguments()) {
          words.push_back(textHash(argument.getType()));
          words.push_back(numberOf(argument.getAsOpaquePointer()));
        }
      }
    }
  }

  llvm::DenseMap<const void *, uint64_t> texts, numbers;
  /// By a hash of this process: an op with such attributes, and their hash.
  llvm::DenseMap<size_t, SmallVector<std::pair<Operation *, uint64_t>, 1>>
      attributes;
  std::vector<uint64_t> words;
};

} // namespace

void Splitter::rename() {
  MLIRContext *context = module.getContext();
  auto weak = LLVM::LinkageAttr::get(context, LLVM::linkage::Linkage::WeakODR);
  auto anonymous = StringAttr::get(context, "kernel");
  llvm::StringMap<FlatSymbolRefAttr> renamed;
  llvm::DenseMap<StringAttr, size_t> first;
  Hasher hasher;
  for (size_t index : order) {
    Kernel &kernel = kernels[index];
    // A caller comes after its callees: all names that it uses are final.
    AttrTypeReplacer replacer;
    replacer.addReplacement(
        [&](FlatSymbolRefAttr symbol) -> std::optional<Attribute> {
          auto found = renamed.find(symbol.getValue());
          if (found == renamed.end())
            return std::nullopt;
          return found->second;
        });
    if (!kernel.uses.empty())
      kernel.function.walk([&](Operation *op) {
        if (namesSymbols(op))
          replacer.replaceElementsIn(op);
      });
    StringAttr name = kernel.function.getSymNameAttr();
    kernel.function.setSymNameAttr(anonymous);
    kernel.hash = hasher.hash(kernel.function);
    if (!kernel.function.isPrivate()) {
      kernel.function.setSymNameAttr(name);
      continue;
    }
    StringRef base = name.getValue().rtrim("0123456789").rtrim("._");
    auto unique = StringAttr::get(
        context, base + "." + llvm::utohexstr(kernel.hash, /*LowerCase=*/true));
    kernel.function.setSymNameAttr(unique);
    kernel.function.setPublic();
    kernel.function->setAttr("llvm.linkage", weak);
    renamed[name.getValue()] = FlatSymbolRefAttr::get(unique);
    kernel.isCopy = !first.try_emplace(unique, index).second;
  }
}

/// Moves functions into a part, and declares the functions of other parts that
/// they use.
void Splitter::addWithDeclarations(OwningOpRef<ModuleOp> &part,
                                   ArrayRef<size_t> members) {
  OpBuilder builder = OpBuilder::atBlockEnd(part->getBody());
  llvm::StringSet<> present;
  for (size_t index : members) {
    present.insert(kernels[index].function.getName());
    for (LLVM::GlobalOp table : kernels[index].tables)
      table->moveBefore(part->getBody(), part->getBody()->end());
    kernels[index].function->moveBefore(part->getBody(),
                                        part->getBody()->end());
  }
  part->walk([&](Operation *op) {
    forEachSymbol(op, [&](FlatSymbolRefAttr symbol) {
      if (!present.insert(symbol.getValue()).second)
        return;
      auto found = declarations.find(symbol.getValue());
      if (found != declarations.end())
        builder.clone(*found->second);
    });
  });
}

std::vector<OwningOpRef<ModuleOp>>
Splitter::deal(unsigned size, llvm::function_ref<bool(StringRef)> isHost) {
  std::vector<std::vector<size_t>> parts(1);
  std::vector<size_t> host;
  size_t ops = 0;
  for (size_t i = 0; i < kernels.size(); ++i) {
    Kernel &kernel = kernels[i];
    if (kernel.isCopy) {
      kernel.function.erase();
      continue;
    }
    func::FuncOp declared = func::FuncOp::create(
        kernel.function.getLoc(), kernel.function.getName(),
        kernel.function.getFunctionType());
    declared.setPrivate();
    declarations[kernel.function.getName()] = declared;
    if (isHost && isHost(kernel.function.getName())) {
      host.push_back(i);
      continue;
    }
    parts.back().push_back(i);
    ops += kernel.ops;
    // A part ends where the text decides, or when it is too large.
    bool isCut = ops * 2 >= size && kernel.hash % 4 == 0;
    if (isCut || ops >= size * 2) {
      parts.emplace_back();
      ops = 0;
    }
  }
  if (parts.back().empty())
    parts.pop_back();
  // First: it is the largest, and parts are compiled in this order.
  if (!host.empty())
    parts.insert(parts.begin(), host);
  std::vector<OwningOpRef<ModuleOp>> modules;
  for (const std::vector<size_t> &members : parts) {
    OwningOpRef<ModuleOp> part =
        ModuleOp::create(module.getLoc(), module.getName());
    (*part)->setAttrs(module->getAttrs());
    addWithDeclarations(part, members);
    if (members == host)
      (*part)->setAttr(hostName, UnitAttr::get(module.getContext()));
    modules.push_back(std::move(part));
  }
  for (Kernel &kernel : kernels)
    if (!kernel.isCopy)
      declarations[kernel.function.getName()].erase();
  return modules;
}

static uint64_t hashOf(const std::vector<uint64_t> &words) {
  return llvm::xxh3_64bits(
      ArrayRef(reinterpret_cast<const uint8_t *>(words.data()),
               words.size() * sizeof(uint64_t)));
}

ModuleHashes
fovea::codegen::hashModule(ModuleOp module,
                           llvm::function_ref<bool(StringRef)> isHost) {
  Hasher hasher;
  std::vector<uint64_t> host;
  std::set<uint64_t> kernels;
  auto anonymous = StringAttr::get(module.getContext(), "kernel");
  for (Operation &op : *module.getBody()) {
    if (isTable(op))
      host.push_back(hasher.hash(&op));
    auto function = dyn_cast<FunctionOpInterface>(op);
    if (!function || function.isExternal())
      continue;
    StringAttr name = function.getNameAttr();
    function.setName(anonymous);
    uint64_t hash = hasher.hash(function);
    function.setName(name);
    if (isHost(name))
      host.push_back(hash);
    else
      kernels.insert(hash);
  }
  return {kernels.size(), hashOf({kernels.begin(), kernels.end()}),
          hashOf(host)};
}

std::vector<OwningOpRef<ModuleOp>>
fovea::codegen::splitModule(OwningOpRef<ModuleOp> module, unsigned size,
                            llvm::function_ref<bool(StringRef)> isHost) {
  std::vector<OwningOpRef<ModuleOp>> modules;
  Splitter splitter(*module);
  if (!splitter.read()) {
    modules.push_back(std::move(module));
    return modules;
  }
  splitter.rename();
  return splitter.deal(size, isHost);
}

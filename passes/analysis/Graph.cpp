//===- Graph.cpp - who reads whom, and how far away -----------------------===//
//
// Builds the dependence graph of a system. Without recursion: a graph is as
// large as the model.
//
//===----------------------------------------------------------------------===//

#include "passes/analysis/Graph.h"
#include "dialect/conditions/IndexEquations.h"

#include <queue>

using namespace mlir;
using namespace fovea::attn;
using namespace fovea::attn::schedule;

//===----------------------------------------------------------------------===//
// Components
//===----------------------------------------------------------------------===//

namespace {

/// Tarjan's algorithm with a stack of its own.
class Components {
public:
  explicit Components(ArrayRef<SmallVector<unsigned>> reads)
      : reads(reads), order(reads.size(), 0), low(reads.size(), 0),
        component(reads.size(), unassigned) {
    for (unsigned node = 0; node < reads.size(); ++node)
      if (order[node] == 0)
        visit(node);
  }

  static constexpr unsigned unassigned = ~0u;
  unsigned count = 0;

  unsigned of(unsigned node) const { return component[node]; }

private:
  void visit(unsigned root);

  struct Frame {
    unsigned node, nextRead;
  };
  ArrayRef<SmallVector<unsigned>> reads;
  SmallVector<unsigned> order, low, component, open;
  unsigned visited = 0;
};

void Components::visit(unsigned root) {
  SmallVector<Frame> frames;
  auto enter = [&](unsigned node) {
    order[node] = low[node] = ++visited;
    open.push_back(node);
    frames.push_back({node, 0});
  };
  enter(root);
  while (!frames.empty()) {
    Frame &frame = frames.back();
    unsigned node = frame.node;
    if (frame.nextRead < reads[node].size()) {
      unsigned read = reads[node][frame.nextRead++];
      if (order[read] == 0)
        enter(read);
      else if (component[read] == unassigned)
        low[node] = std::min(low[node], order[read]);
      continue;
    }
    frames.pop_back();
    if (!frames.empty())
      low[frames.back().node] = std::min(low[frames.back().node], low[node]);
    if (low[node] != order[node])
      continue;
    unsigned member;
    do {
      member = open.pop_back_val();
      component[member] = count;
    } while (member != node);
    ++count;
  }
}

} // namespace

SmallVector<SmallVector<unsigned>>
schedule::orderedComponents(ArrayRef<SmallVector<unsigned>> reads) {
  Components found(reads);
  SmallVector<SmallVector<unsigned>> members(found.count);
  SmallVector<llvm::SmallSetVector<unsigned, 4>> readers(found.count);
  SmallVector<unsigned> waitsFor(found.count, 0);
  for (unsigned node = 0; node < reads.size(); ++node) {
    unsigned reader = found.of(node);
    members[reader].push_back(node);
    for (unsigned read : reads[node])
      if (found.of(read) != reader && readers[found.of(read)].insert(reader))
        ++waitsFor[reader];
  }
  using Entry = std::pair<unsigned, unsigned>; // smallest member, component
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> ready;
  for (unsigned i = 0; i < found.count; ++i)
    if (waitsFor[i] == 0)
      ready.push({members[i].front(), i});
  SmallVector<SmallVector<unsigned>> result;
  while (!ready.empty()) {
    unsigned next = ready.top().second;
    ready.pop();
    for (unsigned reader : readers[next])
      if (--waitsFor[reader] == 0)
        ready.push({members[reader].front(), reader});
    result.push_back(std::move(members[next]));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Graph
//===----------------------------------------------------------------------===//

Graph::Graph(SystemOp system) : system(system) {
  SmallVector<Operation *> all, work;
  for (Operation &op : system.getBody().front()) {
    if (auto length = dyn_cast<LengthOp>(op)) {
      lengths[length.getLengthAttr()] = length;
      continue;
    }
    // Constants that canonicalisation keeps here belong to the bodies.
    if (op.getNumResults() == 1 && !isa<ArrayType>(op.getResult(0).getType()))
      continue;
    all.push_back(&op);
    if (op.getNumResults() == 0)
      work.push_back(&op);
  }
  llvm::DenseSet<Operation *> needed(work.begin(), work.end());
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    llvm::append_range(accesses[op], accessesOf(op));
    for (Edge edge : findReads(op)) {
      reads[op].push_back(edge);
      if (needed.insert(edge.target).second)
        work.push_back(edge.target);
    }
  }
  for (Operation *op : all) {
    if (!needed.contains(op)) {
      dead.push_back(op);
      continue;
    }
    position[op] = nodes.size();
    nodes.push_back(op);
    for (const Edge &edge : getReads(op))
      readers[edge.target].push_back(edge);
  }
  findNames();
}

SmallVector<Edge> Graph::findReads(Operation *op) const {
  SmallVector<Edge> result;
  const Access *main = nullptr;
  for (const Access &access : getAccesses(op)) {
    if (!access.places)
      main = &access;
    auto shape = cast<ArrayType>(main->array.getType()).getShape();
    auto reachable = [&](ArrayAttr pair) {
      unsigned axis = cast<IntegerAttr>(pair[0]).getInt();
      return canReach(op, main->indices[axis], shape[axis], pair[1]);
    };
    if (!access.places ||
        llvm::all_of(access.places.getAsRange<ArrayAttr>(), reachable))
      result.push_back({op, access.array.getDefiningOp(), &access});
  }
  return result;
}

ArrayRef<Edge> Graph::getReads(Operation *op) const {
  auto it = reads.find(op);
  return it == reads.end() ? ArrayRef<Edge>() : ArrayRef<Edge>(it->second);
}

ArrayRef<Edge> Graph::getReaders(Operation *op) const {
  auto it = readers.find(op);
  return it == readers.end() ? ArrayRef<Edge>() : ArrayRef<Edge>(it->second);
}

ArrayRef<Access> Graph::getAccesses(Operation *op) const {
  auto it = accesses.find(op);
  return it == accesses.end() ? ArrayRef<Access>()
                              : ArrayRef<Access>(it->second);
}

StringAttr Graph::getParent(Attribute length) const {
  auto it = lengths.find(length);
  return it == lengths.end() ? StringAttr()
                             : LengthOp(it->second).getParentAttr();
}

bool Graph::isOpen(Attribute length) const {
  auto it = lengths.find(length);
  return it != lengths.end() && LengthOp(it->second).getOpen();
}

bool Graph::derivesFrom(Attribute length, Attribute base) const {
  llvm::SmallSetVector<Attribute, 4> work;
  work.insert(length);
  for (size_t i = 0; i < work.size(); ++i) {
    if (work[i] == base)
      return true;
    auto it = lengths.find(work[i]);
    LengthOp op = it == lengths.end() ? LengthOp() : it->second;
    if (op && op.getOf())
      work.insert(op.getOf()->begin(), op.getOf()->end());
  }
  return false;
}

std::optional<int64_t> Graph::pastEnd(Attribute place, Attribute extent) const {
  if (place == extent)
    return 0;
  auto size = dyn_cast<IntegerAttr>(extent);
  auto number = dyn_cast<IntegerAttr>(place);
  if (size && number)
    return number.getInt() - size.getInt();
  if (size || number)
    return std::nullopt;
  // A length whose value is the extent plus a constant.
  auto it = lengths.find(place);
  if (it == lengths.end())
    return std::nullopt;
  LengthOp length = it->second;
  if (!length.getMap() || !length.getOf() || length.getOf()->size() != 1 ||
      (*length.getOf())[0] != extent)
    return std::nullopt;
  AffineMap map = *length.getMap();
  AffineExpr rest =
      map.getResult(0) - (map.getNumSymbols() == 1
                              ? getAffineSymbolExpr(0, map.getContext())
                              : getAffineDimExpr(0, map.getContext()));
  auto constant = dyn_cast<AffineConstantExpr>(
      simplifyAffineExpr(rest, map.getNumDims(), map.getNumSymbols()));
  return constant ? std::optional(constant.getValue()) : std::nullopt;
}

bool Graph::canReach(Operation *reader, const AccessIndex &index,
                     Attribute extent, Attribute place) const {
  std::optional<int64_t> past = pastEnd(place, extent);
  auto number = dyn_cast<IntegerAttr>(place);
  bool below = number && number.getInt() < 0;
  switch (index.kind) {
  case AccessIndex::Constant:
    return !number || number.getInt() == index.offset;
  case AccessIndex::Iterator: {
    int64_t least = index.offset;
    Attribute range;
    if (auto compute = dyn_cast<ComputeOp>(reader)) {
      least += compute.getLower()[index.iterator];
      range = compute.getExtents()[index.iterator];
    } else {
      range = extent;
    }
    if (below)
      return least <= number.getInt();
    // Past the end: the last value of the index is range - 1 + offset.
    if (past && range == extent)
      return index.offset - 1 >= *past;
    return true;
  }
  case AccessIndex::End:
  case AccessIndex::Outer:
  case AccessIndex::Computed:
    return true;
  }
  llvm_unreachable("unknown kind of index");
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

StringRef Graph::ownName(Operation *op) {
  if (auto label = op->getAttrOfType<StringAttr>("label"))
    return label.getValue();
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case([](DataOp data) { return data.getSource(); })
      .Case([](ParamOp param) { return param.getPath(); })
      .Case([](ChoiceOp choice) { return choice.getTarget(); })
      .Case([](OutputOp output) { return output.getTarget(); })
      .Case([](MarkOp mark) { return mark.getTarget(); })
      .Default(StringRef());
}

void Graph::findNames() {
  // From the named ops to their derived ops, breadth first, so that the nearest
  // consumer gives the name.
  std::queue<Operation *> work;
  for (Operation *op : nodes) {
    if (auto equation = dyn_cast<EquationOp>(op))
      equations[equation.getValue().getDefiningOp()] = equation;
    if (ownName(op).empty())
      continue;
    owners[op] = op;
    if (isa<OutputOp>(op))
      continue;
    named.try_emplace(ownName(op), op);
    work.push(op);
  }
  for (Operation *op : nodes)
    if (isa<OutputOp>(op))
      work.push(op);
  while (!work.empty()) {
    Operation *op = work.front();
    work.pop();
    // A copy: the map may be reallocated while the owner is inserted.
    Operation *owner = owners.lookup(op);
    for (const Access &access : getAccesses(op)) {
      Operation *target = access.array.getDefiningOp();
      if (owners.try_emplace(target, owner).second)
        work.push(target);
    }
  }
}

StringRef Graph::getName(Operation *op) const {
  if (StringRef whole = wholeOf(op); !whole.empty())
    return whole;
  Operation *owner = owners.lookup(op);
  return owner ? ownName(owner) : StringRef();
}

StringRef Graph::wholeOf(Operation *op) {
  auto whole = op->getAttrOfType<StringAttr>("attn.part");
  return whole && ownName(op).empty() ? whole.getValue() : StringRef();
}

Location Graph::getPlace(Operation *op) const {
  StringRef whole = wholeOf(op);
  Operation *owner = whole.empty() ? owners.lookup(op) : named.lookup(whole);
  if (!owner)
    return op->getLoc();
  EquationOp equation = equations.lookup(owner);
  return equation ? equation.getLoc() : owner->getLoc();
}

/// The place in a file that a location represents, or null.
static FileLineColLoc fileOf(Location location) {
  FileLineColLoc found;
  location->walk([&](Location inner) {
    found = dyn_cast<FileLineColLoc>(inner);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

Location Graph::getPlace(Operation *op, Operation *inner) const {
  Location place = getPlace(op);
  FileLineColLoc outerFile = fileOf(place);
  FileLineColLoc innerFile = fileOf(inner->getLoc());
  bool sameFile = outerFile && innerFile &&
                  outerFile.getFilename() == innerFile.getFilename();
  return sameFile ? Location(innerFile) : place;
}

SmallVector<std::pair<unsigned, Attribute>>
schedule::loopIndices(Operation *op) {
  SmallVector<std::pair<unsigned, Attribute>> result;
  if (auto compute = dyn_cast<ComputeOp>(op)) {
    for (unsigned i = 0; i < compute.getNumParallel(); ++i)
      result.push_back({i, compute.getExtents()[i]});
    return result;
  }
  Value shaped = op->getNumResults() == 1 ? op->getResult(0) : Value();
  if (auto mark = dyn_cast<MarkOp>(op))
    shaped = mark.getValue();
  auto type = shaped ? dyn_cast<ArrayType>(shaped.getType()) : ArrayType();
  if (!type || isa<DataOp, ParamOp>(op))
    return result;
  unsigned count = type.getRank();
  if (isa<ConcatOp>(op))
    count = count - 1;
  else if (auto reshape = dyn_cast<ReshapeOp>(op))
    count = reshape.getKeep();
  for (unsigned i = 0; i < count; ++i)
    result.push_back({i, type.getExtent(i)});
  return result;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

bool schedule::isOfGradient(StringRef name) { return name.starts_with("d "); }

std::string schedule::writtenName(StringRef name) {
  name.consume_front("d ");
  std::string text;
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  for (StringRef part : parts) {
    // Calls of one def are numbered.
    part = part.split('#').first;
    StringRef digits = part;
    digits.consume_front("-");
    bool isMember =
        !text.empty() && !digits.empty() && llvm::all_of(digits, llvm::isDigit);
    if (isMember && text.back() == ']')
      text.back() = ',';
    else if (!text.empty())
      text += isMember ? "[" : ".";
    text += part.str() + (isMember ? "]" : "");
  }
  return text;
}

bool schedule::isMadeUp(StringRef index) {
  return index.size() > 1 && StringRef("dp").contains(index.front()) &&
         llvm::all_of(index.drop_front(), llvm::isDigit);
}

std::string schedule::indexName(Operation *op, unsigned index) {
  if (auto compute = dyn_cast<ComputeOp>(op))
    return cast<StringAttr>(compute.getIndices()[index]).getValue().str();
  // A letter for the range: t for T.
  for (auto [number, extent] : loopIndices(op))
    if (auto name = dyn_cast<StringAttr>(extent);
        number == index && name && name.size() == 1)
      return name.getValue().lower();
  return "i";
}

/// `t-d-1`, or `..` for any other value.
static std::string sumText(Operation *reader, Value index) {
  auto op = dyn_cast<ComputeOp>(reader);
  auto sum = op && index ? linearIndex(index, op) : std::nullopt;
  if (!sum || sum->terms.empty())
    return "..";
  std::string text;
  auto add = [&](int64_t factor, StringRef what) {
    if (factor < 0 || !text.empty())
      text += factor < 0 ? "-" : "+";
    if (std::abs(factor) != 1 || what.empty())
      text += std::to_string(std::abs(factor)) + (what.empty() ? "" : "*");
    text += what;
  };
  for (bool isPositive : {true, false})
    for (auto &[symbol, factor] : sum->terms)
      if ((factor > 0) == isPositive)
        add(factor, symbol.kind == IndexSymbol::Length
                        ? symbol.length.getValue()
                        : indexName(op, symbol.number));
  if (sum->constant != 0)
    add(sum->constant, "");
  return text;
}

std::string schedule::readText(const Graph &graph, const Edge &edge,
                               unsigned axis, bool asWritten) {
  std::string text = (asWritten ? graph.getText(edge.target)
                                : graph.getName(edge.target).str()) +
                     "[";
  llvm::raw_string_ostream out(text);
  for (unsigned i = 0; i <= axis && i < edge.access->indices.size(); ++i) {
    const AccessIndex &index = edge.access->indices[i];
    out << (i == 0 ? "" : ",");
    switch (index.kind) {
    case AccessIndex::Iterator:
      out << indexName(edge.reader, index.iterator);
      break;
    case AccessIndex::End:
      out << index.length.getValue();
      break;
    case AccessIndex::Constant:
      out << index.offset;
      continue;
    case AccessIndex::Outer:
      out << "..";
      continue;
    case AccessIndex::Computed:
      out << sumText(edge.reader, index.expression);
      continue;
    }
    if (index.offset != 0)
      out << (index.offset > 0 ? "+" : "") << index.offset;
  }
  out << "]";
  return text;
}

unsigned schedule::lineOf(Location place) {
  FileLineColLoc file = fileOf(place);
  return file ? file.getLine() : 0;
}

std::string schedule::quotedName(const Graph &graph, Operation *op) {
  return (isOfGradient(graph.getName(op)) ? "the gradient of '" : "'") +
         graph.getText(op) + "'";
}

std::string schedule::nameAndLine(const Graph &graph, Operation *op,
                                  bool asWritten) {
  std::string text = asWritten ? graph.getText(op) : graph.getName(op).str();
  if (unsigned line = lineOf(graph.getPlace(op)))
    text += " (line " + std::to_string(line) + ")";
  return text;
}

//===- EmitOnnx.cpp - a program as an ONNX model --------------------------===//
//
// Inputs, loops and outputs. A loop is a Scan over the longest example of the
// batch; an example that has ended keeps its state.
//
//===----------------------------------------------------------------------===//

#include "codegen/onnx/EmitOnnx.h"
#include "codegen/onnx/Emitter.h"
#include "frontends/onnx/onnx.pb.h"

#include <fmt/format.h>
#include <numeric>

using namespace mlir;
using namespace fovea;
using namespace fovea::codegen::onnx;
using codegen::onnx::Tensor;

static constexpr int64_t opset = 18, irVersion = 8;

/// `T` as the name of an axis.
static std::string axisName(mlir::Attribute extent) {
  return attn::extentText(extent);
}

static void describe(schema::ValueInfoProto &info, const std::string &name,
                     Element type, ArrayRef<std::string> axes) {
  info.set_name(name);
  auto &tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(int(type));
  auto &shape = *tensor.mutable_shape();
  for (const std::string &axis : axes) {
    auto &dim = *shape.add_dim();
    int64_t size;
    if (StringRef(axis).getAsInteger(10, size))
      dim.set_dim_param(axis);
    else
      dim.set_dim_value(size);
  }
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

void Emitter::addInput(const std::string &name, Element type,
                       ArrayRef<std::string> axes) {
  describe(*main.add_input(), name, type, axes);
  Tensor &tensor = inputs[name];
  tensor.name = name;
  tensor.rank = axes.size();
  tensor.wide = (uint64_t(1) << axes.size()) - 1;
  tensor.type = type;
}

void Emitter::addDataInput(const runtime::DataSpec &spec) {
  if (inputs.count(spec.name))
    return;
  std::vector<std::string> axes = {"batch"};
  for (const runtime::DataAxis &axis : spec.axes)
    axes.push_back(axis.length.empty() ? std::to_string(axis.size)
                                       : axis.length);
  addInput(spec.name,
           spec.kind == runtime::DataKind::Real  ? real()
           : spec.kind == runtime::DataKind::Bit ? Element::Bit
                                                 : Element::I64,
           axes);
  if (batch.empty())
    batch = graph.add(
        "Shape", {spec.name},
        {NodeAttribute{"start", int64_t(0)}, NodeAttribute{"end", int64_t(1)}});
}

/// Whether the value grows with each of its symbols.
static bool isMonotonic(AffineExpr expression) {
  switch (expression.getKind()) {
  case AffineExprKind::Constant:
  case AffineExprKind::SymbolId:
    return true;
  case AffineExprKind::DimId:
  case AffineExprKind::Mod:
    return false;
  default:
    break;
  }
  auto binary = cast<AffineBinaryOpExpr>(expression);
  bool isSum = expression.getKind() == AffineExprKind::Add;
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return isMonotonic(binary.getLHS()) &&
         (isSum ? isMonotonic(binary.getRHS())
                : factor && factor.getValue() > 0);
}

/// An affine expression of tensors.
static Tensor evaluate(Emitter &emitter, AffineExpr expression,
                       ArrayRef<Tensor> symbols) {
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return symbols[symbol.getPosition()];
  if (auto number = dyn_cast<AffineConstantExpr>(expression))
    return emitter.whole(number.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expression);
  Tensor a = evaluate(emitter, binary.getLHS(), symbols);
  Tensor b = evaluate(emitter, binary.getRHS(), symbols);
  switch (expression.getKind()) {
  case AffineExprKind::Add:
    return emitter.apply("Add", {a, b});
  case AffineExprKind::Mul:
    return emitter.apply("Mul", {a, b});
  case AffineExprKind::CeilDiv:
    a = emitter.apply("Add", {a, emitter.apply("Sub", {b, emitter.whole(1)})});
    [[fallthrough]];
  default:
    return emitter.apply(
        "Div", {emitter.apply("Sub", {a, emitter.apply("Mod", {a, b})}), b});
  }
}

LogicalResult Emitter::emitLength(attn::LengthOp op) {
  std::string name = op.getLength().str();
  Length &length = lengths[name];
  if (op.getMap()) {
    AffineExpr expression = op.getMap()->getResult(0);
    if (!isMonotonic(expression))
      return op.emitError() << "'--emit onnx' cannot write the length '" << name
                            << "': it does not grow with the lengths that it "
                               "is computed from";
    SmallVector<Tensor> values, extents;
    for (auto of : op.getOf()->getAsRange<StringAttr>()) {
      const Length &other = lengths.find(of.getValue())->second;
      values.push_back(other.values);
      extents.push_back({other.extent, 1, 1, Element::I64});
      if (other.parent)
        length.parent = other.parent;
    }
    if (length.parent)
      for (Tensor &value : values)
        value = place(value, {0, 1}, 2);
    length.values =
        apply("Max", {evaluate(*this, expression, values), whole(0)});
    length.extent =
        apply("Max", {evaluate(*this, expression, extents), whole(0)}).name;
    return success();
  }
  assert(!op.getOpen() && "only decoding has a search");
  for (const runtime::DataSpec &spec : options.data) {
    int number = 0;
    for (auto [axis, what] : llvm::enumerate(spec.axes)) {
      number += !what.length.empty();
      if (what.length != name)
        continue;
      addDataInput(spec);
      std::string input = number == 1
                              ? spec.name + ".length"
                              : fmt::format("{}.length.{}", spec.name, number);
      std::vector<std::string> axes = {"batch"};
      if (!what.parent.empty()) {
        axes.push_back(what.parent);
        int64_t size;
        length.parent =
            StringRef(what.parent).getAsInteger(10, size)
                ? mlir::Attribute(StringAttr::get(op.getContext(), what.parent))
                : IntegerAttr::get(IntegerType::get(op.getContext(), 64), size);
      }
      addInput(input, Element::I64, axes);
      length.values = inputs[input];
      length.extent = graph.add("Shape", {spec.name},
                                {NodeAttribute{"start", int64_t(axis) + 1},
                                 NodeAttribute{"end", int64_t(axis) + 2}});
      return success();
    }
  }
  llvm_unreachable("a free length comes with data");
}

void Emitter::emitParameter(attn::ParamOp op) {
  std::string path = op.getPath().str();
  attn::ArrayType type = op.getResult().getType();
  auto found = options.weights->find(path);
  assert(found != options.weights->end() && "the caller checks the weights");
  const runtime::Tensor &weights = found->second;
  Element element = elementOf(type.getElementType());
  schema::TensorProto &tensor = *main.add_initializer();
  tensor.set_name(path);
  tensor.set_data_type(int(element));
  std::string &bytes = *tensor.mutable_raw_data();
  int64_t count = weights.numElements();
  auto append = [&](auto value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
  };
  for (int64_t i = 0; i < count; ++i) {
    double value = weights.at(i);
    if (element == Element::F32)
      append(static_cast<float>(value));
    else if (element == Element::F64)
      append(value);
    else if (element == Element::I64)
      append(static_cast<int64_t>(value));
    else
      append(static_cast<char>(value != 0));
  }
  for (mlir::Attribute extent : type.getShape())
    tensor.add_dims(cast<IntegerAttr>(extent).getInt());
  unsigned rank = type.getRank() + 1;
  std::string whole = graph.add("Unsqueeze", {path, graph.vector({0})});
  arrays[op.getResult()] = {whole, rank, ((uint64_t(1) << rank) - 1) & ~1ull,
                            element};
}

void Emitter::emitData(attn::DataOp op) {
  std::string name = op.getSource().str();
  if (StringRef(name).starts_with(runtime::statePrefix)) {
    arrays[op.getResult()] = zero(elementOf(op.getType().getElementType()));
    return;
  }
  for (const runtime::DataSpec &spec : options.data)
    if (spec.name == name)
      addDataInput(spec);
  arrays[op.getResult()] = inputs.lookup(name);
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

void Emitter::emitConcat(attn::ConcatOp op) {
  Extents shape = op.getResult().getType().getShape().getValue();
  uint64_t last = uint64_t(1) << shape.size(), wide = last;
  for (Value part : op.getParts())
    wide |= arrayOf(part).wide;
  Tensor result;
  std::vector<std::string> names;
  for (Value part : op.getParts()) {
    Extents own = cast<attn::ArrayType>(part.getType()).getShape().getValue();
    Tensor tensor = widen(arrayOf(part), wide, own);
    names.push_back(tensor.name);
    result.type = tensor.type;
  }
  result.name = graph.add("Concat", names,
                          {NodeAttribute{"axis", int64_t(shape.size())}});
  result.rank = shape.size() + 1;
  result.wide = wide;
  arrays[op.getResult()] = result;
}

void Emitter::emitReshape(attn::ReshapeOp op) {
  Tensor tensor = arrayOf(op.getOperand());
  unsigned kept = op.getKeep() + 1;
  auto from = cast<attn::ArrayType>(op.getOperand().getType());
  Extents to = op.getResult().getType().getShape().getValue();
  uint64_t keptAxes = (uint64_t(1) << kept) - 1;
  uint64_t all = (uint64_t(2) << from.getRank()) - 1;
  Tensor result = widen(tensor, all & ~keptAxes, from.getShape().getValue());
  std::vector<int64_t> shape(kept, 0);
  result.wide &= keptAxes;
  for (size_t axis = kept - 1; axis < to.size(); ++axis) {
    shape.push_back(cast<IntegerAttr>(to[axis]).getInt());
    result.wide |= uint64_t(2) << axis;
  }
  result.rank = to.size() + 1;
  if (tensor.rank == 0 && result.name == tensor.name) {
    arrays[op.getResult()] = tensor;
    return;
  }
  result.name = graph.add("Reshape", {result.name, graph.vector(shape)});
  arrays[op.getResult()] = result;
}

LogicalResult Emitter::emitScan(attn::ScanOp op) {
  auto allAxes = [](attn::ArrayType type) {
    return (uint64_t(2) << type.getRank()) - 1;
  };
  auto complete = [&](const Tensor &tensor, attn::ArrayType type) {
    return widen(tensor, allAxes(type), type.getShape().getValue());
  };
  mlir::Attribute extent = op.getExtent();
  std::vector<std::string> given;
  schema::GraphProto body;
  body.set_name("step over " + axisName(extent));
  SmallVector<Tensor> carries;
  for (Value init : op.getInits()) {
    auto type = cast<attn::ArrayType>(init.getType());
    Tensor first = complete(arrayOf(init), type);
    given.push_back(first.name);
    carries.push_back({graph.fresh(), unsigned(type.getRank()) + 1,
                       allAxes(type), first.type});
  }
  // onnx's reference evaluator scans forwards, along axis 0 alone.
  std::string steps = places(extent, 0, 1).name;
  if (op.getReverse())
    steps = graph.add(
        "Range",
        {apply("Sub",
               {Tensor{extentNumber(extent), 0, 0, Element::I64}, whole(1)})
             .name,
         graph.number(int64_t(-1)), graph.number(int64_t(-1))});
  given.push_back(steps);
  Tensor index{graph.fresh(), 0, 0, Element::I64};
  graph.open(body);
  for (auto [carry, argument] :
       llvm::zip_equal(carries, op.getBody().getArguments().drop_front())) {
    schema::ValueInfoProto &info = *body.add_input();
    info.set_name(carry.name);
    info.mutable_type()->mutable_tensor_type()->set_elem_type(int(carry.type));
    graph.declare(carry.name);
    arrays[argument] = carry;
  }
  describe(*body.add_input(), index.name, Element::I64, {});
  graph.declare(index.name);
  outerIndices[op.getLoopIndex()] = index;
  loops.push_back({extent, index});
  if (failed(emit(op.getBody().front())))
    return failure();
  std::vector<std::string> outputs;
  for (auto [number, value] : llvm::enumerate(op.getYield()->getOperands())) {
    auto type = cast<attn::ArrayType>(value.getType());
    Tensor next = complete(arrayOf(value), type);
    if (isLength(extent) && number < carries.size())
      next = where(apply("Less", {index, lengthAt(extent, next.rank, nullptr)},
                         Element::Bit),
                   next, carries[number]);
    std::string name = graph.fresh();
    graph.addNode("Identity", {next.name}, {name});
    schema::ValueInfoProto &info = *body.add_output();
    info.set_name(name);
    info.mutable_type()->mutable_tensor_type()->set_elem_type(int(next.type));
    outputs.push_back(graph.fresh());
  }
  loops.pop_back();
  graph.close();
  graph.addNode("Scan", given, outputs,
                {NodeAttribute{"num_scan_inputs", int64_t(1)}}, &body);
  for (auto [number, result] : llvm::enumerate(op.getResults())) {
    auto type = cast<attn::ArrayType>(result.getType());
    std::string name = outputs[number];
    if (number >= carries.size()) {
      if (op.getReverse())
        name = graph.add("Gather", {name, steps});
      std::vector<int64_t> order(type.getRank() + 1);
      std::iota(order.begin(), order.end(), 0);
      size_t axis = op.getAxes()[number - carries.size()] + 1;
      order.erase(order.begin());
      order.insert(order.begin() + axis, 0);
      name = graph.add("Transpose", {name}, {NodeAttribute{"perm", order}});
    }
    arrays[result] = {name, unsigned(type.getRank()) + 1, allAxes(type),
                      elementOf(type.getElementType())};
  }
  return success();
}

LogicalResult Emitter::emit(Block &block) {
  for (Operation &op : block)
    if (failed(emitOp(op)))
      return failure();
  return success();
}

LogicalResult Emitter::emitOp(Operation &op) {
  if (auto label = op.getAttrOfType<StringAttr>("label"))
    graph.setLabel(label.str());
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](attn::LengthOp op) { return emitLength(op); })
      .Case([&](attn::ParamOp op) { return emitParameter(op), success(); })
      .Case([&](attn::ScanOp op) { return emitScan(op); })
      .Case([&](attn::ComputeOp op) -> LogicalResult {
        FailureOr<Tensor> value = BodyEmitter(*this, op).run();
        if (failed(value))
          return failure();
        arrays[op.getResult()] = *value;
        return success();
      })
      .Case([&](attn::DataOp op) { return emitData(op), success(); })
      .Case([&](attn::ConcatOp op) { return emitConcat(op), success(); })
      .Case([&](attn::ReshapeOp op) { return emitReshape(op), success(); })
      .Case([&](attn::OutputOp op) { return emitOutput(op), success(); })
      .Case<attn::YieldOp, arith::ConstantOp>(
          [](Operation *) { return success(); })
      .Default([](Operation *) -> LogicalResult {
        llvm_unreachable("no other op computes a loss");
      });
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

Tensor Emitter::insideOnly(const Tensor &array, attn::ArrayType type) {
  Tensor result = array;
  for (unsigned axis = 0; axis < type.getRank(); ++axis) {
    mlir::Attribute extent = type.getExtent(axis);
    if (!isLength(extent))
      continue;
    std::optional<Tensor> parent;
    for (unsigned outer = axis; outer-- > 0 && !parent;)
      if (type.getExtent(outer) == parentOf(extent))
        parent = places(type.getExtent(outer), outer + 1, array.rank);
    Tensor has =
        apply("Less",
              {places(extent, axis + 1, array.rank),
               lengthAt(extent, array.rank, parent ? &*parent : nullptr)},
              Element::Bit);
    result = where(has, result, zero(result.type));
  }
  return result;
}

void Emitter::addOutput(const std::string &name, const Tensor &tensor,
                        ArrayRef<std::string> axes) {
  // An input may have the same name.
  std::string output = inputs.count(name) ? name + ".output" : name;
  graph.addNode("Identity", {tensor.name}, {output});
  describe(*main.add_output(), output, tensor.type, axes);
}

void Emitter::emitOutput(attn::OutputOp op) {
  std::string name = op.getTarget().str();
  if (StringRef(name).starts_with(runtime::statePrefix))
    return;
  auto type = cast<attn::ArrayType>(op.getValue().getType());
  Tensor tensor =
      widen(arrayOf(op.getValue()), (uint64_t(2) << type.getRank()) - 1,
            type.getShape().getValue());
  tensor = insideOnly(tensor, type);
  results[name] = tensor;
  std::vector<std::string> axes = {"batch"};
  for (mlir::Attribute extent : type.getShape())
    axes.push_back(axisName(extent));
  addOutput(name, tensor, axes);
}

/// The loss of the batch, of its sums over the examples.
void Emitter::emitLoss() {
  if (!results.count("nll"))
    return;
  auto sum = [&](const char *name, const char *op) {
    Tensor each = cast(results.lookup(name), real());
    return Tensor{graph.add(op, {each.name, graph.vector({0})},
                            {NodeAttribute{"keepdims", int64_t(0)}}),
                  0, 0, real()};
  };
  auto train =
      program->getParentOp()->getAttrOfType<DictionaryAttr>("attn.train");
  auto average = train ? train.getAs<StringAttr>("average") : StringAttr();
  Tensor loss;
  if (average && average.getValue() == "example") {
    loss = sum("nll", "ReduceMean");
  } else {
    Tensor choices = sum("choices", "ReduceSum");
    Tensor none = apply("Equal", {choices, realNumber(0)}, Element::Bit);
    loss = apply(
        "Div", {sum("nll", "ReduceSum"), where(none, realNumber(1), choices)});
    loss = where(none, realNumber(0), loss);
  }
  if (results.count("penalty"))
    loss = apply("Add", {loss, sum("penalty", "ReduceMean")});
  addOutput("loss", loss, {});
}

LogicalResult Emitter::run() {
  Block &body = program.getBody().front();
  // A batch has the examples of its data.
  for (const runtime::DataSpec &spec : options.data)
    for (auto data : body.getOps<attn::DataOp>())
      if (data.getSource() == spec.name)
        addDataInput(spec);
  if (batch.empty() && options.data.empty())
    batch = graph.vector({1});
  if (batch.empty())
    addDataInput(options.data.front());
  if (failed(emit(body)))
    return failure();
  emitLoss();
  return success();
}

/// Moves the weights to a file of their own.
static void moveOutside(schema::GraphProto &graph,
                        const codegen::OnnxOptions &options,
                        std::string &bytes) {
  for (schema::TensorProto &tensor : *graph.mutable_initializer()) {
    if (!options.weights->count(tensor.name()))
      continue;
    for (auto [key, value] :
         {std::pair<const char *, std::string>("location", options.outsideName),
          {"offset", std::to_string(bytes.size())},
          {"length", std::to_string(tensor.raw_data().size())}}) {
      schema::StringStringEntryProto &entry = *tensor.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
    bytes += tensor.raw_data();
    tensor.clear_raw_data();
    tensor.set_data_location(1);
  }
}

LogicalResult codegen::emitOnnx(ModuleOp module, StringRef name,
                                const OnnxOptions &options, OnnxFiles &files) {
  schema::ModelProto file;
  file.set_ir_version(irVersion);
  file.set_producer_name("fovea");
  schema::OperatorSetIdProto &import = *file.add_opset_import();
  import.set_domain("");
  import.set_version(opset);
  schema::GraphProto &graph = *file.mutable_graph();
  auto model = module->getAttrOfType<StringAttr>("attn.model");
  graph.set_name(model ? model.str() : "model");
  Emitter emitter(module.lookupSymbol<attn::ProgramOp>(name), options, graph);
  if (failed(emitter.run()))
    return failure();
  uint64_t size = 0;
  for (const schema::TensorProto &tensor : graph.initializer())
    size += tensor.raw_data().size();
  if (size > options.mostInside)
    moveOutside(graph, options, files.outside);
  files.model = file.SerializeAsString();
  return success();
}

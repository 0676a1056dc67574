//===- Emitter.h - from arrays to tensors of a batch ----------------------===//
//
// Shared by the files of this folder. `Emitter` has what belongs to a program:
// its lengths, arrays and loops. `BodyEmitter` writes one equation.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_ONNX_EMITTER_H
#define FOVEA_CODEGEN_ONNX_EMITTER_H

#include "codegen/onnx/EmitOnnx.h"
#include "codegen/onnx/OnnxGraph.h"
#include "dialect/AttnDialect.h"

namespace fovea::codegen::onnx {

using Extents = llvm::ArrayRef<mlir::Attribute>;

class Emitter {
public:
  Emitter(attn::ProgramOp program, const OnnxOptions &options,
          schema::GraphProto &main)
      : graph(main), program(program), options(options), main(main) {}

  mlir::LogicalResult run();

  Graph graph;

  Element real() const {
    return options.isDouble ? Element::F64 : Element::F32;
  }
  Element elementOf(mlir::Type type) const;

  // Arithmetic on tensors of one rank, or on numbers.

  Tensor apply(const std::string &op, llvm::ArrayRef<Tensor> inputs,
               Element type, llvm::ArrayRef<NodeAttribute> attributes = {});
  /// The same type as the first input has.
  Tensor apply(const std::string &op, llvm::ArrayRef<Tensor> inputs) {
    return apply(op, inputs, inputs.front().type);
  }
  Tensor where(const Tensor &condition, const Tensor &a, const Tensor &b);
  Tensor both(const Tensor &a, const Tensor &b);
  Tensor cast(const Tensor &tensor, Element type);
  Tensor whole(int64_t value) {
    return {graph.number(value), 0, 0, Element::I64};
  }
  Tensor realNumber(double value) {
    return {graph.number(value, real()), 0, 0, real()};
  }
  /// 0 of a type.
  Tensor zero(Element type);

  // Axes.

  /// The extent of an axis in a batch, as a number and as a vector.
  std::string extentNumber(mlir::Attribute extent);
  std::string extentVector(mlir::Attribute extent);
  /// The places 0 .. of axis `axis` of `rank` axes.
  Tensor places(mlir::Attribute extent, unsigned axis, unsigned rank);
  Tensor examples(unsigned rank);
  /// Makes axes wide that are not. `extents` are those after the batch.
  Tensor widen(const Tensor &tensor, uint64_t axes, Extents extents);
  /// Moves axes: `axes[i]` is the place of axis i of `tensor` among `rank`
  /// axes. Axes that are not wide may have -1.
  Tensor place(const Tensor &tensor, llvm::ArrayRef<int> axes, unsigned rank);

  // Lengths.

  /// Whether places of an axis may be padding.
  static bool isLength(mlir::Attribute extent) {
    return llvm::isa<mlir::StringAttr>(extent);
  }
  mlir::Attribute parentOf(mlir::Attribute length) const;
  /// The length of each example among `rank` axes. `parent` has the index of
  /// the parent of a nested length.
  Tensor lengthAt(mlir::Attribute length, unsigned rank, const Tensor *parent);
  /// The largest value of a nested length in each example.
  Tensor largestLength(mlir::Attribute length, unsigned rank);
  /// The index of the innermost loop over an extent, or null.
  const Tensor *loopOver(mlir::Attribute extent) const;

  /// An index from outside of an equation; null for any other value.
  const Tensor *outerIndex(mlir::Value value) const;
  const Tensor &arrayOf(mlir::Value value) const {
    return arrays.find(value)->second;
  }
  /// An element of an array of `extents` at `indices`, of `rank` axes each;
  /// `plain[k]` is the axis whose places `indices[k]` are, or -1.
  Tensor gather(const Tensor &array, Extents extents,
                llvm::ArrayRef<Tensor> indices, llvm::ArrayRef<int> plain,
                Extents axes);

private:
  struct Length {
    std::string extent; // a vector
    Tensor values;      // [batch], or [batch, parent]
    mlir::Attribute parent;
  };
  struct Loop {
    mlir::Attribute extent;
    Tensor index;
  };

  mlir::LogicalResult emit(mlir::Block &block);
  mlir::LogicalResult emitOp(mlir::Operation &op);
  mlir::LogicalResult emitLength(attn::LengthOp length);
  void emitParameter(attn::ParamOp parameter);
  void emitData(attn::DataOp data);
  void emitConcat(attn::ConcatOp concat);
  void emitReshape(attn::ReshapeOp reshape);
  mlir::LogicalResult emitScan(attn::ScanOp scan);
  void emitOutput(attn::OutputOp output);
  void emitLoss();
  Tensor insideOnly(const Tensor &array, attn::ArrayType type);
  void addInput(const std::string &name, Element type,
                llvm::ArrayRef<std::string> axes);
  void addOutput(const std::string &name, const Tensor &tensor,
                 llvm::ArrayRef<std::string> axes);
  void addDataInput(const runtime::DataSpec &spec);

  attn::ProgramOp program;
  const OnnxOptions &options;
  schema::GraphProto &main;
  std::string batch; // the number of examples, as a vector
  llvm::DenseMap<mlir::Value, Tensor> arrays;
  llvm::DenseMap<mlir::Value, Tensor> outerIndices;
  llvm::StringMap<Length> lengths;
  llvm::StringMap<Tensor> inputs, results;
  std::vector<Loop> loops;
};

/// One `attn.compute`: each scalar of its body becomes a tensor over the batch
/// and the indices.
class BodyEmitter {
public:
  BodyEmitter(Emitter &emitter, attn::ComputeOp op);
  mlir::FailureOr<Tensor> run();

private:
  mlir::FailureOr<Tensor> evaluate(mlir::Region &region);
  mlir::LogicalResult evaluate(mlir::Block &block);
  mlir::LogicalResult emitScalar(mlir::Operation &op);
  mlir::LogicalResult emitIf(mlir::scf::IfOp op);
  Tensor emitRead(attn::ReadOp op);
  Tensor emitExtent(attn::ExtentOp op);
  Tensor valueOf(mlir::Value value);

  /// Reads an array at `indices`, without a check.
  Tensor read(mlir::Value array, mlir::ValueRange indices);
  /// Whether the indices are inside an array; nothing if they always are.
  std::optional<Tensor> inside(mlir::Value array, mlir::ValueRange indices);
  /// The index of a compute whose places these are, or -1.
  int plainIndex(mlir::Value index, mlir::Attribute extent);

  /// Where the indices of the reduction take part; nothing if they all do.
  std::optional<Tensor> partOfReduction();
  Tensor reduce(std::optional<Tensor> condition);
  std::optional<Tensor> product(std::optional<Tensor> condition);
  Tensor countOf(const std::optional<Tensor> &condition);
  Tensor extremum(const Tensor &value, const std::optional<Tensor> &condition);
  Tensor place(const Tensor &value, const std::optional<Tensor> &condition);
  Tensor logSumExp(const Tensor &value, const std::optional<Tensor> &condition);
  Tensor normalise(const Tensor &value, const std::optional<Tensor> &condition);
  /// With the axes of the reduction gone.
  Tensor reduced(const std::string &op, const Tensor &tensor,
                 bool keeps = false);

  Emitter &emitter;
  attn::ComputeOp op;
  unsigned rank; // 1 + the number of indices
  uint64_t reducedAxes = 0;
  llvm::SmallVector<mlir::Attribute> extents;
  llvm::DenseMap<mlir::Value, Tensor> values;
  Tensor yielded;
};

} // namespace fovea::codegen::onnx

#endif // FOVEA_CODEGEN_ONNX_EMITTER_H

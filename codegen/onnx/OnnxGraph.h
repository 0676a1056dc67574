//===- OnnxGraph.h - nodes of an ONNX model -------------------------------===//
//
// Builds the graph of an ONNX model, operator by operator. A node goes into the
// outermost graph that has all its inputs, and equal nodes are one: so nothing
// is computed at each step of a loop that does not depend on the step. Which
// operators an equation becomes is decided elsewhere.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_ONNX_ONNXGRAPH_H
#define FOVEA_CODEGEN_ONNX_ONNXGRAPH_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <string>
#include <variant>
#include <vector>

namespace fovea::onnx::schema {
class GraphProto;
class TensorProto;
} // namespace fovea::onnx::schema

namespace fovea::codegen::onnx {

namespace schema = fovea::onnx::schema;

/// The numbers of ONNX for the types of elements.
enum class Element : int { F32 = 1, I64 = 7, Bit = 9, F64 = 11 };

/// A value of the graph. Axis 0 is the batch, the others are those of an array
/// or the indices of an equation. An axis that is not `wide` has one place,
/// which holds for all. A number has no axes at all.
struct Tensor {
  std::string name;
  unsigned rank = 0;
  uint64_t wide = 0; // by axis
  Element type = Element::F32;

  bool isWide(unsigned axis) const { return wide >> axis & 1; }
};

struct NodeAttribute {
  std::string name;
  std::variant<int64_t, std::vector<int64_t>, std::string> value;
};

class Graph {
public:
  /// Nodes and constants go to `main`, which the caller owns.
  explicit Graph(schema::GraphProto &main) { scopes.push_back({&main, {}}); }

  /// The output of a node with one output.
  std::string add(const std::string &op, mlir::ArrayRef<std::string> inputs,
                  mlir::ArrayRef<NodeAttribute> attributes = {});
  /// A node of the innermost graph, with these outputs; `body` is the graph
  /// that it runs, or null.
  void addNode(const std::string &op, mlir::ArrayRef<std::string> inputs,
               mlir::ArrayRef<std::string> outputs,
               mlir::ArrayRef<NodeAttribute> attributes = {},
               const schema::GraphProto *body = nullptr);

  /// Constants: a number, or a vector of numbers.
  std::string number(int64_t value);
  std::string number(double value, Element type);
  std::string bit(bool value);
  std::string vector(mlir::ArrayRef<int64_t> values);

  /// Begins and ends the graph that a loop runs.
  void open(schema::GraphProto &body) { scopes.push_back({&body, {}}); }
  void close() { scopes.pop_back(); }
  /// A name that no other value has; no name of a spec has this sign.
  std::string fresh() { return "#" + std::to_string(++numNames); }
  /// Makes known that the innermost graph has a value of this name.
  void declare(const std::string &name) { depths[name] = scopes.size() - 1; }
  /// Calls nodes from here on by the equation that they compute.
  void setLabel(const std::string &text) { label = text; }

private:
  struct Scope {
    schema::GraphProto *graph;
    std::map<std::string, std::string> known; // nodes, and their outputs
  };
  void write(schema::GraphProto &graph, const std::string &op,
             mlir::ArrayRef<std::string> inputs,
             mlir::ArrayRef<std::string> outputs,
             mlir::ArrayRef<NodeAttribute> attributes,
             const schema::GraphProto *body);
  std::string constant(Element type, mlir::ArrayRef<int64_t> shape,
                       const void *bytes, size_t size);

  std::vector<Scope> scopes; // of the main graph first
  llvm::StringMap<size_t> depths;
  std::map<std::string, std::string> constants;
  size_t numNames = 0, numNodes = 0;
  std::string label;
};

} // namespace fovea::codegen::onnx

#endif // FOVEA_CODEGEN_ONNX_ONNXGRAPH_H

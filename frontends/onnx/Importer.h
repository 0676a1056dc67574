//===- Importer.h - nodes to equations ------------------------*- C++ -*-===//
//
// Shared by the files of operators: values, their known contents, and the
// writing of equations. An array is always read with all of its indices.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_FRONTENDS_ONNX_IMPORTER_H
#define FOVEA_FRONTENDS_ONNX_IMPORTER_H

#include "frontends/onnx/Onnx.h"
#include "frontends/onnx/Size.h"
#include "frontends/onnx/Tensors.h"

#include <functional>
#include <memory>
#include <set>

namespace fovea::onnx::schema {
class AttributeProto;
class GraphProto;
class NodeProto;
class TensorProto;
} // namespace fovea::onnx::schema

namespace fovea::onnx {

enum class Kind { Real, Int, Bit };

/// The numbers of ONNX: FLOAT is 1, INT64 is 7.
using ElementType = int;
constexpr ElementType floatType = 1, int32Type = 6, int64Type = 7, boolType = 9;
std::optional<Kind> kindOf(ElementType type);
bool isUnsigned(ElementType type);
std::string typeName(ElementType type);

/// The contents of a tensor, if known: numbers that may be lengths, or
/// reals.
struct Contents {
  std::vector<Size> whole;
  std::vector<double> reals;
};

struct Value {
  ElementType type = floatType;
  Shape shape;
  std::string array;  // of the spec; empty: of what is known alone
  unsigned depth = 0; // how many loops it stands in
  std::shared_ptr<const Contents> known;
  const schema::TensorProto *stored = nullptr; // an initializer
  std::string name;                            // in the file

  Kind kind() const { return *kindOf(type); }
  size_t rank() const { return shape.size(); }
};

using Indices = std::vector<std::string>;
using Body = std::function<std::string(const Indices &)>;

class Importer;

/// A node with its inputs, and its attributes by name.
class Node {
public:
  Node(Importer &importer, const schema::NodeProto &proto)
      : importer(importer), proto(proto) {}

  const schema::NodeProto &schema() const { return proto; }
  const std::string &op() const;
  size_t numInputs() const;
  size_t numOutputs() const;
  /// Null for an omitted optional input.
  const Value *input(size_t i) const;
  const Value &at(size_t i) const { return *input(i); }
  /// Whether an output has a name.
  bool gives(size_t i) const;

  const schema::AttributeProto *attribute(const std::string &name) const;
  int64_t integer(const std::string &name, int64_t otherwise) const;
  double real(const std::string &name, double otherwise) const;
  std::string text(const std::string &name, const std::string &otherwise) const;
  std::vector<int64_t> integers(const std::string &name) const;
  std::vector<double> reals(const std::string &name) const;
  std::vector<std::string> texts(const std::string &name) const;

private:
  Importer &importer;
  const schema::NodeProto &proto;
};

class Importer {
public:
  /// A length that another one is equal to, by name.
  using Equals = std::map<std::string, std::string>;

  Importer(std::string path,
           const std::vector<std::pair<std::string, std::string>> &sets,
           const Equals &equals, ImportedModel &model)
      : path(path), sets(sets), equals(equals), model(model),
        reader(std::move(path)) {}

  runtime::Status run(const std::string &bytes);
  /// Two lengths, the later one first, that a failed run needs to be equal: the
  /// file gives their axes two names, or none.
  const std::optional<std::pair<std::string, std::string>> &needed() const {
    return neededEqual;
  }

  // Values.

  const Value *find(const std::string &name) const;
  /// One element: `x[i0, i1]`, or its known value. If indices may leave the
  /// value, `orZero` reads 0 outside.
  std::string read(const Value &value, const Indices &indices,
                   bool orZero = false);
  /// The same for a value that is broadcast over more or longer axes.
  std::string readAligned(const Value &value, const Indices &indices);
  /// As an element of this kind.
  std::string readAs(const Value &value, const Indices &indices, Kind kind);
  std::string alignedAs(const Value &value, const Indices &indices, Kind kind);

  // Axes that are stored as several (Size::parts).

  /// The index of each stored axis. An index that does not combine these is
  /// divided, and `isExact` becomes false: nothing proves that it stays inside.
  Indices storedPlaces(const Indices &indices, const Shape &shape,
                       bool &isExact) const;
  /// The inverse.
  Indices mergedPlaces(const Indices &places, const Shape &shape);

  // Equations.

  /// Defines output `output` of the node.
  bool give(const Node &node, size_t output, ElementType type,
            const Shape &shape, const Body &body);
  /// A separate value that only this node reads.
  Value helper(const Node &node, ElementType type, const Shape &shape,
               const Body &body);
  /// A known value needs no equation.
  void giveKnown(const Node &node, size_t output, ElementType type,
                 const Shape &shape, Contents contents);
  /// The same value under another name.
  void giveSame(const Node &node, size_t output, const Value &value);
  /// Declares a value before its equation, as in a recurrence.
  Value declare(const Node &node, const std::string &hint, ElementType type,
                const Shape &shape);
  void define(const Value &value, const Body &body);

  /// The nodes of a branch, which read earlier and outer values.
  bool runBranch(const schema::GraphProto &graph);

  /// Whether two extents are equal. If they would be, were two lengths the
  /// same, then the import begins again with one length, which data are checked
  /// for.
  bool areEqual(const Size &a, const Size &b);
  /// The same for an extent that has to be a multiple of another.
  std::optional<Size> divided(const Size &a, const Size &b);

  /// Reports an error that names the node; always returns false.
  bool refuse(const Node &node, const std::string &why);
  /// The contents of an input that must be known; null is an error.
  const Contents *knownInput(const Node &node, size_t i);
  /// The same as whole numbers; nothing is an error.
  std::optional<std::vector<int64_t>> knownNumbers(const Node &node, size_t i);
  /// Returns whether `value` can be read with shape `shape`; reports an error
  /// if not.
  bool broadcastsTo(const Node &node, const Value &value, const Shape &shape);
  /// The common shape: an axis of 1 takes the other's extent.
  std::optional<Shape> broadcast(const Node &node,
                                 const std::vector<const Value *> &values);
  /// An axis counted from the front; nothing is an error.
  std::optional<size_t> axisOf(const Node &node, int64_t axis, size_t rank);

  int64_t opset() const { return opsetVersion; }

  // Loops: values inside one have its index first.

  struct Loop {
    std::string index;
    Size count;
  };
  std::vector<Loop> loops;
  using Scope = std::map<std::string, Value>;
  Scope values;
  std::string nameFor(const std::string &name);
  bool addTensor(const schema::TensorProto &tensor, const std::string &name,
                 Value &value);
  std::string pathOf(const Node &node) const;

private:
  bool runGraph(const schema::GraphProto &graph);
  bool runNode(const schema::NodeProto &proto);
  bool addInput(const std::string &name, ElementType type, Shape shape);
  bool fixInput(const std::string &name, ElementType type, const Shape &shape,
                const std::string &text);
  std::string readKnown(const Value &value, const Indices &indices,
                        bool orZero);
  std::string parameterOf(const Value &value);
  Size lengthOf(const std::string &name, size_t axis);
  std::string faultOf(const std::string &name, const Shape &shape) const;
  const std::string *setOf(const std::string &name);
  std::string leftOf(const Value &value, Indices &indices);
  bool fail(const std::string &why);
  using Holds = std::function<bool(const Size &, const Size &)>;
  void needEqual(const Size &a, const Size &b, const Holds &holds);

  std::string path;
  const std::vector<std::pair<std::string, std::string>> &sets;
  const Equals &equals;
  std::optional<std::pair<std::string, std::string>> neededEqual;
  ImportedModel &model;
  TensorReader reader;
  std::string error;
  int64_t opsetVersion = 0;
  std::set<std::string> taken;
  std::map<std::string, Size> lengths; // by their names in the file
  /// Lengths by their own names, as inputs have them first, with the axis.
  std::vector<std::pair<std::string, size_t>> order;
  std::map<const void *, std::string> parameters;
  std::map<std::string, Indices> mergedIndices;      // what each is made of
  std::set<std::string> outputs;                     // of the graph
  std::vector<std::shared_ptr<const Contents>> kept; // which these point to
  std::string data, params, equations;
};

/// An element as text, `expression` of kind `from`.
std::string converted(const std::string &expression, Kind from, Kind to);
std::string literal(double number);
/// A name of the file, on one line of a comment or a message.
std::string printable(std::string name);
/// `a0 * d1 + a1`: the place of an element in row-major order.
std::string flatIndex(const Indices &indices, const Shape &shape);
/// `x[i, j] < n and ..`
std::string joined(const std::vector<std::string> &parts,
                   const std::string &between);

/// What becomes of the sum at the given place of a product.
using Finish =
    std::function<std::string(const std::string &sum, const Indices &)>;
/// Gives output 0 of a node, of type `type`: the matrix product of two values.
bool multiply(Importer &importer, const Node &node, const Value &a,
              const Value &b, ElementType type, const Finish &finish);
/// The same for a convolution, with the window that the node describes.
bool convolve(Importer &importer, const Node &node, const Value &x,
              const Value &w, ElementType type, const Finish &finish);

using Handler = bool (*)(Importer &, const Node &);
using Handlers = std::map<std::string, Handler>;
const Handlers &handlers();
void addElementwise(Handlers &handlers);
void addViews(Handlers &handlers);
void addMade(Handlers &handlers);
void addIndexing(Handlers &handlers);
void addReductions(Handlers &handlers);
void addNormalisations(Handlers &handlers);
void addProducts(Handlers &handlers);
void addQuantised(Handlers &handlers);
void addConvolutions(Handlers &handlers);
void addAttention(Handlers &handlers);
void addControl(Handlers &handlers);
void addLoops(Handlers &handlers);
void addResize(Handlers &handlers);
void addRecurrent(Handlers &handlers);

/// Checks a node against the signature of its operator (Operators.def). Later
/// code relies on correct inputs, outputs and attributes.
bool checkNode(Importer &importer, const Node &node);
bool hasSchema(const std::string &name);

/// Folds a node of shape arithmetic if all its inputs are known, and defines
/// its outputs. Returns false if it must be computed at run time.
bool fold(Importer &importer, const Node &node);

} // namespace fovea::onnx

#endif // FOVEA_FRONTENDS_ONNX_IMPORTER_H

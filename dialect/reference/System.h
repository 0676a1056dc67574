//===- System.h - evaluates equations in no order -------------------------===//

#ifndef FOVEA_DIALECT_REFERENCE_SYSTEM_H
#define FOVEA_DIALECT_REFERENCE_SYSTEM_H

#include "dialect/reference/Element.h"
#include "dialect/reference/Program.h"

namespace fovea::reference {

/// The elements of an array, and which of them are computed.
struct Elements {
  Array array;
  std::vector<uint8_t> state;
};

/// Arrays that have the same elements in all evaluations of a system: they
/// depend on no choice and no open length.
class CommonArrays {
public:
  explicit CommonArrays(mlir::Operation *system);
  /// Where the elements are, once an evaluation has made them; null: they may
  /// differ.
  std::shared_ptr<Elements> *find(mlir::Value value);

private:
  llvm::DenseMap<mlir::Value, std::shared_ptr<Elements>> arrays;
};

/// Evaluates an attn.system on demand: a requested, missing element is pushed
/// on a stack of tasks above the one that needs it.
class SystemEvaluator {
public:
  SystemEvaluator(mlir::Operation *container, const Inputs &inputs)
      : container(container), inputs(inputs) {}

  /// Reads lengths and inputs. `wanted` are the arrays to request; arrays that
  /// they do not need are never touched.
  Status start(llvm::ArrayRef<mlir::Value> wanted);

  /// Computes one element.
  Status demand(mlir::Value value, int64_t offset);
  /// Computes every element, and returns the array.
  Status demandAll(mlir::Value value, Array &result);
  /// A computed element.
  double at(mlir::Value value, int64_t offset) const;
  /// The storage shape of an array.
  const std::vector<int64_t> &shapeOf(mlir::Value value) const;
  /// Computes the parameters of a choice's element `group`.
  Status demandDistribution(attn::ChoiceOp op, int64_t group,
                            ChoiceDistribution &distribution);

  LengthTable lengths;
  /// The values of open lengths; set before `start`.
  std::map<std::string, int64_t> openLengths;
  /// If set, elements of these arrays are computed once for all evaluations of
  /// the same inputs; set before `start`.
  CommonArrays *common = nullptr;
  /// Sets the value of a choice's element, of `valueSize` numbers. False ends
  /// the evaluation with an error whose text is empty.
  std::function<bool(attn::ChoiceOp, int64_t, const ChoiceDistribution &,
                     std::vector<double> &)>
      onChoice;

private:
  /// One array.
  struct Node {
    mlir::Operation *op = nullptr;
    mlir::Value value;
    ArrayPtr given;                // an input
    std::shared_ptr<Elements> own; // of any other array
    Code code;
    std::vector<Slot> registers;
    std::vector<unsigned> sources; // the nodes of code.arrays
    RunContext context;

    const Array &array() const { return given ? *given : own->array; }
    bool stands(int64_t offset) const {
      return given || own->state[offset] == Standing;
    }
  };
  /// An element under computation.
  struct Task {
    unsigned node;
    int64_t offset;
    int64_t first, count; // the elements that stand after it
    ElementTask element;
  };
  struct Need {
    unsigned node = 0;
    int64_t offset = 0;
  };

  Status prepare(Node &node);
  Status push(unsigned node, int64_t offset);
  Outcome resume(Task &task, Need &need, Status &error);
  Outcome resumeCompute(Task &task, Node &node, Need &need, Status &error);
  Outcome resumeChoice(Task &task, Node &node, Need &need, Status &error);
  bool copyFrom(Node &node, mlir::Value source, int64_t sourceOffset,
                int64_t offset, Need &need);
  Status cycle(unsigned node, int64_t offset) const;
  std::string elementText(const Node &node, int64_t offset) const;

  mlir::Operation *container;
  const Inputs &inputs;
  std::vector<std::unique_ptr<Node>> nodes;
  llvm::DenseMap<mlir::Value, unsigned> numbers;
  std::vector<std::unique_ptr<Task>> tasks;
};

} // namespace fovea::reference

#endif // FOVEA_DIALECT_REFERENCE_SYSTEM_H

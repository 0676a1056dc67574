//===- Together.cpp - the examples of a batch, op by op -------------------===//
//
// A sum over the examples goes on from one example to the next, so that its
// partial results are those of the whole batch. Only a program past attn-batch
// knows which sums these are; it has them outside its loops.
//
//===----------------------------------------------------------------------===//

#include "dialect/reference/Element.h"
#include "dialect/reference/Interpreter.h"
#include "dialect/reference/Program.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::reference;

Status Machine::sumExamples(attn::ComputeOp op,
                            ArrayRef<std::unique_ptr<Machine>> batch,
                            MutableArrayRef<Environment> examples) {
  const Code *code;
  if (Status status = batch[0]->codeOf(op, examples[0], code); status.failed())
    return status;
  std::vector<RunContext> contexts(examples.size());
  std::vector<std::vector<Slot>> initial(examples.size());
  for (size_t example = 0; example < examples.size(); ++example)
    batch[example]->prepare(*code, examples[example], contexts[example],
                            initial[example]);
  auto type = op.getResult().getType();
  std::vector<int64_t> shape;
  if (Status status = examples[0].lengths.checkedShape(type, shape);
      status.failed())
    return status;
  auto result = std::make_shared<Array>(Array::zeros(shape));
  ElementTask task;
  for (size_t offset = 0; offset < result->values.size(); ++offset) {
    SmallVector<int64_t> indices = indicesOf(offset, shape);
    for (size_t example = 0; example < examples.size(); ++example) {
      const LengthTable &lengths = examples[example].lengths;
      if (example == 0)
        task.start(*code, initial[example], indices, lengths);
      else
        task.goOn(initial[example], indices, lengths);
      if (task.resume(contexts[example]) != Outcome::Done)
        return contexts[example].error;
    }
    result->set(offset, task.element());
  }
  for (Environment &example : examples)
    example.arrays[op.getResult()] = result;
  return Status::success();
}

Status Machine::executeTogether(Block &block,
                                ArrayRef<std::unique_ptr<Machine>> batch,
                                MutableArrayRef<Environment> examples) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue;
    Status status = Status::success();
    auto kind = op.getAttrOfType<StringAttr>("attn.batch");
    if (auto kernel = dyn_cast<attn::KernelOp>(op)) {
      status = executeTogether(kernel.getBody().front(), batch, examples);
      if (status.succeeded())
        for (Environment &example : examples)
          for (OpResult array : op.getResults())
            example.arrays[array] =
                example.arrays.lookup(kernel.getYielded(array));
    } else if (auto compute = dyn_cast<attn::ComputeOp>(op);
               compute && isExampleSum(compute)) {
      status = sumExamples(compute, batch, examples);
    } else if (kind && kind.getValue() == "once") {
      status = batch[0]->execute(&op, examples[0]);
      if (status.succeeded())
        for (Environment &example : examples.drop_front())
          for (Value array : op.getResults())
            example.arrays[array] = examples[0].arrays.lookup(array);
    } else {
      for (size_t i = 0; status.succeeded() && i < batch.size(); ++i)
        status = batch[i]->execute(&op, examples[i]);
    }
    if (status.failed())
      return status;
  }
  return Status::success();
}

static Status evaluateBatch(Operation *program, ArrayRef<Inputs> inputs,
                            std::vector<Environment> &examples) {
  std::vector<std::unique_ptr<Machine>> batch;
  examples.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    batch.push_back(std::make_unique<Machine>(program, inputs[i]));
    if (Status status = batch[i]->start(examples[i]); status.failed())
      return status;
  }
  return Machine::executeTogether(program->getRegion(0).front(), batch,
                                  examples);
}

/// The data that a program outside its loops appends a row to.
static void takeGrown(Operation *program, ArrayRef<Environment> examples,
                      std::vector<Arrays> &grown) {
  grown.assign(examples.size(), {});
  program->walk([&](attn::AppendOp append) {
    auto data = append.getArray().getDefiningOp<attn::DataOp>();
    if (!data || append->getParentOfType<attn::ScanOp>())
      return;
    for (auto [own, example] : llvm::zip_equal(grown, examples))
      own[data.getSource().str()] = *example.arrays.lookup(append.getResult());
  });
}

Status reference::evaluateEach(Operation *program, ArrayRef<Inputs> inputs,
                               std::vector<Arrays> &outputs,
                               std::vector<Arrays> *grown) {
  std::vector<Environment> examples;
  if (Status status = evaluateBatch(program, inputs, examples); status.failed())
    return status;
  outputs.assign(examples.size(), {});
  for (auto output : program->getRegion(0).getOps<attn::OutputOp>())
    for (auto [own, example] : llvm::zip_equal(outputs, examples))
      own[output.getTarget().str()] = *example.arrays.lookup(output.getValue());
  if (grown)
    takeGrown(program, examples, *grown);
  return Status::success();
}

Status reference::evaluateTogether(Operation *program, ArrayRef<Inputs> inputs,
                                   Arrays &sums) {
  std::vector<Environment> examples;
  if (Status status = evaluateBatch(program, inputs, examples); status.failed())
    return status;
  for (auto output : program->getRegion(0).getOps<attn::OutputOp>()) {
    ArrayPtr first = examples[0].arrays.lookup(output.getValue());
    Array &sum = sums[output.getTarget().str()] = *first;
    for (const Environment &example : ArrayRef(examples).drop_front()) {
      ArrayPtr next = example.arrays.lookup(output.getValue());
      // What a batch has once is its sum.
      if (next != first)
        for (auto [total, value] : llvm::zip(sum.values, next->values))
          total += value;
    }
  }
  return Status::success();
}

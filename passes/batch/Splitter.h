//===- Splitter.h - takes one search apart --------------------------------===//
//
// Private to the pass. SplitDecoder.cpp assigns ops to segments,
// SplitPrograms.cpp builds the programs, DescribeDecoder.cpp describes the
// search between them.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_BATCH_SPLITTER_H
#define FOVEA_PASSES_BATCH_SPLITTER_H

#include "passes/batch/SplitDecoder.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace fovea::attn {

/// Calls `visit` for each value that `op` captures from outside.
void eachOperand(mlir::Operation *op,
                 llvm::function_ref<void(mlir::Value)> visit);

class Splitter {
public:
  /// `prefix` precedes the names of the new programs.
  Splitter(ProgramOp program, std::string prefix)
      : program(program), builder(program), prefix(std::move(prefix)) {}

  /// Replaces the program by an `attn.decoder` and the programs that it runs.
  mlir::LogicalResult split();

private:
  /// A program under construction.
  struct Part {
    ProgramOp program;
    mlir::IRMapping mapping;
    llvm::StringSet<> outputs;
    DecoderRunOp run;
    mlir::Operation *last = nullptr; // of the run and its marks
  };

  /// A loop inside the step that makes choices.
  struct Loop {
    ScanOp scan;
    unsigned firstChoice = 0, endChoice = 0;
    unsigned firstSegment = 0, endSegment = 0; // the last one comes after it
    unsigned firstState = 0;
  };

  //===--- SplitDecoder.cpp -----------------------------------------------===//
  mlir::LogicalResult findSearch();
  mlir::LogicalResult checkChoices();
  mlir::LogicalResult checkLoops();
  bool judgesLoop(MarkOp mark);
  void findChoices();
  bool isRowOfStep(mlir::Attribute extent);
  void replaceAppend(unsigned carry);
  void findAfterSearch();
  void findSegments(mlir::Block &block, unsigned first);
  mlir::LogicalResult moveAppends();
  unsigned segmentAfter(mlir::Operation *op) const;
  mlir::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &text);

  //===--- SplitPrograms.cpp ----------------------------------------------===//
  Part makePart(llvm::StringRef name, bool withOpen);
  mlir::OpBuilder endOf(Part &part) {
    return mlir::OpBuilder::atBlockEnd(&part.program.getBody().front());
  }
  void import(Part &part, mlir::Value value);
  void take(Part &part, mlir::Operation *op);
  mlir::Value makeStep(Part &part, mlir::BlockArgument index);
  mlir::Value makeData(Part &part, llvm::StringRef name, mlir::Value value,
                       DataPlace place);
  mlir::Value makeParam(Part &part, llvm::StringRef name, mlir::Value value);
  void output(Part &part, llvm::StringRef name, mlir::Value value);
  int carryOf(AppendOp op);
  bool isLeftToSearch(mlir::Operation *op);
  /// The append of a growing state.
  AppendOp appendOf(unsigned carry);
  /// The runtime's name of a value, which is an output of its defining program.
  std::string nameOf(mlir::Value value);
  static std::string nameOfInner(const Loop &loop, unsigned state) {
    return "inner/" + std::to_string(loop.firstState + state);
  }
  bool isStep(mlir::Operation *op) const { return segmentOf.contains(op); }

  //===--- DescribeDecoder.cpp --------------------------------------------===//
  void describeState(unsigned carry);
  void describeStates(const Loop &loop);
  void describeStep(mlir::Block &block, mlir::OpBuilder end, unsigned &segment);
  void describeChoice(mlir::OpBuilder &end, ChoiceOp choice);
  void describeMarks(mlir::Block &block, unsigned segment);
  mlir::LogicalResult describeLongest();
  void describeOutputs(mlir::OpBuilder &end);
  mlir::LogicalResult describe();
  mlir::StringAttr text(const llvm::Twine &value);
  static mlir::FlatSymbolRefAttr nameOf(const Part &part);

  mlir::Block &stepBlock() {
    return search ? search.getBody().front() : program.getBody().front();
  }
  const Loop *findLoop(mlir::Operation *op) const {
    const auto *found =
        llvm::find_if(loops, [&](const Loop &loop) { return loop.scan == op; });
    return found == loops.end() ? nullptr : found;
  }
  bool isOpen(mlir::Attribute extent) const {
    auto name = llvm::dyn_cast<mlir::StringAttr>(extent);
    return name && openLengths.contains(name.getValue());
  }

  ProgramOp program;
  mlir::OpBuilder builder;
  std::string prefix;
  SearchOp search;
  DecoderOp decoder;
  llvm::SmallVector<ChoiceOp> choices;
  llvm::SmallVector<Loop> loops;
  llvm::StringSet<> openLengths;
  llvm::DenseSet<mlir::Operation *> afterSearch;
  /// For ops of a step: the first segment in which they can be computed.
  llvm::MapVector<mlir::Operation *, unsigned> segmentOf;
  std::vector<Part> parts; // by segment
  Part encode, finish;
  llvm::DenseMap<mlir::Value, std::string> names;
  unsigned numEncoded = 0, numValues = 0, numLoopStates = 0;
};

} // namespace fovea::attn

#endif // FOVEA_PASSES_BATCH_SPLITTER_H

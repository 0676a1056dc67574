//===- Lower.h - terms to the attn dialect --------------------------------===//

#ifndef FOVEA_FRONTENDS_FOV_LOWER_LOWER_H
#define FOVEA_FRONTENDS_FOV_LOWER_LOWER_H

#include "dialect/AttnDialect.h"
#include "frontends/fov/Diagnostics.h"
#include "frontends/fov/elaborate/Terms.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <set>

namespace fovea::fov {

/// Emits an inferred and proved model as an attn.system named `name`.
///
/// Every operation of the spec becomes one compute over exactly the indices
/// that it reads (docs/IR.md). Lower.cpp handles systems, arrays and choices,
/// LowerTerms.cpp the computes, LowerConditions.cpp where they hold,
/// LowerScalars.cpp their bodies.
class Lowering {
public:
  /// `training`: for decoding, the same model in training.
  Lowering(Elaborated &model, Diagnostics &diagnostics,
           mlir::OpBuilder &builder, const Elaborated *training = nullptr)
      : model(model), training(training), diagnostics(diagnostics),
        builder(builder) {}

  attn::SystemOp run(llvm::StringRef name);

private:
  using Path = SmallVector<Term *, 2>; // conditions that hold

  /// An array with the indices of its first axes.
  struct Node {
    mlir::Value array;
    SmallVector<IndexVar *, 2> indices;
  };

  /// The insertion point of scalars: a body, with the value of each index in
  /// it.
  struct Body {
    Body(mlir::OpBuilder builder, Path path)
        : builder(builder), path(std::move(path)) {}
    mlir::OpBuilder builder;
    llvm::DenseMap<IndexVar *, mlir::Value> indices;
    Path path;
  };
  using Position = ArrayRef<mlir::Value>; // index values of the value axes

  // Systems, lengths, arrays (Lower.cpp).
  mlir::Attribute extent(const Extent &size);
  mlir::Attribute linearExtent(const Extent::Linear &linear);
  std::string lengthName(const Atom *atom);
  void emitLength(const Atom *atom);
  attn::ArrayType typeOf(ArrayRef<mlir::Attribute> shape, Kind kind);
  attn::ArrayType arrayType(const Array &array);
  mlir::Value valueOf(Array *array);
  mlir::Value defineArray(Array &array);
  mlir::Value pieceValue(Array &array, const Piece &piece,
                         llvm::StringRef label);
  mlir::Value visibleValue(Array &array);
  void emitChoice(const Choice &choice);
  bool isOpen(const Atom *length) const;
  void emitMarks();
  bool isStored(const Array &array, unsigned axis, const Extent &constant);
  bool isInside(const Array &array, unsigned axis, const Extent &constant);
  mlir::Location location(SMLoc loc);

  // Computes (LowerTerms.cpp).
  Node materialise(Term *term, const Path &path,
                   ArrayRef<IndexVar *> order = {}, llvm::StringRef label = "");
  mlir::Value materialiseOver(Term *term, ArrayRef<IndexVar *> order, Kind kind,
                              llvm::StringRef label, SMLoc loc,
                              const Path &path = {},
                              const Shape *broadcast = nullptr);
  mlir::Value wholeArray(Term *term, ArrayRef<IndexVar *> order, Kind kind);
  SmallVector<IndexVar *, 2> indicesOf(Term *term, const Path &path);
  Path relevant(Term *term, const Path &path);
  attn::ComputeOp
  newCompute(SMLoc loc, llvm::StringRef label, ArrayRef<IndexVar *> indices,
             ArrayRef<Extent> values, ArrayRef<IndexVar *> reduction,
             attn::Reducer reducer, Kind kind, bool withCondition);
  Body bodyOf(attn::ComputeOp op, mlir::Region &region,
              ArrayRef<IndexVar *> indices, unsigned numValues,
              ArrayRef<IndexVar *> reduction, const Path &path);
  void addCondition(attn::ComputeOp op, ArrayRef<IndexVar *> indices,
                    unsigned numValues, ArrayRef<IndexVar *> reduction,
                    ArrayRef<Term *> conditions);
  void emitConditions(Body &body, attn::ComputeOp op,
                      ArrayRef<Term *> conditions);
  mlir::Value isInside(Body &body, SMLoc loc,
                       ArrayRef<std::pair<mlir::Value, Extent>> places);
  mlir::Value emitDropout(const Term &term, ArrayRef<IndexVar *> indices,
                          mlir::Value operand, llvm::StringRef label);
  Node emitReduce(Term *term, const Path &path, ArrayRef<IndexVar *> indices,
                  llvm::StringRef label);
  Node emitNormaliser(Term *term, const Path &path,
                      ArrayRef<IndexVar *> indices, ArrayRef<Term *> conditions,
                      llvm::StringRef label);
  Node emitContract(Term *term, const Path &path, ArrayRef<IndexVar *> indices,
                    llvm::StringRef label);
  Node placesFirst(Term *term, Node last, llvm::StringRef label);
  Node emitMembers(Term *term, const Path &path, ArrayRef<IndexVar *> indices,
                   llvm::StringRef label);
  Node emitJoin(Term *term, const Path &path, ArrayRef<IndexVar *> indices,
                llvm::StringRef label);
  Node emitReshape(Term *term, const Path &path, ArrayRef<IndexVar *> indices,
                   llvm::StringRef label);

  // Gradients (LowerGradients.cpp).
  mlir::Value gradientOf(mlir::Value root, mlir::Value element);
  void buildGradients();
  void buildGradient(mlir::Operation *gradient);

  // Scalars (LowerScalars.cpp).
  mlir::Value scalar(Body &body, Term *term, Position position, Kind kind);
  mlir::Value rawScalar(Body &body, Term *term, Position position);
  /// `inPlace`: operands that are elementwise are written out as well.
  mlir::Value mapScalar(Body &body, Term *term, Position position,
                        bool inPlace = false);
  mlir::Value inlineScalar(Body &body, Term *term, Position position);
  mlir::Value readScalar(Body &body, Term *term, Position position);
  mlir::Value readInside(Body &body, Term *term, Position position,
                         ArrayRef<mlir::Value> indices,
                         ArrayRef<const Piece *> boundaries);
  mlir::Value branch(Body &body, SMLoc loc, Kind kind, mlir::Value condition,
                     llvm::function_ref<mlir::Value(Body &)> yes,
                     llvm::function_ref<mlir::Value(Body &)> no);
  mlir::Value readNode(Body &body, const Node &node, Position position);
  mlir::Value ifScalar(Body &body, Term *term, Position position);
  mlir::Value indexValue(Body &body, Term *term);
  mlir::Value sizeValue(Body &body, const Term &term);
  mlir::Value extentValue(Body &body, const Extent &extent, Term *parent,
                          SMLoc loc);
  mlir::Value convert(Body &body, mlir::Value value, Kind kind);
  mlir::Value boundaryValue(Array &array, const Piece &piece);
  std::string boundaryLabel(const Array &array, const Piece &piece);
  mlir::Value startSymbol(ArrayRef<Extent> outer);
  bool isIndexOnly(Term *term);
  Kind kindOfType(mlir::Type type);
  mlir::Type elementType(Kind kind);
  void require(Term *condition, bool holds, Path &path);
  Term *conditionOf(Term *condition, bool holds);
  bool needs(Term *term, Term *condition);
  bool guardsRight(Term *term);
  mlir::Value guardedScalar(Body &body, Term *term, Position position);

  Elaborated &model;
  const Elaborated *training;
  Diagnostics &diagnostics;
  mlir::OpBuilder &builder;
  attn::SystemOp system;
  llvm::DenseMap<Array *, mlir::Value> arrays;
  llvm::DenseMap<Array *, mlir::Value> placeholders;
  std::map<std::pair<const Piece *, Array *>, mlir::Value> boundaries;
  std::map<std::pair<Term *, Path>, Node> nodes;
  /// Where each index of a compute is below a length that follows from values.
  llvm::DenseMap<mlir::Operation *, mlir::Value> rangeConditions;
  std::map<Term *, bool> indexOnly;
  std::map<Term *, Term *> negations;
  /// The conditions that some read needs.
  std::set<std::pair<Term *, bool>> guards;
  std::map<std::pair<Term *, Term *>, bool> needed;
  /// The gradients that adjoints replace once all arrays are defined.
  llvm::SetVector<mlir::Operation *> gradients;
  mlir::Value start;                           // <s>
  std::map<std::string, const Atom *> lengths; // emitted, by name
  mlir::Operation *lastLength = nullptr;
  llvm::SmallPtrSet<const Atom *, 8> openLengths; // some may be set
};

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_LOWER_LOWER_H

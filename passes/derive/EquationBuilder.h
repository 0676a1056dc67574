//===- EquationBuilder.h - equations that derivations add -----------------===//
//
// Short names for the equations of objectives and samples: their axes, reducer,
// and the scalars of the body.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_DERIVE_EQUATIONBUILDER_H
#define FOVEA_PASSES_DERIVE_EQUATIONBUILDER_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Builds the scalars of one body.
class Scalars {
public:
  using Value = mlir::Value;

  Scalars(mlir::OpBuilder &builder, mlir::Location loc,
          mlir::ValueRange indices)
      : builder(builder), loc(loc), indices(indices.begin(), indices.end()) {}

  Value constant(double value);
  Value place(int64_t value);
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value div(Value a, Value b);
  Value negate(Value a);
  Value log(Value a);
  /// log p, and minus infinity where p is 0: no gradient flows to impossible
  /// values, which others may compensate in a sum over all values of a choice.
  Value logOfProbability(Value p);
  Value sqrt(Value a);
  Value cos(Value a);
  Value square(Value a) { return mul(a, a); }
  Value softplus(Value a);
  Value sigmoid(Value a);
  Value stop(Value a);

  /// `array` at the first indices of the body, then at `more`; of an array
  /// without axes the one element.
  Value read(Value array, llvm::ArrayRef<Value> more = {});
  /// `array` at `where`, with `otherwise` outside of it.
  Value readOr(Value array, llvm::ArrayRef<Value> where, Value otherwise);

  /// A value of data as a place of an axis.
  Value asPlace(Value value);
  /// An index as a whole number.
  Value asWhole(Value index);
  /// The index before.
  Value before(Value index);
  /// Whether a bit is 1, in any storage type.
  Value isSet(Value bit);
  /// A bit as 0 or 1.
  Value asNumber(Value bit) {
    return select(isSet(bit), constant(1), constant(0));
  }
  /// Only the taken branch is evaluated and differentiated: the other may be
  /// the log of 0.
  Value either(Value condition, llvm::function_ref<Value()> then,
               llvm::function_ref<Value()> otherwise);
  Value select(Value condition, Value then, Value otherwise);
  Value less(Value a, Value b);
  Value atMost(Value a, Value b);
  Value both(Value a, Value b);
  /// log p of the bit that equals the last index, by its logit or by p.
  Value logOfBit(Value given, bool isLogit);
  Value within(Value low, Value value, Value high) {
    return both(atMost(low, value), atMost(value, high));
  }

  mlir::OpBuilder &builder;
  const mlir::Location loc;
  const llvm::SmallVector<Value> indices;
};

/// On a penalty: which term of the objective it belongs to, when that is not
/// `penalty`.
inline constexpr char termName[] = "attn.term";

/// On an array: it represents each of so many values, over which the objective
/// sums.
inline constexpr char enumeratedName[] = "attn.enumerated";

/// On a number, or one for each place, that another one is: the same over all
/// values that are enumerated, of `nll` -log p of all, of `logp` log p, of
/// `penalty` the mean.
inline constexpr char totalName[] = "attn.total";

/// The extent of the last axis.
mlir::Attribute lastExtent(mlir::Value array);

/// Adds equations to a system.
class EquationBuilder {
protected:
  using Value = mlir::Value;
  using Body = llvm::function_ref<Value(Scalars &)>;

  explicit EquationBuilder(const mlir::OpBuilder &builder)
      : builder(builder), loc(this->builder.getUnknownLoc()) {}

  /// An equation over `kept`, reduced over `reduced`, with the value `element`
  /// (null: f64), where `condition` holds.
  Value compute(const llvm::Twine &label, llvm::ArrayRef<mlir::Attribute> kept,
                Reducer reducer, llvm::ArrayRef<mlir::Attribute> reduced,
                Body body, mlir::Type element = {}, Body condition = nullptr);
  /// The sum over all of `over`, or the single value without an axis.
  Value sum(const llvm::Twine &label, llvm::ArrayRef<mlir::Attribute> over,
            Body body);
  /// The sum of numbers.
  Value total(llvm::StringRef label, llvm::ArrayRef<Value> terms);

  mlir::OpBuilder builder;
  /// The insertion point.
  mlir::Location loc;
};

} // namespace fovea::attn

#endif // FOVEA_PASSES_DERIVE_EQUATIONBUILDER_H

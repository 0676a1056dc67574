//===- ModelOps.cpp - constraints of systems, lengths and choices ---------===//

#include "dialect/AttnDialect.h"
#include "dialect/Distributions.h"

using namespace mlir;
using namespace fovea::attn;

//===----------------------------------------------------------------------===//
// SystemOp, ProgramOp
//===----------------------------------------------------------------------===//

RegionKind SystemOp::getRegionKind(unsigned) { return RegionKind::Graph; }

template <typename ModelOp> static LogicalResult verifyModel(ModelOp op) {
  // (C1)
  if (op.getBody().getNumArguments() != 0)
    return op.emitOpError() << "has " << op.getBody().getNumArguments()
                            << " arguments, but its inputs have names";
  return success();
}

LogicalResult SystemOp::verify() { return verifyModel(*this); }
LogicalResult ProgramOp::verify() { return verifyModel(*this); }

//===----------------------------------------------------------------------===//
// LengthOp
//===----------------------------------------------------------------------===//

bool LengthOp::isQuotient() {
  std::optional<AffineMap> map = getMap();
  return map && map->getNumResults() == 1 &&
         map->getResult(0).getKind() == AffineExprKind::FloorDiv;
}

LogicalResult LengthOp::verify() {
  // (C1)
  if (getParent().has_value() + getMap().has_value() + getOpen() > 1)
    return emitOpError() << "has more than one of nested, given and open";
  // (C2)
  if (getMap().has_value() != getOf().has_value())
    return emitOpError() << "has lengths without a map, or a map without them";
  if (std::optional<AffineMap> map = getMap())
    if (map->getNumDims() != 0 || map->getNumSymbols() != getOf()->size() ||
        map->getNumResults() != 1)
      return emitOpError() << "needs a map of " << getOf()->size()
                           << " symbols to one result but has " << getMapAttr();
  // (C3)
  if (getBlocks() && !isQuotient())
    return emitOpError() << "counts blocks without being a quotient";
  return success();
}

//===----------------------------------------------------------------------===//
// ParamOp, DataOp
//===----------------------------------------------------------------------===//

void ParamOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getPath());
}

void DataOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getSource());
}

//===----------------------------------------------------------------------===//
// ChoiceOp
//===----------------------------------------------------------------------===//

namespace {

/// A parameter of a distribution, and how many axes of its own follow those of
/// the choice.
struct Parameter {
  StringRef name;
  unsigned numOwnAxes;
};

} // namespace

/// The type of the values that a distribution draws.
static Type typeOfValues(Distribution kind, MLIRContext *context) {
  switch (kind) {
  case Distribution::categorical:
    return IntegerType::get(context, 64);
  case Distribution::bernoulli:
    return IntegerType::get(context, 1);
  case Distribution::normal:
  case Distribution::uniform:
  case Distribution::mixture:
    return Float64Type::get(context);
  }
  llvm_unreachable("unknown distribution");
}

/// The ways to give the parameters of a distribution.
static SmallVector<SmallVector<Parameter>> getSignatures(Distribution kind) {
  switch (kind) {
  case Distribution::categorical:
    return {{{"logits", 1}}, {{"probs", 1}}, {{"logp", 1}}};
  case Distribution::bernoulli:
    return {{{"logit", 0}}, {{"prob", 0}}, {{"logp", 1}}};
  case Distribution::normal:
    return {{{"mean", 0}, {"sd", 0}}};
  case Distribution::uniform:
    return {{{"low", 0}, {"high", 0}}};
  case Distribution::mixture:
    return {{{"logit", 1}, {"mean", 1}, {"sd", 1}},
            {{"logit", 1}, {"mean", 2}, {"sd", 2}, {"correlation", 1}}};
  }
  llvm_unreachable("unknown distribution");
}

void ChoiceOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (getResult())
    setName(getResult(), getTarget());
}

unsigned fovea::attn::numValueAxes(Distribution distribution,
                                   ArrayAttr parameters) {
  return distribution == Distribution::mixture &&
         llvm::is_contained(parameters.getAsValueRange<StringAttr>(),
                            "correlation");
}

unsigned fovea::attn::numValueAxes(ChoiceOp choice) {
  return numValueAxes(choice.getDistribution(), choice.getParameterNames());
}

LogicalResult fovea::attn::verifyParameters(Operation *op,
                                            Distribution distribution,
                                            ArrayAttr names, TypeRange types,
                                            ArrayType value,
                                            ValueRange arrays) {
  if (names.size() != types.size())
    return op->emitOpError() << "names " << names.size()
                             << " parameters but has " << types.size();
  SmallVector<SmallVector<Parameter>> signatures = getSignatures(distribution);
  auto *named = llvm::find_if(signatures, [&](ArrayRef<Parameter> signature) {
    return llvm::equal(names.getAsValueRange<StringAttr>(),
                       llvm::map_range(signature, [](const Parameter &each) {
                         return each.name;
                       }));
  });
  if (named == signatures.end())
    return op->emitOpError()
           << "draws from " << stringifyDistribution(distribution)
           << ", whose parameters differ from " << names;
  if (Type type = typeOfValues(distribution, op->getContext());
      value.getElementType() != type)
    return op->emitOpError()
           << "draws from " << stringifyDistribution(distribution)
           << ", whose values are " << type << ", but gives " << value;
  // An axis of the value itself comes last.
  ArrayRef<Attribute> axes = value.getShape().getValue();
  if (numValueAxes(distribution, names) == 1) {
    auto last =
        axes.empty() ? IntegerAttr() : dyn_cast<IntegerAttr>(axes.back());
    if (!last || last.getInt() != 2)
      return op->emitOpError() << "draws pairs but gives " << value;
    axes = axes.drop_back();
  }
  for (unsigned i = 0; i < types.size(); ++i) {
    auto type = dyn_cast<ArrayType>(types[i]);
    const Parameter &parameter = (*named)[i];
    if (type && type.getElementType().isF64() &&
        type.getRank() == int64_t(axes.size()) + parameter.numOwnAxes &&
        type.getShape().getValue().take_front(axes.size()) == axes)
      continue;
    InFlightDiagnostic diag = op->emitOpError()
                              << "draws " << value << " but its '"
                              << parameter.name << "' is " << types[i];
    if (!arrays.empty())
      diag.attachNote(arrays[i].getLoc())
          << "'" << parameter.name << "' comes from here";
    return diag;
  }
  return success();
}

LogicalResult ChoiceOp::verify() {
  // (C1)
  if (static_cast<bool>(getObserved()) == static_cast<bool>(getResult()))
    return emitOpError() << "has either an observed array or a result";
  auto value =
      cast<ArrayType>((getObserved() ? getObserved() : getResult()).getType());
  // (C2), (C3), (C5)
  if (failed(verifyParameters(*this, getDistribution(), getParameterNames(),
                              getParameters().getTypes(), value,
                              getParameters())))
    return failure();
  ArrayRef<Attribute> axes =
      value.getShape().getValue().drop_back(numValueAxes(*this));
  // (C4)
  for (auto [name, array] :
       {std::pair("weight", getWeight()), std::pair("reward", getReward()),
        std::pair("baseline", getBaseline())}) {
    auto type = array ? cast<ArrayType>(array.getType()) : ArrayType();
    if (array &&
        (!type.getElementType().isF64() ||
         type.getShape().getValue() != axes.take_front(type.getRank())))
      return emitOpError() << "draws " << value << " but its '" << name
                           << "' is " << type;
  }
  return success();
}

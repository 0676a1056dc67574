//===- EmitBatchedProduct.cpp - a matrix product per example --------------===//
//
// A work unit is an example at one place of the constant shared
// indices; shared lengths are loops inside it. In a loop it is a
// running example. The module's product function packs B where it is
// used.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/program/ProgramEmitter.h"
#include "passes/analysis/Product.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;

void ProgramEmitter::emitBatchedProduct(ComputeOp op, ExampleProduct product) {
  int64_t places = placesOf(op, product);
  Value units = main.mul(count(), main.number(places));

  auto multiply = [&](KernelBuilder &kernel, const Place &place,
                      ArrayRef<Index> indices) {
    BodyEmitter values(kernel, storage, place, 0);
    auto of = [&](Value array, ArrayRef<AccessIndex> axes) {
      return values.view(storage.of(array), axes, indices);
    };
    BodyEmitter::View a = of(product.left.getArray(), product.leftAxes);
    BodyEmitter::View b = of(product.right.getArray(), product.rightAxes);
    BodyEmitter::View c = of(op.getResult(), product.resultAxes);
    auto extent = [&](unsigned index) {
      return values.extent(op.getExtents()[index]);
    };
    SmallVector<Value> arguments = {a.base,
                                    a.along[product.m],
                                    a.along[product.k],
                                    b.base,
                                    b.along[product.k],
                                    b.along[product.n],
                                    c.base,
                                    c.along[product.m],
                                    extent(product.m),
                                    extent(product.n),
                                    extent(product.k)};
    for (const Band &band : {product.terms, product.columns})
      for (std::optional<int64_t> bound :
           {band.from ? std::optional(-*band.from) : std::nullopt, band.to})
        arguments.push_back(kernel.number(bound.value_or(unbounded)));
    kernel.call(productName(elementOf(op, real)), arguments);
  };
  std::string name = op.getLabel().value_or("").str() + ".gemm";
  launch(op, name, units,
         [&](KernelBuilder &kernel, Value frame, Value first, Value last) {
           Value each = kernel.number(places);
           kernel.loop(first, last, kernel.number(1), [&](Value unit) {
             forRow(kernel, op, frame, kernel.div(unit, each),
                    [&](const Place &place) {
                      forProducts(kernel, op, product, place,
                                  kernel.rem(unit, each),
                                  [&](ArrayRef<Index> indices) {
                                    multiply(kernel, place, indices);
                                  });
                    });
           });
         });
}

//===- EmitBatchedProduct.cpp - a matrix product per example --------------===//
//
// A work unit is an example at one place of the shared indices that are
// numbers; shared lengths are loops inside it. In a loop it is an example that
// still runs. B is packed where it is used, by the function of the module that
// multiplies.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/program/ProgramEmitter.h"
#include "passes/analysis/Product.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;

void ProgramEmitter::emitBatchedProduct(ComputeOp op, ExampleProduct product) {
  int64_t places = 1;
  for (unsigned index : product.outer)
    if (auto number = dyn_cast<IntegerAttr>(op.getExtents()[index]))
      places *= number.getInt();
  Value units = main.mul(rowsAround(op), main.number(places));

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
    // Nothing is there yet that it would add to.
    arguments.push_back(kernel.truth(false));
    kernel.call(productName(real), arguments);
  };
  std::string name = op.getLabel().value_or("").str() + ".gemm";
  launch(op, name, units,
         [&](KernelBuilder &kernel, Value frame, Value first, Value last) {
           auto multiplyAt = [&](Place place, Value rest) {
             SmallVector<Index> indices(op.getNumIndices(),
                                        Index{kernel.number(0)});
             SmallVector<unsigned> lengths;
             for (unsigned index : llvm::reverse(product.outer)) {
               auto number = dyn_cast<IntegerAttr>(op.getExtents()[index]);
               if (!number) {
                 lengths.push_back(index);
                 continue;
               }
               Value extent = kernel.number(number.getInt());
               indices[index] = {kernel.rem(rest, extent)};
               rest = kernel.div(rest, extent);
             }
             std::function<void()> overLengths = [&] {
               if (lengths.empty())
                 return multiply(kernel, place, indices);
               unsigned index = lengths.pop_back_val();
               BodyEmitter values(kernel, storage, place, 0);
               Value extent = values.extent(op.getExtents()[index]);
               kernel.loop(kernel.number(0), extent, kernel.number(1),
                           [&](Value at) {
                             indices[index] = {at};
                             overLengths();
                           });
             };
             overLengths();
           };
           kernel.loop(first, last, kernel.number(1), [&](Value unit) {
             Value each = kernel.number(places);
             forRow(kernel, op, frame, kernel.div(unit, each),
                    [&](const Place &place) {
                      multiplyAt(place, kernel.rem(unit, each));
                    });
           });
         });
}

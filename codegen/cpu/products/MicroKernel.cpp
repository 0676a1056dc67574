//===- MicroKernel.cpp - one tile of C in registers -----------------------===//
//
// The innermost loop of every matrix product: for each k, load a row of the
// packed panels, and for each row of A broadcast one element and multiply-add.
// With 12 rows of two vectors 24 accumulators, two vectors of B and one of A
// fill 27 of 32 registers, and 24 independent chains hide the latency.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/products/MicroKernel.h"

using namespace mlir;
using namespace fovea::codegen;

using Values = KernelBuilder::Values;

namespace {

/// The arguments and the shape of the kernel that is being built.
struct Kernel {
  KernelBuilder &b;
  Type element;
  VectorType vector;
  GemmTile tile;
  KernelShape shape;
  Value a, ars, acs, bp, panelSize, c, ldc, k, columns, accumulate, ahead, step;

  /// The accumulators are in the order row, panel, vector.
  bool isStaged() const { return shape.stride != 0; }
  int64_t perRow() const { return shape.panels * shape.vectors; }
  int64_t numSums() const { return shape.rows * perRow(); }
  Value addressInC(int64_t row, int64_t vectorOfRow);
  Values readC(ArrayRef<Value> masks);
  void writeC(ValueRange sums, ArrayRef<Value> masks);
  Values masks();
  void prefetchC();
  void multiplyTerm(MutableArrayRef<Value> sums, ValueRange pointersToA,
                    ValueRange pointersToB, int64_t term);
  Values multiply(Values state);
};

} // namespace

Value Kernel::addressInC(int64_t row, int64_t vectorOfRow) {
  Value start = b.at(element, c, b.mul(ldc, b.number(row)));
  return b.at(element, start, vectorOfRow * tile.lanes);
}

Values Kernel::readC(ArrayRef<Value> masks) {
  Values sums;
  for (int64_t row = 0; row < shape.rows; ++row)
    for (int64_t v = 0; v < perRow(); ++v)
      sums.push_back(masks.empty()
                         ? b.load(vector, addressInC(row, v))
                         : b.load(vector, addressInC(row, v), masks[v]));
  return sums;
}

void Kernel::writeC(ValueRange sums, ArrayRef<Value> masks) {
  for (int64_t row = 0; row < shape.rows; ++row)
    for (int64_t v = 0; v < perRow(); ++v) {
      Value sum = sums[row * perRow() + v];
      if (masks.empty())
        b.store(sum, addressInC(row, v));
      else
        b.store(sum, addressInC(row, v), masks[v]);
    }
}

Values Kernel::masks() {
  Values masks;
  for (int64_t v = 0; v < perRow(); ++v)
    masks.push_back(
        b.maskBelow(b.sub(columns, b.number(v * tile.lanes)), tile.lanes));
  return masks;
}

/// C is needed when the sums are complete; by then it is near.
void Kernel::prefetchC() {
  for (int64_t row = 0; row < shape.rows; ++row)
    for (int64_t v = 0; v < perRow(); ++v)
      b.prefetch(addressInC(row, v), /*forWriting=*/true);
}

/// One term of every sum: row k of the panels times column k of A, both found
/// `term` terms behind the pointers.
void Kernel::multiplyTerm(MutableArrayRef<Value> sums, ValueRange pointersToA,
                          ValueRange pointersToB, int64_t term) {
  Values loaded;
  for (Value panel : pointersToB)
    for (int64_t v = 0; v < shape.vectors; ++v)
      loaded.push_back(
          b.load(vector,
                 b.at(element, panel, term * tile.columns() + v * tile.lanes)));
  for (int64_t row = 0; row < shape.rows; ++row) {
    Value address =
        isStaged() ? b.at(element, pointersToA[0], row * shape.stride + term)
                   : pointersToA[row];
    Value factor = b.splat(b.load(element, address), tile.lanes);
    for (int64_t v = 0; v < perRow(); ++v) {
      Value &sum = sums[row * perRow() + v];
      sum = b.fma(factor, loaded[v], sum);
    }
  }
}

/// The loop over k. Its state is the sums, the pointers into A (one where rows
/// are a constant apart, else one per row), one pointer per panel, and the one
/// to prefetch from.
///
/// Address arithmetic takes turns on the ports that multiply. With constant
/// strides and several terms per turn there is next to none.
Values Kernel::multiply(Values state) {
  int64_t numRows = isStaged() ? 1 : shape.rows;
  for (int64_t row = 0; row < numRows; ++row)
    state.push_back(b.at(element, a, b.mul(ars, b.number(row))));
  for (int64_t panel = 0; panel < shape.panels; ++panel)
    state.push_back(b.at(element, bp, b.mul(panelSize, b.number(panel))));
  state.push_back(ahead);

  auto turns = [&](Value from, Value to, int64_t terms) {
    auto turn = [&](Value, ValueRange current) {
      Values next = llvm::to_vector(current);
      MutableArrayRef<Value> all = next;
      MutableArrayRef<Value> inA = all.slice(numSums(), numRows);
      MutableArrayRef<Value> inB = all.slice(numSums() + numRows, shape.panels);
      for (int64_t term = 0; term < terms; ++term)
        multiplyTerm(all.take_front(numSums()), inA, inB, term);
      for (Value &pointer : inA)
        pointer = isStaged() ? b.at(element, pointer, terms)
                             : b.at(element, pointer, acs);
      for (Value &pointer : inB)
        pointer = b.at(element, pointer, terms * tile.columns());
      if (isStaged() && terms == termsPerTurn) {
        b.prefetch(next.back(), /*forWriting=*/false);
        next.back() = b.at(b.getI8Type(), next.back(), step);
      }
      return next;
    };
    state = b.loop(from, to, b.number(terms), state, turn);
  };
  Value whole = b.number(0);
  if (isStaged()) {
    whole = b.sub(k, b.rem(k, b.number(termsPerTurn)));
    turns(b.number(0), whole, termsPerTurn);
  }
  turns(whole, k, 1);
  state.truncate(numSums());
  return state;
}

std::string fovea::codegen::nameFor(StringRef stem, Type element) {
  return (stem + (element.isF32() ? "_f32" : "_f64")).str();
}

std::string fovea::codegen::emitMicroKernel(KernelBuilder &builder,
                                            Type element, const GemmTile &tile,
                                            const KernelShape &shape) {
  bool isStaged = shape.stride != 0;
  std::string name =
      nameFor(isStaged ? "fovea_gemm_tile" : "fovea_gemm_thin", element);
  name += "_" + std::to_string(shape.rows) + "x" +
          std::to_string(shape.panels) + "x" + std::to_string(shape.vectors);
  Type number = builder.i64(), pointer = builder.pointer();
  Type arguments[] = {pointer, number, number, pointer, number,
                      pointer, number, number, number,  builder.getI1Type(),
                      pointer, number};
  builder.function(name, arguments, /*isPrivate=*/true, [&](ValueRange args) {
    Kernel kernel{.b = builder,
                  .element = element,
                  .vector = VectorType::get(tile.lanes, element),
                  .tile = tile,
                  .shape = shape,
                  .a = args[0],
                  .ars = args[1],
                  .acs = args[2],
                  .bp = args[3],
                  .panelSize = args[4],
                  .c = args[5],
                  .ldc = args[6],
                  .k = args[7],
                  .columns = args[8],
                  .accumulate = args[9],
                  .ahead = args[10],
                  .step = args[11]};
    if (isStaged)
      kernel.prefetchC();
    Value isFull = builder.atMost(builder.number(kernel.perRow() * tile.lanes),
                                  kernel.columns);
    SmallVector<Type> types(kernel.numSums(), kernel.vector);
    Values sums = builder.chooseAll(
        kernel.accumulate,
        [&] {
          return builder.chooseAll(
              isFull, [&] { return kernel.readC({}); },
              [&] { return kernel.readC(kernel.masks()); });
        },
        [&] {
          return Values(types.size(), builder.constant(kernel.vector, 0));
        });
    sums = kernel.multiply(std::move(sums));
    builder.branch(
        isFull, [&] { kernel.writeC(sums, {}); },
        [&] { kernel.writeC(sums, kernel.masks()); });
  });
  return name;
}

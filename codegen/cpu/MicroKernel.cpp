//===- MicroKernel.cpp - one tile of C in registers -----------------------===//
//
// The innermost loop of every matrix product: for each k, load a row of the
// packed panels, and for each row of A broadcast one element and multiply-add.
// With 12 rows of two vectors 24 accumulators, two vectors of B and one of A
// fill 27 of 32 registers, and 24 independent chains hide the latency.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/MicroKernel.h"

using namespace mlir;
using namespace fovea::codegen;

using Values = KernelBuilder::Values;

namespace {

/// The arguments and the shape of the kernel that is being built.
struct Kernel {
  KernelBuilder &b;
  Type element;
  VectorType vector;
  int64_t rows, panels, lanes, vectors;
  /// Between rows of A where that is a constant and acs is 1; otherwise 0.
  int64_t stride;
  Value a, ars, acs, bp, panelSize, c, ldc, k, columns, accumulate;

  /// The accumulators are in the order row, panel, vector.
  bool isStaged() const { return stride != 0; }
  int64_t perRow() const { return panels * vectors; }
  Value addressInC(int64_t row, int64_t vectorOfRow);
  Values readC(ArrayRef<Value> masks);
  void writeC(ValueRange sums, ArrayRef<Value> masks);
  Values masks();
  void multiplyTerm(MutableArrayRef<Value> state, int64_t ahead);
  Values multiply(Values state);
};

/// How many terms one turn of a loop over staged A adds.
constexpr int64_t termsPerTurn = 4;

} // namespace

Value Kernel::addressInC(int64_t row, int64_t vectorOfRow) {
  Value start = b.at(element, c, b.mul(ldc, b.number(row)));
  return b.at(element, start, vectorOfRow * lanes);
}

Values Kernel::readC(ArrayRef<Value> masks) {
  Values sums;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t v = 0; v < perRow(); ++v)
      sums.push_back(masks.empty()
                         ? b.load(vector, addressInC(row, v))
                         : b.load(vector, addressInC(row, v), masks[v]));
  return sums;
}

void Kernel::writeC(ValueRange sums, ArrayRef<Value> masks) {
  for (int64_t row = 0; row < rows; ++row)
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
    masks.push_back(b.maskBelow(b.sub(columns, b.number(v * lanes)), lanes));
  return masks;
}

/// One term of every sum: row k of the panels times column k of A, both found
/// `ahead` terms behind the pointers.
void Kernel::multiplyTerm(MutableArrayRef<Value> state, int64_t ahead) {
  MutableArrayRef<Value> sums = state.take_front(rows * perRow());
  ArrayRef<Value> pointersToA = state.drop_front(sums.size());
  ArrayRef<Value> pointersToB = state.take_back(panels);
  Values loaded;
  for (int64_t panel = 0; panel < panels; ++panel)
    for (int64_t v = 0; v < vectors; ++v)
      loaded.push_back(b.load(vector, b.at(element, pointersToB[panel],
                                           (ahead * vectors + v) * lanes)));
  for (int64_t row = 0; row < rows; ++row) {
    Value address = isStaged()
                        ? b.at(element, pointersToA[0], row * stride + ahead)
                        : pointersToA[row];
    Value factor = b.broadcast(vector, b.load(element, address));
    for (int64_t v = 0; v < perRow(); ++v) {
      Value &sum = sums[row * perRow() + v];
      sum = b.fma(factor, loaded[v], sum);
    }
  }
}

/// The loop over k. Its state is the sums, the pointers into A (one where rows
/// are a constant apart, else one per row) and one pointer per panel.
///
/// Address arithmetic takes turns on the ports that multiply. With constant
/// strides and several terms per turn there is next to none.
Values Kernel::multiply(Values state) {
  int64_t numSums = state.size();
  int64_t numPointers = isStaged() ? 1 : rows;
  for (int64_t row = 0; row < numPointers; ++row)
    state.push_back(b.at(element, a, b.mul(ars, b.number(row))));
  for (int64_t panel = 0; panel < panels; ++panel)
    state.push_back(b.at(element, bp, b.mul(panelSize, b.number(panel))));

  auto turns = [&](Value from, Value to, int64_t terms) {
    auto turn = [&](Value, ValueRange current) {
      Values next = llvm::to_vector(current);
      for (int64_t term = 0; term < terms; ++term)
        multiplyTerm(next, term);
      for (Value &pointer : MutableArrayRef(next).slice(numSums, numPointers))
        pointer = isStaged() ? b.at(element, pointer, terms)
                             : b.at(element, pointer, acs);
      for (Value &pointer : MutableArrayRef(next).take_back(panels))
        pointer = b.at(element, pointer, terms * vectors * lanes);
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
  state.truncate(numSums);
  return state;
}

std::string fovea::codegen::nameFor(StringRef stem, Type element) {
  return (stem + (element.isF32() ? "_f32" : "_f64")).str();
}

std::string fovea::codegen::emitMicroKernel(KernelBuilder &builder,
                                            Type element, const GemmTile &tile,
                                            int64_t rows, int64_t panels,
                                            int64_t stride) {
  std::string name =
      nameFor(stride ? "fovea_gemm_tile" : "fovea_gemm_thin", element) + "_" +
      std::to_string(rows) + "x" + std::to_string(panels);
  Type number = builder.i64(), pointer = builder.pointer();
  Type arguments[] = {pointer, number, number, pointer, number,
                      pointer, number, number, number,  builder.getI1Type()};
  builder.function(name, arguments, /*isPrivate=*/true, [&](ValueRange args) {
    Kernel kernel{.b = builder,
                  .element = element,
                  .vector = VectorType::get(tile.lanes, element),
                  .rows = rows,
                  .panels = panels,
                  .lanes = tile.lanes,
                  .vectors = tile.vectors,
                  .stride = stride,
                  .a = args[0],
                  .ars = args[1],
                  .acs = args[2],
                  .bp = args[3],
                  .panelSize = args[4],
                  .c = args[5],
                  .ldc = args[6],
                  .k = args[7],
                  .columns = args[8],
                  .accumulate = args[9]};
    Value isFull =
        builder.atMost(builder.number(panels * tile.columns()), kernel.columns);
    SmallVector<Type> types(rows * kernel.perRow(), kernel.vector);
    Values sums = builder.choose(
        kernel.accumulate, types,
        [&] {
          return builder.choose(
              isFull, types, [&] { return kernel.readC({}); },
              [&] { return kernel.readC(kernel.masks()); });
        },
        [&] { return Values(types.size(), builder.zeros(kernel.vector)); });
    sums = kernel.multiply(std::move(sums));
    builder.branch(
        isFull, [&] { kernel.writeC(sums, {}); },
        [&] { kernel.writeC(sums, kernel.masks()); });
  });
  return name;
}

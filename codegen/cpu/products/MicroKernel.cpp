//===- MicroKernel.cpp - one tile of C in registers -----------------------===//
//
// The innermost loop of every matrix product. For each k, it loads a row of the
// packed panels, and for each row of A it broadcasts one element and
// multiply-adds. With 12 rows of two vectors, 24 accumulators, two vectors of B
// and one of A fill 27 of 32 registers. The 24 independent chains hide the
// latency.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/products/MicroKernel.h"
#include "codegen/cpu/products/Pairs.h"
#include "codegen/cpu/products/TensorKernel.h"
#include "codegen/kernel/StoredReals.h"

using namespace mlir;
using namespace fovea::codegen;
using fovea::runtime::StorageFormat;

using Values = KernelBuilder::Values;

namespace {

/// The arguments and the shape of the kernel under construction.
struct Kernel {
  KernelBuilder &b;
  Type element, right;
  const StorageFormat *format; // of right
  bool pairs;                  // of terms, in place of elements
  VectorType vector;
  GemmTile tile;
  KernelShape shape;
  ValueRange left; // what says where A is
  Value bp, panelSize, c, ldc, k, columns, accumulate;
  Value ahead = nullptr, step = nullptr;

  /// The accumulators are in the order row, vector.
  int64_t numSums() const { return shape.rows * shape.vectors; }
  int64_t numPanels() const {
    return llvm::divideCeil(shape.vectors, tile.vectors);
  }
  bool isStrided() const { return shape.left == LeftSide::strided; }
  /// Runs are short, and each of them ends a loop.
  int64_t turn() const {
    return shape.left == LeftSide::runs ? 2 * termsPerTurn : termsPerTurn;
  }
  Value addressInC(int64_t row, int64_t vectorOfRow);
  Values readC(ArrayRef<Value> masks);
  void writeC(ValueRange sums, ArrayRef<Value> masks);
  Values masks();
  void prefetchC();
  Value addressInA(ValueRange pointers, int64_t row, int64_t term);
  Value loadRight(Value address);
  void multiplyTerm(MutableArrayRef<Value> sums, ValueRange pointersToA,
                    ValueRange pointersToB, int64_t term);
  Values multiplyTerms(Values state, ValueRange inA, Value from, Value to,
                       int64_t terms);
  Values multiplyAll(Values state, ValueRange inA, Value count);
  Values multiplyRuns(Values state);
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
    for (int64_t v = 0; v < shape.vectors; ++v)
      sums.push_back(masks.empty()
                         ? b.load(vector, addressInC(row, v))
                         : b.load(vector, addressInC(row, v), masks[v]));
  return sums;
}

void Kernel::writeC(ValueRange sums, ArrayRef<Value> masks) {
  for (int64_t row = 0; row < shape.rows; ++row)
    for (int64_t v = 0; v < shape.vectors; ++v) {
      Value sum = sums[row * shape.vectors + v];
      // There is no negative zero.
      if (pairs)
        sum = b.create<arith::AddFOp>(sum, b.constant(vector, 0));
      if (masks.empty())
        b.store(sum, addressInC(row, v));
      else
        b.store(sum, addressInC(row, v), masks[v]);
    }
}

Values Kernel::masks() {
  Values masks;
  for (int64_t v = 0; v < shape.vectors; ++v)
    masks.push_back(
        b.maskBelow(b.sub(columns, b.number(v * tile.lanes)), tile.lanes));
  return masks;
}

/// C is needed when the sums are complete; prefetch it now.
void Kernel::prefetchC() {
  for (int64_t row = 0; row < shape.rows; ++row)
    for (int64_t v = 0; v < shape.vectors; ++v)
      b.prefetch(addressInC(row, v), /*forWriting=*/true);
}

/// The address of the element of `row`, `term` terms past the pointers.
Value Kernel::addressInA(ValueRange pointers, int64_t row, int64_t term) {
  switch (shape.left) {
  case LeftSide::strided:
    return pointers[row];
  case LeftSide::staged:
    return b.at(element, pointers[0], row * stagedStride + term);
  case LeftSide::runs:
    return b.at(element, pointers[row], term);
  case LeftSide::columns:
    return b.at(element, pointers[0], row);
  }
  llvm_unreachable("no such left side");
}

/// A vector of packed B.
Value Kernel::loadRight(Value address) {
  if (!format)
    return b.load(VectorType::get(tile.lanes, right), address);
  return realOf(b, b.load(VectorType::get(tile.lanes, right), address),
                *format);
}

/// One term of every sum: row k of the panels times column k of A, both found
/// `term` terms past the pointers.
void Kernel::multiplyTerm(MutableArrayRef<Value> sums, ValueRange pointersToA,
                          ValueRange pointersToB, int64_t term) {
  Values loaded;
  for (int64_t v = 0; v < shape.vectors; ++v)
    loaded.push_back(
        loadRight(b.at(right, pointersToB[v / tile.vectors],
                       term * tile.columns() + v % tile.vectors * tile.lanes)));
  Value column;
  if (shape.left == LeftSide::columns) {
    column = b.load(b.pointer(), b.at(b.i64(), pointersToA[0], term));
    column = b.at(element, column, left[1]);
    pointersToA = column;
  }
  for (int64_t row = 0; row < shape.rows; ++row) {
    Value address = addressInA(pointersToA, row, term);
    Value factor =
        b.splat(b.load(pairs ? right : element, address), tile.lanes);
    for (int64_t v = 0; v < shape.vectors; ++v) {
      Value &sum = sums[row * shape.vectors + v];
      sum = pairs ? addPair(b, tile, factor, loaded[v], sum)
                  : b.fma(factor, loaded[v], sum);
    }
  }
}

/// A loop over terms, so many per turn. Its state is the sums, a pointer per
/// panel, an optional prefetch pointer, and the pointers into A, which it
/// returns too.
///
/// Address arithmetic competes for the multiplication ports. With constant
/// strides and several terms per turn there is almost none.
Values Kernel::multiplyTerms(Values state, ValueRange inA, Value from, Value to,
                             int64_t terms) {
  size_t numA = inA.size();
  llvm::append_range(state, inA);
  return b.loop(
      from, to, b.number(terms), state, [&](Value, ValueRange current) {
        Values next = llvm::to_vector(current);
        MutableArrayRef<Value> all = next;
        MutableArrayRef<Value> inB = all.slice(numSums(), numPanels());
        MutableArrayRef<Value> inA = all.take_back(numA);
        for (int64_t term = 0; term < terms; ++term)
          multiplyTerm(all.take_front(numSums()), inA, inB, term);
        for (Value &pointer : inA)
          pointer = isStrided() ? b.at(element, pointer, left[2])
                    : shape.left == LeftSide::columns
                        ? b.at(b.i64(), pointer, terms)
                        : b.at(element, pointer, terms);
        for (Value &pointer : inB)
          pointer = b.at(right, pointer, terms * tile.columns());
        if (ahead && terms == termsPerTurn) {
          Value &fetched = all[numSums() + numPanels()];
          b.prefetch(fetched, /*forWriting=*/false);
          fetched = b.at(b.getI8Type(), fetched, step);
        }
        return next;
      });
}

/// `count` terms, from the pointers into A on.
Values Kernel::multiplyAll(Values state, ValueRange inA, Value count) {
  size_t size = state.size();
  Values pointers = llvm::to_vector(inA);
  Value whole = b.number(0);
  if (!isStrided()) {
    whole = b.sub(count, b.rem(count, b.number(turn())));
    state =
        multiplyTerms(std::move(state), pointers, b.number(0), whole, turn());
    pointers = Values(ArrayRef(state).drop_front(size));
    state.truncate(size);
  }
  state = multiplyTerms(std::move(state), pointers, whole, count, 1);
  state.truncate(size);
  return state;
}

/// Run by run: within a run, terms are consecutive in each row. A run that is
/// nowhere for all rows, beyond the edge of an image, is skipped. Runs that
/// continue the previous one in all rows, as along a window inside the image,
/// are merged into one: a new run costs as much as five terms.
Values Kernel::multiplyRuns(Values state) {
  Value source = left[0], list = left[1], runs = left[2], run = left[3];
  Value term = left[4], none = left[5], one = b.number(1);
  Value end = b.add(term, k), first = b.div(term, run);
  Value last = b.divUp(end, run);
  auto entriesOf = [&](Value index) {
    Values entries;
    for (int64_t row = 0; row < shape.rows; ++row) {
      Value at = b.add(b.mul(b.number(row), runs), index);
      entries.push_back(b.load(b.i64(), b.at(b.i64(), list, at)));
    }
    return entries;
  };
  auto isNowhere = [&](ValueRange entries) {
    Value furthest = entries.front();
    for (Value entry : entries.drop_front())
      furthest = b.max(furthest, entry);
    return b.equal(furthest, b.number(nowhere));
  };
  auto continues = [&](ValueRange entries, ValueRange next) {
    Value all;
    for (auto [entry, other] : llvm::zip(entries, next)) {
      Value isNext = b.equal(b.add(entry, run), other);
      all = all ? b.both(all, isNext) : isNext;
    }
    return all;
  };
  // The state ends with the run that is not yet multiplied.
  state.push_back(first);
  state = b.loop(first, last, one, state, [&](Value index, ValueRange current) {
    auto multiplyFrom = [&] {
      Values entries = entriesOf(index), next = llvm::to_vector(current);
      next.pop_back();
      Value begin = b.mul(index, run), from = b.max(begin, term);
      return b.chooseAll(
          isNowhere(entries),
          [&] {
            Value to = b.min(b.add(begin, run), end);
            Values same = next;
            for (Value &panel : MutableArrayRef(same).take_back(numPanels()))
              panel = b.at(right, panel,
                           b.mul(b.sub(to, from), b.number(tile.columns())));
            same.push_back(b.add(index, one));
            return same;
          },
          [&] {
            Value second = b.add(index, one), third = b.add(second, one);
            Value lastOne = b.sub(last, one);
            Values then = entriesOf(b.min(second, lastOne));
            Value goesOn = continues(entries, then);
            Value further = b.both(
                goesOn, continues(then, entriesOf(b.min(third, lastOne))));
            Value stop = b.select(
                goesOn, b.select(further, b.add(third, one), third), second);
            Value to = b.min(b.mul(stop, run), end);
            Value there = b.at(element, source, b.sub(from, begin));
            Values pointers;
            for (Value entry : entries)
              pointers.push_back(b.select(b.equal(entry, b.number(nowhere)),
                                          none, b.at(element, there, entry)));
            Values rest = multiplyAll(next, pointers, b.sub(to, from));
            rest.push_back(stop);
            return rest;
          });
    };
    return b.chooseAll(
        b.less(index, current.back()), [&] { return llvm::to_vector(current); },
        multiplyFrom);
  });
  state.pop_back();
  return state;
}

/// The loop over k, from sums to sums.
Values Kernel::multiply(Values state) {
  for (int64_t panel = 0; panel < numPanels(); ++panel)
    state.push_back(b.at(right, bp, b.mul(panelSize, b.number(panel))));
  if (ahead)
    state.push_back(ahead);
  Values inA;
  if (shape.left == LeftSide::runs) {
    state = multiplyRuns(std::move(state));
  } else {
    // One pointer if rows have a constant distance, else one per row.
    for (int64_t row = 0; row < (isStrided() ? shape.rows : 1); ++row)
      inA.push_back(isStrided()
                        ? b.at(element, left[0], b.mul(left[1], b.number(row)))
                        : left[0]);
    state = multiplyAll(std::move(state), inA, k);
  }
  state.truncate(numSums());
  return state;
}

static std::string groupsSuffix(const fovea::attn::GroupedSums &sums) {
  return "_groups_" + std::to_string(sums.terms) + "_" +
         std::to_string(sums.digits) + "_" + std::to_string(-sums.placeOfZero);
}

std::string fovea::codegen::nameFor(StringRef stem, GemmElement element) {
  return (stem + (element.type.isF32() ? "_f32" : "_f64") +
          (element.isSame() ? "" : "_" + std::string(element.right->name)) +
          (element.pairs ? "_pairs" : "") +
          (element.sums ? groupsSuffix(*element.sums) : ""))
      .str();
}

Type fovea::codegen::rightInMemory(GemmElement element) {
  if (element.pairs)
    return IntegerType::get(element.type.getContext(), 32);
  return element.isSame() ? element.type
                          : IntegerType::get(element.type.getContext(),
                                             8 * element.right->bytes);
}

SmallVector<Type> fovea::codegen::leftArguments(KernelBuilder &builder,
                                                LeftSide left) {
  Type number = builder.i64(), pointer = builder.pointer();
  switch (left) {
  case LeftSide::strided:
  case LeftSide::staged:
    return {pointer, number, number};
  case LeftSide::runs:
    return {pointer, pointer, number, number, number, pointer};
  case LeftSide::columns:
    return {pointer, number};
  }
  llvm_unreachable("no such left side");
}

static StringRef stemOf(LeftSide left) {
  switch (left) {
  case LeftSide::strided:
    return "fovea_gemm_thin";
  case LeftSide::staged:
    return "fovea_gemm_tile";
  case LeftSide::runs:
    return "fovea_gemm_tile_runs";
  case LeftSide::columns:
    return "fovea_gemm_tile_columns";
  }
  llvm_unreachable("no such left side");
}

std::string fovea::codegen::kernelName(GemmElement element,
                                       const KernelShape &shape) {
  return nameFor(stemOf(shape.left), element) + "_" +
         std::to_string(shape.rows) + "x" + std::to_string(shape.vectors);
}

std::string fovea::codegen::emitMicroKernel(KernelBuilder &builder,
                                            GemmElement element,
                                            const GemmTile &tile,
                                            const KernelShape &shape) {
  if (element.sums)
    return emitTensorKernel(builder, element, tile, shape);
  std::string name = kernelName(element, shape);
  Type number = builder.i64(), pointer = builder.pointer();
  SmallVector<Type> arguments = leftArguments(builder, shape.left);
  size_t numLeft = arguments.size();
  arguments.append(
      {pointer, number, pointer, number, number, number, builder.getI1Type()});
  bool hasAhead =
      shape.left == LeftSide::strided || shape.left == LeftSide::staged;
  if (hasAhead)
    arguments.append({pointer, number});
  builder.function(name, arguments, /*isPrivate=*/true, [&](ValueRange all) {
    ValueRange args = all.drop_front(numLeft);
    Kernel kernel{.b = builder,
                  .element = element.type,
                  .right = rightInMemory(element),
                  .format = element.right,
                  .pairs = element.pairs,
                  .vector = VectorType::get(tile.lanes, element.type),
                  .tile = tile,
                  .shape = shape,
                  .left = all.take_front(numLeft),
                  .bp = args[0],
                  .panelSize = args[1],
                  .c = args[2],
                  .ldc = args[3],
                  .k = args[4],
                  .columns = args[5],
                  .accumulate = args[6]};
    if (hasAhead) {
      kernel.ahead = args[7];
      kernel.step = args[8];
    }
    if (shape.left != LeftSide::strided)
      kernel.prefetchC();
    Value isFull = builder.atMost(builder.number(shape.vectors * tile.lanes),
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

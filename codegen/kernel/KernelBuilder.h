//===- KernelBuilder.h - short words for building kernels -----*- C++ -*-===//
//
// An OpBuilder with the few operations that kernels consist of: whole numbers
// of 64 bits, addresses (!llvm.ptr), vectors of one dimension, masks, loads and
// stores, slots of the frame, loops and branches. It makes no decisions.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_KERNEL_KERNELBUILDER_H
#define FOVEA_CODEGEN_KERNEL_KERNELBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/SaveAndRestore.h"

#include <optional>

namespace fovea::codegen {

class KernelBuilder;

/// Communication between threads that share a work unit (codegen/gpu). A CPU
/// needs none of it.
class TeamOps {
public:
  virtual ~TeamOps() = default;
  /// The value of the thread whose number in its group is `distance` larger;
  /// undefined in the last ones.
  virtual mlir::Value shiftDown(KernelBuilder &builder, mlir::Value value,
                                int64_t distance) const = 0;
  /// The first thread's value, broadcast to the group.
  virtual mlir::Value ofFirst(KernelBuilder &builder,
                              mlir::Value value) const = 0;
  /// Synchronises all threads of a group, or of all groups, and makes their
  /// writes visible.
  virtual void wait(KernelBuilder &builder, bool ofAllGroups) const = 0;
};

/// How a machine stores a second, packed form of a kernel's result, for
/// products (passes/memory/Copies.h).
class CopyOps {
public:
  virtual ~CopyOps() = default;
  /// For an array in rows of `width` elements.
  virtual void store(KernelBuilder &builder, mlir::Value element,
                     mlir::Value copy, mlir::Value row, mlir::Value column,
                     int64_t width) const = 0;
};

/// The threads that run the emitted code. Each does the same: stores are
/// redundant, and loops over turns are divided.
struct Team {
  const TeamOps *ops = nullptr;
  mlir::Value thread; // the number of this one, of `size`
  int64_t size = 1;
  /// Groups combine partial results. The number of this thread's, of
  /// `numGroups`, and its own in it; null: the team is one group.
  mlir::Value group, lane;
  int64_t numGroups = 1;
};

/// The slots of a frame that a function reads.
struct FrameReads {
  struct Slot {
    int number;
    bool isAddress = false; // for any read
  };

  mlir::Value frame;
  /// Whether the function has a list of these slots in place of the frame.
  bool areListed = false;
  /// Each once, in the order of the first reads, which the list has too.
  llvm::SmallVector<Slot> slots;
  /// For a function with a frame: the slots, by the loads that read them.
  llvm::DenseMap<mlir::Operation *, Slot> byLoad;

  /// Adds a slot, unless it has been read before. Returns its place in the
  /// list.
  int add(Slot slot);
  llvm::SmallVector<int64_t> numbers() const;
};

class KernelBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  /// Builds at the end of the module, at an unknown location.
  explicit KernelBuilder(mlir::ModuleOp module);

  /// Adds a function without results to the module, and builds its body;
  /// an existing function of this name is left unchanged. `arguments`
  /// become the parameter of `body`. Functions are public unless
  /// `isPrivate`; private ones are never inlined: their registers are
  /// planned by hand.
  void function(llvm::StringRef name, llvm::ArrayRef<mlir::Type> arguments,
                bool isPrivate,
                llvm::function_ref<void(mlir::ValueRange arguments)> body);
  void call(llvm::StringRef name, mlir::ValueRange arguments);

  /// Null: one thread computes a work unit alone.
  const Team *team() const { return ownTeam ? &*ownTeam : nullptr; }
  /// These threads run the code emitted from here on.
  void setTeam(std::optional<Team> team) {
    isOfMany |= team.has_value();
    ownTeam = std::move(team);
  }

  /// Null: no packed form is stored.
  const CopyOps *copies() const { return copyOps; }
  void setCopies(const CopyOps *ops) { copyOps = ops; }

  /// Notes what is read of a frame from here on, and reads it from a list if
  /// `reads` says so. It outlives the builder.
  void setReads(FrameReads &reads) { frameReads = &reads; }

  mlir::Type i64() { return getI64Type(); }
  mlir::Type pointer();

  Value number(int64_t value);
  Value truth(bool value);
  /// The number `value` as a scalar or splat of `type`.
  Value constant(mlir::Type type, double value);
  /// Constants are folded.
  Value add(Value lhs, Value rhs);
  Value sub(Value lhs, Value rhs);
  Value mul(Value lhs, Value rhs);
  /// Quotients and remainders are for nonnegative dividends and nonzero
  /// divisors.
  Value div(Value lhs, Value rhs);
  Value divUp(Value lhs, Value rhs);
  Value rem(Value lhs, Value rhs);
  Value min(Value lhs, Value rhs);
  Value max(Value lhs, Value rhs);
  /// Comparisons are of signed numbers.
  Value compare(mlir::arith::CmpIPredicate predicate, Value lhs, Value rhs);
  Value less(Value lhs, Value rhs);
  Value atMost(Value lhs, Value rhs);
  Value equal(Value lhs, Value rhs);
  /// A scalar beside a vector is splatted; no condition means true.
  Value both(Value lhs, Value rhs);
  Value either(Value lhs, Value rhs);
  Value select(Value condition, Value yes, Value no);
  /// One rounding per lane.
  Value fma(Value a, Value b, Value c);

  /// `scalar` in every lane; itself for 0 lanes.
  Value splat(Value scalar, unsigned lanes);
  /// 0, 1, .. lanes-1, as i64.
  Value lane(unsigned lanes);
  /// Lane i holds i < count; any count is right.
  Value maskBelow(Value count, unsigned lanes);

  /// The address of element `index` of an array of `element`s, inside it or
  /// not. Bits are bytes in memory.
  Value at(mlir::Type element, Value base, Value index);
  Value at(mlir::Type element, Value base, int64_t index);
  /// Loads and stores are aligned to one element, never to a vector. Masked-off
  /// lanes are 0 and do not access memory; no mask means all lanes. A load of
  /// bf16 gives f32.
  Value load(mlir::Type type, Value address, Value mask = nullptr);
  void store(Value value, Value address, Value mask = nullptr);
  /// Stores a real number, or a vector, as an `element` that has it.
  void storeAs(mlir::Type element, Value value, Value address,
               Value mask = nullptr);
  /// Zeros in `count` elements.
  void clear(mlir::Type element, Value address, Value count);
  void copy(mlir::Type element, Value to, Value from, Value count);
  /// One element per lane, at `offsets` from `base`.
  Value gather(mlir::VectorType type, Value base, Value offsets, Value mask);
  /// Stores a vector to an aligned address, bypassing the caches. Another
  /// thread may read it after a `fence` of this one.
  void storePast(Value value, Value address);
  void fence();
  /// Prefetches a cache line; any address is allowed.
  void prefetch(Value address, bool forWriting);
  /// Memory of this call, aligned to a cache line.
  Value scratch(mlir::Type element, int64_t count);

  /// A slot of the frame.
  Value slot(Value frame, int number);
  Value pointerSlot(Value frame, int number);
  void setSlot(Value frame, int number, Value value);
  /// Element `index` of an int64 table whose address is in a slot.
  Value entry(Value frame, int number, Value index);

  /// for (i = from; i < to; i += step) body(i)
  void loop(Value from, Value to, Value step,
            llvm::function_ref<void(Value i)> body);
  /// The same with values that each turn replaces; returns the last ones.
  Values loop(Value from, Value to, Value step, mlir::ValueRange inits,
              llvm::function_ref<Values(Value i, mlir::ValueRange)> body);
  /// while (condition(value)) value = body(value); returns the last one.
  Value repeatWhile(Value value, llvm::function_ref<Value(Value)> condition,
                    llvm::function_ref<Value(Value)> body);
  /// for (i = from; i < to; ++i) body(i), where the threads of the team divide
  /// the turns. Turns are independent, except for the state that a thread
  /// carries.
  void share(Value from, Value to, llvm::function_ref<void(Value i)> body);
  Values share(Value from, Value to, mlir::ValueRange inits,
               llvm::function_ref<Values(Value i, mlir::ValueRange)> body);
  /// The same by groups, where each group is the team of its turns.
  void shareInGroups(Value from, Value to,
                     llvm::function_ref<void(Value i)> body);
  /// While this object is alive, emitted code runs per thread, without
  /// cooperation.
  struct OneThread {
    explicit OneThread(KernelBuilder &builder)
        : alone(builder.ownTeam, std::optional<Team>()) {}
    llvm::SaveAndRestore<std::optional<Team>> alone;
  };
  /// One thread of the team, or one group, runs it.
  void alone(llvm::function_ref<void()> body);
  void inFirstGroup(llvm::function_ref<void()> body);
  /// Waits until all threads of the team have finished their earlier stores.
  void wait();

  void branch(Value condition, llvm::function_ref<void()> yes,
              llvm::function_ref<void()> no = nullptr);
  /// The values of the taken branch; both yield the same number. A scalar
  /// beside a vector is splatted.
  Values chooseAll(Value condition, llvm::function_ref<Values()> yes,
                   llvm::function_ref<Values()> no);
  Value choose(Value condition, llvm::function_ref<Value()> yes,
               llvm::function_ref<Value()> no);
  /// Runs body(n) where `value` is n, for n in 1..count; nothing otherwise.
  void dispatch(Value value, int64_t count,
                llvm::function_ref<void(int64_t n)> body);

private:
  Value readSlot(mlir::Type type, Value frame, int number);

  FrameReads *frameReads = nullptr;
  std::optional<Team> ownTeam;
  const CopyOps *copyOps = nullptr;
  bool isOfMany = false; // whether threads are those of a team anywhere
};

/// The number of lanes; 0 for a scalar.
unsigned lanesOf(mlir::Type type);
inline unsigned lanesOf(mlir::Value value) { return lanesOf(value.getType()); }

/// `scalar`, or a vector of it when `lanes` is not 0.
mlir::Type withLanes(mlir::Type scalar, unsigned lanes);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_KERNEL_KERNELBUILDER_H

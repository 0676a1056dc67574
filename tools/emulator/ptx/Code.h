//===- Code.h - PTX in decoded form -----------------------------*- C++ -*-===//
//
// The text that the driver gets, decoded once. Registers have numbers,
// constants are registers that nothing writes, and labels are numbers of
// instructions. An instruction or a modifier that is not known is refused with
// its line.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TOOLS_EMULATOR_PTX_CODE_H
#define FOVEA_TOOLS_EMULATOR_PTX_CODE_H

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::emulator::ptx {

class Warp;
struct Instruction;

constexpr uint32_t lanes = 32, everyLane = 0xFFFFFFFF;

/// What a warp does after an instruction: the next one; the same one again when
/// others had a turn; the next one after others had a turn; nothing, as it has
/// failed.
enum class Step : uint8_t { Next, Wait, Yield, Fail };

/// Executes an instruction for the lanes of `mask`, one at least.
using Handler = Step (*)(Warp &warp, const Instruction &code, uint32_t mask);

/// A register's values, each in the lowest bits, and the lanes that have one.
struct Register {
  uint64_t lane[lanes] = {};
  uint32_t known = 0;
};

/// The number of a register, or of a constant, and what is added to it as an
/// address; `_` is nothing.
struct Operand {
  static constexpr uint32_t nothing = ~uint32_t(0);
  uint32_t number = nothing;
  bool isConstant = false;
  int64_t displacement = 0;
  bool isThere() const { return number != nothing; }
};

enum class Flow : uint8_t { None, Branch, End };
enum class Space : uint8_t { Generic, Global, Shared, Parameters };
enum class Order : uint8_t { Weak, Relaxed, Acquire, Release };

struct Instruction {
  Handler run = nullptr;
  Flow flow = Flow::None;
  uint32_t line = 0;
  /// Of the lanes that execute it.
  Operand guard;
  bool isGuardNegated = false;
  std::vector<Operand> operands;
  /// Whether the first operands are the parts of a vector.
  bool beginsWithVector = false;
  /// Of an access: elements, and the bytes of each.
  uint32_t count = 1, bytes = 0;
  Space space = Space::Generic;
  Order order = Order::Weak;
  /// A modifier of some instructions.
  bool isTurned = false;
  /// Of a branch.
  uint32_t target = 0;
};

/// A kernel.
struct Entry {
  std::string name;
  std::vector<Instruction> code;
  uint32_t numRegisters = 0;
  std::vector<Register> constants;
  /// The special registers that it reads, by name.
  std::map<std::string, uint32_t, std::less<>> special;
  /// Bytes of the first parameter, a list; the second one is a number.
  uint64_t listBytes = 0;
  /// Without those whose number the launch says.
  uint64_t sharedBytes = 0;
  uint32_t maxThreads = 0, maxRegisters = 0;
};

struct Code {
  std::map<std::string, std::unique_ptr<Entry>, std::less<>> entries;
  /// Memory of `.global` variables, by name.
  std::map<std::string, std::vector<uint64_t>, std::less<>> globals;
};

/// Decodes a module. Returns an error; empty: none.
std::string parse(std::string_view text, Code &code);

/// An instruction with all of its name, its handler and number of operands.
struct Known {
  std::string_view name;
  Handler run;
  size_t operands;
};

/// Takes the handler from the list. Returns whether the instruction is in it.
bool decodeKnown(std::span<const Known> list, std::string_view name,
                 Instruction &code);

/// Selects the handler of an instruction by all of its name, and checks its
/// operands. Returns whether it is known.
bool decode(std::string_view name, Instruction &code);
bool decodeArithmetic(std::string_view name, Instruction &code);
bool decodeAccess(std::string_view name, Instruction &code);
bool decodeBarrier(std::string_view name, Instruction &code);
bool decodePhase(std::string_view name, Instruction &code);
bool decodeProduct(std::string_view name, Instruction &code);
bool decodeGroupProduct(std::string_view name, Instruction &code);

/// The first bytes of a block's shared memory are the system's.
constexpr uint64_t sharedBegin = 1024;
/// Where parameters begin in their space.
constexpr uint64_t parametersBegin = 1 << 16;
/// An address in another block of the cluster has its rank, and one, here.
constexpr uint32_t rankShift = 24;
/// Generic addresses of shared memory.
constexpr uint64_t sharedWindow = uint64_t(1) << 60;

} // namespace fovea::emulator::ptx

#endif // FOVEA_TOOLS_EMULATOR_PTX_CODE_H

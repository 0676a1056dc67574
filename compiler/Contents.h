//===- Contents.h - what a model contains ----------------------*- C++ -*-===//
//
// Questions about the module of a model, and what requests remove from it. Who
// asks here does not include the ops of the dialect. So a change of an op does
// not compile commands and the language server again.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_COMPILER_CONTENTS_H
#define FOVEA_COMPILER_CONTENTS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>

namespace fovea::compiler {

//===----------------------------------------------------------------------===//
// Systems: what the front end makes of a spec
//===----------------------------------------------------------------------===//

/// An equation of a system, with its place in the spec and its extents as text
/// (`512`, `S`).
struct Equation {
  std::string name;
  mlir::Location place;
  std::vector<std::string> extents;
};

/// The equations of `@training` or `@decoding`, in source order. Nothing if
/// there is no such system.
std::vector<Equation> equationsIn(mlir::ModuleOp module,
                                  llvm::StringRef system);
/// The names of the equations of `@training` that no other one reads
/// (attn::unreadEquations).
std::vector<std::string> unreadEquations(mlir::ModuleOp module);

/// The lengths of `@decoding` that belong to the places of another one, such
/// as words of a sentence; each with the other one.
std::map<std::string, std::string> parentsOfLengths(mlir::ModuleOp module);

/// Whether `@training` has an objective: choices or penalties.
bool hasObjective(mlir::ModuleOp module);
/// Whether log p of an example is the sum over its observed choices. It must
/// not be a bound, a mean over samples, or a sum over the values of a latent
/// choice that is made once.
bool addsUpChoices(mlir::ModuleOp module);
/// Whether decoding draws latent choices at random.
bool drawsLatents(mlir::ModuleOp module);

/// Removes the observed choices and the penalties of `@training`: equations
/// alone are computed, from the data that they need.
void dropObjective(mlir::ModuleOp module);

//===----------------------------------------------------------------------===//
// Programs: what the passes make of a system
//===----------------------------------------------------------------------===//

/// The program `@name`, or null.
mlir::Operation *findProgram(mlir::ModuleOp module, llvm::StringRef name);

/// The names of the outputs of a program, in the order in which it lists them.
std::vector<std::string> outputsOf(mlir::Operation *program);
/// The same in the order in which they are computed.
std::vector<std::string> outputsAsComputed(mlir::Operation *program);

/// When a decoder computes an equation, and what it keeps of it from one step
/// to the next.
struct InDecoder {
  bool isInStep = true; // else once per input
  std::string kind;     // of a state: carried, window, growing, ..; or nothing
  int64_t window = 0;   // the number of values that a state keeps
};
/// For each equation of `@decode`, by name. Nothing if there is no `@decode`.
std::map<std::string, InDecoder> stepsIn(mlir::ModuleOp module);

/// Erases the lengths that no array of a program has: they would come with data
/// that it does not read.
void dropUnusedLengths(mlir::Operation *program);
/// A copy of `@loss` that gives `choices` alone, which the lengths determine.
mlir::OwningOpRef<mlir::ModuleOp> choicesOnly(mlir::ModuleOp module);

//===----------------------------------------------------------------------===//
// Both
//===----------------------------------------------------------------------===//

/// A parameter: its path, and its extents that are numbers.
struct Parameter {
  std::string path;
  std::vector<int64_t> shape;
};
/// The parameters of all systems and programs, once for each of these.
std::vector<Parameter> parametersIn(mlir::ModuleOp module);

} // namespace fovea::compiler

#endif // FOVEA_COMPILER_CONTENTS_H

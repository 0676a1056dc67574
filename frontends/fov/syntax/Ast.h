//===- Ast.h - a parsed .fov file -----------------------------------------===//
//
// The parser's output: the file as written, with the place of everything. Names
// are not resolved. Nodes live in the arena of their File and are never freed
// individually.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_FRONTENDS_FOV_SYNTAX_AST_H
#define FOVEA_FRONTENDS_FOV_SYNTAX_AST_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/SMLoc.h"

#include <vector>

namespace fovea::ast {

using llvm::ArrayRef;
using llvm::SMLoc;
using llvm::SMRange;
using llvm::StringRef;

enum class ExprKind {
  Name,    // name (true, false, inf and `scalar` are names too)
  Train,   // train.NAME: a value of the training loop
  Integer, // integer
  Real,    // real
  String,  // name = the text between the quotes
  List,    // [args..]
  Unary,   // op, args[0]
  Binary,  // op, args[0], args[1]
  Compare, // args[0] ops[0] args[1] ops[1] args[2] ..: a chain
  If,      // args[0] then args[1] else args[2]
  Call,    // args[0] applied to items
  Index,   // args[0][args[1], ..]
  Member,  // args[0].name
  Default, // args[0] ?? args[1]
  Reduce,  // name[binders where condition](items)
};

enum class Op {
  Add,
  Sub,
  Mul,
  Div,
  FloorDiv,
  Mod,
  MatMul,
  Pow,
  Join, // + - * / // mod @ ^ ++
  And,
  Or,
  Not,
  Negate,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Equal,
  NotEqual,
};

/// The spelling of an operator.
StringRef spelling(Op op);

struct Expr;

/// An argument of a call: `NAME = value`, or a value alone (empty name).
struct Item {
  StringRef name;
  SMLoc loc;
  Expr *value;
};

/// `i` or `i < extent` after a reducer.
struct Binder {
  StringRef name;
  SMLoc loc;
  Expr *extent; // null: to be inferred
};

struct Expr {
  ExprKind kind;
  SMRange range; // the whole expression
  SMLoc loc;     // where to point: the operator, the name, the bracket
  StringRef name;
  int64_t integer = 0;
  double real = 0;
  Op op = Op::Add;
  ArrayRef<Expr *> args;
  ArrayRef<Op> ops;          // Compare
  ArrayRef<Item> items;      // Call, Reduce
  ArrayRef<Binder> binders;  // Reduce
  Expr *condition = nullptr; // Reduce: the `where`
  unsigned height = 1;       // of the tree; the parser allows 256
};

/// One place on the left: `i`, `i < N` (bound), or an expression.
struct Place {
  SMLoc loc;
  Expr *value = nullptr; // `i`, `i + 1`, `-1`, `S`
  Expr *bound = nullptr; // of `i < bound`
};

/// `NAME` or `NAME[places..]`, left of `=` or `~`.
struct Left {
  StringRef name;
  SMLoc loc;
  ArrayRef<Place> places;
};

/// An axis of a declared array: `m < M`, `p in {read, write}`, or an extent.
struct Axis {
  SMLoc loc;
  StringRef binder;           // empty: none
  Expr *extent = nullptr;     // null for an enumeration
  ArrayRef<StringRef> labels; // of `in { .. }`
};

/// `NAME[axes..]` of a data or param declaration.
struct Array {
  StringRef name;
  SMLoc loc;
  ArrayRef<Axis> axes;
};

/// `token of v`, `sentence`, `real(n, ..)`, `int`, `bit`, `class(..)`,
/// `position(p)`; `ends` after it.
struct Type {
  StringRef name; // "token", "sentence", "real", ..
  SMLoc loc;
  Expr *of = nullptr;    // of token, sentence: a path (Name or Member)
  ArrayRef<Expr *> args; // real extents; class count or labels; position name
  bool ends = false;
  Expr *loader = nullptr; // after `from`: a Name or a Call
};

/// An argument of a def, or one of its sizes.
struct Parameter {
  StringRef name;
  SMLoc loc;
  SMLoc equalLoc;         // of `= value`
  Expr *value = nullptr;  // of a size, where a call does not give it
  bool hasShape = false;  // `x` against `x[..]`
  ArrayRef<Expr *> shape; // Name or Integer each
};

enum class StatementKind {
  Dim,
  Const,
  Vocab,
  Data,
  Length,
  Param,
  Def,
  Use,
  Penalty,
  Update,
  Equation,
  Choice,
  Block,
  Metric,
  Return,
};

struct Entry;

struct Statement {
  StatementKind kind;
  SMRange range;
  SMLoc loc; // of the first word

  // Dim, Const, Length, Def, Use, Metric (with a value): the name.
  StringRef name;
  SMLoc nameLoc;

  // Dim, Const: value. Length: value. Penalty: value. Def `= value`.
  // Equation, Choice: the right side. Vocab: the call or null.
  // Metric: the call, or the value of `name = value`. One Statement per
  // declared name: `dim A = 1, B = 2` gives two.
  Expr *value = nullptr;

  // Data, Param: one Statement per array; `module` is Param's call. A state is
  // a Param, with what it begins with in `value`, or null.
  Array array;
  Type type;
  Expr *module = nullptr;
  bool isState = false;

  // Length: the index place (value and bound as in an equation); of one that
  // follows from values, only the bound.
  Place place = {};

  // Def.
  ArrayRef<StringRef> sizes;
  ArrayRef<Expr *> sizeValues; // one per size; null: every call gives it
  bool hasSizes = false;
  ArrayRef<Parameter> parameters;
  ArrayRef<Statement *> body; // null value: a body in braces

  // Return: values.
  ArrayRef<Expr *> values;

  // Equation (several for a tuple), Choice and Update (one).
  ArrayRef<Left> lefts;
  bool guide = false;
  bool isGenerated = false; // Choice: an entry `generate` of decode { }

  // Use: `use name = model(bindings) from "file" frozen`; name empty when the
  // model is included. Bindings are items with Name values.
  StringRef model;
  ArrayRef<Item> bindings;
  StringRef from;
  bool frozen = false;

  // Block: `train` or `decode` in name.
  ArrayRef<Entry> entries;
};

/// An entry of train or decode.
struct Entry {
  enum Kind {
    Option,
    Treatment,
    Set,
    Generate
  } kind; // left = .. | left ~ .. | set left = .. | generate left = ..
  Left left;
  Expr *value;
};

/// A parsed model. Empty `model` if the header was missing (diagnosed).
struct File {
  StringRef model;
  SMLoc modelLoc;
  StringRef rest; // the models that follow in the same file
  std::vector<Statement *> statements;
  llvm::BumpPtrAllocator arena;
};

} // namespace fovea::ast

#endif // FOVEA_FRONTENDS_FOV_SYNTAX_AST_H

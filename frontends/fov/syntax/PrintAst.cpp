//===- PrintAst.cpp - a parsed file as an indented tree -------------------===//
//
// `--emit=ast`: one node a line, its parts indented below it. For readers and
// tests; nothing reads it back.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/syntax/Parser.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace fovea;
using namespace fovea::ast;
using namespace llvm;

StringRef ast::spelling(Op op) {
  switch (op) {
  case Op::Add:
    return "+";
  case Op::Sub:
  case Op::Negate:
    return "-";
  case Op::Mul:
    return "*";
  case Op::Div:
    return "/";
  case Op::FloorDiv:
    return "//";
  case Op::Mod:
    return "mod";
  case Op::MatMul:
    return "@";
  case Op::Pow:
    return "^";
  case Op::Join:
    return "++";
  case Op::And:
    return "and";
  case Op::Or:
    return "or";
  case Op::Not:
    return "not";
  case Op::Less:
    return "<";
  case Op::LessEqual:
    return "<=";
  case Op::Greater:
    return ">";
  case Op::GreaterEqual:
    return ">=";
  case Op::Equal:
    return "==";
  case Op::NotEqual:
    return "!=";
  }
  llvm_unreachable("no such operator");
}

static StringRef spelling(ExprKind kind) {
  switch (kind) {
  case ExprKind::Name:
    return "name";
  case ExprKind::Train:
    return "train";
  case ExprKind::Integer:
    return "integer";
  case ExprKind::Real:
    return "real";
  case ExprKind::String:
    return "string";
  case ExprKind::List:
    return "list";
  case ExprKind::Unary:
    return "unary";
  case ExprKind::Binary:
    return "binary";
  case ExprKind::Compare:
    return "compare";
  case ExprKind::If:
    return "if";
  case ExprKind::Call:
    return "call";
  case ExprKind::Index:
    return "index";
  case ExprKind::Member:
    return "member";
  case ExprKind::Default:
    return "default";
  case ExprKind::Reduce:
    return "reduce";
  }
  llvm_unreachable("no such expression");
}

static StringRef spelling(StatementKind kind) {
  switch (kind) {
  case StatementKind::Dim:
    return "dim";
  case StatementKind::Const:
    return "const";
  case StatementKind::Vocab:
    return "vocab";
  case StatementKind::Data:
    return "data";
  case StatementKind::Length:
    return "length";
  case StatementKind::Param:
    return "param";
  case StatementKind::Def:
    return "def";
  case StatementKind::Use:
    return "use";
  case StatementKind::Penalty:
    return "penalty";
  case StatementKind::Update:
    return "update";
  case StatementKind::Equation:
    return "equation";
  case StatementKind::Choice:
    return "choice";
  case StatementKind::Block:
    return "block";
  case StatementKind::Metric:
    return "metric";
  case StatementKind::Return:
    return "return";
  }
  llvm_unreachable("no such statement");
}

namespace {

/// Recurses over the tree, whose height the parser limits.
class Printer {
public:
  explicit Printer(raw_ostream &out) : out(out) {}

  void print(const Statement &statement);

private:
  raw_ostream &line() { return out.indent(2 * depth); }

  /// Prints `parts` one level below the last output.
  void below(function_ref<void()> parts) {
    ++depth;
    parts();
    --depth;
  }

  void printExpr(const Expr *expr);
  void printItems(ArrayRef<Item> items);
  void printPlace(const Place &place);
  void printLeft(const Left &left);
  void printArray(const Array &array);
  void printType(const ast::Type &type);
  void printLabelled(StringRef label, const Expr *expr);

  raw_ostream &out;
  unsigned depth = 1;
};

} // namespace

void Printer::printLabelled(StringRef label, const Expr *expr) {
  line() << label << '\n';
  below([&] { printExpr(expr); });
}

void Printer::printItems(ArrayRef<Item> items) {
  for (const Item &item : items)
    if (item.name.empty())
      printExpr(item.value);
    else
      printLabelled(("item " + item.name).str(), item.value);
}

void Printer::printExpr(const Expr *expr) {
  line() << spelling(expr->kind);
  switch (expr->kind) {
  case ExprKind::Integer:
    out << ' ' << expr->integer;
    break;
  case ExprKind::Real:
    out << ' ' << format("%.17g", expr->real);
    break;
  case ExprKind::String:
    out << " \"" << expr->name << '"';
    break;
  case ExprKind::Unary:
  case ExprKind::Binary:
    out << ' ' << ast::spelling(expr->op);
    break;
  case ExprKind::Compare:
    for (Op op : expr->ops)
      out << ' ' << ast::spelling(op);
    break;
  default:
    if (!expr->name.empty())
      out << ' ' << expr->name;
  }
  out << '\n';
  below([&] {
    for (const Binder &binder : expr->binders) {
      line() << "binder " << binder.name << '\n';
      if (binder.extent)
        below([&] { printExpr(binder.extent); });
    }
    if (expr->condition)
      printLabelled("where", expr->condition);
    for (const Expr *arg : expr->args)
      printExpr(arg);
    printItems(expr->items);
  });
}

void Printer::printPlace(const Place &place) {
  line() << "place\n";
  below([&] {
    printExpr(place.value);
    if (place.bound)
      printLabelled("bound", place.bound);
  });
}

void Printer::printLeft(const Left &left) {
  line() << "left " << left.name << '\n';
  below([&] {
    for (const Place &place : left.places)
      printPlace(place);
  });
}

void Printer::printArray(const Array &array) {
  line() << "array " << array.name << '\n';
  below([&] {
    for (const Axis &axis : array.axes) {
      line() << "axis";
      if (!axis.binder.empty())
        out << ' ' << axis.binder;
      if (!axis.labels.empty())
        out << " in " << join(axis.labels, " ");
      out << '\n';
      if (axis.extent)
        below([&] { printExpr(axis.extent); });
    }
  });
}

void Printer::printType(const ast::Type &type) {
  line() << "type " << type.name << (type.ends ? " ends\n" : "\n");
  below([&] {
    if (type.of)
      printLabelled("of", type.of);
    for (const Expr *arg : type.args)
      printExpr(arg);
    if (type.loader)
      printLabelled("from", type.loader);
  });
}

void Printer::print(const Statement &statement) {
  line() << (statement.guide ? "guide " : "")
         << (statement.isState ? "state" : spelling(statement.kind));
  if (!statement.name.empty())
    out << ' ' << statement.name;
  if (!statement.model.empty())
    out << " model " << statement.model;
  if (!statement.from.empty())
    out << " from \"" << statement.from << '"';
  if (statement.frozen)
    out << " frozen";
  if (statement.hasSizes)
    out << " (" << join(statement.sizes, ", ") << ')';
  out << '\n';

  below([&] {
    for (auto [size, value] : zip(statement.sizes, statement.sizeValues))
      if (value)
        printLabelled(("size " + size).str(), value);
    for (const Parameter &parameter : statement.parameters) {
      line() << "argument " << parameter.name
             << (parameter.hasShape ? " of shape\n" : "\n");
      below([&] {
        for (const Expr *extent : parameter.shape)
          printExpr(extent);
      });
    }
    if (!statement.array.name.empty())
      printArray(statement.array);
    if (!statement.type.name.empty())
      printType(statement.type);
    if (statement.module)
      printExpr(statement.module);
    if (statement.place.value)
      printPlace(statement.place);
    else if (statement.place.bound)
      printLabelled("bound", statement.place.bound);
    for (const Left &left : statement.lefts)
      printLeft(left);
    for (const Item &binding : statement.bindings)
      printLabelled(("item " + binding.name).str(), binding.value);
    if (statement.value)
      printExpr(statement.value);
    for (const Expr *value : statement.values)
      printExpr(value);
    for (const Statement *inner : statement.body)
      print(*inner);
    for (const Entry &entry : statement.entries) {
      line() << (entry.kind == Entry::Option      ? "option\n"
                 : entry.kind == Entry::Treatment ? "treatment\n"
                 : entry.kind == Entry::Generate  ? "generate\n"
                                                  : "set\n");
      below([&] {
        printLeft(entry.left);
        printExpr(entry.value);
      });
    }
  });
}

void fovea::printAst(const ast::File &file, raw_ostream &out) {
  out << "model " << file.model << '\n';
  for (const Statement *statement : file.statements)
    Printer(out).print(*statement);
}

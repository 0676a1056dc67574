//===- Elaborate.h - from syntax to terms ---------------------------------===//
//
// Names, static indices, defs, modules and imports are resolved here. The work
// is spread over Elaborate.cpp (declarations), StaticIndices.cpp (which indices
// are static, and their ranges), ElaborateEquations.cpp (left sides),
// ElaborateExpressions.cpp and ElaborateCalls.cpp (right sides).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_FRONTENDS_FOV_ELABORATE_H
#define FOVEA_FRONTENDS_FOV_ELABORATE_H

#include "frontends/fov/Diagnostics.h"
#include "frontends/fov/Terms.h"

#include <set>

namespace fovea::fov {

/// `--set K=V`, and what `decode { set K = V }` adds for decoding.
using Overrides = std::vector<std::pair<std::string, std::string>>;

/// A file with those that it includes, and the file of the prelude.
struct Program {
  struct Import {
    std::string name;  // `lm`; empty for an inclusion
    std::string model; // the file's stem
    const ast::Statement *statement;
    std::unique_ptr<Program> program;
  };
  std::unique_ptr<ast::File> file;
  std::vector<Import> imports; // in the order of `use` statements
};

using StaticIndices = SmallVector<int64_t, 2>;

struct Family;

struct Symbol {
  enum Kind {
    Size,
    Number,
    Vocab,
    LengthFamily,
    Equations,
    Value,
    Let,
    Def,
    Import,
    Label
  } kind;
  SMLoc loc;
  Extent size = {};      // Size
  Term *value = nullptr; // Number, Value
  const Vocabulary *vocabulary = nullptr;
  Family *family = nullptr;                  // Equations (also data and params)
  const ast::Statement *statement = nullptr; // Let, Def
  unsigned component = 0;                    // Let of a tuple
  struct Scope *scope = nullptr;             // Import
  int64_t label = 0;
  std::vector<const ast::Statement *> lengths = {}; // LengthFamily
};

/// A module that was declared by `param`: a def with its own parameters.
struct Instance {
  const ast::Statement *def = nullptr;
  std::string path;
  SMLoc loc;
  llvm::StringMap<Symbol> sizes;          // of the def: a size, or a number
  llvm::StringMap<const Atom *> firstUse; // sizes that the first call binds
  SMLoc firstCall;
  bool returnsScalar = false; // linear(1)
  std::vector<const ast::Statement *> params;
  struct Scope *parameters = nullptr; // the def's own parameters, made once
};

struct Member {
  Array *array = nullptr;
  Instance *instance = nullptr;
};

/// The statements of one equation name, and what its axes are.
struct Family {
  std::string name;
  std::vector<const ast::Statement *> statements;
  std::vector<bool> isStatic;                  // per axis
  std::vector<std::optional<int64_t>> extents; // of static axes
  std::vector<SMLoc> extentLocs;
  SMLoc loc;
  std::map<StaticIndices, Member> members;
  bool isEquation = false;       // against a parameter or data
  std::vector<StringRef> labels; // of `p in {read, write}`
};

/// A namespace: the model, an import, or one call of a def.
struct Scope {
  Scope *parent = nullptr; // defs are looked up there
  std::string prefix;      // of names: "", "lm.", "layer.0."
  llvm::StringMap<Symbol> symbols;
  std::vector<std::string> order;     // of declaration
  Instance *instance = nullptr;       // inside a call of a module
  SmallVector<IndexVar *, 2> context; // of a call
  bool isCall = false;
  std::map<const ast::Statement *, SmallVector<Term *, 2>> lets;
  std::set<const ast::Statement *> letsInProgress;
};

/// The indices that a statement or a reduction binds, innermost last.
struct Bindings {
  const Bindings *outer = nullptr;
  StringRef name;
  IndexVar *var = nullptr;       // a free index, or
  std::optional<int64_t> number; // a static one
  bool onLeft = false;           // of the equation
};

class Elaborator {
public:
  Elaborator(Diagnostics &diagnostics, const Program &prelude,
             const Overrides &overrides, bool decoding)
      : diagnostics(diagnostics), prelude(prelude), overrides(overrides) {
    model = std::make_unique<Elaborated>();
    model->decoding = decoding;
  }

  /// The elaborated model; mistakes are reported, and what depends on them is
  /// left out.
  std::unique_ptr<Elaborated> run(const Program &program);

  /// Overrides that named nothing; filled by run.
  std::vector<std::string> unusedOverrides;

private:
  using Terms = SmallVector<Term *, 2>;
  using Statements = std::vector<const ast::Statement *>;

  // Declarations (Elaborate.cpp).
  Statements flatten(const Program &program);
  void declareAll(const Statements &statements, Scope &scope);
  void declareData(const ast::Statement &statement, Scope &scope);
  void declareParam(const ast::Statement &statement, Scope &scope);
  void declareEquations(const Statements &statements, Scope &scope);
  Member makeParam(const ast::Statement &statement, const std::string &path,
                   Scope &scope, const Bindings *bindings);
  void declareImport(const Program::Import &import, Scope &scope);
  Symbol *declare(Scope &scope, StringRef name, Symbol symbol);
  Symbol *lookup(Scope &scope, StringRef name);
  const std::string *overrideOf(const std::string &name);
  void readBlocks(const Statements &statements, Scope &scope);
  Instance *instantiate(const ast::Expr &call, const std::string &path,
                        Scope &scope, const Bindings *bindings);
  Vocabulary *makeVocabulary(const std::string &name, SMLoc loc,
                             const ast::Expr *call);

  // Static indices (StaticIndices.cpp).
  void findStaticIndices(const Statements &statements, Scope &scope);
  friend class StaticAnalysis;

  // Equations (ElaborateEquations.cpp).
  void elaborateAll(const Statements &statements, Scope &scope);
  void elaborateStatement(const ast::Statement &statement, Scope &scope);
  void elaborateAt(const ast::Statement &statement, Scope &scope,
                   const Bindings *statics);
  std::optional<std::string> placeKey(const ast::Left &left, Scope &scope,
                                      const Bindings *bindings);
  bool isCovered(const ast::Statement &statement, Scope &scope,
                 const Bindings *bindings);
  Array *memberArray(Family &family, const StaticIndices &at, Scope &scope);
  bool readPlace(const ast::Place &place, Scope &scope,
                 const Bindings *&scopeOf, PiecePlace &result,
                 const ast::Statement &statement);
  void addPiece(Array *array, Piece piece);
  void elaborateChoice(const ast::Statement &statement, Array *target,
                       SmallVector<PiecePlace, 2> places, Scope &scope,
                       const Bindings *bindings);

  // Expressions (ElaborateExpressions.cpp). Null after a mistake.
  Term *expression(const ast::Expr &expr, Scope &scope,
                   const Bindings *bindings);
  Terms tuple(const ast::Expr &expr, Scope &scope, const Bindings *bindings);
  Term *nameTerm(const ast::Expr &expr, Scope &scope, const Bindings *bindings);
  Term *indexTerm(const ast::Expr &expr, Scope &scope,
                  const Bindings *bindings);
  Term *memberTerm(const ast::Expr &expr, Scope &scope,
                   const Bindings *bindings);
  Term *reduceTerm(const ast::Expr &expr, Scope &scope,
                   const Bindings *bindings);
  Term *staticReduce(const ast::Expr &expr, unsigned binder, int64_t extent,
                     Scope &scope, const Bindings *bindings);
  Term *index(Term *base, ArrayRef<Term *> indices, SMLoc loc);
  std::optional<int64_t> staticValue(const ast::Expr &expr, Scope &scope,
                                     const Bindings *bindings);
  std::optional<Extent> size(const ast::Expr &expr, Scope &scope,
                             const Bindings *bindings, bool report = true);
  const Vocabulary *vocabularyOf(const ast::Expr &path, Scope &scope,
                                 const Bindings *bindings, bool report);
  /// What stands for a size of a def: a size, or a number such as a const.
  std::optional<Symbol> sizeArgument(const ast::Expr &expr, Scope &scope,
                                     const Bindings *bindings);
  std::optional<Extent> lengthAt(Symbol &symbol, int64_t index, Scope &scope,
                                 SMLoc loc);
  /// The scope and member that a path such as `lm.h[lm.L-1]` names.
  struct Path {
    Scope *scope = nullptr;
    Symbol *symbol = nullptr;
    Instance *instance = nullptr;
    SmallVector<const ast::Expr *, 2> indices; // not used up
  };
  bool resolvePath(const ast::Expr &expr, Scope &scope,
                   const Bindings *bindings, Path &path);
  bool resolveMember(Family &family, ArrayRef<const ast::Expr *> given,
                     Scope &scope, const Bindings *bindings, SMLoc loc,
                     Member &member, SmallVector<const ast::Expr *, 2> &rest);

  // Calls (ElaborateCalls.cpp).
  Terms call(const ast::Expr &expr, Scope &scope, const Bindings *bindings);
  Terms callDef(const ast::Statement &def, Instance *instance,
                ArrayRef<Term *> arguments,
                const llvm::StringMap<Symbol> &sizes, SMLoc loc,
                StringRef shownName);
  Terms builtin(const ast::Expr &expr, StringRef name, Scope &scope,
                const Bindings *bindings, bool &known);
  Term *dotTerm(Term *a, Term *b, SMLoc loc);
  Terms letTerms(Symbol &symbol, Scope &scope);
  bool usedByParameters(const Instance &instance, StringRef size);
  bool callable(const ast::Statement &def, SMLoc loc);

  // train and decode (ElaborateCalls.cpp).
  void readMark(const ast::Entry &entry, Scope &scope);
  void readTreatment(const ast::Statement &block, const ast::Entry &entry,
                     Scope &scope);
  void readSet(const ast::Entry &entry, Scope &scope);
  void elaborateMarks(Scope &scope);

  // Construction of terms.
  Term *make(TermKind kind, SMLoc loc, ArrayRef<Term *> args = {});
  Term *number(double value, SMLoc loc, bool isInteger);
  Term *sizeTerm(const Extent &extent, SMLoc loc);
  Term *map(Fn fn, ArrayRef<Term *> args, SMLoc loc);
  void computeFree(Term *term);
  Term *boundIndex(IndexVar *var, SMLoc loc);
  IndexVar *newIndex(StringRef name, SMLoc loc);

  void error(SMLoc loc, const std::string &text,
             std::vector<Diagnostics::Note> notes = {}) {
    diagnostics.error(loc, text, std::move(notes));
  }
  void undefined(StringRef name, SMLoc loc, Scope &scope,
                 const Bindings *bindings);

  Diagnostics &diagnostics;
  const Program &prelude;
  const Overrides &overrides;
  std::set<std::string> usedOverrides;
  std::unique_ptr<Elaborated> model;
  std::deque<Scope> scopes;
  std::deque<Family> families;
  std::deque<Instance> instances;
  std::deque<Bindings> bindingStorage;
  Scope *preludeScope = nullptr;
  int64_t nextOrdinal = 0;
  unsigned callDepth = 0;
  std::map<std::string, unsigned> callCounts;
  std::set<std::pair<const Scope *, std::string>> freshSizes;
  std::vector<const ast::Entry *> pendingMarks;
  std::set<std::string> treated; // random names with an estimator
  // Keys of the equations of the present scope without static indices.
  std::set<std::string> constantPlaces;
  // Extents of static indices, by the statement or binder that binds them.
  std::map<std::pair<const void *, std::string>, int64_t> staticExtents;
  std::map<const ast::Expr *, int64_t> dropoutOrdinals;
};

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_ELABORATE_H

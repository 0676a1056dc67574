//===- Elaborate.h - from syntax to terms ---------------------------------===//
//
// Names, static indices, defs, modules and imports are resolved here. The work
// is spread over
//   Elaborate.cpp          names of a scope, the whole model
//   ElaborateUses.cpp      `use`, what it replaces, `set` in decoding
//   ElaborateData.cpp      dims, constants, vocabularies, data
//   ElaborateParams.cpp    parameters, modules, families of both
//   StaticIndices.cpp      which indices are static, and their ranges
//   ElaborateEquations.cpp left sides; ElaborateChoices.cpp: of `~`
//   ElaborateExpressions.cpp, -Names, -Reductions, -Functions, -Calls, -Sizes:
//                          right sides
//   ElaborateBlocks.cpp    train { } and decode { }
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_FRONTENDS_FOV_ELABORATE_ELABORATE_H
#define FOVEA_FRONTENDS_FOV_ELABORATE_ELABORATE_H

#include "frontends/fov/Diagnostics.h"
#include "frontends/fov/ForeignWords.h"
#include "frontends/fov/elaborate/Terms.h"

#include "llvm/ADT/DenseMap.h"

#include <set>

namespace fovea::fov {

/// `--set K=V`, and what `decode { set K = V }` adds for decoding.
using Overrides = std::vector<std::pair<std::string, std::string>>;

/// A file with the files that it includes, and the file of the prelude.
struct Program {
  struct Import {
    std::string name;  // `lm`; empty for an inclusion
    std::string model; // the file's stem
    const ast::Statement *statement;
    std::unique_ptr<Program> program;
  };
  StringRef source;
  std::unique_ptr<ast::File> file;
  std::vector<Import> imports; // in the order of `use` statements
};

using StaticIndices = SmallVector<int64_t, 2>;

/// The maximum number of members of a family (docs/LANGUAGE.md).
constexpr int64_t maxMembers = 4096;
/// The maximum shift of an index: x[k + 3].
constexpr int64_t maxShift = 1 << 20;

struct Family;

struct Symbol {
  enum Kind {
    Unread,  // a declaration that is read when it is first needed
    Reading, // it is being read: whoever needs it now is defined by itself
    Mistake, // it was reported; nothing more is said about its uses
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
  const ast::Statement *statement = nullptr; // Let, Def, Unread, of a param
  unsigned component = 0;                    // Let of a tuple
  bool isBound = false;          // data, or its vocabulary, that `use` gives
  struct Scope *scope = nullptr; // Import
  int64_t label = 0;
  std::vector<const ast::Statement *> lengths = {}; // LengthFamily
};

/// A module declared by `param`: a def with its own parameters.
struct Instance {
  const ast::Statement *def = nullptr;
  std::string path;
  llvm::StringMap<Symbol> sizes;          // of the def: a size, or a number
  llvm::StringMap<const Atom *> firstUse; // sizes that the first call binds
  SMLoc firstCall;
  std::vector<const ast::Statement *> params;
  struct Scope *parameters = nullptr; // the def's own parameters, made once
  bool isState = false; // or of one: what declares it updates all of it
};

/// "cell(h[n], x[m])": the signature of a def.
std::string signatureOf(StringRef name, const ast::Statement &def);

/// "clamp(x, low, high)": the signature of a built-in function.
std::string formOf(StringRef function);

/// Returns whether a built-in function takes `count` values.
bool takesValues(StringRef function, size_t count);

/// The use of a name.
struct WordUse {
  WordPlace place = WordPlace::Value;
  std::optional<size_t> arguments = {}; // of a call
  StringRef written = {};               // where that is more than the name
};

struct Member {
  Array *array = nullptr;
  Instance *instance = nullptr;
};

/// The statements of one equation name, and what its axes are.
struct Family {
  std::string name;
  std::vector<const ast::Statement *> statements;
  std::vector<bool> isStatic;                 // per axis
  std::vector<std::optional<Extent>> extents; // of static axes
  /// The labels of the members along an axis, if they have any.
  std::map<unsigned, std::vector<std::string>> labels;
  SMLoc loc;
  std::map<StaticIndices, Member> members;
  bool isEquation = false; // against a parameter or data
  bool isData = false;
  /// The range of its members is an error, which is reported. Reads of members
  /// are no errors of their own.
  bool hasMistake = false;
};

/// A namespace: the model, an import, or one call of a def.
struct Scope {
  Scope *parent = nullptr; // defs are looked up there
  std::string prefix;      // of names: "", "lm.", "layer.0."
  llvm::StringMap<Symbol> symbols;
  Instance *instance = nullptr;       // inside a call of a module
  SmallVector<IndexVar *, 2> context; // of a call
  bool isCall = false;
  const ast::Statement *def = nullptr; // that is called, or instantiated
  std::map<const ast::Statement *, SmallVector<Term *, 2>> lets;
  std::set<const ast::Statement *> letsInProgress;
};

/// Returns whether a term has one value for all examples.
bool isConstant(const Term &term);

/// The value of a condition that is known before anything runs.
std::optional<bool> truth(const Term &condition);

/// The indices bound by a statement or a reduction, innermost last.
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
             const Overrides &overrides, size_t numGiven, bool decoding,
             const std::atomic<bool> *stop = nullptr)
      : diagnostics(diagnostics), prelude(prelude), overrides(overrides),
        numGiven(numGiven) {
    model = std::make_unique<Elaborated>();
    model->decoding = decoding;
    model->stop = stop;
  }

  /// Returns the elaborated model; reports errors and omits dependent
  /// parts.
  std::unique_ptr<Elaborated> run(const Program &program);

  /// After run: elaborates the equation `now` in place of `was`, whose left
  /// sides it has. False, and `model` is of no use any more, if more than this
  /// equation may change.
  bool elaborateAgain(std::unique_ptr<Elaborated> &model,
                      const ast::Statement &was, const ast::Statement &now);
  /// Where what an equation of the model made begins and ends in its lists.
  llvm::DenseMap<const ast::Statement *, std::pair<ModelPart, ModelPart>> made;

  /// The equations that `use` replaced: `'z' of soft.fov (line 3) by line 5`;
  /// filled by run.
  std::vector<std::string> replacements;

private:
  using Terms = SmallVector<Term *, 2>;
  using Statements = std::vector<const ast::Statement *>;

  // Names (Elaborate.cpp).
  Symbol *declare(Scope &scope, StringRef name, Symbol symbol);
  Symbol *lookup(Scope &scope, StringRef name);
  void registerNames(const Statements &statements, Scope &scope);
  void declareAll(const Statements &statements, Scope &scope);
  void declareEquations(const Statements &statements, Scope &scope);
  void declareModel(const Program &program, const Statements &statements,
                    Scope &scope);
  bool isNoise(const Choice &choice) const;
  void checkLatents();
  void checkGuide(const Choice &choice, const Choice &guide);
  void checkOverrides();
  std::string vocabularyMeantBy(StringRef key) const;
  void indexNamed(StringRef name, SMLoc loc, const Symbol &symbol, Scope &scope,
                  const Bindings *bindings);
  StringRef freeLetter(Scope &scope, const Bindings *bindings);

  // Undefined names (ElaborateUnknown.cpp).
  void undefined(StringRef name, SMLoc loc, Scope &scope,
                 const Bindings *bindings, WordUse use = {});
  std::string subscriptHelp(StringRef name, Scope &scope, const WordUse &use);
  bool isOfLibrary(const ast::Expr &expr, Scope &scope,
                   const Bindings *bindings, WordUse use = {});
  bool isForeignCall(const ast::Expr &expr, Scope &scope,
                     const Bindings *bindings);
  void noPart(const ast::Expr &expr, Scope &scope);

  // Inclusions and imports (ElaborateUses.cpp).
  Statements flatten(const Program &program);
  Statements withReplacements(const Program &program, const Statements &all);
  void warnOfSlips(const Program &program);
  /// The imports of a file and of the files that it includes.
  static void findImports(const Program &program,
                          SmallVector<const Program::Import *> &imports);
  void adoptVocabulary(const Program &program, const ast::Statement &data,
                       Scope &scope);
  void declareImport(const Program::Import &import, const Statements &ours,
                     Scope &scope);
  bool bindData(const Program::Import &import, const Statements &theirs,
                const ast::Item &binding, const Statements &statements,
                Scope &scope, Scope &own);
  bool bindVocabulary(const Array &ours, const ast::Statement &data,
                      const Statements &theirs, SMLoc loc, Scope &own);
  void checkBoundAxes(const Statements &theirs, const ast::Item &binding,
                      Scope &own);

  // Dims, constants, vocabularies, data (ElaborateData.cpp).
  const std::string *overrideOf(const std::string &name);
  void readName(const ast::Statement &statement, Symbol &symbol, Scope &scope);
  void readLength(const ast::Statement &statement, Symbol &symbol,
                  Scope &scope);
  void elaborateLength(const ast::Statement &statement, Scope &scope);
  void readDim(const ast::Statement &statement, Symbol &symbol, Scope &scope);
  void readConst(const ast::Statement &statement, Symbol &symbol, Scope &scope);
  void readData(const ast::Statement &statement, Symbol &symbol, Scope &scope,
                bool ownVocabulary = false);
  bool readDataAxis(const ast::Statement &statement, const ast::Axis &axis,
                    Array &array, Scope &scope);
  bool readDataType(const ast::Type &type, Array &array, Scope &scope,
                    bool ownVocabulary);
  // Loaders of data files (ElaborateLoaders.cpp).
  bool readLoader(const ast::Type &type, Array &array, Scope &scope);
  bool readLoaderNumbers(const ast::Item &item, FileLoader &loader,
                         const std::string &name, Scope &scope);
  Vocabulary *makeVocabulary(const std::string &name, SMLoc loc,
                             const ast::Expr *call, Scope &scope);
  std::optional<int64_t> symbolCount(const std::string &name,
                                     const ast::Expr *call, Scope &scope);

  // Parameters and modules (ElaborateParams.cpp).
  void declareParam(const ast::Statement &statement, Scope &scope);
  /// Marks the arrays of a state, below `path`, and sets what they begin with.
  void beginState(const ast::Statement &statement, ArrayRef<Array *> arrays,
                  StringRef path, Scope &scope, const Bindings *bindings);
  std::string beginningOf(const ast::Statement &statement, Array *array,
                          StringRef path, Scope &scope,
                          const Bindings *bindings);
  std::vector<std::string> membersOf(const ast::Axis &axis, Family &family,
                                     Scope &scope);
  Member makeParam(const ast::Statement &statement, const std::string &path,
                   Scope &scope, const Bindings *bindings);
  Instance *instantiate(const ast::Expr &call, const std::string &path,
                        Scope &scope, const Bindings *bindings);
  bool bindSizes(const ast::Statement &def, StringRef name,
                 ArrayRef<ast::Item> given, SMLoc loc, Scope &scope,
                 const Bindings *bindings, llvm::StringMap<Symbol> &sizes);
  bool areSizes(const ast::Statement &def, StringRef name,
                ArrayRef<ast::Item> given,
                const llvm::StringMap<Symbol> &sizes);

  // Static indices (StaticIndices.cpp).
  void findStaticIndices(const Statements &statements, Scope &scope);
  friend class StaticAnalysis;

  // Equations (ElaborateEquations.cpp).
  void elaborateAll(const Statements &statements, Scope &scope);
  void elaborateStatement(const ast::Statement &statement, Scope &scope);
  void elaborateAt(const ast::Statement &statement, Scope &scope,
                   const Bindings *statics);
  void elaborateUpdate(const ast::Statement &statement, Scope &scope,
                       const Bindings *bindings);
  Member namedMember(const ast::Left &left, Symbol &symbol, Scope &scope,
                     const Bindings *bindings);
  void updateModule(const Instance &module, const ast::Statement &statement,
                    Scope &scope, const Bindings *bindings);
  void addUpdate(Array &state, SmallVector<PiecePlace, 2> places, Term *value,
                 SMLoc loc, Scope &scope);
  Array *nextValue(std::string name, SmallVector<PiecePlace, 2> places,
                   Term *value, SMLoc loc);
  void joinUpdates();
  std::optional<std::string> placeKey(const ast::Left &left, Scope &scope,
                                      const Bindings *bindings);
  bool isCovered(const ast::Statement &statement, Scope &scope,
                 const Bindings *bindings);
  Array *memberArray(Family &family, const StaticIndices &at, Scope &scope);
  Array *readLeft(const ast::Left &left, Scope &scope,
                  const Bindings *&bindings,
                  SmallVector<PiecePlace, 2> &places);
  bool readPlace(const ast::Left &left, const ast::Place &place, Scope &scope,
                 const Bindings *&bindings, PiecePlace &result);
  bool isNew(Array *array, ArrayRef<PiecePlace> places, SMLoc loc,
             bool guide = false);
  void addPiece(Array *array, Piece piece);
  bool spread(const ast::Statement &statement, Terms &values);

  // Choices (ElaborateChoices.cpp).
  bool bindSupport(const ast::Expr &right, Scope &scope,
                   const Bindings *&bindings, SmallVector<IndexVar *, 1> &vars);
  bool readParameters(const ast::Expr &right, StringRef distribution,
                      ArrayRef<StringRef> names,
                      SmallVector<IndexVar *, 1> vars, Scope &scope,
                      const Bindings *bindings, Choice &choice);
  void lookAhead(Choice &choice);
  void elaborateGenerated(const ast::Statement &statement, Choice choice,
                          Scope &scope, const Bindings *bindings);
  void elaborateChoice(const ast::Statement &statement, Array *target,
                       SmallVector<PiecePlace, 2> places, Scope &scope,
                       const Bindings *bindings);

  // Expressions (ElaborateExpressions.cpp). Null after a mistake.
  Term *expression(const ast::Expr &expr, Scope &scope,
                   const Bindings *bindings);
  Terms tuple(const ast::Expr &expr, Scope &scope, const Bindings *bindings);
  Term *partOf(const Instance &module, SMLoc loc);
  Term *nameTerm(const ast::Expr &expr, Scope &scope, const Bindings *bindings);
  Array *updateNumber();
  Term *indexTerm(const ast::Expr &expr, Scope &scope,
                  const Bindings *bindings);
  Term *memberTerm(const ast::Expr &expr, Scope &scope,
                   const Bindings *bindings);
  Term *reduceTerm(const ast::Expr &expr, Scope &scope,
                   const Bindings *bindings);
  bool stateExtent(IndexVar *var, const ast::Binder &binder, Scope &scope,
                   const Bindings *bindings);
  bool stateParent(IndexVar *var, const ast::Expr &bound, Scope &scope,
                   const Bindings *bindings);
  /// The members that a reduction goes over.
  struct Members {
    SmallVector<int64_t, 4> places;
    Terms values;
    Terms conditions; // null: always
  };
  bool expandMembers(const ast::Expr &expr, int64_t extent, Scope &scope,
                     const Bindings *bindings, Members &members);
  Term *staticReduce(const ast::Expr &expr, const Extent &extent, Scope &scope,
                     const Bindings *bindings);
  Term *reduceVector(const ast::Expr &expr, const Extent &extent,
                     const Members &members);
  Term *componentOf(const ast::Expr &expr, const Extent &extent,
                    const Bindings &bound, Scope &scope,
                    const Bindings *bindings);
  bool bindReduction(const ast::Expr &expr, bool normalises, Scope &scope,
                     const Bindings *&bindings,
                     SmallVector<IndexVar *, 1> &vars,
                     SmallVector<Term *, 2> &components);
  bool isBoundTwice(const ast::Expr &expr, const ast::Binder &binder,
                    Scope &scope, const Bindings *bindings);
  bool checkUse(const ast::Expr &expr, const IndexVar &var, const Term &body,
                const Term *condition);
  Term *index(Term *base, ArrayRef<Term *> indices, SMLoc loc);
  std::optional<int64_t> staticValue(const ast::Expr &expr, Scope &scope,
                                     const Bindings *bindings);
  std::optional<Extent> size(const ast::Expr &expr, Scope &scope,
                             const Bindings *bindings, bool report = true);
  const Atom *vocabularyOfArgument(const ast::Expr &expr, Scope &scope);
  std::optional<Extent> rawSize(const ast::Expr &expr, Scope &scope,
                                const Bindings *bindings, bool report);
  std::optional<Extent> namedSize(const ast::Expr &expr, Scope &scope,
                                  const Bindings *bindings, bool report);
  std::optional<Extent> indexedSize(const ast::Expr &expr, Scope &scope,
                                    const Bindings *bindings, bool report);
  const Vocabulary *vocabularyOf(const ast::Expr &path, Scope &scope,
                                 const Bindings *bindings, bool report);
  /// A value for a size of a def: a size, or a number such as a const.
  std::optional<Symbol> sizeArgument(const ast::Expr &expr, Scope &scope,
                                     const Bindings *bindings);
  std::optional<Extent> lengthAt(Symbol &symbol, int64_t index, Scope &scope,
                                 SMLoc loc);
  /// The scope and member that a path such as `lm.h[lm.L-1]` names.
  struct Path {
    Scope *scope = nullptr;
    Symbol *symbol = nullptr;
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
                const llvm::StringMap<Symbol> &sizes, const ast::Expr &expr,
                StringRef shownName);
  Symbol *knownDef(const ast::Expr &callee, Scope &scope,
                   const Bindings *bindings);
  Terms letTerms(Symbol &symbol, Scope &scope);
  bool usedByParameters(const Instance &instance, StringRef size);
  bool callable(const ast::Statement &def, SMLoc loc);

  // Built-in functions that are not defs (ElaborateFunctions.cpp).
  Terms builtin(const ast::Expr &expr, StringRef name, Scope &scope,
                const Bindings *bindings);
  Terms cutTerms(const ast::Expr &expr, Term *whole, Scope &scope,
                 const Bindings *bindings);
  bool readSizes(ArrayRef<ast::Item> items, Shape &sizes, Scope &scope,
                 const Bindings *bindings);

  // train and decode (ElaborateBlocks.cpp).
  void readBlocks(const Statements &statements, Scope &scope);
  void readOption(const ast::Statement &block, const ast::Entry &entry,
                  Scope &scope);
  void readSet(const ast::Entry &entry, Scope &scope);
  void elaborateMarks(Scope &scope);

  // The treatment of choices (ElaborateTreatments.cpp).
  struct Treatment {
    Symbol *symbol;
    StringRef name;
    SMLoc loc;
    bool isTraining;
    StringRef kind;
    const ast::Expr *value;
  };
  void readTreatment(const ast::Statement &block, const ast::Entry &entry,
                     Scope &scope);
  SmallVector<Choice *, 1> choicesOf(const Symbol &symbol);
  void readCredit(const ast::Expr &value, LatentTreatment &result);
  void readReward(const ast::Expr &value, Scope &scope,
                  LatentTreatment &result);
  void readBaselineWord(const ast::Expr &value, LatentTreatment &result);
  void elaboratePolicy(const Treatment &treatment, Scope &scope,
                       Choice &choice);
  void readProposal(const ast::Expr &value, LatentTreatment &result);
  void readBaseline(const ast::Expr &value, Scope &scope,
                    LatentTreatment &result);
  void readWeight(const ast::Expr &value, Scope &scope, Choice &choice);
  void readArguments(const Treatment &treatment, Scope &scope,
                     LatentTreatment &result);
  void elaborateTreatments(Scope &scope);
  Term *parameterByPlace(const Choice &of, ArrayRef<Choice> others,
                         StringRef wanted, ArrayRef<IndexVar *> vars);
  void joinPlaces();
  void refuse(const std::string &refusal);

  // Construction of terms.
  Term *make(TermKind kind, SMLoc loc, ArrayRef<Term *> args = {});
  Term *nameless(Term *value);
  Term *number(double value, SMLoc loc, bool isInteger);
  Term *sizeTerm(const Extent &extent, SMLoc loc);
  Term *map(Fn fn, ArrayRef<Term *> args, SMLoc loc);
  Term *boundIndex(IndexVar *var, SMLoc loc);
  IndexVar *newIndex(StringRef name, SMLoc loc);

  /// A second error at a place comes from another member of a family.
  void error(Code code, SMLoc loc, const std::string &text,
             std::vector<Diagnostics::Note> notes = {});
  bool isInPrelude(SMLoc loc) const;

  /// Reports once that expanding the model would take too much memory, and
  /// returns true from then on.
  bool isTooMuch(SMLoc loc);
  /// Reports that calls and expressions are nested too deeply here.
  bool isTooDeep(SMLoc loc);

  Diagnostics &diagnostics;
  std::set<const char *> reported;
  /// Names that were reported as undefined: once per scope.
  std::set<std::pair<const Scope *, std::string>> missing;
  const Program &prelude;
  const Overrides &overrides;
  /// The first ones are the user's; the spec need not have the others.
  size_t numGiven;
  std::set<std::string> keys; // that --set may name
  std::unique_ptr<Elaborated> model;
  std::deque<Scope> scopes;
  std::deque<Family> families;
  std::deque<Instance> instances;
  std::deque<Bindings> bindingStorage;
  Scope *preludeScope = nullptr, *topScope = nullptr;
  /// The prelude defs being expanded, and their call places.
  SmallVector<std::pair<SMLoc, const ast::Statement *>, 2> preludeCalls;
  int64_t nextOrdinal = 0;
  struct Root {
    SMLoc loc;
    std::string text;
  } root;             // the parameter of the model that is being declared
  unsigned depth = 0; // of expressions, through calls
  bool isFull = false;
  struct LengthValue {
    std::optional<Extent> value;
    bool isBusy = false;
  };
  std::map<std::pair<const Symbol *, int64_t>, LengthValue> lengthValues;
  /// Normalisers over members, by their place, scope and bindings.
  std::map<std::vector<std::pair<const void *, int64_t>>, Term *> normalisers;
  std::map<std::string, unsigned> callCounts;
  std::set<std::pair<const Scope *, std::string>> freshSizes;
  std::map<StringRef, const ast::Entry *> pendingMarks;
  /// In an update of a module: its array that is updated, and the rest of its
  /// name after the module's, `.cell.weight`. Names of modules mean their
  /// arrays with the same rest.
  struct Part {
    Array *state;
    std::string suffix;
  };
  std::optional<Part> partOfModules;
  /// What the calls of a module make of a state of its own.
  struct CallUpdate {
    const Scope *call;
    Array *value;
    SMLoc loc;
  };
  std::map<const Array *, SmallVector<CallUpdate, 1>> callUpdates;
  std::set<std::string> treated; // random names with an estimator
  /// The choice whose treatment is being elaborated, and the treatment's text.
  const Choice *underTreatment = nullptr;
  const ast::Expr *treatmentValue = nullptr;
  std::vector<Treatment> treatments;
  /// What `set` of decode { } replaces, except lengths.
  std::vector<const ast::Entry *> replacedInDecoding;
  // Keys of the equations of the current scope without static indices.
  std::set<std::string> constantPlaces;
  /// The places of each array, as text, to detect duplicates.
  std::map<std::pair<const Array *, std::string>, SMLoc> given;
  // Extents of static indices, by the statement or binder that binds them.
  std::map<std::pair<const void *, std::string>, Extent> staticExtents;
};

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_ELABORATE_ELABORATE_H

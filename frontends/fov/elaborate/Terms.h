//===- Terms.h - an elaborated model --------------------------------------===//
//
// The output of elaboration: names are resolved, calls of defs are inlined,
// static indices are expanded, and every right side is a graph of Terms over
// index variables. Infer.cpp then finds ranges, shapes and kinds, Bounds.cpp
// proves the reads, and Lower.cpp emits the attn dialect.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_FRONTENDS_FOV_ELABORATE_TERMS_H
#define FOVEA_FRONTENDS_FOV_ELABORATE_TERMS_H

#include "frontends/fov/FileLoader.h"
#include "frontends/fov/elaborate/Extent.h"
#include "frontends/fov/syntax/Ast.h"
#include "llvm/ADT/StringMap.h"

#include <atomic>
#include <deque>

namespace fovea::fov {

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SMLoc;
using llvm::StringRef;

struct Array;
struct Term;

enum class Kind { Bit, Int, Real, Token };

/// The symbols of some data's tokens. Classes are one too.
struct Vocabulary {
  std::string name; // `tgt`, `joint`, `lm.word`
  Extent size;
  SMLoc loc;
  std::vector<std::string> labels; // of class("a", "b")
  std::string kind = "words";      // words, chars, ..
  int64_t limit = 0;               // the most symbols; 0: any number
  std::string file;                // of sentencepiece, tokeniser
  bool isClass = false;
  bool isAssumed = false; // nothing has fixed the size yet

  /// Returns whether both have the same symbols.
  bool hasSame(const Vocabulary &other) const;
};

/// GRAMMAR 8.18, for data that the message calls `aName` and `bName`.
std::string differenceOf(const Vocabulary &a, StringRef aName,
                         const Vocabulary &b, StringRef bName);

/// An index of an equation or of a reduction.
struct IndexVar {
  std::string name;
  SMLoc loc;
  std::optional<Extent> extent;
  SMLoc originLoc;              // what gave the extent
  std::string origin;           // as the messages say it: `src[i]`
  int strength = 0;             // GRAMMAR 4: 1 stated .. 5 demanded; 0 none yet
  const Array *giver = nullptr; // whose axis gave the extent; null: no array
  unsigned giverAxis = 0;
  bool isDemanded = false;  // a reader gave the extent, here or there
  IndexVar *like = nullptr; // has the extent of this one
  int64_t lower = 0; // first value; a place inside the range covers below
  Term *parentIndex = nullptr; // of a nested extent W[m]: m
};

enum class TermKind {
  Number,   // number (isInteger), or a token such as "<s>"
  Index,    // index as a number
  Size,     // extent as a number; args[0]: the parent's index of a nested one
  Read,     // array at args.. (the first axes); fallback: what `??` gives
  Select,   // args[0] at args[1..]
  Map,      // fn of args, elementwise
  If,       // args[0] ? args[1] : args[2]
  Reduce,   // reducer over vars where condition of args[0]
  Stack,    // args[0] with vars as first axes
  Join,     // args.. along the last axis; isMembers: as rows of a new first one
  Contract, // args[0] @ args[1]: last axis of the first, first of the second
  OverAxis, // reduction of the last axis of args[0]: softmax(v)
  Fold,     // the first axis of args[0] as `sizes`, then what remains of it
  Flatten,  // the first vars.size() + 1 axes of the stack args[0] as one
  Slice,    // the elements from `offset` of the vector args[0], as `sizes`
  Onehot,   // the indicator vector of the token args[0]
  Fill,     // number everywhere over `sizes`
  Vector,   // args[0]; a number becomes a vector of one
  Dropout,  // args[0] with the rate args[1]
  Grad,     // the derivative of the number args[0] by args[1], all else fixed
  GradOver, // the same over the free indices of args[1], an array of them
};

enum class Fn {
  Add,
  Sub,
  Mul,
  Div,
  FloorDiv,
  Mod,
  Pow,
  Negate,
  And,
  Or,
  Not,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Equal,
  NotEqual,
  Min,
  Max,
  Tanh,
  Sigmoid,
  Exp,
  Log,
  Sqrt,
  Abs,
  Sin,
  Cos,
  Relu,
  Softplus,
  Erf,
  Round,
  Floor,
  ToInt,
  Stop,
};

/// The names of the language's scalar functions of one argument.
std::optional<Fn> unaryFunction(StringRef name);
StringRef fnName(Fn fn);

enum class Reduction {
  Sum,
  Prod,
  Mean,
  Max,
  Min,
  Argmax,
  Argmin,
  Any,
  All,
  Logsumexp,
  Softmax,
  LogSoftmax,
  Cumsum
};
inline bool isNormaliser(Reduction r) { return r >= Reduction::Softmax; }
std::optional<Reduction> reductionNamed(StringRef name);
StringRef reductionName(Reduction reduction);

/// Conditions, each with whether it holds.
using Conditions = std::vector<std::pair<Term *, bool>>;

struct Term {
  TermKind kind;
  SMLoc loc;
  llvm::SMRange range; // as it is written, for messages; may be empty
  SmallVector<Term *, 2> args;

  double number = 0;
  bool isInteger = false;
  bool isSymbol = false;  // a token given as text
  bool isDot = false;     // Contract: of two vectors
  bool isMembers = false; // Join
  IndexVar *index = nullptr;
  Extent extent; // Size; Join: the number of args, if it has a name
  Array *array = nullptr;
  Term *fallback = nullptr;
  Fn fn = Fn::Add;
  Reduction reduction = Reduction::Sum;
  SmallVector<IndexVar *, 1> vars;
  Term *condition = nullptr;
  Shape sizes;
  Extent offset;
  int64_t ordinal = 0; // Dropout

  /// The index variables that it depends on, in order of appearance.
  SmallVector<IndexVar *, 2> free;
  /// The size as a tree: a shared part counts at each occurrence.
  unsigned height = 1, weight = 1;

  // Found by Infer.cpp.
  std::optional<Shape> shape;
  std::optional<Kind> kindOf;
  const Vocabulary *vocabulary = nullptr; // of tokens
  const Array *positionOf = nullptr;      // of position(p)
};

/// One place on the left of a piece: an index (plus shift), or a constant.
struct PiecePlace {
  IndexVar *var = nullptr;
  int64_t shift = 0; // of x[k+1] = ..
  Extent constant;
  SMLoc loc;
};

/// `h[0,-1,*]`: the places of a piece; equal for those of the same places. In
/// messages indices have their names.
std::string placesText(ArrayRef<PiecePlace> places, bool forMessage);

/// One equation of a name.
struct Piece {
  SmallVector<PiecePlace, 2> places;
  Term *value = nullptr;
  SMLoc loc;
  bool isGeneral() const {
    return llvm::all_of(places, [](const PiecePlace &p) { return p.var; });
  }
};

/// Returns a term as an index plus a number, if it has this form: `i`, `i - 2`.
std::optional<std::pair<IndexVar *, int64_t>> affineIndex(const Term &term);

struct Array {
  enum Source { Equation, Data, Param } source;
  std::string name; // a path for a parameter, `h.0` for a member
  std::string text; // as messages show it: `h[0]`
  SMLoc loc;
  SMLoc firstRead;
  unsigned numPlaces = 0; // index axes
  bool isOfCall = true;   // of an equation: no name of the model itself
  SmallVector<IndexVar *, 2> context; // of an equation inside a called def
  std::vector<Piece> pieces;

  // Data.
  Shape extents;           // index axes
  bool isSentence = false; // <s> stands at -1, </s> ends it
  bool ends = false;       // position(p) ends
  bool generated = false;  // has a choice: `name ~ ..`
  bool continued = false;  // its rows are given in decoding, the next generated
  bool latent = false;
  FileLoader loader;

  // Param: the shape as declared, over sizes that a call may still bind; and
  // what the model declares it by: `cell.2` of `cell.2.weight`; empty when it
  // belongs to an import.
  Shape declared;
  std::string root;
  /// What `fovea init` starts it with: `linear:weight`, `= 0`, `as PATH`.
  std::string initial;
  bool isState = false;    // updates change it, and not its gradient
  bool isOfModule = false; // a state that the calls of its module update

  // Found by Infer.cpp; declared for data and parameters.
  std::optional<Shape> valueShape;
  std::optional<Kind> kind;
  const Vocabulary *vocabulary = nullptr;
  const Array *positionOf = nullptr;

  /// What holds wherever the equations of a called def are read; found by
  /// Guards.cpp.
  Conditions guards;

  const Piece *general() const {
    for (const Piece &piece : pieces)
      if (piece.isGeneral())
        return &piece;
    return nullptr;
  }
  /// The shift of the general equation along axis k: 1 for x[k+1] = ..
  int64_t shift(unsigned k) const {
    const Piece *piece = general();
    return piece && k < piece->places.size() ? piece->places[k].shift : 0;
  }
  /// Extent of axis k (index axes, then value axes); empty while unknown.
  std::optional<Extent> axis(unsigned k) const;
  /// All axes, if they are known.
  std::optional<Shape> shape() const;
};

StringRef kindName(Kind kind);
/// `sentence`, as the declaration of data says it.
StringRef typeName(const Array &data);

/// `reinforce(entropy = 0.1)` of train { }, `mode` of decode { }.
struct LatentTreatment {
  std::string kind;
  /// The given arguments; `baseline`: of a moving average.
  std::map<std::string, double> numbers;
  Term *reward = nullptr, *baseline = nullptr;
  /// The arguments given by an equation, such as a schedule.
  std::map<std::string, Term *> schedules;
  /// Its arguments that are words.
  std::map<std::string, std::string> words;
};

/// `name[..] ~ distribution(..)`.
struct Choice {
  Array *target;
  SmallVector<PiecePlace, 2> places;
  std::string distribution;
  std::vector<std::pair<std::string, Term *>> parameters;
  SMLoc loc;
  bool guide = false;
  bool latent = false;
  bool isCertain = false; // `generate` of decode { }: of one value
  std::optional<LatentTreatment> treatment; // of a latent
  Term *weight = nullptr;                   // of one that is observed
  // Of later places of data, word[t+1] ~ ..: the value there, and 1 where there
  // is one. It is for training alone.
  Term *ahead = nullptr, *isThere = nullptr;
};

/// `update code = ..`: the array of its new values.
struct Update {
  Array *state;
  Array *value;
  SMLoc loc;
  bool isOnce = false; // no example changes the value
};

/// `stop[t] = ..` and others of decode { }: equations that steer the search.
struct Mark {
  std::string name;
  Term *value;
  SmallVector<IndexVar *, 2> indices;
};

/// An index at an axis, for the range rules.
struct IndexUse {
  IndexVar *var;
  int64_t shift; // var + shift
  Term *read;    // Read or Select
  unsigned axis; // of the array (Read) or of args[0]'s shape (Select)
  SMLoc loc;
};

/// A size that a call binds: axis k of `term` is `size`.
struct SizeBinding {
  Term *term;
  SmallVector<Extent, 2> sizes;
  SMLoc loc;
  std::string callee; // the instance or def, for messages
  SMLoc calleeLoc;
  const ast::Statement *def = nullptr; // of a call: which argument it is
  size_t argument = 0;
};

/// One reading of a file: for training or for decoding.
struct Elaborated {
  std::string name;
  bool decoding = false;
  Sizes sizes;
  std::deque<Term> terms;
  std::deque<IndexVar> indices;
  std::deque<Array> storage;
  std::deque<Vocabulary> vocabularies;
  std::vector<Array *> arrays; // equations, in the order of the file
  std::vector<Array *> data;
  std::vector<Array *> params;
  Array *updateNumber = nullptr; // null: no equation reads it
  std::vector<Choice> choices;
  std::vector<std::pair<Term *, SMLoc>> penalties;
  std::vector<Update> updates;
  std::vector<IndexUse> uses;
  std::vector<SizeBinding> bindings;
  /// Open sizes that are the number of symbols of a token.
  std::vector<std::pair<const Atom *, Term *>> vocabularyBindings;
  /// The solutions that the first call bound; found by Infer.cpp.
  std::map<const Atom *, const Vocabulary *> vocabularyOf;
  std::vector<Mark> marks;
  /// The reads that are inside only under conditions, and which ones they need;
  /// found by Bounds.cpp.
  std::map<const Term *, Conditions> guards;
  /// The equations of lengths that follow from values.
  std::map<const Atom *, Array *, AtomLess> lengthValues;
  /// Lengths fixed by `decode { set T = .. }`, and where.
  std::vector<std::pair<const Atom *, std::pair<Extent, SMLoc>>> setLengths;
  std::vector<std::string> refusals; // why it cannot be executed yet
  bool isLowered = true;             // what is refused has a meaning in the IR
  bool hasGuesses = false;           // inference filled gaps by its last rules
  /// Becomes true when no one needs the model any more; null: never.
  const std::atomic<bool> *stop = nullptr;

  /// Every loop over a model asks this: then what it finds does not matter.
  bool isStopped() const {
    return stop && stop->load(std::memory_order_relaxed);
  }
};

/// All of a model, or what an edit has added: what follows these positions in
/// its lists, and the equations of `only`.
struct ModelPart {
  size_t terms = 0, indices = 0, storage = 0, uses = 0, bindings = 0,
         vocabularies = 0;
  const std::vector<Array *> *only = nullptr;

  bool isAll() const { return !only; }
  const std::vector<Array *> &arraysOf(const Elaborated &model) const {
    return only ? *only : model.arrays;
  }
  /// The part that begins where the lists of a model end now.
  static ModelPart after(const Elaborated &model) {
    return {model.terms.size(),    model.indices.size(),
            model.storage.size(),  model.uses.size(),
            model.bindings.size(), model.vocabularyBindings.size()};
  }
};

/// Finds what a term depends on from its parts: `free`, `height` and `weight`.
void findFree(Term &term);

/// A new term: the value of an index.
Term *indexTerm(Elaborated &model, IndexVar *var, SMLoc loc);

/// Calls `visit` with a term and its parts, each once. A `stop` hides its parts
/// unless `throughStops`.
void forEachPart(const Term *root, llvm::function_ref<void(const Term *)> visit,
                 bool throughStops = true);

/// The spelling of a term, for messages.
std::string termText(const Term &term);

/// The number of places along the axis of a use; nothing while it is
/// unknown.
std::optional<Extent> extentOf(const IndexUse &use);

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_ELABORATE_TERMS_H

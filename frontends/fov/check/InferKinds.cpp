//===- InferKinds.cpp - bit, int, real, token -----------------------------===//
//
// The least solution with bit < int < real: int or bit combined with real
// becomes real. Tokens combine with nothing; Check.cpp reports violations.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/check/Infer.h"

#include <deque>

using namespace fovea;
using namespace fovea::fov;

static std::optional<Kind> join(std::optional<Kind> a, std::optional<Kind> b) {
  if (!a || !b)
    return a ? a : b;
  if (*a == Kind::Token || *b == Kind::Token)
    return Kind::Token;
  return std::max(*a, *b);
}

static std::optional<Kind> kindOf(const Term &term) {
  auto arg = [&](unsigned k) { return term.args[k]->kindOf; };
  switch (term.kind) {
  case TermKind::Number:
    if (term.kindOf == Kind::Bit)
      return Kind::Bit;
    return term.isSymbol    ? Kind::Token
           : term.isInteger ? Kind::Int
                            : Kind::Real;
  case TermKind::Index:
  case TermKind::Size:
  case TermKind::Fill:
    return Kind::Int;
  case TermKind::Read:
    return term.array->kind;
  case TermKind::Map:
    switch (term.fn) {
    case Fn::And:
    case Fn::Or:
    case Fn::Not:
    case Fn::Less:
    case Fn::LessEqual:
    case Fn::Greater:
    case Fn::GreaterEqual:
    case Fn::Equal:
    case Fn::NotEqual:
      return Kind::Bit;
    case Fn::ToInt:
      return Kind::Int;
    case Fn::Add:
    case Fn::Sub:
    case Fn::Mul:
    case Fn::FloorDiv:
    case Fn::Mod:
    case Fn::Min:
    case Fn::Max:
    case Fn::Negate:
    case Fn::Abs:
    case Fn::Stop:
    case Fn::Pow: {
      std::optional<Kind> all;
      for (const Term *part : term.args)
        all = join(all, part->kindOf);
      if (all == Kind::Bit)
        all = Kind::Int;
      if (term.fn == Fn::Pow && all == Kind::Int)
        all = Kind::Real;
      return all;
    }
    default:
      return Kind::Real;
    }
  case TermKind::If:
    return join(arg(1), arg(2));
  case TermKind::Reduce:
  case TermKind::OverAxis:
    switch (term.reduction) {
    case Reduction::Argmax:
    case Reduction::Argmin:
      return Kind::Int;
    case Reduction::Any:
    case Reduction::All:
      return Kind::Bit;
    case Reduction::Sum:
    case Reduction::Prod:
    case Reduction::Cumsum:
    case Reduction::Max:
    case Reduction::Min:
      return arg(0) == Kind::Bit ? Kind::Int : arg(0);
    default:
      return Kind::Real;
    }
  case TermKind::Join: {
    std::optional<Kind> all;
    for (const Term *part : term.args)
      all = join(all, part->kindOf);
    return all;
  }
  case TermKind::Contract:
    return Kind::Real;
  case TermKind::Onehot:
    return Kind::Int;
  case TermKind::Dropout:
  case TermKind::Grad:
  case TermKind::GradOver:
    return Kind::Real;
  default:
    return arg(0);
  }
}

void fovea::fov::inferKinds(Elaborated &model, const ModelPart &part,
                            const llvm::DenseSet<const Array *> *unknown) {
  llvm::DenseMap<const void *, SmallVector<Term *, 2>> readers;
  llvm::DenseMap<const Term *, SmallVector<Array *, 1>> givers;
  std::deque<Term *> work;
  const std::vector<Array *> &arrays = part.arraysOf(model);
  auto terms = llvm::drop_begin(model.terms, part.terms);
  readers.reserve(model.terms.size() - part.terms + arrays.size());
  for (Term &term : terms) {
    work.push_back(&term);
    for (Term *arg : term.args)
      readers[arg].push_back(&term);
    if (term.fallback)
      readers[term.fallback].push_back(&term);
    if (term.array)
      readers[term.array].push_back(&term);
  }
  for (Array *array : arrays)
    for (const Piece &piece : array->pieces)
      if (piece.value) {
        givers[piece.value].push_back(array);
        // `true` is known to be a bit from the start.
        array->kind = join(array->kind, piece.value->kindOf);
      }
  // A kind rises at most three times, so this terminates.
  while (!work.empty()) {
    Term *term = work.front();
    work.pop_front();
    bool isUnknown = unknown && term->kind == TermKind::Read &&
                     unknown->contains(term->array);
    std::optional<Kind> kind =
        isUnknown ? term->kindOf : join(term->kindOf, kindOf(*term));
    if (term->fallback)
      kind = join(kind, term->fallback->kindOf);
    if (kind == term->kindOf)
      continue;
    term->kindOf = kind;
    auto lookAtReaders = [&](const void *read) {
      if (auto it = readers.find(read); it != readers.end())
        llvm::append_range(work, it->second);
    };
    lookAtReaders(term);
    auto given = givers.find(term);
    if (given == givers.end())
      continue;
    for (Array *array : given->second) {
      array->kind = join(array->kind, kind);
      lookAtReaders(array);
    }
  }
  if (unknown)
    return;
  for (Array *array : arrays)
    if (!array->kind)
      array->kind = Kind::Real;
  for (Term &term : terms)
    if (!term.kindOf)
      term.kindOf = Kind::Real;
}

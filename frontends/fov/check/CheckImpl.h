//===- CheckImpl.h - the checks of an inferred model ----------------------===//
//
// Private to Check.cpp (names, ranges, choices) and CheckTerms.cpp (right
// sides, calls). Each mistake causes one error. Terms that depend on a reported
// one are skipped. So is a second error at the same place, which comes from
// another member of a family.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_FRONTENDS_FOV_CHECK_CHECKIMPL_H
#define FOVEA_FRONTENDS_FOV_CHECK_CHECKIMPL_H

#include "frontends/fov/check/Check.h"
#include "frontends/fov/check/Infer.h"

#include <set>

namespace fovea::fov {

class Checker {
public:
  Checker(Elaborated &model, const ModelPart &part, Diagnostics &diagnostics)
      : model(model), part(part), diagnostics(diagnostics) {}

  bool run();

private:
  using Notes = std::vector<Diagnostics::Note>;

  void error(Code code, SMLoc loc, const std::string &text, Notes notes = {});

  // Check.cpp.
  void others();
  void unread();
  void params();
  void ranges();
  void disagreements();
  void checkExtent(const Extent &extent, SMLoc loc, const std::string &what);
  void extents();
  void elements();
  void pieces(Array &array);
  void shiftedPieces(const Array &array);
  void checkPiece(Array &array, const Piece &piece);
  bool memberShapes(Array &array, const Piece &piece);
  void choices();
  void checkChoice(const Choice &choice);
  void checkTreatment(const Choice &choice);
  void guideFromTheStart(const Choice &guide);
  void checkMixture(const Choice &choice);
  void marks();
  void unknowns();

  /// Open sizes equal every other size; they are reported last.
  static bool sameShape(const Shape &a, const Shape &b);

  // CheckTerms.cpp. These return false after an error.
  bool checkTerm(Term &term);
  bool checkIndices(ArrayRef<Term *> indices);
  bool checkRead(Term &term);
  static std::string exchanged(const Term &read, const IndexVar *var,
                               const Extent &extent);
  bool checkFallback(Term &term);
  bool checkMap(Term &term);
  bool checkGuess(Term &term);
  bool checkShapes(Term &term);
  bool checkBranches(Term &term);
  bool checkMembers(Term &term);
  bool checkJoin(Term &term);
  bool checkContract(Term &term);
  bool checkFold(Term &term);
  void updates();
  bool checkDropout(Term &term);
  bool checkGradient(Term &term);
  bool isCondition(const Term &term);
  bool isNumbers(const Term &term);
  bool isVector(const Term &term, const std::string &what,
                const std::string &help = "");
  bool haveOneVocabulary(const Term &a, const Term &b, SMLoc loc);
  bool checkPower(const Term &term);
  bool checkBinding(const SizeBinding &binding);
  std::string bindingHelp(const SizeBinding &binding);
  bool checkVocabulary(const Atom *atom, const Term &term);
  void differentVocabularies(const Vocabulary &a, const Vocabulary &b,
                             SMLoc loc);

  const std::vector<Array *> &arrays() const { return part.arraysOf(model); }
  auto terms() { return llvm::drop_begin(model.terms, part.terms); }
  auto indices() { return llvm::drop_begin(model.indices, part.indices); }

  Elaborated &model;
  ModelPart part;
  Diagnostics &diagnostics;
  std::set<const Term *> bad;
  std::set<const char *> reported; // places
  std::map<const IndexVar *, Array *> owners;
  /// Indices whose range is missing because of a reported error.
  std::set<std::pair<const Array *, std::string>> explained;
  /// Reported sizes that are computed from a nested length.
  std::set<std::string> nestedSizes;
  std::map<const Term *, std::vector<const SizeBinding *>> bindings;
  std::map<const Term *, std::vector<const Atom *>> vocabularies;
};

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_CHECK_CHECKIMPL_H

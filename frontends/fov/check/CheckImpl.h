//===- CheckImpl.h - the checks of an inferred model ----------------------===//
//
// Private to Check.cpp (names, ranges, choices) and CheckTerms.cpp (right
// sides, calls). One mistake gives one error: what depends on a term that was
// reported is passed over, and so is a second mistake at the same place, which
// is the same one in another member of a family.
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
  Checker(Elaborated &model, Diagnostics &diagnostics)
      : model(model), diagnostics(diagnostics) {}

  bool run();

private:
  using Notes = std::vector<Diagnostics::Note>;

  void error(SMLoc loc, const std::string &text, Notes notes = {});

  // Check.cpp.
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
  void checkMixture(const Choice &choice);
  void marks();
  void unknowns();

  /// Sizes that nothing gives equal every other; they are reported last.
  static bool sameShape(const Shape &a, const Shape &b);

  // CheckTerms.cpp. False after a mistake.
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
  bool checkJoin(Term &term);
  bool checkContract(Term &term);
  bool checkFold(Term &term);
  bool checkDropout(Term &term);
  bool isCondition(const Term &term);
  bool isNumbers(const Term &term);
  bool isVector(const Term &term, const std::string &what);
  bool haveOneVocabulary(const Term &a, const Term &b, SMLoc loc);
  bool checkBinding(const SizeBinding &binding);
  bool checkVocabulary(const Atom *atom, const Term &term);
  void differentVocabularies(const Vocabulary &a, const Vocabulary &b,
                             SMLoc loc);

  Elaborated &model;
  Diagnostics &diagnostics;
  std::set<const Term *> bad;
  std::set<const char *> reported; // places
  std::map<const IndexVar *, Array *> owners;
  /// Indices whose range is missing because of a mistake that was reported.
  std::set<std::pair<const Array *, std::string>> explained;
  /// Sizes that are computed from a nested length, and were reported.
  std::set<std::string> nestedSizes;
  std::map<const Term *, std::vector<const SizeBinding *>> bindings;
  std::map<const Term *, std::vector<const Atom *>> vocabularies;
};

} // namespace fovea::fov

#endif // FOVEA_FRONTENDS_FOV_CHECK_CHECKIMPL_H

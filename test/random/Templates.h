//===- Templates.h - statements of a random spec --------------------------===//
//
// The upper half of the generator: what models are made of (maps, recurrences,
// families, attention, pools), each written with random expressions inside.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TEST_RANDOM_TEMPLATES_H
#define FOVEA_TEST_RANDOM_TEMPLATES_H

#include "test/random/Expressions.h"

namespace fovea::random {

/// Where a statement lives: along an extent, as a step of the decoder or not;
/// without an extent it is one value.
struct Place {
  std::string extent;
  bool step = false;
};

class Templates : public Expressions {
protected:
  Templates(uint64_t seed, Naming naming) : Expressions(seed, naming) {}

  // Each adds statements and makes their arrays readable.
  void map(Place place);
  void recurrence(Place place);
  void secondOrder(Place place);
  void mutual(Place place);
  void shifted(Place place);
  void plane(Place place, const std::string &other);
  void family(Place place);
  void labels(Place place);
  void hops(Place place);
  void attention(Place place);
  void attendingRecurrence(Place place);
  void heads(Place place);
  void running(Place place);
  void pairs(Place place);
  void convolution(Place place);
  void pyramid(Place place);
  void cuts(Place place);
  void nested(const std::string &outer, const std::string &inner);
  void pool();
  void wholeArray(Place place);

  // Of data along a place that have zeros, and bits (Partial.cpp).
  void partialFunction(Place place, const std::string &data,
                       const std::string &flags);
  void underGuards(Place place, const std::string &data,
                   const std::string &flags);
  void guardedRecurrence(Place place, const std::string &data,
                         const std::string &flags);
  void impossible(Place place, const std::string &flags);
  void stopped(Place place, const std::string &flags);
  std::string smooth(Context &context);
  std::string guarded(Context &context, const std::string &x,
                      const std::string &flag, std::string &guard);

  // Sums of several factors, of numbers along a place (Factors.cpp).
  void gatedPairs(Place place, const std::string &data);
  void bilinearForm(Place place, const std::string &data);
  void filteredState(Place place, const std::string &data);

  // States and gradients inside a model, of numbers along a place, and sums
  // over members that a router selects (States.cpp).
  void movingAverage(Place place, const std::string &data);
  void trackedModule(Place place, const std::string &data);
  void teacher(Place place, const std::string &data);
  void innerGradient(Place place, const std::string &data);
  void sparseExperts(Place place, const std::string &data);

  // Lengths that follow from values, guarded operands and what excludes terms,
  // of numbers along a place, and of symbols; and the entry of `decode` for
  // data that have no choice (Lengths.cpp).
  /// Whether parts have a length of their own.
  bool boundsLengths = false;
  void parts(Place place, const std::string &data);
  void guardedOperands(Place place, const std::string &data);
  void maskedWeights(Place place, const std::string &data);
  void symbolNumbers(Place place, const std::string &data,
                     const std::string &symbols);
  std::string certainValue(Place place, const std::string &data,
                           const std::string &output);

  // Choices that nobody observes, of numbers along a place (Latents.cpp); what
  // training does with each is one of `estimators`.
  void latents(Place place, const std::string &data);
  void hiddenChain(Place place, const std::string &data);
  void drawnCategories(Place place, const std::string &data);
  void oneCategory(Place place, const std::string &data);
  void drawnBits(Place place, const std::string &data);
  void drawnNumbers(Place place, const std::string &data);
  std::string estimator(llvm::ArrayRef<const char *> mayBe);
  std::vector<std::string> estimators;

  Context at(const Place &place);
  /// The left side over the context's indices; states ranges that nothing
  /// gives, and some others.
  std::string left(const std::string &name, const Context &context);
  void say(const std::string &statement) { statements.push_back(statement); }
  void add(const std::string &name, const Context &context,
           const std::string &dim, bool causal);
  /// `before` of an index in a direction: `i-1` or `i+1`.
  std::string before(const std::string &index, bool down, int64_t by = 1);
  /// The first place outside in a direction: -1, or the extent.
  std::string outside(const std::string &extent, bool down, int64_t by = 1);
  std::string boundary(const Context &rest, const std::string &dim);
  /// The latest array of vectors along a place's extent, or null.
  const Array *vectorsAlong(const Place &place) const;
  /// An array of vectors with one axis that attention can look at.
  const Array *memory(const Place &place);
  std::string score(Context &inner, const std::string &query,
                    const std::string &queryDim, const std::string &key,
                    const std::string &keyDim);
  std::string maybeWhere(const Index &index, const Context &context);
  bool begin(const std::string &feature) {
    indexCount = 0;
    spec.features.insert(feature);
    return true;
  }
};

} // namespace fovea::random

#endif // FOVEA_TEST_RANDOM_TEMPLATES_H

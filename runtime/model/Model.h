//===- Model.h - a compiled model with its weights ------------------------===//
//
// Puts together what the object of a model holds: reads its description, takes
// its weights, and runs its programs over batches. Knows nothing of text, of
// command lines and of C.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MODEL_MODEL_H
#define FOVEA_RUNTIME_MODEL_MODEL_H

#include "runtime/model/Description.h"
#include "runtime/model/Image.h"
#include "runtime/search/SearchSteps.h"
#include "runtime/train/Learner.h"

#include <deque>

namespace fovea::runtime {

/// What a batch gives, as `fovea run` does: the loss as the spec's train block
/// averages it, and log p of each example (empty where nothing is chosen).
struct BatchResult {
  double loss = 0;
  std::vector<double> logp;
};

/// Makes `threads` one for each CPU where it is more: they would wait for each
/// other, and it takes a multiple of the time. Returns what to say of it; else
/// nothing.
std::string limitThreads(int &threads);

class Model {
public:
  /// `weights` are files, several the members of an ensemble; none: those of
  /// the image. `threads` 0: one for each CPU, which is the most. The image
  /// outlives the model.
  static Status create(const FoveaImage &image,
                       const std::vector<std::string> &weights, int threads,
                       std::unique_ptr<Model> &result);
  ~Model();

  const Description &about() const { return description; }
  const Vocabularies &words() const { return vocabularies; }
  const Program *program(const std::string &entry) const;

  /// Makes the weights in a file another member of an ensemble. What is
  /// generated is chosen from the mean of the members' probabilities; losses,
  /// gradients and parameters are those of the first.
  Status addMember(const std::string &path);
  /// How many models choose together.
  size_t numMembers() const { return 1 + others.size(); }

  /// Random numbers of the runs that follow; without a seed nothing is dropped.
  void setRandom(std::optional<uint64_t> seed, uint64_t update);

  Status loss(const std::vector<Example> &examples, BatchResult &result);
  /// The gradient of the loss, in `gradient()` until the next call.
  Status gradients(const std::vector<Example> &examples, BatchResult &result);
  /// Gradients, and one update of the weights from them.
  Status trainStep(const std::vector<Example> &examples, uint64_t seed,
                   BatchResult &result);
  /// Computes the equations that the library was compiled with.
  Status equations(const std::vector<Example> &examples);
  /// Of an example of the last call, one of them, or `adjoint/x`, the gradient
  /// of the loss by the data x. Nothing where there is none.
  std::optional<DataValues> value(const std::string &name,
                                  int64_t example) const;
  /// The best hypotheses of each example, best first; or its draws, in order.
  Status decode(const std::vector<Example> &examples,
                const SearchOptions &options,
                std::vector<std::vector<Generated>> &results);
  /// The steps of a search that the caller makes
  /// (runtime/search/SearchSteps.h), from `encode` to the next call of `decode`
  /// or `trainStep`.
  Status encode(std::vector<Example> examples, double *logps);
  Status step(const std::vector<int64_t> &parents,
              const std::vector<int64_t> &symbols, double *logps);
  /// The updates that `trainStep` has made.
  int64_t updates() const { return numUpdates; }

  /// Addresses by path; gradients are null before there are any.
  void *parameter(const std::string &path);
  void *gradient(const std::string &path);
  Status save(const std::string &path) const;

private:
  Model() = default;

  /// A program, its function and its memory.
  struct Entry {
    Entry(const Program &program, ProgramCode code)
        : program(program), code(code), memory(program) {}
    const Program &program;
    ProgramCode code;
    Workspace memory;
    /// It has what the last run gave.
    bool isDone = false;
  };

  Status checkWeights(const TensorFile &file, const std::string &name) const;
  Status takeWeights(const TensorFile &file, const std::string &name);
  Status takeMember(TensorFile file, const std::string &name);
  Status run(const char *entry, const std::vector<Example> &examples,
             const Binding &binding, Entry *&found);
  Status evaluate(const std::vector<Example> &examples, Binding &binding,
                  BatchResult &result, double &choices);
  Status differentiate(const std::vector<Example> &examples, Binding &binding,
                       BatchResult &result);
  Binding binding() const;
  void prepareSearch();

  Description description;
  Vocabularies vocabularies;
  std::vector<std::unique_ptr<Entry>> entries;
  std::unique_ptr<FoveaPool, void (*)(FoveaPool *)> pool{nullptr,
                                                         &fovea_pool_destroy};
  std::unique_ptr<Learner> learner;
  OwnedMemory weights;
  /// The other members, in the type that programs read.
  std::deque<TensorFile> others;
  std::vector<ProgramCode> decoderCode;
  /// Has packed the weights as they were; null: none, or they have changed.
  std::unique_ptr<Search> searcher;
  std::unique_ptr<SearchSteps> steps;
  /// Someone has an address, and may write there whenever they like.
  bool isShared = false;
  std::optional<uint64_t> seed;
  uint64_t update = 0;
  int64_t numUpdates = 0;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_MODEL_H

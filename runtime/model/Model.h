//===- Model.h - a compiled model with its weights ------------------------===//
//
// Combines the parts of a model's object file: reads its description, takes its
// weights, and runs its programs over batches. Independent of text, command
// lines and C.
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

/// The results of a batch, as from `fovea run`: the loss, averaged as in the
/// spec's train block, and log p of each example (empty if nothing is chosen).
struct BatchResult {
  double loss = 0;
  std::vector<double> logp;
};

/// Caps `threads` at the number of CPUs: more threads would wait for each
/// other and take several times as long. Returns a note about it, or
/// nothing.
std::string limitThreads(int &threads);

class Model {
public:
  /// `weights` are files, several the members of an ensemble; none: those of
  /// the image. `threads` 0: one per CPU, which is the maximum. The image must
  /// outlive the model.
  static Status create(const FoveaImage &image,
                       const std::vector<std::string> &weights, int threads,
                       std::unique_ptr<Model> &result);
  ~Model();

  const Description &about() const { return description; }
  const Vocabularies &words() const { return vocabularies; }
  const Program *program(const std::string &entry) const;

  /// Adds the weights in a file as another member of an ensemble. Decoding uses
  /// the mean of the members' probabilities; losses, gradients and parameters
  /// are those of the first.
  Status addMember(const std::string &path);
  /// The number of members.
  size_t numMembers() const { return 1 + others.size(); }

  /// Sets the random numbers of the following runs; without a seed nothing is
  /// dropped.
  void setRandom(std::optional<uint64_t> seed, uint64_t update);

  Status loss(const std::vector<Example> &examples, BatchResult &result);
  /// Computes the gradient of the loss, in `gradient()` until the next call.
  Status gradients(const std::vector<Example> &examples, BatchResult &result);
  /// Computes gradients, and makes one update of the weights.
  Status trainStep(const std::vector<Example> &examples, uint64_t seed,
                   BatchResult &result);
  /// Computes the equations that the library was compiled with.
  Status equations(const std::vector<Example> &examples);
  /// Returns one of these equations for an example of the last call, or
  /// `adjoint/x`, the gradient of the loss with respect to data x. Returns
  /// nothing for an unknown name.
  std::optional<DataValues> value(const std::string &name,
                                  int64_t example) const;
  /// Returns the best hypotheses of each example, best first; or its samples,
  /// in order.
  Status decode(const std::vector<Example> &examples,
                const SearchOptions &options,
                std::vector<std::vector<Generated>> &results);
  /// The steps of a search that the caller controls
  /// (runtime/search/SearchSteps.h), from `encode` to the next call of `decode`
  /// or `trainStep`.
  Status encode(std::vector<Example> examples, double *logps);
  Status step(const std::vector<int64_t> &parents,
              const std::vector<int64_t> &symbols, double *logps);
  /// The number of updates that `trainStep` has made.
  int64_t updates() const { return numUpdates; }

  /// Addresses by path; gradients are null before the first computation.
  void *parameter(const std::string &path);
  void *gradient(const std::string &path);
  /// Writes the weights, and after an update the optimiser state.
  Status save(const std::string &path) const;
  /// Adds an entry to the metadata of files that `save` writes.
  void setMetadata(const std::string &key, const std::string &text);

private:
  Model() = default;

  /// A program, its function and its memory.
  struct Entry {
    Entry(const Program &program, ProgramCode code)
        : program(program), code(code), memory(program) {}
    const Program &program;
    ProgramCode code;
    Workspace memory;
    /// Contains the results of the last run.
    bool isDone = false;
    /// The version of the weights that it packed; 0: none.
    uint64_t packedVersion = 0;
  };

  Status checkWeights(const TensorFile &file, const std::string &name) const;
  Status takeWeights(TensorFile &file, const std::string &name);
  Status takeMember(TensorFile file, const std::string &name);
  Status run(const char *entry, const std::vector<Example> &examples,
             const Binding &binding, Entry *&found);
  void pack(Entry &entry, const Binding &binding);
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
  Rule rule = Rule::Sgd;
  std::map<std::string, std::string> metadata;
  OwnedMemory weights;
  /// The weights in fewer bits.
  TensorFile narrow;
  /// The other members, in the element type of the programs.
  std::deque<TensorFile> others;
  std::vector<ProgramCode> decoderCode;
  /// The memory that packed the current weights; null: none, or they have
  /// changed.
  std::unique_ptr<Search> searcher;
  std::unique_ptr<SearchSteps> steps;
  /// The caller has an address, and may write there at any time.
  bool isShared = false;
  /// Counts the changes of the weights.
  uint64_t version = 1;
  std::optional<uint64_t> seed;
  uint64_t update = 0;
  int64_t numUpdates = 0;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_MODEL_H

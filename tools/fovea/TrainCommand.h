//===- TrainCommand.h - fovea train -----------------------------*- C++ -*-===//
//
// Private to the command: shared by TrainCommand.cpp and TrainInputs.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TOOLS_FOVEA_TRAINCOMMAND_H
#define FOVEA_TOOLS_FOVEA_TRAINCOMMAND_H

#include "app/machines/Agreement.h"
#include "app/model/Programs.h"
#include "app/train/Identity.h"
#include "app/train/Trainer.h"
#include "app/watch/WatchProcess.h"
#include "passes/derive/Derive.h"

namespace fovea::cli {

/// One `fovea train`, step by step. Functions that return false have reported
/// the error.
class TrainCommand {
public:
  TrainCommand(const Arguments &given, std::string wordsOnInterrupt)
      : arguments(given), wordsOnInterrupt(std::move(wordsOnInterrupt)),
        session(arguments), team(cli::team()),
        progress(arguments.quiet || !team.isFirst()),
        pool(fovea_pool_create(arguments.threads), &fovea_pool_destroy) {}

  int run();
  /// Whether the first update was reached.
  bool hasBegun() const { return isBegun; }

private:
  bool openFolder();
  bool takeGivenText(const std::string &text);
  bool shareFolder();
  bool openWatchers();
  bool isSameEverywhere();
  bool isNotOdd(const std::string &odd);
  bool goOn(bool good);
  void summarise(const TrainEnd &end);
  int finishDryRun();
  int writeTrace();
  int finish(const TrainEnd &end);

  // What training needs (TrainInputs.cpp).
  bool isMissing(llvm::StringRef name) const;
  bool openModel();
  bool shareVocabularies(const std::map<std::string, TextSource> &texts);
  bool loadUsedVocabularies();
  bool readOptions();
  bool readAllData();
  bool readData(const std::vector<std::string> &given, int64_t firstId,
                TrainData &data);
  codegen::MemoryLimit memoryLimit() const;
  bool compile();
  bool prepareMetrics();
  bool preparePolicy();
  bool takeStateWeights();
  bool beginOrResume();

  bool check(const runtime::Status &status) {
    if (status.isOfMachine())
      failureCode = badMachine;
    if (status.failed())
      session.error(status.text());
    return status.succeeded();
  }

  Arguments arguments; // with those that a state has
  std::string wordsOnInterrupt;
  Session session;
  runtime::Team &team;
  Progress progress;
  std::unique_ptr<FoveaPool, void (*)(FoveaPool *)> pool;
  TrainingFolder folder;
  std::unique_ptr<WatchProcess> page;
  bool isResumed = false;
  runtime::TensorFile state;   // when it is resumed
  runtime::TensorFile initial; // when it is not
  Vocabularies vocabularies;
  std::unique_ptr<Model> model;
  std::string equations; // a hash
  std::unique_ptr<Programs> programs;
  std::optional<attn::Policy> policy;
  Training training;
  Position position;
  std::unique_ptr<runtime::Learner> learner;
  Identity identity;
  int failureCode = badInput;
  bool isEnded = false; // as all processes have agreed
  bool isBegun = false;
  /// When the training began, in this process.
  int64_t firstUpdate = 0;
  runtime::Traffic before;
};

} // namespace fovea::cli

#endif // FOVEA_TOOLS_FOVEA_TRAINCOMMAND_H

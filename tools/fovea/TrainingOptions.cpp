//===- TrainingOptions.cpp - the options that prepare data and train ------===//
//
// The command that reads an option defines its meaning.
//
//===----------------------------------------------------------------------===//

#include "tools/fovea/SharedOptions.h"

using namespace fovea::cli;
using fovea::runtime::atLeast;
using fovea::runtime::below2To63;
using fovea::runtime::positive;

namespace {

class TrainingOptions : SharedOptions {
public:
  using SharedOptions::SharedOptions;

  void add() {
    addPrepare();
    addTrain();
  }

private:
  void addPrepare() {
    CLI::App *command = addCommand(
        "data", "prepare text for training: join, filter, split and shuffle");
    command
        ->add_option("FILE", arguments.texts,
                     "text with one example per line; FILE:2 takes a column, "
                     "FILE.jsonl:NAME a value; several files become columns")
        ->required();
    command
        ->add_option("--out", arguments.folder,
                     "the folder to write, with PART.tsv for each part, or "
                     "data.tsv")
        ->type_name("DIR")
        ->required();
    command
        ->add_option("--split", arguments.split,
                     "parts and their shares, such as train=98,valid=1,test=1; "
                     "lines with the same key are in the same part")
        ->type_name("PART=SHARE,..");
    auto addCount = [&](const char *name, auto &value, const char *what) {
      command->add_option(name, value, what)
          ->check(atLeast(1))
          ->check(below2To63())
          ->type_name("N");
    };
    addCount("--key", arguments.key,
             "the column that is the key of --split (default: the whole line)");
    command->add_flag("--shuffle", arguments.shuffles,
                      "write the lines of each part in random order");
    addSeed(command, "random seed of --split and --shuffle (default: 0)");
    command->add_flag("--drop-empty", arguments.dropsEmpty,
                      "drop lines with an empty column");
    command->add_flag("--drop-repeated", arguments.dropsRepeated,
                      "drop lines that occurred before");
    addCount("--min-words", arguments.minWords,
             "drop lines with fewer words in a column");
    addCount("--max-words", arguments.maxWords,
             "drop lines with more words in a column");
    addCount("--max-chars", arguments.maxChars,
             "drop lines with more characters in a column");
    command
        ->add_option("--max-ratio", arguments.maxRatio,
                     "drop lines whose longest column has more than X times "
                     "the words of the shortest")
        ->check(positive())
        ->type_name("X");
    addCount("--pieces", arguments.pieces,
             "also learn a SentencePiece model of N byte pairs and characters "
             "from the first part: pieces.model, for a vocabulary "
             "sentencepiece(\"pieces.model\")");
    addExamples(command,
                {"fovea data news.en news.de --out corpus --drop-empty "
                 "--max-words 100 --split train=98,valid=1,test=1",
                 "fovea data pairs.tsv --out corpus --split train=9,test=1 "
                 "--key 1 --shuffle --seed 7"});
  }

  void addTrain() {
    CLI::App *command = addSpecCommand(
        "train",
        "train a model and write its weights, checkpoints and log to a folder");
    addData(command, /*asText=*/true)->required(false);
    command
        ->add_option("--valid", arguments.valid,
                     "the validation data, in the format of --data")
        ->check(dataPairs())
        ->type_name("NAME=FILE");
    command
        ->add_option("--out", arguments.folder,
                     "the output folder: model.safetensors, log.jsonl, last/")
        ->type_name("DIR");
    command->add_flag("--resume", arguments.resume,
                      "continue the run in the output folder, bit for bit as "
                      "if it had never stopped");
    command
        ->add_flag("--change", arguments.change,
                   "allow --resume with other settings, such as the learning "
                   "rate; a note lists the differences")
        ->needs("--resume");
    command->add_flag("--dry-run", arguments.dryRun,
                      "report memory and time per update, and change nothing");
    addWeights(command);
    command->get_option("--weights")
        ->description("start from these weights instead of random ones");
    auto addCount = [&](const char *name, auto &value, const char *what) {
      command->add_option(name, value, what)
          ->check(atLeast(1))
          ->check(below2To63())
          ->type_name("N");
    };
    addCount("--steps", arguments.steps, "stop after N updates in total");
    addCount(
        "--epochs", arguments.epochs,
        "stop after N epochs in total (default: 10 if no other limit is set)");
    command
        ->add_option("--minutes", arguments.minutes,
                     "stop after X minutes of this run")
        ->check(positive())
        ->type_name("X");
    addCount("--batch", arguments.batch,
             "examples per batch; --set train.batch=tokens(N) counts tokens "
             "instead");
    addMemoryLimit(command);
    command
        ->add_option("--max-data-mb", arguments.maxDataMb,
                     "memory for examples, in MiB, and as much again for "
                     "validation (default: 256); the rest is spilled to a file "
                     "in $TMPDIR or /var/tmp; does not change results")
        ->check(CLI::Range(int64_t(0), int64_t(1) << 31).description(""))
        ->type_name("N");
    addCount("--report-every", arguments.reportEvery,
             "updates between log lines (default: 100)");
    addCount("--valid-every", arguments.validEvery,
             "updates between validations (default: one epoch)");
    command
        ->add_option(
            "--metric", arguments.metrics,
            "metric of each validation, by greedy decoding: " + metricNames() +
                "; bleu(tgt) if the model generates several names; none "
                "(default: the metrics of the spec)")
        ->type_name("METRIC");
    command
        ->add_option("--best-by", arguments.bestBy,
                     "criterion for the best weights: loss (default), "
                     "perplexity or a metric")
        ->type_name("METRIC");
    command
        ->add_option("--valid-ref", arguments.validReferences,
                     "more references for --metric, one per line; an empty "
                     "line is none; NAME=FILE if the model generates several "
                     "names")
        ->type_name("FILE");
    addCount("--patience", arguments.patience,
             "stop after N validations without improvement");
    addCount(
        "--save-every", arguments.saveEvery,
        "updates between checkpoints (default: every minute and every epoch)");
    command->add_flag("--shard-optimiser", arguments.shardsOptimiser,
                      "split the optimiser's state among the processes of "
                      "mpirun; does not change results");
    addMaxSilence(command);
    CLI::Option *sweep =
        command
            ->add_option("--sweep", arguments.sweeps,
                         "train every combination of values, each in its own "
                         "folder below --out, and compare the results: "
                         "rate=0.001,0.002, seed=1..3 or any K of --set")
            ->type_name("K=V,V..")
            ->allow_extra_args(false)
            ->excludes("--dry-run");
    command
        ->add_option(
            "--serve", arguments.port,
            "show live progress at http://127.0.0.1:PORT/; 0 picks a free port")
        ->check(CLI::Range(0, 65535).description(""))
        ->type_name("PORT")
        ->excludes(sweep);
    command
        ->add_option("--tensorboard", arguments.eventFolder,
                     "also write the log as TensorBoard events")
        ->type_name("DIR");
    addTrace(command)->excludes(sweep)->excludes("--dry-run");
    addSeed(
        command,
        "random seed of weights, data order, dropout and noise (default: 0)");
    addThreads(command, "number of threads; does not change results");
    addDtype(command, "precision of computation: f32 (default) or f64");
    addCpu(command);
    addDevice(command);
    addPrecision(command);
    addChecked(command);
    addQuiet(command);
    addExamples(command,
                {"fovea train model.fov --data src=train.tsv:1,tgt=train.tsv:2 "
                 "--valid src=valid.tsv:1,tgt=valid.tsv:2 --out run",
                 "fovea train run --resume --out run --epochs 20"});
  }
};

} // namespace

void fovea::cli::addTrainingCommands(CLI::App &app, Arguments &arguments) {
  TrainingOptions(app, arguments).add();
}

//===- Corpora.h - folders and files of examples with names ---------------===//
//
// Turns what a corpus has of its examples into lines, in one order:
//
//   * folders of Kaldi: wav.scp, feats.scp, text and utt2spk;
//   * folders as LibriSpeech: *.trans.txt beside the sounds that they name;
//   * JSON files: a list of objects, or captions of COCO, one example for each.
//
// Lines of sounds, features and pictures are names of files below a folder.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_DATA_CORPORA_H
#define FOVEA_APP_DATA_CORPORA_H

#include "runtime/Status.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace fovea::cli {

/// Returns whether a folder is one of Kaldi or of LibriSpeech.
bool isCorpus(const std::string &folder);

/// The lines of a corpus, and where the files are that they name.
struct CorpusLines {
  std::string text, folder;
};

/// Reads `part` of a folder: text, sound, features or speaker.
runtime::Status readCorpus(const std::string &folder, llvm::StringRef part,
                           CorpusLines &lines);

/// Reads a list of Kaldi (.scp): a key and a file in each line.
runtime::Status readScp(const std::string &path, CorpusLines &lines);

/// Reads the values of `key` in a JSON file.
runtime::Status readObjects(const std::string &path, llvm::StringRef key,
                            CorpusLines &lines);

} // namespace fovea::cli

#endif // FOVEA_APP_DATA_CORPORA_H

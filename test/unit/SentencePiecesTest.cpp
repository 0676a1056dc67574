//===- SentencePiecesTest.cpp - models of SentencePiece, good and damaged -===//
//
// Inputs/pieces.model: spm_train (Debian's sentencepiece 0.1.97) over the pages
// of docs/, 120 pieces, normalisation by a table of its own. What others cut
// and join is compared with the library, of models that it trains here.
//
//===----------------------------------------------------------------------===//

#include "runtime/data/SentencePieces.h"
#include "app/data/TrainPieces.h"
#include "runtime/data/Text.h"

#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#include <sstream>

using namespace fovea;
using runtime::SentencePieces;
using Shared = std::shared_ptr<const SentencePieces>;

static std::string textOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

static std::string modelBytes() { return textOf(FOVEA_INPUTS "/pieces.model"); }

/// Reads a model and, where it is one, cuts lines and joins them.
static std::string mistakeIn(const std::string &bytes) {
  Shared model;
  runtime::Status status = SentencePieces::read(bytes, model);
  if (status.failed())
    return status.text();
  auto count = static_cast<int64_t>(model->symbols().size());
  for (const char *line : {"", "A decoder's state \xC2\xA0 \xE2\x80\x99 and",
                           "\xF0\x9F\x98\x80 \xE2\x96\x81x", "\x01 a\tb"}) {
    std::vector<std::string> pieces;
    for (const auto &piece : model->cut(line)) {
      EXPECT_GE(piece.id, 0);
      EXPECT_LT(piece.id, count);
      pieces.push_back(piece.text);
    }
    model->join(pieces);
  }
  return "";
}

TEST(SentencePieces, CutsAndJoins) {
  Shared model;
  ASSERT_TRUE(SentencePieces::read(modelBytes(), model).succeeded());
  std::vector<std::string> symbols = model->symbols();
  ASSERT_GE(symbols.size(), 4u);
  EXPECT_EQ(symbols[0], "<s>");
  EXPECT_EQ(symbols[1], "</s>");
  EXPECT_EQ(symbols[2], "<unk>");
  std::vector<std::string> texts;
  for (const auto &piece : model->cut("Attention and state"))
    texts.push_back(piece.text);
  EXPECT_EQ(texts.front(), "\xE2\x96\x81"
                           "a");
  EXPECT_EQ(model->join(texts), "attention and state");
  // Text that is not a symbol is unknown, and is unchanged when it is joined.
  auto pieces = model->cut("a \xF0\x9F\x98\x80");
  EXPECT_EQ(pieces.back().id, runtime::Symbol::unknown);
  EXPECT_EQ(pieces.back().text, "\xF0\x9F\x98\x80");
}

TEST(SentencePieces, ComesBackFromWhereItIsStored) {
  // "ab" in base 64 and its neighbours.
  std::string bytes;
  EXPECT_TRUE(runtime::readBase64("YWI=", bytes));
  EXPECT_EQ(bytes, "ab");
  EXPECT_TRUE(runtime::readBase64("YWJj", bytes));
  EXPECT_EQ(bytes, "abc");
  EXPECT_TRUE(runtime::readBase64("YQ==", bytes));
  EXPECT_EQ(bytes, "a");
  EXPECT_FALSE(runtime::readBase64("YQ=", bytes));
  EXPECT_FALSE(runtime::readBase64("Y=Q=", bytes));
  runtime::Vocabularies words;
  EXPECT_EQ(words.take("vocabulary.v", "sentencepiece\n=\n<s>\n", "v").text(),
            "the vocabulary 'v' is not a SentencePiece model: it is damaged");
}

//===----------------------------------------------------------------------===//
// Beside the library
//===----------------------------------------------------------------------===//

/// Lines with all that is hard about them.
static std::vector<std::string> lines() {
  std::istringstream text(textOf(FOVEA_MODELS "/../docs/LANGUAGE.md"));
  std::vector<std::string> result = {
      "",
      " ",
      "  two  spaces  ",
      "\t a\ttab",
      "\xE3\x80\x80wide \xEF\xBC\xA1\xEF\xBC\xA2 \xEF\xAC\x81ne",
      "\xE2\x96\x81\xE2\x96\x81x \xE2\x96\x81",
      "na\xC3\xAFve nai\xCC\x88ve \xE2\x84\xAB",
      "\xF0\x9F\x98\x80\xF0\x9F\x98\x80 one\xF0\x9F\x98\x80",
      "\xE4\xB8\xAD\xE6\x96\x87 and 12345",
      "<tag> a<tag>b <tag><tag>",
      "<s> </s> <unk> <0x0A>",
  };
  for (std::string line; std::getline(text, line) && result.size() < 400;)
    result.push_back(line);
  return result;
}

/// Cuts and joins by both, whole lines and pieces in any order.
static void compare(const std::string &bytes) {
  sentencepiece::SentencePieceProcessor library;
  ASSERT_TRUE(library.LoadFromSerializedProto(bytes).ok());
  Shared own;
  runtime::Status status = SentencePieces::read(bytes, own);
  ASSERT_TRUE(status.succeeded()) << status.text();
  std::vector<std::string> symbols = own->symbols();
  std::mt19937 random(1);
  for (const std::string &line : lines()) {
    std::vector<std::string> texts, found;
    std::vector<int> ids;
    ASSERT_TRUE(library.Encode(line, &texts).ok());
    ASSERT_TRUE(library.Encode(line, &ids).ok());
    std::vector<SentencePieces::Piece> pieces = own->cut(line);
    for (const auto &piece : pieces)
      found.push_back(piece.text);
    ASSERT_EQ(found, texts) << line;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] == library.unk_id())
        EXPECT_EQ(pieces[i].id, runtime::Symbol::unknown);
      else if (pieces[i].id >= 3)
        EXPECT_EQ(symbols[pieces[i].id], library.IdToPiece(ids[i]));
    }
    for (int draw = 0; draw < 3; ++draw) {
      std::string joined;
      ASSERT_TRUE(library.Decode(texts, &joined).ok());
      EXPECT_EQ(own->join(texts), joined);
      texts.clear();
      for (int i = 0; i < 6; ++i)
        texts.push_back(symbols[random() % symbols.size()]);
    }
  }
}

TEST(SentencePieces, IsTheLibrary) {
  compare(modelBytes());
  struct Lines : sentencepiece::SentenceIterator {
    std::vector<std::string> all = lines();
    size_t place = 0;
    bool done() const override { return place >= all.size(); }
    void Next() override { ++place; }
    const std::string &value() const override { return all[place]; }
    sentencepiece::util::Status status() const override { return {}; }
  };
  std::string usual = "--minloglevel=2 --hard_vocab_limit=false --vocab_size=";
  for (const char *options :
       {"300 --model_type=unigram",
        "400 --model_type=unigram --byte_fallback --user_defined_symbols=<tag>",
        "300 --model_type=unigram --treat_whitespace_as_suffix",
        "300 --model_type=unigram --remove_extra_whitespaces=false",
        "300 --model_type=unigram --add_dummy_prefix=false "
        "--allow_whitespace_only_pieces",
        "300 --model_type=bpe --normalization_rule_name=nmt_nfkc_cf",
        "600 --model_type=bpe --byte_fallback --user_defined_symbols=<tag>,ab "
        "--split_digits --remove_extra_whitespaces=false",
        "300 --model_type=bpe --normalization_rule_name=identity "
        "--add_dummy_prefix=false",
        "100 --model_type=char --user_defined_symbols=<tag>",
        "300 --model_type=word --bos_id=3 --eos_id=2 --unk_id=1 --pad_id=0",
        "300 --model_type=unigram --bos_id=-1 --unk_surface=?"}) {
    SCOPED_TRACE(options);
    Lines corpus;
    std::string bytes;
    auto status = sentencepiece::SentencePieceTrainer::Train(usual + options,
                                                             &corpus, &bytes);
    ASSERT_TRUE(status.ok()) << status.ToString();
    compare(bytes);
    // Pieces that are not used: each second one.
    sentencepiece::SentencePieceProcessor library;
    ASSERT_TRUE(library.LoadFromSerializedProto(bytes).ok());
    std::vector<std::string> used;
    for (int id = 0; id < library.GetPieceSize(); id += 2)
      used.push_back(library.IdToPiece(id));
    std::vector<absl::string_view> views(used.begin(), used.end());
    if (library.SetVocabulary(views).ok() &&
        std::string(options).find("byte") == std::string::npos)
      compare(library.serialized_model_proto());
  }
}

TEST(SentencePieces, LearnsModelsThatTheLibraryReads) {
  cli::PieceTrainer trainer;
  for (const std::string &line : lines())
    trainer.add(line);
  EXPECT_FALSE(trainer.train(trainer.least() - 1));
  ASSERT_TRUE(trainer.train(300));
  EXPECT_EQ(trainer.pieces().size(), 297u);
  compare(trainer.model());
}

/// Counts by hand. "st" is as frequent as "es", and ties go by bytes.
TEST(SentencePieces, LearnsTheMostFrequentPair) {
  cli::PieceTrainer trainer;
  for (const auto &[word, count] :
       {std::pair("low", 5), {"lower", 2}, {"newest", 6}, {"widest", 3}})
    for (int i = 0; i < count; ++i)
      trainer.add(word);
  const char *begin = "\xE2\x96\x81";
  EXPECT_FALSE(trainer.train(3)); // finds the characters
  ASSERT_TRUE(trainer.train(trainer.least() + 6));
  std::vector<std::string> first(trainer.pieces().begin(),
                                 trainer.pieces().begin() + 6);
  EXPECT_EQ(first, (std::vector<std::string>{
                       "es",                       // 6 + 3, as "st"
                       "est",                      // 6 + 3
                       "lo",                       // 5 + 2
                       "low",                      // 5 + 2
                       std::string(begin) + "low", // 5 + 2
                       "ew",                       // 6
                   }));
  // Everything becomes words, and then there are no more pairs.
  ASSERT_TRUE(trainer.train(1000));
  EXPECT_LT(trainer.pieces().size(), 40u);
  EXPECT_EQ(std::count(trainer.pieces().begin(), trainer.pieces().end(),
                       std::string(begin) + "newest"),
            1);
}

//===----------------------------------------------------------------------===//
// Damage
//===----------------------------------------------------------------------===//

/// A field of a message, and a piece of a use (sentencepiece_model.proto).
static std::string field(int number, const std::string &bytes) {
  return std::string{char(number << 3 | 2), char(bytes.size())} + bytes;
}
static std::string piece(const std::string &text, char use) {
  return field(1, field(1, text) + "\x18" + use);
}

TEST(SentencePieces, WhatIsNoVocabularyIsRefused) {
  constexpr char normal = 1, unknown = 2, byte = 6;
  std::string rest = field(2, "") + field(3, "");
  std::string a = piece("a", normal), own = piece("?", unknown);
  EXPECT_EQ(mistakeIn(own + a + rest), "");
  EXPECT_EQ(mistakeIn(own + a), "it ends early");
  EXPECT_EQ(mistakeIn(own + a + piece("!", unknown) + rest),
            "both '?' and '!' are unknown pieces");
  EXPECT_EQ(mistakeIn(own + a + a + rest), "'a' appears twice");
  EXPECT_EQ(mistakeIn(own + a + piece("<0x41>", byte) + rest),
            "'<0x41>' is not a byte");
  EXPECT_EQ(mistakeIn(own + rest), "it has no pieces to segment text into");
  std::string fallback = field(2, "\x98\x02\x01") + field(3, "");
  EXPECT_EQ(mistakeIn(own + a + piece("<0x41>", byte) + fallback),
            "not all bytes have a piece");
}

TEST(SentencePieces, WhatEndsEarlyIsRefused) {
  std::string bytes = modelBytes();
  ASSERT_EQ(mistakeIn(bytes), "");
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(mistakeIn(bytes.substr(0, size)), "") << size;
  EXPECT_EQ(mistakeIn(""), "its bytes are not a model");
}

TEST(SentencePieces, DamageIsNoCrash) {
  std::string bytes = modelBytes();
  std::mt19937 random(1);
  for (int i = 0; i < 4000; ++i) {
    std::string damaged = bytes;
    for (int flips = 1 + i % 3; flips > 0; --flips)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    mistakeIn(damaged);
  }
  // Each unit of the table of the normaliser, in turn.
  for (size_t place = bytes.size() - 1200; place < bytes.size(); ++place)
    for (unsigned value : {0u, 1u, 0x7fu, 0x80u, 0xffu}) {
      std::string damaged = bytes;
      damaged[place] = static_cast<char>(value);
      mistakeIn(damaged);
    }
}

//===- SentencePiecesTest.cpp - models of SentencePiece, good and damaged -===//
//
// Inputs/pieces.model: spm_train (Debian's sentencepiece 0.1.97) over the pages
// of docs/, 120 pieces, normalisation by a table of its own.
//
//===----------------------------------------------------------------------===//

#include "driver/data/SentencePieces.h"

#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <sstream>

using namespace fovea;
using runtime::Vocabulary;

static std::string modelBytes() {
  std::ifstream file(FOVEA_INPUTS "/pieces.model", std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Reads a model and, where it is one, cuts lines and joins them.
static std::string mistakeIn(const std::string &bytes) {
  Vocabulary vocabulary;
  runtime::Status status = cli::readPieces("m", bytes, vocabulary);
  if (status.failed())
    return status.text();
  for (const char *line : {"", "A decoder's state \xC2\xA0 \xE2\x80\x99 and",
                           "\xF0\x9F\x98\x80 \xE2\x96\x81x", "\x01 a\tb"}) {
    std::vector<std::string> pieces;
    for (const auto &piece : vocabulary.pieces->cut(line)) {
      EXPECT_GE(piece.id, 0);
      EXPECT_LT(piece.id, int64_t(vocabulary.byId.size()));
      pieces.push_back(piece.text);
    }
    vocabulary.pieces->join(pieces);
  }
  return "";
}

TEST(SentencePieces, CutsAndJoins) {
  Vocabulary vocabulary;
  ASSERT_TRUE(cli::readPieces("m", modelBytes(), vocabulary).succeeded());
  ASSERT_GE(vocabulary.byId.size(), 4u);
  EXPECT_EQ(vocabulary.byId[0], "<s>");
  EXPECT_EQ(vocabulary.byId[1], "</s>");
  EXPECT_EQ(vocabulary.byId[2], "<unk>");
  std::vector<std::string> texts;
  for (const auto &piece : vocabulary.pieces->cut("Attention and state"))
    texts.push_back(piece.text);
  EXPECT_EQ(texts.front(), "\xE2\x96\x81"
                           "a");
  EXPECT_EQ(vocabulary.pieces->join(texts), "attention and state");
  // What is no symbol is unknown, and stands as it is when it is joined.
  auto pieces = vocabulary.pieces->cut("a \xF0\x9F\x98\x80");
  EXPECT_EQ(pieces.back().id, runtime::Symbol::unknown);
  EXPECT_EQ(pieces.back().text, "\xF0\x9F\x98\x80");
  // It comes back from where it is stored.
  Vocabulary stored = vocabulary;
  stored.pieces = nullptr;
  EXPECT_TRUE(cli::restorePieces("w", stored).succeeded());
  EXPECT_EQ(stored.pieces->join(texts), "attention and state");
  stored.byId.pop_back();
  EXPECT_EQ(cli::restorePieces("w", stored).text(),
            "'w': the symbols are not those of the model of SentencePiece");
  stored.model = "=";
  EXPECT_EQ(cli::restorePieces("w", stored).text(),
            "'w' is no model of SentencePiece: it is damaged");
}

TEST(SentencePieces, WhatEndsEarlyIsRefused) {
  std::string bytes = modelBytes();
  ASSERT_EQ(mistakeIn(bytes), "");
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(mistakeIn(bytes.substr(0, size)), "") << size;
  EXPECT_EQ(mistakeIn(""),
            "'m' is no model of SentencePiece: its bytes are no model");
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

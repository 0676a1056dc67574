//===- TokeniserTest.cpp - tokenizer.json, good and damaged ---------------===//
//
// Inputs/tokenisers.json has tokenisers of all kinds, and what the library of
// Hugging Face makes of lines with them (Inputs/tokenisers.py).
//
//===----------------------------------------------------------------------===//

#include "runtime/data/Tokeniser.h"
#include "runtime/data/Text.h"

#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>

using namespace fovea::runtime;
using nlohmann::json;
using Shared = std::shared_ptr<const Tokeniser>;

static const json &golden() {
  static const json all = [] {
    std::ifstream file(FOVEA_INPUTS "/tokenisers.json");
    return json::parse(file, nullptr, false);
  }();
  return all;
}

static std::vector<std::string> lines() {
  std::vector<std::string> result;
  for (const json &line : golden()["lines"])
    result.push_back(line.get<std::string>());
  return result;
}

/// The ids of a line, and its text again; whole ones are enclosed.
static std::vector<int64_t> idsOf(const Tokeniser &tokeniser,
                                  const std::string &line, bool isWhole) {
  TextField field;
  field.isSentence = !isWhole;
  std::vector<int64_t> ids;
  for (const Segmenter::Piece &piece : piecesOf(line, field, tokeniser))
    ids.push_back(piece.id);
  return ids;
}

static std::string textOf(const Tokeniser &tokeniser,
                          const std::vector<int64_t> &ids) {
  std::vector<std::string> symbols = tokeniser.symbols(), pieces;
  for (int64_t id : ids)
    pieces.push_back(symbols.at(id));
  return tokeniser.join(pieces);
}

TEST(Tokeniser, IsTheLibrary) {
  ASSERT_TRUE(golden().is_object());
  for (const auto &[name, one] : golden()["tokenisers"].items()) {
    SCOPED_TRACE(name);
    Shared tokeniser;
    Status status = Tokeniser::read(one["file"].dump(), false, tokeniser);
    ASSERT_TRUE(status.succeeded()) << status.text();
    std::vector<std::string> all = lines();
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(json(idsOf(*tokeniser, all[i], true)), one["ids"][i]) << all[i];
      EXPECT_EQ(textOf(*tokeniser, idsOf(*tokeniser, all[i], false)),
                one["texts"][i].get<std::string>());
    }
  }
}

TEST(Tokeniser, NumbersTheSymbolsOfSentences) {
  for (const auto &[name, one] : golden()["tokenisers"].items()) {
    SCOPED_TRACE(name);
    Shared plain, moved;
    ASSERT_TRUE(Tokeniser::read(one["file"].dump(), false, plain).succeeded());
    ASSERT_TRUE(Tokeniser::read(one["file"].dump(), true, moved).succeeded());
    std::vector<std::string> symbols = moved->symbols();
    EXPECT_EQ(symbols[Symbol::start], name == "t5" ? "<pad>" : "<s>");
    EXPECT_EQ(symbols[Symbol::end], "</s>");
    EXPECT_EQ(symbols[Symbol::unknown], "<unk>");
    if (name == "t5")
      EXPECT_EQ(plain->symbols(), symbols);
    for (const std::string &line : lines()) {
      std::vector<int64_t> ids = idsOf(*moved, line, false);
      EXPECT_EQ(ids.size(), idsOf(*plain, line, false).size());
      EXPECT_EQ(textOf(*moved, ids),
                textOf(*plain, idsOf(*plain, line, false)));
    }
  }
}

TEST(Tokeniser, ComesBackFromWhereItIsStored) {
  const json &file = golden()["tokenisers"]["xlmr"]["file"];
  for (bool hasSentences : {false, true}) {
    Vocabularies words;
    Vocabulary &own = words["v"];
    ASSERT_TRUE(own.setTokeniser(file.dump(2), hasSentences).succeeded());
    std::map<std::string, std::string> stored;
    words.store(stored);
    Vocabularies others;
    const auto &[key, text] = *stored.begin();
    Status status = others.take(key, text, "v");
    ASSERT_TRUE(status.succeeded()) << status.text();
    EXPECT_EQ(others["v"].byId, own.byId);
    EXPECT_EQ(words.differenceTo(others), "");
    EXPECT_TRUE(others.take(key, text.substr(0, 500), "v").failed());
  }
}

//===----------------------------------------------------------------------===//
// Mistakes
//===----------------------------------------------------------------------===//

static std::string mistakeIn(const json &file) {
  Shared tokeniser;
  return Tokeniser::read(file.dump(), false, tokeniser).text();
}

TEST(Tokeniser, SaysWhatItCannotRead) {
  Shared tokeniser;
  EXPECT_EQ(Tokeniser::read("{", false, tokeniser).text(),
            "it is not JSON, or ends early");
  EXPECT_EQ(Tokeniser::read(std::string(100000, '['), false, tokeniser).text(),
            "it is not JSON, or ends early");
  EXPECT_EQ(mistakeIn(json::object()), "it has no model");
  const json good = golden()["tokenisers"]["llama3"]["file"];
  EXPECT_EQ(mistakeIn(good), "");
  auto with = [&](const char *place, const char *part) {
    json file = good;
    file[json::json_pointer(place)] = json::parse(part);
    return mistakeIn(file);
  };
  EXPECT_EQ(with("/normalizer", R"({"type": "Spell"})"),
            "the normaliser 'Spell' is not supported");
  EXPECT_EQ(with("/pre_tokenizer", R"({"type": "UnicodeScripts"})"),
            "the pre-tokeniser 'UnicodeScripts' is not supported");
  EXPECT_EQ(with("/decoder", R"({"type": "CTC"})"),
            "the decoder 'CTC' is not supported");
  EXPECT_EQ(with("/post_processor", R"({"type": "Other"})"),
            "the post-processor 'Other' is not supported");
  EXPECT_EQ(with("/model/type", R"("Other")"),
            "the model 'Other' is not supported");
  EXPECT_EQ(with("/model/vocab", "{}"), "its model has no vocabulary");
  EXPECT_EQ(with("/model/vocab", R"({"a": 4000000000})"),
            "the id of 'a' is not a number of a token");
  EXPECT_EQ(with("/model/vocab", R"({"a": 1, "b": 1})"),
            "'a' and 'b' have the same id");
  EXPECT_EQ(with("/model/merges", R"(["nowhere to"])"),
            "the merge of 'nowhere' and 'to' is not one of tokens");
  EXPECT_EQ(with("/model/merges", R"(["a"])"),
            "a merge is not a pair of tokens");
  EXPECT_EQ(with("/model/unk_token", R"("nowhere")"),
            "'nowhere' is not a token");
  EXPECT_EQ(with("/model/fuse_unk", "3"), "'fuse_unk' is not true or false");
  EXPECT_EQ(with("/added_tokens", R"([{"id": 4000000000, "content": "a"}])"),
            "'id' is not a whole number from 0 to 2^31 - 1");
  EXPECT_EQ(with("/added_tokens", R"([{"id": 400000000, "content": "a"}])"),
            "the id of the added token 'a' is not a number of a token");
}

TEST(Tokeniser, SaysWhichPartItCannotRead) {
  auto with = [&](const char *name, const char *place, const char *part) {
    json file = golden()["tokenisers"][name]["file"];
    file[json::json_pointer(place)] = json::parse(part);
    return mistakeIn(file);
  };
  // A model.
  EXPECT_EQ(with("llama3", "/model/merges", "3"), "its model has no merges");
  EXPECT_EQ(with("bert", "/model/unk_token", R"("nowhere")"),
            "'nowhere' is not a token");
  EXPECT_EQ(with("xlmr", "/model/vocab", "[]"), "its model has no vocabulary");
  EXPECT_EQ(with("xlmr", "/model/vocab/5", R"(["a"])"),
            "a token is not a text with a score");
  EXPECT_EQ(with("xlmr", "/model/unk_id", "100000"),
            "'unk_id' is not a number of a token");
  // A normaliser.
  EXPECT_EQ(with("xlmr", "/normalizer/precompiled_charsmap", R"("AAA")"),
            "'precompiled_charsmap' is damaged");
  EXPECT_EQ(with("xlmr", "/normalizer/precompiled_charsmap", "3"),
            "'precompiled_charsmap' is not a text");
  EXPECT_EQ(with("t5", "/normalizer/normalizers", "3"),
            "a sequence has no parts");
  EXPECT_EQ(with("t5", "/normalizer/normalizers/0", R"({"type": "Sequence"})"),
            "a sequence is part of a sequence");
  EXPECT_EQ(with("llama2", "/normalizer/normalizers/1/pattern", "{}"),
            "a pattern is neither a text nor an expression");
  EXPECT_EQ(
      with("llama2", "/normalizer/normalizers/1/pattern", R"({"Regex": "(a"})"),
      "the regular expression '(a': a ')' is missing");
  // A pre-tokeniser.
  EXPECT_EQ(with("xlmr", "/pre_tokenizer/prepend_scheme", R"("second")"),
            "the 'prepend_scheme' 'second' is not supported");
  EXPECT_EQ(with("xlmr", "/pre_tokenizer/replacement", R"("")"),
            "'replacement' is empty");
  EXPECT_EQ(
      with("signs", "/pre_tokenizer/pretokenizers/0/delimiter", R"("ab")"),
      "'delimiter' is not one character");
  EXPECT_EQ(
      with("signs", "/pre_tokenizer/pretokenizers/1/behavior", R"("Twice")"),
      "the behavior 'Twice' is not supported");
  // A decoder.
  EXPECT_EQ(with("llama2", "/decoder/decoders/3/content", R"("ab")"),
            "'content' is not one character");
  // Added tokens, and a template.
  EXPECT_EQ(with("bert", "/added_tokens", "3"), "'added_tokens' is not a list");
  EXPECT_EQ(with("bert", "/post_processor/single", "3"),
            "its template is not a list");
  EXPECT_EQ(with("bert", "/post_processor/single/2", R"({"Sequence": {}})"),
            "its template has the text twice");
  EXPECT_EQ(with("bert", "/post_processor/special_tokens", "{}"),
            "its template names a token that it does not list");
  EXPECT_EQ(with("bert", "/post_processor/special_tokens/[CLS]/ids/0", "5000"),
            "its template has an id that no token has");
  EXPECT_EQ(with("gpt2", "/post_processor/cls", "3"), "'cls' is not a token");
}

TEST(Tokeniser, SaysWhichExpressionItCannotRead) {
  auto mistake = [](std::string_view text) {
    Pattern pattern;
    return Pattern::read(text, pattern).text();
  };
  EXPECT_EQ(mistake(R"(a|(b[^c-e\p{Lu}]{2,3}+)(?i:x)(?!y)\u0041\x{1F600})"),
            "");
  EXPECT_EQ(mistake("(a"), "a ')' is missing");
  EXPECT_EQ(mistake("a)"), "a '(' is missing");
  EXPECT_EQ(mistake("[a"), "a ']' is missing");
  EXPECT_EQ(mistake("[z-a]"), "a range ends before it begins");
  EXPECT_EQ(mistake("[a&&b]"), "sets in sets are not supported");
  EXPECT_EQ(mistake("+a"), "'+' repeats nothing");
  EXPECT_EQ(mistake("a\\"), "an escape has no character");
  EXPECT_EQ(mistake("\\u12"), "a code is no character");
  EXPECT_EQ(mistake("\\x{41"), "a '}' is missing");
  EXPECT_EQ(mistake("\\pL"), "a property has no name");
  EXPECT_EQ(mistake("\\ba"), "'\\b' is not supported");
  EXPECT_EQ(mistake("(?<=a)b"), "'(?<' is not supported");
  EXPECT_EQ(mistake("\\p{Klingon}"), "the property 'Klingon' is not supported");
  EXPECT_EQ(mistake("a{9,3}"), "a count ends before it begins");
  EXPECT_EQ(mistake("((a{99}){99}){99}"), "it is too long");
  EXPECT_EQ(mistake(std::string(100000, '(')), "its groups nest too deep");
}

TEST(Tokeniser, SearchesInTimeOfTheText) {
  for (const char *text :
       {"(a*)*b", "(a|a)*(a|a)*b", "(?=(a+)+b)a", "(a?){9}b"}) {
    Pattern pattern;
    ASSERT_TRUE(Pattern::read(text, pattern).succeeded());
    int numMatches = 0;
    pattern.split(std::string(20000, 'a'), [&](std::string_view, bool isMatch) {
      numMatches += isMatch;
    });
    EXPECT_EQ(numMatches, 0);
  }
}

//===----------------------------------------------------------------------===//
// Damage
//===----------------------------------------------------------------------===//

/// Reads a file and, where it is one, cuts lines and joins them.
static void use(const std::string &text) {
  for (bool hasSentences : {false, true}) {
    Shared tokeniser;
    if (Tokeniser::read(text, hasSentences, tokeniser).failed())
      continue;
    auto count = static_cast<int64_t>(tokeniser->symbols().size());
    for (const std::string &line : lines()) {
      std::vector<int64_t> ids = idsOf(*tokeniser, line, true);
      for (int64_t id : ids) {
        ASSERT_GE(id, 0);
        ASSERT_LT(id, count);
      }
      textOf(*tokeniser, ids);
    }
  }
}

TEST(Tokeniser, SurvivesDamage) {
  std::mt19937 random(1);
  const std::vector<json> others = {nullptr,
                                    0,
                                    -1,
                                    1e300,
                                    4000000000,
                                    true,
                                    "",
                                    "a",
                                    "\xE2\x96\x81",
                                    "Sequence",
                                    json::array(),
                                    json::object(),
                                    json::array({json::array({"a", 1})})};
  for (const auto &[name, one] : golden()["tokenisers"].items()) {
    SCOPED_TRACE(name);
    json flat = one["file"].flatten();
    std::vector<std::string> places;
    for (const auto &[place, value] : flat.items())
      if (!place.starts_with("/model/vocab/") || places.size() % 7 == 0)
        places.push_back(place);
    for (int i = 0; i < 40; ++i) {
      json file = one["file"];
      std::string place = places[random() % places.size()];
      // The value itself, or one that it is in.
      for (unsigned up = random() % 3; up > 0 && place.rfind('/') > 0; --up)
        place.resize(place.rfind('/'));
      file[json::json_pointer(place)] = others[random() % others.size()];
      use(file.dump());
    }
    std::string text = one["file"].dump();
    for (int i = 0; i < 20; ++i) {
      std::string broken = text;
      broken[random() % broken.size()] = "0\"{}[],:\\\xFF"[random() % 10];
      use(i % 2 ? broken : text.substr(0, random() % text.size()));
    }
  }
}

//===- Brackets.cpp - constituents that two trees share -------------------===//

#include "metrics/Brackets.h"

using namespace fovea::metrics;

namespace {
/// A bracket that is open.
struct Open {
  std::u32string label;
  int64_t begin;
  bool hasInner = false;
};
} // namespace

/// What COLLINS.prm leaves out: punctuation, and what is not said.
static bool isDeleted(const std::u32string &tag) {
  for (const char32_t *deleted : {U",", U":", U"``", U"''", U".", U"-NONE-"})
    if (tag == deleted)
      return true;
  return false;
}

/// A label without its function: NP of NP-SBJ and NP=2, but all of -NONE-.
static std::u32string withoutFunction(const std::u32string &label) {
  size_t end = label.find_first_of(U"-=", 1);
  std::u32string own = label.substr(0, std::min(end, label.size()));
  return own == U"PRT" ? U"ADVP" : own;
}

static bool isRoot(const std::u32string &label) {
  return label.empty() || label == U"TOP" || label == U"ROOT" || label == U"S1";
}

std::optional<Tree> fovea::metrics::parseTree(std::string_view line) {
  std::u32string text = decode(line);
  // Whether the tree closes with labels.
  bool isLinear = false;
  for (size_t i = 0; i + 1 < text.size(); ++i)
    isLinear |= text[i] == U')' && text[i + 1] != U')' && text[i + 1] != U' ' &&
                text[i + 1] != U'(';
  Tree tree;
  std::vector<Open> open;
  bool isOver = false;
  auto wordAt = [&](size_t &i) {
    size_t begin = i;
    while (i < text.size() && text[i] != U' ' && text[i] != U'\t' &&
           text[i] != U'(' && text[i] != U')')
      ++i;
    return text.substr(begin, i - begin);
  };
  for (size_t i = 0; i < text.size();) {
    char32_t c = text[i];
    if (c == U' ' || c == U'\t') {
      ++i;
    } else if (isOver) {
      return std::nullopt;
    } else if (c == U'(') {
      if (!open.empty())
        open.back().hasInner = true;
      ++i;
      open.push_back({wordAt(i), tree.words});
    } else if (c == U')') {
      ++i;
      std::u32string closing = isLinear ? wordAt(i) : std::u32string();
      if (open.empty() || (isLinear && closing != open.back().label))
        return std::nullopt;
      Open last = std::move(open.back());
      open.pop_back();
      isOver = open.empty();
      bool isTag = !isLinear && !last.hasInner && tree.words <= last.begin + 1;
      if (isTag && isDeleted(last.label)) {
        tree.words = last.begin;
        tree.texts.resize(static_cast<size_t>(last.begin));
      }
      std::u32string label = withoutFunction(last.label);
      if (!isTag && !isRoot(label) && tree.words > last.begin)
        ++tree.constituents[{label, last.begin, tree.words}];
    } else {
      // A word outside of brackets.
      if (open.empty())
        return std::nullopt;
      std::u32string word = wordAt(i);
      tree.words += isLinear && isDeleted(word) ? 0 : 1;
      if (!isLinear)
        tree.texts.push_back(std::move(word));
    }
  }
  if (!isOver)
    return std::nullopt;
  return tree;
}

bool fovea::metrics::areComparable(const Tree &a, const Tree &b) {
  return a.words == b.words &&
         (a.texts.empty() || b.texts.empty() || a.texts == b.texts);
}

int64_t fovea::metrics::sharedOf(const Constituents &a, const Constituents &b) {
  int64_t shared = 0;
  for (const auto &[constituent, count] : a)
    if (auto found = b.find(constituent); found != b.end())
      shared += std::min(count, found->second);
  return shared;
}

int64_t fovea::metrics::numOf(const Constituents &constituents) {
  int64_t all = 0;
  for (const auto &[constituent, count] : constituents)
    all += count;
  return all;
}

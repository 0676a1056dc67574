//===- Ter.cpp - edits that may move words together -----------------------===//

#include "metrics/Ter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <unordered_map>

using namespace fovea::metrics;

namespace {

using Ids = std::vector<uint32_t>;

constexpr int64_t longestRun = 10, farthestMove = 50, narrowestBeam = 25,
                  mostTries = 1000;

/// What an edit does to the hypothesis to make it the reference.
enum class Edit : uint8_t { Keep, Replace, Remove, Insert };

/// Edit distances to one reference, near the diagonal of their table.
class EditTable {
public:
  explicit EditTable(const Ids &reference) : reference(reference) {}

  /// Fills the table and returns the distance.
  int64_t fill(const Ids &words);
  /// Returns the edits of the last table, from the end to the beginning.
  std::vector<Edit> edits() const;

private:
  struct Cell {
    int64_t distance = std::numeric_limits<int64_t>::max() / 2;
    Edit edit = Edit::Keep;
  };
  struct Row {
    int64_t begin = 0; // the column of the first cell
    std::vector<Cell> cells;
  };

  Cell at(int64_t row, int64_t column) const {
    int64_t place = column - rows[row].begin;
    return place < 0 || place >= int64_t(rows[row].cells.size())
               ? Cell()
               : rows[row].cells[place];
  }
  Cell next(int64_t row, int64_t column, uint32_t word) const;

  const Ids &reference;
  std::vector<Row> rows;
};

} // namespace

/// Computes a cell from its neighbours. On ties Tercom keeps or replaces, then
/// removes, then inserts.
EditTable::Cell EditTable::next(int64_t row, int64_t column,
                                uint32_t word) const {
  Cell best, above = at(row - 1, column);
  auto offer = [&](int64_t distance, Edit edit) {
    if (distance < best.distance)
      best = {distance, edit};
  };
  if (column == 0)
    return {above.distance + 1, Edit::Remove};
  bool isEqual = word == reference[column - 1];
  offer(at(row - 1, column - 1).distance + (isEqual ? 0 : 1),
        isEqual ? Edit::Keep : Edit::Replace);
  offer(above.distance + 1, Edit::Remove);
  offer(at(row, column - 1).distance + 1, Edit::Insert);
  return best;
}

int64_t EditTable::fill(const Ids &words) {
  auto height = int64_t(words.size()), width = int64_t(reference.size());
  rows.assign(height + 1, {});
  for (int64_t column = 0; column <= width; ++column)
    rows[0].cells.push_back({column, Edit::Insert});
  double slope = height == 0 ? 1 : double(width) / double(height);
  // Rows of a steep diagonal must still overlap.
  int64_t beam = std::max<int64_t>(
      narrowestBeam, slope / 2 > double(narrowestBeam)
                         ? std::ceil(slope / 2 + double(narrowestBeam))
                         : 0);
  for (int64_t row = 1; row <= height; ++row) {
    auto middle = int64_t(std::floor(double(row) * slope));
    int64_t begin = std::max<int64_t>(0, middle - beam),
            end =
                row == height ? width + 1 : std::min(width + 1, middle + beam);
    rows[row].begin = begin;
    for (int64_t column = begin; column < end; ++column)
      rows[row].cells.push_back(next(row, column, words[row - 1]));
  }
  return at(height, width).distance;
}

std::vector<Edit> EditTable::edits() const {
  std::vector<Edit> result;
  auto row = int64_t(rows.size()) - 1, column = int64_t(reference.size());
  while (row > 0 || column > 0) {
    Edit edit = at(row, column).edit;
    result.push_back(edit);
    row -= edit == Edit::Insert ? 0 : 1;
    column -= edit == Edit::Remove ? 0 : 1;
  }
  return result;
}

namespace {

/// Which words of both sides are wrong, and where each word of the reference
/// is in the hypothesis; -1: before its first word.
struct Alignment {
  explicit Alignment(const std::vector<Edit> &reversed) {
    int64_t place = -1;
    for (auto edit = reversed.rbegin(); edit != reversed.rend(); ++edit) {
      if (*edit != Edit::Insert) {
        ++place;
        ownErrors.push_back(*edit != Edit::Keep);
      }
      if (*edit != Edit::Remove) {
        places.push_back(place);
        errors.push_back(*edit != Edit::Keep);
      }
    }
  }

  std::vector<int64_t> places;
  std::vector<char> ownErrors, errors; // of the hypothesis, of the reference
};

/// Moves runs of a hypothesis that a reference has elsewhere.
class Mover {
public:
  Mover(Ids words, const Ids &reference)
      : words(std::move(words)), reference(reference), table(reference) {}

  int64_t count();

private:
  /// The move that saves most, and of several the longest, then the first,
  /// then that to the first place.
  struct Move {
    std::tuple<int64_t, int64_t, int64_t, int64_t> rank;
    Ids words;
  };

  bool findBest(Move &best);
  void tryRun(const Alignment &alignment, int64_t own, int64_t other,
              int64_t length, Move &best, bool &isFound);
  Ids moved(int64_t start, int64_t length, int64_t target) const;

  Ids words;
  const Ids &reference;
  EditTable table;
  int64_t distance = 0, tries = 0;
};

bool hasError(const std::vector<char> &errors, int64_t begin, int64_t length) {
  return std::find(errors.begin() + begin, errors.begin() + begin + length,
                   1) != errors.begin() + begin + length;
}

} // namespace

Ids Mover::moved(int64_t start, int64_t length, int64_t target) const {
  Ids result = words;
  auto begin = result.begin();
  if (target < start)
    std::rotate(begin + target, begin + start, begin + start + length);
  else if (target > start + length)
    std::rotate(begin + start, begin + start + length, begin + target);
  else // The target is within the run: move on by as many words.
    std::rotate(begin + start, begin + start + length,
                begin + std::min(length + target, int64_t(words.size())));
  return result;
}

void Mover::tryRun(const Alignment &alignment, int64_t own, int64_t other,
                   int64_t length, Move &best, bool &isFound) {
  if (!hasError(alignment.ownErrors, own, length) ||
      !hasError(alignment.errors, other, length))
    return;
  int64_t now = alignment.places[other];
  if (own <= now && now < own + length)
    return;
  int64_t last = -1;
  for (int64_t offset = -1; offset < length; ++offset) {
    int64_t place = other + offset;
    if (place >= int64_t(reference.size()))
      break;
    int64_t target = place < 0 ? 0 : alignment.places[place] + 1;
    if (target == last)
      continue;
    last = target;
    Ids shifted = moved(own, length, target);
    std::tuple rank(distance - table.fill(shifted), length, -own, -target);
    ++tries;
    if (!isFound || rank > best.rank)
      best = {rank, std::move(shifted)};
    isFound = true;
  }
}

/// Finds the best move of all runs that both sides have.
bool Mover::findBest(Move &best) {
  distance = table.fill(words);
  Alignment alignment(table.edits());
  bool isFound = false;
  auto rows = int64_t(words.size()), columns = int64_t(reference.size());
  for (int64_t own = 0; own < rows; ++own)
    for (int64_t other = std::max<int64_t>(0, own - farthestMove);
         other < std::min(columns, own + farthestMove + 1); ++other)
      for (int64_t length = 1;
           length <= longestRun && own + length <= rows &&
           other + length <= columns &&
           words[own + length - 1] == reference[other + length - 1];
           ++length) {
        tryRun(alignment, own, other, length, best, isFound);
        if (tries >= mostTries)
          return isFound;
      }
  return isFound;
}

int64_t Mover::count() {
  int64_t moves = 0;
  while (true) {
    Move best;
    if (!findBest(best) || tries >= mostTries || std::get<0>(best.rank) <= 0)
      break;
    words = std::move(best.words);
    ++moves;
  }
  return moves + table.fill(words);
}

int64_t fovea::metrics::translationEdits(const Tokens &hypothesis,
                                         const Tokens &reference) {
  if (reference.empty())
    return int64_t(hypothesis.size());
  std::unordered_map<std::u32string_view, uint32_t> ids;
  auto number = [&](const Tokens &tokens) {
    Ids result;
    for (const std::u32string &token : tokens)
      result.push_back(
          ids.try_emplace(token, uint32_t(ids.size())).first->second);
    return result;
  };
  Ids other = number(reference);
  return Mover(number(hypothesis), other).count();
}

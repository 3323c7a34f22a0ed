#include "bigram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pairpiece {

BigramModel::BigramModel(std::vector<uint64_t> row_begin, std::vector<uint32_t> next,
                         std::vector<float> count, std::vector<double> base, double smoothing)
    : row_begin_(std::move(row_begin)),
      next_(std::move(next)),
      count_(std::move(count)),
      base_(std::move(base)),
      row_total_(row_begin_.size() - 1, 0.0),
      smoothing_(smoothing) {
  for (size_t u = 0; u + 1 < row_begin_.size(); ++u)
    for (uint64_t i = row_begin_[u]; i < row_begin_[u + 1]; ++i) row_total_[u] += double(count_[i]);
  double lowest = 1;
  for (const double p : base_)
    if (p > 0) lowest = std::min(lowest, p);
  unknown_ = std::log(lowest) - 10;
}

double BigramModel::log_probability(uint32_t previous, uint32_t piece) const {
  if (piece == kUnknownPiece) return unknown_;
  // After an unknown character there is no row: the unigram distribution alone.
  if (previous == kUnknownPiece) return std::log(base_[piece]);
  const auto first = next_.begin() + ptrdiff_t(row_begin_[previous]);
  const auto last = next_.begin() + ptrdiff_t(row_begin_[previous + 1]);
  const auto found = std::lower_bound(first, last, piece);
  const double count =
      found != last && *found == piece ? double(count_[size_t(found - next_.begin())]) : 0.0;
  return std::log((count + smoothing_ * base_[piece]) / (row_total_[previous] + smoothing_));
}

void BigramModel::best(std::span<const Edge> edges, size_t length, Path& path) const {
  constexpr uint32_t kStart = ~uint32_t{0};
  constexpr double kImpossible = -std::numeric_limits<double>::infinity();
  const auto word_begin = uint32_t(row_begin_.size() - 2);
  std::vector<double> score(edges.size(), kImpossible);
  std::vector<uint32_t> before(edges.size(), kStart);
  // Edges by where they end, in the order of `edges`.
  std::vector<uint32_t> end_begin(length + 2, 0), by_end(edges.size());
  for (const Edge& edge : edges) ++end_begin[edge.end() + 1];
  for (size_t i = 0; i <= length; ++i) end_begin[i + 1] += end_begin[i];
  {
    std::vector<uint32_t> next(end_begin.begin(), end_begin.end() - 1);
    for (uint32_t e = 0; e < edges.size(); ++e) by_end[next[edges[e].end()]++] = e;
  }
  for (uint32_t e = 0; e < edges.size(); ++e) {
    if (edges[e].begin == 0) {
      score[e] = log_probability(word_begin, edges[e].piece);
      continue;
    }
    for (uint32_t i = end_begin[edges[e].begin]; i < end_begin[edges[e].begin + 1]; ++i) {
      const uint32_t previous = by_end[i];
      const double sum = score[previous] + log_probability(edges[previous].piece, edges[e].piece);
      if (sum > score[e]) {
        score[e] = sum;
        before[e] = previous;
      }
    }
  }
  path.edges.clear();
  path.score = kImpossible;
  uint32_t last = kStart;
  for (uint32_t i = end_begin[length]; i < end_begin[length + 1]; ++i) {
    if (score[by_end[i]] > path.score) {
      path.score = score[by_end[i]];
      last = by_end[i];
    }
  }
  for (; last != kStart; last = before[last]) path.edges.push_back(last);
  std::reverse(path.edges.begin(), path.edges.end());
}

}  // namespace pairpiece

#include "bigram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pairpiece {

BigramModel::BigramModel(SparseRows counts, std::vector<double> base, double smoothing)
    : counts_(std::move(counts)), base_(std::move(base)), smoothing_(smoothing) {
  counts_.check(base_.size() + 1, base_.size());
  row_total_.assign(counts_.rows(), 0.0);
  for (size_t u = 0; u < counts_.rows(); ++u)
    for (uint64_t i = counts_.begin[u]; i < counts_.begin[u + 1]; ++i)
      row_total_[u] += double(counts_.count[i]);
  unknown_ = unknown_log_probability(base_);
}

double BigramModel::log_probability(uint32_t previous, uint32_t piece) const {
  if (piece == kUnknownPiece) return unknown_;
  // After an unknown character there is no row: the unigram distribution alone.
  if (previous == kUnknownPiece) return std::log(base_[piece]);
  const double count = counts_.at(previous, piece);
  return std::log((count + smoothing_ * base_[piece]) / (row_total_[previous] + smoothing_));
}

void BigramModel::best(std::span<const Edge> edges, size_t length, Path& path) const {
  constexpr uint32_t kStart = ~uint32_t{0};
  constexpr double kImpossible = -std::numeric_limits<double>::infinity();
  const auto word_begin = uint32_t(counts_.rows() - 1);
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

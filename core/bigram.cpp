#include "bigram.hpp"

#include <algorithm>
#include <cmath>

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
  if (previous == kUnknownPiece) return possible(std::log(base_[piece]));
  const double count = counts_.at(previous, piece);
  return possible(std::log((count + smoothing_ * base_[piece]) / (row_total_[previous] + smoothing_)));
}

void BigramModel::best(std::span<const Edge> edges, size_t length, Path& path) const {
  constexpr uint32_t kStart = ~uint32_t{0};
  const auto word_begin = uint32_t(counts_.rows() - 1);
  std::vector<double> score(edges.size(), kImpossible);
  std::vector<uint32_t> before(edges.size(), kStart);
  // The edges that end where an edge begins, or the word ends, in the order of `edges`.
  std::vector<std::vector<uint32_t>> ending(length + 1);
  for (uint32_t e = 0; e < edges.size(); ++e) {
    const Edge& edge = edges[e];
    if (edge.begin == 0) score[e] = log_probability(word_begin, edge.piece);
    for (const uint32_t previous : ending[edge.begin]) {
      const double sum = score[previous] + log_probability(edges[previous].piece, edge.piece);
      if (sum > score[e]) {
        score[e] = sum;
        before[e] = previous;
      }
    }
    ending[edge.end()].push_back(e);
  }
  path.edges.clear();
  path.score = kImpossible;
  uint32_t last = kStart;
  for (const uint32_t e : ending[length]) {
    if (score[e] > path.score) {
      path.score = score[e];
      last = e;
    }
  }
  for (; last != kStart; last = before[last]) path.edges.push_back(last);
  std::reverse(path.edges.begin(), path.edges.end());
}

}  // namespace pairpiece

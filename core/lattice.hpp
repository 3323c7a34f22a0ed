// Dynamic programs over the segmentations of one word.
//
// A lattice has the positions 0..length and edges between them, sorted by (begin, length).  Besides
// the position every program carries k, the number of pieces so far, up to the entries of the prior
// less one, beyond which numbers are not told apart; a prior of one entry switches the counting off.
// `weight` and `prior` are probabilities, `log_weight` and `log_prior` their logarithms, in nats.
// Nothing here is recursive; cost is O(edges × prior entries).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace pairpiece {

struct Edge {
  uint32_t begin;
  uint32_t length : 8;
  uint32_t piece : 24;

  uint32_t end() const { return begin + length; }
};

// Part `i` of values that lie one part after the other, and part i from begin[i] on.
template <class T, class Offset>
std::span<const T> part_of(const std::vector<T>& values, const std::vector<Offset>& begin, size_t i) {
  return std::span(values).subspan(begin[i], begin[i + 1] - begin[i]);
}

// The edges of the words of a text, one word after the other.
struct WordEdges {
  std::vector<Edge> edges;
  std::vector<uint32_t> begin;    // words + 1 offsets into `edges`
  std::vector<uint32_t> lengths;  // of the words, in bytes

  size_t words() const { return lengths.size(); }
  void clear() {
    edges.clear();
    begin.assign(1, 0);
    lengths.clear();
  }
  std::span<const Edge> of(size_t word) const { return part_of(edges, begin, word); }
};

inline constexpr uint32_t kMaxPieces = (1u << 24) - 1;
inline constexpr uint32_t kUnknownPiece = kMaxPieces;  // an edge over a character outside the vocabulary
inline constexpr uint32_t kMaxPieceLength = 255;
inline constexpr size_t kMaxEdges = size_t{1} << 28;  // of a text; their numbers have 32 bits

// A character outside the vocabulary costs so many nats more than the worst piece.
inline constexpr double kUnknownPenalty = 10;
inline double unknown_log_probability(std::span<const double> base) {
  double lowest = 1;
  for (const double p : base)
    if (p > 0) lowest = std::min(lowest, p);
  return std::log(lowest) - kUnknownPenalty;
}

// Scores closer than this are equal, so that rounding does not decide between segmentations.
inline constexpr double kTie = 1e-9;

inline constexpr double kImpossible = -std::numeric_limits<double>::infinity();

// A log-probability that an edge can have, whatever tables hold: no sum of such is infinite, and what
// is not a number is the lowest.  So at least one segmentation always is possible.
inline double possible(double log_probability) {
  constexpr double kMost = 1e30;
  return log_probability > -kMost ? std::min(log_probability, kMost) : -kMost;
}

struct Path {
  std::vector<uint32_t> edges;  // indices, from left to right
  double score = 0;
};

class Lattice {
 public:
  // Refers to `edges`, which must outlive the programs run.
  void reset(size_t length, std::span<const Edge> edges) {
    length_ = length;
    edges_ = edges;
  }

  // Forward–backward with edge probabilities `weight` and prior probabilities `prior` of k pieces.
  // Sets flow[e] to the summed probability of all segmentations through edge e and returns that of
  // all segmentations, Z (docs/algorithm.md, eq. 4–5).
  double sums(std::span<const double> weight, std::span<const double> prior, std::span<double> flow);

  // The best segmentation by edge log-weights and log prior (eq. 1); of equals the one whose last
  // pieces are longer, and with fewer pieces.
  void best(std::span<const double> log_weight, std::span<const double> log_prior, Path& path);

  // Up to `count` different segmentations, best first.
  std::vector<Path> best_paths(std::span<const double> log_weight,
                               std::span<const double> log_prior, size_t count);

  // A segmentation drawn with probability proportional to exp(its score); `uniform` returns
  // numbers in [0, 1).
  void sample(std::span<const double> log_weight, std::span<const double> log_prior,
              const std::function<double()>& uniform, Path& path);

 private:
  size_t length_ = 0;
  std::span<const Edge> edges_;
  std::vector<double> forward_, backward_;
  struct Step {
    uint32_t edge;
    uint32_t from;  // the state before the edge
  };
  std::vector<Step> steps_;
};

}  // namespace pairpiece

// A bigram model distilled from tokenized text: p(t | the piece before it in the word).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "identity.hpp"
#include "lattice.hpp"

namespace pairpiece {

class BigramModel {
 public:
  // Row u holds the pieces that follow piece u, ascending, with their counts; the last row those
  // that begin a word.  `base` is the unigram distribution to smooth with (docs/algorithm.md,
  // eq. 17).
  BigramModel(std::vector<uint64_t> row_begin, std::vector<uint32_t> next, std::vector<float> count,
              std::vector<double> base, double smoothing);

  uint64_t identity() const { return identity_; }

  // The best segmentation of a word; ties as in Lattice::best.
  void best(std::span<const Edge> edges, size_t length, Path& path) const;

 private:
  double log_probability(uint32_t previous, uint32_t piece) const;

  std::vector<uint64_t> row_begin_;
  std::vector<uint32_t> next_;
  std::vector<float> count_;
  std::vector<double> base_, row_total_;
  double smoothing_;
  double unknown_;
  uint64_t identity_ = next_identity();
};

}  // namespace pairpiece

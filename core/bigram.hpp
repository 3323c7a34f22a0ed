// A bigram model distilled from tokenized text: p(t | the piece before it in the word).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "identity.hpp"
#include "lattice.hpp"
#include "sparse_rows.hpp"

namespace pairpiece {

class BigramModel {
 public:
  // Row u has the counts of the pieces that follow piece u, the last row of those that begin a word.
  // `base` is the unigram distribution to smooth with.  Throws std::invalid_argument if the sizes do
  // not fit.
  BigramModel(SparseRows counts, std::vector<double> base, double smoothing);

  uint64_t identity() const { return identity_; }

  // The best segmentation of a word; ties as in Lattice::best.
  void best(std::span<const Edge> edges, size_t length, Path& path) const;

 private:
  // log p(t | u) (docs/algorithm.md, eq. 18).
  double log_probability(uint32_t previous, uint32_t piece) const;

  SparseRows counts_;
  std::vector<double> base_, row_total_;
  double smoothing_;
  double unknown_;  // log-probability of a character outside the vocabulary
  uint64_t identity_ = next_identity();
};

}  // namespace pairpiece

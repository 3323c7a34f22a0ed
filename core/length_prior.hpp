// The length-parity prior: a word should have about as many pieces as its source side has tokens.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace pairpiece {

// Numbers of pieces above this are not told apart (docs/algorithm.md, eq. 8).
inline constexpr size_t kMaxCountedPieces = 12;

// Penalties in nats per piece.
struct LengthPenalty {
  double over = 0;      // for each piece more than expected
  double under = 0;     // for each piece fewer than expected
  double unlinked = 0;  // for each piece after the first of a word with no source side

  bool is_flat() const { return over == 0 && under == 0 && unlinked == 0; }
};

// The log prior of `pieces` pieces for a word of which `expected` are expected; an expectation of
// 0 stands for a word with no source side (eq. 8).
inline double log_length_prior(const LengthPenalty& penalty, size_t pieces, double expected) {
  const double count = double(std::min(pieces, kMaxCountedPieces));
  if (expected == 0) return -penalty.unlinked * std::max(0.0, count - 1);
  return -penalty.over * std::max(0.0, count - expected) -
         penalty.under * std::max(0.0, expected - count);
}

// The same of 0, 1, … pieces for a word of so many characters; one entry if it is flat.
inline void find_log_prior(const LengthPenalty& penalty, size_t length, double expected,
                           std::vector<double>& log_prior) {
  log_prior.assign(penalty.is_flat() ? 1 : std::min(length, kMaxCountedPieces) + 1, 0.0);
  for (size_t k = 0; k < log_prior.size() && !penalty.is_flat(); ++k)
    log_prior[k] = log_length_prior(penalty, k, expected);
}

}  // namespace pairpiece

// The seed vocabulary: every span of the training words up to a length, and the lattices it makes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lattice.hpp"
#include "pair_set.hpp"
#include "parallel.hpp"

namespace pairpiece {

struct SeedOptions {
  uint32_t max_piece_length = 16;
  double min_count = 2;             // of a seed of two or more characters
  size_t max_seeds = 0;             // keep the best by count × length; 0 for no cap
  double character_coverage = 1.0;  // characters beyond it are never pieces
  std::vector<std::u32string> forbidden;  // are never pieces
  // If given, no other spans of two or more characters are seeds, however often they occur.
  std::optional<std::vector<std::u32string>> allowed;
};

struct Seeds {
  std::vector<std::u32string> pieces;    // single characters first, then by first occurrence
  uint32_t characters = 0;               // the first so many pieces are the single characters
  std::vector<Edge> edges;               // of all words, one after the other
  std::vector<uint64_t> edge_begin;      // words + 1 offsets into `edges`
};

// There are no more pieces than kMaxPieces (the rarest are left out).  Words hold at most 2^32 - 1
// characters.  If interrupted, what it returns is of no use.
Seeds find_seeds(const PairSet& pairs, const SeedOptions& options, const Interrupted& interrupted);

// An upper bound of the memory find_seeds takes, in bytes.
uint64_t seed_bytes(const std::vector<std::u32string>& words, uint32_t max_piece_length);

}  // namespace pairpiece

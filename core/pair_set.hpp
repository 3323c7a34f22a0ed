// The training examples: distinct pairs of a target word and the source tokens it is aligned with.
#pragma once

#include <cstdint>
#include <ranges>
#include <string>
#include <vector>

namespace pairpiece {

// Pairs are grouped by word.  Source id 0 is NULL, the source of unlinked words.
struct PairSet {
  std::vector<std::u32string> words;
  std::vector<uint64_t> pair_begin;    // words + 1 offsets into the pairs
  std::vector<double> count;           // of each pair, n
  std::vector<double> expected;        // of each pair, m; 0 if it is unlinked
  std::vector<uint64_t> source_begin;  // pairs + 1 offsets into the next two
  std::vector<uint32_t> source;        // distinct source tokens of each pair, ascending
  std::vector<uint32_t> multiplicity;  // how often each of them stands in the pair
  uint32_t sources = 1;                // size of the source vocabulary, NULL included

  // Throws std::invalid_argument unless all sizes, offsets and numbers fit together.
  void check() const;

  // The numbers of the pairs of a word, and of the sources of a pair.
  auto pairs_of(size_t word) const {
    return std::views::iota(pair_begin[word], pair_begin[word + 1]);
  }
  auto sources_of(uint64_t pair) const {
    return std::views::iota(source_begin[pair], source_begin[pair + 1]);
  }

  // How often the word occurs, over all its pairs.
  double word_count(size_t word) const {
    double sum = 0;
    for (const uint64_t p : pairs_of(word)) sum += count[p];
    return sum;
  }
  // |S|.
  double size_of(uint64_t pair) const {
    double sum = 0;
    for (const uint64_t i : sources_of(pair)) sum += multiplicity[i];
    return sum;
  }
};

}  // namespace pairpiece

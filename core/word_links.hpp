// Word links from evidence, symmetrised as in training.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace pairpiece {

using Link = std::pair<uint32_t, uint32_t>;  // (source word, target word)

// Finds links between the words of a sentence and its translation; memory of one thread.
class LinkFinder {
 public:
  // `evidence[target × sources + source]` says how much likelier the target word is given the
  // source word than given none; all zero where nothing can be said.  The links are sorted.
  std::vector<Link> find(std::span<const double> evidence, size_t sources, size_t targets);

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};

  // Each target word chooses a source word, and each source word a target word: those with the
  // highest share of the evidence, given where in the source each target word is expected.
  template <class Prior>
  void choose(std::span<const double> evidence, Prior prior);
  // Where the words between those that chose each other are expected.
  void expect_between_anchors();
  void grow_from_anchors();
  void link_what_is_left(std::span<const double> evidence);
  void link(size_t source, size_t target);

  size_t sources_ = 0, targets_ = 0;
  std::vector<double> expected_;  // place in the source, by target word
  std::vector<double> beliefs_;   // of one target word in each source word
  std::vector<uint32_t> of_target_, of_source_;  // what was chosen, or kNone
  std::vector<uint8_t> linked_;                  // as `evidence`
  std::vector<uint32_t> links_of_target_, links_of_source_;
};

}  // namespace pairpiece

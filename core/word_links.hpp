// Word links from evidence, symmetrised as in training.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "symmetrization.hpp"

namespace pairpiece {

// Finds links between the words of a sentence and its translation; memory of one thread.
class LinkFinder {
 public:
  // `evidence[target × sources + source]` says how much likelier the target word is given the
  // source word than given none; all zero where nothing can be said.  The links are sorted.
  std::vector<Link> find(std::span<const double> evidence, size_t sources, size_t targets);

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};

  // Each target word chooses a source word, and each source word a target word: those with the
  // highest share of the evidence, given how likely a source word is at a distance from where the
  // target word is expected.
  template <class Nearness>
  void choose(std::span<const double> evidence, Nearness nearness);
  // Where the words between those that chose each other are expected.
  void expect_between_anchors();
  // The choices of both sides as one set of links.
  std::vector<Link> symmetrized_choices();
  // Links words that nothing is known about with those that are left over at the same place.
  void link_what_is_left(std::span<const double> evidence, std::vector<Link>& links);

  size_t sources_ = 0, targets_ = 0;
  std::vector<double> expected_;  // place in the source, by target word
  std::vector<double> beliefs_;   // of one target word in each source word
  std::vector<uint32_t> of_target_, of_source_;  // what was chosen, or kNone
  std::vector<Link> forward_, reverse_;          // the same as links
  std::vector<uint8_t> source_linked_, target_linked_;
};

}  // namespace pairpiece

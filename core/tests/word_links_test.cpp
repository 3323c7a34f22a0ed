// Links from evidence: the clear ones, those next to them, and what is left over.

#include <random>

#include "check.hpp"
#include "word_links.hpp"

using namespace pairpiece;

namespace {

// Evidence of 1 everywhere (the source says nothing), but 1000 for the given (source, target) pairs.
std::vector<double> evidence_for(size_t sources, size_t targets, const std::vector<Link>& known) {
  std::vector<double> evidence(sources * targets, 1.0);
  for (const auto& [source, target] : known) evidence[target * sources + source] = 1000;
  return evidence;
}

std::vector<Link> found(size_t sources, size_t targets, const std::vector<Link>& known) {
  return find_links(evidence_for(sources, targets, known), sources, targets);
}

}  // namespace

TEST(words_that_explain_each_other_are_linked) {
  const std::vector<Link> swapped{{0, 0}, {1, 2}, {2, 1}, {3, 3}};
  CHECK(found(4, 4, swapped) == swapped);
}

TEST(a_neighbour_joins) {
  // Two source words for one target word, and two target words for one source word.
  CHECK((found(3, 2, {{0, 0}, {1, 0}, {2, 1}}) == std::vector<Link>{{0, 0}, {1, 0}, {2, 1}}));
  CHECK((found(2, 3, {{0, 0}, {1, 1}, {1, 2}}) == std::vector<Link>{{0, 0}, {1, 1}, {1, 2}}));
}

TEST(what_nothing_is_known_about_is_linked_between_its_neighbours) {
  CHECK((found(3, 3, {{0, 0}, {2, 2}}) == std::vector<Link>{{0, 0}, {1, 1}, {2, 2}}));
  // Not where no source word is left over.
  CHECK((found(2, 3, {{0, 0}, {1, 2}}) == std::vector<Link>{{0, 0}, {1, 2}}));
}

TEST(what_nothing_can_be_said_about_stays_alone) {
  auto evidence = evidence_for(3, 3, {{0, 0}, {2, 2}});
  for (size_t s = 0; s < 3; ++s) evidence[1 * 3 + s] = 0;
  CHECK((find_links(evidence, 3, 3) == std::vector<Link>{{0, 0}, {2, 2}}));
}

TEST(links_are_between_words_that_are_there) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    const size_t sources = 1 + random() % 9, targets = 1 + random() % 9;
    std::vector<double> evidence(sources * targets);
    for (double& e : evidence) e = random() % 4 == 0 ? double(random() % 100) : 0;
    for (const auto& [source, target] : find_links(evidence, sources, targets))
      CHECK(source < sources && target < targets);
  }
}

// grow-diag-final-and is what its definition says.

#include <algorithm>
#include <random>
#include <set>

#include "check.hpp"
#include "symmetrization.hpp"

using namespace pairpiece;

namespace {

using Links = std::set<Link>;

std::vector<Link> grown(const Links& forward, const Links& reverse) {
  const std::vector<Link> one(forward.begin(), forward.end()), other(reverse.begin(), reverse.end());
  return grow_diag_final_and(one, other);
}

// The published pseudo-code, over the whole matrix of words, as slow as it is plain.
std::vector<Link> grown_by_definition(const Links& forward, const Links& reverse, uint32_t size) {
  Links either = forward, links;
  either.insert(reverse.begin(), reverse.end());
  for (const Link& link : forward)
    if (reverse.contains(link)) links.insert(link);
  const auto source_is_free = [&](uint32_t word) {
    return std::none_of(links.begin(), links.end(), [&](Link link) { return link.first == word; });
  };
  const auto target_is_free = [&](uint32_t word) {
    return std::none_of(links.begin(), links.end(), [&](Link link) { return link.second == word; });
  };
  const std::pair<int, int> beside[] = {{-1, 0},  {0, -1}, {1, 0},  {0, 1},
                                        {-1, -1}, {-1, 1}, {1, -1}, {1, 1}};
  for (size_t before = ~size_t{0}; before != links.size();) {
    before = links.size();
    for (uint32_t s = 0; s < size; ++s)
      for (uint32_t t = 0; t < size; ++t)
        for (const auto& [down, right] : beside) {
          const Link link{s + uint32_t(down), t + uint32_t(right)};
          if (links.contains({s, t}) && either.contains(link) &&
              (source_is_free(link.first) || target_is_free(link.second)))
            links.insert(link);
        }
  }
  for (const Links& direction : {forward, reverse})
    for (const Link& link : direction)
      if (source_is_free(link.first) && target_is_free(link.second)) links.insert(link);
  return {links.begin(), links.end()};
}

}  // namespace

TEST(two_directions_grow_as_the_definition_says) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    const uint32_t size = 1 + random() % 8;
    Links directions[2];
    for (Links& links : directions)
      for (size_t k = random() % 20; k > 0; --k)
        links.emplace(uint32_t(random() % size), uint32_t(random() % size));
    CHECK(grown(directions[0], directions[1]) ==
          grown_by_definition(directions[0], directions[1], size));
  }
}

TEST(without_anchors_free_words_are_linked) {
  CHECK(grown({}, {}).empty());
  CHECK((grown({{3, 1}}, {}) == std::vector<Link>{{3, 1}}));
  CHECK((grown({{0, 0}}, {{0, 1}, {1, 1}}) == std::vector<Link>{{0, 0}, {1, 1}}));
}

// grow-diag-final-and is what its definition says.

#include <algorithm>
#include <random>
#include <set>

#include "check.hpp"
#include "symmetrization.hpp"

using namespace pairpiece;

namespace {

using Links = std::set<Link>;

Links random_links(std::mt19937& random, uint32_t size) {
  Links links;
  for (size_t k = random() % 20; k > 0; --k)
    links.emplace(uint32_t(random() % size), uint32_t(random() % size));
  return links;
}

std::vector<Link> grown(const Links& forward, const Links& reverse, Growth growth) {
  const std::vector<Link> one(forward.begin(), forward.end()), other(reverse.begin(), reverse.end());
  return grow_diag_final_and(one, other, growth);
}

// The links so far, which say which words are free.
struct Growing {
  Links either, links;

  Growing(const Links& forward, const Links& reverse) : either(forward) {
    either.insert(reverse.begin(), reverse.end());
    for (const Link& link : forward)
      if (reverse.contains(link)) links.insert(link);
  }
  bool source_is_free(const Link& wanted) const {
    return std::none_of(links.begin(), links.end(),
                        [&](const Link& link) { return link.first == wanted.first; });
  }
  bool target_is_free(const Link& wanted) const {
    return std::none_of(links.begin(), links.end(),
                        [&](const Link& link) { return link.second == wanted.second; });
  }
  bool add(const Link& link) {
    return either.contains(link) && (source_is_free(link) || target_is_free(link)) &&
           links.insert(link).second;
  }
  std::vector<Link> finish(const Links& forward, const Links& reverse) {
    for (const Links& direction : {forward, reverse})
      for (const Link& link : direction)
        if (source_is_free(link) && target_is_free(link)) links.insert(link);
    return {links.begin(), links.end()};
  }
};

// The published pseudo-code, over the whole matrix of words, as slow as it is plain.
std::vector<Link> grown_by_definition(const Links& forward, const Links& reverse, uint32_t size) {
  const std::pair<int, int> beside[] = {{-1, 0},  {0, -1}, {1, 0},  {0, 1},
                                        {-1, -1}, {-1, 1}, {1, -1}, {1, 1}};
  Growing growing(forward, reverse);
  for (size_t before = ~size_t{0}; before != growing.links.size();) {
    before = growing.links.size();
    for (uint32_t s = 0; s < size; ++s)
      for (uint32_t t = 0; t < size; ++t)
        for (const auto& [down, right] : beside)
          if (growing.links.contains({s, t})) growing.add({s + uint32_t(down), t + uint32_t(right)});
  }
  return growing.finish(forward, reverse);
}

// One after the other, from the links of both directions on, target word by target word.
std::vector<Link> grown_outward(const Links& forward, const Links& reverse) {
  Growing growing(forward, reverse);
  std::vector<Link> open(growing.links.begin(), growing.links.end());
  std::stable_sort(open.begin(), open.end(),
                   [](const Link& a, const Link& b) { return a.second < b.second; });
  for (size_t i = 0; i < open.size(); ++i)
    for (int right = -1; right <= 1; ++right)
      for (int down = -1; down <= 1; ++down) {
        const Link link{open[i].first + uint32_t(down), open[i].second + uint32_t(right)};
        if (growing.add(link)) open.push_back(link);
      }
  return growing.finish(forward, reverse);
}

}  // namespace

TEST(two_directions_grow_as_the_definition_says) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    const uint32_t size = 1 + random() % 8;
    const Links forward = random_links(random, size), reverse = random_links(random, size);
    CHECK(grown(forward, reverse, Growth::passes) == grown_by_definition(forward, reverse, size));
  }
}

TEST(without_anchors_free_words_are_linked) {
  const auto links = [](const Links& forward, const Links& reverse) {
    return grown(forward, reverse, Growth::passes);
  };
  CHECK(links({}, {}).empty());
  CHECK((links({{3, 1}}, {}) == std::vector<Link>{{3, 1}}));
  CHECK((links({{0, 0}}, {{0, 1}, {1, 1}}) == std::vector<Link>{{0, 0}, {1, 1}}));
}

TEST(outward_links_grow_as_they_come) {
  std::mt19937 random(2);
  size_t different = 0;
  for (int round = 0; round < 3000; ++round) {
    const uint32_t size = 1 + random() % 8;
    const Links forward = random_links(random, size), reverse = random_links(random, size);
    const auto links = grown(forward, reverse, Growth::outward);
    CHECK(links == grown_outward(forward, reverse));
    different += links != grown(forward, reverse, Growth::passes);
  }
  CHECK(different > 0);
}

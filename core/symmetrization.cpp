#include "symmetrization.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <queue>

namespace pairpiece {
namespace {

using Steps = std::array<std::pair<int, int>, 8>;
constexpr Steps kSidesFirst{{{-1, 0}, {0, -1}, {1, 0}, {0, 1}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}}};
constexpr Steps kByTarget{{{-1, -1}, {0, -1}, {1, -1}, {-1, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1}}};

bool by_target(const Link& a, const Link& b) {
  return std::pair(a.second, a.first) < std::pair(b.second, b.first);
}

}  // namespace

std::vector<Link> grow_diag_final_and(std::span<const Link> forward, std::span<const Link> reverse,
                                      Growth growth) {
  std::vector<Link> either, links;
  either.reserve(forward.size() + reverse.size());
  links.reserve(forward.size() + reverse.size());
  std::set_union(forward.begin(), forward.end(), reverse.begin(), reverse.end(),
                 std::back_inserter(either));
  std::set_intersection(forward.begin(), forward.end(), reverse.begin(), reverse.end(),
                        std::back_inserter(links));
  if (links.size() == either.size()) return links;
  uint32_t words = 0;
  for (const auto& [source, target] : either) words = std::max({words, source + 1, target + 1});
  std::vector<bool> source_linked(words), target_linked(words);
  const auto mark = [&](const Link& link) {
    source_linked[link.first] = target_linked[link.second] = true;
  };
  for (const Link& link : links) mark(link);

  // Links grow in turns, those of both directions first.  By passes, a link that is added ahead has
  // its turn in the same pass, any other in the next; outward, one after the other.
  const bool outward = growth == Growth::outward;
  if (outward) std::sort(links.begin(), links.end(), by_target);
  using Turn = std::pair<size_t, Link>;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
  for (const Link& link : links) turns.emplace(outward ? turns.size() : 0, link);
  while (!turns.empty()) {
    const auto [turn, here] = turns.top();
    turns.pop();
    for (const auto& [down, right] : outward ? kByTarget : kSidesFirst) {
      // Below 0 lies a number above those of all words.
      const Link link{here.first + uint32_t(down), here.second + uint32_t(right)};
      if (link.first >= words || link.second >= words ||
          (source_linked[link.first] && target_linked[link.second]) ||
          !std::binary_search(either.begin(), either.end(), link))
        continue;
      mark(link);
      turns.emplace(outward ? links.size() : turn + (link < here), link);
      links.push_back(link);
    }
  }
  for (const auto& direction : {forward, reverse}) {
    for (const Link& link : direction) {
      if (source_linked[link.first] || target_linked[link.second]) continue;
      mark(link);
      links.push_back(link);
    }
  }
  std::sort(links.begin(), links.end());
  return links;
}

}  // namespace pairpiece

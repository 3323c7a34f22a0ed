#include "symmetrization.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <functional>
#include <iterator>
#include <queue>

namespace pairpiece {
namespace {

using Steps = std::array<std::pair<int, int>, 8>;
constexpr Steps kSidesFirst{{{-1, 0}, {0, -1}, {1, 0}, {0, 1}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}}};
constexpr Steps kByTarget{{{-1, -1}, {0, -1}, {1, -1}, {-1, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1}}};

// A link whose neighbours are to be looked at, and when.
struct Waiting {
  size_t turn;
  Link link;
  auto operator<=>(const Waiting&) const = default;
};

bool by_target(const Link& a, const Link& b) {
  return std::pair(a.second, a.first) < std::pair(b.second, b.first);
}

}  // namespace

std::vector<Link> grow_diag_final_and(std::span<const Link> forward, std::span<const Link> reverse,
                                      Growth growth) {
  std::vector<Link> either, links;
  std::set_union(forward.begin(), forward.end(), reverse.begin(), reverse.end(),
                 std::back_inserter(either));
  std::set_intersection(forward.begin(), forward.end(), reverse.begin(), reverse.end(),
                        std::back_inserter(links));
  size_t words = 0;
  for (const auto& [source, target] : either)
    words = std::max({words, size_t(source) + 1, size_t(target) + 1});
  std::vector<bool> source_linked(words), target_linked(words);
  const auto mark = [&](const Link& link) {
    source_linked[link.first] = target_linked[link.second] = true;
  };
  // In passes, a link that is added ahead has its turn in the same pass, any other in the next;
  // outward, they take turns as they come.
  const bool outward = growth == Growth::outward;
  if (outward) std::sort(links.begin(), links.end(), by_target);
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> queue;
  for (const Link& link : links) {
    mark(link);
    queue.push({outward ? queue.size() : 0, link});
  }
  while (!queue.empty()) {
    const Waiting here = queue.top();
    queue.pop();
    for (const auto& [down, right] : outward ? kByTarget : kSidesFirst) {
      // Below 0 lies a number that no word has.
      const Link link{here.link.first + uint32_t(down), here.link.second + uint32_t(right)};
      if (!std::binary_search(either.begin(), either.end(), link) ||
          (source_linked[link.first] && target_linked[link.second]))
        continue;
      mark(link);
      queue.push({outward ? links.size() : here.turn + (link < here.link), link});
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

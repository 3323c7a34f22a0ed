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

  // Adds what can grow from a link, and calls tell(link) for each.
  const auto grow = [&](const Link here, const Steps& steps, auto tell) {
    for (const auto& [down, right] : steps) {
      // Below 0 lies a number above those of all words.
      const Link link{here.first + uint32_t(down), here.second + uint32_t(right)};
      if (link.first >= words || link.second >= words ||
          (source_linked[link.first] && target_linked[link.second]) ||
          !std::binary_search(either.begin(), either.end(), link))
        continue;
      mark(link);
      links.push_back(link);
      tell(link);
    }
  };
  if (growth == Growth::outward) {
    std::sort(links.begin(), links.end(), by_target);
    for (size_t i = 0; i < links.size(); ++i) grow(links[i], kByTarget, [](const Link&) {});
  } else {
    // A link that is added ahead has its turn in the same pass, any other in the next.
    using Turn = std::pair<size_t, Link>;
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
    for (const Link& link : links) turns.emplace(0, link);
    while (!turns.empty()) {
      const Turn turn = turns.top();
      turns.pop();
      grow(turn.second, kSidesFirst, [&](const Link& link) {
        turns.emplace(turn.first + (link < turn.second), link);
      });
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

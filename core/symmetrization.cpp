#include "symmetrization.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <queue>

namespace pairpiece {
namespace {

// The links chosen so far, and the words that have none.
class Selection {
 public:
  // `candidates` are sorted.
  explicit Selection(std::span<const Link> candidates)
      : candidates_(candidates), chosen_(candidates.size(), false) {
    uint32_t last_target = 0;
    for (const Link& link : candidates) last_target = std::max(last_target, link.second);
    if (candidates.empty()) return;
    source_linked_.resize(size_t(candidates.back().first) + 1);
    target_linked_.resize(size_t(last_target) + 1);
  }

  bool source_is_free(const Link& link) const { return !source_linked_[link.first]; }
  bool target_is_free(const Link& link) const { return !target_linked_[link.second]; }

  // Requires a candidate.
  void choose(const Link& link) {
    chosen_[size_t(place_of(link) - candidates_.begin())] = true;
    source_linked_[link.first] = target_linked_[link.second] = true;
  }

  bool is_candidate(const Link& link) const {
    const auto place = place_of(link);
    return place != candidates_.end() && *place == link;
  }

  std::vector<Link> chosen() const {
    std::vector<Link> links;
    for (size_t i = 0; i < candidates_.size(); ++i)
      if (chosen_[i]) links.push_back(candidates_[i]);
    return links;
  }

 private:
  std::span<const Link>::iterator place_of(const Link& link) const {
    return std::lower_bound(candidates_.begin(), candidates_.end(), link);
  }

  std::span<const Link> candidates_;
  std::vector<bool> chosen_, source_linked_, target_linked_;
};

constexpr std::pair<int, int> kNeighbours[] = {{-1, 0},  {0, -1}, {1, 0},  {0, 1},
                                               {-1, -1}, {-1, 1}, {1, -1}, {1, 1}};

// Pass after pass over the links in order; one that is added ahead grows in the same pass.
void grow_diag(std::vector<Link> links, Selection& selection) {
  while (!links.empty()) {
    std::priority_queue<Link, std::vector<Link>, std::greater<>> waiting(std::greater<>(),
                                                                        std::move(links));
    links.clear();
    while (!waiting.empty()) {
      const Link here = waiting.top();
      waiting.pop();
      for (const auto& [down, right] : kNeighbours) {
        // Below 0 lies a number that no word has.
        const Link link{here.first + uint32_t(down), here.second + uint32_t(right)};
        if (!selection.is_candidate(link)) continue;
        if (!selection.source_is_free(link) && !selection.target_is_free(link)) continue;
        selection.choose(link);
        if (link > here)
          waiting.push(link);
        else
          links.push_back(link);
      }
    }
  }
}

}  // namespace

std::vector<Link> grow_diag_final_and(std::span<const Link> forward, std::span<const Link> reverse) {
  std::vector<Link> either, both;
  std::set_union(forward.begin(), forward.end(), reverse.begin(), reverse.end(),
                 std::back_inserter(either));
  std::set_intersection(forward.begin(), forward.end(), reverse.begin(), reverse.end(),
                        std::back_inserter(both));
  if (both.size() == either.size()) return both;
  Selection selection(either);
  for (const Link& link : both) selection.choose(link);
  grow_diag(std::move(both), selection);
  for (const auto& direction : {forward, reverse})
    for (const Link& link : direction)
      if (selection.source_is_free(link) && selection.target_is_free(link)) selection.choose(link);
  return selection.chosen();
}

}  // namespace pairpiece

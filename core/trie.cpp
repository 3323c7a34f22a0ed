#include "trie.hpp"

#include <algorithm>
#include <numeric>

namespace pairpiece {
namespace {

constexpr uint32_t kBlock = 256;
// Beyond so many places tried, children go to a new block: a little memory for much time.
constexpr int kTries = 64;

// Which places of the array are free.
class Places {
 public:
  size_t size() const { return next_.size(); }
  // A base such that base ^ label is free for all labels, which are then taken.
  uint32_t take(std::string_view labels) {
    const auto first = static_cast<unsigned char>(labels[0]);
    uint32_t place = 0;
    for (int tries = 0; tries < kTries; ++tries, ++place) {
      place = next_free(place);
      if (place == next_.size()) break;
      const uint32_t base = place ^ first;
      const bool fits = std::all_of(labels.begin(), labels.end(), [&](char label) {
        const uint32_t wanted = base ^ static_cast<unsigned char>(label);
        return next_[wanted] == wanted;
      });
      if (fits) return take(base, labels);
    }
    const auto base = uint32_t(next_.size());
    next_.resize(base + kBlock);
    std::iota(next_.begin() + base, next_.end(), base);
    return take(base, labels);
  }

 private:
  uint32_t take(uint32_t base, std::string_view labels) {
    for (const char label : labels) {
      const uint32_t place = base ^ static_cast<unsigned char>(label);
      next_[place] = place + 1;
    }
    return base;
  }
  uint32_t next_free(uint32_t place) {
    while (place < next_.size() && next_[place] != place) {
      // Places that are taken point ever farther, so that the way gets shorter.
      const uint32_t next = next_[place];
      if (next < next_.size()) next_[place] = next_[next];
      place = next;
    }
    return place;
  }

  std::vector<uint32_t> next_;  // a free place points to itself
};

}  // namespace

Trie::Trie(const std::vector<std::string>& keys) {
  std::vector<uint32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });

  // Breadth first: a range of the sorted keys that share `depth` bytes becomes one node.
  struct Range {
    size_t begin, end, depth;
    uint32_t node;
  };
  Places places;
  std::vector<Range> ranges{{0, order.size(), 0, places.take(std::string_view("\0", 1))}};
  units_.resize(places.size());
  std::string labels;
  for (size_t next = 0; next < ranges.size(); ++next) {
    Range range = ranges[next];
    while (range.begin < range.end && keys[order[range.begin]].size() == range.depth) {
      int32_t& id = units_[range.node].id;
      if (range.depth > 0 && id < 0) id = int32_t(order[range.begin]);
      ++range.begin;
    }
    if (range.begin == range.end) continue;
    const auto byte_at = [&](size_t i) { return keys[order[i]][range.depth]; };
    labels.clear();
    for (size_t i = range.begin; i < range.end; ++i)
      if (labels.empty() || byte_at(i) != labels.back()) labels += byte_at(i);
    const uint32_t base = places.take(labels);
    units_.resize(places.size());
    units_[range.node].base = base;
    size_t begin = range.begin;
    for (const char label : labels) {
      size_t end = begin;
      while (end < range.end && byte_at(end) == label) ++end;
      const uint32_t child = base ^ static_cast<unsigned char>(label);
      units_[child].parent = range.node;
      ranges.push_back({begin, end, range.depth + 1, child});
      begin = end;
    }
  }
}

}  // namespace pairpiece

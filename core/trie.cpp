#include "trie.hpp"

#include <algorithm>
#include <numeric>

namespace pairpiece {

Trie::Trie(const std::vector<std::string>& keys) {
  root_.fill(kNone);
  std::vector<uint32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });

  // Breadth first: a range of the sorted keys that share `depth` bytes becomes one node.
  struct Range {
    size_t begin, end, depth;
    uint32_t node;
  };
  std::vector<Range> queue{{0, order.size(), 0, kNone}};
  for (size_t next = 0; next < queue.size(); ++next) {
    Range range = queue[next];
    while (range.begin < range.end && keys[order[range.begin]].size() == range.depth) {
      if (range.node != kNone && nodes_[range.node].id < 0)
        nodes_[range.node].id = int32_t(order[range.begin]);
      ++range.begin;
    }
    const auto first_child = uint32_t(nodes_.size());
    for (size_t begin = range.begin; begin < range.end;) {
      const char byte = keys[order[begin]][range.depth];
      size_t end = begin;
      while (end < range.end && keys[order[end]][range.depth] == byte) ++end;
      const auto node = uint32_t(nodes_.size());
      nodes_.push_back({});
      labels_.push_back(static_cast<unsigned char>(byte));
      if (range.node == kNone) root_[static_cast<unsigned char>(byte)] = node;
      queue.push_back({begin, end, range.depth + 1, node});
      begin = end;
    }
    if (range.node != kNone) {
      nodes_[range.node].first_child = first_child;
      nodes_[range.node].children = uint32_t(nodes_.size()) - first_child;
    }
  }
}

}  // namespace pairpiece

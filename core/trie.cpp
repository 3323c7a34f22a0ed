#include "trie.hpp"

#include <algorithm>
#include <numeric>

namespace pairpiece {

Trie::Trie(const std::vector<std::string>& keys) {
  std::vector<uint32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });

  // Breadth first: a range of the sorted keys that share `depth` bytes becomes one node.
  struct Range {
    size_t begin, end, depth;
  };
  std::vector<Range> ranges{{0, order.size(), 0}};  // of each node
  nodes_.push_back({});
  labels_.push_back(0);
  for (uint32_t node = 0; node < ranges.size(); ++node) {
    Range range = ranges[node];
    while (range.begin < range.end && keys[order[range.begin]].size() == range.depth) {
      if (range.depth > 0 && nodes_[node].id < 0) nodes_[node].id = int32_t(order[range.begin]);
      ++range.begin;
    }
    nodes_[node].first_child = uint32_t(nodes_.size());
    for (size_t begin = range.begin; begin < range.end;) {
      const char byte = keys[order[begin]][range.depth];
      size_t end = begin;
      while (end < range.end && keys[order[end]][range.depth] == byte) ++end;
      nodes_.push_back({});
      labels_.push_back(static_cast<unsigned char>(byte));
      ranges.push_back({begin, end, range.depth + 1});
      begin = end;
    }
    Node& finished = nodes_[node];
    finished.children = uint16_t(nodes_.size() - finished.first_child);
    if (finished.children > kFewChildren && tables_.size() < 0xFFFF) {
      tables_.emplace_back().fill(kNone);
      for (uint32_t k = finished.first_child; k < nodes_.size(); ++k) tables_.back()[labels_[k]] = k;
      finished.table = uint16_t(tables_.size());
    }
  }
}

}  // namespace pairpiece

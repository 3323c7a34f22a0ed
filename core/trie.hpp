// An immutable set of byte strings with their ids, made for "which pieces begin here?".
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pairpiece {

class Trie {
 public:
  // `keys[i]` gets the id i; empty keys are left out; of equal keys the first is kept.
  explicit Trie(const std::vector<std::string>& keys);

  // Calls visit(length in bytes, id) for every key that is a prefix of `text`, shortest first.
  template <class Visit>
  void each_prefix(std::string_view text, Visit visit) const {
    uint32_t node = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      node = child(nodes_[node], static_cast<unsigned char>(text[i]));
      if (node == kNone) return;
      if (nodes_[node].id >= 0) visit(i + 1, nodes_[node].id);
    }
  }

  // The id of `key`, or -1.
  int32_t find(std::string_view key) const {
    int32_t found = -1;
    each_prefix(key, [&](size_t length, int32_t id) {
      if (length == key.size()) found = id;
    });
    return found;
  }

 private:
  static constexpr uint32_t kNone = 0;  // no node has the root as its child
  static constexpr uint16_t kFewChildren = 6;
  struct Node {
    uint32_t first_child = 0;  // children are adjacent, in the order of their labels
    uint16_t children = 0;
    uint16_t table = 0;  // 1 + which of `tables_`, for nodes with more than a few children
    int32_t id = -1;
  };

  uint32_t child(const Node& parent, unsigned char byte) const {
    if (parent.table > 0) return tables_[parent.table - 1u][byte];
    for (uint32_t k = parent.first_child; k < parent.first_child + parent.children; ++k)
      if (labels_[k] == byte) return k;
    return kNone;
  }

  std::vector<Node> nodes_;  // the first is the root
  std::vector<unsigned char> labels_;
  std::vector<std::array<uint32_t, 256>> tables_;  // from byte to child
};

}  // namespace pairpiece

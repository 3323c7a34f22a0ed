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
    if (text.empty()) return;
    uint32_t node = root_[static_cast<unsigned char>(text[0])];
    for (size_t i = 1; node != kNone; ++i) {
      if (nodes_[node].id >= 0) visit(i, nodes_[node].id);
      if (i == text.size()) return;
      node = child(node, static_cast<unsigned char>(text[i]));
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
  static constexpr uint32_t kNone = ~uint32_t{0};
  struct Node {
    uint32_t first_child = 0;  // children are adjacent, in the order of their labels
    uint32_t children = 0;
    int32_t id = -1;
  };

  uint32_t child(uint32_t node, unsigned char byte) const {
    const Node& parent = nodes_[node];
    for (uint32_t k = parent.first_child; k < parent.first_child + parent.children; ++k) {
      if (labels_[k] == byte) return k;
      if (labels_[k] > byte) break;
    }
    return kNone;
  }

  std::array<uint32_t, 256> root_;
  std::vector<Node> nodes_;
  std::vector<unsigned char> labels_;
};

}  // namespace pairpiece

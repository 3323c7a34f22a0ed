// An immutable set of byte strings with their ids, made for "which pieces begin here?".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pairpiece {

// A double array: the child of a node by a byte lies at base ^ byte, if that place says so.  It takes
// at most 16 places of twelve bytes for each byte of the keys, and for most keys little more than one.
class Trie {
 public:
  // `keys[i]` gets the id i; empty keys are left out; of equal keys the first is kept.
  explicit Trie(const std::vector<std::string>& keys);

  size_t places() const { return units_.size(); }

  // Calls visit(length in bytes, id) for every key that is a prefix of `text`, shortest first.
  template <class Visit>
  void each_prefix(std::string_view text, Visit visit) const {
    uint32_t node = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      const uint32_t child = units_[node].base ^ static_cast<unsigned char>(text[i]);
      if (units_[child].parent != node) return;
      node = child;
      if (units_[node].id >= 0) visit(i + 1, units_[node].id);
    }
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  struct Unit {
    uint32_t base = 0;  // of its children
    uint32_t parent = kNone;
    int32_t id = -1;
  };
  std::vector<Unit> units_;  // whole blocks of 256, the first unit is the root
};

}  // namespace pairpiece

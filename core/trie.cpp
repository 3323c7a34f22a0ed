#include "trie.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <optional>
#include <utility>

namespace pairpiece {
namespace {

constexpr uint32_t kBlock = 256;
// Beyond so many free places tried, all bases of the last blocks are tried at once.  Whatever the keys
// are, these take what they need of the last blocks unless b × c ≥ 256, where b places of a block are
// taken and c are wanted: blocks have 16 places taken on average, at the least.
constexpr int kTries = 16;
constexpr size_t kLastBlocks = 4;

// A flag for each place of a block.
using Flags = std::array<uint64_t, kBlock / 64>;

// The flags that lie at place ^ label in the given ones.
Flags moved(const Flags& flags, unsigned char label) {
  constexpr uint64_t kLower[] = {0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F,
                                 0x00FF00FF00FF00FF, 0x0000FFFF0000FFFF, 0x00000000FFFFFFFF};
  Flags out;
  for (size_t i = 0; i < out.size(); ++i) {
    uint64_t word = flags[i ^ label >> 6];
    for (size_t bit = 0; bit < 6; ++bit)
      if (label >> bit & 1)
        word = (word & kLower[bit]) << (1u << bit) | (word >> (1u << bit) & kLower[bit]);
    out[i] = word;
  }
  return out;
}

// The numbers of the keys that are not empty in the order of their bytes; of equal keys the first
// comes first.
std::vector<uint32_t> sorted(const std::vector<std::string>& keys) {
  // Most keys differ in their first eight bytes, which are compared at once.
  std::vector<std::pair<uint64_t, uint32_t>> heads;
  heads.reserve(keys.size());
  for (uint32_t number = 0; number < keys.size(); ++number) {
    const std::string& key = keys[number];
    uint64_t head = 0;
    for (size_t i = 0; i < 8; ++i)
      head = head << 8 | (i < key.size() ? static_cast<unsigned char>(key[i]) : 0u);
    if (!key.empty()) heads.emplace_back(head, number);
  }
  std::sort(heads.begin(), heads.end(), [&](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    const int order = keys[a.second].compare(keys[b.second]);
    return order != 0 ? order < 0 : a.second < b.second;
  });
  std::vector<uint32_t> order;
  order.reserve(heads.size());
  for (const auto& [head, number] : heads) order.push_back(number);
  return order;
}

// Which places of the array are free.
class Places {
 public:
  size_t size() const { return next_.size(); }
  // A base such that base ^ label is free for all labels, which are then taken.
  uint32_t take(std::string_view labels) {
    const auto first = static_cast<unsigned char>(labels[0]);
    uint32_t place = first_ = next_free(first_);
    for (int tries = 0; tries < kTries; ++tries, ++place) {
      place = next_free(place);
      if (place >= next_.size()) break;
      const uint32_t base = place ^ first;
      const bool fits = std::all_of(labels.begin(), labels.end(), [&](char label) {
        const uint32_t wanted = base ^ static_cast<unsigned char>(label);
        return next_[wanted] == wanted;
      });
      if (fits) return take(base, labels);
    }
    const size_t blocks = next_.size() / kBlock;
    for (size_t block = blocks - std::min(blocks, kLastBlocks); block < blocks; ++block)
      if (const auto base = base_in(uint32_t(block * kBlock), labels)) return take(*base, labels);
    const auto base = uint32_t(next_.size());
    next_.resize(base + kBlock);
    std::iota(next_.begin() + base, next_.end(), base);
    return take(base, labels);
  }

 private:
  // The first base within a block for which all labels have free places, if there is one.
  std::optional<uint32_t> base_in(uint32_t block, std::string_view labels) const {
    Flags free{};
    for (uint32_t i = 0; i < kBlock; ++i)
      free[i / 64] |= uint64_t{next_[block + i] == block + i} << i % 64;
    Flags fits;
    fits.fill(~uint64_t{0});
    for (const char label : labels) {
      const Flags wanted = moved(free, static_cast<unsigned char>(label));
      for (size_t i = 0; i < fits.size(); ++i) fits[i] &= wanted[i];
    }
    for (uint32_t i = 0; i < fits.size(); ++i)
      if (fits[i] != 0) return block + i * 64 + uint32_t(std::countr_zero(fits[i]));
    return std::nullopt;
  }
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
  uint32_t first_ = 0;          // none is free before
};

}  // namespace

Trie::Trie(const std::vector<std::string>& keys) {
  // The keys one after the other, so that going through them is going through memory.
  const std::vector<uint32_t> order = sorted(keys);
  std::string all;
  std::vector<uint32_t> begin_of{0};
  for (const uint32_t number : order) {
    all += keys[number];
    begin_of.push_back(uint32_t(all.size()));
  }

  // A range of the sorted keys that share `depth` bytes becomes one node.
  struct Range {
    uint32_t begin, end, depth, node;
  };
  Places places;
  std::vector<Range> waiting{
      {0, uint32_t(order.size()), 0, places.take(std::string_view("\0", 1))}};
  units_.resize(places.size());
  std::string labels;
  std::vector<uint32_t> begins;  // of the keys with each label
  while (!waiting.empty()) {
    Range range = waiting.back();
    waiting.pop_back();
    for (; range.begin < range.end; ++range.begin) {
      if (begin_of[range.begin + 1] - begin_of[range.begin] > range.depth) break;
      int32_t& id = units_[range.node].id;
      if (id < 0) id = int32_t(order[range.begin]);
    }
    if (range.begin == range.end) continue;
    labels.clear();
    begins.clear();
    for (uint32_t i = range.begin; i < range.end; ++i) {
      const char byte = all[begin_of[i] + range.depth];
      if (!labels.empty() && byte == labels.back()) continue;
      labels += byte;
      begins.push_back(i);
    }
    begins.push_back(range.end);
    const uint32_t base = places.take(labels);
    if (units_.size() < places.size()) units_.resize(places.size());
    units_[range.node].base = base;
    for (size_t k = 0; k < labels.size(); ++k) {
      const uint32_t child = base ^ static_cast<unsigned char>(labels[k]);
      units_[child].parent = range.node;
      waiting.push_back({begins[k], begins[k + 1], range.depth + 1, child});
    }
  }
}

}  // namespace pairpiece

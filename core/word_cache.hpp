// Segmentations of words met before.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "prefetch.hpp"
#include "vocabulary.hpp"

namespace pairpiece {

// An integer from wherever it lies.
template <class Integer>
inline uint64_t load_bytes(const char* p) {
  Integer value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

inline uint64_t load_short(const char* p, size_t size) {
  if (size >= 4) return load_bytes<uint32_t>(p) | load_bytes<uint32_t>(p + size - 4) << 32;
  if (size == 0) return 0;
  return load_bytes<uint8_t>(p) | load_bytes<uint8_t>(p + size / 2) << 8 |
         load_bytes<uint8_t>(p + size - 1) << 16;
}

// Calls visit(chunk, offset) for chunks of eight bytes that cover the word and may overlap; a
// shorter word is one chunk of its own.
template <class Visit>
inline void each_chunk(std::string_view word, Visit visit) {
  const char* p = word.data();
  const size_t size = word.size();
  if (size >= 8) {
    for (size_t i = 0; i + 8 < size; i += 8) visit(load_bytes<uint64_t>(p + i), i);
    visit(load_bytes<uint64_t>(p + size - 8), size - 8);
  } else {
    visit(load_short(p, size), 0);
  }
}

// Remembers words of up to `max_word` bytes that have up to `max_ids` ids, two to a set; the older of
// a set makes room.
template <size_t max_word, size_t max_ids, size_t slots>
class WordShelf {
 public:
  WordShelf() : slots_(slots) {}

  static constexpr size_t longest() { return max_word; }

  void prefetch(uint64_t hash) const { pairpiece::prefetch(&slots_[set_of(hash)]); }

  // Appends the remembered ids of a word; false if there are none.
  bool append(uint64_t hash, std::string_view word, std::vector<PieceId>& ids) const {
    const size_t set = set_of(hash);
    for (size_t i = set; i < set + 2; ++i) {
      const Slot& slot = slots_[i];
      if (slot.length != word.size() || !same(slot.text, word)) continue;
      for (size_t k = 0; k < slot.count; ++k) {
        const uint8_t* id = slot.ids + 3 * k;
        ids.push_back(PieceId(id[0] | id[1] << 8 | id[2] << 16));
      }
      return true;
    }
    return false;
  }

  // False if the word or its ids do not fit.
  bool remember(uint64_t hash, std::string_view word, std::span<const PieceId> ids) {
    if (word.size() > max_word || ids.size() > max_ids) return false;
    const size_t set = set_of(hash);
    slots_[set + 1] = slots_[set];
    Slot& slot = slots_[set];
    slot.length = uint8_t(word.size());
    slot.count = uint8_t(ids.size());
    std::copy(word.begin(), word.end(), slot.text);
    for (size_t k = 0; k < ids.size(); ++k)
      for (size_t byte = 0; byte < 3; ++byte)
        slot.ids[3 * k + byte] = uint8_t(uint32_t(ids[k]) >> 8 * byte);
    return true;
  }

 private:
  struct alignas(32) Slot {
    uint8_t length;  // 0: free; no word is empty
    uint8_t count;
    uint8_t ids[max_ids * 3];  // three bytes each
    char text[max_word];
  };
  static_assert(sizeof(Slot) % 32 == 0 && sizeof(Slot) == max_ids * 3 + 2 + max_word);
  static_assert(max_word < 255 && (slots & (slots - 1)) == 0 && kMaxPieces < 1u << 24);

  // The highest bits of a product depend on all bits of its factors.
  static size_t set_of(uint64_t hash) {
    return hash * 0x9E3779B97F4A7C15u >> (64 - std::countr_zero(slots)) & ~size_t{1};
  }

  // Whether `text` begins with the word.
  static bool same(const char* text, std::string_view word) {
    if (word.size() < 8) return load_short(text, word.size()) == load_short(word.data(), word.size());
    uint64_t difference = 0;
    each_chunk(word, [&](uint64_t chunk, size_t offset) {
      difference |= chunk ^ load_bytes<uint64_t>(text + offset);
    });
    return difference == 0;
  }

  std::vector<Slot> slots_;
};

// Longer words, in bytes, are not remembered.
inline constexpr size_t kLongestRemembered = 44;

// Two shelves: most words are short and have few ids.  Not thread-safe: one per worker.
template <size_t short_slots, size_t long_slots>
class WordCache {
 public:
  // The hash of a word, to look it up with; has its place fetched into the processor's cache.
  uint64_t hash(std::string_view word) const {
    uint64_t state = word.size() * 0x9E3779B97F4A7C15u;
    if (word.size() > kLongestRemembered) return state;
    each_chunk(word, [&](uint64_t chunk, size_t) {
      state = (state ^ chunk) * 0xD6E8FEB86659FD93u;
      state ^= state >> 32;
    });
    if (word.size() <= Short::longest())
      short_.prefetch(state);
    else
      long_.prefetch(state);
    return state;
  }

  bool append(uint64_t hash, std::string_view word, std::vector<PieceId>& ids) const {
    if (word.empty() || word.size() > kLongestRemembered) return false;
    return (word.size() <= Short::longest() && short_.append(hash, word, ids)) ||
           long_.append(hash, word, ids);
  }

  void remember(uint64_t hash, std::string_view word, std::span<const PieceId> ids) {
    if (!word.empty() && !short_.remember(hash, word, ids)) long_.remember(hash, word, ids);
  }

 private:
  using Short = WordShelf<18, 4, short_slots>;  // 32 and 64 bytes a slot
  using Long = WordShelf<kLongestRemembered, 6, long_slots>;
  Short short_;
  Long long_;
};

}  // namespace pairpiece

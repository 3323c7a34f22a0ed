// Segmentations of words met before.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "vocabulary.hpp"

namespace pairpiece {

// Remembers words of up to `max_word` bytes that have up to `max_ids` ids, two to a set; the older of
// a set makes room.  Not thread-safe: one per worker.
template <size_t max_word, size_t max_ids, size_t slots>
class WordCache {
 public:
  WordCache() : slots_(slots) {}

  // Where a word would be; fetches that place into the processor's cache.
  size_t find(std::string_view word) const {
    uint64_t state = word.size() * 0x9E3779B97F4A7C15u;
    if (word.size() <= max_word) {
      each_chunk(word, [&](uint64_t chunk, size_t) {
        state = (state ^ chunk) * 0xD6E8FEB86659FD93u;
        state ^= state >> 32;
      });
    }
    // The highest bits of a product depend on all bits of its factors.
    const size_t set = state * 0x9E3779B97F4A7C15u >> (64 - std::countr_zero(slots)) & ~size_t{1};
    __builtin_prefetch(&slots_[set]);
    return set;
  }

  // Appends the remembered ids of a word; false if there are none.
  bool append(size_t set, std::string_view word, std::vector<PieceId>& ids) const {
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

  void remember(size_t set, std::string_view word, const PieceId* ids, size_t count) {
    if (word.empty() || word.size() > max_word || count > max_ids) return;
    slots_[set + 1] = slots_[set];
    Slot& slot = slots_[set];
    slot.length = uint8_t(word.size());
    slot.count = uint8_t(count);
    std::copy(word.begin(), word.end(), slot.text);
    for (size_t k = 0; k < count; ++k)
      for (size_t byte = 0; byte < 3; ++byte)
        slot.ids[3 * k + byte] = uint8_t(uint32_t(ids[k]) >> 8 * byte);
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

  template <class Integer>
  static uint64_t load(const char* p) {
    Integer value;
    std::memcpy(&value, p, sizeof value);
    return value;
  }

  // Calls visit(chunk, offset) for chunks of eight bytes that cover the word and may overlap; a
  // shorter word is one chunk of its own.
  template <class Visit>
  static void each_chunk(std::string_view word, Visit visit) {
    const char* p = word.data();
    const size_t size = word.size();
    if (size >= 8) {
      for (size_t i = 0; i + 8 < size; i += 8) visit(load<uint64_t>(p + i), i);
      visit(load<uint64_t>(p + size - 8), size - 8);
    } else {
      visit(short_word(p, size), 0);
    }
  }

  static uint64_t short_word(const char* p, size_t size) {
    if (size >= 4) return load<uint32_t>(p) | load<uint32_t>(p + size - 4) << 32;
    if (size == 0) return 0;
    return load<uint8_t>(p) | load<uint8_t>(p + size / 2) << 8 | load<uint8_t>(p + size - 1) << 16;
  }

  // Whether `text` begins with the word.
  static bool same(const char* text, std::string_view word) {
    if (word.size() < 8) return short_word(text, word.size()) == short_word(word.data(), word.size());
    uint64_t difference = 0;
    each_chunk(word, [&](uint64_t chunk, size_t offset) {
      difference |= chunk ^ load<uint64_t>(text + offset);
    });
    return difference == 0;
  }

  std::vector<Slot> slots_;
};

}  // namespace pairpiece

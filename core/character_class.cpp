#include "character_class.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace pairpiece {
namespace {

// (first code point << 2) | class, ascending.
constexpr uint32_t kRanges[] = {
#include "character_class_table.inc"
};

CharacterClass look_up(char32_t code_point) {
  const auto* after = std::upper_bound(std::begin(kRanges), std::end(kRanges),
                                       uint32_t(code_point) << 2 | 3u);
  return static_cast<CharacterClass>(*(after - 1) & 3u);
}

// Almost all text lies below U+3000: a direct table there, a binary search above.
constexpr char32_t kDirect = 0x3000;

const std::array<CharacterClass, kDirect> kDirectTable = [] {
  std::array<CharacterClass, kDirect> table{};
  for (char32_t c = 0; c < kDirect; ++c) table[c] = look_up(c);
  return table;
}();

}  // namespace

CharacterClass character_class(char32_t code_point) {
  return code_point < kDirect ? kDirectTable[code_point] : look_up(code_point);
}

}  // namespace pairpiece

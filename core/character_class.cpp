#include "character_class.hpp"

#include <algorithm>
#include <iterator>

namespace pairpiece {
namespace {

// (first code point << 2) | class, ascending.
constexpr uint32_t kRanges[] = {
#include "character_class_table.inc"
};

constexpr char32_t kZeros[] = {
#include "digit_table.inc"
};

}  // namespace

CharacterClass find_character_class(char32_t code_point) {
  const auto* after = std::upper_bound(std::begin(kRanges), std::end(kRanges),
                                       uint32_t(code_point) << 2 | 3u);
  return static_cast<CharacterClass>(*(after - 1) & 3u);
}

std::vector<std::pair<char32_t, CharacterClass>> character_runs() {
  std::vector<std::pair<char32_t, CharacterClass>> runs;
  for (const uint32_t entry : kRanges)
    runs.emplace_back(char32_t(entry >> 2), CharacterClass(entry & 3u));
  return runs;
}

std::vector<char32_t> digit_zeros() { return {std::begin(kZeros), std::end(kZeros)}; }

bool is_digit(char32_t code_point) {
  if (code_point < 0x80) return code_point - U'0' < 10;
  const auto* after = std::upper_bound(std::begin(kZeros), std::end(kZeros), code_point);
  return code_point - *(after - 1) < 10;  // the first is '0'
}

const std::array<CharacterClass, kDirectClasses> kCharacterClasses = [] {
  std::array<CharacterClass, kDirectClasses> table{};
  for (char32_t c = 0; c < kDirectClasses; ++c) table[c] = find_character_class(c);
  return table;
}();

const std::array<uint8_t, 256> kAsciiClasses = [] {
  std::array<uint8_t, 256> table{};
  table.fill(0xFF);
  for (unsigned char c = 0; c < 0x80; ++c)
    if (c != ' ') table[c] = uint8_t(find_character_class(c));
  return table;
}();

}  // namespace pairpiece

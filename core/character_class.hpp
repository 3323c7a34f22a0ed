// The four kinds of character that word splitting knows.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace pairpiece {

enum class CharacterClass : uint8_t {
  letter,   // letters, digits and everything not named below
  symbol,   // punctuation and symbols (categories P*, S*)
  control,  // controls and separators other than what a caller treats as the space (Cc, Z*)
  extend,   // marks and format characters (M*, Cf): they belong to the character before them
};

// Almost all text lies below U+3000: a direct table there, a binary search above.
inline constexpr char32_t kDirectClasses = 0x3000;
extern const std::array<CharacterClass, kDirectClasses> kCharacterClasses;
CharacterClass find_character_class(char32_t code_point);
// All of Unicode: where each run of characters of one class begins, in order.
std::vector<std::pair<char32_t, CharacterClass>> character_runs();

// Whether a byte is an ASCII character of a class; a space is of none here.
extern const std::array<uint8_t, 256> kAsciiClasses;
inline bool is_ascii_of_class(char byte, CharacterClass wanted) {
  return kAsciiClasses[static_cast<unsigned char>(byte)] == uint8_t(wanted);
}

inline CharacterClass character_class(char32_t code_point) {
  return code_point < kDirectClasses ? kCharacterClasses[code_point]
                                     : find_character_class(code_point);
}

// Whether a character is a decimal digit, of whatever script (category Nd).
bool is_digit(char32_t code_point);
// The zeros of all scripts, ascending; Unicode has the other nine digits after each of them.
std::vector<char32_t> digit_zeros();

}  // namespace pairpiece

// The four kinds of character that word splitting knows.
#pragma once

#include <cstdint>

namespace pairpiece {

enum class CharacterClass : uint8_t {
  letter,   // letters, digits and everything not named below
  symbol,   // punctuation and symbols (categories P*, S*)
  control,  // controls and separators other than what a caller treats as the space (Cc, Z*)
  extend,   // marks and format characters (M*, Cf): they belong to the character before them
};

CharacterClass character_class(char32_t code_point);

}  // namespace pairpiece

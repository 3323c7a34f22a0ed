// Splitting normalised text into words, the units that are segmented one by one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "character_class.hpp"
#include "utf8.hpp"

namespace pairpiece {

enum class Splitting : uint8_t {
  lossless,  // a word is an optional space and a run of characters of one class
  paper,     // a space is put before punctuation; a word begins at each space
  none,      // the whole text is one word
  spaces,    // a word begins at each space
};

// The end of a run of characters that begins at `begin`: of one class, which its first character
// decides, or of any but spaces.
inline size_t end_of_class(std::string_view text, size_t begin) {
  if (begin == text.size() || text[begin] == ' ') return begin;
  const Character first = decode_valid(text, begin);
  CharacterClass current = character_class(first.code_point);
  if (current == CharacterClass::extend) current = CharacterClass::letter;
  for (size_t i = begin + first.bytes;;) {
    while (i < text.size() && is_ascii_of_class(text[i], current)) ++i;
    if (i == text.size() || static_cast<unsigned char>(text[i]) < 0x80) return i;
    const Character next = decode_valid(text, i);
    const CharacterClass found = character_class(next.code_point);
    if (found != current && found != CharacterClass::extend) return i;
    i += next.bytes;
  }
}
inline size_t end_of_unspaced(std::string_view text, size_t begin) {
  return std::min(text.find(' ', begin), text.size());
}

// Calls visit(begin, end) with the byte range of every word; the words cover the text, in order.
// Requires well-formed text.  A space (U+0020) always begins a word, except under `none`.
template <class Visit>
void each_word(std::string_view text, Splitting splitting, Visit visit) {
  if (splitting == Splitting::none) {
    if (!text.empty()) visit(size_t{0}, text.size());
    return;
  }
  const auto ends = splitting == Splitting::lossless ? end_of_class : end_of_unspaced;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    i = ends(text, text[i] == ' ' ? i + 1 : i);
    visit(begin, i);
  }
}

// Calls visit(begin, end) with the parts of a word at [word_begin, word_end): each digit is one, and
// so is each stretch without any.  A space before a digit is such a stretch.
template <class Visit>
void each_digit_apart(std::string_view text, size_t word_begin, size_t word_end, Visit visit) {
  size_t begin = word_begin;
  for (size_t i = word_begin; i < word_end;) {
    const Character c = decode_valid(text, i);
    const size_t end = i + c.bytes;
    if (is_digit(c.code_point)) {
      if (begin < i) visit(begin, i);
      visit(i, end);
      begin = end;
    }
    i = end;
  }
  if (begin < word_end) visit(begin, word_end);
}

}  // namespace pairpiece

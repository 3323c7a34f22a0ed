// Splitting normalised text into words, the units that are segmented one by one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "character_class.hpp"
#include "utf8.hpp"

namespace pairpiece {

enum class Splitting : uint8_t {
  lossless,  // a word is an optional space and a run of characters of one class
  paper,     // a space is put before punctuation; a word begins at each space
  none,      // the whole text is one word
  spaces,    // a word begins at each space
};

// What `paper` splitting does to a text before it is split: a space before punctuation that has
// none (`after_space` says whether the text itself comes after one).  The maps, if given, are those
// of Normalizer::normalize; an inserted space covers no input.
std::string insert_paper_spaces(std::string_view text, bool after_space,
                                std::vector<uint32_t>* origins, std::vector<uint32_t>* ends);

// Calls visit(begin, end) with the byte range of every word; the words cover the text, in order.
// Requires well-formed text.  A space (U+0020) always begins a word, except under `none`.
template <class Visit>
void each_word(std::string_view text, Splitting splitting, Visit visit) {
  if (splitting == Splitting::none) {
    if (!text.empty()) visit(size_t{0}, text.size());
    return;
  }
  const bool by_class = splitting == Splitting::lossless;
  size_t begin = 0;
  bool empty = true;  // nothing but a space in this word so far
  CharacterClass current = CharacterClass::letter;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == ' ') {
      if (i > begin) visit(begin, i);
      begin = i++;
      empty = true;
      continue;
    }
    const Character c = decode_at(text, i);
    if (by_class) {
      const CharacterClass found = character_class(c.code_point);
      if (empty) {
        current = found == CharacterClass::extend ? CharacterClass::letter : found;
      } else if (found != current && found != CharacterClass::extend) {
        visit(begin, i);
        begin = i;
        current = found;
      }
    }
    empty = false;
    i += c.bytes;
  }
  if (begin < text.size()) visit(begin, text.size());
}

}  // namespace pairpiece

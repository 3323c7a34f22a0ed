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
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    if (text[i] == ' ') ++i;
    // The first character that is not a space decides what belongs to the word.
    bool first = true;
    CharacterClass current = CharacterClass::letter;
    for (; i < text.size() && text[i] != ' '; first = false) {
      const Character c = decode_valid(text, i);
      if (by_class) {
        const CharacterClass found = character_class(c.code_point);
        if (first)
          current = found == CharacterClass::extend ? CharacterClass::letter : found;
        else if (found != current && found != CharacterClass::extend)
          break;
      }
      i += c.bytes;
    }
    visit(begin, i);
  }
}

}  // namespace pairpiece

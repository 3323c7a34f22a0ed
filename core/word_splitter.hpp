// Text before there are pieces: normalised, user-defined symbols set apart, and split into words.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "normalizer.hpp"
#include "trie.hpp"
#include "words.hpp"

namespace pairpiece {

// A text cut into words.
struct PreparedText {
  struct Word {
    uint32_t begin, end;  // bytes of `text`
    int32_t symbol;       // the number of the user-defined symbol it is, or -1
  };
  std::string text;
  std::vector<Word> words;
  // For each byte of `text` the input characters it comes from; empty unless asked for.
  std::vector<CharacterRange> origins;

  std::string_view of(const Word& word) const {
    return std::string_view(text).substr(word.begin, word.end - word.begin);
  }
  std::string_view word(size_t i) const { return of(words[i]); }
};

struct SplitOptions {
  Splitting splitting = Splitting::lossless;
  bool dummy_prefix = false;  // a space is put before every text, and taken away again by decoding
  bool squeeze = false;       // spaces go at the ends of a text, and all but one between words
  bool split_digits = false;  // every digit is a word of its own
};

class WordSplitter {
 public:
  // Symbols are words wherever a text has them, as it was given; the longest wins.  A symbol's number
  // is its place; empty ones are none.
  WordSplitter(Normalizer normalizer, const SplitOptions& options,
               const std::vector<std::string>& symbols);

  const SplitOptions& options() const { return options_; }

  // The text that the words add up to, without the dummy prefix.
  std::string normalize(std::string_view text) const;
  // `map` asks for the origins too.
  void prepare(std::string_view text, bool map, PreparedText& out) const;

 private:
  class Preparation;

  Normalizer normalizer_;
  SplitOptions options_;
  Trie symbols_;
  bool has_symbols_;
};

// Replaces the words of a prepared text by others that cover it; symbols must stay words of their
// own.  Throws std::invalid_argument, and leaves the text as it was, if they do not fit.
void split_again(std::span<const std::string_view> words, PreparedText& text);

}  // namespace pairpiece

// Unicode normalisation by longest-prefix replacement, with the rule tables ("charsmaps") that
// SentencePiece models carry, so that a text is normalised alike here, in SentencePiece and in
// Hugging Face tokenizers.  docs/format.md describes the table.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pairpiece {

using CharacterRange = std::pair<uint32_t, uint32_t>;  // the first, and the one after the last

// Places in a text are numbers of 32 bits.
inline constexpr size_t kMaxNormalizedBytes = size_t{1} << 30;

class Normalizer {
 public:
  // An empty table leaves the text as it is (but makes it well-formed).  Throws std::invalid_argument
  // if the table is malformed or makes more than 16 bytes of one; a table that is accepted cannot make
  // `normalize` read outside it.
  explicit Normalizer(std::string_view charsmap);

  // Appends the normalised `text` to `out` and, unless `origins` is null, for every byte of output
  // the input characters that it comes from, the first of which has the number `character`.  Returns
  // the number after the last.  Throws std::invalid_argument if the output grows beyond
  // kMaxNormalizedBytes.
  uint32_t normalize(std::string_view text, std::string& out, std::vector<CharacterRange>* origins,
                     uint32_t character = 0) const;

 private:
  struct Replacement {
    std::string_view text;
    uint32_t bytes = 0;  // consumed; 0 where no rule applies
  };

  // Whether a rule yields more than a few times the bytes that it consumes.
  bool grows_too_much() const;
  Replacement longest_rule(std::string_view text) const;
  // True if no rule can begin with this ASCII character when another ASCII character follows.
  bool is_plain(char c) const { return static_cast<unsigned char>(c) < 0x80 && plain_[size_t(c)]; }
  // The end of the run of plain characters that begins at `begin`; the last of them must be followed
  // by an ASCII character.
  size_t end_of_plain(std::string_view text, size_t begin) const;

  std::vector<uint32_t> units_;  // a double-array trie over the bytes of the left-hand sides
  std::string replacements_;     // NUL-terminated right-hand sides, one after the other
  std::array<bool, 128> plain_{};
  bool all_plain_ = true;
};

}  // namespace pairpiece

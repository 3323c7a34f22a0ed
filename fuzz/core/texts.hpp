// Word splitters, vocabularies and texts as inputs describe them, within what the bindings accept.
#pragma once

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "charsmap.hpp"
#include "input.hpp"
#include "vocabulary.hpp"
#include "word_splitter.hpp"

namespace pairpiece {

inline SplitOptions read_options(Input& input) {
  const uint8_t flags = input.byte();
  return {Splitting(flags & 3), (flags & 4) != 0, (flags & 8) != 0, (flags & 16) != 0};
}

inline Normalizer read_normalizer(Input& input) {
  return Normalizer(input.below(4) == 1 ? small_charsmap(input) : "");
}

// Texts are long at times: a byte says how often a stretch of up to 31 is repeated.
inline std::string read_text(Input& input) {
  const uint8_t code = input.byte();
  const std::string_view stretch = input.text(code & 31);
  std::string text;
  for (int i = 0; i <= code >> 5; ++i) text += stretch;
  return sanitize(text);
}

inline std::string marked(std::string_view piece) {
  std::string out;
  for (const char c : piece) out += c == ' ' ? "\xE2\x96\x81" : std::string(1, c);
  return out;
}

// Different pieces, of which byte pieces, if any, are all there.
inline Vocabulary read_vocabulary(Input& input, size_t most_pieces, Summation summation) {
  using enum PieceType;
  std::vector<std::string> pieces{"<unk>"};
  std::vector<PieceType> types{unknown};
  std::vector<double> scores{0};
  std::set<std::string> known{"<unk>"};
  const auto add = [&](const std::string& piece, PieceType type, double score) {
    if (!known.insert(piece).second) return;
    pieces.push_back(piece);
    types.push_back(type);
    scores.push_back(score);
  };
  if (input.flag())
    for (int value = 0; value < 256; ++value) add("<byte " + std::to_string(value) + ">", byte, 0);
  constexpr PieceType kTypes[] = {normal, normal, normal, normal, normal, user_defined, control,
                                  unused};
  for (size_t count = input.below(uint32_t(most_pieces)); count > 0; --count) {
    const uint8_t code = input.byte();
    const auto score = double(int16_t(code << 8 | input.byte())) / 256;
    // Whole numbers are tied often; a few are as large as any may be.
    const double rounded = (code & 8) ? score : (code & 16) ? std::floor(score) : score * 512;
    const PieceType type = kTypes[code & 7];
    const std::string piece = read_text(input);
    add(type == normal ? marked(piece) : type == unused ? " " + piece : piece, type, rounded);
  }
  return Vocabulary(pieces, types, scores, summation);
}

}  // namespace pairpiece

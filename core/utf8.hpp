// Decoding of UTF-8 that never reads outside its input and never fails: every byte that is not part
// of a well-formed sequence is one invalid character.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pairpiece {

struct Character {
  char32_t code_point;  // U+FFFD where the bytes are not well-formed
  uint32_t bytes;       // consumed from the input, at least 1
  bool valid;
};

inline constexpr char32_t kReplacement = 0xFFFD;
inline constexpr std::string_view kReplacementUtf8 = "\xEF\xBF\xBD";

// The character that starts at `position`; requires position < text.size().
inline Character decode_at(std::string_view text, size_t position) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data()) + position;
  const size_t left = text.size() - position;
  const auto continues = [&](size_t i) { return i < left && (p[i] & 0xC0) == 0x80; };
  if (p[0] < 0x80) return {p[0], 1, true};
  if (p[0] >= 0xC2 && p[0] < 0xE0 && continues(1))
    return {char32_t((p[0] & 0x1F) << 6 | (p[1] & 0x3F)), 2, true};
  if (p[0] >= 0xE0 && p[0] < 0xF0 && continues(1) && continues(2)) {
    const auto c = char32_t((p[0] & 0x0F) << 12 | (p[1] & 0x3F) << 6 | (p[2] & 0x3F));
    // A surrogate encoded on its own is one invalid character of three bytes.
    if (c >= 0xD800 && c < 0xE000) return {kReplacement, 3, false};
    if (c >= 0x800) return {c, 3, true};
  }
  if (p[0] >= 0xF0 && p[0] < 0xF5 && continues(1) && continues(2) && continues(3)) {
    const auto c = char32_t((p[0] & 0x07) << 18 | (p[1] & 0x3F) << 12 | (p[2] & 0x3F) << 6 |
                            (p[3] & 0x3F));
    if (c >= 0x10000 && c < 0x110000) return {c, 4, true};
  }
  return {kReplacement, 1, false};
}

// The same, in text known to be well-formed.
inline Character decode_valid(std::string_view text, size_t position) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data()) + position;
  if (p[0] < 0x80) return {p[0], 1, true};
  if (p[0] < 0xE0) return {char32_t((p[0] & 0x1F) << 6 | (p[1] & 0x3F)), 2, true};
  if (p[0] < 0xF0)
    return {char32_t((p[0] & 0x0F) << 12 | (p[1] & 0x3F) << 6 | (p[2] & 0x3F)), 3, true};
  return {char32_t((p[0] & 0x07) << 18 | (p[1] & 0x3F) << 12 | (p[2] & 0x3F) << 6 | (p[3] & 0x3F)),
          4, true};
}

// The length in bytes of the character that `lead` begins, in text known to be well-formed.
inline size_t sequence_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

// Well-formed text: invalid characters become U+FFFD.
std::string sanitize(std::string_view text);

}  // namespace pairpiece

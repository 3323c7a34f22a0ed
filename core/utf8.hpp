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

// The length in bytes of the character that `lead` begins, in text known to be well-formed.
inline size_t sequence_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

// The character that starts at `position`, in text known to be well-formed.
inline Character decode_valid(std::string_view text, size_t position) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data()) + position;
  if (p[0] < 0x80) return {p[0], 1, true};
  if (p[0] < 0xE0) return {char32_t((p[0] & 0x1F) << 6 | (p[1] & 0x3F)), 2, true};
  if (p[0] < 0xF0)
    return {char32_t((p[0] & 0x0F) << 12 | (p[1] & 0x3F) << 6 | (p[2] & 0x3F)), 3, true};
  return {char32_t((p[0] & 0x07) << 18 | (p[1] & 0x3F) << 12 | (p[2] & 0x3F) << 6 | (p[3] & 0x3F)),
          4, true};
}

// The same in any text; requires position < text.size().
inline Character decode_at(std::string_view text, size_t position) {
  constexpr Character kInvalid{kReplacement, 1, false};
  const auto lead = static_cast<unsigned char>(text[position]);
  if (lead < 0x80) return {lead, 1, true};
  const size_t bytes = sequence_length(text[position]);
  if (lead < 0xC2 || lead > 0xF4 || text.size() - position < bytes) return kInvalid;
  for (size_t i = 1; i < bytes; ++i)
    if ((text[position + i] & 0xC0) != 0x80) return kInvalid;
  const Character c = decode_valid(text, position);
  // A surrogate encoded on its own is one invalid character of three bytes.
  if (bytes == 3 && c.code_point >= 0xD800 && c.code_point < 0xE000)
    return {kReplacement, 3, false};
  constexpr char32_t kFirst[] = {0, 0, 0x80, 0x800, 0x10000};  // of so many bytes
  return c.code_point >= kFirst[bytes] && c.code_point < 0x110000 ? c : kInvalid;
}

// Well-formed text: invalid characters become U+FFFD.
std::string sanitize(std::string_view text);

}  // namespace pairpiece

#include "utf8.hpp"

namespace pairpiece {

std::string sanitize(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const Character c = decode_at(text, i);
    if (c.valid)
      out.append(text.substr(i, c.bytes));
    else
      out += kReplacementUtf8;
    i += c.bytes;
  }
  return out;
}

}  // namespace pairpiece

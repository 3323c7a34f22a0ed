#include "words.hpp"

namespace pairpiece {

std::string insert_paper_spaces(std::string_view text, bool after_space,
                                std::vector<uint32_t>* origins, std::vector<uint32_t>* ends) {
  std::string out;
  std::vector<uint32_t> new_origins, new_ends;
  const auto put_space = [&](size_t before) {
    out += ' ';
    if (!origins) return;
    // Within the expansion of one character the space belongs to that character.
    const bool inside = before > 0 && (*origins)[before] == (*origins)[before - 1];
    new_origins.push_back((*origins)[before]);
    new_ends.push_back(inside ? (*ends)[before] : (*origins)[before]);
  };
  for (size_t i = 0; i < text.size();) {
    const Character c = decode_at(text, i);
    if (character_class(c.code_point) == CharacterClass::symbol &&
        (out.empty() ? !after_space : out.back() != ' '))
      put_space(i);
    out.append(text.substr(i, c.bytes));
    if (origins) {
      for (size_t k = i; k < i + c.bytes; ++k) {
        new_origins.push_back((*origins)[k]);
        new_ends.push_back((*ends)[k]);
      }
    }
    i += c.bytes;
  }
  if (origins) {
    *origins = std::move(new_origins);
    *ends = std::move(new_ends);
  }
  return out;
}

}  // namespace pairpiece

// A normalisation table with rules of all kinds, which an input may overwrite.
#pragma once

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "input.hpp"

namespace pairpiece {

// Characters of ASCII that vanish, grow, become spaces, or begin a longer rule; laid out by hand as
// docs/format.md describes it.
inline std::string small_charsmap(Input& input) {
  constexpr uint32_t kChildren = 512, kValues = 128, kRuleEnds = 1 << 8;
  std::vector<uint32_t> units(1024);
  units[0] = kChildren << 10;
  std::string replacements;
  const std::pair<char, const char*> rules[] = {
      {'#', ""}, {'A', "a"}, {'%', " "}, {'&', "  "}, {'!', "\xEF\xAC\x81 \xCC\x81"}, {'_', "."}};
  for (const auto& [character, replacement] : rules) {
    const auto label = static_cast<uint8_t>(character);
    const uint32_t place = kChildren ^ label;
    units[place] = label | kRuleEnds | (place ^ (kValues + label)) << 10;
    units[kValues + label] = 1u << 31 | uint32_t(replacements.size());
    replacements += replacement;
    replacements += '\0';
  }
  for (uint32_t changes = input.below(8); changes > 0; --changes)
    units[input.word() % units.size()] = input.word();
  const auto bytes = uint32_t(units.size() * sizeof units[0]);
  std::string charsmap(sizeof bytes + bytes, '\0');
  std::memcpy(charsmap.data(), &bytes, sizeof bytes);
  std::memcpy(charsmap.data() + sizeof bytes, units.data(), bytes);
  return charsmap + replacements;
}

}  // namespace pairpiece

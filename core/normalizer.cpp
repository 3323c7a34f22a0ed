#include "normalizer.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "utf8.hpp"

namespace pairpiece {
namespace {

static_assert(std::endian::native == std::endian::little, "charsmaps are stored little-endian");

// Of a rule, in bytes: NFKC needs 12 to replace and 33 to put there.  Without a limit a text could
// take time without one.
constexpr size_t kLongestSide = 255;
// What a byte becomes, at most.  NFKC needs 11, for U+FDFA.
constexpr size_t kMostGrowth = 16;

// The fields of one unit of a double-array trie in the layout of the Darts-clone library.
constexpr uint32_t label(uint32_t unit) { return unit & (1u << 31 | 0xFFu); }
constexpr bool has_value(uint32_t unit) { return unit >> 8 & 1u; }
constexpr uint32_t value(uint32_t unit) { return unit & ~(1u << 31); }
constexpr uint32_t offset(uint32_t unit) { return unit >> 10 << ((unit & (1u << 9)) >> 6); }

}  // namespace

Normalizer::Normalizer(std::string_view charsmap) {
  plain_.fill(true);
  if (charsmap.empty()) return;
  const auto require = [](bool good) {
    if (!good) throw std::invalid_argument("the normalisation table is malformed");
  };
  uint32_t trie_bytes = 0;
  require(charsmap.size() >= sizeof trie_bytes);
  std::memcpy(&trie_bytes, charsmap.data(), sizeof trie_bytes);
  charsmap.remove_prefix(sizeof trie_bytes);
  require(trie_bytes > 0 && trie_bytes % 4 == 0 && trie_bytes < charsmap.size() &&
          charsmap.back() == '\0');
  units_.resize(trie_bytes / 4);
  std::memcpy(units_.data(), charsmap.data(), trie_bytes);
  replacements_ = charsmap.substr(trie_bytes);
  // Right-hand sides must be well-formed, and so must every suffix a value may point to begin at a
  // character: `longest_rule` checks the latter as it goes.
  require(sanitize(replacements_) == replacements_);
  for (size_t begin = 0, end; begin < replacements_.size(); begin = end + 1) {
    end = replacements_.find('\0', begin);
    require(end - begin <= kLongestSide);
  }
  if (grows_too_much())
    throw std::invalid_argument("the normalisation table makes more than " +
                                std::to_string(kMostGrowth) + " bytes of one");
  for (size_t first = 0; first < 128; ++first) {
    for (size_t second = 0; second < 128 && plain_[first]; ++second) {
      const char both[2] = {char(first), char(second)};
      plain_[first] = longest_rule({both, 2}).bytes == 0;
    }
    all_plain_ &= plain_[first];
  }
}

bool Normalizer::grows_too_much() const {
  // The units that have a label, by where the children of their parent lie, linked to each other.
  constexpr uint32_t kNone = ~uint32_t{0};
  std::vector<uint32_t> first(units_.size() + 256, kNone), next(units_.size(), kNone);
  for (uint32_t node = 0; node < units_.size(); ++node) {
    const uint32_t byte = label(units_[node]);
    if (byte == 0 || byte > 255) continue;
    next[node] = first[node ^ byte];
    first[node ^ byte] = node;
  }
  // Breadth first: where the trie is not a tree, the shortest text that leads to a rule counts.
  std::vector<uint32_t> level{offset(units_[0])}, deeper;
  for (size_t bytes = 1; !level.empty(); ++bytes, level.swap(deeper), deeper.clear()) {
    for (const uint32_t children : level) {
      if (children >= first.size()) continue;
      for (uint32_t node = std::exchange(first[children], kNone); node != kNone; node = next[node]) {
        const uint32_t below = node ^ offset(units_[node]);
        deeper.push_back(below);
        if (!has_value(units_[node]) || below >= units_.size()) continue;
        const size_t begin = value(units_[below]);
        if (begin >= replacements_.size()) continue;
        if (replacements_.find('\0', begin) - begin > kMostGrowth * bytes) return true;
      }
    }
  }
  return false;
}

size_t Normalizer::end_of_plain(std::string_view text, size_t begin) const {
  size_t end = begin;
  if (all_plain_) {  // eight at a time, as long as they and their successor are ASCII
    for (uint64_t chunk; end + 9 <= text.size(); end += 8) {
      std::memcpy(&chunk, text.data() + end, 8);
      if ((chunk & 0x8080808080808080u) != 0 || static_cast<unsigned char>(text[end + 8]) >= 0x80)
        break;
    }
  }
  while (end + 1 < text.size() && is_plain(text[end]) &&
         static_cast<unsigned char>(text[end + 1]) < 0x80)
    ++end;
  return end;
}

Normalizer::Replacement Normalizer::longest_rule(std::string_view text) const {
  Replacement best;
  if (units_.empty()) return best;
  size_t node = offset(units_[0]);
  for (size_t i = 0; i < std::min(text.size(), kLongestSide); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    node ^= byte;
    if (byte == 0 || node >= units_.size()) break;
    const uint32_t unit = units_[node];
    if (label(unit) != byte) break;
    node ^= offset(unit);
    if (!has_value(unit)) continue;
    if (node >= units_.size()) break;
    const size_t begin = value(units_[node]);
    // A rule consumes whole characters and yields whole characters.
    const bool ends_character = i + 1 == text.size() || (text[i + 1] & 0xC0) != 0x80;
    if (begin >= replacements_.size() || (replacements_[begin] & 0xC0) == 0x80 || !ends_character)
      continue;
    best = {std::string_view(replacements_.c_str() + begin), uint32_t(i + 1)};
  }
  return best;
}

uint32_t Normalizer::normalize(std::string_view text, std::string& out,
                               std::vector<CharacterRange>* origins, uint32_t character) const {
  // Appends what so many characters become, together or each for itself.
  const auto emit = [&](std::string_view output, uint32_t characters, bool one_to_one) {
    out.append(output);
    for (uint32_t k = 0; origins && k < output.size(); ++k) {
      const uint32_t first = one_to_one ? character + k : character;
      origins->emplace_back(first, first + (one_to_one ? 1 : characters));
    }
    character += characters;
  };
  for (size_t i = 0; i < text.size();) {
    if (const size_t plain_end = end_of_plain(text, i); plain_end > i) {
      emit(text.substr(i, plain_end - i), uint32_t(plain_end - i), true);
      i = plain_end;
      continue;
    }
    const Character c = decode_at(text, i);
    const Replacement rule = c.valid ? longest_rule(text.substr(i)) : Replacement();
    if (rule.bytes > 0) {
      const std::string_view replaced = text.substr(i, rule.bytes);
      const auto begins = [](char byte) { return (byte & 0xC0) != 0x80; };
      if (out.size() + rule.text.size() > kMaxNormalizedBytes)
        throw std::invalid_argument("a text of more than 1 GiB when it is normalised: split it "
                                    "into lines first");
      emit(rule.text, uint32_t(std::count_if(replaced.begin(), replaced.end(), begins)), false);
    } else {
      emit(c.valid ? text.substr(i, c.bytes) : kReplacementUtf8, 1, false);
    }
    i += rule.bytes > 0 ? rule.bytes : c.bytes;
  }
  return character;
}

}  // namespace pairpiece

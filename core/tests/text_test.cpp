// UTF-8, normalisation and words, also on input that is not what it should be.

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "normalizer.hpp"
#include "trie.hpp"
#include "utf8.hpp"
#include "words.hpp"

using namespace pairpiece;

namespace {

std::string random_bytes(std::mt19937& random, size_t size) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i) bytes += char(random() & 0xFF);
  return bytes;
}

void append_utf8(std::string& out, char32_t c) {
  const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;  // bytes after the first
  const char32_t leads[] = {0, 0xC0, 0xE0, 0xF0};
  out += char(leads[more] | c >> 6 * more);
  for (int k = more; k-- > 0;) out += char(0x80 | (c >> 6 * k & 0x3F));
}

// The id of a key, or -1.
int32_t find(const Trie& trie, std::string_view key) {
  int32_t found = -1;
  trie.each_prefix(key, [&](size_t length, int32_t id) {
    if (length == key.size()) found = id;
  });
  return found;
}

std::vector<std::string> words_of(std::string_view text, Splitting splitting) {
  std::vector<std::string> words;
  each_word(text, splitting, [&](size_t begin, size_t end) {
    words.emplace_back(text.substr(begin, end - begin));
  });
  return words;
}

}  // namespace

TEST(every_code_point_survives_utf8) {
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string text;
    append_utf8(text, c);
    const Character decoded = decode_at(text, 0);
    CHECK(decoded.valid && decoded.code_point == c && decoded.bytes == text.size());
  }
}

TEST(sanitized_bytes_are_well_formed) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::string clean = sanitize(random_bytes(random, random() % 24));
    CHECK(sanitize(clean) == clean);
  }
}

TEST(a_lone_surrogate_is_one_invalid_character) {
  CHECK(sanitize("\xED\xA0\x80") == kReplacementUtf8);
  CHECK(sanitize("a\xED\xBF\xBF" "b") == std::string("a") + std::string(kReplacementUtf8) + "b");
}

TEST(hostile_normalisation_tables_are_harmless) {
  std::mt19937 random(2);
  for (int i = 0; i < 5000; ++i) {
    std::string table = random_bytes(random, 4 + 4 * (random() % 64) + random() % 32);
    const auto trie_bytes = uint32_t(4 * (random() % 64));
    for (int k = 0; k < 4; ++k) table[size_t(k)] = char(trie_bytes >> (8 * k) & 0xFF);
    if (random() % 2) {
      // Right-hand sides that pass the checks, so that the trie itself is put to the test.
      table.resize(std::min<size_t>(table.size(), 4 + trie_bytes));
      table += std::string("a\0b\xC3\xA9\0\0", 6);
    }
    std::optional<Normalizer> normalizer;
    try {
      normalizer.emplace(table);
    } catch (const std::invalid_argument&) {
      continue;
    }
    std::string out;
    std::vector<CharacterRange> origins;
    normalizer->normalize(random_bytes(random, 40), out, &origins);
    CHECK(sanitize(out) == out);
    CHECK(origins.size() == out.size());
  }
}

TEST(an_empty_table_changes_nothing) {
  std::string out;
  Normalizer("").normalize("  a\tb\xC3\xA9 ", out, nullptr);
  CHECK(out == "  a\tb\xC3\xA9 ");
}

TEST(words_cover_the_text) {
  std::mt19937 random(3);
  for (int i = 0; i < 5000; ++i) {
    std::string text = sanitize(random_bytes(random, 30));
    for (char& c : text)
      if (c == 'x') c = ' ';
    for (const auto splitting : {Splitting::lossless, Splitting::paper, Splitting::none}) {
      std::string joined;
      for (const std::string& word : words_of(text, splitting)) joined += word;
      CHECK(joined == text);
    }
  }
}

TEST(punctuation_is_a_word_of_its_own) {
  const std::vector<std::string> expected{"L", "'", "ora", " e", " poi", "...", " ", " no"};
  CHECK(words_of("L'ora e poi...  no", Splitting::lossless) == expected);
}

TEST(a_digit_is_a_part_of_its_own) {
  const auto parts_of = [](std::string_view text, size_t begin, size_t end) {
    std::vector<std::string> parts;
    each_digit_apart(text, begin, end,
                     [&](size_t b, size_t e) { parts.emplace_back(text.substr(b, e - b)); });
    return parts;
  };
  using Parts = std::vector<std::string>;
  CHECK((parts_of(" 20a b4", 0, 7) == Parts{" ", "2", "0", "a b", "4"}));
  CHECK((parts_of("120a", 1, 3) == Parts{"2", "0"}));
  CHECK((parts_of("ab", 0, 2) == Parts{"ab"}) && parts_of("1", 1, 1).empty());
  const std::string_view nine_arabic = "\xD9\xA9", zero_bold = "\xF0\x9D\x9F\x8E";
  const std::string both = std::string(nine_arabic) + std::string(zero_bold);
  CHECK((parts_of(both, 0, both.size()) == Parts{std::string(nine_arabic), std::string(zero_bold)}));
}

TEST(digits_are_those_of_all_scripts_and_nothing_else) {
  for (const char32_t c : {U'0', U'9', U'\u0660', U'\u0669', U'\u0967', U'\uFF19', U'\U0001D7FF'})
    CHECK(is_digit(c));
  for (const char32_t c : {U'/', U':', U'\0', U'a', U'\u00B2', U'\u00BD', U'\u2163', U'\u065F',
                           U'\u066A', U'\uFF1A', U'\U0001D7CD', U'\U0010FFFF'})
    CHECK(!is_digit(c));
  size_t count = 0;
  for (char32_t c = 0; c < 0x110000; ++c) count += is_digit(c);
  CHECK(count == 770);  // of Unicode 17
  CHECK(digit_zeros().size() == 77 && digit_zeros().front() == U'0');
  for (const char32_t zero : digit_zeros())
    for (char32_t value = 0; value < 10; ++value) CHECK(is_digit(zero + value));
}

TEST(a_trie_finds_all_prefixes) {
  const Trie trie({"a", "ab", "abc", "", "b", "ab"});
  std::vector<int> found;
  trie.each_prefix("abcd", [&](size_t length, int32_t id) {
    found.push_back(int(length));
    found.push_back(id);
  });
  CHECK((found == std::vector<int>{1, 0, 2, 1, 3, 2}));
  CHECK(find(trie, "b") == 4 && find(trie, "abcd") == -1 && find(trie, "") == -1);
}

TEST(a_trie_takes_few_places_whatever_the_keys_are) {
  // Sets of labels of which hardly any two fit beside each other in a block.
  std::mt19937 random(4);
  constexpr size_t kNodes = 3000;
  for (const size_t children : {2, 3, 5, 9, 16, 30, 45, 100}) {
    std::vector<std::string> keys;
    std::vector<int> labels(256);
    std::iota(labels.begin(), labels.end(), 0);
    for (size_t node = 0; node < kNodes; ++node) {
      std::shuffle(labels.begin(), labels.end(), random);
      const std::string head{char(node / 256), char(node % 256)};
      const size_t count = node % 256 == 255 ? 100 : children;  // these leave holes for the others
      for (size_t k = 0; k < count; ++k) keys.push_back(head + char(labels[k]));
    }
    const Trie trie(keys);
    CHECK(trie.places() < 6 * (keys.size() + kNodes));
    for (size_t i = 0; i < keys.size(); ++i) CHECK(find(trie, keys[i]) == int32_t(i));
  }
}

TEST(a_node_with_many_children_finds_them_all) {
  std::vector<std::string> keys;
  for (int byte = 0; byte < 256; ++byte) keys.push_back(std::string("k") + char(byte));
  const Trie trie(keys);
  for (int byte = 0; byte < 256; ++byte) CHECK(find(trie, keys[size_t(byte)]) == byte);
}

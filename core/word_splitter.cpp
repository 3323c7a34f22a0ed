#include "word_splitter.hpp"

#include <algorithm>
#include <stdexcept>

namespace pairpiece {

// One text on its way: plain stretches and symbols are added in order.
class WordSplitter::Preparation {
 public:
  Preparation(const WordSplitter& splitter, bool map, PreparedText& out)
      : splitter_(splitter), options_(splitter.options_), map_(map), out_(out) {
    out_.text.clear();
    out_.words.clear();
    out_.origins.clear();
  }

  void add_dummy_prefix() {
    out_.text = ' ';
    if (map_) out_.origins.emplace_back(0, 0);
    squeezed_to_ = 1;
  }

  void add_plain(std::string_view plain) {
    const size_t begin = out_.text.size();
    auto* const origins = map_ ? &out_.origins : nullptr;
    character_ = splitter_.normalizer_.normalize(plain, out_.text, origins, character_);
    if (options_.splitting == Splitting::paper) space_punctuation(begin);
    if (options_.squeeze) squeeze();
    split();
  }

  void add_symbol(std::string_view symbol, int32_t number) {
    if (split_to_ < out_.text.size()) split();  // the dummy prefix alone
    const auto begin = uint32_t(out_.text.size());
    out_.text += symbol;
    out_.words.push_back({begin, begin + uint32_t(symbol.size()), number});
    split_to_ = squeezed_to_ = out_.text.size();
    const uint32_t first = character_;
    for (size_t i = 0; i < symbol.size(); i += decode_at(symbol, i).bytes) ++character_;
    if (map_) out_.origins.resize(out_.text.size(), {first, character_});
  }

  // Squeezing leaves a space at the end, for words to come: none has.
  void finish() {
    auto& words = out_.words;
    if (!options_.squeeze || words.empty() || words.back().symbol >= 0 || out_.text.back() != ' ')
      return;
    resize(out_.text.size() - 1);
    if (--words.back().end == words.back().begin) words.pop_back();
  }

 private:
  void resize(size_t size) {
    out_.text.resize(size);
    if (map_) out_.origins.resize(size);
  }

  // Puts a space before punctuation from `begin` on that has none.
  void space_punctuation(size_t begin) {
    const std::string text = out_.text.substr(begin);
    const std::vector<CharacterRange> origins(out_.origins.begin() + ptrdiff_t(map_ ? begin : 0),
                                              out_.origins.end());
    resize(begin);
    for (size_t i = 0; i < text.size();) {
      const Character c = decode_at(text, i);
      if (character_class(c.code_point) == CharacterClass::symbol &&
          (out_.text.empty() || out_.text.back() != ' ')) {
        out_.text += ' ';
        // It covers no input, but within the expansion of one character belongs to that character.
        const bool inside = map_ && i > 0 && origins[i].first == origins[i - 1].first;
        if (map_)
          out_.origins.emplace_back(origins[i].first,
                                    inside ? origins[i].second : origins[i].first);
      }
      out_.text.append(text, i, c.bytes);
      for (const size_t end = i + c.bytes; i < end; ++i)
        if (map_) out_.origins.push_back(origins[i]);
    }
  }

  void squeeze() {
    std::string& text = out_.text;
    size_t end = squeezed_to_;
    for (size_t i = end; i < text.size(); ++i) {
      if (text[i] == ' ' && (end == 0 || text[end - 1] == ' ')) continue;
      text[end] = text[i];
      if (map_) out_.origins[end] = out_.origins[i];
      ++end;
    }
    resize(end);
    squeezed_to_ = end;
  }

  void split() {
    const size_t from = split_to_;
    const std::string_view text = std::string_view(out_.text).substr(from);
    const auto add = [&](size_t begin, size_t end) {
      out_.words.push_back({uint32_t(from + begin), uint32_t(from + end), -1});
    };
    if (options_.split_digits)
      each_word(text, options_.splitting,
                [&](size_t begin, size_t end) { each_digit_apart(text, begin, end, add); });
    else
      each_word(text, options_.splitting, add);
    split_to_ = out_.text.size();
  }

  const WordSplitter& splitter_;
  const SplitOptions& options_;
  const bool map_;
  PreparedText& out_;
  uint32_t character_ = 0;               // of the input, next
  size_t split_to_ = 0, squeezed_to_ = 0;  // bytes of the text
};

WordSplitter::WordSplitter(Normalizer normalizer, const SplitOptions& options,
                           const std::vector<std::string>& symbols)
    : normalizer_(std::move(normalizer)),
      options_(options),
      symbols_(symbols),
      has_symbols_(std::any_of(symbols.begin(), symbols.end(),
                               [](const std::string& symbol) { return !symbol.empty(); })) {}

std::string WordSplitter::normalize(std::string_view text) const {
  PreparedText prepared;
  prepare(text, false, prepared);
  std::string out;
  for (size_t i = 0; i < prepared.words.size(); ++i) out += prepared.word(i);
  if (options_.dummy_prefix && !out.empty()) out.erase(0, 1);
  return out;
}

void WordSplitter::prepare(std::string_view text, bool map, PreparedText& out) const {
  Preparation preparation(*this, map, out);
  if (options_.dummy_prefix && !text.empty()) preparation.add_dummy_prefix();
  size_t plain_begin = 0;
  for (size_t i = 0; has_symbols_ && i < text.size();) {
    size_t length = 0;
    int32_t symbol = -1;
    symbols_.each_prefix(text.substr(i), [&](size_t bytes, int32_t number) {
      length = bytes;
      symbol = number;
    });
    if (symbol < 0) {
      i += decode_at(text, i).bytes;
      continue;
    }
    if (i > plain_begin) preparation.add_plain(text.substr(plain_begin, i - plain_begin));
    preparation.add_symbol(text.substr(i, length), symbol);
    plain_begin = i += length;
  }
  if (plain_begin < text.size()) preparation.add_plain(text.substr(plain_begin));
  preparation.finish();
}

void split_again(std::span<const std::string_view> words, PreparedText& text) {
  const auto fail = [] {
    throw std::invalid_argument("the words of the pre-tokenizer do not add up to the text");
  };
  std::vector<PreparedText::Word> again;
  size_t position = 0;
  size_t old = 0;  // the word of `text` that `position` lies in
  for (const std::string_view word : words) {
    if (word.empty()) continue;
    while (old < text.words.size() && text.words[old].end <= position) ++old;
    if (old == text.words.size()) fail();
    const PreparedText::Word& within = text.words[old];
    const size_t end = position + word.size();
    if (end > within.end || (within.symbol >= 0 && end != within.end) ||
        std::string_view(text.text).substr(position, word.size()) != word)
      fail();
    again.push_back({uint32_t(position), uint32_t(end), within.symbol});
    position = end;
  }
  if (position != text.text.size()) fail();
  text.words = std::move(again);
}

}  // namespace pairpiece

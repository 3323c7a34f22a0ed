// Texts of any bytes become words.

#include <stdexcept>

#include "input.hpp"
#include "texts.hpp"

using namespace pairpiece;

namespace {

void check_words(const PreparedText& prepared) {
  size_t end = 0;
  for (const PreparedText::Word& word : prepared.words) {
    require(word.begin == end && word.end > word.begin, "words follow each other, none is empty");
    end = word.end;
  }
  require(end == prepared.text.size(), "words cover the text");
  require(sanitize(prepared.text) == prepared.text, "the text is well-formed");
}

void attack(const WordSplitter& splitter, std::string_view text) {
  PreparedText plain, mapped;
  splitter.prepare(text, false, plain);
  splitter.prepare(text, true, mapped);
  check_words(plain);
  require(plain.origins.empty() && mapped.origins.size() == mapped.text.size(),
          "every byte has its origin, if that is asked for");
  require(mapped.text == plain.text && mapped.words.size() == plain.words.size(),
          "origins change nothing else");
  uint32_t first = 0;
  for (const auto& [from, to] : mapped.origins) {
    require(first <= from && from <= to && to <= text.size(), "origins are in order");
    first = from;
  }
  const size_t prefix = splitter.options().dummy_prefix && !plain.text.empty();
  require(splitter.normalize(text) == plain.text.substr(prefix), "words add up to the text");
}

// Words of a pre-tokenizer: those there are, cut again and wrong here and there.
void split_otherwise(const WordSplitter& splitter, std::string_view text, Input& input) {
  PreparedText prepared;
  splitter.prepare(text, false, prepared);
  std::vector<std::string_view> words;
  for (size_t i = 0; i < prepared.words.size(); ++i) {
    const std::string_view word = prepared.word(i);
    const size_t cut = std::min<size_t>(input.byte(), word.size());
    words.push_back(word.substr(0, cut));
    words.push_back(word.substr(cut));
  }
  if (input.flag()) words.push_back("x");
  const PreparedText before = prepared;
  try {
    split_again(words, prepared);
    check_words(prepared);
  } catch (const std::invalid_argument&) {
    require(prepared.words.size() == before.words.size(), "a text that is refused stays as it was");
  }
  require(prepared.text == before.text, "cutting again leaves the text");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  try {
    const SplitOptions options = read_options(input);
    Normalizer normalizer = read_normalizer(input);
    std::vector<std::string> symbols;
    for (uint32_t count = input.below(16); count > 0; --count)
      symbols.push_back(read_text(input));
    const WordSplitter splitter(std::move(normalizer), options, symbols);
    Input cuts = input;
    const std::string_view text = input.rest();
    attack(splitter, text);
    split_otherwise(splitter, text, cuts);
  } catch (const std::invalid_argument&) {
  }
  return 0;
}

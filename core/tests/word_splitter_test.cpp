// From text to words: symbols are set apart, spaces squeezed, and every byte knows where it comes from.

#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "word_splitter.hpp"

using namespace pairpiece;

namespace {

std::vector<std::string> words_of(const WordSplitter& splitter, std::string_view text) {
  PreparedText prepared;
  splitter.prepare(text, false, prepared);
  std::vector<std::string> words;
  for (size_t i = 0; i < prepared.words.size(); ++i) words.emplace_back(prepared.word(i));
  return words;
}

using Words = std::vector<std::string>;

}  // namespace

TEST(symbols_are_words_and_the_longest_wins) {
  const WordSplitter splitter(Normalizer(""), {}, {"", "<a>", "<a>b"});
  PreparedText text;
  splitter.prepare("x<a>by <a>", false, text);
  CHECK((words_of(splitter, "x<a>by <a>") == Words{"x", "<a>b", "y", " ", "<a>"}));
  CHECK(text.words[0].symbol == -1 && text.words[1].symbol == 2 && text.words[4].symbol == 1);
}

TEST(a_dummy_prefix_belongs_to_the_first_word) {
  const WordSplitter splitter(Normalizer(""), {Splitting::lossless, true, false}, {"<a>"});
  CHECK((words_of(splitter, "x y") == Words{" x", " y"}));
  CHECK((words_of(splitter, "<a>x") == Words{" ", "<a>", "x"}));
  CHECK(words_of(splitter, "").empty());
  CHECK(splitter.normalize("x y") == "x y");
}

TEST(squeezed_text_has_single_spaces_between_words) {
  const WordSplitter splitter(Normalizer(""), {Splitting::lossless, false, true}, {"<a>"});
  CHECK((words_of(splitter, "  x   y ") == Words{"x", " y"}));
  CHECK((words_of(splitter, " x  <a>  y ") == Words{"x", " ", "<a>", " y"}));
  CHECK(words_of(splitter, "   ").empty());
}

TEST(paper_splitting_puts_a_space_before_punctuation) {
  const WordSplitter splitter(Normalizer(""), {Splitting::paper, false, false}, {});
  CHECK((words_of(splitter, "ab, c .") == Words{"ab", " ,", " c", " ."}));
  PreparedText text;
  splitter.prepare("ab,", true, text);
  CHECK((text.origins == std::vector<CharacterRange>{{0, 1}, {1, 2}, {2, 2}, {2, 3}}));
}

TEST(digits_are_words_if_wanted_and_symbols_come_first) {
  const Normalizer normalizer("");
  const WordSplitter splitter(normalizer, {Splitting::lossless, true, true, true}, {"<1>"});
  CHECK((words_of(splitter, "12  a3<1>4 ") == Words{" ", "1", "2", " a", "3", "<1>", "4"}));
  const WordSplitter whole(normalizer, {Splitting::none, false, false, true}, {});
  CHECK((words_of(whole, "a b 1. c") == Words{"a b ", "1", ". c"}));
}

TEST(maps_cover_the_text_and_change_nothing) {
  const char* letters[] = {"a", " ", "  ", ".", "1", "<a>", "\xC3\xA9", "\xFF", "\xF0\x9F\x98\x80"};
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    const SplitOptions options{Splitting(random() % 4), random() % 2 == 0, random() % 2 == 0,
                               random() % 2 == 0};
    const WordSplitter splitter(Normalizer(""), options,
                                random() % 2 ? Words{"<a>"} : Words());
    std::string input;
    for (size_t k = random() % 12; k > 0; --k) input += letters[random() % 9];
    PreparedText plain, mapped;
    splitter.prepare(input, false, plain);
    splitter.prepare(input, true, mapped);
    CHECK(plain.text == mapped.text && plain.words.size() == mapped.words.size());
    CHECK(mapped.origins.size() == mapped.text.size());
    uint32_t position = 0;
    for (const PreparedText::Word& word : plain.words) {
      CHECK(word.begin == position && word.end > word.begin);
      position = word.end;
    }
    CHECK(position == plain.text.size());
  }
}

TEST(words_of_others_must_add_up) {
  const WordSplitter splitter(Normalizer(""), {Splitting::none, false, false}, {"<a>"});
  PreparedText text;
  splitter.prepare("xyz<a>", false, text);
  const auto is_refused = [&](std::vector<std::string_view> words) {
    PreparedText copy = text;
    return refused([&] { split_again(words, copy); });
  };
  CHECK(!is_refused({"x", "", "yz", "<a>"}));
  CHECK(is_refused({"x", "yz"}) && is_refused({"x", "yy", "<a>"}) && is_refused({"xyz<a>"}));
  CHECK(is_refused({"xyz", "<", "a>"}) && is_refused({"xyz", "<a>", "more"}));
}

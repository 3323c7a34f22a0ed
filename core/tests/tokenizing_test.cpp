// Segmentation of random texts: the fast way and the general one agree, nothing is lost.

#include <random>
#include <string>

#include "check.hpp"
#include "tokenizer.hpp"

using namespace pairpiece;

namespace {

Vocabulary random_vocabulary(std::mt19937& random, bool bytes) {
  std::vector<std::string> pieces{"<unk>"};
  std::vector<PieceType> types{PieceType::unknown};
  std::vector<double> scores{0};
  const auto add = [&](std::string piece, PieceType type, double score) {
    for (const std::string& other : pieces)
      if (other == piece) return;
    pieces.push_back(std::move(piece));
    types.push_back(type);
    scores.push_back(score);
  };
  if (bytes)
    for (int byte = 0; byte < 256; ++byte) add("<" + std::to_string(byte) + ">", PieceType::byte, 0);
  const char* letters[] = {"a", "b", " ", "\xC3\xA9", "\xE2\x82\xAC", "c"};
  for (int i = 0; i < 60; ++i) {
    std::string piece;
    for (size_t k = 0; k <= random() % 4; ++k) piece += letters[random() % 5];
    add(piece, PieceType::normal, -double(random() % 2000) / 256);
  }
  return Vocabulary(pieces, types, scores, Summation::words);
}

std::string random_text(std::mt19937& random) {
  const char* letters[] = {"a", "b", " ", "\xC3\xA9", "\xE2\x82\xAC", "c", "\xF0\x9F\x98\x80", "."};
  std::string text;
  for (size_t k = 0; k < random() % 30; ++k) text += letters[random() % 8];
  return text;
}

ConditionalModel random_model(std::mt19937& random, const Vocabulary& vocabulary, uint32_t sources,
                              Conditional conditional) {
  std::vector<uint64_t> row_begin{0};
  std::vector<uint32_t> source;
  std::vector<float> count;
  std::vector<double> source_count(sources, 1.0), base;
  for (size_t id = 0; id < vocabulary.size(); ++id) {
    const bool normal = vocabulary.type(PieceId(id)) == PieceType::normal;
    base.push_back(normal ? 0.01 : 0);
    for (uint32_t s = 0; normal && s < sources; ++s) {
      if (random() % 3) continue;
      source.push_back(s);
      count.push_back(float(random() % 100) / 10);
      source_count[s] += double(count.back());
    }
    row_begin.push_back(source.size());
  }
  return ConditionalModel({row_begin, source, count}, source_count, base,
                          {conditional, random() % 2 == 0, 1, {4, 1, 4}, 0.5, 0});
}

struct RandomSource {
  RandomSource(std::mt19937& random, int32_t sources) {
    for (size_t w = 0; w < random() % 6; ++w) {
      for (size_t k = 0; k < random() % 4; ++k)
        tokens.push_back(int32_t(random() % uint32_t(sources + 1)) - 1);
      word_begin.push_back(uint32_t(tokens.size()));
    }
  }
  std::vector<int32_t> tokens;
  std::vector<uint32_t> word_begin{0};
};

}  // namespace

TEST(fast_and_general_segmentation_agree) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const SplitOptions options{Splitting(random() % 4), random() % 2 == 0, false,
                               random() % 2 == 0};
    const Tokenizer tokenizer(Normalizer(""), options, random_vocabulary(random, random() % 2 == 0));
    const auto worker = tokenizer.borrow();
    for (int i = 0; i < 20; ++i) {
      PreparedText text;
      tokenizer.splitter().prepare(random_text(random), true, text);
      std::vector<PieceId> ids;
      tokenizer.encode(text, Unigram(), *worker, ids);
      const Segmentation general = tokenizer.segment(text, Unigram(), *worker);
      CHECK(general.ids == ids);
      const auto best = tokenizer.segment_best(text, Unigram(), 3, *worker);
      CHECK(!best.empty() && best[0].ids == ids);
      CHECK(general.words.size() == ids.size() && general.offsets.size() == ids.size());
    }
  }
}

TEST(bytes_bring_every_text_back) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    const Tokenizer tokenizer(Normalizer(""), {}, random_vocabulary(random, true));
    auto worker = tokenizer.borrow();
    for (int i = 0; i < 30; ++i) {
      const std::string text = random_text(random);
      std::vector<PieceId> ids;
      tokenizer.splitter().prepare(text, false, worker->text);
      tokenizer.encode(worker->text, Unigram(), *worker, ids);
      CHECK(tokenizer.decode(ids) == text);
    }
    tokenizer.give_back(std::move(worker));
  }
}

TEST(paired_segmentation_covers_the_text) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const Tokenizer tokenizer(Normalizer(""), {}, random_vocabulary(random, true));
    const auto model = random_model(random, tokenizer.vocabulary(), 7,
                                    round % 2 ? Conditional::pooled : Conditional::mixture);
    const auto worker = tokenizer.borrow();
    for (int i = 0; i < 10; ++i) {
      const std::string text = random_text(random);
      PreparedText prepared;
      tokenizer.splitter().prepare(text, false, prepared);
      const RandomSource words(random, 7);
      const SourceSentence source{words.tokens, words.word_begin};
      std::vector<Link> links;
      for (uint32_t s = 0; s < source.words(); ++s)
        for (uint32_t t = 0; t < prepared.words.size(); ++t)
          if (random() % 3 == 0) links.emplace_back(s, t);
      const Pairing whole{source, {}, true}, linked{source, links, false}, inferred{source, {}, false};
      for (const Pairing& pairing : {whole, linked, inferred}) {
        const Conditioned paired = tokenizer.condition(prepared, model, pairing, *worker);
        std::vector<PieceId> ids;
        tokenizer.encode(prepared, paired, *worker, ids);
        CHECK(tokenizer.decode(ids) == text);
        CHECK(tokenizer.segment(prepared, paired, *worker).ids == ids);
        CHECK(tokenizer.segment_best(prepared, paired, 3, *worker)[0].ids == ids);
        const auto sampled = tokenizer.segment(prepared, paired, *worker, Draw{0.5, 9});
        CHECK(tokenizer.decode(sampled.ids) == text);
      }
    }
  }
}

TEST(links_to_words_that_are_not_there_are_refused) {
  const std::vector<int32_t> tokens{1, 2};
  const std::vector<uint32_t> word_begin{0, 1, 2};
  const SourceSentence source{tokens, word_begin};
  Conditions conditions;
  const auto is_refused = [&](Link link) {
    return refused([&] { conditions.set_links(source, std::span(&link, 1), 3, false); });
  };
  CHECK(!is_refused({1, 2}));
  CHECK(is_refused({2, 2}) && is_refused({1, 3}));
}

TEST(vocabularies_that_cannot_be_used_are_refused) {
  using enum PieceType;
  const auto is_refused = [](std::vector<std::string> pieces, std::vector<PieceType> types) {
    const std::vector<double> scores(types.size(), 0.0);
    return refused([&] { Vocabulary(pieces, types, scores, Summation::words); });
  };
  CHECK(!is_refused({"<unk>", "a"}, {unknown, normal}));
  CHECK(is_refused({"<unk>", "a"}, {unknown}));
  CHECK(is_refused({"<unk>", ""}, {unknown, normal}));
  CHECK(is_refused({"a"}, {normal}));
  CHECK(is_refused({"<unk>", "<unk2>"}, {unknown, unknown}));
  CHECK(is_refused({"<unk>", "<0x00>"}, {unknown, byte}));
  CHECK(is_refused({"<unk>", "a"}, {unknown, PieceType(5)}));
  CHECK(is_refused({"<unk>", std::string(256, 'a')}, {unknown, normal}));
}

TEST(tables_that_do_not_fit_together_are_refused) {
  const auto is_refused = [](const SparseRows& counts) {
    return refused([&] { ConditionalModel(counts, {1.0, 1.0}, {0.5, 0.5}, {}); });
  };
  CHECK(!is_refused({{0, 1, 3}, {1, 0, 1}, {1, 1, 1}}));
  CHECK(is_refused({{0, 1}, {1}, {1}}));                    // a row is missing
  CHECK(is_refused({{0, 1, 3}, {1, 1, 0}, {1, 1, 1}}));     // not ascending
  CHECK(is_refused({{0, 1, 3}, {1, 0, 2}, {1, 1, 1}}));     // no such column
  CHECK(is_refused({{0, 4, 3}, {1, 0, 1}, {1, 1, 1}}));     // beyond the end
  CHECK(is_refused({{0, 1, 3}, {1, 0, 1}, {1, 1}}));        // a count is missing
}

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
  return ConditionalModel(row_begin, source, count, source_count, base,
                          {conditional, 1, {4, 1, 4}, 0.5});
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
    const Tokenizer tokenizer(*Normalizer::from_charsmap(""), Splitting(random() % 4),
                              random() % 2 == 0, false, random_vocabulary(random, random() % 2 == 0));
    const auto worker = tokenizer.borrow();
    for (int i = 0; i < 20; ++i) {
      PreparedText text;
      tokenizer.prepare(random_text(random), true, text);
      std::vector<PieceId> ids;
      tokenizer.encode(text, *worker, ids);
      Segmentation general = tokenizer.segment(text, nullptr, {}, {}, *worker);
      CHECK(general.ids == ids);
      const auto best = tokenizer.segment_best(text, nullptr, {}, 3, *worker);
      CHECK(!best.empty() && best[0].ids == ids);
      tokenizer.locate(text, general);
      CHECK(general.words.size() == ids.size() && general.offsets.size() == ids.size());
    }
  }
}

TEST(bytes_bring_every_text_back) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    const Tokenizer tokenizer(*Normalizer::from_charsmap(""), Splitting::lossless, false, false,
                              random_vocabulary(random, true));
    auto worker = tokenizer.borrow();
    for (int i = 0; i < 30; ++i) {
      const std::string text = random_text(random);
      std::vector<PieceId> ids;
      tokenizer.encode(text, *worker, ids);
      CHECK(tokenizer.decode(ids) == text);
    }
    tokenizer.give_back(std::move(worker));
  }
}

TEST(paired_segmentation_covers_the_text) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const Tokenizer tokenizer(*Normalizer::from_charsmap(""), Splitting::lossless, false, false,
                              random_vocabulary(random, true));
    const auto model = random_model(random, tokenizer.vocabulary(), 7,
                                    round % 2 ? Conditional::pooled : Conditional::mixture);
    const auto worker = tokenizer.borrow();
    for (int i = 0; i < 10; ++i) {
      const std::string text = random_text(random);
      PreparedText prepared;
      tokenizer.prepare(text, false, prepared);
      const RandomSource words(random, 7);
      const SourceSentence source{words.tokens, words.word_begin};
      std::vector<Link> links;
      for (uint32_t s = 0; s < source.words(); ++s)
        for (uint32_t t = 0; t < prepared.words.size(); ++t)
          if (random() % 3 == 0) links.emplace_back(s, t);
      Conditions whole, linked, inferred;
      whole.set_whole_sentence(source);
      linked.set_links(source, links, prepared.words.size(), false);
      tokenizer.infer_conditions(prepared, model, source, *worker, inferred);
      for (const Conditions& conditions : {whole, linked, inferred}) {
        std::vector<PieceId> ids;
        tokenizer.encode(prepared, model, conditions, *worker, ids);
        CHECK(tokenizer.decode(ids) == text);
        CHECK(tokenizer.segment(prepared, &model, conditions, {}, *worker).ids == ids);
        const Request drawn{Request::Choice::sample, 0.5, 9};
        const auto sampled = tokenizer.segment(prepared, &model, conditions, drawn, *worker);
        CHECK(tokenizer.decode(sampled.ids) == text);
      }
    }
  }
}

// Learning on random pairs: threads do not matter, pruning keeps the index of the table intact.

#include <cmath>
#include <random>

#include "check.hpp"
#include "learner.hpp"

using namespace pairpiece;

namespace {

PairSet random_pairs(unsigned seed, size_t words, uint32_t sources) {
  std::mt19937 random(seed);
  PairSet pairs;
  pairs.sources = sources;
  pairs.pair_begin.push_back(0);
  pairs.source_begin.push_back(0);
  for (size_t w = 0; w < words; ++w) {
    std::u32string word;
    const size_t length = 1 + random() % (w % 50 == 0 ? 40 : 9);
    for (size_t i = 0; i < length; ++i) word += char32_t('a' + random() % 5);
    pairs.words.push_back(word);
    for (size_t p = 0; p <= random() % 3; ++p) {
      pairs.count.push_back(1 + double(random() % 9));
      const bool unlinked = random() % 4 == 0;
      pairs.expected.push_back(unlinked ? 0 : 0.5 + double(random() % 4));
      uint32_t s = unlinked ? 0 : 1 + uint32_t(random()) % (sources - 3);
      for (size_t k = 0; k <= (unlinked ? 0 : random() % 3); ++k, ++s) {
        pairs.source.push_back(s);
        pairs.multiplicity.push_back(1 + uint32_t(random() % 2));
      }
      pairs.source_begin.push_back(pairs.source.size());
    }
    pairs.pair_begin.push_back(pairs.count.size());
  }
  return pairs;
}

Learner make_learner(const PairSet& pairs, LearnerOptions options, double coverage = 1) {
  pairs.check();
  SeedOptions seeds;
  seeds.character_coverage = coverage;
  return Learner(pairs, find_seeds(pairs, seeds, nullptr), options);
}

}  // namespace

TEST(threads_do_not_change_a_bit) {
  const PairSet pairs = random_pairs(1, 6000, 200);
  std::vector<double> first;
  for (const size_t threads : {1u, 2u, 8u}) {
    LearnerOptions options;
    options.penalty = {4, 8, 4};
    options.threads = threads;
    Learner learner = make_learner(pairs, options);
    CHECK(learner.initialize(nullptr));
    for (int pass = 0; pass < 3; ++pass) CHECK(learner.count(nullptr));
    if (threads == 1) first = learner.table().count;
    CHECK(learner.table().count == first);
  }
}

TEST(every_way_of_counting_keeps_its_mass) {
  const PairSet pairs = random_pairs(2, 500, 20);
  double examples = 0;
  for (const double n : pairs.count) examples += n;
  for (const auto counting : {Counting::posterior, Counting::printed, Counting::best}) {
    LearnerOptions options;
    options.counting = counting;
    if (counting != Counting::posterior) options.conditional = Conditional::pooled;
    Learner learner = make_learner(pairs, options, 0.9);
    CHECK(learner.initialize(nullptr));
    for (int pass = 0; pass < 4; ++pass) {
      CHECK(learner.count(nullptr));
      double pieces = 0, sources = 0;
      for (const double c : learner.piece_counts()) pieces += c;
      for (const double c : learner.source_counts()) sources += c;
      CHECK(std::abs(pieces - sources) <= 1e-9 * (pieces + 1));
      if (counting == Counting::posterior) CHECK(pieces > 0.5 * examples);
    }
  }
}

TEST(pruning_to_the_characters_still_segments_every_word) {
  const PairSet pairs = random_pairs(3, 800, 30);
  Learner learner = make_learner(pairs, {});
  CHECK(learner.initialize(nullptr));
  std::mt19937 random(4);
  while (learner.pieces().size() > learner.characters()) {
    CHECK(learner.count(nullptr));
    const auto alternatives = learner.alternatives();
    const auto uses = learner.tied_uses(alternatives, nullptr);
    CHECK(uses.count.size() == learner.pieces().size());
    CHECK(learner.mutual_information().size() == learner.pieces().size());
    std::vector<uint8_t> flags(learner.pieces().size());
    for (auto& flag : flags) flag = flags.size() > 50 ? uint8_t(random() % 2) : 0;
    learner.keep(flags);
    CHECK(learner.table().row_begin.size() == learner.pieces().size() + 1);
  }
  CHECK(learner.count(nullptr));
  double characters = 0, counted = 0;
  for (size_t w = 0; w < pairs.words.size(); ++w)
    for (uint64_t p = pairs.pair_begin[w]; p < pairs.pair_begin[w + 1]; ++p)
      characters += pairs.count[p] * double(pairs.words[w].size());
  for (const double c : learner.piece_counts()) counted += c;
  CHECK(std::abs(characters - counted) < 1e-6 * characters);
}

TEST(pairs_that_do_not_fit_together_are_refused) {
  const PairSet pairs = random_pairs(6, 20, 9);
  CHECK(!refused([&] { pairs.check(); }));
  const auto spoilt = [&](auto spoil) {
    PairSet copy = pairs;
    spoil(copy);
    return refused([&] { copy.check(); });
  };
  CHECK(spoilt([](PairSet& p) { p.words.pop_back(); }));
  CHECK(spoilt([](PairSet& p) { p.words[3].clear(); }));
  CHECK(spoilt([](PairSet& p) { p.pair_begin[4] = p.pair_begin.back() + 1; }));
  CHECK(spoilt([](PairSet& p) { p.source_begin[5] = p.source_begin[4]; }));
  CHECK(spoilt([](PairSet& p) { p.source[0] = p.sources; }));
  CHECK(spoilt([](PairSet& p) { p.multiplicity[0] = 0; }));
  CHECK(spoilt([](PairSet& p) { p.count[2] = std::nan(""); }));
  CHECK(spoilt([](PairSet& p) { p.expected[2] = -1; }));
}

TEST(an_interrupted_pass_leaves_the_table_as_it_was) {
  Learner learner = make_learner(random_pairs(5, 9000, 50), {});
  CHECK(learner.initialize(nullptr));
  const auto before = learner.table().count;
  int asked = 0;
  CHECK(!learner.count([&] { return ++asked > 1; }));
  CHECK(learner.table().count == before);
}

// Ways to score the segmentations of the words of a text, behind one interface: the vocabulary's own
// scores, the bigram model, and the conditional model.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bigram.hpp"
#include "conditional.hpp"
#include "vocabulary.hpp"
#include "word_splitter.hpp"

namespace pairpiece {

// The segmentations of one word and their scores; memory to be used for one word after the other.
struct ScoredWord {
  std::span<const Edge> edges;
  std::vector<double> log_weight;  // of the edges
  std::vector<double> log_prior;   // of numbers of pieces
  double piece_penalty = 0;        // that has been subtracted from each log-weight
  Lattice lattice;
  Path path;
  std::vector<Edge> segmentation;  // the edges of the path
  std::vector<Edge> found;         // what `edges` refers to, if they were found for this word alone

  void find_edges(const Vocabulary& vocabulary, std::string_view word) {
    found.clear();
    vocabulary.append_edges(word, found);
    edges = found;
  }
  // Makes the lattice of a word of so many bytes, in which edges have log_probability_of(edge).
  template <class LogProbability>
  void weigh(size_t length, LogProbability log_probability_of) {
    log_weight.clear();
    for (const Edge& edge : edges)
      log_weight.push_back(possible(log_probability_of(edge) - piece_penalty));
    lattice.reset(length, edges);
  }
  void take_path() {
    segmentation.clear();
    for (const uint32_t e : path.edges) segmentation.push_back(edges[e]);
  }
  void find_best() {
    lattice.best(log_weight, log_prior, path);
    take_path();
  }
  // Sets the path to one drawn by probabilities with an exponent; spoils the prior.
  void draw(double exponent, const std::function<double()>& uniform) {
    std::vector<double> log_share = log_weight;
    for (double& w : log_share) w *= exponent;
    for (double& p : log_prior) p *= exponent;
    lattice.sample(log_share, log_prior, uniform, path);
    take_path();
  }

  void add_log_probability(double& sum) const {
    for (const uint32_t e : path.edges) sum += log_weight[e] + piece_penalty;
  }
};

// What the loop over the words of a text asks, word after word.
template <class T>
concept Scorer = requires(T& scorer, size_t i, std::string_view word, double& sum) {
  // What the best segmentation depends on; empty if it is not worth remembering.
  { scorer.key(i, word) } -> std::same_as<std::string_view>;
  // The edges of the best segmentation, and their log-probability, added to a sum.
  { scorer.best(i, word) } -> std::same_as<std::span<const Edge>>;
  scorer.add_log_probability(sum);
  // Told of user-defined symbols in between.
  scorer.pass(word);
};

// One that can also be sampled from, and asked for several segmentations.
template <class T>
concept LatticeScorer = Scorer<T> && requires(T& scorer, size_t i, std::string_view word) {
  { scorer.load(i, word) } -> std::same_as<ScoredWord&>;
};

class UnigramScorer {
 public:
  UnigramScorer(const Vocabulary& vocabulary, Vocabulary::Scratch& scratch, ScoredWord& scored)
      : vocabulary_(vocabulary), scratch_(scratch), scored_(scored) {}

  std::string_view key(size_t, std::string_view word) const {
    return vocabulary_.summation() == Summation::words ? word : std::string_view();
  }
  std::span<const Edge> best(size_t, std::string_view word) {
    const bool in_one_sum = vocabulary_.summation() == Summation::singles;
    sum_ = vocabulary_.segment(word, scratch_, in_one_sum ? sum_ : 0);
    return scratch_.path;
  }
  void add_log_probability(double& sum) const {
    for (const Edge& edge : scratch_.path) sum += vocabulary_.score_of(edge);
  }
  // What SentencePiece adds for a symbol; other tools add up what lies between them.
  void pass(std::string_view symbol) { sum_ = float(sum_ + (0.1 * double(symbol.size()) - 0.1)); }
  ScoredWord& load(size_t, std::string_view word);

 private:
  const Vocabulary& vocabulary_;
  Vocabulary::Scratch& scratch_;
  ScoredWord& scored_;
  double sum_ = 0;  // of all that came before, if that matters
};

class BigramScorer {
 public:
  BigramScorer(const Vocabulary& vocabulary, const BigramModel& model, ScoredWord& scored)
      : vocabulary_(vocabulary), model_(model), scored_(scored) {}

  std::string_view key(size_t, std::string_view word) const { return word; }
  std::span<const Edge> best(size_t, std::string_view word) {
    scored_.find_edges(vocabulary_, word);
    model_.best(scored_.edges, word.size(), scored_.path);
    scored_.take_path();
    return scored_.segmentation;
  }
  void add_log_probability(double& sum) const { sum += scored_.path.score; }
  void pass(std::string_view) {}

 private:
  const Vocabulary& vocabulary_;
  const BigramModel& model_;
  ScoredWord& scored_;
};

class ConditionalScorer {
 public:
  struct Memory {
    ConditionalModel::Scratch scratch;
    std::string keys;                 // of the words of a text, one after the other
    std::vector<uint32_t> key_begin;  // of each, and the end
  };
  ConditionalScorer(const Vocabulary& vocabulary, const ConditionalModel& model,
                    const Conditions& conditions, const PreparedText& text, Memory& memory,
                    ScoredWord& scored);

  std::string_view key(size_t i, std::string_view) const {
    // Within a whole sentence a word seldom comes back.
    if (conditions_.whole_sentence()) return {};
    const auto& begin = memory_.key_begin;
    return std::string_view(memory_.keys).substr(begin[i], begin[i + 1] - begin[i]);
  }
  std::span<const Edge> best(size_t i, std::string_view word) {
    load(i, word).find_best();
    return scored_.segmentation;
  }
  void add_log_probability(double& sum) const { scored_.add_log_probability(sum); }
  void pass(std::string_view) {}
  ScoredWord& load(size_t i, std::string_view word);

 private:
  const Vocabulary& vocabulary_;
  const ConditionalModel& model_;
  const Conditions& conditions_;
  Memory& memory_;
  ScoredWord& scored_;
};

static_assert(LatticeScorer<UnigramScorer> && LatticeScorer<ConditionalScorer>);
static_assert(Scorer<BigramScorer>);

}  // namespace pairpiece

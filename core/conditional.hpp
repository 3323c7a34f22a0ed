// p(t | S) at tokenization time: the learned co-occurrence table, and the source tokens that each
// target word is conditioned on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "conditional_kind.hpp"
#include "identity.hpp"
#include "lattice.hpp"
#include "length_prior.hpp"
#include "sparse_rows.hpp"
#include "word_links.hpp"

namespace pairpiece {

inline constexpr int32_t kUnseenSource = -1;
inline constexpr size_t kMaxSources = (1u << 24) - 1;  // their ids fit into three bytes

// A source sentence as token ids grouped into words; unseen tokens are kUnseenSource.
struct SourceSentence {
  std::span<const int32_t> tokens;
  std::span<const uint32_t> word_begin;  // words + 1 offsets into `tokens`

  size_t words() const { return word_begin.size() - 1; }
};

// What a text is to be encoded with.
struct Pairing {
  SourceSentence source;
  std::optional<std::span<const Link>> links;  // if they are known, sorted
  bool whole_sentence = false;                 // if not: whether to do without any
};

// What one target word is conditioned on.
struct Condition {
  std::span<const int32_t> sources;  // empty: no source side
  double expected = 0;               // m of eq. 8; 0 for no source side
};

// What the words of a text are conditioned on: each on its own source tokens, or all on the whole
// sentence, and then without the length prior.  To be used for one text after the other.
class Conditions {
 public:
  void set_whole_sentence(const SourceSentence& source);
  // From word links, as in training; `links` are sorted.  `inferred` says that the model has found
  // them itself.  Throws std::invalid_argument if there are not so many words.
  void set_links(const SourceSentence& source, std::span<const Link> links, size_t target_words,
                 bool inferred);

  bool whole_sentence() const { return whole_sentence_; }
  bool inferred() const { return inferred_; }
  Condition of(size_t word) const {
    if (whole_sentence_) return {sources_, 0};
    return {part_of(sources_, begin_, word), expected_[word]};
  }

  // The edges of the words, where they had to be found for the conditions; else there are none.
  WordEdges edges;

 private:
  bool whole_sentence_ = false, inferred_ = false;
  std::vector<int32_t> sources_;
  std::vector<uint32_t> begin_;  // of each word, and the end
  std::vector<double> expected_;
  std::vector<uint32_t> fan_out_, next_;
};

struct ConditionalOptions {
  Conditional conditional = Conditional::mixture;
  // Whether pieces score log p(t|S) − log p0(t) more than without a source, or log p(t|S).
  bool evidence = false;
  double smoothing = 1;               // κ of the mixture
  LengthPenalty penalty;
  double piece_penalty = 0;           // τ, subtracted for every piece
  double inferred_piece_penalty = 0;  // the same where the model has found the links itself
};

class ConditionalModel {
 public:
  // Row t of `counts` has c(t, s) of piece id t; `base` is p0 by piece id, 0 for ids that are not
  // normal pieces; `source_count[s]` is c(s).  Throws std::invalid_argument if the sizes do not fit.
  ConditionalModel(const SparseRows& counts, std::vector<double> source_count,
                   std::vector<double> base, const ConditionalOptions& options);

  // Memory of one thread, to be used with one model: the distinct pieces of a sentence with numbers
  // about them, and what links are found by.
  struct Scratch {
    // Numbers the distinct pieces of the edges; forgets those of the sentence before.
    void begin_sentence(std::span<const Edge> edges, size_t all_pieces);

    std::vector<uint8_t> wanted;   // a flag for each piece: small, to stay in the processor's cache
    std::vector<uint32_t> number;  // of the pieces that have their flag
    std::vector<uint32_t> pieces;  // by number
    std::vector<uint32_t> found;   // places in a column
    std::vector<double> log_probabilities;  // by number, given the loaded condition
    std::vector<double> rows, reach, evidence;
  };

  bool evidence() const { return options_.evidence; }
  // τ for a word; evidence about nothing changes nothing.
  double piece_penalty(const Conditions& conditions, const Condition& condition) const {
    if (is_target_only(condition)) return 0;
    return conditions.inferred() ? options_.inferred_piece_penalty : options_.piece_penalty;
  }
  uint64_t identity() const { return identity_; }

  // Throws std::invalid_argument if there is no such source token, seen or unseen.
  int32_t checked_source(int64_t id) const;

  // c(t, s); 0 for an unseen source.
  double count(uint32_t piece, int32_t source) const {
    return source == kUnseenSource ? 0 : by_source_.at(size_t(source), piece);
  }

  // log p(t|S) (eq. 2, or 6–7), or how much higher than log p0(t) it is, without the penalties, of
  // the pieces of edges that were loaded together with S; the unknown piece has a constant.
  void load(const Condition& condition, std::span<const Edge> edges, Scratch& scratch) const;
  double log_probability(uint32_t piece, const Scratch& scratch) const {
    return piece == kUnknownPiece ? unknown_ : scratch.log_probabilities[scratch.number[piece]];
  }
  // The log prior of 0, 1, … pieces for a word of `length` bytes (eq. 8).
  void log_prior(size_t length, const Condition& condition, std::vector<double>& out) const;

  // Word links found with the table itself (docs/algorithm.md, section 6), given the lattices of
  // the target words.
  std::vector<Link> infer_links(const SourceSentence& source, const WordEdges& target,
                                Scratch& scratch) const;

 private:
  // Whether a word is scored as if there were no source at all: nothing is known about its tokens.
  bool is_target_only(const Condition& condition) const {
    return options_.evidence &&
           std::all_of(condition.sources.begin(), condition.sources.end(),
                       [](int32_t source) { return source == kUnseenSource; });
  }
  // p(t|S) of every piece in the lattices, for every source word S and, in a last column, for none:
  // scratch.rows.
  void find_rows(const SourceSentence& source, const WordEdges& target, Scratch& scratch) const;
  // Fills scratch.evidence from the rows, as find_links takes it: p(T|S) / p0(T), summed over
  // segmentations.
  void find_evidence(size_t sources, const WordEdges& target, Scratch& scratch) const;
  double total_of(int32_t source) const {
    return source == kUnseenSource ? 0 : source_count_[size_t(source)];
  }

  // Calls visit(number, count) for the pieces of a sentence that were met with a source.
  template <class Visit>
  void each_met(int32_t source, Scratch& scratch, Visit visit) const;

  SparseRows by_source_;  // the pieces met with each source
  std::vector<double> source_count_;
  std::vector<double> base_;
  ConditionalOptions options_;
  double unknown_ = 0;  // what a character outside the vocabulary has for log-probability
  uint64_t identity_ = next_identity();
};

}  // namespace pairpiece

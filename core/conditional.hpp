// p(t | S) at tokenization time: the learned co-occurrence table, and the source tokens that each
// target word is conditioned on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "identity.hpp"
#include "lattice.hpp"
#include "learner.hpp"
#include "length_prior.hpp"

namespace pairpiece {

inline constexpr int32_t kUnseenSource = -1;

// A source sentence as token ids grouped into words; unseen tokens are kUnseenSource.
struct SourceSentence {
  std::vector<int32_t> tokens;
  std::vector<uint32_t> word_begin{0};  // words + 1 offsets into `tokens`

  size_t words() const { return word_begin.size() - 1; }
};

using Link = std::pair<uint32_t, uint32_t>;  // (source word, target word)

// What one target word is conditioned on.
struct Condition {
  std::span<const int32_t> sources;  // empty: no source side
  double expected = 0;               // m of eq. 8; 0 for no source side
};

// What the words of a text are conditioned on: each on its own source tokens, or all on the whole
// sentence, and then without the length prior.
class Conditions {
 public:
  bool whole_sentence() const { return whole_sentence_; }
  Condition of(size_t word) const {
    if (whole_sentence_) return {sources_, 0};
    return {std::span(sources_).subspan(begin_[word], begin_[word + 1] - begin_[word]),
            expected_[word]};
  }

  static Conditions whole_sentence(const SourceSentence& source);
  // From word links, as in training; `links` are sorted.
  static Conditions from_links(const SourceSentence& source, std::span<const Link> links,
                               size_t target_words);

 private:
  bool whole_sentence_ = false;
  std::vector<int32_t> sources_;
  std::vector<uint32_t> begin_;  // of each word, and the end
  std::vector<double> expected_;
};

struct ConditionalOptions {
  Conditional conditional = Conditional::mixture;
  double smoothing = 1;
  LengthPenalty penalty;
  double piece_penalty = 0;  // τ, subtracted for every piece
};

class ConditionalModel {
 public:
  // Row t of the table belongs to piece id t; `base` is p0 by piece id, 0 for ids that are not
  // normal pieces; `source_count[s]` is c(s).  Requires offsets and sources in range and ascending.
  ConditionalModel(std::vector<uint64_t> row_begin, std::vector<uint32_t> source,
                   std::vector<float> count, std::vector<double> source_count,
                   std::vector<double> base, ConditionalOptions options);

  // Memory of one thread, to be used with one model.
  class Scratch;

  const ConditionalOptions& options() const { return options_; }
  uint64_t identity() const { return identity_; }
  size_t sources() const { return source_count_.size(); }

  // c(t, s); 0 for an unseen source.
  double count(uint32_t piece, int32_t source) const;

  // log p(t|S) without the penalties; the unknown piece has a low constant.
  double log_probability(uint32_t piece, const Condition& condition) const;
  // The same for many pieces and one S: first load S and the edges that have the pieces, then ask.
  void load(const Condition& condition, std::span<const Edge> edges, Scratch& scratch) const;
  double log_probability(uint32_t piece, const Scratch& scratch) const;
  // The log prior of 0, 1, … pieces for a word of `length` bytes.
  void log_prior(size_t length, const Condition& condition, std::vector<double>& out) const;

  // Word links found with the table itself (docs/algorithm.md, section 6), given the lattices of
  // the target words.
  std::vector<Link> infer_links(const SourceSentence& source, const WordEdges& target,
                                Scratch& scratch) const;

 private:
  // A cell of the table in a hash table with open addressing.
  struct Cell {
    uint32_t piece = kUnknownPiece;  // a free place
    uint32_t source = 0;
    float count = 0;
  };
  static uint64_t hash(uint32_t piece, uint32_t source) {
    return (uint64_t(piece) << 32 | source) * 0x9E3779B97F4A7C15u;
  }

  // log p(t|S) given the sum over S of c(t, s), each divided as the model divides it.
  double log_of_sum(uint32_t piece, double sum, double divisors) const;
  double total_of(int32_t source) const {
    return source == kUnseenSource ? 0 : source_count_[size_t(source)];
  }

  // The table by column: the pieces seen with a source, and how often.
  struct Entry {
    uint32_t piece;
    float count;
  };
  std::span<const Entry> column(int32_t source) const {
    if (source == kUnseenSource) return {};
    const uint64_t begin = column_begin_[size_t(source)];
    return std::span(entries_).subspan(begin, column_begin_[size_t(source) + 1] - begin);
  }
  std::vector<uint64_t> column_begin_;
  std::vector<Entry> entries_;
  // The same cells by the hash of (piece, source), and for each hash a bit: most pairs never met,
  // and the bits stay in the processor's cache.
  std::vector<Cell> cells_;
  std::vector<uint64_t> met_;
  int cell_shift_ = 0, met_shift_ = 0;
  std::vector<double> source_count_;
  std::vector<double> base_;
  ConditionalOptions options_;
  double unknown_ = 0;  // log-probability of a character outside the vocabulary
  uint64_t identity_ = next_identity();
};

// The distinct pieces of a sentence with numbers about them, and memory to find links in.
class ConditionalModel::Scratch {
  friend class ConditionalModel;

  // Numbers the distinct pieces of the edges; forgets those of the sentence before.
  void begin_sentence(std::span<const Edge> edges, size_t pieces) {
    for (const uint32_t piece : pieces_) wanted_[piece >> 6] = 0;
    pieces_.clear();
    wanted_.resize(pieces / 64 + 1, 0);
    number_.resize(pieces);
    for (const Edge& edge : edges) {
      if (edge.piece == kUnknownPiece || wants(edge.piece)) continue;
      wanted_[edge.piece >> 6] |= uint64_t{1} << (edge.piece & 63);
      number_[edge.piece] = uint32_t(pieces_.size());
      pieces_.push_back(edge.piece);
    }
  }
  bool wants(uint32_t piece) const { return wanted_[piece >> 6] >> (piece & 63) & 1; }

  std::vector<uint64_t> wanted_;  // a bit for each piece: they stay in the processor's cache
  std::vector<uint32_t> number_;  // of the pieces that have their bit
  std::vector<uint32_t> pieces_;  // by number
  std::vector<double> sums_;      // by number
  double divisors_ = 0, size_ = 1;  // of the loaded condition
  std::vector<uint32_t> place_of_source_;  // 1 + place among `distinct_`; 0 for others
  std::vector<int32_t> distinct_;
  std::vector<double> rows_, reach_, evidence_, share_;
};

}  // namespace pairpiece

// p(t | S) at tokenization time: the learned co-occurrence table, and the source tokens that each
// target word is conditioned on.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

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
  std::vector<int32_t> sources;  // empty: no source side
  double expected = 0;           // m of eq. 8; 0 for no source side
  bool counts_pieces = true;     // whether the length prior applies
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

  const ConditionalOptions& options() const { return options_; }
  size_t sources() const { return source_count_.size(); }

  // c(t, s); 0 for an unseen source.
  double count(uint32_t piece, int32_t source) const;

  // log p(t|S) of every edge, without the penalties.
  void log_probabilities(std::span<const Edge> edges, const Condition& condition,
                         std::vector<double>& out) const;
  // The log prior of 0, 1, … pieces for a word of `length` bytes.
  void log_prior(size_t length, const Condition& condition, std::vector<double>& out) const;

  // One condition per target word: from word links (as in training), or the whole sentence for
  // each word (as in the paper).
  static std::vector<Condition> from_links(const SourceSentence& source, std::span<const Link> links,
                                           size_t target_words);
  static std::vector<Condition> whole_sentence(const SourceSentence& source, size_t target_words);

  // Word links found with the table itself (docs/algorithm.md, section 6): `edges[w]` is the
  // lattice of target word w of `lengths[w]` bytes.
  std::vector<Link> infer_links(const SourceSentence& source,
                                std::span<const std::vector<Edge>> edges,
                                std::span<const size_t> lengths) const;

 private:
  std::vector<uint64_t> row_begin_;
  std::vector<uint32_t> source_;
  std::vector<float> count_;
  std::vector<double> source_count_;
  std::vector<double> base_;
  ConditionalOptions options_;
  double unknown_ = 0;  // log-probability of a character outside the vocabulary
};

}  // namespace pairpiece

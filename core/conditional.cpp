#include "conditional.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace pairpiece {
namespace {

// Under the paper's unsmoothed model a piece never seen with S falls back on p0, so many nats down.
constexpr double kUnseenPenalty = 10;
// κ where links are looked for, whatever the model's own is.
constexpr double kSmoothing = 1;
// So much can be added up for all source words.
constexpr double kMostEvidence = 1e300;
// Longer words (in bytes) are segmented without the length prior, and are not linked: memory grows
// with length × counted pieces, respectively × source words.  Nor is a text of so many pairs of
// words linked.
constexpr size_t kLongestCountedWord = size_t{1} << 16;
constexpr size_t kLongestLinkedWord = size_t{1} << 12;
constexpr size_t kMostWordPairs = size_t{1} << 24;

// The sources of a condition, or the one that stands for none.
std::span<const int32_t> sources_of(const Condition& condition) {
  static constexpr int32_t kNull[] = {0};
  return condition.sources.empty() ? std::span(kNull) : condition.sources;
}

}  // namespace

ConditionalModel::ConditionalModel(const SparseRows& counts, std::vector<double> source_count,
                                   std::vector<double> base, const ConditionalOptions& options)
    : source_count_(std::move(source_count)), base_(std::move(base)), options_(options) {
  counts.check(base_.size(), source_count_.size());
  if (source_count_.empty()) throw std::invalid_argument("the table has no sources");
  if (source_count_.size() > kMaxSources) throw std::invalid_argument("too many source tokens");
  if (!options_.evidence) unknown_ = unknown_log_probability(base_);
  by_source_ = counts.transposed(source_count_.size());
}

int32_t ConditionalModel::checked_source(int64_t id) const {
  if (id < kUnseenSource || id >= int64_t(source_count_.size()))
    throw std::invalid_argument("source token id " + std::to_string(id) + " is out of range");
  return int32_t(id);
}

void ConditionalModel::Scratch::begin_sentence(std::span<const Edge> edges, size_t all_pieces) {
  for (const uint32_t piece : pieces) wanted[piece] = 0;
  pieces.clear();
  wanted.resize(all_pieces, 0);
  number.resize(all_pieces);
  for (const Edge& edge : edges) {
    if (edge.piece == kUnknownPiece || wanted[edge.piece]) continue;
    wanted[edge.piece] = 1;
    number[edge.piece] = uint32_t(pieces.size());
    pieces.push_back(edge.piece);
  }
}

void ConditionalModel::load(const Condition& condition, std::span<const Edge> edges,
                            Scratch& scratch) const {
  scratch.begin_sentence(edges, base_.size());
  auto& sums = scratch.log_probabilities;
  sums.assign(scratch.pieces.size(), 0.0);
  if (is_target_only(condition)) return;
  const auto sources = sources_of(condition);
  // Sums over the sources that pieces were met with: those of eq. 2, or of eq. 6 without p0.
  const bool pooled = options_.conditional == Conditional::pooled;
  double divisors = 0;
  for (const int32_t s : sources) {
    const double divisor = pooled ? 1 : 1 / (total_of(s) + options_.smoothing);
    divisors += pooled ? total_of(s) : divisor;
    each_met(s, scratch, [&](size_t n, double count) { sums[n] += count * divisor; });
  }
  if (!pooled) divisors /= double(sources.size());
  for (size_t n = 0; n < sums.size(); ++n) {
    const double base = base_[scratch.pieces[n]];
    const double relative_to = options_.evidence ? base : 1;
    if (!pooled)  // eq. 6–7 with p0 put back, or that over p0
      sums[n] = std::log((sums[n] / double(sources.size()) + options_.smoothing * base * divisors) /
                         relative_to);
    else
      sums[n] = sums[n] > 0 ? std::log(sums[n] / divisors / relative_to)
                            : std::log(base / relative_to) - kUnseenPenalty;
  }
}

template <class Visit>
void ConditionalModel::each_met(int32_t source, Scratch& scratch, Visit visit) const {
  if (source == kUnseenSource) return;
  const uint64_t begin = by_source_.begin[size_t(source)];
  const size_t size = by_source_.begin[size_t(source) + 1] - begin;
  const uint32_t* const pieces = by_source_.column.data() + begin;
  if (scratch.found.size() < size) scratch.found.resize(size);
  // No branch depends on what is wanted: no processor could guess it.
  const uint8_t* const wanted = scratch.wanted.data();
  uint32_t* const found = scratch.found.data();
  size_t count = 0;
  for (size_t i = 0; i < size; ++i) {
    found[count] = uint32_t(i);
    count += wanted[pieces[i]];
  }
  for (size_t k = 0; k < count; ++k)
    visit(scratch.number[pieces[found[k]]], double(by_source_.count[begin + found[k]]));
}

void ConditionalModel::log_prior(size_t length, const Condition& condition,
                                 std::vector<double>& out) const {
  const bool counted = length <= kLongestCountedWord && !is_target_only(condition);
  find_log_prior(counted ? options_.penalty : LengthPenalty(), length, condition.expected, out);
}

void Conditions::set_whole_sentence(const SourceSentence& source) {
  whole_sentence_ = true;
  inferred_ = false;
  sources_.assign(source.tokens.begin(), source.tokens.end());
}

void Conditions::set_links(const SourceSentence& source, std::span<const Link> links,
                           size_t target_words, bool inferred) {
  for (const auto& [from, to] : links)
    if (from >= source.words() || to >= target_words)
      throw std::invalid_argument("the alignment links " + std::to_string(from) + "-" +
                                  std::to_string(to) + " but there are " +
                                  std::to_string(source.words()) + " source and " +
                                  std::to_string(target_words) + " target words");
  const auto tokens_of = [&](uint32_t word) {
    return source.word_begin[word + 1] - source.word_begin[word];
  };
  whole_sentence_ = false;
  inferred_ = inferred;
  fan_out_.assign(source.words(), 0);
  begin_.assign(target_words + 1, 0);
  for (const auto& [from, to] : links) {
    ++fan_out_[from];
    begin_[to + 1] += tokens_of(from);
  }
  for (size_t w = 0; w < target_words; ++w) begin_[w + 1] += begin_[w];
  sources_.resize(begin_.back());
  expected_.assign(target_words, 0.0);
  next_.assign(begin_.begin(), begin_.end() - 1);
  for (const auto& [from, to] : links) {
    for (uint32_t i = source.word_begin[from]; i < source.word_begin[from + 1]; ++i)
      sources_[next_[to]++] = source.tokens[i];
    // A source word shared by several target words counts for a part in each.
    expected_[to] += double(tokens_of(from)) / fan_out_[from];
  }
}

void ConditionalModel::find_rows(const SourceSentence& source, const WordEdges& target,
                                 Scratch& scratch) const {
  const size_t columns = source.words() + 1;
  scratch.begin_sentence(target.edges, base_.size());
  const auto& pieces = scratch.pieces;
  auto& rows = scratch.rows;
  rows.assign(pieces.size() * columns, 0.0);
  std::vector<double> unseen(columns, 0.0);  // how much of p0 is in each column
  unseen.back() = 1;
  for (size_t j = 0; j + 1 < columns; ++j) {
    const uint32_t first = source.word_begin[j], last = source.word_begin[j + 1];
    for (uint32_t i = first; i < last; ++i) {
      const int32_t s = source.tokens[i];
      const double share = 1 / ((total_of(s) + kSmoothing) * double(last - first));
      unseen[j] += kSmoothing * share;
      each_met(s, scratch, [&](size_t n, double count) { rows[n * columns + j] += count * share; });
    }
  }
  for (size_t row = 0; row < pieces.size(); ++row)
    for (size_t j = 0; j < columns; ++j) rows[row * columns + j] += unseen[j] * base_[pieces[row]];
}

void ConditionalModel::find_evidence(size_t sources, const WordEdges& target,
                                     Scratch& scratch) const {
  const size_t columns = sources + 1;
  auto& evidence = scratch.evidence;
  auto& reach = scratch.reach;  // α of eq. 4, for all columns at once
  evidence.assign(target.words() * sources, 0.0);
  for (size_t w = 0; w < target.words(); ++w) {
    const size_t length = target.lengths[w];
    if (length == 0 || length > kLongestLinkedWord) continue;
    reach.assign((length + 1) * columns, 0.0);
    std::fill_n(reach.begin(), columns, 1.0);
    for (const Edge& edge : target.of(w)) {
      const double* from = &reach[edge.begin * columns];
      double* to = &reach[edge.end() * columns];
      if (edge.piece == kUnknownPiece) {
        for (size_t j = 0; j < columns; ++j) to[j] += from[j];
        continue;
      }
      const double* weight = &scratch.rows[scratch.number[edge.piece] * columns];
      for (size_t j = 0; j < columns; ++j) to[j] += from[j] * weight[j];
    }
    const double* end = &reach[length * columns];
    const double none = end[columns - 1];
    for (size_t j = 0; none > 0 && j < sources; ++j) {
      const double found = end[j] / none;
      evidence[w * sources + j] = found > 0 ? std::min(found, kMostEvidence) : 0;
    }
  }
}

std::vector<Link> ConditionalModel::infer_links(const SourceSentence& source,
                                                const WordEdges& target, Scratch& scratch) const {
  const size_t sources = source.words(), targets = target.words();
  if (sources == 0 || targets == 0 || sources * targets > kMostWordPairs) return {};
  find_rows(source, target, scratch);
  find_evidence(sources, target, scratch);
  return find_links(scratch.evidence, sources, targets);
}

}  // namespace pairpiece

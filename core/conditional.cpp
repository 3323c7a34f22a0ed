#include "conditional.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace pairpiece {
namespace {

// Under the paper's unsmoothed model a piece never seen with S falls back on p0, so many nats down.
constexpr double kUnseenPenalty = 10;
// How fast the belief in a link falls with its distance from the diagonal, and how much likelier a
// source token must make a word than no source does.  Measured: docs/algorithm.md, section 6.
constexpr double kDiagonalTension = 4;
constexpr double kLeastEvidence = 2;
constexpr double kSmoothing = 1;
// Longer words (in bytes) are segmented without the length prior, and are not linked: memory grows
// with length × counted pieces, respectively × source tokens.
constexpr size_t kLongestCountedWord = size_t{1} << 16;
constexpr size_t kLongestLinkedWord = size_t{1} << 12;

// The sources of a condition, or the one that stands for none.
std::span<const int32_t> sources_of(const Condition& condition) {
  static constexpr int32_t kNull[] = {0};
  return condition.sources.empty() ? std::span(kNull) : condition.sources;
}

}  // namespace

ConditionalModel::ConditionalModel(std::vector<uint64_t> row_begin, std::vector<uint32_t> source,
                                   std::vector<float> count, std::vector<double> source_count,
                                   std::vector<double> base, ConditionalOptions options)
    : source_count_(std::move(source_count)),
      base_(std::move(base)),
      options_(options) {
  double lowest = 1;
  for (const double p : base_)
    if (p > 0) lowest = std::min(lowest, p);
  unknown_ = std::log(lowest) - kUnseenPenalty;

  column_begin_.assign(source_count_.size() + 1, 0);
  for (const uint32_t s : source) ++column_begin_[s + 1];
  std::partial_sum(column_begin_.begin(), column_begin_.end(), column_begin_.begin());
  std::vector<uint64_t> next(column_begin_.begin(), column_begin_.end() - 1);
  column_pieces_.resize(source.size());
  column_counts_.resize(source.size());
  for (uint32_t t = 0; t + 1 < row_begin.size(); ++t) {
    for (uint64_t i = row_begin[t]; i < row_begin[t + 1]; ++i) {
      const uint64_t entry = next[source[i]]++;
      column_pieces_[entry] = t;
      column_counts_[entry] = count[i];
    }
  }
}

double ConditionalModel::count(uint32_t piece, int32_t source) const {
  if (source == kUnseenSource) return 0;
  const auto begin = column_pieces_.begin() + ptrdiff_t(column_begin_[size_t(source)]);
  const auto end = column_pieces_.begin() + ptrdiff_t(column_begin_[size_t(source) + 1]);
  const auto found = std::lower_bound(begin, end, piece);
  if (found == end || *found != piece) return 0;
  return double(column_counts_[size_t(found - column_pieces_.begin())]);
}

void ConditionalModel::load(const Condition& condition, std::span<const Edge> edges,
                            Scratch& scratch) const {
  scratch.begin_sentence(edges, base_.size());
  auto& sums = scratch.log_probabilities_;
  sums.assign(scratch.pieces_.size(), 0.0);
  const auto sources = sources_of(condition);
  const bool pooled = options_.conditional == Conditional::pooled;
  double divisors = 0;
  for (const int32_t s : sources) {
    const double divisor = pooled ? 1 : 1 / (total_of(s) + options_.smoothing);
    divisors += pooled ? total_of(s) : divisor;
    each_met(s, scratch, [&](size_t n, double count) { sums[n] += count * divisor; });
  }
  const double size = pooled ? 1 : double(sources.size());
  for (size_t n = 0; n < sums.size(); ++n)
    sums[n] = log_of_sum(scratch.pieces_[n], sums[n] / size, divisors / size);
}

template <class Visit>
void ConditionalModel::each_met(int32_t source, Scratch& scratch, Visit visit) const {
  if (source == kUnseenSource) return;
  const uint64_t begin = column_begin_[size_t(source)];
  const size_t size = column_begin_[size_t(source) + 1] - begin;
  const uint32_t* const pieces = column_pieces_.data() + begin;
  if (scratch.found_.size() < size) scratch.found_.resize(size);
  // No branch depends on what is wanted: no processor could guess it.
  const uint8_t* const wanted = scratch.wanted_.data();
  uint32_t* const found = scratch.found_.data();
  size_t count = 0;
  for (size_t i = 0; i < size; ++i) {
    found[count] = uint32_t(i);
    count += wanted[pieces[i]];
  }
  for (size_t k = 0; k < count; ++k)
    visit(scratch.number_[pieces[found[k]]], double(column_counts_[begin + found[k]]));
}

double ConditionalModel::log_of_sum(uint32_t piece, double sum, double divisors) const {
  if (options_.conditional == Conditional::pooled)
    return sum > 0 ? std::log(sum / divisors) : std::log(base_[piece]) - kUnseenPenalty;
  return std::log(sum + options_.smoothing * base_[piece] * divisors);
}

void ConditionalModel::log_prior(size_t length, const Condition& condition,
                                 std::vector<double>& out) const {
  if (options_.penalty.is_flat() || length > kLongestCountedWord) {
    out.assign(1, 0.0);
    return;
  }
  out.resize(std::min(length, kMaxCountedPieces) + 1);
  for (size_t k = 0; k < out.size(); ++k)
    out[k] = log_length_prior(options_.penalty, k, condition.expected);
}

void Conditions::set_whole_sentence(const SourceSentence& source) {
  whole_sentence_ = true;
  sources_.assign(source.tokens.begin(), source.tokens.end());
}

void Conditions::set_links(const SourceSentence& source, std::span<const Link> links,
                           size_t target_words) {
  const auto tokens_of = [&](uint32_t word) {
    return source.word_begin[word + 1] - source.word_begin[word];
  };
  whole_sentence_ = false;
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

std::vector<Link> ConditionalModel::infer_links(const SourceSentence& source,
                                                const WordEdges& target, Scratch& scratch) const {
  const size_t tokens = source.tokens.size(), words = target.words();
  if (tokens == 0 || words == 0) return {};

  // The distinct sources; unseen ones tell nothing and are left out.
  auto& distinct = scratch.distinct_;
  auto& place_of = scratch.place_of_source_;
  distinct.clear();
  place_of.resize(source_count_.size(), 0);
  for (const int32_t s : source.tokens) {
    if (s == kUnseenSource || place_of[size_t(s)] > 0) continue;
    distinct.push_back(s);
    place_of[size_t(s)] = uint32_t(distinct.size());
  }
  const size_t columns = distinct.size() + 1;  // the last is the word under p0
  std::vector<double> share_of(columns);
  for (size_t k = 0; k < distinct.size(); ++k)
    share_of[k] = 1 / (source_count_[size_t(distinct[k])] + kSmoothing);

  // p(t|s) of every piece in the lattices, for every source: one row per distinct piece.
  scratch.begin_sentence(target.edges, base_.size());
  const auto& pieces = scratch.pieces_;
  auto& rows = scratch.rows_;
  rows.resize(pieces.size() * columns);
  for (size_t row = 0; row < pieces.size(); ++row) {
    const double base = base_[pieces[row]];
    for (size_t k = 0; k + 1 < columns; ++k) rows[row * columns + k] = kSmoothing * base * share_of[k];
    rows[row * columns + columns - 1] = base;
  }
  for (size_t k = 0; k < distinct.size(); ++k)
    each_met(distinct[k], scratch,
             [&](size_t n, double count) { rows[n * columns + k] += count * share_of[k]; });
  // evidence[w × columns + k]: how much likelier the word is given source k than given none.
  auto& evidence = scratch.evidence_;
  evidence.assign(words * columns, 0.0);
  for (size_t w = 0; w < words; ++w) {
    const size_t length = target.lengths[w];
    if (length > kLongestLinkedWord) continue;
    auto& reach = scratch.reach_;
    reach.assign((length + 1) * columns, 0.0);
    std::fill_n(reach.begin(), columns, 1.0);
    for (const Edge& edge : target.of(w)) {
      const double* from = &reach[edge.begin * columns];
      double* to = &reach[edge.end() * columns];
      if (edge.piece == kUnknownPiece) {
        for (size_t k = 0; k < columns; ++k) to[k] += from[k];
        continue;
      }
      const double* weight = &rows[scratch.number_[edge.piece] * columns];
      for (size_t k = 0; k < columns; ++k) to[k] += from[k] * weight[k];
    }
    const double* end = &reach[length * columns];
    const double none = end[columns - 1];
    for (size_t k = 0; none > 0 && k + 1 < columns; ++k)
      if (end[k] > kLeastEvidence * none) evidence[w * columns + k] = end[k] / none;
  }

  // Evidence for a token at its place, less likely the farther it lies from the diagonal; each
  // target word takes its best source token, and each source token its best target word, compared
  // by its share of the evidence for that word.
  std::vector<Link> links;
  auto& share = scratch.share_;
  share.assign(words * tokens, 0.0);
  std::vector<uint32_t> word_of(tokens);
  for (uint32_t w = 0; w < source.words(); ++w)
    for (uint32_t i = source.word_begin[w]; i < source.word_begin[w + 1]; ++i) word_of[i] = w;
  for (size_t w = 0; w < words; ++w) {
    double sum = 1;  // no source at all
    size_t best = tokens;
    for (size_t i = 0; i < tokens; ++i) {
      const int32_t s = source.tokens[i];
      const double found =
          s == kUnseenSource ? 0 : evidence[w * columns + place_of[size_t(s)] - 1];
      if (found == 0) continue;
      const double distance =
          std::abs((double(i) + 0.5) / double(tokens) - (double(w) + 0.5) / double(words));
      share[w * tokens + i] = found * std::exp(-kDiagonalTension * distance);
      sum += share[w * tokens + i];
      if (best == tokens || share[w * tokens + i] > share[w * tokens + best]) best = i;
    }
    if (best < tokens) links.emplace_back(word_of[best], uint32_t(w));
    for (size_t i = 0; i < tokens; ++i) share[w * tokens + i] /= sum;
  }
  for (size_t i = 0; i < tokens; ++i) {
    size_t best = words;
    for (size_t w = 0; w < words; ++w)
      if (share[w * tokens + i] > (best == words ? 0 : share[best * tokens + i])) best = w;
    if (best < words) links.emplace_back(word_of[i], uint32_t(best));
  }
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  for (const int32_t s : distinct) place_of[size_t(s)] = 0;
  return links;
}

}  // namespace pairpiece

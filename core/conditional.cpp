#include "conditional.hpp"

#include <algorithm>
#include <bit>
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
constexpr size_t kBitsPerCell = 4;
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

  const size_t places = std::bit_ceil(std::max<size_t>(64, source.size() * 3 / 2));
  cells_.resize(places);
  met_.resize(places * kBitsPerCell / 64);
  cell_shift_ = 64 - std::countr_zero(places);
  met_shift_ = 64 - std::countr_zero(places * kBitsPerCell);
  column_begin_.assign(source_count_.size() + 1, 0);
  for (const uint32_t s : source) ++column_begin_[s + 1];
  std::partial_sum(column_begin_.begin(), column_begin_.end(), column_begin_.begin());
  std::vector<uint64_t> next(column_begin_.begin(), column_begin_.end() - 1);
  entries_.resize(source.size());
  for (uint32_t t = 0; t + 1 < row_begin.size(); ++t) {
    for (uint64_t i = row_begin[t]; i < row_begin[t + 1]; ++i) {
      entries_[next[source[i]]++] = {t, count[i]};
      const uint64_t key = hash(t, source[i]);
      met_[key >> met_shift_ >> 6] |= uint64_t{1} << (key >> met_shift_ & 63);
      size_t place = key >> cell_shift_;
      while (cells_[place].piece != kUnknownPiece) place = (place + 1) & (places - 1);
      cells_[place] = {t, source[i], count[i]};
    }
  }
}

double ConditionalModel::count(uint32_t piece, int32_t source) const {
  if (source == kUnseenSource) return 0;
  const uint64_t key = hash(piece, uint32_t(source));
  if ((met_[key >> met_shift_ >> 6] >> (key >> met_shift_ & 63) & 1) == 0) return 0;
  size_t place = key >> cell_shift_;
  for (; cells_[place].piece != kUnknownPiece; place = (place + 1) & (cells_.size() - 1))
    if (cells_[place].piece == piece && cells_[place].source == uint32_t(source))
      return double(cells_[place].count);
  return 0;
}

double ConditionalModel::log_probability(uint32_t piece, const Condition& condition) const {
  if (piece == kUnknownPiece) return unknown_;
  const auto sources = sources_of(condition);
  double sum = 0, divisors = 0;
  if (options_.conditional == Conditional::pooled) {
    for (const int32_t s : sources) {
      sum += count(piece, s);
      divisors += total_of(s);
    }
  } else {
    for (const int32_t s : sources) {
      const double divisor = 1 / (total_of(s) + options_.smoothing);
      sum += count(piece, s) * divisor;
      divisors += divisor;
    }
    sum /= double(sources.size());
    divisors /= double(sources.size());
  }
  return log_of_sum(piece, sum, divisors);
}

void ConditionalModel::load(const Condition& condition, std::span<const Edge> edges,
                            Scratch& scratch) const {
  scratch.begin_sentence(edges, base_.size());
  scratch.sums_.assign(scratch.pieces_.size(), 0.0);
  const auto sources = sources_of(condition);
  const bool pooled = options_.conditional == Conditional::pooled;
  scratch.divisors_ = 0;
  for (const int32_t s : sources) {
    const double divisor = pooled ? 1 : 1 / (total_of(s) + options_.smoothing);
    scratch.divisors_ += pooled ? total_of(s) : divisor;
    for (const Entry& entry : column(s))
      if (scratch.wants(entry.piece))
        scratch.sums_[scratch.number_[entry.piece]] += double(entry.count) * divisor;
  }
  scratch.size_ = pooled ? 1 : double(sources.size());
  scratch.divisors_ /= scratch.size_;
}

double ConditionalModel::log_probability(uint32_t piece, const Scratch& scratch) const {
  if (piece == kUnknownPiece) return unknown_;
  return log_of_sum(piece, scratch.sums_[scratch.number_[piece]] / scratch.size_,
                    scratch.divisors_);
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

Conditions Conditions::whole_sentence(const SourceSentence& source) {
  Conditions conditions;
  conditions.whole_sentence_ = true;
  conditions.sources_ = source.tokens;
  return conditions;
}

Conditions Conditions::from_links(const SourceSentence& source, std::span<const Link> links,
                                  size_t target_words) {
  const auto tokens_of = [&](uint32_t word) {
    return source.word_begin[word + 1] - source.word_begin[word];
  };
  Conditions conditions;
  std::vector<uint32_t> fan_out(source.words(), 0);
  auto& begin = conditions.begin_;
  begin.assign(target_words + 1, 0);
  for (const auto& [from, to] : links) {
    ++fan_out[from];
    begin[to + 1] += tokens_of(from);
  }
  for (size_t w = 0; w < target_words; ++w) begin[w + 1] += begin[w];
  conditions.sources_.resize(begin.back());
  conditions.expected_.assign(target_words, 0.0);
  std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
  for (const auto& [from, to] : links) {
    for (uint32_t i = source.word_begin[from]; i < source.word_begin[from + 1]; ++i)
      conditions.sources_[next[to]++] = source.tokens[i];
    // A source word shared by several target words counts for a part in each.
    conditions.expected_[to] += double(tokens_of(from)) / fan_out[from];
  }
  return conditions;
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
  for (size_t k = 0; k < distinct.size(); ++k) {
    for (const Entry& entry : column(distinct[k]))
      if (scratch.wants(entry.piece))
        rows[scratch.number_[entry.piece] * columns + k] += double(entry.count) * share_of[k];
  }
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

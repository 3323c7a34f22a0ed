#include "conditional.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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

}  // namespace

ConditionalModel::ConditionalModel(std::vector<uint64_t> row_begin, std::vector<uint32_t> source,
                                   std::vector<float> count, std::vector<double> source_count,
                                   std::vector<double> base, ConditionalOptions options)
    : row_begin_(std::move(row_begin)),
      source_(std::move(source)),
      count_(std::move(count)),
      source_count_(std::move(source_count)),
      base_(std::move(base)),
      options_(options) {
  double lowest = 1;
  for (const double p : base_)
    if (p > 0) lowest = std::min(lowest, p);
  unknown_ = std::log(lowest) - kUnseenPenalty;
}

double ConditionalModel::count(uint32_t piece, int32_t source) const {
  if (source == kUnseenSource) return 0;
  const auto first = source_.begin() + ptrdiff_t(row_begin_[piece]);
  const auto last = source_.begin() + ptrdiff_t(row_begin_[piece + 1]);
  const auto found = std::lower_bound(first, last, uint32_t(source));
  if (found == last || *found != uint32_t(source)) return 0;
  return double(count_[size_t(found - source_.begin())]);
}

void ConditionalModel::log_probabilities(std::span<const Edge> edges, const Condition& condition,
                                         std::vector<double>& out) const {
  static const std::vector<int32_t> null{0};
  const auto& sources = condition.sources.empty() ? null : condition.sources;
  const auto total_of = [&](int32_t s) { return s == kUnseenSource ? 0 : source_count_[size_t(s)]; };
  const bool pooled = options_.conditional == Conditional::pooled;
  double pooled_total = 0;
  if (pooled)
    for (const int32_t s : sources) pooled_total += total_of(s);
  out.resize(edges.size());
  for (size_t e = 0; e < edges.size(); ++e) {
    const uint32_t piece = edges[e].piece;
    if (piece == kUnknownPiece) {
      out[e] = unknown_;
      continue;
    }
    double sum = 0;
    if (pooled) {
      for (const int32_t s : sources) sum += count(piece, s);
      out[e] = sum > 0 ? std::log(sum / pooled_total) : std::log(base_[piece]) - kUnseenPenalty;
      continue;
    }
    const double pseudo_count = options_.smoothing * base_[piece];
    for (const int32_t s : sources)
      sum += (count(piece, s) + pseudo_count) / (total_of(s) + options_.smoothing);
    out[e] = std::log(sum / double(sources.size()));
  }
}

void ConditionalModel::log_prior(size_t length, const Condition& condition,
                                 std::vector<double>& out) const {
  if (!condition.counts_pieces || options_.penalty.is_flat() || length > kLongestCountedWord) {
    out.assign(1, 0.0);
    return;
  }
  out.resize(std::min(length, kMaxCountedPieces) + 1);
  for (size_t k = 0; k < out.size(); ++k)
    out[k] = log_length_prior(options_.penalty, k, condition.expected);
}

std::vector<Condition> ConditionalModel::from_links(const SourceSentence& source,
                                                    std::span<const Link> links,
                                                    size_t target_words) {
  std::vector<uint32_t> fan_out(source.words(), 0);
  for (const auto& [from, to] : links) ++fan_out[from];
  std::vector<Condition> conditions(target_words);
  for (const auto& [from, to] : links) {
    Condition& condition = conditions[to];
    const uint32_t first = source.word_begin[from], last = source.word_begin[from + 1];
    condition.sources.insert(condition.sources.end(), source.tokens.begin() + first,
                             source.tokens.begin() + last);
    // A source word shared by several target words counts for a part in each.
    condition.expected += double(last - first) / fan_out[from];
  }
  return conditions;
}

std::vector<Condition> ConditionalModel::whole_sentence(const SourceSentence& source,
                                                        size_t target_words) {
  return std::vector<Condition>(target_words, {source.tokens, 0, false});
}

std::vector<Link> ConditionalModel::infer_links(const SourceSentence& source,
                                                std::span<const std::vector<Edge>> edges,
                                                std::span<const size_t> lengths) const {
  const size_t tokens = source.tokens.size(), words = edges.size();
  if (tokens == 0 || words == 0) return {};
  std::vector<uint32_t> word_of(tokens);
  for (uint32_t w = 0; w < source.words(); ++w)
    for (uint32_t i = source.word_begin[w]; i < source.word_begin[w + 1]; ++i) word_of[i] = w;

  // evidence[w × tokens + i]: how much likelier the word is given source token i than given none.
  // Column `tokens` of the sums is the word under p0.
  std::vector<double> evidence(words * tokens, 0.0);
  std::vector<double> reach, weight(tokens + 1);
  for (size_t w = 0; w < words; ++w) {
    if (lengths[w] > kLongestLinkedWord) continue;
    reach.assign((lengths[w] + 1) * (tokens + 1), 0.0);
    std::fill_n(reach.begin(), tokens + 1, 1.0);
    for (const Edge& edge : edges[w]) {
      if (edge.piece == kUnknownPiece) {
        std::fill(weight.begin(), weight.end(), 1.0);
      } else {
        const double base = base_[edge.piece];
        for (size_t i = 0; i < tokens; ++i) {
          const int32_t s = source.tokens[i];
          const double total = s == kUnseenSource ? 0 : source_count_[size_t(s)];
          weight[i] = (count(edge.piece, s) + kSmoothing * base) / (total + kSmoothing);
        }
        weight[tokens] = base;
      }
      const double* from = &reach[edge.begin * (tokens + 1)];
      double* to = &reach[edge.end() * (tokens + 1)];
      for (size_t i = 0; i <= tokens; ++i) to[i] += from[i] * weight[i];
    }
    const double* end = &reach[lengths[w] * (tokens + 1)];
    for (size_t i = 0; i < tokens; ++i) {
      const double distance =
          std::abs((double(i) + 0.5) / double(tokens) - (double(w) + 0.5) / double(words));
      if (end[tokens] > 0 && end[i] > kLeastEvidence * end[tokens])
        evidence[w * tokens + i] = end[i] / end[tokens] * std::exp(-kDiagonalTension * distance);
    }
  }

  // Each target word takes its best source token, and each source token its best target word,
  // compared by the share of the evidence for that word.
  std::vector<Link> links;
  std::vector<double> share(words * tokens, 0.0);
  for (size_t w = 0; w < words; ++w) {
    double sum = 1;  // no source at all
    for (size_t i = 0; i < tokens; ++i) sum += evidence[w * tokens + i];
    size_t best = tokens;
    for (size_t i = 0; i < tokens; ++i) {
      share[w * tokens + i] = evidence[w * tokens + i] / sum;
      if (evidence[w * tokens + i] > (best == tokens ? 0 : evidence[w * tokens + best])) best = i;
    }
    if (best < tokens) links.emplace_back(word_of[best], uint32_t(w));
  }
  for (size_t i = 0; i < tokens; ++i) {
    size_t best = words;
    for (size_t w = 0; w < words; ++w)
      if (share[w * tokens + i] > (best == words ? 0 : share[best * tokens + i])) best = w;
    if (best < words) links.emplace_back(word_of[i], uint32_t(best));
  }
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  return links;
}

}  // namespace pairpiece

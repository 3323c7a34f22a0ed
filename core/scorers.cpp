#include "scorers.hpp"

#include <algorithm>
#include <cmath>

#include "word_cache.hpp"

namespace pairpiece {
namespace {

// Appends a key that is different for every word and condition, unless it would be too long.
void append_key(std::string_view word, const Condition& condition, bool inferred,
                std::string& out) {
  constexpr uint8_t kFraction = 0xFF, kInferred = 0x80;
  const size_t count = condition.sources.size();
  const double m = condition.expected;
  const uint8_t code = m < kFraction && m == std::floor(m) ? uint8_t(m) : kFraction;
  const size_t size = 2 + (code == kFraction ? sizeof m : 0) + 3 * count + word.size();
  if (size > kLongestRemembered) return;
  const size_t begin = out.size();
  out.resize(begin + size);
  char* to = out.data() + begin;
  *to++ = char(count | (inferred ? kInferred : 0));  // so long a key has fewer sources
  *to++ = char(code);
  if (code == kFraction) to = std::copy_n(reinterpret_cast<const char*>(&m), sizeof m, to);
  for (const int32_t source : condition.sources)
    for (int byte = 0; byte < 3; ++byte) *to++ = char(source >> 8 * byte);
  std::copy(word.begin(), word.end(), to);
}

}  // namespace

ScoredWord& UnigramScorer::load(size_t, std::string_view word) {
  scored_.find_edges(vocabulary_, word);
  scored_.log_prior.assign(1, 0.0);
  scored_.piece_penalty = 0;
  scored_.weigh(word.size(), [&](const Edge& edge) { return vocabulary_.score_of(edge); });
  return scored_;
}

ConditionalScorer::ConditionalScorer(const Vocabulary& vocabulary, const ConditionalModel& model,
                                     const Conditions& conditions, const PreparedText& text,
                                     Memory& memory, ScoredWord& scored)
    : vocabulary_(vocabulary),
      model_(model),
      conditions_(conditions),
      memory_(memory),
      scored_(scored) {
  if (conditions.whole_sentence()) {
    model.load(conditions.of(0), conditions.edges.edges, memory.scratch);
    return;
  }
  memory.keys.clear();
  memory.key_begin.assign(1, 0);
  for (size_t i = 0; i < text.words.size(); ++i) {
    append_key(text.word(i), conditions.of(i), conditions.inferred(), memory.keys);
    memory.key_begin.push_back(uint32_t(memory.keys.size()));
  }
}

ScoredWord& ConditionalScorer::load(size_t i, std::string_view word) {
  const Condition condition = conditions_.of(i);
  if (i < conditions_.edges.words())
    scored_.edges = conditions_.edges.of(i);
  else
    scored_.find_edges(vocabulary_, word);
  if (conditions_.whole_sentence()) {
    scored_.log_prior.assign(1, 0.0);
  } else {
    model_.load(condition, scored_.edges, memory_.scratch);
    model_.log_prior(word.size(), condition, scored_.log_prior);
  }
  scored_.piece_penalty = model_.piece_penalty(conditions_, condition);
  scored_.weigh(word.size(), [&](const Edge& edge) {
    const double own = model_.evidence() ? vocabulary_.score_of(edge) : 0;
    return own + model_.log_probability(edge.piece, memory_.scratch);
  });
  return scored_;
}

}  // namespace pairpiece

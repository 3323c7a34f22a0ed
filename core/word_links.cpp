#include "word_links.hpp"

#include <algorithm>
#include <cmath>

namespace pairpiece {
namespace {

// Chosen on dev text by agreement with the links of an aligner (docs/algorithm.md, section 6).
constexpr double kDiagonalTension = 12;  // how fast belief falls along the whole source sentence
constexpr double kWordTension = 1;       // and with each word from where neighbours point to
constexpr double kNoSource = 4;          // what all evidence has to be compared with
constexpr double kLeastShare = 0.1;      // of a target word's evidence, for a source to choose it
constexpr double kReach = 1;             // words that are left over link so far from their place

}  // namespace

std::vector<Link> LinkFinder::find(std::span<const double> evidence, size_t sources,
                                   size_t targets) {
  sources_ = sources;
  targets_ = targets;
  expected_.resize(targets);
  for (size_t w = 0; w < targets; ++w)
    expected_[w] = (double(w) + 0.5) / double(targets) * double(sources) - 0.5;
  choose(evidence, [&](double distance) {
    return std::exp(-kDiagonalTension * distance / double(sources));
  });
  expect_between_anchors();
  choose(evidence, [](double distance) { return std::exp(-kWordTension * distance); });

  linked_.assign(sources * targets, 0);
  links_of_target_.assign(targets, 0);
  links_of_source_.assign(sources, 0);
  grow_from_anchors();
  link_what_is_left(evidence);
  std::vector<Link> links;
  for (uint32_t s = 0; s < sources; ++s)
    for (uint32_t t = 0; t < targets; ++t)
      if (linked_[t * sources + s]) links.emplace_back(s, t);
  return links;
}

template <class Prior>
void LinkFinder::choose(std::span<const double> evidence, Prior prior) {
  beliefs_.resize(sources_);
  of_target_.assign(targets_, kNone);
  of_source_.assign(sources_, kNone);
  std::vector<double> best(sources_, kLeastShare);
  for (size_t t = 0; t < targets_; ++t) {
    double sum = kNoSource;
    double most = kNoSource;
    for (size_t s = 0; s < sources_; ++s) {
      const double belief =
          evidence[t * sources_ + s] * prior(std::abs(double(s) - expected_[t]));
      beliefs_[s] = belief;
      sum += belief;
      if (belief > most) {
        most = belief;
        of_target_[t] = uint32_t(s);
      }
    }
    for (size_t s = 0; s < sources_; ++s) {
      if (beliefs_[s] <= best[s] * sum) continue;
      best[s] = beliefs_[s] / sum;
      of_source_[s] = uint32_t(t);
    }
  }
}

void LinkFinder::expect_between_anchors() {
  const auto is_anchor = [&](size_t t) {
    return of_target_[t] != kNone && of_source_[of_target_[t]] == t;
  };
  // Beyond the ends of both sentences lie two more.
  double left_target = -1, left_source = -1;
  for (size_t t = 0; t < targets_;) {
    size_t next = t;
    while (next < targets_ && !is_anchor(next)) ++next;
    const double right_target = double(next);
    const double right_source = next < targets_ ? double(of_target_[next]) : double(sources_);
    const double slope = (right_source - left_source) / (right_target - left_target);
    for (; t < targets_ && t <= next; ++t)
      expected_[t] = left_source + slope * (double(t) - left_target);
    left_target = right_target;
    left_source = right_source;
  }
}

void LinkFinder::link(size_t source, size_t target) {
  linked_[target * sources_ + source] = 1;
  ++links_of_target_[target];
  ++links_of_source_[source];
}

// grow-diag (Koehn et al., 2003): choices of one side next to links, for words that have none.
void LinkFinder::grow_from_anchors() {
  std::vector<Link> open;
  for (uint32_t t = 0; t < targets_; ++t) {
    if (of_target_[t] == kNone || of_source_[of_target_[t]] != t) continue;
    link(of_target_[t], t);
    open.emplace_back(of_target_[t], t);
  }
  for (size_t i = 0; i < open.size(); ++i) {
    const auto [source, target] = open[i];
    for (size_t t = target - (target > 0); t <= target + 1 && t < targets_; ++t) {
      for (size_t s = source - (source > 0); s <= source + 1 && s < sources_; ++s) {
        if (of_target_[t] != s && of_source_[s] != t) continue;
        if (links_of_target_[t] > 0 && links_of_source_[s] > 0) continue;
        link(s, t);
        open.emplace_back(uint32_t(s), uint32_t(t));
      }
    }
  }
}

// final-and: choices between words that have no link; then, of words that nothing is known about,
// those that are left over at the same place.
void LinkFinder::link_what_is_left(std::span<const double> evidence) {
  for (uint32_t t = 0; t < targets_; ++t)
    if (of_target_[t] != kNone && links_of_target_[t] == 0 && links_of_source_[of_target_[t]] == 0)
      link(of_target_[t], t);
  for (uint32_t s = 0; s < sources_; ++s)
    if (of_source_[s] != kNone && links_of_source_[s] == 0 && links_of_target_[of_source_[s]] == 0)
      link(s, of_source_[s]);
  for (size_t t = 0; t < targets_; ++t) {
    if (links_of_target_[t] > 0) continue;
    const auto row = evidence.subspan(t * sources_, sources_);
    if (std::all_of(row.begin(), row.end(), [](double e) { return e == 0; })) continue;
    size_t nearest = kNone;
    double least = kReach;
    for (size_t s = 0; s < sources_; ++s) {
      const double distance = std::abs(double(s) - expected_[t]);
      if (links_of_source_[s] > 0 || distance > least || (distance == least && nearest != kNone))
        continue;
      least = distance;
      nearest = s;
    }
    if (nearest != kNone) link(nearest, t);
  }
}

}  // namespace pairpiece

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

  std::vector<Link> links = symmetrized_choices();
  link_what_is_left(evidence, links);
  return links;
}

template <class Nearness>
void LinkFinder::choose(std::span<const double> evidence, Nearness nearness) {
  beliefs_.resize(sources_);
  of_target_.assign(targets_, kNone);
  of_source_.assign(sources_, kNone);
  std::vector<double> best(sources_, kLeastShare);
  for (size_t t = 0; t < targets_; ++t) {
    double sum = kNoSource;
    double most = kNoSource;
    for (size_t s = 0; s < sources_; ++s) {
      const double belief =
          evidence[t * sources_ + s] * nearness(std::abs(double(s) - expected_[t]));
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

std::vector<Link> LinkFinder::symmetrized_choices() {
  forward_.clear();
  reverse_.clear();
  for (uint32_t t = 0; t < targets_; ++t)
    if (of_target_[t] != kNone) forward_.emplace_back(of_target_[t], t);
  for (uint32_t s = 0; s < sources_; ++s)
    if (of_source_[s] != kNone) reverse_.emplace_back(s, of_source_[s]);
  std::sort(forward_.begin(), forward_.end());
  return grow_diag_final_and(forward_, reverse_, Growth::outward);
}

void LinkFinder::link_what_is_left(std::span<const double> evidence, std::vector<Link>& links) {
  source_linked_.assign(sources_, 0);
  target_linked_.assign(targets_, 0);
  for (const auto& [source, target] : links) source_linked_[source] = target_linked_[target] = 1;
  for (uint32_t t = 0; t < targets_; ++t) {
    if (target_linked_[t]) continue;
    const auto row = evidence.subspan(t * sources_, sources_);
    if (std::all_of(row.begin(), row.end(), [](double e) { return e == 0; })) continue;
    uint32_t nearest = kNone;
    double least = kReach;
    for (uint32_t s = 0; s < sources_; ++s) {
      const double distance = std::abs(double(s) - expected_[t]);
      if (source_linked_[s] || distance > least || (distance == least && nearest != kNone))
        continue;
      least = distance;
      nearest = s;
    }
    if (nearest == kNone) continue;
    source_linked_[nearest] = 1;
    links.emplace_back(nearest, t);
  }
  std::sort(links.begin(), links.end());
}

}  // namespace pairpiece

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

constexpr uint32_t kNone = ~uint32_t{0};

class LinkFinder {
 public:
  LinkFinder(std::span<const double> evidence, size_t sources, size_t targets)
      : evidence_(evidence), sources_(sources), targets_(targets), expected_(targets) {}

  std::vector<Link> find() {
    for (size_t w = 0; w < targets_; ++w)
      expected_[w] = (double(w) + 0.5) / double(targets_) * double(sources_) - 0.5;
    choose([&](double distance) {
      return std::exp(-kDiagonalTension * distance / double(sources_));
    });
    expect_between_anchors();
    choose([](double distance) { return std::exp(-kWordTension * distance); });

    std::vector<Link> links = symmetrized_choices();
    link_what_is_left(links);
    return links;
  }

 private:
  // Each target word chooses a source word, and each source word a target word: those with the
  // highest share of the evidence, given how likely a source word is at a distance from where the
  // target word is expected.
  template <class Nearness>
  void choose(Nearness nearness) {
    of_target_.assign(targets_, kNone);
    of_source_.assign(sources_, kNone);
    std::vector<double> best(sources_, kLeastShare), beliefs(sources_);
    for (size_t t = 0; t < targets_; ++t) {
      double sum = kNoSource;
      double most = kNoSource;
      for (size_t s = 0; s < sources_; ++s) {
        const double belief =
            evidence_[t * sources_ + s] * nearness(std::abs(double(s) - expected_[t]));
        beliefs[s] = belief;
        sum += belief;
        if (belief > most) {
          most = belief;
          of_target_[t] = uint32_t(s);
        }
      }
      for (size_t s = 0; s < sources_; ++s) {
        if (beliefs[s] <= best[s] * sum) continue;
        best[s] = beliefs[s] / sum;
        of_source_[s] = uint32_t(t);
      }
    }
  }

  // Where the words between those that chose each other are expected.
  void expect_between_anchors() {
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

  // The choices of both sides as one set of links.
  std::vector<Link> symmetrized_choices() const {
    std::vector<Link> forward, reverse;
    for (uint32_t t = 0; t < targets_; ++t)
      if (of_target_[t] != kNone) forward.emplace_back(of_target_[t], t);
    for (uint32_t s = 0; s < sources_; ++s)
      if (of_source_[s] != kNone) reverse.emplace_back(s, of_source_[s]);
    std::sort(forward.begin(), forward.end());
    return grow_diag_final_and(forward, reverse, Growth::outward);
  }

  // Links words that nothing is known about with those that are left over at the same place.
  void link_what_is_left(std::vector<Link>& links) const {
    std::vector<bool> source_linked(sources_), target_linked(targets_);
    for (const auto& [source, target] : links) source_linked[source] = target_linked[target] = true;
    for (uint32_t t = 0; t < targets_; ++t) {
      if (target_linked[t]) continue;
      const auto row = evidence_.subspan(t * sources_, sources_);
      if (std::all_of(row.begin(), row.end(), [](double e) { return e == 0; })) continue;
      uint32_t nearest = kNone;
      double least = kReach;
      for (uint32_t s = 0; s < sources_; ++s) {
        const double distance = std::abs(double(s) - expected_[t]);
        if (source_linked[s] || distance > least || (distance == least && nearest != kNone))
          continue;
        least = distance;
        nearest = s;
      }
      if (nearest == kNone) continue;
      source_linked[nearest] = true;
      links.emplace_back(nearest, t);
    }
    std::sort(links.begin(), links.end());
  }

  const std::span<const double> evidence_;
  const size_t sources_, targets_;
  std::vector<double> expected_;                 // place in the source, by target word
  std::vector<uint32_t> of_target_, of_source_;  // what was chosen, or kNone
};

}  // namespace

std::vector<Link> find_links(std::span<const double> evidence, size_t sources, size_t targets) {
  return LinkFinder(evidence, sources, targets).find();
}

}  // namespace pairpiece

#include "lattice.hpp"

#include <algorithm>
#include <cmath>

namespace pairpiece {
namespace {

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kImpossible ? a : a + std::log1p(std::exp(b - a));
}

}  // namespace

double Lattice::sums(std::span<const double> weight, std::span<const double> prior,
                     std::span<double> flow) {
  const size_t states = prior.size();
  forward_.assign((length_ + 1) * states, 0.0);  // α and β of eq. 4
  backward_.assign((length_ + 1) * states, 0.0);
  forward_[0] = 1;
  for (size_t e = 0; e < edges_.size(); ++e) {
    const Edge edge = edges_[e];
    const double* from = &forward_[edge.begin * states];
    double* to = &forward_[edge.end() * states];
    const size_t reached = std::min<size_t>(edge.begin + 1, states);
    const size_t inner = std::min(reached, states - 1);
    for (size_t k = 0; k < inner; ++k) to[k + 1] += from[k] * weight[e];
    if (reached == states) to[states - 1] += from[states - 1] * weight[e];
  }
  double total = 0;  // Z of eq. 5
  for (size_t k = 0; k < states; ++k) {
    backward_[length_ * states + k] = prior[k];
    total += forward_[length_ * states + k] * prior[k];
  }
  for (size_t e = edges_.size(); e-- > 0;) {
    const Edge edge = edges_[e];
    const double* from = &forward_[edge.begin * states];
    double* before = &backward_[edge.begin * states];
    const double* after = &backward_[edge.end() * states];
    const size_t reached = std::min<size_t>(edge.begin + 1, states);
    const size_t inner = std::min(reached, states - 1);
    double through = 0;
    for (size_t k = 0; k < inner; ++k) {
      const double rest = weight[e] * after[k + 1];
      before[k] += rest;
      through += from[k] * rest;
    }
    if (reached == states) {
      const double rest = weight[e] * after[states - 1];
      before[states - 1] += rest;
      through += from[states - 1] * rest;
    }
    flow[e] = through;
  }
  return total;
}

void Lattice::best(std::span<const double> log_weight, std::span<const double> log_prior,
                   Path& path) {
  const size_t states = log_prior.size();
  forward_.assign((length_ + 1) * states, kImpossible);
  steps_.resize((length_ + 1) * states);
  forward_[0] = 0;
  const auto extend = [&](uint32_t e, size_t from, size_t to) {
    const double score = forward_[from] + log_weight[e];
    if (score > forward_[to] + kTie) {
      forward_[to] = score;
      steps_[to] = {e, uint32_t(from)};
    }
  };
  for (uint32_t e = 0; e < edges_.size(); ++e) {
    const Edge edge = edges_[e];
    const size_t reached = std::min<size_t>(edge.begin + 1, states);
    for (size_t k = 0; k < reached; ++k)
      extend(e, edge.begin * states + k, edge.end() * states + std::min(k + 1, states - 1));
  }
  size_t state = length_ * states;
  path.score = kImpossible;
  for (size_t k = 0; k < states; ++k) {
    const double score = forward_[length_ * states + k] + log_prior[k];
    if (score > path.score + kTie) {
      path.score = score;
      state = length_ * states + k;
    }
  }
  path.edges.clear();
  if (path.score == kImpossible) return;
  while (state >= states) {
    path.edges.push_back(steps_[state].edge);
    state = steps_[state].from;
  }
  std::reverse(path.edges.begin(), path.edges.end());
}

std::vector<Path> Lattice::best_paths(std::span<const double> log_weight,
                                      std::span<const double> log_prior, size_t count) {
  struct Hypothesis {
    double score;
    uint32_t edge;
    uint32_t from;  // index into the hypotheses
  };
  const size_t states = log_prior.size();
  std::vector<Hypothesis> kept{{0, 0, 0}};                       // of finished positions
  std::vector<std::pair<uint32_t, uint32_t>> range((length_ + 1) * states);  // into `kept`
  std::vector<std::vector<Hypothesis>> open((length_ + 1) * states);
  const auto better = [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; };
  range[0] = {0, 1};
  size_t closed = states;  // states before it have no more hypotheses to come
  const auto close_up_to = [&](size_t end) {
    for (; closed < end; ++closed) {
      auto& hypotheses = open[closed];
      std::stable_sort(hypotheses.begin(), hypotheses.end(), better);
      if (hypotheses.size() > count) hypotheses.resize(count);
      range[closed] = {uint32_t(kept.size()), uint32_t(kept.size() + hypotheses.size())};
      kept.insert(kept.end(), hypotheses.begin(), hypotheses.end());
      hypotheses = {};
    }
  };
  for (uint32_t e = 0; e < edges_.size(); ++e) {
    const Edge edge = edges_[e];
    close_up_to((edge.begin + 1) * states);
    for (size_t k = 0; k < states; ++k) {
      const auto [first, last] = range[edge.begin * states + k];
      auto& hypotheses = open[edge.end() * states + std::min(k + 1, states - 1)];
      for (uint32_t h = first; h < last; ++h)
        hypotheses.push_back({kept[h].score + log_weight[e], e, h});
    }
  }
  close_up_to((length_ + 1) * states);
  std::vector<Hypothesis> complete;
  for (size_t k = 0; k < states; ++k) {
    const auto [first, last] = range[length_ * states + k];
    for (uint32_t h = first; h < last; ++h)
      complete.push_back({kept[h].score + log_prior[k], 0, h});
  }
  std::stable_sort(complete.begin(), complete.end(), better);
  std::vector<Path> paths;
  for (const Hypothesis& end : complete) {
    if (paths.size() == count) break;
    Path path;
    path.score = end.score;
    for (uint32_t h = end.from; h != 0; h = kept[h].from) path.edges.push_back(kept[h].edge);
    std::reverse(path.edges.begin(), path.edges.end());
    paths.push_back(std::move(path));
  }
  return paths;
}

void Lattice::sample(std::span<const double> log_weight, std::span<const double> log_prior,
                     const std::function<double()>& uniform, Path& path) {
  const size_t states = log_prior.size();
  // Logarithms of the sums over the segmentations of the rest of the word.
  backward_.assign((length_ + 1) * states, kImpossible);
  for (size_t k = 0; k < states; ++k) backward_[length_ * states + k] = log_prior[k];
  std::vector<uint32_t> first_edge(length_ + 2, uint32_t(edges_.size()));
  for (size_t e = edges_.size(); e-- > 0;) {
    const Edge edge = edges_[e];
    first_edge[edge.begin] = uint32_t(e);
    for (size_t k = 0; k < states; ++k) {
      double& before = backward_[edge.begin * states + k];
      before = log_add(before, log_weight[e] +
                                   backward_[edge.end() * states + std::min(k + 1, states - 1)]);
    }
  }
  for (size_t position = length_; position-- > 0;)
    first_edge[position] = std::min(first_edge[position], first_edge[position + 1]);
  path.edges.clear();
  path.score = 0;
  size_t k = 0;
  for (size_t position = 0; position < length_;) {
    const double total = backward_[position * states + k];
    const size_t next = k + 1 < states ? k + 1 : k;
    double left = uniform();
    uint32_t chosen = first_edge[position];
    for (uint32_t e = chosen; e < first_edge[position + 1]; ++e) {
      const double share =
          std::exp(log_weight[e] + backward_[edges_[e].end() * states + next] - total);
      if (share <= 0) continue;
      chosen = e;  // the last possible edge absorbs rounding
      left -= share;
      if (left < 0) break;
    }
    path.edges.push_back(chosen);
    path.score += log_weight[chosen];
    position = edges_[chosen].end();
    k = next;
  }
  path.score += log_prior[k];
}

}  // namespace pairpiece

// The part of the learner that decides which pieces matter, and drops the others.

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "learner.hpp"

namespace pairpiece {

// What a piece tells about the source: the pieces that tell least go first (eq. 11).
std::vector<double> Learner::mutual_information() const {
  double all = 0;
  for (const double c : piece_count_) all += c;
  std::vector<double> information(pieces_.size(), 0.0);
  parallel_for(options_.threads, pieces_.size(), 4096, [&](size_t, size_t t) {
    for (uint64_t i = table_.row_begin[t]; i < table_.row_begin[t + 1]; ++i) {
      const double c = table_.count[i];
      if (c > 0)  // eq. 11
        information[t] += c * (std::log(c) - std::log(piece_count_[t]) + std::log(all) -
                               std::log(source_count_[table_.source[i]]));
    }
  });
  return information;
}

// What would stand in the place of a piece that goes: its best split into other pieces.
Learner::Alternatives Learner::alternatives() const {
  // The lattice of a piece is the part of the lattice of a word it stands in.
  struct Place {
    uint32_t word = ~uint32_t{0};
    uint32_t edge = 0;
  };
  std::vector<Place> places(pieces_.size());
  for (size_t w = 0; w < words(); ++w) {
    const auto edges = edges_of(w);
    for (uint32_t e = 0; e < edges.size(); ++e)
      if (edges[e].piece != kUnknownPiece && places[edges[e].piece].word == ~uint32_t{0})
        places[edges[e].piece] = {uint32_t(w), e};
  }
  std::vector<double> log_base(base_.size());
  for (size_t t = 0; t < base_.size(); ++t) log_base[t] = std::log(base_[t]);

  Alternatives found;
  found.split.assign(pieces_.size(), 0);
  std::vector<std::vector<uint32_t>> parts(pieces_.size());
  const std::vector<double> log_flat{0.0};
  std::vector<Scratch> scratch(options_.threads);
  parallel_for(options_.threads, pieces_.size(), 1024, [&](size_t thread, size_t t) {
    if (places[t].word == ~uint32_t{0} || pieces_[t].size() == 1) return;
    Scratch& s = scratch[thread];
    const auto edges = edges_of(places[t].word);
    const Edge whole = edges[places[t].edge];
    std::vector<Edge> inner;
    s.log_weight.clear();
    // Edges are sorted by where they begin, so the inner ones lie around the piece's own.
    size_t e = places[t].edge;
    while (e > 0 && edges[e - 1].begin == whole.begin) --e;
    for (; e < edges.size() && edges[e].begin < whole.end(); ++e) {
      if (edges[e].end() > whole.end() || edges[e].piece == t) continue;
      Edge edge = edges[e];
      edge.begin -= whole.begin;
      inner.push_back(edge);
      s.log_weight.push_back(log_base[edge.piece]);
    }
    s.lattice.reset(whole.length, inner);
    s.lattice.best(s.log_weight, log_flat, s.path);
    for (const uint32_t i : s.path.edges) parts[t].push_back(inner[i].piece);
    found.split[t] = !s.path.edges.empty() && s.path.score > log_base[t] + kTie;
  });
  found.begin.push_back(0);
  for (const auto& of_piece : parts) {
    found.pieces.insert(found.pieces.end(), of_piece.begin(), of_piece.end());
    found.begin.push_back(uint32_t(found.pieces.size()));
  }
  return found;
}

template <class Choose>
Learner::Uses Learner::sum_of_uses(const Interrupted& interrupted, Choose choose) const {
  Uses uses{std::vector<double>(pieces_.size(), 0.0), std::vector<double>(pieces_.size(), 0.0)};
  std::vector<Scratch> scratch(options_.threads);
  std::vector<std::vector<Use>> chosen;
  each_block(interrupted, [&](size_t begin, size_t end) {
    chosen.assign(end - begin, {});
    parallel_for(options_.threads, end - begin, 16, [&](size_t thread, size_t i) {
      choose(begin + i, scratch[thread], chosen[i]);
    });
    for (const auto& of_word : chosen) {
      for (const Use& use : of_word) {
        uses.count[use.piece] += use.count;
        uses.length_gain[use.piece] += use.length_gain;
      }
    }
  });
  return uses;
}

// How much a piece is needed: words are segmented once per type, so that a piece counts where it
// serves all pairs of the word, and what the length prior would gain by its split is set against what
// it tells (eq. 12–13).
Learner::Uses Learner::tied_uses(const Alternatives& alternatives,
                                 const Interrupted& interrupted) const {
  return sum_of_uses(interrupted, [&](size_t w, Scratch& s, std::vector<Use>& chosen) {
    const auto edges = edges_of(w);
    const size_t length = pairs_.words[w].size();
    load_cells(w, s);
    s.log_weight.assign(edges.size(), 0.0);
    std::vector<double> summed_log_prior;
    for (const uint64_t p : pairs_.pairs_of(w)) {
      condition(w, p, s);
      for (size_t e = 0; e < edges.size(); ++e)
        s.log_weight[e] += pairs_.count[p] * std::log(s.weight[e]);
      find_log_prior(options_.penalty, length, pairs_.expected[p], s.log_prior);
      summed_log_prior.resize(s.log_prior.size(), 0.0);
      for (size_t k = 0; k < s.log_prior.size(); ++k)
        summed_log_prior[k] += pairs_.count[p] * s.log_prior[k];
    }
    s.lattice.reset(length, edges);
    s.lattice.best(s.log_weight, summed_log_prior, s.path);
    const double count = pairs_.word_count(w);
    for (const uint32_t e : s.path.edges) {
      const uint32_t piece = edges[e].piece;
      if (piece == kUnknownPiece) continue;
      const size_t parts = alternatives.begin[piece + 1] - alternatives.begin[piece];
      chosen.push_back({piece, count, length_gain(w, s.path.edges.size(), parts)});
    }
  });
}

double Learner::length_gain(size_t word, size_t pieces, size_t parts) const {
  double gain = 0;
  if (parts == 0 || options_.penalty.is_flat()) return gain;
  for (const uint64_t p : pairs_.pairs_of(word)) {
    const auto log_prior = [&](size_t k) {
      return log_length_prior(options_.penalty, k, pairs_.expected[p]);
    };
    gain += pairs_.count[p] * (log_prior(pieces + parts - 1) - log_prior(pieces));
  }
  return gain;
}

// Which pieces the finished model uses: the target-only scores begin with these counts.
std::vector<double> Learner::best_counts(const LengthPenalty& penalty, double piece_penalty,
                                         const Interrupted& interrupted) const {
  const auto choose = [&](size_t w, Scratch& s, std::vector<Use>& chosen) {
    const auto edges = edges_of(w);
    const size_t length = pairs_.words[w].size();
    load_cells(w, s);
    s.lattice.reset(length, edges);
    for (const uint64_t p : pairs_.pairs_of(w)) {
      condition(w, p, s);
      find_log_prior(penalty, length, pairs_.expected[p], s.log_prior);
      find_best(s, piece_penalty);
      for (const uint32_t e : s.path.edges)
        if (edges[e].piece != kUnknownPiece)
          chosen.push_back({edges[e].piece, pairs_.count[p], 0});
    }
  };
  return sum_of_uses(interrupted, choose).count;
}

// What scores make of the words without a source: they are fitted until these counts are those of
// the paired segmentations.
std::vector<double> Learner::unigram_counts(std::span<const double> scores,
                                            const Interrupted& interrupted) const {
  if (scores.size() != pieces_.size()) throw std::invalid_argument("one score per piece is needed");
  const std::vector<double> flat{1.0}, log_flat{0.0};
  const auto choose = [&](size_t w, Scratch& s, std::vector<Use>& chosen) {
    const auto edges = edges_of(w);
    const size_t length = pairs_.words[w].size();
    const double count = pairs_.word_count(w);
    s.lattice.reset(length, edges);
    s.log_weight.resize(edges.size());
    for (size_t e = 0; e < edges.size(); ++e)
      s.log_weight[e] = edges[e].piece == kUnknownPiece ? 0 : scores[edges[e].piece];
    // A factor per character, which changes all segmentations alike, keeps sums within a double.
    s.lattice.best(s.log_weight, log_flat, s.path);
    const double per_character = -s.path.score / double(length);
    s.weight.resize(edges.size());
    s.flow.resize(edges.size());
    for (size_t e = 0; e < edges.size(); ++e)
      s.weight[e] = std::exp(s.log_weight[e] + per_character * edges[e].length);
    const double total = s.lattice.sums(s.weight, flat, s.flow);
    for (size_t e = 0; e < edges.size(); ++e)
      if (edges[e].piece != kUnknownPiece)
        chosen.push_back({edges[e].piece, count * s.flow[e] / total, 0});
  };
  return sum_of_uses(interrupted, choose).count;
}

void Learner::keep(std::span<const uint8_t> flags) {
  if (flags.size() != pieces_.size()) throw std::invalid_argument("one flag per piece is needed");
  drop_edges(drop_rows(flags));
  // What is left shares the probability: totals and p0 are taken anew.
  update_totals();
  update_base();
}

// The rows of kept pieces move towards the front as a whole, so a cell shifts by what was dropped
// before its row.  Single characters stay: with them every word can be segmented.
std::vector<Learner::Move> Learner::drop_rows(std::span<const uint8_t> flags) {
  std::vector<Move> moves(pieces_.size());
  std::vector<uint64_t> row_begin{0};
  uint64_t dropped = 0;
  uint32_t kept = 0;
  for (size_t t = 0; t < pieces_.size(); ++t) {
    const uint64_t first = table_.row_begin[t], last = table_.row_begin[t + 1];
    if (!flags[t] && t >= characters_) {
      dropped += last - first;
      continue;
    }
    for (uint64_t i = first; i < last; ++i) {
      table_.source[i - dropped] = table_.source[i];
      table_.count[i - dropped] = table_.count[i];
    }
    row_begin.push_back(last - dropped);
    if (kept != t) pieces_[kept] = std::move(pieces_[t]);
    moves[t] = {kept++, uint32_t(dropped)};
  }
  pieces_.resize(kept);
  table_.source.resize(table_.source.size() - dropped);
  table_.count.resize(table_.source.size());
  table_.row_begin = std::move(row_begin);
  return moves;
}

// Edges and their cells close up in place: what is written lies before what is still to be read.
void Learner::drop_edges(std::span<const Move> moves) {
  uint64_t edge_end = 0, cell_end = 0;  // of what is kept
  uint64_t e = 0, cell = 0;
  for (size_t w = 0; w < words(); ++w) {
    const size_t sources = local_sources(w).size();
    const uint64_t last = edge_begin_[w + 1];
    edge_begin_[w] = edge_end;
    cell_begin_[w] = cell_end;
    for (; e < last; ++e, cell += sources) {
      Edge edge = edges_[e];
      if (edge.piece == kUnknownPiece) {
        std::fill_n(cell_.begin() + ptrdiff_t(cell_end), sources, 0);
      } else {
        const Move& move = moves[edge.piece];
        if (move.piece == kUnknownPiece) continue;
        for (size_t k = 0; k < sources; ++k) cell_[cell_end + k] = cell_[cell + k] - move.cells;
        edge.piece = move.piece & 0xFFFFFF;
      }
      edges_[edge_end++] = edge;
      cell_end += sources;
    }
  }
  edge_begin_.back() = edge_end;
  cell_begin_.back() = cell_end;
  edges_.resize(edge_end);
  cell_.resize(cell_end);
}

}  // namespace pairpiece

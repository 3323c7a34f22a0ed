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
  parallel_for(options_.threads, pieces_.size(), 4096, [&](size_t, size_t begin, size_t end) {
    for (size_t t = begin; t < end; ++t) {
      for (uint64_t i = table_.row_begin[t]; i < table_.row_begin[t + 1]; ++i) {
        const double c = table_.count[i];
        if (c > 0)
          information[t] +=
              c * (std::log(c) - std::log(piece_count_[t]) + std::log(all) -
                   std::log(source_count_[table_.source[i]]));
      }
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
  parallel_for(options_.threads, pieces_.size(), 1024, [&](size_t, size_t from, size_t to) {
    Lattice lattice;
    Path path;
    std::vector<Edge> inner;
    std::vector<double> log_weight;
    for (size_t t = from; t < to; ++t) {
      if (places[t].word == ~uint32_t{0} || pieces_[t].size() == 1) continue;
      const auto edges = edges_of(places[t].word);
      const Edge whole = edges[places[t].edge];
      inner.clear();
      log_weight.clear();
      // Edges are sorted by where they begin, so the inner ones lie around the piece's own.
      size_t e = places[t].edge;
      while (e > 0 && edges[e - 1].begin == whole.begin) --e;
      for (; e < edges.size() && edges[e].begin < whole.end(); ++e) {
        if (edges[e].end() > whole.end() || edges[e].piece == t) continue;
        Edge edge = edges[e];
        edge.begin -= whole.begin;
        inner.push_back(edge);
        log_weight.push_back(log_base[edge.piece]);
      }
      lattice.reset(whole.length, inner);
      lattice.best(log_weight, log_flat, path);
      for (const uint32_t i : path.edges) parts[t].push_back(inner[i].piece);
      found.split[t] = !path.edges.empty() && path.score > log_base[t] + kTie;
    }
  });
  found.begin.push_back(0);
  for (const auto& of_piece : parts) {
    found.pieces.insert(found.pieces.end(), of_piece.begin(), of_piece.end());
    found.begin.push_back(uint32_t(found.pieces.size()));
  }
  return found;
}

template <class Choose, class Add>
void Learner::each_choice(const Interrupted& interrupted, Choose choose, Add add) const {
  std::vector<Scratch> scratch(options_.threads);
  std::vector<std::vector<Use>> chosen;
  each_block(interrupted, [&](size_t begin, size_t end) {
    chosen.assign(end - begin, {});
    parallel_for(options_.threads, end - begin, 16, [&](size_t thread, size_t from, size_t to) {
      for (size_t w = begin + from; w < begin + to; ++w)
        choose(w, scratch[thread], chosen[w - begin]);
    });
    for (const auto& uses : chosen)
      for (const Use& use : uses) add(use);
  });
}

// How much a piece is needed: words are segmented once per type, so that a piece counts where it
// serves all pairs of the word, and what the length prior would gain by its split is set against what
// it tells (eq. 12–13).
Learner::Uses Learner::tied_uses(const Alternatives& alternatives,
                                 const Interrupted& interrupted) const {
  Uses uses{std::vector<double>(pieces_.size(), 0.0), std::vector<double>(pieces_.size(), 0.0)};
  const auto choose = [&](size_t w, Scratch& s, std::vector<Use>& chosen) {
    const auto edges = edges_of(w);
    load_cells(w, s);
    s.log_weight.assign(edges.size(), 0.0);
    std::vector<double> summed_log_prior;
    for (const uint64_t p : pairs_.pairs_of(w)) {
      condition(w, p, s);
      for (size_t e = 0; e < edges.size(); ++e)
        s.log_weight[e] += pairs_.count[p] * std::log(s.weight[e]);
      find_log_prior(options_.penalty, w, pairs_.expected[p], s.log_prior);
      summed_log_prior.resize(s.log_prior.size(), 0.0);
      for (size_t k = 0; k < s.log_prior.size(); ++k)
        summed_log_prior[k] += pairs_.count[p] * s.log_prior[k];
    }
    s.lattice.reset(pairs_.words[w].size(), edges);
    s.lattice.best(s.log_weight, summed_log_prior, s.path);
    const double count = pairs_.word_count(w);
    for (const uint32_t e : s.path.edges) {
      const uint32_t piece = edges[e].piece;
      if (piece == kUnknownPiece) continue;
      const size_t parts = alternatives.begin[piece + 1] - alternatives.begin[piece];
      chosen.push_back({piece, count, length_gain(w, s.path.edges.size(), parts)});
    }
  };
  each_choice(interrupted, choose, [&](const Use& use) {
    uses.count[use.piece] += use.count;
    uses.length_gain[use.piece] += use.length_gain;
  });
  return uses;
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
  std::vector<double> counts(pieces_.size(), 0.0);
  const auto choose = [&](size_t w, Scratch& s, std::vector<Use>& chosen) {
    const auto edges = edges_of(w);
    load_cells(w, s);
    s.lattice.reset(pairs_.words[w].size(), edges);
    s.log_weight.resize(edges.size());
    for (const uint64_t p : pairs_.pairs_of(w)) {
      condition(w, p, s);
      for (size_t e = 0; e < edges.size(); ++e)
        s.log_weight[e] = std::log(s.weight[e]) - piece_penalty;
      find_log_prior(penalty, w, pairs_.expected[p], s.log_prior);
      s.lattice.best(s.log_weight, s.log_prior, s.path);
      for (const uint32_t e : s.path.edges)
        if (edges[e].piece != kUnknownPiece)
          chosen.push_back({edges[e].piece, pairs_.count[p], 0});
    }
  };
  each_choice(interrupted, choose, [&](const Use& use) { counts[use.piece] += use.count; });
  return counts;
}

// What scores make of the words without a source: they are fitted until these counts are those of
// the paired segmentations.
std::vector<double> Learner::unigram_counts(std::span<const double> scores,
                                            const Interrupted& interrupted) const {
  if (scores.size() != pieces_.size()) throw std::invalid_argument("one score per piece is needed");
  std::vector<double> counts(pieces_.size(), 0.0);
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
  each_choice(interrupted, choose, [&](const Use& use) { counts[use.piece] += use.count; });
  return counts;
}

// Moves the edges and cells of kept pieces in a part of the words to its front.
void Learner::close_up(Part& part, const Part& end, std::span<const uint32_t> new_piece,
                       std::span<const uint64_t> dropped_before) {
  uint64_t next_edge = part.first_edge, next_cell = part.first_cell;
  uint64_t e = part.first_edge, cell = part.first_cell;
  for (size_t w = part.first_word; w < end.first_word; ++w) {
    const size_t sources = local_sources(w).size();
    // What begins the next part is not ours to read once its thread writes.
    const uint64_t last_edge = w + 1 == end.first_word ? end.first_edge : edge_begin_[w + 1];
    edge_begin_[w] = next_edge;
    cell_begin_[w] = next_cell;
    for (; e < last_edge; ++e, cell += sources) {
      Edge edge = edges_[e];
      if (edge.piece != kUnknownPiece) {
        const uint32_t old = edge.piece;
        if (new_piece[old] == kUnknownPiece) continue;
        edge.piece = new_piece[old] & 0xFFFFFF;
        for (size_t k = 0; k < sources; ++k)
          cell_[next_cell + k] = uint32_t(cell_[cell + k] - dropped_before[old]);
      } else {
        for (size_t k = 0; k < sources; ++k) cell_[next_cell + k] = 0;
      }
      edges_[next_edge++] = edge;
      next_cell += sources;
    }
  }
  part.edges = next_edge - part.first_edge;
  part.cells = next_cell - part.first_cell;
}

void Learner::keep(std::span<const uint8_t> flags) {
  if (flags.size() != pieces_.size()) throw std::invalid_argument("one flag per piece is needed");
  std::vector<uint32_t> new_piece(pieces_.size(), kUnknownPiece);
  std::vector<uint64_t> dropped_before(pieces_.size(), 0);
  drop_rows(flags, new_piece, dropped_before);

  // The words are cut into as many parts as there are threads.  Each part closes up within itself,
  // then the parts close up.
  std::vector<Part> parts;
  for (size_t k = 0; k <= options_.threads; ++k) {
    const size_t word = words() * k / options_.threads;
    parts.push_back({word, edge_begin_[word], cell_begin_[word], 0, 0});
  }
  parallel_for(options_.threads, options_.threads, 1, [&](size_t, size_t from, size_t to) {
    for (size_t k = from; k < to; ++k) close_up(parts[k], parts[k + 1], new_piece, dropped_before);
  });
  join(parts);

  // What is left shares the probability: totals and p0 are taken anew.
  update_totals();
  update_base();
}

// The rows of kept pieces move towards the front as a whole, so a cell shifts by what was dropped
// before its row.  Single characters stay: with them every word can be segmented.
void Learner::drop_rows(std::span<const uint8_t> flags, std::span<uint32_t> new_piece,
                        std::span<uint64_t> dropped_before) {
  std::vector<uint64_t> row_begin{0};
  uint64_t dropped = 0;
  uint32_t kept = 0;
  for (size_t t = 0; t < pieces_.size(); ++t) {
    const uint64_t first = table_.row_begin[t], last = table_.row_begin[t + 1];
    dropped_before[t] = dropped;
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
    new_piece[t] = kept++;
  }
  pieces_.resize(kept);
  table_.source.resize(table_.source.size() - dropped);
  table_.count.resize(table_.source.size());
  table_.row_begin = std::move(row_begin);
}

// Moves what is left of each part behind the part before; the last one only says where they end.
void Learner::join(std::span<const Part> parts) {
  uint64_t next_edge = 0, next_cell = 0;
  for (size_t k = 0; k + 1 < parts.size(); ++k) {
    const Part& part = parts[k];
    if (next_edge < part.first_edge) {
      std::copy_n(edges_.begin() + ptrdiff_t(part.first_edge), part.edges,
                  edges_.begin() + ptrdiff_t(next_edge));
      std::copy_n(cell_.begin() + ptrdiff_t(part.first_cell), part.cells,
                  cell_.begin() + ptrdiff_t(next_cell));
      for (size_t w = part.first_word; w < parts[k + 1].first_word; ++w) {
        edge_begin_[w] -= part.first_edge - next_edge;
        cell_begin_[w] -= part.first_cell - next_cell;
      }
    }
    next_edge += part.edges;
    next_cell += part.cells;
  }
  edge_begin_.back() = next_edge;
  cell_begin_.back() = next_cell;
  edges_.resize(next_edge);
  cell_.resize(next_cell);
}

}  // namespace pairpiece

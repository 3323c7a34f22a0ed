#include "learner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace pairpiece {

namespace {

// What is smaller cannot be divided by: without smoothing counts can fall that far.
constexpr double kSmallest = std::numeric_limits<double>::min();

// Words longer than this have their edge weights scaled so that products stay within a double.
constexpr size_t kUnscaledLength = 16;

}  // namespace

Learner::Learner(PairSet pairs, Seeds seeds, const LearnerOptions& options)
    : pairs_(std::move(pairs)),
      options_(options),
      pieces_(std::move(seeds.pieces)),
      characters_(seeds.characters),
      edges_(std::move(seeds.edges)),
      edge_begin_(std::move(seeds.edge_begin)) {
  options_.threads = sensible_threads(options.threads);
  collect_word_sources();
}

void Learner::collect_word_sources() {
  local_.resize(pairs_.source.size());
  word_source_begin_.push_back(0);
  cell_begin_.push_back(0);
  std::vector<uint32_t> place(pairs_.sources);
  for (size_t w = 0; w < words(); ++w) {
    const uint64_t first = pairs_.source_begin[pairs_.pair_begin[w]];
    const uint64_t last = pairs_.source_begin[pairs_.pair_begin[w + 1]];
    std::vector<uint32_t> distinct(pairs_.source.begin() + ptrdiff_t(first),
                                   pairs_.source.begin() + ptrdiff_t(last));
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (uint32_t k = 0; k < distinct.size(); ++k) place[distinct[k]] = k;
    for (uint64_t i = first; i < last; ++i) local_[i] = place[pairs_.source[i]];
    word_source_.insert(word_source_.end(), distinct.begin(), distinct.end());
    word_source_begin_.push_back(word_source_.size());
    cell_begin_.push_back(cell_begin_.back() + edges_of(w).size() * distinct.size());
  }
}

uint64_t Learner::table_bytes() const {
  // At worst every cell of a word is a table entry of its own: an index, a source, two counts; and
  // one more pair of offsets per edge while the index is built.
  return cell_begin_.back() * (4 + 4 + 8 + 8) + edges_.size() * 16;
}

bool Learner::initialize(const Interrupted& interrupted) {
  if (!index_cells(interrupted)) return false;
  count_spans();
  update_totals();
  update_base();
  return true;
}

bool Learner::index_cells(const Interrupted& interrupted) {
  // The places (word, edge) where each piece stands, grouped by piece.
  struct Place {
    uint32_t word, edge;
  };
  std::vector<uint64_t> place_begin(pieces_.size() + 1, 0);
  for (const Edge& edge : edges_)
    if (edge.piece != kUnknownPiece) ++place_begin[edge.piece + 1];
  for (size_t t = 0; t < pieces_.size(); ++t) place_begin[t + 1] += place_begin[t];
  std::vector<Place> places(place_begin.back());
  {
    std::vector<uint64_t> next(place_begin.begin(), place_begin.end() - 1);
    for (size_t w = 0; w < words(); ++w) {
      const auto edges = edges_of(w);
      for (uint32_t e = 0; e < edges.size(); ++e)
        if (edges[e].piece != kUnknownPiece) places[next[edges[e].piece]++] = {uint32_t(w), e};
    }
  }

  // A row of the table holds the sources of all words its piece stands in.
  cell_.assign(cell_begin_.back(), 0);
  table_.row_begin.assign(1, 0);
  table_.source.clear();
  std::vector<uint32_t> rank(pairs_.sources, ~uint32_t{0});
  std::vector<uint32_t> row;
  for (size_t t = 0; t < pieces_.size(); ++t) {
    if (t % 4096 == 0 && interrupted && interrupted()) return false;
    row.clear();
    for (uint64_t i = place_begin[t]; i < place_begin[t + 1]; ++i) {
      for (const uint32_t s : local_sources(places[i].word)) {
        if (rank[s] == ~uint32_t{0}) {
          rank[s] = 0;
          row.push_back(s);
        }
      }
    }
    std::sort(row.begin(), row.end());
    if (table_.source.size() + row.size() > ~uint32_t{0})
      throw std::invalid_argument("more than 2^32 pieces and source tokens occur together");
    const auto first = uint32_t(table_.source.size());
    for (uint32_t k = 0; k < row.size(); ++k) rank[row[k]] = first + k;
    for (uint64_t i = place_begin[t]; i < place_begin[t + 1]; ++i) {
      const auto sources = local_sources(places[i].word);
      uint32_t* cells = &cell_[cell_begin_[places[i].word] + places[i].edge * sources.size()];
      for (size_t k = 0; k < sources.size(); ++k) cells[k] = rank[sources[k]];
    }
    table_.source.insert(table_.source.end(), row.begin(), row.end());
    table_.row_begin.push_back(table_.source.size());
    for (const uint32_t s : row) rank[s] = ~uint32_t{0};
  }
  return true;
}

void Learner::count_spans() {
  table_.count.assign(table_.source.size(), 0.0);
  for (size_t w = 0; w < words(); ++w) {
    const auto edges = edges_of(w);
    const size_t sources = local_sources(w).size();
    std::vector<double> together(sources, 0.0);
    for (const uint64_t p : pairs_.pairs_of(w)) {
      const double each = pairs_.count[p] / (options_.share_initial ? pairs_.size_of(p) : 1.0);
      for (const uint64_t i : pairs_.sources_of(p))  // eq. 10
        together[local_[i]] += each * pairs_.multiplicity[i];
    }
    for (size_t e = 0; e < edges.size(); ++e) {
      if (edges[e].piece == kUnknownPiece) continue;
      for (size_t k = 0; k < sources; ++k)
        table_.count[cell_[cell_begin_[w] + e * sources + k]] += together[k];
    }
  }
}

void Learner::update_totals() {
  piece_count_.assign(pieces_.size(), 0.0);
  source_count_.assign(pairs_.sources, 0.0);
  parallel_for(options_.threads, pieces_.size(), 4096, [&](size_t, size_t t) {
    for (uint64_t i = table_.row_begin[t]; i < table_.row_begin[t + 1]; ++i)
      piece_count_[t] += table_.count[i];
  });
  // In parts that do not depend on the number of threads, and then part by part.
  constexpr size_t kParts = 16;
  const size_t share = table_.source.size() / kParts + 1;
  std::vector<double> sums(kParts * pairs_.sources, 0.0);
  parallel_for(options_.threads, kParts, 1, [&](size_t, size_t part) {
    double* const sum = &sums[part * pairs_.sources];
    const size_t end = std::min((part + 1) * share, table_.source.size());
    for (size_t i = part * share; i < end; ++i) sum[table_.source[i]] += table_.count[i];
  });
  for (size_t i = 0; i < sums.size(); ++i) source_count_[i % pairs_.sources] += sums[i];
}

void Learner::update_base() {
  base_.resize(pieces_.size());
  double total = 0;
  for (size_t t = 0; t < pieces_.size(); ++t) total += piece_count_[t] + options_.base_offset;
  for (size_t t = 0; t < pieces_.size(); ++t)  // p0 of eq. 6
    base_[t] = (piece_count_[t] + options_.base_offset) / total;
}

void Learner::load_cells(size_t word, Scratch& scratch) const {
  const auto edges = edges_of(word);
  const auto sources = local_sources(word);
  const uint32_t* cells = cell_.data() + cell_begin_[word];
  scratch.cells.resize(edges.size() * sources.size());
  if (options_.conditional == Conditional::pooled) {
    for (size_t i = 0; i < scratch.cells.size(); ++i) scratch.cells[i] = table_.count[cells[i]];
    return;
  }
  scratch.share.resize(sources.size());
  for (size_t k = 0; k < sources.size(); ++k)
    scratch.share[k] = 1 / (source_count_[sources[k]] + options_.smoothing);
  for (size_t e = 0, i = 0; e < edges.size(); ++e) {
    if (edges[e].piece == kUnknownPiece) {
      i += sources.size();
      continue;
    }
    const double pseudo_count = options_.smoothing * base_[edges[e].piece];
    for (size_t k = 0; k < sources.size(); ++k, ++i)  // eq. 6
      scratch.cells[i] = (table_.count[cells[i]] + pseudo_count) * scratch.share[k];
  }
}

void Learner::condition(size_t word, size_t pair, Scratch& scratch) const {
  const auto edges = edges_of(word);
  const size_t sources = local_sources(word).size();
  const uint64_t first = pairs_.source_begin[pair];
  const size_t size = pairs_.source_begin[pair + 1] - first;
  scratch.share.resize(size);
  double total = 0;
  for (size_t j = 0; j < size; ++j) {
    scratch.share[j] = pairs_.multiplicity[first + j];
    total += options_.conditional == Conditional::mixture
                 ? scratch.share[j]
                 : scratch.share[j] * source_count_[pairs_.source[first + j]];
  }
  for (double& share : scratch.share) share = total >= kSmallest ? share / total : 0;
  scratch.weight.resize(edges.size());
  for (size_t e = 0; e < edges.size(); ++e) {
    const double* cells = &scratch.cells[e * sources];
    double sum = 0;  // eq. 7, or eq. 2
    for (size_t j = 0; j < size; ++j) sum += scratch.share[j] * cells[local_[first + j]];
    scratch.weight[e] = edges[e].piece == kUnknownPiece ? 1.0 : sum;
  }
}

bool Learner::find_best(Scratch& scratch, double piece_penalty) {
  scratch.log_weight.resize(scratch.weight.size());
  for (size_t e = 0; e < scratch.weight.size(); ++e)
    scratch.log_weight[e] = std::log(scratch.weight[e]) - piece_penalty;
  scratch.lattice.best(scratch.log_weight, scratch.log_prior, scratch.path);
  return scratch.path.score != kImpossible;
}

double Learner::count_word(size_t word, Scratch& scratch, std::span<double> out) const {
  std::fill(out.begin(), out.end(), 0.0);
  load_cells(word, scratch);
  const size_t length = pairs_.words[word].size();
  scratch.lattice.reset(length, edges_of(word));
  double log_likelihood = 0;
  for (const uint64_t p : pairs_.pairs_of(word)) {
    condition(word, p, scratch);
    find_log_prior(options_.penalty, length, pairs_.expected[p], scratch.log_prior);
    log_likelihood += pairs_.count[p] * (options_.counting == Counting::best
                                             ? count_best(word, p, scratch, out)
                                             : count_all(word, p, scratch, out));
  }
  return log_likelihood;
}

double Learner::count_best(size_t word, size_t pair, Scratch& scratch,
                           std::span<double> out) const {
  if (!find_best(scratch)) return 0;  // unseen under the paper's unsmoothed model
  const auto edges = edges_of(word);
  const size_t sources = local_sources(word).size();
  for (const uint32_t e : scratch.path.edges) {
    if (edges[e].piece == kUnknownPiece) continue;
    for (const uint64_t i : pairs_.sources_of(pair))
      out[e * sources + local_[i]] += pairs_.count[pair] * pairs_.multiplicity[i];
  }
  return scratch.path.score;
}

double Learner::count_all(size_t word, size_t pair, Scratch& scratch, std::span<double> out) const {
  const auto edges = edges_of(word);
  const size_t length = pairs_.words[word].size();
  const size_t sources = local_sources(word).size();
  const bool posterior = options_.counting == Counting::posterior;
  // Every segmentation covers the word, so a factor per character changes all of them alike.  The
  // paper's counts are not divided by the total, so what underflows is lost there anyway.
  double per_character = 0;
  if (posterior && length > kUnscaledLength) {
    if (!find_best(scratch)) return 0;
    per_character = -scratch.path.score / double(length);
    for (size_t e = 0; e < edges.size(); ++e)
      if (scratch.weight[e] > 0) scratch.weight[e] *= std::exp(per_character * edges[e].length);
  }
  scratch.prior.resize(scratch.log_prior.size());
  for (size_t k = 0; k < scratch.prior.size(); ++k)
    scratch.prior[k] = std::exp(scratch.log_prior[k]);
  scratch.flow.resize(edges.size());
  const double total = scratch.lattice.sums(scratch.weight, scratch.prior, scratch.flow);
  if (!(total >= kSmallest)) return 0;

  const double size = pairs_.size_of(pair);
  for (size_t e = 0; e < edges.size(); ++e) {
    if (edges[e].piece == kUnknownPiece || scratch.flow[e] == 0) continue;
    const double count = pairs_.count[pair] * scratch.flow[e];
    if (posterior)
      share_by_responsibility(pair, count / total, &scratch.cells[e * sources], scratch.share,
                              &out[e * sources]);
    else
      for (const uint64_t i : pairs_.sources_of(pair))  // eq. 3
        out[e * sources + local_[i]] += count * pairs_.multiplicity[i] / size;
  }
  return std::log(total) - per_character * double(length);
}

// Eq. 9.
void Learner::share_by_responsibility(size_t pair, double count, const double* cells,
                                      std::span<const double> shares, double* row) const {
  const uint32_t* local = &local_[pairs_.source_begin[pair]];
  if (shares.size() == 1) {  // one source takes it all
    row[local[0]] += count;
    return;
  }
  double sum = 0;
  for (size_t j = 0; j < shares.size(); ++j) sum += shares[j] * cells[local[j]];
  for (size_t j = 0; j < shares.size(); ++j)
    row[local[j]] += count * (shares[j] * cells[local[j]] / sum);
}

// Adds the counts of a word to those of the pieces whose number leaves the given rest.
void Learner::add_counts(size_t word, const double* found, size_t rest,
                         std::span<double> counts) const {
  const auto edges = edges_of(word);
  const size_t sources = local_sources(word).size();
  const uint32_t* cells = cell_.data() + cell_begin_[word];
  for (size_t e = 0; e < edges.size(); ++e, cells += sources, found += sources) {
    if (edges[e].piece % options_.threads != rest || edges[e].piece == kUnknownPiece) continue;
    for (size_t k = 0; k < sources; ++k) counts[cells[k]] += found[k];
  }
}

std::optional<double> Learner::count(const Interrupted& interrupted) {
  std::vector<Scratch> scratch(options_.threads);
  std::vector<double> block, likelihood;
  std::vector<double> counts(table_.count.size(), 0.0);
  double log_likelihood = 0;
  const bool finished = each_block(interrupted, [&](size_t begin, size_t end) {
    const uint64_t first = cell_begin_[begin];
    block.resize(cell_begin_[end] - first);
    likelihood.resize(end - begin);
    parallel_for(options_.threads, end - begin, 4, [&](size_t thread, size_t i) {
      const size_t w = begin + i;
      const auto out = std::span(block).subspan(cell_begin_[w] - first,
                                                cell_begin_[w + 1] - cell_begin_[w]);
      likelihood[i] = count_word(w, scratch[thread], out);
    });
    // Each thread adds up the pieces that are its own, so that every sum is made in one order.
    parallel_for(options_.threads, options_.threads, 1, [&](size_t, size_t rest) {
      for (size_t w = begin; w < end; ++w)
        add_counts(w, &block[cell_begin_[w] - first], rest, counts);
    });
    for (size_t i = 0; i < end - begin; ++i) log_likelihood += likelihood[i];
  });
  if (!finished) return std::nullopt;
  table_.count = std::move(counts);
  update_totals();
  return log_likelihood;
}

double Learner::log_table_prior() const {
  if (options_.conditional == Conditional::pooled) return 0;
  // κ Σ_s Σ_t p0(t) log p(t|s) of eq. 15, first for an empty table, then corrected where there are
  // counts.
  const double kappa = options_.smoothing;
  if (kappa == 0) return 0;
  double entropy = 0;
  for (const double p : base_) entropy += p * std::log(kappa * p);
  double sum = 0;
  for (const double c : source_count_)
    if (c > 0) sum += entropy - std::log(c + kappa);
  for (size_t t = 0; t < pieces_.size(); ++t) {
    const double pseudo_count = kappa * base_[t];
    for (uint64_t i = table_.row_begin[t]; i < table_.row_begin[t + 1]; ++i)
      if (table_.count[i] > 0) sum += base_[t] * std::log1p(table_.count[i] / pseudo_count);
  }
  return kappa * sum;
}

}  // namespace pairpiece

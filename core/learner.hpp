// Learning the co-occurrence table c(t, s): lattice counting, and the scores that pruning needs.
// Which pass comes when, and how far to prune, is decided by the caller.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conditional_kind.hpp"
#include "lattice.hpp"
#include "length_prior.hpp"
#include "pair_set.hpp"
#include "parallel.hpp"
#include "seeds.hpp"

namespace pairpiece {

enum class Counting : uint8_t {
  posterior,  // expected counts shared out by responsibility (docs/algorithm.md, eq. 9)
  printed,    // prefix × piece × suffix, shared out evenly (eq. 3)
  best,       // the pieces of the best segmentation (eq. 1), once for every source token
};

struct LearnerOptions {
  Conditional conditional = Conditional::mixture;
  Counting counting = Counting::posterior;
  double smoothing = 1;        // κ of the mixture
  double base_offset = 0.01;   // added to c(t) in the base distribution p0
  LengthPenalty penalty;
  bool share_initial = true;   // the first counts of a pair are divided by |S|
  size_t threads = 1;
};

// c(t, s), by piece.
struct Table {
  std::vector<uint64_t> row_begin;  // pieces + 1 offsets
  std::vector<uint32_t> source;     // ascending within a row
  std::vector<double> count;
};

class Learner {
 public:
  // `pairs` must have been checked, and the seeds found in their words.
  Learner(PairSet pairs, Seeds seeds, const LearnerOptions& options);

  // Memory the table and its index will take, in bytes; call before `initialize`.
  uint64_t table_bytes() const;

  // Builds the table from span co-occurrences (eq. 10).  False if interrupted.
  bool initialize(const Interrupted& interrupted);

  // One pass over the pairs: counts under the current table and replaces it.  The log-likelihood of
  // the table counted with; nothing if interrupted, and the table is then unchanged.
  std::optional<double> count(const Interrupted& interrupted);

  // The log density of the current table under its Dirichlet prior, up to a constant of p0: what
  // must be added to the log-likelihood for a sum that never falls from pass to pass (eq. 15).
  double log_table_prior() const;

  const std::vector<std::u32string>& pieces() const { return pieces_; }
  uint32_t characters() const { return characters_; }
  const Table& table() const { return table_; }
  const std::vector<double>& piece_counts() const { return piece_count_; }
  const std::vector<double>& source_counts() const { return source_count_; }
  const std::vector<double>& base() const { return base_; }

  // Σ_s c(t,s) log[c(t,s) C / (c(t) c(s))] of every piece (eq. 11).
  std::vector<double> mutual_information() const;

  struct Alternatives {
    std::vector<uint32_t> begin;   // pieces + 1 offsets
    std::vector<uint32_t> pieces;  // of each piece's best split into others under p0; may be empty
    std::vector<uint8_t> split;    // 1 where that split is likelier than the piece itself
  };
  Alternatives alternatives() const;

  // How often each piece stands in the segmentations that are best for all pairs of a word type
  // together, and d(t), what the length prior of these words would gain if it were split (eq. 12).
  struct Uses {
    std::vector<double> count;
    std::vector<double> length_gain;
  };
  Uses tied_uses(const Alternatives& alternatives, const Interrupted& interrupted) const;

  // How often each piece stands in the best segmentation of each pair, with a penalty per piece:
  // f(t) of eq. 17.
  std::vector<double> best_counts(const LengthPenalty& penalty, double piece_penalty,
                                  const Interrupted& interrupted) const;

  // How often each piece is expected in the words under a model that has these scores (log weights)
  // and no source: e(t) of eq. 16.
  std::vector<double> unigram_counts(std::span<const double> scores,
                                     const Interrupted& interrupted) const;

  // Drops the pieces whose flag is 0; the table keeps the rows of the others.
  void keep(std::span<const uint8_t> flags);

 private:
  // Memory of one thread.
  struct Scratch {
    Lattice lattice;
    Path path;
    std::vector<double> cells;   // [edge][local source]
    std::vector<double> weight;  // p(t|S) of each edge
    std::vector<double> share;   // of each source of the pair
    std::vector<double> log_weight, flow;
    std::vector<double> prior, log_prior;
  };

  // A piece in a chosen segmentation, how often, and what it adds to d(t).
  struct Use {
    uint32_t piece;
    double count, length_gain;
  };

  // The new number of a piece, unless it is dropped, and how far its row of the table moves.
  struct Move {
    uint32_t piece = kUnknownPiece;
    uint32_t cells = 0;
  };
  // The steps of `keep`.
  std::vector<Move> drop_rows(std::span<const uint8_t> flags);
  void drop_edges(std::span<const Move> moves);

  size_t words() const { return pairs_.words.size(); }
  std::span<const Edge> edges_of(size_t word) const { return part_of(edges_, edge_begin_, word); }
  std::span<const uint32_t> local_sources(size_t word) const {
    return part_of(word_source_, word_source_begin_, word);
  }
  void collect_word_sources();
  // The steps of `initialize`: which cells the table has, then what they count.
  bool index_cells(const Interrupted& interrupted);
  void count_spans();
  // c(t) and c(s).
  void update_totals();
  // p0 (eq. 6).
  void update_base();
  // Fills scratch.cells, [edge][local source], with p(t|s) (eq. 6), or with c(t, s) for the pooled
  // model.
  void load_cells(size_t word, Scratch& scratch) const;
  // p(t|S) of every edge for one pair, from the loaded cells (eq. 7, or eq. 2).
  void condition(size_t word, size_t pair, Scratch& scratch) const;
  // The best segmentation of a word by scratch.weight, with a penalty per piece; false if all are
  // impossible.
  static bool find_best(Scratch& scratch, double piece_penalty = 0);
  // Sets `out`, [edge][local source], to the counts of all pairs of a word; returns their log
  // likelihood.
  double count_word(size_t word, Scratch& scratch, std::span<double> out) const;
  // The same for one pair that has been conditioned on; adds to `out`, and returns the log
  // likelihood of one occurrence.
  double count_best(size_t word, size_t pair, Scratch& scratch, std::span<double> out) const;
  double count_all(size_t word, size_t pair, Scratch& scratch, std::span<double> out) const;
  // Shares the count of an edge among the sources of a pair.
  void share_by_responsibility(size_t pair, double count, const double* cells,
                               std::span<const double> shares, double* row) const;
  // What the length prior of a word of so many pieces gains, over all its pairs, if one of them is
  // split into parts: a summand of d(t) (eq. 12).
  double length_gain(size_t word, size_t pieces, size_t parts) const;
  void add_counts(size_t word, const double* found, size_t rest, std::span<double> counts) const;
  // Calls body(first word, last word) for runs of words short enough to be interrupted between;
  // false if it was.
  template <class Body>
  bool each_block(const Interrupted& interrupted, Body body) const {
    constexpr size_t kCells = size_t{1} << 19, kWords = 4096;
    for (size_t begin = 0; begin < words();) {
      if (interrupted && interrupted()) return false;
      size_t end = begin + 1;
      while (end < words() && end - begin < kWords &&
             cell_begin_[end + 1] - cell_begin_[begin] <= kCells)
        ++end;
      body(begin, end);
      begin = end;
    }
    return true;
  }
  // Calls choose(word, scratch, chosen) for all words on all threads, to put into `chosen` the
  // pieces of the word's segmentations, and adds them up one after the other.
  template <class Choose>
  Uses sum_of_uses(const Interrupted& interrupted, Choose choose) const;

  PairSet pairs_;
  LearnerOptions options_;
  std::vector<std::u32string> pieces_;
  uint32_t characters_;
  std::vector<Edge> edges_;
  std::vector<uint64_t> edge_begin_;

  // The distinct sources of each word and, for each pair's sources, their place among them.
  std::vector<uint64_t> word_source_begin_;
  std::vector<uint32_t> word_source_;
  std::vector<uint32_t> local_;

  // cell_begin_[w] + edge × sources of the word + local source → place in the table.
  std::vector<uint64_t> cell_begin_;
  std::vector<uint32_t> cell_;

  Table table_;
  std::vector<double> piece_count_, source_count_, base_;
};

}  // namespace pairpiece

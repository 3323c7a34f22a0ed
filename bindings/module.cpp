// The Python face of the core: conversions, the interpreter lock and threads; nothing else.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <stdexcept>
#include <thread>

#include "batches.hpp"
#include "conversions.hpp"
#include "learner.hpp"
#include "parallel.hpp"
#include "tokenizer.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace pairpiece;
using namespace pairpiece::bindings;

namespace {

// ---------------------------------------------------------------------------- tokenizer

class PyTokenizer {
 public:
  PyTokenizer(const nb::bytes& charsmap, int splitting, bool dummy_prefix, bool squeeze,
              const nb::list& pieces, const std::vector<uint8_t>& types,
              const std::vector<double>& scores, int summation)
      : tokenizer_(make_normalizer(charsmap), Splitting(splitting), dummy_prefix, squeeze,
                   make_vocabulary(pieces, types, scores, Summation(summation))) {
    for (size_t id = 0; id < pieces.size(); ++id) {
      numbers_.push_back(nb::steal(PyLong_FromSize_t(id)));
      strings_.push_back(nb::borrow(pieces[id]));
    }
  }

  const Tokenizer& core() const { return tokenizer_; }

  nb::str normalize(nb::str text) const {
    Texts texts;
    return to_str(tokenizer_.normalize(texts.add(text)));
  }

  // (word, whether it is a user-defined symbol) of each word.
  std::vector<std::pair<nb::str, bool>> words(nb::str text) const {
    Texts texts;
    PreparedText prepared;
    tokenizer_.prepare(texts.add(text), false, prepared);
    std::vector<std::pair<nb::str, bool>> out;
    for (size_t i = 0; i < prepared.words.size(); ++i)
      out.emplace_back(to_str(std::string(prepared.word(i))), prepared.words[i].symbol >= 0);
    return out;
  }

  nb::object encode(nb::str text, bool as_pieces) const {
    Texts texts;
    const std::string_view view = texts.add(text);
    auto worker = tokenizer_.borrow();
    std::vector<PieceId> ids;
    tokenizer_.encode(view, *worker, ids);
    tokenizer_.give_back(std::move(worker));
    return to_list(ids.data(), ids.size(), as_pieces);
  }

  nb::list encode_batch(const nb::list& batch, const BigramModel* bigram, bool as_pieces,
                        size_t threads) const {
    Texts texts;
    const std::vector<Input> inputs = read_inputs(batch, texts);
    IdRows rows(inputs.size(), std::max<size_t>(1, threads));
    {
      nb::gil_scoped_release unlocked;
      each_input(inputs.size(), threads, [&](size_t i, size_t thread, Tokenizer::Worker& worker) {
        if (i + 1 < inputs.size()) __builtin_prefetch(inputs[i + 1].text.data());
        rows.add(i, thread, [&](std::vector<PieceId>& ids) {
          const size_t begin = ids.size();
          prepare(inputs[i], false, worker.text);
          if (bigram)
            tokenizer_.encode(worker.text, *bigram, worker, ids);
          else
            tokenizer_.encode(worker.text, worker, ids);
          tokenizer_.merge_unknown(ids, begin);
        });
      });
    }
    return to_lists(rows, as_pieces);
  }

  // The best segmentations conditioned on sources, as ids or pieces.
  nb::list encode_paired_batch(const nb::list& batch, const ConditionalModel& model,
                               const nb::dict& source_ids, const nb::list& sources,
                               const nb::object& tokenize, const nb::list& links,
                               bool whole_sentence, bool as_pieces, size_t threads) const {
    const PairedInputs paired(batch.size(), sources, links, tokenize, source_ids, model.sources());
    Texts texts;
    const std::vector<Input> inputs = read_inputs(batch, texts);
    IdRows rows(inputs.size(), std::max<size_t>(1, threads));
    {
      nb::gil_scoped_release unlocked;
      each_input(inputs.size(), threads, [&](size_t i, size_t thread, Tokenizer::Worker& worker) {
        prepare(inputs[i], false, worker.text);
        set_conditions(i, worker.text, model, paired, whole_sentence, worker);
        rows.add(i, thread, [&](std::vector<PieceId>& ids) {
          const size_t begin = ids.size();
          tokenizer_.encode(worker.text, model, worker.conditions, worker, ids);
          tokenizer_.merge_unknown(ids, begin);
        });
      });
    }
    return to_lists(rows, as_pieces);
  }

  // (ids, word of each token, offsets, log-probability) of the best segmentation of each text, or of
  // one drawn at random (`alpha`); with `count` > 0 a list of so many for each text, best first.
  nb::list segment_batch(const nb::list& batch, const ConditionalModel* model,
                         const nb::dict& source_ids, const nb::list& sources,
                         const nb::object& tokenize, const nb::list& links, bool whole_sentence,
                         const BigramModel* bigram, std::optional<double> alpha, uint64_t seed,
                         size_t count, size_t threads) const {
    PairedInputs paired;
    if (model) paired = {batch.size(), sources, links, tokenize, source_ids, model->sources()};
    Texts texts;
    const std::vector<Input> inputs = read_inputs(batch, texts);
    std::vector<std::vector<Segmentation>> results(inputs.size());
    {
      nb::gil_scoped_release unlocked;
      each_input(inputs.size(), threads, [&](size_t i, size_t, Tokenizer::Worker& worker) {
        PreparedText& text = worker.text;
        prepare(inputs[i], true, text);
        const Conditions& conditions = worker.conditions;
        if (model) set_conditions(i, text, *model, paired, whole_sentence, worker);
        if (bigram) {
          results[i].push_back(tokenizer_.segment(text, *bigram, worker));
        } else if (count > 0) {
          results[i] = tokenizer_.segment_best(text, model, conditions, count, worker);
        } else {
          Request request;
          if (alpha) request = {Request::Choice::sample, *alpha, seed + i};
          results[i].push_back(tokenizer_.segment(text, model, conditions, request, worker));
        }
        for (Segmentation& result : results[i]) {
          tokenizer_.locate(text, result);
          tokenizer_.merge_unknown(result);
        }
      });
    }
    const CollectorPaused paused;
    const auto to_object = [&](const Segmentation& s) {
      return nb::make_tuple(to_list(s.ids.data(), s.ids.size(), false), s.words, s.offsets,
                            s.log_probability);
    };
    nb::list out;
    for (const auto& alternatives : results) {
      if (count == 0) {
        out.append(to_object(alternatives[0]));
        continue;
      }
      nb::list rows;
      for (const Segmentation& s : alternatives) rows.append(to_object(s));
      out.append(rows);
    }
    return out;
  }

  // c(t, s) of every given piece and source token, and for each source token the sum over the
  // pieces that are substrings of the words of the text (the paper's Eq. 5): (counts, sums).
  auto link_counts(nb::handle text, const ConditionalModel& model, const std::vector<int32_t>& source,
                   const std::vector<int32_t>& ids) const {
    Texts texts;
    nb::list one;
    one.append(text);
    const std::vector<Input> inputs = read_inputs(one, texts);
    PreparedText prepared;
    prepare(inputs[0], false, prepared);
    std::vector<uint32_t> pieces;
    std::vector<Edge> edges;
    for (size_t i = 0; i < prepared.words.size(); ++i) {
      if (prepared.words[i].symbol >= 0) continue;
      tokenizer_.vocabulary().find_edges(prepared.word(i), edges);
      for (const Edge& edge : edges)
        if (edge.piece != kUnknownPiece) pieces.push_back(edge.piece);
    }
    std::sort(pieces.begin(), pieces.end());
    pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
    std::vector<double> counts, sums(source.size(), 0.0);
    for (size_t i = 0; i < source.size(); ++i) {
      check_source(source[i], model.sources());
      for (const uint32_t piece : pieces) sums[i] += model.count(piece, source[i]);
      for (const int32_t id : ids) {
        check_id(id);
        counts.push_back(model.count(uint32_t(id), source[i]));
      }
    }
    return std::make_pair(to_array(std::move(counts)), to_array(std::move(sums)));
  }

  nb::list decode_batch(const nb::list& batch, size_t threads) const {
    IdRows rows(batch.size(), 1);
    for (size_t i = 0; i < batch.size(); ++i)
      rows.add(i, 0, [&](std::vector<PieceId>& ids) { read_ids(batch[i], i, ids); });
    std::vector<std::string> texts(rows.size());
    {
      nb::gil_scoped_release unlocked;
      parallel_for(threads, rows.size(), 64, [&](size_t, size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) texts[i] = tokenizer_.decode(rows[i]);
      });
    }
    const CollectorPaused paused;
    nb::list out;
    for (const std::string& text : texts) out.append(to_str(text));
    return out;
  }

 private:
  static Normalizer make_normalizer(const nb::bytes& charsmap) {
    auto normalizer = Normalizer::from_charsmap({charsmap.c_str(), charsmap.size()});
    if (!normalizer) throw std::invalid_argument("the normalisation table is malformed");
    return std::move(*normalizer);
  }

  static Vocabulary make_vocabulary(const nb::list& pieces, const std::vector<uint8_t>& types,
                                    const std::vector<double>& scores, Summation summation) {
    if (pieces.size() != types.size() || pieces.size() != scores.size())
      throw std::invalid_argument("pieces, types and scores differ in number");
    Texts texts;
    std::vector<std::string> keys;
    std::vector<PieceType> kinds;
    size_t unknowns = 0, bytes = 0;
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (types[i] > uint8_t(PieceType::byte)) throw std::invalid_argument("unknown piece type");
      kinds.push_back(PieceType(types[i]));
      std::string key = sanitize(texts.add(pieces[i]));
      if (kinds[i] == PieceType::normal) key = unmark(key);
      if (key.empty()) throw std::invalid_argument("piece " + std::to_string(i) + " is empty");
      if (kinds[i] == PieceType::normal && key.size() > kMaxPieceLength)
        throw std::invalid_argument("piece " + std::to_string(i) + " is longer than 255 bytes");
      unknowns += kinds[i] == PieceType::unknown;
      bytes += kinds[i] == PieceType::byte;
      keys.push_back(std::move(key));
    }
    if (unknowns != 1) throw std::invalid_argument("there must be exactly one unknown piece");
    if (bytes != 0 && bytes != 256) throw std::invalid_argument("there must be 256 byte pieces");
    if (keys.size() >= kMaxPieces) throw std::invalid_argument("too many pieces");
    return Vocabulary(std::move(keys), std::move(kinds), scores, summation);
  }

  // ▁ → space.
  static std::string unmark(std::string_view piece) {
    constexpr std::string_view marker = "\xE2\x96\x81";
    std::string out;
    for (size_t i = 0; i < piece.size();) {
      if (piece.substr(i, marker.size()) == marker) {
        out += ' ';
        i += marker.size();
      } else {
        out += piece[i++];
      }
    }
    return out;
  }

  // Appends the ids of row `i`.
  void read_ids(nb::handle row, size_t i, std::vector<PieceId>& ids) const {
    const auto bad = [&](const char* what) {
      throw std::invalid_argument("row " + std::to_string(i) + " " + what);
    };
    const Sequence numbers(row, bad, "is not a list of numbers");
    for (size_t k = 0; k < numbers.size(); ++k) {
      const long id = PyLong_AsLong(numbers[k]);
      if (id == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        bad("has something that is not a number");
      }
      check_id(id);
      ids.push_back(PieceId(id));
    }
  }

  void check_id(long id) const {
    if (id < 0 || size_t(id) >= tokenizer_.vocabulary().size())
      throw std::invalid_argument("id " + std::to_string(id) + " is not in the vocabulary of " +
                                  std::to_string(tokenizer_.vocabulary().size()) + " pieces");
  }

  // Sets the conditions of the worker to those of text `i`.
  void set_conditions(size_t i, const PreparedText& text, const ConditionalModel& model,
                      const PairedInputs& paired, bool whole_sentence,
                      Tokenizer::Worker& worker) const {
    const SourceSentence source = paired.source(i);
    for (const auto& [from, to] : paired.links(i)) {
      if (from < source.words() && to < text.words.size()) continue;
      throw std::invalid_argument(
          "text " + std::to_string(i) + ": the alignment links " + std::to_string(from) + "-" +
          std::to_string(to) + " but there are " + std::to_string(source.words()) +
          " source and " + std::to_string(text.words.size()) + " target words");
    }
    if (paired.has_links(i))
      worker.conditions.set_links(source, paired.links(i), text.words.size(), false);
    else if (whole_sentence)
      worker.conditions.set_whole_sentence(source);
    else
      tokenizer_.infer_conditions(text, model, source, worker, worker.conditions);
  }

  void prepare(const Input& input, bool maps, PreparedText& out) const {
    tokenizer_.prepare(input.text, maps, out);
    if (input.words && !tokenizer_.split_again(*input.words, out))
      throw std::invalid_argument("the words of the pre-tokenizer do not add up to the text");
  }

  template <class Body>
  void each_input(size_t size, size_t threads, Body body) const {
    threads = std::max<size_t>(1, std::min(threads, size));
    std::vector<std::unique_ptr<Tokenizer::Worker>> workers(threads);
    for (auto& worker : workers) worker = tokenizer_.borrow();
    parallel_for(threads, size, 16, [&](size_t thread, size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) body(i, thread, *workers[thread]);
    });
    for (auto& worker : workers) tokenizer_.give_back(std::move(worker));
  }

  nb::object to_list(const PieceId* ids, size_t count, bool as_pieces) const {
    const auto& objects = as_pieces ? strings_ : numbers_;
    PyObject* list = PyList_New(Py_ssize_t(count));
    if (!list) throw nb::python_error();
    for (size_t i = 0; i < count; ++i) {
      PyObject* item = objects[size_t(ids[i])].ptr();
      Py_INCREF(item);
      PyList_SET_ITEM(list, Py_ssize_t(i), item);
    }
    return nb::steal(list);
  }

  nb::list to_lists(const IdRows& rows, bool as_pieces) const {
    const CollectorPaused paused;
    nb::list out = nb::steal<nb::list>(PyList_New(Py_ssize_t(rows.size())));
    for (size_t i = 0; i < rows.size(); ++i)
      PyList_SET_ITEM(out.ptr(), Py_ssize_t(i),
                      to_list(rows[i].data(), rows[i].size(), as_pieces).release().ptr());
    return out;
  }

  Tokenizer tokenizer_;
  std::vector<nb::object> numbers_, strings_;  // by id, made once
};

// ---------------------------------------------------------------------------- tables

void check_rows(const std::vector<uint64_t>& row_begin, const std::vector<uint32_t>& column,
                size_t values, size_t rows, size_t columns) {
  const auto fail = [] { throw std::invalid_argument("the table's rows are inconsistent"); };
  if (row_begin.size() != rows + 1 || row_begin.front() != 0 || row_begin.back() != column.size() ||
      column.size() != values)
    fail();
  for (size_t r = 0; r < rows; ++r) {
    if (row_begin[r] > row_begin[r + 1] || row_begin[r + 1] > column.size()) fail();
    for (uint64_t i = row_begin[r]; i < row_begin[r + 1]; ++i)
      if (column[i] >= columns || (i > row_begin[r] && column[i - 1] >= column[i])) fail();
  }
}

ConditionalModel* make_conditional(const Array<uint64_t>& row_begin,
                                                   const Array<uint32_t>& source,
                                                   const Array<float>& count,
                                                   const Array<double>& source_count,
                                                   const Array<double>& base, bool pooled,
                                                   double smoothing, double over, double under,
                                                   double unlinked, double piece_penalty,
                                                   double inferred_piece_penalty) {
  auto rows = to_vector(row_begin);
  auto columns = to_vector(source);
  check_rows(rows, columns, count.size(), base.size(), source_count.size());
  if (source_count.size() == 0) throw std::invalid_argument("the table has no sources");
  if (source_count.size() > kMaxSources) throw std::invalid_argument("too many source tokens");
  const ConditionalOptions options{pooled ? Conditional::pooled : Conditional::mixture, smoothing,
                                   {over, under, unlinked}, piece_penalty,
                                   inferred_piece_penalty};
  return new ConditionalModel(std::move(rows), std::move(columns), to_vector(count),
                              to_vector(source_count), to_vector(base), options);
}

BigramModel* make_bigram(const Array<uint64_t>& row_begin,
                                         const Array<uint32_t>& next, const Array<float>& count,
                                         const Array<double>& base, double smoothing) {
  auto rows = to_vector(row_begin);
  auto columns = to_vector(next);
  check_rows(rows, columns, count.size(), base.size() + 1, base.size());
  return new BigramModel(std::move(rows), std::move(columns), to_vector(count), to_vector(base),
                         smoothing);
}

// ---------------------------------------------------------------------------- learner

class PyLearner {
 public:
  PyLearner(const nb::list& words, const Array<uint64_t>& pair_begin, const Array<double>& count,
            const Array<double>& expected, const Array<uint64_t>& source_begin,
            const Array<uint32_t>& source, const Array<uint32_t>& multiplicity, uint32_t sources,
            const nb::list& forbidden, std::optional<nb::list> allowed, uint32_t max_piece_length,
            double min_count, size_t max_seeds, double character_coverage, bool pooled, int counting,
            double smoothing, double base_offset, double over, double under, double unlinked,
            bool share_initial, size_t threads) {
    PairSet pairs{to_u32(words),           to_vector(pair_begin),   to_vector(count),
                  to_vector(expected),     to_vector(source_begin), to_vector(source),
                  to_vector(multiplicity), sources};
    check(pairs);
    const auto never = to_u32(forbidden);
    SeedOptions seed_options{max_piece_length, min_count, max_seeds, character_coverage, {}};
    if (allowed) seed_options.allowed = to_u32(*allowed);
    std::vector<double> weights(pairs.words.size(), 0.0);
    for (size_t w = 0; w < weights.size(); ++w)
      for (uint64_t p = pairs.pair_begin[w]; p < pairs.pair_begin[w + 1]; ++p)
        weights[w] += pairs.count[p];
    Signals signals;
    Seeds seeds;
    {
      nb::gil_scoped_release unlocked;
      seeds = find_seeds(pairs.words, weights, never, seed_options, signals.poll());
    }
    signals.rethrow();
    const LearnerOptions options{pooled ? Conditional::pooled : Conditional::mixture,
                                 Counting(counting), smoothing, base_offset,
                                 {over, under, unlinked}, share_initial, threads};
    nb::gil_scoped_release unlocked;
    learner_ = std::make_unique<Learner>(std::move(pairs), std::move(seeds), options);
  }

  uint64_t table_bytes() const { return learner_->table_bytes(); }

  void initialize() {
    run([&](const Interrupted& interrupted) { learner_->initialize(interrupted); });
  }

  double count() {
    run([&](const Interrupted& interrupted) { learner_->count(interrupted); });
    return learner_->log_likelihood();
  }

  nb::list pieces() const {
    nb::list out;
    for (const auto& piece : learner_->pieces()) {
      std::string text;
      for (const char32_t c : piece) append_utf8(text, c);
      out.append(to_str(text));
    }
    return out;
  }

  auto tied_uses() {
    Learner::Uses uses;
    Learner::Alternatives alternatives;
    run([&](const Interrupted& interrupted) {
      alternatives = learner_->alternatives();
      uses = learner_->tied_uses(alternatives, interrupted);
    });
    return std::make_tuple(to_array(std::move(uses.count)), to_array(std::move(uses.length_gain)),
                           to_array(std::move(alternatives.begin)),
                           to_array(std::move(alternatives.pieces)),
                           to_array(std::move(alternatives.split)));
  }

  auto best_counts(double over, double under, double unlinked, double piece_penalty) {
    std::vector<double> counts;
    run([&](const Interrupted& interrupted) {
      counts = learner_->best_counts({over, under, unlinked}, piece_penalty, interrupted);
    });
    return to_array(std::move(counts));
  }

  auto unigram_counts(const Array<double>& scores) {
    if (scores.size() != learner_->pieces().size())
      throw std::invalid_argument("one score per piece is needed");
    std::vector<double> counts;
    run([&](const Interrupted& interrupted) {
      counts = learner_->unigram_counts({scores.data(), scores.size()}, interrupted);
    });
    return to_array(std::move(counts));
  }

  void keep(const Array<uint8_t>& flags) {
    if (flags.size() != learner_->pieces().size())
      throw std::invalid_argument("one flag per piece is needed");
    nb::gil_scoped_release unlocked;
    learner_->keep({flags.data(), flags.size()});
  }

  auto table() const {
    return std::make_tuple(to_array(learner_->table().row_begin), to_array(learner_->table().source),
                           to_array(learner_->table().count));
  }

  const Learner& core() const { return *learner_; }

 private:
  template <class Work>
  static void run(Work work) {
    Signals signals;
    {
      nb::gil_scoped_release unlocked;
      work(signals.poll());
    }
    signals.rethrow();
  }

  static void check(const PairSet& p) {
    const size_t count = p.count.size();
    bool good = p.pair_begin.size() == p.words.size() + 1 && p.expected.size() == count &&
                p.source_begin.size() == count + 1 && p.multiplicity.size() == p.source.size() &&
                p.pair_begin.front() == 0 && p.pair_begin.back() == count &&
                p.source_begin.front() == 0 && p.source_begin.back() == p.source.size();
    for (size_t i = 0; good && i + 1 < p.pair_begin.size(); ++i)
      good = p.pair_begin[i] <= p.pair_begin[i + 1] && !p.words[i].empty();
    for (size_t i = 0; good && i + 1 < p.source_begin.size(); ++i)
      good = p.source_begin[i] < p.source_begin[i + 1] && p.source_begin[i + 1] <= p.source.size();
    for (size_t i = 0; good && i < p.source.size(); ++i)
      good = p.source[i] < p.sources && p.multiplicity[i] > 0;
    for (size_t i = 0; good && i < count; ++i) good = p.count[i] > 0 && p.expected[i] >= 0;
    if (!good) throw std::invalid_argument("the pair arrays are inconsistent");
  }

  std::unique_ptr<Learner> learner_;
};

uint64_t py_seed_bytes(const nb::list& words, uint32_t max_piece_length) {
  return seed_bytes(to_u32(words), max_piece_length);
}

}  // namespace

NB_MODULE(_core, m) {
  nb::set_leak_warnings(false);  // objects may well live until the interpreter ends
  m.doc() = "The compiled core of pairpiece; not a public interface.";

  nb::class_<ConditionalModel>(m, "ConditionalModel")
      .def(nb::new_(&make_conditional), "row_begin"_a, "source"_a, "count"_a,
                  "source_count"_a, "base"_a, "pooled"_a, "smoothing"_a, "over"_a, "under"_a,
                  "unlinked"_a, "piece_penalty"_a, "inferred_piece_penalty"_a);

  nb::class_<BigramModel>(m, "BigramModel")
      .def(nb::new_(&make_bigram), "row_begin"_a, "next"_a, "count"_a, "base"_a,
                  "smoothing"_a);

  nb::class_<PyTokenizer>(m, "Tokenizer")
      .def(nb::init<const nb::bytes&, int, bool, bool, const nb::list&,
                    const std::vector<uint8_t>&, const std::vector<double>&, int>(),
           "charsmap"_a, "splitting"_a, "dummy_prefix"_a, "squeeze"_a, "pieces"_a, "types"_a,
           "scores"_a, "summation"_a)
      .def("normalize", &PyTokenizer::normalize, "text"_a)
      .def("words", &PyTokenizer::words, "text"_a)
      .def("encode", &PyTokenizer::encode, "text"_a, "as_pieces"_a)
      .def("encode_batch", &PyTokenizer::encode_batch, "batch"_a, "bigram"_a.none(), "as_pieces"_a,
           "threads"_a)
      .def("segment_batch", &PyTokenizer::segment_batch, "batch"_a, "model"_a.none(),
           "source_ids"_a, "sources"_a, "tokenize"_a.none(), "links"_a, "whole_sentence"_a,
           "bigram"_a.none(),
           "alpha"_a.none(), "seed"_a, "count"_a, "threads"_a)
      .def("encode_paired_batch", &PyTokenizer::encode_paired_batch, "batch"_a, "model"_a,
           "source_ids"_a, "sources"_a, "tokenize"_a, "links"_a, "whole_sentence"_a, "as_pieces"_a,
           "threads"_a)
      .def("link_counts", &PyTokenizer::link_counts, "text"_a, "model"_a, "source"_a, "ids"_a)
      .def("decode_batch", &PyTokenizer::decode_batch, "batch"_a, "threads"_a);

  nb::class_<PyLearner>(m, "Learner")
      .def(nb::init<const nb::list&, const Array<uint64_t>&, const Array<double>&,
                    const Array<double>&, const Array<uint64_t>&, const Array<uint32_t>&,
                    const Array<uint32_t>&, uint32_t, const nb::list&, std::optional<nb::list>,
                    uint32_t, double, size_t, double, bool, int, double, double, double, double,
                    double, bool, size_t>(),
           "words"_a, "pair_begin"_a, "count"_a, "expected"_a, "source_begin"_a, "source"_a,
           "multiplicity"_a, "sources"_a, "forbidden"_a, "allowed"_a.none(), "max_piece_length"_a,
           "min_count"_a, "max_seeds"_a, "character_coverage"_a, "pooled"_a, "counting"_a, "smoothing"_a,
           "base_offset"_a, "over"_a, "under"_a, "unlinked"_a, "share_initial"_a, "threads"_a)
      .def("table_bytes", &PyLearner::table_bytes)
      .def("initialize", &PyLearner::initialize)
      .def("count", &PyLearner::count)
      .def("log_table_prior", [](const PyLearner& l) { return l.core().log_table_prior(); })
      .def("table_entries", [](const PyLearner& l) { return l.core().table().count.size(); })
      .def("pieces", &PyLearner::pieces)
      .def("characters", [](const PyLearner& l) { return l.core().characters(); })
      .def("piece_counts", [](const PyLearner& l) { return to_array(l.core().piece_counts()); })
      .def("source_counts", [](const PyLearner& l) { return to_array(l.core().source_counts()); })
      .def("base", [](const PyLearner& l) { return to_array(l.core().base()); })
      .def("mutual_information",
           [](const PyLearner& l) { return to_array(l.core().mutual_information()); })
      .def("tied_uses", &PyLearner::tied_uses)
      .def("best_counts", &PyLearner::best_counts, "over"_a, "under"_a, "unlinked"_a,
           "piece_penalty"_a)
      .def("unigram_counts", &PyLearner::unigram_counts, "scores"_a)
      .def("keep", &PyLearner::keep, "flags"_a)
      .def("table", &PyLearner::table);

  m.def("seed_bytes", &py_seed_bytes, "words"_a, "max_piece_length"_a);
}

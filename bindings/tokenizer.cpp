// Encoding and decoding, text by text and in batches.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <variant>

#include "batches.hpp"
#include "bindings.hpp"
#include "conversions.hpp"
#include "parallel.hpp"
#include "prefetch.hpp"
#include "tokenizer.hpp"

namespace pairpiece::bindings {

using namespace nb::literals;

namespace {

constexpr size_t kChunk = 16;  // texts that a thread takes at once

// What texts are scored by, besides the vocabulary.
using Scores = std::variant<std::monostate, const BigramModel*, const Paired*>;

class PyTokenizer {
 public:
  PyTokenizer(const nb::bytes& charsmap, Splitting splitting, bool dummy_prefix, bool squeeze,
              bool split_digits, const nb::list& pieces, const std::vector<uint8_t>& types,
              const std::vector<double>& scores, Summation summation)
      : tokenizer_(to_normalizer(charsmap), {splitting, dummy_prefix, squeeze, split_digits},
                   {to_strings(pieces), to_types(types), scores, summation}) {
    for (size_t id = 0; id < pieces.size(); ++id) {
      numbers_.push_back(nb::steal(PyLong_FromSize_t(id)));
      strings_.push_back(nb::borrow(pieces[id]));
    }
  }

  const WordSplitter& splitter() const { return tokenizer_.splitter(); }

  nb::object encode(nb::str text, bool as_pieces) const {
    Texts texts;
    const std::string_view view = texts.add(text);
    auto worker = tokenizer_.borrow();
    std::vector<PieceId> ids;
    tokenizer_.splitter().prepare(view, false, worker->text);
    tokenizer_.encode(worker->text, Unigram(), *worker, ids);
    tokenizer_.give_back(std::move(worker));
    return to_list(ids, as_pieces);
  }

  nb::list encode_batch(const nb::list& batch, const Scores& scores, bool as_pieces,
                        size_t threads) const {
    IdRows rows(batch.size(), threads_for(threads, batch.size(), kChunk));
    const auto encode = [&](size_t i, size_t thread, const Model& model, auto& worker) {
      rows.add(i, thread, [&](std::vector<PieceId>& ids) {
        tokenizer_.encode(worker.text, model, worker, ids);
      });
    };
    each_text(batch, scores, false, threads, encode);
    const CollectorPaused paused;
    nb::list out = nb::steal<nb::list>(PyList_New(Py_ssize_t(rows.size())));
    for (size_t i = 0; i < rows.size(); ++i)
      PyList_SET_ITEM(out.ptr(), Py_ssize_t(i), to_list(rows[i], as_pieces).release().ptr());
    return out;
  }

  // For each text a list of (ids, word of each token, offsets, log-probability), or of ids alone: of
  // the best segmentation, of one drawn at random (`alpha`), or of so many, best first (`count`).
  nb::list segment_batch(const nb::list& batch, const Scores& scores, bool ids_alone,
                         std::optional<double> alpha, uint64_t seed, size_t count,
                         size_t threads) const {
    std::vector<std::vector<Segmentation>> results(batch.size());
    const auto segment = [&](size_t i, size_t, const Model& model, auto& worker) {
      std::optional<Draw> draw;
      if (alpha) draw = {*alpha, seed + i};
      if (count > 0)
        results[i] = tokenizer_.segment_best(worker.text, model, count, worker);
      else
        results[i].push_back(tokenizer_.segment(worker.text, model, worker, draw));
    };
    each_text(batch, scores, !ids_alone, threads, segment);
    const CollectorPaused paused;
    nb::list out;
    for (const auto& alternatives : results) {
      nb::list rows;
      for (const Segmentation& s : alternatives) {
        nb::object ids = to_list(s.ids, false);
        if (ids_alone) rows.append(ids);
        else rows.append(nb::make_tuple(ids, s.words, s.offsets, s.log_probability));
      }
      out.append(rows);
    }
    return out;
  }

  // c(t, s) of every given piece and source token, and what to divide them by: (counts, sums).
  auto link_counts(nb::handle text, const ConditionalModel& model,
                   const std::vector<int64_t>& source, const std::vector<int64_t>& ids) const {
    Texts texts;
    nb::list one;
    one.append(text);
    PreparedText prepared;
    prepare(read_inputs(one, texts)[0], false, prepared);
    std::vector<int32_t> sources;
    for (const int64_t s : source) sources.push_back(model.checked_source(s));
    std::vector<PieceId> pieces;
    for (const int64_t id : ids) pieces.push_back(tokenizer_.vocabulary().checked_id(id));
    LinkCounts found = tokenizer_.link_counts(prepared, model, sources, pieces);
    return std::make_pair(to_array(std::move(found.counts)), to_array(std::move(found.sums)));
  }

  nb::list decode_batch(const nb::list& batch, size_t threads) const {
    IdRows rows(batch.size(), 1);
    for (size_t i = 0; i < batch.size(); ++i)
      rows.add(i, 0, [&](std::vector<PieceId>& ids) { read_ids(batch[i], i, ids); });
    std::vector<std::string> texts(rows.size());
    {
      nb::gil_scoped_release unlocked;
      parallel_for(threads, rows.size(), 64,
                   [&](size_t, size_t i) { texts[i] = tokenizer_.decode(rows[i]); });
    }
    const CollectorPaused paused;
    nb::list out;
    for (const std::string& text : texts) out.append(to_str(text));
    return out;
  }

 private:
  static std::vector<PieceType> to_types(const std::vector<uint8_t>& types) {
    std::vector<PieceType> out;
    for (const uint8_t type : types) out.push_back(PieceType(type));
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
        const bool large = PyErr_ExceptionMatches(PyExc_OverflowError);
        if (!large && !PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
        PyErr_Clear();
        bad(large ? "has a number that no piece has" : "has something that is not a whole number");
      }
      ids.push_back(tokenizer_.vocabulary().checked_id(id));
    }
  }

  // What scores text `i`, which the worker has prepared.
  Model model_of(const Scores& scores, size_t i, Tokenizer::Worker& worker) const {
    if (const auto* bigram = std::get_if<const BigramModel*>(&scores)) return *bigram;
    const auto* paired = std::get_if<const Paired*>(&scores);
    if (!paired) return Unigram();
    try {
      const Pairing pairing = (*paired)->pairing(i);
      return tokenizer_.condition(worker.text, (*paired)->model(), pairing, worker);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument("text " + std::to_string(i) + ": " + error.what());
    }
  }

  void prepare(const Input& input, bool map, PreparedText& out) const {
    tokenizer_.splitter().prepare(input.text, map, out);
    if (input.words) split_again(*input.words, out);
  }

  // Calls use(i, thread, model, worker) for the texts, each prepared by a worker.
  template <class Use>
  void each_text(const nb::list& batch, const Scores& scores, bool map, size_t threads,
                 Use use) const {
    if (const auto* paired = std::get_if<const Paired*>(&scores))
      if ((*paired)->size() != batch.size())
        throw std::invalid_argument("texts and sources differ in number");
    Texts texts;
    const std::vector<Input> inputs = read_inputs(batch, texts);
    const nb::gil_scoped_release unlocked;
    std::vector<std::unique_ptr<Tokenizer::Worker>> workers(
        threads_for(threads, inputs.size(), kChunk));
    for (auto& worker : workers) worker = tokenizer_.borrow();
    parallel_for(workers.size(), inputs.size(), kChunk, [&](size_t thread, size_t i) {
      Tokenizer::Worker& worker = *workers[thread];
      if (i + 1 < inputs.size()) prefetch(inputs[i + 1].text.data());
      prepare(inputs[i], map, worker.text);
      use(i, thread, model_of(scores, i, worker), worker);
    });
    for (auto& worker : workers) tokenizer_.give_back(std::move(worker));
  }

  nb::object to_list(std::span<const PieceId> ids, bool as_pieces) const {
    const auto& objects = as_pieces ? strings_ : numbers_;
    PyObject* list = PyList_New(Py_ssize_t(ids.size()));
    if (!list) throw nb::python_error();
    for (size_t i = 0; i < ids.size(); ++i) {
      PyObject* item = objects[size_t(ids[i])].ptr();
      Py_INCREF(item);
      PyList_SET_ITEM(list, Py_ssize_t(i), item);
    }
    return nb::steal(list);
  }

  Tokenizer tokenizer_;
  std::vector<nb::object> numbers_, strings_;  // by id, made once
};

}  // namespace

void bind_tokenizer(nb::module_& module) {
  nb::enum_<Summation>(module, "Summation")
      .value("words", Summation::words)
      .value("spaces", Summation::spaces)
      .value("texts", Summation::texts)
      .value("singles", Summation::singles);

  nb::class_<Paired>(module, "Paired")
      .def(nb::init<const ConditionalModel&, const nb::dict&, const nb::list&, const nb::object&,
                    const std::optional<nb::list>&, bool>(),
           "model"_a, "source_ids"_a, "sources"_a, "tokenize"_a, "links"_a.none(),
           "whole_sentence"_a, nb::keep_alive<1, 2>());

  nb::class_<PyTokenizer>(module, "Tokenizer")
      .def(nb::init<const nb::bytes&, Splitting, bool, bool, bool, const nb::list&,
                    const std::vector<uint8_t>&, const std::vector<double>&, Summation>(),
           "charsmap"_a, "splitting"_a, "dummy_prefix"_a, "squeeze"_a, "split_digits"_a, "pieces"_a,
           "types"_a, "scores"_a, "summation"_a)
      .def_prop_ro("splitter", &PyTokenizer::splitter)
      .def("encode", &PyTokenizer::encode, "text"_a, "as_pieces"_a)
      .def("encode_batch", &PyTokenizer::encode_batch, "batch"_a, "scores"_a.none(), "as_pieces"_a,
           "threads"_a)
      .def("segment_batch", &PyTokenizer::segment_batch, "batch"_a, "scores"_a.none(),
           "ids_alone"_a, "alpha"_a = nb::none(), "seed"_a = 0, "count"_a = 0, "threads"_a = 1)
      .def("link_counts", &PyTokenizer::link_counts, "text"_a, "model"_a, "source"_a, "ids"_a)
      .def("decode_batch", &PyTokenizer::decode_batch, "batch"_a, "threads"_a);
}

}  // namespace pairpiece::bindings

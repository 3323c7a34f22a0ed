// Batches of texts, and of what they are conditioned on, read from Python objects; and ids on their
// way back.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conditional.hpp"
#include "conversions.hpp"
#include "prefetch.hpp"
#include "vocabulary.hpp"

namespace pairpiece::bindings {

// One text, and its words where the caller has split the normalised text.
struct Input {
  std::string_view text;
  std::unique_ptr<std::vector<std::string_view>> words;
};

// Python's objects lie all over the memory: the next ones are to come while one is read.
inline constexpr size_t kAhead = 8;

// Whether it is (text, list of its words).
inline bool is_split(nb::handle item) {
  if (!PyTuple_Check(item.ptr()) || PyTuple_GET_SIZE(item.ptr()) != 2) return false;
  PyObject* const words = PyTuple_GET_ITEM(item.ptr(), 1);
  if (!PyUnicode_Check(PyTuple_GET_ITEM(item.ptr(), 0)) || !PyList_Check(words)) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(words); ++i)
    if (!PyUnicode_Check(PyList_GET_ITEM(words, i))) return false;
  return true;
}

inline std::vector<Input> read_inputs(const nb::list& batch, Texts& texts) {
  std::vector<Input> inputs;
  inputs.reserve(batch.size());
  for (size_t i = 0; i < batch.size(); ++i) {
    const nb::handle item = PyList_GET_ITEM(batch.ptr(), Py_ssize_t(i));
    if (i + kAhead < batch.size())
      prefetch(PyList_GET_ITEM(batch.ptr(), Py_ssize_t(i + kAhead)));
    Input input;
    if (PyUnicode_Check(item.ptr())) {
      input.text = texts.add(item);
    } else if (is_split(item)) {
      input.text = texts.add(PyTuple_GET_ITEM(item.ptr(), 0));
      input.words = std::make_unique<std::vector<std::string_view>>();
      for (nb::handle word : nb::borrow<nb::list>(PyTuple_GET_ITEM(item.ptr(), 1)))
        input.words->push_back(texts.add(word));
    } else {
      throw std::invalid_argument("text " + std::to_string(i) + " is not a string but " +
                                  Py_TYPE(item.ptr())->tp_name);
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

// The ids of many texts, one after the other, in a buffer for each thread.
class IdRows {
 public:
  IdRows(size_t texts, size_t threads) : buffers_(threads), rows_(texts) {}

  // Calls append(ids), which is to add the ids of a text to the end.
  template <class Append>
  void add(size_t text, size_t thread, Append append) {
    std::vector<PieceId>& buffer = buffers_[thread];
    const size_t begin = buffer.size();
    append(buffer);
    rows_[text] = {thread, begin, buffer.size()};
  }

  size_t size() const { return rows_.size(); }
  std::span<const PieceId> operator[](size_t text) const {
    const Row& row = rows_[text];
    return {buffers_[row.thread].data() + row.begin, row.end - row.begin};
  }

 private:
  struct Row {
    size_t thread, begin, end;
  };
  std::vector<std::vector<PieceId>> buffers_;
  std::vector<Row> rows_;
};

// Appends links, pairs of words in any order and number, sorted and without repetition.
// `complaint(what)` throws.
template <class Complaint>
void append_links(nb::handle object, Complaint complaint, std::vector<Link>& links) {
  constexpr const char* expected = "not a list of (source word, target word) pairs";
  const Sequence pairs(object, complaint, expected);
  const auto position = [&](PyObject* number) {
    const long found = PyLong_AsLong(number);
    if (found < 0 || found > kMaxPosition) {
      PyErr_Clear();
      complaint("a position is not a number from 0 up");
    }
    return uint32_t(found);
  };
  const auto first = ptrdiff_t(links.size());
  for (size_t k = 0; k < pairs.size(); ++k) {
    const Sequence ends(pairs[k], complaint, expected);
    if (ends.size() != 2) complaint(expected);
    links.emplace_back(position(ends[0]), position(ends[1]));
  }
  const auto begin = links.begin() + first;
  if (!std::is_sorted(begin, links.end())) std::sort(begin, links.end());
  links.erase(std::unique(begin, links.end()), links.end());
}

// What paired encoding of many texts is conditioned on.
class Paired {
 public:
  // Each source is a text for `tokenize`, a list of tokens, or of words that are lists of tokens.  In
  // a flat list every token is a word of its own if there are links, else words begin at the marker.
  // `source_ids` has the ids of tokens for the model.  The links of a text are pairs of words, or
  // None.
  Paired(const ConditionalModel& model, const nb::dict& source_ids, const nb::list& sources,
         const nb::object& tokenize, const std::optional<nb::list>& all_links, bool whole_sentence)
      : model_(model), whole_sentence_(whole_sentence) {
    if (all_links && all_links->size() != sources.size())
      throw std::invalid_argument("sources and alignments differ in number");
    rows_.reserve(sources.size());
    for (size_t i = 0; i < sources.size(); ++i) {
      const nb::object links = all_links ? nb::object((*all_links)[i]) : nb::none();
      rows_.push_back({tokens_.size(), word_begin_.size(), links_.size(), !links.is_none()});
      nb::object source = sources[i];
      if (PyUnicode_Check(source.ptr())) source = tokenize(source);
      read_source(source, source_ids);
      if (links.is_none()) continue;
      const auto bad = [&](const char* what) {
        throw std::invalid_argument("alignment " + std::to_string(i) + ": " + what);
      };
      append_links(links, bad, links_);
    }
  }

  size_t size() const { return rows_.size(); }
  const ConditionalModel& model() const { return model_; }
  Pairing pairing(size_t text) const {
    Pairing out{{part(tokens_, text, &Row::token), part(word_begin_, text, &Row::word)},
                {},
                whole_sentence_};
    if (rows_[text].has_links) out.links = part(links_, text, &Row::link);
    return out;
  }

 private:
  struct Row {
    size_t token, word, link;  // the first of the text
    bool has_links;
  };

  template <class T>
  std::span<const T> part(const std::vector<T>& all, size_t text, size_t Row::*first) const {
    const size_t begin = rows_[text].*first;
    const size_t end = text + 1 < rows_.size() ? rows_[text + 1].*first : all.size();
    return std::span(all).subspan(begin, end - begin);
  }

  void read_source(nb::handle source, const nb::dict& source_ids) {
    const auto bad = [&](const char* what) {
      throw std::invalid_argument("source " + std::to_string(rows_.size() - 1) + ": " + what);
    };
    const auto add = [&](PyObject* token) {
      if (!PyUnicode_Check(token)) bad("a token is not a string");
      tokens_.push_back(id_of(nb::steal(PyUnicode_FromObject(token)), source_ids));
    };
    const auto end_word = [&] {
      word_begin_.push_back(uint32_t(tokens_.size() - rows_.back().token));
    };
    const Sequence words(source, bad, "not a list of tokens or words");
    const bool flat = words.size() > 0 && PyUnicode_Check(words[0]);
    bool marked = false;  // words begin at the marker
    for (size_t w = 0; flat && !rows_.back().has_links && !marked && w < words.size(); ++w)
      marked = begins_word(words[w]);
    end_word();
    for (size_t w = 0; w < words.size(); ++w) {
      if (flat) {
        add(words[w]);
        if (!marked || w + 1 == words.size() || begins_word(words[w + 1])) end_word();
      } else {
        if (PyUnicode_Check(words[w])) bad("tokens and words are mixed");
        const Sequence tokens(words[w], bad, "a word is not a list of tokens");
        for (size_t k = 0; k < tokens.size(); ++k) add(tokens[k]);
        end_word();
      }
    }
  }

  static bool begins_word(PyObject* token) {
    return PyUnicode_Check(token) && PyUnicode_GET_LENGTH(token) > 0 &&
           PyUnicode_READ_CHAR(token, 0) == 0x2581;
  }

  int32_t id_of(const nb::object& token, const nb::dict& source_ids) const {
    PyObject* found = PyDict_GetItemWithError(source_ids.ptr(), token.ptr());
    if (!found) {
      if (PyErr_Occurred()) throw nb::python_error();
      return kUnseenSource;
    }
    return model_.checked_source(PyLong_AsLong(found));
  }

  const ConditionalModel& model_;
  bool whole_sentence_;
  std::vector<Row> rows_;
  std::vector<int32_t> tokens_;
  std::vector<uint32_t> word_begin_;
  std::vector<Link> links_;
};

}  // namespace pairpiece::bindings

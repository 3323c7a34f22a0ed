// Words and word links, before there are pieces.

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "batches.hpp"
#include "bindings.hpp"
#include "conversions.hpp"
#include "symmetrization.hpp"
#include "word_splitter.hpp"

namespace pairpiece::bindings {

using namespace nb::literals;

namespace {

// (word, whether it is a user-defined symbol) of each word.
std::vector<std::pair<nb::str, bool>> words_of(const WordSplitter& splitter, nb::str text) {
  Texts texts;
  PreparedText prepared;
  splitter.prepare(texts.add(text), false, prepared);
  std::vector<std::pair<nb::str, bool>> out;
  for (const PreparedText::Word& word : prepared.words)
    out.emplace_back(to_str(prepared.of(word)), word.symbol >= 0);
  return out;
}

}  // namespace

void bind_text(nb::module_& module) {
  nb::enum_<Splitting>(module, "Splitting")
      .value("lossless", Splitting::lossless)
      .value("paper", Splitting::paper)
      .value("none", Splitting::none)
      .value("spaces", Splitting::spaces);

  nb::class_<WordSplitter>(module, "WordSplitter")
      .def(
          "__init__",
          [](WordSplitter* self, const nb::bytes& charsmap, Splitting splitting, bool dummy_prefix,
             bool squeeze, bool split_digits, const nb::list& symbols) {
            new (self) WordSplitter(to_normalizer(charsmap),
                                    {splitting, dummy_prefix, squeeze, split_digits},
                                    to_strings(symbols));
          },
          "charsmap"_a, "splitting"_a, "dummy_prefix"_a, "squeeze"_a, "split_digits"_a,
          "symbols"_a)
      .def(
          "normalize",
          [](const WordSplitter& splitter, nb::str text) {
            Texts texts;
            return to_str(splitter.normalize(texts.add(text)));
          },
          "text"_a)
      .def("words", &words_of, "text"_a);

  nb::enum_<CharacterClass>(module, "CharacterClass")
      .value("letter", CharacterClass::letter)
      .value("symbol", CharacterClass::symbol)
      .value("control", CharacterClass::control)
      .value("extend", CharacterClass::extend);

  module.def("character_runs", [] {
    std::vector<std::pair<uint32_t, CharacterClass>> runs;
    for (const auto& [first, kind] : character_runs()) runs.emplace_back(first, kind);
    return runs;
  });
  module.def("digit_zeros", [] {
    const std::vector<char32_t> zeros = digit_zeros();
    return std::vector<uint32_t>(zeros.begin(), zeros.end());
  });

  module.def(
      "grow_diag_final_and",
      [](nb::handle forward, nb::handle reverse) {
        std::vector<Link> both[2];
        const auto bad = [](const char* what) { throw std::invalid_argument(what); };
        append_links(forward, bad, both[0]);
        append_links(reverse, bad, both[1]);
        return grow_diag_final_and(both[0], both[1], Growth::passes);
      },
      "forward"_a, "reverse"_a);
}

}  // namespace pairpiece::bindings

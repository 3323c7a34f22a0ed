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
             bool squeeze, const nb::list& symbols) {
            new (self) WordSplitter(to_normalizer(charsmap), {splitting, dummy_prefix, squeeze},
                                    to_strings(symbols));
          },
          "charsmap"_a, "splitting"_a, "dummy_prefix"_a, "squeeze"_a, "symbols"_a)
      .def("normalize", &normalized, "text"_a)
      .def("words", &words_of, "text"_a);

  module.def(
      "grow_diag_final_and",
      [](nb::handle forward, nb::handle reverse) {
        std::vector<Link> both[2];
        const auto bad = [](const char* what) { throw std::invalid_argument(what); };
        append_links(forward, bad, both[0]);
        append_links(reverse, bad, both[1]);
        return grow_diag_final_and(both[0], both[1]);
      },
      "forward"_a, "reverse"_a);
}

}  // namespace pairpiece::bindings

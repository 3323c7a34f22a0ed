// What is learned from counts: the conditional model and the bigram model, and their options.

#include "bigram.hpp"
#include "bindings.hpp"
#include "conditional.hpp"
#include "conversions.hpp"

namespace pairpiece::bindings {

using namespace nb::literals;

void bind_models(nb::module_& module) {
  nb::enum_<Conditional>(module, "Conditional")
      .value("mixture", Conditional::mixture)
      .value("pooled", Conditional::pooled);

  nb::class_<LengthPenalty>(module, "LengthPenalty")
      .def(nb::init<double, double, double>(), "over"_a, "under"_a, "unlinked"_a);

  nb::class_<ConditionalOptions>(module, "ConditionalOptions")
      .def(nb::init<Conditional, bool, double, const LengthPenalty&, double, double>(),
           "conditional"_a, "evidence"_a, "smoothing"_a, "length_penalty"_a, "piece_penalty"_a,
           "inferred_piece_penalty"_a);

  nb::class_<ConditionalModel>(module, "ConditionalModel")
      .def(
          "__init__",
          [](ConditionalModel* self, const Array<uint64_t>& row_begin,
             const Array<uint32_t>& source, const Array<float>& count,
             const Array<double>& source_count, const Array<double>& base,
             const ConditionalOptions& options) {
            new (self) ConditionalModel({to_vector(row_begin), to_vector(source), to_vector(count)},
                                        to_vector(source_count), to_vector(base), options);
          },
          "row_begin"_a, "source"_a, "count"_a, "source_count"_a, "base"_a, "options"_a);

  nb::class_<BigramModel>(module, "BigramModel")
      .def(
          "__init__",
          [](BigramModel* self, const Array<uint64_t>& row_begin, const Array<uint32_t>& next,
             const Array<float>& count, const Array<double>& base, double smoothing) {
            new (self) BigramModel({to_vector(row_begin), to_vector(next), to_vector(count)},
                                   to_vector(base), smoothing);
          },
          "row_begin"_a, "next"_a, "count"_a, "base"_a, "smoothing"_a);
}

}  // namespace pairpiece::bindings

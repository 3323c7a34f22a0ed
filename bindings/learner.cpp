// Learning from pairs, step by step.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include "bindings.hpp"
#include "conversions.hpp"
#include "learner.hpp"

namespace pairpiece::bindings {

using namespace nb::literals;

namespace {

// Calls work(interrupted) with the interpreter unlocked; Ctrl-C stops it.
template <class Work>
auto run(Work work) {
  bool stopped = false;
  auto result = [&] {
    nb::gil_scoped_release unlocked;
    return work([&] {
      nb::gil_scoped_acquire locked;
      return stopped = stopped || PyErr_CheckSignals() != 0;
    });
  }();
  if (stopped) throw nb::python_error();
  return result;
}

void make_learner(Learner* self, const nb::list& words, const Array<uint64_t>& pair_begin,
                  const Array<double>& count, const Array<double>& expected,
                  const Array<uint64_t>& source_begin, const Array<uint32_t>& source,
                  const Array<uint32_t>& multiplicity, uint32_t sources,
                  const SeedOptions& seed_options, const LearnerOptions& options) {
  PairSet pairs{to_u32(words),           to_vector(pair_begin),   to_vector(count),
                to_vector(expected),     to_vector(source_begin), to_vector(source),
                to_vector(multiplicity), sources};
  pairs.check();
  Seeds seeds = run([&](const Interrupted& interrupted) {
    return find_seeds(pairs, seed_options, interrupted);
  });
  nb::gil_scoped_release unlocked;
  new (self) Learner(std::move(pairs), std::move(seeds), options);
}

double count(Learner& learner) {
  return *run([&](const Interrupted& interrupted) { return learner.count(interrupted); });
}

nb::list pieces(const Learner& learner) {
  nb::list out;
  for (const std::u32string& piece : learner.pieces())
    out.append(nb::steal(PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, piece.data(),
                                                   Py_ssize_t(piece.size()))));
  return out;
}

auto tied_uses(const Learner& learner) {
  Learner::Alternatives alternatives;
  Learner::Uses uses = run([&](const Interrupted& interrupted) {
    alternatives = learner.alternatives();
    return learner.tied_uses(alternatives, interrupted);
  });
  return std::make_tuple(to_array(std::move(uses.count)), to_array(std::move(uses.length_gain)),
                         to_array(std::move(alternatives.begin)),
                         to_array(std::move(alternatives.pieces)),
                         to_array(std::move(alternatives.split)));
}

auto best_counts(const Learner& learner, double over, double under, double unlinked,
                 double piece_penalty) {
  return to_array(run([&](const Interrupted& interrupted) {
    return learner.best_counts({over, under, unlinked}, piece_penalty, interrupted);
  }));
}

auto unigram_counts(const Learner& learner, const Array<double>& scores) {
  const std::vector<double> own = to_vector(scores);
  return to_array(run([&](const Interrupted& interrupted) {
    return learner.unigram_counts(own, interrupted);
  }));
}

void keep(Learner& learner, const Array<uint8_t>& flags) {
  const std::vector<uint8_t> own = to_vector(flags);
  nb::gil_scoped_release unlocked;
  learner.keep(own);
}

auto table(const Learner& learner) {
  const Table& table = learner.table();
  return std::make_tuple(to_array(table.row_begin), to_array(table.source), to_array(table.count));
}

}  // namespace

void bind_learner(nb::module_& module) {
  nb::enum_<Counting>(module, "Counting")
      .value("posterior", Counting::posterior)
      .value("printed", Counting::printed)
      .value("best", Counting::best);

  nb::class_<SeedOptions>(module, "SeedOptions")
      .def(
          "__init__",
          [](SeedOptions* self, uint32_t max_piece_length, double min_count, size_t max_seeds,
             double character_coverage, const nb::list& forbidden,
             const std::optional<nb::list>& allowed) {
            new (self) SeedOptions{max_piece_length, min_count, max_seeds, character_coverage,
                                   to_u32(forbidden), {}};
            if (allowed) self->allowed = to_u32(*allowed);
          },
          "max_piece_length"_a, "min_count"_a, "max_seeds"_a, "character_coverage"_a,
          "forbidden"_a, "allowed"_a.none());

  nb::class_<LearnerOptions>(module, "LearnerOptions")
      .def(nb::init<Conditional, Counting, double, double, const LengthPenalty&, bool, size_t>(),
           "conditional"_a, "counting"_a, "smoothing"_a, "base_offset"_a, "length_penalty"_a,
           "share_initial"_a, "threads"_a);

  nb::class_<Learner>(module, "Learner")
      .def("__init__", &make_learner, "words"_a, "pair_begin"_a, "count"_a, "expected"_a,
           "source_begin"_a, "source"_a, "multiplicity"_a, "sources"_a, "seeds"_a, "options"_a)
      .def("table_bytes", &Learner::table_bytes)
      .def("initialize",
           [](Learner& learner) {
             run([&](const Interrupted& interrupted) { return learner.initialize(interrupted); });
           })
      .def("count", &count)
      .def("log_table_prior", &Learner::log_table_prior)
      .def("table_entries", [](const Learner& learner) { return learner.table().count.size(); })
      .def("pieces", &pieces)
      .def("characters", &Learner::characters)
      .def("piece_counts", [](const Learner& learner) { return to_array(learner.piece_counts()); })
      .def("source_counts",
           [](const Learner& learner) { return to_array(learner.source_counts()); })
      .def("base", [](const Learner& learner) { return to_array(learner.base()); })
      .def("mutual_information",
           [](const Learner& learner) { return to_array(learner.mutual_information()); })
      .def("tied_uses", &tied_uses)
      .def("best_counts", &best_counts, "over"_a, "under"_a, "unlinked"_a, "piece_penalty"_a)
      .def("unigram_counts", &unigram_counts, "scores"_a)
      .def("keep", &keep, "flags"_a)
      .def("table", &table);

  module.def(
      "seed_bytes",
      [](const nb::list& words, uint32_t max_piece_length) {
        return seed_bytes(to_u32(words), max_piece_length);
      },
      "words"_a, "max_piece_length"_a);
}

}  // namespace pairpiece::bindings

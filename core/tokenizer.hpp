// Text in, ids out: the segmentation of every word of a text, and back to text.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bigram.hpp"
#include "conditional.hpp"
#include "scorers.hpp"
#include "vocabulary.hpp"
#include "word_cache.hpp"
#include "word_splitter.hpp"

namespace pairpiece {

// The tokens of one text.
struct Segmentation {
  std::vector<PieceId> ids;
  std::vector<uint32_t> words;          // the word of each token
  std::vector<CharacterRange> offsets;  // input characters, if the text has its origins
  double log_probability = 0;
};

// What segmentations are scored by: the scores of the vocabulary or a model.
struct Unigram {};
struct Conditioned {
  const ConditionalModel* model;
  const Conditions* conditions;
};
using Model = std::variant<Unigram, const BigramModel*, Conditioned>;

// How a segmentation is drawn: by probabilities with an exponent.
struct Draw {
  double exponent;
  uint64_t seed;
};

// Co-occurrences of the tokens of a text with those of its source (docs/algorithm.md, eq. 20).
struct LinkCounts {
  std::vector<double> counts;  // c(t, s), by source token, then by id
  std::vector<double> sums;    // of c(t', s), by source token
};

class Tokenizer {
 public:
  // Scratch memory and caches of one thread.
  struct Worker;

  Tokenizer(Normalizer normalizer, const SplitOptions& options, Vocabulary vocabulary);
  ~Tokenizer();

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const WordSplitter& splitter() const { return splitter_; }

  // A model with what the words of a text are to be conditioned on, which the worker keeps: the links
  // that are given, or those found with the model itself, or the whole sentence.
  Conditioned condition(const PreparedText& text, const ConditionalModel& model,
                        const Pairing& pairing, Worker& worker) const;

  // Appends the ids of the best segmentation.  Here and below, without bytes runs of unknown tokens
  // are one.
  void encode(const PreparedText& text, const Model& model, Worker& worker,
              std::vector<PieceId>& ids) const;

  // The best segmentation, or one that is drawn; up to `count` of them, best first.  A bigram model
  // knows only the best.  Throws std::invalid_argument where these would take too much memory.
  Segmentation segment(const PreparedText& text, const Model& model, Worker& worker,
                       const std::optional<Draw>& draw = {}) const {
    return located(text, choose(text, model, worker, draw));
  }
  std::vector<Segmentation> segment_best(const PreparedText& text, const Model& model, size_t count,
                                         Worker& worker) const;

  // t' of the sums are the pieces that are substrings of the words of the text.
  LinkCounts link_counts(const PreparedText& text, const ConditionalModel& model,
                         std::span<const int32_t> source, std::span<const PieceId> ids) const;

  std::string decode(std::span<const PieceId> ids) const;

  // A worker to use and give back; safe from any thread, and after a fork.
  std::unique_ptr<Worker> borrow() const;
  void give_back(std::unique_ptr<Worker> worker) const;

 private:
  // Calls use(scorer, cache, parts) for a model.
  template <class Use>
  auto with_scorer(const PreparedText& text, const Model& model, Worker& worker, Use use) const;
  // Ids and log-probabilities; `located` adds the rest.
  Segmentation choose(const PreparedText& text, const Model& model, Worker& worker,
                      const std::optional<Draw>& draw) const;
  void merge_unknown(std::vector<PieceId>& ids, size_t begin) const;
  // With words and offsets, and with unknown tokens merged.
  Segmentation located(const PreparedText& text, Segmentation segmentation) const;

  Vocabulary vocabulary_;
  WordSplitter splitter_;
  static constexpr size_t kSpares = 16;
  mutable std::array<std::atomic<Worker*>, kSpares> spares_{};
};

struct Tokenizer::Worker {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  using PlainCache = WordCache<8, 8>;  // made in no time, and soon full
  using ModelCache = PlainCache;
#else
  // Five and eight megabytes.  Keys of paired encoding hold the sources as well.
  using PlainCache = WordCache<size_t{1} << 17, size_t{1} << 14>;
  using ModelCache = WordCache<size_t{1} << 17, size_t{1} << 16>;
#endif

  // What belongs to one model.
  struct ModelMemory {
    uint64_t identity;
    ModelCache cache;
    ConditionalScorer::Memory conditional;
  };
  ModelMemory& memory_of(uint64_t identity) {
    if (!model_memory || model_memory->identity != identity)
      model_memory.emplace().identity = identity;
    return *model_memory;
  }

  PreparedText text;
  Conditions conditions;
  PlainCache cache;
  std::optional<ModelMemory> model_memory;
  std::vector<uint64_t> hashes;  // of the words' keys
  std::vector<PreparedText::Word> parts;
  Vocabulary::Scratch unigram;
  ScoredWord scored;
};

}  // namespace pairpiece

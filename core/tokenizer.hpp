// Text in, ids out: normalisation, words, and the segmentation of every word.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bigram.hpp"
#include "conditional.hpp"
#include "normalizer.hpp"
#include "vocabulary.hpp"
#include "word_cache.hpp"
#include "words.hpp"

namespace pairpiece {

// A text cut into words.
struct PreparedText {
  struct Word {
    uint32_t begin, end;  // bytes of `text`
    PieceId symbol;       // the user-defined piece it is, or -1
  };
  std::string text;
  std::vector<Word> words;
  // For each byte of `text` the input characters it comes from; empty unless asked for.
  std::vector<uint32_t> origins, ends;

  std::string_view word(size_t i) const {
    return std::string_view(text).substr(words[i].begin, words[i].end - words[i].begin);
  }
  void clear() {
    text.clear();
    words.clear();
    origins.clear();
    ends.clear();
  }
};

// The tokens of one text.
struct Segmentation {
  std::vector<PieceId> ids;
  std::vector<uint32_t> words;                         // the word of each token
  std::vector<std::pair<uint32_t, uint32_t>> offsets;  // input characters of each token
  double log_probability = 0;
};

// How a word is scored and which of its segmentations is wanted.
struct Request {
  enum class Choice : uint8_t { best, sample };
  Choice choice = Choice::best;
  double alpha = 1;   // exponent of the probabilities sampled from
  uint64_t seed = 0;
};

class Tokenizer {
 public:
  // Scratch memory and caches of one thread.
  struct Worker;

  // With `dummy_prefix` a space is put before every text, and taken away again by decoding; with
  // `squeeze` a text loses spaces at its ends and all but one between words.
  Tokenizer(Normalizer normalizer, Splitting splitting, bool dummy_prefix, bool squeeze,
            Vocabulary vocabulary);
  ~Tokenizer();

  const Vocabulary& vocabulary() const { return vocabulary_; }
  Splitting splitting() const { return splitting_; }

  std::string normalize(std::string_view text) const;
  // With `maps`, fills the maps to input characters too.
  void prepare(std::string_view text, bool maps, PreparedText& out) const;
  // Replaces the words of a prepared text by others that cover it; user-defined symbols must stay
  // words of their own.  False, and the text unchanged, if they do not fit.
  bool split_again(std::span<const std::string_view> words, PreparedText& text) const;

  // Appends the ids of the best segmentation under the target-only scores; of a text as it was given
  // with runs of unknown tokens merged.
  void encode(const PreparedText& text, Worker& worker, std::vector<PieceId>& ids) const;
  void encode(std::string_view text, Worker& worker, std::vector<PieceId>& ids) const;
  // The same under the bigram model.
  void encode(const PreparedText& text, const BigramModel& model, Worker& worker,
              std::vector<PieceId>& ids) const;

  // Conditions found with the model itself.
  void infer_conditions(const PreparedText& text, const ConditionalModel& model,
                        const SourceSentence& source, Worker& worker, Conditions& out) const;
  // The same conditioned on a source.
  void encode(const PreparedText& text, const ConditionalModel& model, const Conditions& conditions,
              Worker& worker, std::vector<PieceId>& ids) const;

  // A segmentation with its probability, under the target-only scores (no model) or conditioned on a
  // source.
  Segmentation segment(const PreparedText& text, const ConditionalModel* model,
                       const Conditions& conditions, const Request& request, Worker& worker) const;
  // The same under the bigram model.
  Segmentation segment(const PreparedText& text, const BigramModel& model, Worker& worker) const;
  std::vector<Segmentation> segment_best(const PreparedText& text, const ConditionalModel* model,
                                         const Conditions& conditions, size_t count,
                                         Worker& worker) const;

  // Words and offsets of tokens that cover `text`.
  void locate(const PreparedText& text, Segmentation& segmentation) const;

  // Merges runs of unknown tokens from `begin` on into one, which a vocabulary without bytes needs.
  void merge_unknown(std::vector<PieceId>& ids, size_t begin) const;
  void merge_unknown(Segmentation& segmentation) const;

  std::string decode(std::span<const PieceId> ids) const;

  // A worker to use and give back; safe from any thread, and after a fork.
  std::unique_ptr<Worker> borrow() const;
  void give_back(std::unique_ptr<Worker> worker) const;

 private:
  // Calls visit(part, symbol) for the parts of a text that are segmented as one: words if there is a
  // model, else what the summation of the vocabulary says.
  template <class Visit>
  void each_part(const PreparedText& text, const ConditionalModel* model, Visit visit) const;
  // Calls visit(part, edges) and visit_symbol(id), in order, for the best target-only segmentation.
  template <class Visit, class VisitSymbol>
  void best_parts(const PreparedText& text, Worker& worker, Visit visit,
                  VisitSymbol visit_symbol) const;
  // Removes the spaces from `from` on that `squeeze` does not let stand; a space at the end stays.
  static void squeeze(PreparedText& text, size_t from, bool maps);

  // Makes the keys of all words in the cache of the model, empty where they do not fit.
  static void make_keys(const PreparedText& text, const Conditions& conditions, Worker& worker);
  // Finds the edges of all words, for the worker to keep.
  void find_edges(const PreparedText& text, Worker& worker) const;
  // Loads edges, log-weights and log prior of a word into the worker.
  void load(std::string_view word, Worker& worker) const;
  void load(std::string_view word, size_t number, const ConditionalModel& model,
            const Conditions& conditions, Worker& worker) const;
  void load(std::string_view part, size_t number, const ConditionalModel* model,
            const Conditions& conditions, Worker& worker) const;

  Normalizer normalizer_;
  Splitting splitting_;
  bool dummy_prefix_;
  bool squeeze_;
  Vocabulary vocabulary_;
  static constexpr size_t kSpares = 16;
  mutable std::array<std::atomic<Worker*>, kSpares> spares_{};
};

struct Tokenizer::Worker {
  // Five and eight megabytes.  Keys of paired encoding hold the sources as well.
  using PlainCache = WordCache<size_t{1} << 17, size_t{1} << 14>;
  using ModelCache = WordCache<size_t{1} << 17, size_t{1} << 16>;

  PreparedText text;
  std::vector<PieceId> ids;
  Vocabulary::Scratch scratch;
  PlainCache cache;
  std::vector<uint64_t> hashes;  // of the words, for the cache
  uint64_t model = 0;  // whose results the next two hold
  std::optional<ModelCache> model_cache;
  ConditionalModel::Scratch conditional;
  Conditions conditions;
  std::string keys;                // of the words of a text in that cache, one after the other
  std::vector<uint32_t> key_ends;

  std::string_view key(size_t word) const {
    return std::string_view(keys).substr(key_ends[word], key_ends[word + 1] - key_ends[word]);
  }

  // The cache for a model's results, emptied when the model is another one than before.
  ModelCache& cache_of(uint64_t wanted) {
    if (model != wanted || !model_cache) {
      model = wanted;
      model_cache.emplace();
      conditional = {};
    }
    return *model_cache;
  }
  Lattice lattice;
  Path path;
  std::vector<Edge> edges;
  WordEdges word_edges;
  std::vector<double> log_weight, log_prior;
};

}  // namespace pairpiece

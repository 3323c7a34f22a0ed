#include "tokenizer.hpp"

#include <algorithm>

namespace pairpiece {
namespace {

// Numbers in [0, 1) that depend on the seed and the word alone (the SplitMix64 generator).
class Uniform {
 public:
  Uniform(uint64_t seed, uint64_t stream) : state_(seed ^ (stream + 1) * 0xD1342543DE82EF95u) {
    (*this)();
  }
  double operator()() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return double((z ^ z >> 31) >> 11) * 0x1p-53;
  }

 private:
  uint64_t state_;
};

void find_edges(const Vocabulary& vocabulary, const PreparedText& text, WordEdges& found) {
  for (const PreparedText::Word& word : text.words) {
    const bool is_symbol = word.symbol >= 0;
    if (!is_symbol) vocabulary.append_edges(text.of(word), found.edges);
    found.begin.push_back(uint32_t(found.edges.size()));
    found.lengths.push_back(is_symbol ? 0 : word.end - word.begin);
  }
}

}  // namespace

Tokenizer::Tokenizer(Normalizer normalizer, const SplitOptions& options, Vocabulary vocabulary)
    : vocabulary_(std::move(vocabulary)),
      splitter_(std::move(normalizer), options, vocabulary_.symbols()) {}

Tokenizer::~Tokenizer() {
  for (auto& spare : spares_) delete spare.load();
}

std::unique_ptr<Tokenizer::Worker> Tokenizer::borrow() const {
  for (auto& spare : spares_)
    if (Worker* worker = spare.exchange(nullptr)) return std::unique_ptr<Worker>(worker);
  return std::make_unique<Worker>();
}

void Tokenizer::give_back(std::unique_ptr<Worker> worker) const {
  for (auto& spare : spares_) {
    Worker* none = nullptr;
    if (spare.compare_exchange_strong(none, worker.get())) {
      (void)worker.release();  // it is the array's now
      return;
    }
  }
}

Tokenizer::Parts Tokenizer::parts_of(const PreparedText& text, Worker& worker) const {
  const Summation summation = vocabulary_.summation();
  if (summation == Summation::words) return text.words;
  worker.parts.clear();
  for (const PreparedText::Word& word : text.words) {
    const bool goes_on = !worker.parts.empty() && worker.parts.back().symbol < 0 &&
                         word.symbol < 0 &&
                         (summation != Summation::spaces || text.text[word.begin] != ' ');
    if (goes_on)
      worker.parts.back().end = word.end;
    else
      worker.parts.push_back(word);
  }
  return worker.parts;
}

template <class Use>
auto Tokenizer::with_scorer(const PreparedText& text, const Model& model, Worker& worker,
                            Use use) const {
  if (const auto* paired = std::get_if<Conditioned>(&model)) {
    auto& memory = worker.memory_of(paired->model->identity());
    ConditionalScorer scorer(vocabulary_, *paired->model, *paired->conditions, text,
                             memory.conditional, worker.scored);
    return use(scorer, memory.cache, Parts(text.words));
  }
  if (const auto* bigram = std::get_if<const BigramModel*>(&model)) {
    BigramScorer scorer(vocabulary_, **bigram, worker.scored);
    return use(scorer, worker.memory_of((*bigram)->identity()).cache, Parts(text.words));
  }
  UnigramScorer scorer(vocabulary_, worker.unigram, worker.scored);
  return use(scorer, worker.cache, parts_of(text, worker));
}

void Tokenizer::find_conditions(const PreparedText& text, const ConditionalModel& model,
                                const Pairing& pairing, Worker& worker, Conditions& out) const {
  out.edges.clear();
  if (pairing.links) {
    out.set_links(pairing.source, *pairing.links, text.words.size(), false);
    return;
  }
  find_edges(vocabulary_, text, out.edges);
  if (pairing.whole_sentence) {
    out.set_whole_sentence(pairing.source);
    return;
  }
  auto& scratch = worker.memory_of(model.identity()).conditional.scratch;
  const auto links = model.infer_links(pairing.source, out.edges, scratch);
  out.set_links(pairing.source, links, text.words.size(), true);
}

void Tokenizer::encode(const PreparedText& text, const Model& model, Worker& worker,
                       std::vector<PieceId>& ids) const {
  const size_t begin = ids.size();
  with_scorer(text, model, worker, [&](auto& scorer, auto& cache, Parts parts) {
    worker.hashes.clear();
    for (size_t i = 0; i < parts.size(); ++i)
      worker.hashes.push_back(cache.hash(scorer.key(i, text.of(parts[i]))));
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::string_view word = text.of(parts[i]);
      if (parts[i].symbol >= 0) {
        scorer.pass(word);
        ids.push_back(parts[i].symbol);
        continue;
      }
      const std::string_view key = scorer.key(i, word);
      if (cache.append(worker.hashes[i], key, ids)) continue;
      const size_t before = ids.size();
      append_ids(word, scorer.best(i, word), ids);
      cache.remember(worker.hashes[i], key, std::span(ids).subspan(before));
    }
  });
  merge_unknown(ids, begin);
}

Segmentation Tokenizer::best_of(const PreparedText& text, const Model& model,
                                Worker& worker) const {
  Segmentation out;
  with_scorer(text, model, worker, [&](auto& scorer, auto&, Parts parts) {
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::string_view part = text.of(parts[i]);
      if (parts[i].symbol >= 0) {
        scorer.pass(part);
        out.ids.push_back(parts[i].symbol);
        continue;
      }
      append_ids(part, scorer.best(i, part), out.ids);
      scorer.add_log_probability(out.log_probability);
    }
  });
  return out;
}

Segmentation Tokenizer::segment(const PreparedText& text, const Model& model,
                                Worker& worker) const {
  Segmentation out = best_of(text, model, worker);
  locate(text, out);
  return out;
}

Segmentation Tokenizer::sample(const PreparedText& text, const Model& model, double alpha,
                               uint64_t seed, Worker& worker) const {
  return with_scorer(text, model, worker, [&]<class S>(S& scorer, auto&, Parts parts) {
    if constexpr (LatticeScorer<S>) {
      Segmentation out;
      for (size_t i = 0; i < parts.size(); ++i) {
        const std::string_view part = text.of(parts[i]);
        if (parts[i].symbol >= 0) {
          out.ids.push_back(parts[i].symbol);
          continue;
        }
        ScoredWord& scored = scorer.load(i, part);
        auto log_weight = scored.log_weight;
        auto log_prior = scored.log_prior;
        for (double& w : log_weight) w *= alpha;
        for (double& p : log_prior) p *= alpha;
        scored.lattice.sample(log_weight, log_prior, Uniform(seed, i), scored.path);
        scored.take_best();
        append_ids(part, scored.best, out.ids);
        for (const uint32_t e : scored.path.edges) out.log_probability += scored.log_probability(e);
      }
      locate(text, out);
      return out;
    } else {
      return segment(text, model, worker);
    }
  });
}

// Words are independent: the best whole texts are among the combinations of the best words.
template <LatticeScorer S>
std::vector<Segmentation> Tokenizer::best_combinations(const PreparedText& text, S& scorer,
                                                       Parts parts, size_t count) const {
  struct Combination {
    double score;
    size_t beginning, path;
  };
  std::vector<Segmentation> found(1);
  std::vector<double> score(1, 0.0);
  std::vector<Combination> combinations;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string_view part = text.of(parts[i]);
    if (parts[i].symbol >= 0) {
      for (Segmentation& beginning : found) beginning.ids.push_back(parts[i].symbol);
      continue;
    }
    ScoredWord& scored = scorer.load(i, part);
    const auto paths = scored.lattice.best_paths(scored.log_weight, scored.log_prior, count);
    combinations.clear();
    for (size_t a = 0; a < found.size(); ++a)
      for (size_t b = 0; b < paths.size() && (a + 1) * (b + 1) <= count; ++b)
        combinations.push_back({score[a] + paths[b].score, a, b});
    std::stable_sort(combinations.begin(), combinations.end(),
                     [](const auto& x, const auto& y) { return x.score > y.score; });
    if (combinations.size() > count) combinations.resize(count);
    std::vector<Segmentation> longer;
    score.clear();
    for (const Combination& combination : combinations) {
      Segmentation& next = longer.emplace_back(found[combination.beginning]);
      score.push_back(combination.score);
      for (const uint32_t e : paths[combination.path].edges) {
        vocabulary_.append_ids(part, scored.edges[e], next.ids);
        next.log_probability += scored.log_probability(e);
      }
    }
    found = std::move(longer);
  }
  return found;
}

std::vector<Segmentation> Tokenizer::segment_best(const PreparedText& text, const Model& model,
                                                  size_t count, Worker& worker) const {
  auto found = with_scorer(text, model, worker, [&]<class S>(S& scorer, auto&, Parts parts) {
    std::vector<Segmentation> none;
    if constexpr (LatticeScorer<S>) return best_combinations(text, scorer, parts, count);
    else return none;
  });
  const bool by_words = vocabulary_.summation() == Summation::words;
  if (found.empty() || (std::holds_alternative<Unigram>(model) && !by_words)) {
    // Other arithmetic may have another favourite among segmentations that are as good.
    Segmentation best = best_of(text, model, worker);
    std::erase_if(found, [&](const Segmentation& other) { return other.ids == best.ids; });
    if (found.size() == count) found.pop_back();
    found.insert(found.begin(), std::move(best));
  }
  for (Segmentation& segmentation : found) locate(text, segmentation);
  return found;
}

LinkCounts Tokenizer::link_counts(const PreparedText& text, const ConditionalModel& model,
                                  std::span<const int32_t> source,
                                  std::span<const PieceId> ids) const {
  std::vector<Edge> edges;
  for (const PreparedText::Word& word : text.words)
    if (word.symbol < 0) vocabulary_.append_edges(text.of(word), edges);
  std::vector<uint32_t> pieces;
  for (const Edge& edge : edges)
    if (edge.piece != kUnknownPiece) pieces.push_back(edge.piece);
  std::sort(pieces.begin(), pieces.end());
  pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
  LinkCounts out;
  for (const int32_t s : source) {
    double& sum = out.sums.emplace_back(0.0);
    for (const uint32_t piece : pieces) sum += model.count(piece, s);
    for (const PieceId id : ids) out.counts.push_back(model.count(uint32_t(id), s));
  }
  return out;
}

void Tokenizer::merge_unknown(std::vector<PieceId>& ids, size_t begin) const {
  if (vocabulary_.has_bytes()) return;
  const auto both_unknown = [&](PieceId a, PieceId b) {
    return a == b && a == vocabulary_.unknown();
  };
  ids.erase(std::unique(ids.begin() + ptrdiff_t(begin), ids.end(), both_unknown), ids.end());
}

void Tokenizer::locate(const PreparedText& text, Segmentation& segmentation) const {
  uint32_t word = 0;
  uint32_t position = 0;  // byte of text.text
  bool after_unknown = false;
  for (const PieceId id : segmentation.ids) {
    while (word < text.words.size() && position >= text.words[word].end) ++word;
    const uint32_t begin = position;
    const bool is_unknown = vocabulary_.type(id) == PieceType::unknown;
    if (vocabulary_.type(id) == PieceType::byte)
      position += 1;
    else if (is_unknown)
      position += uint32_t(sequence_length(text.text[position]));
    else
      position += uint32_t(vocabulary_.piece(id).size());
    const bool merged = is_unknown && after_unknown;
    after_unknown = is_unknown;
    if (!merged) segmentation.words.push_back(word);
    if (text.origins.empty()) continue;
    if (!merged) segmentation.offsets.emplace_back(text.origins[begin], 0);
    segmentation.offsets.back().second = text.ends[position - 1];
  }
  merge_unknown(segmentation.ids, 0);
}

std::string Tokenizer::decode(std::span<const PieceId> ids) const {
  std::string text = vocabulary_.decode(ids);
  const SplitOptions& options = splitter_.options();
  if ((!options.dummy_prefix && !options.squeeze) || text.empty() || text[0] != ' ') return text;
  // The space is the prefix, unless it belongs to what stands for an unknown token.
  const auto first = std::find_if(ids.begin(), ids.end(), [&](PieceId id) {
    return vocabulary_.type(id) != PieceType::control;
  });
  if (vocabulary_.type(*first) != PieceType::unknown) text.erase(0, 1);
  return text;
}

}  // namespace pairpiece

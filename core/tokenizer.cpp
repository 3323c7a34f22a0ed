#include "tokenizer.hpp"

#include <algorithm>
#include <functional>
#include <ranges>
#include <stdexcept>

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

// What is segmented as one: words, or longer parts of a text.
using Parts = std::span<const PreparedText::Word>;

// The one loop over the parts of a text: calls add_symbol(id) for user-defined symbols and
// add_part(i, part) for all else.
template <Scorer S, class AddSymbol, class AddPart>
void each_part(const PreparedText& text, Parts parts, S& scorer, AddSymbol add_symbol,
               AddPart add_part) {
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string_view part = text.of(parts[i]);
    if (parts[i].symbol < 0) {
      add_part(i, part);
    } else {
      scorer.pass(part);
      add_symbol(PieceId(parts[i].symbol));
    }
  }
}

// Words, or longer parts if scores are added up over these.
Parts parts_of(const PreparedText& text, Summation summation, Tokenizer::Worker& worker) {
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

// What several segmentations of a text may take: bytes of text for all of them, and beginnings of
// segmentations of one part.
constexpr size_t kMostBytes = size_t{1} << 24;
constexpr size_t kMostBeginnings = size_t{1} << 25;

void check_alternatives(size_t count, size_t needed, size_t most) {
  if (needed > most)
    throw std::invalid_argument(std::to_string(count) +
                                " segmentations of so long a text would take too much memory: ask "
                                "for fewer, or split the text");
}

// Words are independent: the best whole texts are among the combinations of the best words.
template <LatticeScorer S>
std::vector<Segmentation> best_combinations(const Vocabulary& vocabulary, const PreparedText& text,
                                            S& scorer, Parts parts, size_t count) {
  struct Beginning {
    double score, log_probability;
    size_t before;      // which beginning it continues
    size_t begin, end;  // the ids it adds
  };
  std::vector<Beginning> all{{0, 0, 0, 0, 0}};
  std::vector<PieceId> ids;
  size_t first = 0;  // of those there are for the text so far, best first
  std::vector<std::pair<size_t, size_t>> ids_of;  // each path
  const auto add_symbol = [&](PieceId symbol) {
    const size_t last = all.size();
    ids.push_back(symbol);
    for (size_t i = first; i < last; ++i)
      all.push_back({all[i].score, all[i].log_probability, i, ids.size() - 1, ids.size()});
    first = last;
  };
  each_part(text, parts, scorer, add_symbol, [&](size_t i, std::string_view part) {
    ScoredWord& scored = scorer.load(i, part);
    check_alternatives(count, count * (part.size() + 1) * scored.log_prior.size(), kMostBeginnings);
    auto paths = scored.lattice.best_paths(scored.log_weight, scored.log_prior, count);
    const size_t last = all.size();
    // Until they are sorted `begin` is the path.
    for (size_t a = 0; a < last - first; ++a)
      for (size_t b = 0; b < paths.size() && (a + 1) * (b + 1) <= count; ++b)
        all.push_back({all[first + a].score + paths[b].score, 0, first + a, b, 0});
    std::ranges::stable_sort(std::ranges::subrange(all.begin() + ptrdiff_t(last), all.end()),
                             std::greater(), &Beginning::score);
    if (all.size() - last > count) all.resize(last + count);
    ids_of.assign(paths.size(), {0, 0});
    for (size_t k = last; k < all.size(); ++k) {
      Beginning& longer = all[k];
      auto& [begin, end] = ids_of[longer.begin];
      std::swap(scored.path, paths[longer.begin]);
      longer.log_probability = all[longer.before].log_probability;
      scored.add_log_probability(longer.log_probability);
      if (end == 0) {
        scored.take_path();
        begin = ids.size();
        vocabulary.append_ids(part, scored.segmentation, ids);
        end = ids.size();
      }
      std::swap(scored.path, paths[longer.begin]);
      longer.begin = begin;
      longer.end = end;
    }
    first = last;
  });
  std::vector<Segmentation> found;
  std::vector<size_t> chosen;
  for (size_t i = first; i < all.size(); ++i) {
    chosen.clear();
    for (size_t k = i; k > 0; k = all[k].before) chosen.push_back(k);
    Segmentation& out = found.emplace_back();
    for (const size_t k : std::views::reverse(chosen))
      out.ids.insert(out.ids.end(), ids.begin() + ptrdiff_t(all[k].begin),
                     ids.begin() + ptrdiff_t(all[k].end));
    out.log_probability = all[i].log_probability;
  }
  return found;
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
  return use(scorer, worker.cache, parts_of(text, vocabulary_.summation(), worker));
}

Conditioned Tokenizer::condition(const PreparedText& text, const ConditionalModel& model,
                                 const Pairing& pairing, Worker& worker) const {
  Conditions& out = worker.conditions;
  out.edges.clear();
  if (!pairing.links) find_edges(vocabulary_, text, out.edges);
  if (pairing.links) {
    out.set_links(pairing.source, *pairing.links, text.words.size(), false);
  } else if (pairing.whole_sentence) {
    out.set_whole_sentence(pairing.source);
  } else {
    auto& scratch = worker.memory_of(model.identity()).conditional.scratch;
    const auto links = model.infer_links(pairing.source, out.edges, scratch);
    out.set_links(pairing.source, links, text.words.size(), true);
  }
  return {&model, &out};
}

void Tokenizer::encode(const PreparedText& text, const Model& model, Worker& worker,
                       std::vector<PieceId>& ids) const {
  const size_t begin = ids.size();
  with_scorer(text, model, worker, [&](auto& scorer, auto& cache, Parts parts) {
    auto& hashes = worker.hashes;
    hashes.clear();
    for (size_t i = 0; i < parts.size(); ++i)
      hashes.push_back(cache.hash(scorer.key(i, text.of(parts[i]))));
    const auto add_symbol = [&](PieceId symbol) { ids.push_back(symbol); };
    each_part(text, parts, scorer, add_symbol, [&](size_t i, std::string_view part) {
      const std::string_view key = scorer.key(i, part);
      if (cache.append(hashes[i], key, ids)) return;
      const size_t before = ids.size();
      vocabulary_.append_ids(part, scorer.best(i, part), ids);
      cache.remember(hashes[i], key, std::span(ids).subspan(before));
    });
  });
  merge_unknown(ids, begin);
}

Segmentation Tokenizer::choose(const PreparedText& text, const Model& model, Worker& worker,
                               const std::optional<Draw>& draw) const {
  Segmentation out;
  with_scorer(text, model, worker, [&]<class S>(S& scorer, auto&, Parts parts) {
    const auto add_symbol = [&](PieceId symbol) { out.ids.push_back(symbol); };
    each_part(text, parts, scorer, add_symbol, [&](size_t i, std::string_view part) {
      if constexpr (LatticeScorer<S>) {
        if (draw) {
          ScoredWord& scored = scorer.load(i, part);
          scored.draw(draw->exponent, Uniform(draw->seed, i));
          vocabulary_.append_ids(part, scored.segmentation, out.ids);
          scored.add_log_probability(out.log_probability);
          return;
        }
      }
      vocabulary_.append_ids(part, scorer.best(i, part), out.ids);
      scorer.add_log_probability(out.log_probability);
    });
  });
  return out;
}

std::vector<Segmentation> Tokenizer::segment_best(const PreparedText& text, const Model& model,
                                                  size_t count, Worker& worker) const {
  check_alternatives(count, count * text.text.size(), kMostBytes);
  auto found = with_scorer(text, model, worker, [&]<class S>(S& scorer, auto&, Parts parts) {
    std::vector<Segmentation> none;
    if constexpr (LatticeScorer<S>) return best_combinations(vocabulary_, text, scorer, parts, count);
    else return none;
  });
  const bool exact =
      std::holds_alternative<Unigram>(model) && vocabulary_.summation() == Summation::words;
  if (!exact) {
    // Other arithmetic may have another favourite among segmentations that are as good.
    Segmentation best = choose(text, model, worker, {});
    std::erase_if(found, [&](const Segmentation& other) { return other.ids == best.ids; });
    if (found.size() == count) found.pop_back();
    found.insert(found.begin(), std::move(best));
  }
  for (Segmentation& segmentation : found) segmentation = located(text, std::move(segmentation));
  return found;
}

LinkCounts Tokenizer::link_counts(const PreparedText& text, const ConditionalModel& model,
                                  std::span<const int32_t> source,
                                  std::span<const PieceId> ids) const {
  WordEdges found;
  find_edges(vocabulary_, text, found);
  std::vector<uint32_t> pieces;
  for (const Edge& edge : found.edges)
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

Segmentation Tokenizer::located(const PreparedText& text, Segmentation segmentation) const {
  uint32_t word = 0;
  uint32_t position = 0;  // byte of text.text
  bool after_unknown = false;
  for (const PieceId id : segmentation.ids) {
    while (word < text.words.size() && position >= text.words[word].end) ++word;
    const uint32_t begin = position;
    const PieceType type = vocabulary_.type(id);
    const bool is_unknown = type == PieceType::unknown;
    position += uint32_t(type == PieceType::byte ? 1
                         : is_unknown            ? sequence_length(text.text[position])
                                                 : vocabulary_.piece(id).size());
    const bool merged = is_unknown && after_unknown;
    after_unknown = is_unknown;
    if (!merged) segmentation.words.push_back(word);
    if (text.origins.empty()) continue;
    if (!merged) segmentation.offsets.emplace_back(text.origins[begin]);
    segmentation.offsets.back().second = text.origins[position - 1].second;
  }
  merge_unknown(segmentation.ids, 0);
  return segmentation;
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

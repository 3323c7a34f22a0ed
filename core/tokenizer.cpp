#include "tokenizer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

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

// Appends a key that is different for every word and condition, unless it would be too long.
void append_key(std::string_view word, const Condition& condition, bool inferred, size_t longest,
                std::string& out) {
  constexpr uint8_t kFraction = 0xFF, kInferred = 0x80;
  const size_t count = condition.sources.size();
  const double m = condition.expected;
  const uint8_t code = m < kFraction && m == std::floor(m) ? uint8_t(m) : kFraction;
  const size_t size = 2 + (code == kFraction ? sizeof m : 0) + 3 * count + word.size();
  if (size > longest) return;
  const size_t begin = out.size();
  out.resize(begin + size);
  char* to = out.data() + begin;
  *to++ = char(count | (inferred ? kInferred : 0));  // so long a key has fewer sources
  *to++ = char(code);
  if (code == kFraction) to = std::copy_n(reinterpret_cast<const char*>(&m), sizeof m, to);
  for (const int32_t source : condition.sources)
    for (int byte = 0; byte < 3; ++byte) *to++ = char(source >> 8 * byte);
  std::copy(word.begin(), word.end(), to);
}

}  // namespace

Tokenizer::Tokenizer(Normalizer normalizer, Splitting splitting, bool dummy_prefix, bool squeeze,
                     Vocabulary vocabulary)
    : normalizer_(std::move(normalizer)),
      splitting_(splitting),
      dummy_prefix_(dummy_prefix),
      squeeze_(squeeze),
      vocabulary_(std::move(vocabulary)) {}

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

std::string Tokenizer::normalize(std::string_view text) const {
  PreparedText prepared;
  prepare(text, false, prepared);
  std::string out;
  for (size_t i = 0; i < prepared.words.size(); ++i) out += prepared.word(i);
  if (dummy_prefix_ && !out.empty()) out.erase(0, 1);
  return out;
}

void Tokenizer::prepare(std::string_view text, bool maps, PreparedText& out) const {
  out.clear();
  uint32_t character = 0;
  if (dummy_prefix_ && !text.empty()) {
    out.text = ' ';
    if (maps) {
      out.origins.push_back(0);
      out.ends.push_back(0);
    }
  }
  size_t split_from = 0;  // a dummy prefix belongs to the first word
  size_t squeezed_to = out.text.size();
  const auto add_plain = [&](std::string_view plain) {
    if (splitting_ != Splitting::paper && !maps) {
      normalizer_.normalize(plain, out.text);
    } else if (splitting_ != Splitting::paper) {
      normalizer_.normalize(plain, out.text, character, out.origins, out.ends);
    } else {
      std::vector<uint32_t> origins, ends;
      std::string normalized;
      const bool after_space = !out.text.empty() && out.text.back() == ' ';
      if (maps) {
        normalizer_.normalize(plain, normalized, character, origins, ends);
        out.text += insert_paper_spaces(normalized, after_space, &origins, &ends);
        out.origins.insert(out.origins.end(), origins.begin(), origins.end());
        out.ends.insert(out.ends.end(), ends.begin(), ends.end());
      } else {
        normalizer_.normalize(plain, normalized);
        out.text += insert_paper_spaces(normalized, after_space, nullptr, nullptr);
      }
    }
    if (maps)
      for (size_t i = 0; i < plain.size(); ++character) i += decode_at(plain, i).bytes;
    const size_t from = split_from;
    if (squeeze_) squeeze(out, squeezed_to, maps);
    squeezed_to = out.text.size();
    each_word(std::string_view(out.text).substr(from), splitting_, [&](size_t begin, size_t end) {
      out.words.push_back({uint32_t(from + begin), uint32_t(from + end), -1});
    });
    split_from = out.text.size();
  };
  // A text that is nothing but spaces, or ends in one.
  const auto finish = [&] {
    if (!squeeze_ || out.words.empty() || out.words.back().symbol >= 0 || out.text.back() != ' ')
      return;
    out.text.pop_back();
    if (maps) {
      out.origins.pop_back();
      out.ends.pop_back();
    }
    if (--out.words.back().end == out.words.back().begin) out.words.pop_back();
  };
  if (!vocabulary_.has_user_defined()) {
    add_plain(text);
    finish();
    return;
  }
  // User-defined symbols are found in the text as it was given, longest first.
  size_t plain_begin = 0;
  for (size_t i = 0; i < text.size();) {
    size_t length = 0;
    PieceId symbol = -1;
    vocabulary_.user_defined().each_prefix(text.substr(i), [&](size_t bytes, PieceId id) {
      length = bytes;
      symbol = id;
    });
    if (symbol < 0) {
      i += decode_at(text, i).bytes;
      continue;
    }
    if (i > plain_begin) add_plain(text.substr(plain_begin, i - plain_begin));
    else if (split_from < out.text.size()) add_plain({});  // the dummy prefix alone
    const auto begin = uint32_t(out.text.size());
    out.text += text.substr(i, length);
    out.words.push_back({begin, begin + uint32_t(length), symbol});
    split_from = squeezed_to = out.text.size();
    if (maps) {
      const uint32_t first = character;
      for (size_t k = 0; k < length; ++character) k += decode_at(text, i + k).bytes;
      out.origins.insert(out.origins.end(), length, first);
      out.ends.insert(out.ends.end(), length, character);
    }
    i += length;
    plain_begin = i;
  }
  if (plain_begin < text.size()) add_plain(text.substr(plain_begin));
  finish();
}

void Tokenizer::squeeze(PreparedText& text, size_t from, bool maps) {
  size_t end = from;
  for (size_t i = from; i < text.text.size(); ++i) {
    if (text.text[i] == ' ' && (end == 0 || text.text[end - 1] == ' ')) continue;
    text.text[end] = text.text[i];
    if (maps) {
      text.origins[end] = text.origins[i];
      text.ends[end] = text.ends[i];
    }
    ++end;
  }
  text.text.resize(end);
  if (maps) {
    text.origins.resize(end);
    text.ends.resize(end);
  }
}

bool Tokenizer::split_again(std::span<const std::string_view> words, PreparedText& text) const {
  std::vector<PreparedText::Word> again;
  size_t position = 0;
  size_t old = 0;  // the word of `text` that `position` lies in
  for (const std::string_view word : words) {
    if (word.empty()) continue;
    while (old < text.words.size() && text.words[old].end <= position) ++old;
    if (old == text.words.size()) return false;
    const PreparedText::Word& within = text.words[old];
    const size_t end = position + word.size();
    if (end > within.end || (within.symbol >= 0 && position + word.size() != within.end) ||
        std::string_view(text.text).substr(position, word.size()) != word)
      return false;
    again.push_back({uint32_t(position), uint32_t(end), within.symbol});
    position = end;
  }
  if (position != text.text.size()) return false;
  text.words = std::move(again);
  return true;
}

template <class Visit>
void Tokenizer::each_part(const PreparedText& text, const ConditionalModel* model,
                          Visit visit) const {
  const Summation summation = model ? Summation::words : vocabulary_.summation();
  const auto goes_on = [&](const PreparedText::Word& next) {
    return next.symbol < 0 && summation != Summation::words &&
           (summation != Summation::spaces || text.text[next.begin] != ' ');
  };
  for (size_t i = 0; i < text.words.size();) {
    const PreparedText::Word& first = text.words[i];
    uint32_t end = first.end;
    for (++i; first.symbol < 0 && i < text.words.size() && goes_on(text.words[i]); ++i)
      end = text.words[i].end;
    visit(std::string_view(text.text).substr(first.begin, end - first.begin), first.symbol);
  }
}

template <class Visit, class VisitSymbol>
void Tokenizer::best_parts(const PreparedText& text, Worker& worker, Visit visit,
                           VisitSymbol visit_symbol) const {
  const bool one_sum = vocabulary_.summation() == Summation::singles;
  double sum = 0;
  each_part(text, nullptr, [&](std::string_view part, PieceId symbol) {
    if (symbol >= 0) {
      sum = float(sum + vocabulary_.symbol_score(part));
      visit_symbol(symbol);
      return;
    }
    sum = vocabulary_.segment(part, worker.scratch, one_sum ? sum : 0);
    visit(part, worker.scratch.path);
  });
}

void Tokenizer::encode(const PreparedText& text, Worker& worker, std::vector<PieceId>& ids) const {
  if (vocabulary_.summation() != Summation::words) {
    best_parts(
        text, worker,
        [&](std::string_view part, const std::vector<Edge>& path) {
          for (const Edge& edge : path) vocabulary_.append_ids(part, edge, ids);
        },
        [&](PieceId symbol) { ids.push_back(symbol); });
    return;
  }
  worker.hashes.clear();
  for (size_t i = 0; i < text.words.size(); ++i)
    worker.hashes.push_back(worker.cache.hash(text.word(i)));
  for (size_t i = 0; i < text.words.size(); ++i) {
    if (text.words[i].symbol >= 0) {
      ids.push_back(text.words[i].symbol);
      continue;
    }
    const std::string_view word = text.word(i);
    if (worker.cache.append(worker.hashes[i], word, ids)) continue;
    const size_t before = ids.size();
    vocabulary_.segment(word, worker.scratch);
    for (const Edge& edge : worker.scratch.path) vocabulary_.append_ids(word, edge, ids);
    worker.cache.remember(worker.hashes[i], word, std::span(ids).subspan(before));
  }
}

void Tokenizer::encode(std::string_view text, Worker& worker, std::vector<PieceId>& ids) const {
  prepare(text, false, worker.text);
  const size_t begin = ids.size();
  encode(worker.text, worker, ids);
  merge_unknown(ids, begin);
}

void Tokenizer::encode(const PreparedText& text, const BigramModel& model, Worker& worker,
                       std::vector<PieceId>& ids) const {
  Worker::ModelCache& cache = worker.cache_of(model.identity());
  for (size_t i = 0; i < text.words.size(); ++i) {
    if (text.words[i].symbol >= 0) {
      ids.push_back(text.words[i].symbol);
      continue;
    }
    const std::string_view word = text.word(i);
    const uint64_t hash = cache.hash(word);
    if (cache.append(hash, word, ids)) continue;
    const size_t before = ids.size();
    vocabulary_.find_edges(word, worker.edges);
    model.best(worker.edges, word.size(), worker.path);
    for (const uint32_t e : worker.path.edges) vocabulary_.append_ids(word, worker.edges[e], ids);
    cache.remember(hash, word, std::span(ids).subspan(before));
  }
}

void Tokenizer::find_edges(const PreparedText& text, Worker& worker) const {
  WordEdges& found = worker.word_edges;
  found.edges.clear();
  found.lengths.clear();
  found.begin.assign(1, 0);
  for (size_t i = 0; i < text.words.size(); ++i) {
    const bool is_symbol = text.words[i].symbol >= 0;
    if (!is_symbol) vocabulary_.append_edges(text.word(i), found.edges);
    found.begin.push_back(uint32_t(found.edges.size()));
    found.lengths.push_back(is_symbol ? 0 : uint32_t(text.word(i).size()));
  }
}

void Tokenizer::infer_conditions(const PreparedText& text, const ConditionalModel& model,
                                 const SourceSentence& source, Worker& worker,
                                 Conditions& out) const {
  worker.cache_of(model.identity());
  find_edges(text, worker);
  const auto links = model.infer_links(source, worker.word_edges, worker.conditional);
  out.set_links(source, links, text.words.size(), true);
}

void Tokenizer::make_keys(const PreparedText& text, const Conditions& conditions,
                          Worker& worker) {
  worker.keys.clear();
  worker.key_ends.assign(1, 0);
  worker.hashes.clear();
  for (size_t i = 0; i < text.words.size(); ++i) {
    append_key(text.word(i), conditions.of(i), conditions.inferred(),
               Worker::ModelCache::longest(), worker.keys);
    worker.key_ends.push_back(uint32_t(worker.keys.size()));
    worker.hashes.push_back(worker.model_cache->hash(worker.key(i)));
  }
}

void Tokenizer::encode(const PreparedText& text, const ConditionalModel& model,
                       const Conditions& conditions, Worker& worker,
                       std::vector<PieceId>& ids) const {
  Worker::ModelCache& cache = worker.cache_of(model.identity());
  // Within a whole sentence a word seldom comes back, so only conditions of a word are cached.
  const bool cached = !conditions.whole_sentence();
  if (cached) {
    make_keys(text, conditions, worker);
  } else {
    find_edges(text, worker);
    model.load(conditions.of(0), worker.word_edges.edges, worker.conditional);
  }
  for (size_t i = 0; i < text.words.size(); ++i) {
    if (text.words[i].symbol >= 0) {
      ids.push_back(text.words[i].symbol);
      continue;
    }
    const std::string_view word = text.word(i);
    const std::string_view key = cached ? worker.key(i) : std::string_view();
    const uint64_t hash = cached ? worker.hashes[i] : 0;
    if (cached && cache.append(hash, key, ids)) continue;
    load(word, i, model, conditions, worker);
    worker.lattice.reset(word.size(), worker.edges);
    worker.lattice.best(worker.log_weight, worker.log_prior, worker.path);
    const size_t before = ids.size();
    for (const uint32_t e : worker.path.edges) vocabulary_.append_ids(word, worker.edges[e], ids);
    cache.remember(hash, key, std::span(ids).subspan(before));
  }
}

void Tokenizer::load(std::string_view word, Worker& worker) const {
  vocabulary_.find_edges(word, worker.edges);
  worker.log_weight.resize(worker.edges.size());
  for (size_t e = 0; e < worker.edges.size(); ++e)
    worker.log_weight[e] = vocabulary_.score_of(worker.edges[e]);
  worker.log_prior.assign(1, 0.0);
}

void Tokenizer::load(std::string_view word, size_t number, const ConditionalModel& model,
                     const Conditions& conditions, Worker& worker) const {
  const Condition condition = conditions.of(number);
  if (conditions.whole_sentence()) {  // all words are loaded already
    const auto edges = worker.word_edges.of(number);
    worker.edges.assign(edges.begin(), edges.end());
    worker.log_prior.assign(1, 0.0);
  } else {
    vocabulary_.find_edges(word, worker.edges);
    model.load(condition, worker.edges, worker.conditional);
    model.log_prior(word.size(), condition, worker.log_prior);
  }
  worker.log_weight.resize(worker.edges.size());
  for (size_t e = 0; e < worker.edges.size(); ++e)
    worker.log_weight[e] = model.log_probability(worker.edges[e].piece, worker.conditional) -
                           model.piece_penalty(conditions);
}

void Tokenizer::load(std::string_view part, size_t number, const ConditionalModel* model,
                     const Conditions& conditions, Worker& worker) const {
  if (model)
    load(part, number, *model, conditions, worker);
  else
    load(part, worker);
}

Segmentation Tokenizer::segment(const PreparedText& text, const ConditionalModel* model,
                                const Conditions& conditions, const Request& request,
                                Worker& worker) const {
  if (model) worker.cache_of(model->identity());
  if (model && conditions.whole_sentence()) {
    find_edges(text, worker);
    model->load(conditions.of(0), worker.word_edges.edges, worker.conditional);
  }
  Segmentation out;
  if (!model && request.choice == Request::Choice::best) {
    best_parts(
        text, worker,
        [&](std::string_view part, const std::vector<Edge>& path) {
          for (const Edge& edge : path) {
            vocabulary_.append_ids(part, edge, out.ids);
            out.log_probability += vocabulary_.score_of(edge);
          }
        },
        [&](PieceId symbol) { out.ids.push_back(symbol); });
    return out;
  }
  size_t number = 0;
  each_part(text, model, [&](std::string_view part, PieceId symbol) {
    const size_t i = number++;
    if (symbol >= 0) {
      out.ids.push_back(symbol);
      return;
    }
    load(part, i, model, conditions, worker);
    worker.lattice.reset(part.size(), worker.edges);
    if (request.choice == Request::Choice::best) {
      worker.lattice.best(worker.log_weight, worker.log_prior, worker.path);
    } else {
      auto weight = worker.log_weight;
      auto prior = worker.log_prior;
      for (double& w : weight) w *= request.alpha;
      for (double& p : prior) p *= request.alpha;
      worker.lattice.sample(weight, prior, Uniform(request.seed, i), worker.path);
    }
    for (const uint32_t e : worker.path.edges) {
      vocabulary_.append_ids(part, worker.edges[e], out.ids);
      out.log_probability += worker.log_weight[e] + (model ? model->piece_penalty(conditions) : 0);
    }
  });
  return out;
}

Segmentation Tokenizer::segment(const PreparedText& text, const BigramModel& model,
                                Worker& worker) const {
  Segmentation out;
  for (size_t i = 0; i < text.words.size(); ++i) {
    if (text.words[i].symbol >= 0) {
      out.ids.push_back(text.words[i].symbol);
      continue;
    }
    vocabulary_.find_edges(text.word(i), worker.edges);
    model.best(worker.edges, text.word(i).size(), worker.path);
    out.log_probability += worker.path.score;
    for (const uint32_t e : worker.path.edges)
      vocabulary_.append_ids(text.word(i), worker.edges[e], out.ids);
  }
  return out;
}

std::vector<Segmentation> Tokenizer::segment_best(const PreparedText& text,
                                                  const ConditionalModel* model,
                                                  const Conditions& conditions, size_t count,
                                                  Worker& worker) const {
  if (model) worker.cache_of(model->identity());
  if (model && conditions.whole_sentence()) {
    find_edges(text, worker);
    model->load(conditions.of(0), worker.word_edges.edges, worker.conditional);
  }
  // Words are independent: the best whole texts are among the combinations of the best words.
  struct Partial {
    Segmentation tokens;
    double score = 0;
  };
  std::vector<Partial> partials(1);
  size_t number = 0;
  each_part(text, model, [&](std::string_view part, PieceId symbol) {
    const size_t i = number++;
    if (symbol >= 0) {
      for (Partial& partial : partials) partial.tokens.ids.push_back(symbol);
      return;
    }
    load(part, i, model, conditions, worker);
    worker.lattice.reset(part.size(), worker.edges);
    const auto paths = worker.lattice.best_paths(worker.log_weight, worker.log_prior, count);
    struct Combination {
      double score;
      size_t partial, path;
    };
    std::vector<Combination> combinations;
    for (size_t a = 0; a < partials.size(); ++a)
      for (size_t b = 0; b < paths.size() && (a + 1) * (b + 1) <= count; ++b)
        combinations.push_back({partials[a].score + paths[b].score, a, b});
    std::stable_sort(combinations.begin(), combinations.end(),
                     [](const auto& x, const auto& y) { return x.score > y.score; });
    if (combinations.size() > count) combinations.resize(count);
    std::vector<Partial> next;
    next.reserve(combinations.size());
    for (const auto& combination : combinations) {
      Partial partial = partials[combination.partial];
      partial.score = combination.score;
      for (const uint32_t e : paths[combination.path].edges) {
        vocabulary_.append_ids(part, worker.edges[e], partial.tokens.ids);
        partial.tokens.log_probability +=
            worker.log_weight[e] + (model ? model->piece_penalty(conditions) : 0);
      }
      next.push_back(std::move(partial));
    }
    partials = std::move(next);
  });
  std::vector<Segmentation> out;
  if (!model && vocabulary_.summation() != Summation::words) {
    // Other arithmetic may have another favourite among segmentations that are as good.
    out.push_back(segment(text, nullptr, {}, {}, worker));
    std::erase_if(partials, [&](const Partial& partial) {
      return partial.tokens.ids == out.front().ids;
    });
    if (partials.size() == count) partials.pop_back();
  }
  for (Partial& partial : partials) out.push_back(std::move(partial.tokens));
  return out;
}

void Tokenizer::locate(const PreparedText& text, Segmentation& segmentation) const {
  uint32_t word = 0;
  uint32_t position = 0;  // byte of text.text
  uint32_t bytes_left = 0;  // of the character that byte pieces are spelling
  for (const PieceId id : segmentation.ids) {
    while (word < text.words.size() && position >= text.words[word].end) ++word;
    uint32_t begin = position, end = position;
    switch (vocabulary_.type(id)) {
      case PieceType::byte:
        if (bytes_left == 0) bytes_left = uint32_t(sequence_length(text.text[position]));
        end = position + 1;
        --bytes_left;
        break;
      case PieceType::unknown:
        end = position + uint32_t(sequence_length(text.text[position]));
        break;
      default:
        end = position + uint32_t(vocabulary_.piece(id).size());
    }
    segmentation.words.push_back(word);
    if (!text.origins.empty())
      segmentation.offsets.emplace_back(text.origins[begin], text.ends[end - 1]);
    position = end;
  }
}

void Tokenizer::merge_unknown(std::vector<PieceId>& ids, size_t begin) const {
  if (vocabulary_.has_bytes()) return;
  const auto both_unknown = [&](PieceId a, PieceId b) { return a == b && a == vocabulary_.unknown(); };
  ids.erase(std::unique(ids.begin() + ptrdiff_t(begin), ids.end(), both_unknown), ids.end());
}

void Tokenizer::merge_unknown(Segmentation& segmentation) const {
  if (vocabulary_.has_bytes()) return;
  size_t kept = 0;
  for (size_t i = 0; i < segmentation.ids.size(); ++i) {
    if (kept > 0 && segmentation.ids[i] == vocabulary_.unknown() &&
        segmentation.ids[kept - 1] == vocabulary_.unknown()) {
      if (!segmentation.offsets.empty())
        segmentation.offsets[kept - 1].second = segmentation.offsets[i].second;
      continue;
    }
    segmentation.ids[kept] = segmentation.ids[i];
    if (!segmentation.words.empty()) segmentation.words[kept] = segmentation.words[i];
    if (!segmentation.offsets.empty()) segmentation.offsets[kept] = segmentation.offsets[i];
    ++kept;
  }
  segmentation.ids.resize(kept);
  if (!segmentation.words.empty()) segmentation.words.resize(kept);
  if (!segmentation.offsets.empty()) segmentation.offsets.resize(kept);
}

std::string Tokenizer::decode(std::span<const PieceId> ids) const {
  std::string text = vocabulary_.decode(ids.data(), ids.size());
  if ((!dummy_prefix_ && !squeeze_) || text.empty() || text[0] != ' ') return text;
  // The space is the prefix, unless it belongs to what stands for an unknown token.
  const auto first = std::find_if(ids.begin(), ids.end(), [&](PieceId id) {
    return vocabulary_.type(id) != PieceType::control;
  });
  if (vocabulary_.type(*first) != PieceType::unknown) text.erase(0, 1);
  return text;
}

}  // namespace pairpiece

#include "seeds.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

namespace pairpiece {
namespace {

constexpr uint32_t kNone = ~uint32_t{0};
constexpr double kRounding = 1e-9;  // a coverage or a count reached up to this is reached

// All spans seen so far as a trie: (parent node, character) → node, in an open-addressed table.
// A node stands for one distinct span; the root is not a node but the parent of the first ones.
class SpanTrie {
 public:
  static constexpr uint32_t kRoot = kNone;

  SpanTrie() : slots_(1024) {}

  uint32_t child(uint32_t parent, char32_t character) {
    if ((nodes_.size() + 1) * 2 > slots_.size()) grow();
    const uint64_t key = key_of(parent, character);
    Slot& slot = slots_[slot_of(key)];
    if (slot.key == kFree) {
      slot = {key, uint32_t(nodes_.size())};
      nodes_.push_back({parent, character, 0});
    }
    return slot.node;
  }

  // The node of a span; kRoot if it was never seen.
  uint32_t find(const std::u32string& text) const {
    uint32_t node = kRoot;
    for (const char32_t character : text) {
      const Slot& slot = slots_[slot_of(key_of(node, character))];
      if (slot.key == kFree) return kRoot;
      node = slot.node;
    }
    return node;
  }

  bool full() const { return nodes_.size() >= kRoot; }
  size_t size() const { return nodes_.size(); }
  double& count(uint32_t node) { return nodes_[node].count; }
  bool is_character(uint32_t node) const { return nodes_[node].parent == kRoot; }
  char32_t last_character(uint32_t node) const { return nodes_[node].character; }

  std::u32string text(uint32_t node) const {
    std::u32string text;
    for (; node != kRoot; node = nodes_[node].parent) text += nodes_[node].character;
    std::reverse(text.begin(), text.end());
    return text;
  }

 private:
  static constexpr uint64_t kFree = ~uint64_t{0};
  struct Slot {
    uint64_t key = kFree;
    uint32_t node = 0;
  };
  struct Node {
    uint32_t parent;
    char32_t character;
    double count;
  };
  static uint64_t key_of(uint32_t parent, char32_t character) {
    return uint64_t(parent) << 21 | uint64_t(character);
  }
  // Where a key is, or else belongs.
  size_t slot_of(uint64_t key) const {
    const uint64_t product = key * 0x9E3779B97F4A7C15u;
    size_t i = product ^ product >> 32;
    while (true) {
      i &= slots_.size() - 1;
      if (slots_[i].key == key || slots_[i].key == kFree) return i;
      ++i;
    }
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.key != kFree) slots_[slot_of(slot.key)] = slot;
  }

  std::vector<Slot> slots_;
  std::vector<Node> nodes_;
};

std::unordered_set<char32_t> covered_characters(const PairSet& pairs, double coverage) {
  std::unordered_map<char32_t, double> counts;
  double total = 0;
  for (size_t w = 0; w < pairs.words.size(); ++w) {
    const double count = pairs.word_count(w);
    for (const char32_t c : pairs.words[w]) counts[c] += count;
    total += count * double(pairs.words[w].size());
  }
  std::vector<std::pair<char32_t, double>> sorted(counts.begin(), counts.end());
  // Rounded: the order of additions must not decide.
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    const auto one = float(a.second), other = float(b.second);
    return one != other ? one > other : a.first < b.first;
  });
  std::unordered_set<char32_t> covered;
  double sum = 0;
  for (const auto& [character, count] : sorted) {
    if (coverage < 1 && sum >= (coverage - kRounding) * total) break;
    covered.insert(character);
    sum += count;
  }
  return covered;
}

// Finds seeds in three steps: all spans with their counts, those of them that become pieces, and the
// edges these make in the words.
class SeedFinder {
 public:
  SeedFinder(const PairSet& pairs, const SeedOptions& options, const Interrupted& interrupted)
      : pairs_(pairs),
        words_(pairs.words),
        options_(options),
        enough_(options.min_count * (1 - kRounding)),
        interrupted_(interrupted),
        covered_(covered_characters(pairs, options.character_coverage)) {
    for (const auto& piece : options.forbidden)
      if (piece.size() == 1) covered_.erase(piece[0]);
  }

  Seeds find() {
    count_spans();
    choose_pieces();
    make_edges();
    return std::move(seeds_);
  }

 private:
  // Calls visit(begin, end, node) for the spans of a word, longer and longer until it says false.
  template <class Visit>
  void each_span(const std::u32string& word, Visit visit) {
    for (size_t begin = 0; begin < word.size(); ++begin) {
      const size_t limit = std::min<size_t>(word.size(), begin + options_.max_piece_length);
      uint32_t node = SpanTrie::kRoot;
      for (size_t end = begin; end < limit && covered_.contains(word[end]); ++end) {
        if (trie_.full()) break;
        node = trie_.child(node, word[end]);
        if (!visit(begin, end + 1, node)) break;
      }
    }
  }

  bool stops_at(size_t word) const { return word % 4096 == 0 && interrupted_ && interrupted_(); }

  void count_spans() {
    for (size_t w = 0; w < words_.size(); ++w) {
      if (stops_at(w)) return;
      const double count = pairs_.word_count(w);
      each_span(words_[w], [&](size_t, size_t, uint32_t node) {
        trie_.count(node) += count;
        return true;
      });
    }
  }

  // Spans of two or more characters that may be pieces, in the order they were met.  A prefix of a
  // span occurs at least as often as the span, so what passes `min_count` is still a trie.
  std::vector<uint32_t> candidates() {
    std::vector<bool> allowed(trie_.size(), !options_.allowed);
    const auto allow = [&](const std::vector<std::u32string>& pieces, bool value) {
      for (const auto& piece : pieces)
        if (const uint32_t node = trie_.find(piece); node != SpanTrie::kRoot) allowed[node] = value;
    };
    if (options_.allowed) allow(*options_.allowed, true);
    allow(options_.forbidden, false);
    std::vector<uint32_t> spans;
    for (uint32_t node = 0; node < trie_.size(); ++node)
      if (!trie_.is_character(node) && allowed[node] && trie_.count(node) >= enough_)
        spans.push_back(node);
    return spans;
  }

  // Leaves the `cap` best by count × length.
  void cut(size_t cap, std::vector<uint32_t>& spans) {
    if (spans.size() <= cap) return;
    std::vector<float> score(trie_.size(), 0);  // rounded: the order of additions must not decide
    for (const uint32_t node : spans)
      score[node] = float(trie_.count(node) * double(trie_.text(node).size()));
    std::ranges::stable_sort(spans, std::greater(), [&](uint32_t node) { return score[node]; });
    spans.resize(cap);
    std::sort(spans.begin(), spans.end());
  }

  void choose_pieces() {
    std::vector<uint32_t> characters;
    for (uint32_t node = 0; node < trie_.size(); ++node)
      if (trie_.is_character(node)) characters.push_back(node);
    std::vector<uint32_t> spans = candidates();
    const size_t room = kMaxPieces - std::min<size_t>(kMaxPieces, characters.size());
    cut(options_.max_seeds == 0 ? room : std::min(options_.max_seeds, room), spans);
    std::ranges::sort(characters, {}, [&](uint32_t node) { return trie_.last_character(node); });
    seeds_.characters = uint32_t(characters.size());
    piece_of_.assign(trie_.size(), kNone);
    for (const auto* group : {&characters, &spans}) {
      for (const uint32_t node : *group) {
        piece_of_[node] = uint32_t(seeds_.pieces.size());
        seeds_.pieces.push_back(trie_.text(node));
      }
    }
  }

  void make_edges() {
    auto& edges = seeds_.edges;
    seeds_.edge_begin.push_back(0);
    for (size_t w = 0; w < words_.size(); ++w) {
      if (stops_at(w)) return;
      const std::u32string& word = words_[w];
      size_t next = 0;  // characters before it have an edge
      const auto pass_over = [&](size_t end) {
        for (; next < end; ++next)
          if (!covered_.contains(word[next])) edges.push_back({uint32_t(next), 1, kUnknownPiece});
      };
      each_span(word, [&](size_t begin, size_t end, uint32_t node) {
        pass_over(begin);
        next = std::max(next, begin + 1);
        if (piece_of_[node] != kNone)
          edges.push_back(
              {uint32_t(begin), uint32_t(end - begin) & 0xFF, piece_of_[node] & 0xFFFFFF});
        return trie_.count(node) >= enough_ || trie_.is_character(node);
      });
      pass_over(word.size());
      seeds_.edge_begin.push_back(edges.size());
    }
    edges.shrink_to_fit();
  }

  const PairSet& pairs_;
  const std::vector<std::u32string>& words_;
  const SeedOptions& options_;
  const double enough_;  // occurrences of a seed
  const Interrupted& interrupted_;
  std::unordered_set<char32_t> covered_;
  SpanTrie trie_;
  std::vector<uint32_t> piece_of_;  // by node
  Seeds seeds_;
};

}  // namespace

uint64_t seed_bytes(const std::vector<std::u32string>& words, uint32_t max_piece_length) {
  uint64_t spans = 0;
  for (const auto& word : words) {
    const uint64_t full = word.size(), longest = std::min<uint64_t>(full, max_piece_length);
    spans += longest * full - longest * (longest - 1) / 2;
  }
  // An edge per span; a trie node with its slots for, at worst, each of them.
  return spans * (sizeof(Edge) + 16 * 4 + 20);
}

Seeds find_seeds(const PairSet& pairs, const SeedOptions& options,
                 const Interrupted& interrupted) {
  if (options.max_piece_length == 0 || options.max_piece_length > kMaxPieceLength)
    throw std::invalid_argument("pieces have from 1 to 255 characters");
  return SeedFinder(pairs, options, interrupted).find();
}

}  // namespace pairpiece

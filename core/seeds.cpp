#include "seeds.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

namespace pairpiece {
namespace {

constexpr uint32_t kNone = ~uint32_t{0};
constexpr double kRounding = 1e-9;  // a coverage reached up to this is reached

// All spans seen so far as a trie: (parent node, character) → node, in an open-addressed table.
// A node stands for one distinct span; the root is not a node but the parent of the first ones.
class SpanTrie {
 public:
  static constexpr uint32_t kRoot = kNone;

  SpanTrie() : slots_(1024) {}

  uint32_t child(uint32_t parent, char32_t character) {
    if ((parents_.size() + 1) * 2 > slots_.size()) grow();
    const uint64_t key = key_of(parent, character);
    for (size_t i = slot_of(key);; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].key == key) return slots_[i].node;
      if (slots_[i].key != kFree) continue;
      slots_[i] = {key, uint32_t(parents_.size())};
      parents_.push_back(parent);
      characters_.push_back(character);
      counts_.push_back(0);
      return slots_[i].node;
    }
  }

  // The node of a span; kRoot if it was never seen.
  uint32_t find(const std::u32string& text) const {
    uint32_t node = kRoot;
    for (const char32_t character : text) {
      const uint64_t key = key_of(node, character);
      size_t i = slot_of(key);
      while (slots_[i].key != key && slots_[i].key != kFree) i = (i + 1) & (slots_.size() - 1);
      if (slots_[i].key == kFree) return kRoot;
      node = slots_[i].node;
    }
    return node;
  }

  bool full() const { return parents_.size() >= kRoot; }
  size_t size() const { return parents_.size(); }
  double& count(uint32_t node) { return counts_[node]; }
  bool is_character(uint32_t node) const { return parents_[node] == kRoot; }
  char32_t last_character(uint32_t node) const { return characters_[node]; }

  std::u32string text(uint32_t node) const {
    std::u32string text;
    for (; node != kRoot; node = parents_[node]) text += characters_[node];
    std::reverse(text.begin(), text.end());
    return text;
  }

 private:
  static constexpr uint64_t kFree = ~uint64_t{0};
  struct Slot {
    uint64_t key = kFree;
    uint32_t node = 0;
  };
  static uint64_t key_of(uint32_t parent, char32_t character) {
    return uint64_t(parent) << 21 | uint64_t(character);
  }
  size_t slot_of(uint64_t key) const {
    key *= 0x9E3779B97F4A7C15u;
    return size_t(key ^ key >> 32) & (slots_.size() - 1);
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.key == kFree) continue;
      size_t i = slot_of(slot.key);
      while (slots_[i].key != kFree) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::vector<uint32_t> parents_;
  std::vector<char32_t> characters_;
  std::vector<double> counts_;
};

std::unordered_set<char32_t> covered_characters(const std::vector<std::u32string>& words,
                                                const std::vector<double>& weights,
                                                double coverage) {
  std::unordered_map<char32_t, double> counts;
  double total = 0;
  for (size_t w = 0; w < words.size(); ++w) {
    for (const char32_t c : words[w]) counts[c] += weights[w];
    total += weights[w] * double(words[w].size());
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

Seeds find_seeds(const std::vector<std::u32string>& words, const std::vector<double>& weights,
                 const std::vector<std::u32string>& forbidden, const SeedOptions& options,
                 const Interrupted& interrupted) {
  Seeds seeds;
  auto covered = covered_characters(words, weights, options.character_coverage);
  for (const auto& piece : forbidden)
    if (piece.size() == 1) covered.erase(piece[0]);
  SpanTrie trie;
  const auto each_span = [&](size_t w, auto visit) {
    const std::u32string& word = words[w];
    for (size_t begin = 0; begin < word.size(); ++begin) {
      const size_t limit = std::min<size_t>(word.size(), begin + options.max_piece_length);
      uint32_t node = SpanTrie::kRoot;
      for (size_t end = begin; end < limit && covered.contains(word[end]); ++end) {
        if (trie.full()) break;
        node = trie.child(node, word[end]);
        if (!visit(begin, end + 1, node)) break;
      }
    }
  };
  const auto stop = [&](size_t w) { return w % 4096 == 0 && interrupted && interrupted(); };

  for (size_t w = 0; w < words.size(); ++w) {
    if ((seeds.interrupted = stop(w))) return seeds;
    each_span(w, [&](size_t, size_t, uint32_t node) {
      trie.count(node) += weights[w];
      return true;
    });
  }

  // A prefix of a span occurs at least as often as the span, so what passes `min_count` is still a
  // trie.  Candidates other than single characters, in the order they were met:
  const std::unordered_set<std::u32string> never(forbidden.begin(), forbidden.end());
  std::vector<uint32_t> characters, spans;
  std::vector<bool> allowed(trie.size(), !options.allowed);
  if (options.allowed)
    for (const auto& piece : *options.allowed)
      if (const uint32_t node = trie.find(piece); node != SpanTrie::kRoot) allowed[node] = true;
  for (uint32_t node = 0; node < trie.size(); ++node) {
    if (trie.is_character(node))
      characters.push_back(node);
    else if (allowed[node] && trie.count(node) >= options.min_count &&
             (never.empty() || !never.contains(trie.text(node))))
      spans.push_back(node);
  }
  const size_t room = kMaxPieces - std::min<size_t>(kMaxPieces, characters.size());
  const size_t cap = options.max_seeds == 0 ? room : std::min(options.max_seeds, room);
  if (spans.size() > cap) {
    std::vector<float> score(trie.size(), 0);  // rounded: the order of additions must not decide
    for (const uint32_t node : spans)
      score[node] = float(trie.count(node) * double(trie.text(node).size()));
    std::stable_sort(spans.begin(), spans.end(),
                     [&](uint32_t a, uint32_t b) { return score[a] > score[b]; });
    spans.resize(cap);
    std::sort(spans.begin(), spans.end());
  }

  std::sort(characters.begin(), characters.end(), [&](uint32_t a, uint32_t b) {
    return trie.last_character(a) < trie.last_character(b);
  });
  seeds.characters = uint32_t(characters.size());
  std::vector<uint32_t> piece_of(trie.size(), kNone);
  for (const auto* group : {&characters, &spans}) {
    for (const uint32_t node : *group) {
      piece_of[node] = uint32_t(seeds.pieces.size());
      seeds.pieces.push_back(trie.text(node));
      seeds.counts.push_back(trie.count(node));
    }
  }

  seeds.edge_begin.push_back(0);
  for (size_t w = 0; w < words.size(); ++w) {
    if ((seeds.interrupted = stop(w))) return seeds;
    size_t next = 0;  // characters before it have an edge
    each_span(w, [&](size_t begin, size_t end, uint32_t node) {
      for (; next < begin; ++next)
        if (!covered.contains(words[w][next])) seeds.edges.push_back({uint32_t(next), 1, kUnknownPiece});
      next = std::max(next, begin + 1);
      if (piece_of[node] != kNone)
        seeds.edges.push_back({uint32_t(begin), uint32_t(end - begin) & 0xFF, piece_of[node] & 0xFFFFFF});
      return trie.count(node) >= options.min_count || trie.is_character(node);
    });
    for (; next < words[w].size(); ++next)
      if (!covered.contains(words[w][next])) seeds.edges.push_back({uint32_t(next), 1, kUnknownPiece});
    seeds.edge_begin.push_back(seeds.edges.size());
  }
  seeds.edges.shrink_to_fit();
  return seeds;
}

}  // namespace pairpiece

// The pieces of a tokenizer and the plain (target-only) best segmentation with them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lattice.hpp"
#include "trie.hpp"

namespace pairpiece {

using PieceId = int32_t;
inline constexpr double kMaxScore = 65536;  // in nats, either way

// How the scores of a segmentation are added up, which decides between segmentations that are alike
// but for rounding.  A vocabulary that was learned here has scores that are multiples of 1/256 nat:
// their sums are exact however they are added up.  One that comes from another tool has any scores,
// and has to be used with the arithmetic of that tool.
enum class Summation : uint8_t {
  words,    // word by word, in 64 bits
  spaces,   // from space to space, in 64 bits, as Hugging Face's Metaspace makes its words
  texts,    // over whole texts, in 64 bits
  singles,  // over whole texts, in 32 bits, as SentencePiece
};

// An unused piece is a token of another tokenizer whose ids this one leaves to it: it is never found
// in text, and stands for what follows the space that it begins with.
enum class PieceType : uint8_t { normal, unknown, control, user_defined, byte, unused };

// Inside, pieces and words have a space where users see the marker ▁; a literal ▁ in a text is then
// just a character that no piece contains.
class Vocabulary {
 public:
  // One entry per id, with pieces as users see them, well-formed.  Throws std::invalid_argument unless
  // there is exactly one piece of type `unknown`, byte pieces, if any, are 256 (in the order of their
  // bytes), no piece is empty or too long, and all scores are within ±kMaxScore.
  Vocabulary(std::vector<std::string> pieces, std::vector<PieceType> types,
             std::vector<double> scores, Summation summation);

  size_t size() const { return pieces_.size(); }
  const std::string& piece(PieceId id) const { return pieces_[size_t(id)]; }
  PieceType type(PieceId id) const { return types_[size_t(id)]; }
  double score(PieceId id) const { return scores_[size_t(id)]; }  // nats
  double score_of(const Edge& edge) const {
    return edge.piece == kUnknownPiece ? unknown_score_ : score(PieceId(edge.piece));
  }
  Summation summation() const { return summation_; }
  PieceId unknown() const { return unknown_; }
  bool has_bytes() const { return byte_pieces_.size() == 256; }
  // The user-defined pieces by id; empty where a piece is something else.
  std::vector<std::string> symbols() const;
  // Throws std::invalid_argument if there is no such id.
  PieceId checked_id(int64_t id) const;

  // All edges of a word, in bytes, sorted: normal pieces, and an unknown edge over each character
  // that is not a piece itself.  Throws std::invalid_argument if there are more than kMaxEdges.
  void append_edges(std::string_view word, std::vector<Edge>& edges) const;

  // Appends the ids of edges: their pieces, or the bytes of unknown characters.
  void append_ids(std::string_view word, std::span<const Edge> edges,
                  std::vector<PieceId>& ids) const;

  // The best segmentation of a word, or of a longer text, under the scores, as edges in
  // `scratch.path`; returns its score, added to what came `before`.  O(bytes × longest piece).
  struct Scratch {
    std::vector<double> sum;
    std::vector<Edge> from;
    std::vector<Edge> path;
  };
  double segment(std::string_view word, Scratch& scratch, double before = 0) const;

  // Joins pieces into text: bytes that do not form characters become U+FFFD, control pieces vanish.
  std::string decode(std::span<const PieceId> ids) const;

 private:
  // Calls visit(edge) for the edges of a word.
  template <class Visit>
  void each_edge(std::string_view word, Visit visit) const;

  std::vector<std::string> pieces_;
  std::vector<PieceType> types_;
  std::vector<double> scores_;
  Summation summation_;
  Trie normal_;
  PieceId unknown_ = 0;
  std::vector<PieceId> byte_pieces_;  // by byte
  std::vector<uint8_t> byte_of_;      // by id; meaningful for byte pieces
  double unknown_score_ = 0;
};

}  // namespace pairpiece

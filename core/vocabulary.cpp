#include "vocabulary.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "utf8.hpp"

namespace pairpiece {
namespace {

constexpr std::string_view kUnknownSurface = " \xE2\x81\x87 ";  // " ⁇ ", as SentencePiece
constexpr std::string_view kMarker = "\xE2\x96\x81";            // ▁

// Marker → space.
std::string unmarked(std::string_view piece) {
  std::string out;
  for (size_t i = 0; i < piece.size();) {
    const bool marked = piece.substr(i, kMarker.size()) == kMarker;
    out += marked ? ' ' : piece[i];
    i += marked ? kMarker.size() : 1;
  }
  return out;
}

// The pieces as they are inside.
std::vector<std::string> checked(std::vector<std::string> pieces,
                                 const std::vector<PieceType>& types,
                                 const std::vector<double>& scores) {
  const auto require = [](bool good, const char* complaint) {
    if (!good) throw std::invalid_argument(complaint);
  };
  require(pieces.size() == types.size() && pieces.size() == scores.size(),
          "pieces, types and scores differ in number");
  require(pieces.size() < kMaxPieces, "too many pieces");
  for (size_t i = 0; i < pieces.size(); ++i) {
    require(types[i] <= PieceType::unused, "unknown piece type");
    const bool normal = types[i] == PieceType::normal;
    if (normal) pieces[i] = unmarked(pieces[i]);
    if (types[i] == PieceType::unused) {
      require(pieces[i].size() > 1 && pieces[i][0] == ' ', "an unused piece begins with a space");
      pieces[i] = unmarked(pieces[i].substr(1));
    }
    if (pieces[i].empty()) throw std::invalid_argument("piece " + std::to_string(i) + " is empty");
    const bool found_in_text = normal || types[i] == PieceType::user_defined;
    if (found_in_text && pieces[i].size() > kMaxPieceLength)
      throw std::invalid_argument("piece " + std::to_string(i) + " is longer than 255 bytes");
    if (!(std::abs(scores[i]) <= kMaxScore))  // nor if it is NaN
      throw std::invalid_argument("piece " + std::to_string(i) + " has a score out of range");
  }
  require(std::count(types.begin(), types.end(), PieceType::unknown) == 1,
          "there must be exactly one unknown piece");
  const auto bytes = std::count(types.begin(), types.end(), PieceType::byte);
  require(bytes == 0 || bytes == 256, "there must be 256 byte pieces");
  return pieces;
}

std::vector<std::string> of_type(const std::vector<std::string>& pieces,
                                 const std::vector<PieceType>& types, PieceType type) {
  std::vector<std::string> keys(pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i)
    if (types[i] == type) keys[i] = pieces[i];
  return keys;
}

}  // namespace

Vocabulary::Vocabulary(std::vector<std::string> pieces, std::vector<PieceType> types,
                       std::vector<double> scores, Summation summation)
    : pieces_(checked(std::move(pieces), types, scores)),
      types_(std::move(types)),
      scores_(std::move(scores)),
      summation_(summation),
      normal_(of_type(pieces_, types_, PieceType::normal)) {
  double lowest = 0;
  byte_of_.resize(pieces_.size());
  for (size_t i = 0; i < pieces_.size(); ++i) {
    if (types_[i] == PieceType::normal) lowest = std::min(lowest, scores_[i]);
    if (types_[i] == PieceType::unknown) unknown_ = PieceId(i);
    if (types_[i] != PieceType::byte) continue;
    byte_of_[i] = uint8_t(byte_pieces_.size());
    byte_pieces_.push_back(PieceId(i));
  }
  unknown_score_ = lowest - kUnknownPenalty;
  if (summation_ == Summation::singles) unknown_score_ = float(unknown_score_);
}

std::vector<std::string> Vocabulary::symbols() const {
  return of_type(pieces_, types_, PieceType::user_defined);
}

PieceId Vocabulary::checked_id(int64_t id) const {
  if (id < 0 || id >= int64_t(size()))
    throw std::invalid_argument("id " + std::to_string(id) + " is not in the vocabulary of " +
                                std::to_string(size()) + " pieces");
  return PieceId(id);
}

template <class Visit>
void Vocabulary::each_edge(std::string_view word, Visit visit) const {
  for (uint32_t begin = 0; begin < word.size();) {
    const auto character = uint32_t(sequence_length(word[begin]));
    const Edge unknown{begin, character & 0xFF, kUnknownPiece};
    bool found = false;
    normal_.each_prefix(word.substr(begin), [&](size_t length, PieceId id) {
      if (!found && length != character) visit(unknown);  // no piece ends within a character
      found = true;
      visit(Edge{begin, uint32_t(length) & 0xFF, uint32_t(id) & 0xFFFFFF});
    });
    if (!found) visit(unknown);
    begin += character;
  }
}

void Vocabulary::append_edges(std::string_view word, std::vector<Edge>& edges) const {
  each_edge(word, [&](const Edge& edge) {
    if (edges.size() == kMaxEdges)
      throw std::invalid_argument("too many pieces fit into one text: split it into lines first");
    edges.push_back(edge);
  });
}

void Vocabulary::append_ids(std::string_view word, std::span<const Edge> edges,
                            std::vector<PieceId>& ids) const {
  for (const Edge& edge : edges) {
    if (edge.piece != kUnknownPiece) {
      ids.push_back(PieceId(edge.piece));
    } else if (has_bytes()) {
      for (uint32_t i = edge.begin; i < edge.end(); ++i)
        ids.push_back(byte_pieces_[static_cast<unsigned char>(word[i])]);
    } else {
      ids.push_back(unknown_);
    }
  }
}

double Vocabulary::segment(std::string_view word, Scratch& scratch, double before) const {
  const size_t length = word.size();
  const bool single = summation_ == Summation::singles;
  auto& best = scratch.sum;
  auto& from = scratch.from;
  best.assign(length + 1, kImpossible);
  from.resize(length + 1);
  best[0] = before;
  each_edge(word, [&](const Edge& edge) {
    double sum = best[edge.begin] + score_of(edge);
    if (single) sum = float(sum);
    if (sum > best[edge.end()]) {
      best[edge.end()] = sum;
      from[edge.end()] = edge;
    }
  });
  scratch.path.clear();
  for (size_t end = length; end > 0; end = from[end].begin) scratch.path.push_back(from[end]);
  std::reverse(scratch.path.begin(), scratch.path.end());
  return best[length];
}

std::string Vocabulary::decode(std::span<const PieceId> ids) const {
  std::string text;
  std::string bytes;
  const auto flush = [&] {
    if (!bytes.empty()) text += sanitize(bytes);
    bytes.clear();
  };
  for (const PieceId id : ids) {
    if (type(id) == PieceType::byte) {
      bytes += char(byte_of_[size_t(id)]);
      continue;
    }
    flush();
    if (type(id) == PieceType::unknown)
      text += kUnknownSurface;
    else if (type(id) != PieceType::control)
      text += piece(id);
  }
  flush();
  return text;
}

}  // namespace pairpiece

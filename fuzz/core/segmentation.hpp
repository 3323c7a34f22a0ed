// What holds for all segmentations of a text, whatever they are scored by.
#pragma once

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "input.hpp"
#include "tokenizer.hpp"

namespace pairpiece {

inline void check_segmentation(const Tokenizer& tokenizer, const PreparedText& text,
                               const std::string& normalized, const Segmentation& segmentation) {
  const Vocabulary& vocabulary = tokenizer.vocabulary();
  bool known = true;
  for (const PieceId id : segmentation.ids)
    known &= vocabulary.type(vocabulary.checked_id(id)) != PieceType::unknown;
  if (known) require(tokenizer.decode(segmentation.ids) == normalized, "the text comes back");
  require(known || !vocabulary.has_bytes(), "bytes leave nothing unknown");
  require(std::isfinite(segmentation.log_probability), "log-probabilities are numbers");
  require(segmentation.words.size() == segmentation.ids.size(), "every token is in a word");
  require(segmentation.offsets.size() == segmentation.ids.size(), "every token has its place");
  uint32_t word = 0;
  for (const uint32_t of_token : segmentation.words) {
    require(word <= of_token && of_token < text.words.size(), "tokens follow the words");
    word = of_token;
  }
}

// Encodes, segments, samples and finds the best few.
inline void check_text(const Tokenizer& tokenizer, std::string_view text, const Model& model,
                       Tokenizer::Worker& worker, const PreparedText& prepared, Draw draw,
                       size_t count) {
  const std::string normalized = tokenizer.splitter().normalize(text);
  std::vector<PieceId> ids, again;
  tokenizer.encode(prepared, model, worker, ids);
  tokenizer.encode(prepared, model, worker, again);
  require(ids == again, "words that are remembered have the same tokens");
  const Segmentation best = tokenizer.segment(prepared, model, worker);
  require(best.ids == ids, "segmenting is encoding");
  check_segmentation(tokenizer, prepared, normalized, best);
  const Segmentation drawn = tokenizer.segment(prepared, model, worker, draw);
  check_segmentation(tokenizer, prepared, normalized, drawn);
  const auto several = tokenizer.segment_best(prepared, model, count, worker);
  require(!several.empty() && several.size() <= count, "there are as many as wanted, or fewer");
  require(several[0].ids == ids, "the best of several is the best");
  std::set<std::vector<PieceId>> distinct;
  for (const Segmentation& one : several) {
    check_segmentation(tokenizer, prepared, normalized, one);
    distinct.insert(one.ids);
  }
  require(distinct.size() == several.size() || !tokenizer.vocabulary().has_bytes(),
          "several segmentations are different ones");
}

}  // namespace pairpiece

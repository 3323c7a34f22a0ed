// Conditional and bigram tables that anybody may have written, and sources, with links and without.

#include <stdexcept>

#include "input.hpp"
#include "segmentation.hpp"
#include "texts.hpp"

using namespace pairpiece;

namespace {

// A count within the limits of what models are loaded with, these included.
double read_count(Input& input) {
  constexpr double kCounts[] = {1.1e-30, 1e-9, 0.5, 1, 1, 2, 1e9, 9e29};
  const uint8_t code = input.byte();
  return kCounts[code & 7] * (1 + (code >> 3));
}

// Rows of counts; now and then they are not what they should be, and then must be refused.
SparseRows read_rows(Input& input, size_t rows, size_t columns) {
  SparseRows out{{0}, {}, {}};
  for (size_t row = 0; row < rows; ++row) {
    const uint8_t code = row < 256 && !input.empty() ? input.byte() : 0;
    uint32_t column = code & 15;
    for (int left = code >> 6; left > 0 && column < columns; --left, column += 1 + (code >> 4 & 3)) {
      out.column.push_back(column);
      out.count.push_back(float(std::min(read_count(input), 9e29)));
    }
    out.begin.push_back(out.column.size());
  }
  if (const uint8_t code = input.byte(); code >= 0xF0) {
    if (code & 1) out.begin[input.word() % out.begin.size()] = input.word();
    if ((code & 2) && !out.column.empty()) out.column[input.word() % out.column.size()] = input.word();
    if (code & 4) out.begin.pop_back();
    if (code & 8) out.count.push_back(1);
  }
  return out;
}

// p0 of learned pieces; it is 0 for others.
std::vector<double> read_base(Input& input, const Vocabulary& vocabulary) {
  std::vector<double> base;
  for (size_t id = 0; id < vocabulary.size(); ++id) {
    const bool is_learned = vocabulary.type(PieceId(id)) == PieceType::normal;
    base.push_back(is_learned ? std::min(read_count(input), 9e29) : 0);
  }
  return base;
}

ConditionalModel read_conditional(Input& input, const Vocabulary& vocabulary) {
  const size_t sources = 1 + input.below(20);
  std::vector<double> source_count;
  for (size_t s = 0; s < sources; ++s) source_count.push_back(std::min(read_count(input), 9e29));
  ConditionalOptions options;
  const uint8_t flags = input.byte();
  options.conditional = Conditional(flags & 1);
  options.evidence = (flags & 2) != 0;
  options.smoothing = (flags & 4) ? 1000 : (flags & 8) ? 1.1e-30 : 1;
  if (flags & 16) options.penalty = {double(input.byte()), double(input.byte()), 1000};
  options.piece_penalty = (flags & 32) ? 1000 : (flags & 64) ? -1000 : 0.5;
  options.inferred_piece_penalty = double(int8_t(input.byte()));
  const std::vector<double> base = read_base(input, vocabulary);
  return ConditionalModel(read_rows(input, base.size(), sources), source_count, base, options);
}

struct Source {
  Source(Input& input, const ConditionalModel& model) {
    for (uint32_t words = input.below(8); words > 0; --words) {
      for (uint32_t count = input.below(4); count > 0; --count)
        tokens.push_back(model.checked_source(int64_t(input.below(24)) - 1));
      word_begin.push_back(uint32_t(tokens.size()));
    }
    for (uint32_t count = input.below(16); count > 0; --count)
      links.emplace_back(input.below(8), input.below(12));
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
  }
  std::vector<int32_t> tokens;
  std::vector<uint32_t> word_begin{0};
  std::vector<Link> links;
};

void attack_conditional(const Tokenizer& tokenizer, Input& input, Draw draw, size_t count) {
  const ConditionalModel model = read_conditional(input, tokenizer.vocabulary());
  const Source given(input, model);
  const SourceSentence source{given.tokens, given.word_begin};
  const Pairing pairings[] = {
      {source, {}, true}, {source, {}, false}, {source, given.links, false}};
  const std::string_view text = input.rest();
  PreparedText prepared;
  tokenizer.splitter().prepare(text, true, prepared);
  auto worker = tokenizer.borrow();
  std::vector<PieceId> ids;
  for (const Pairing& pairing : pairings) {
    const Conditioned paired = tokenizer.condition(prepared, model, pairing, *worker);
    check_text(tokenizer, text, paired, *worker, prepared, draw, count);
    tokenizer.encode(prepared, paired, *worker, ids);
  }
  for (const double found : tokenizer.link_counts(prepared, model, given.tokens, ids).counts)
    require(found >= 0, "what is counted is not negative");
  tokenizer.give_back(std::move(worker));
}

void attack_bigram(const Tokenizer& tokenizer, Input& input, Draw draw, size_t count) {
  const std::vector<double> base = read_base(input, tokenizer.vocabulary());
  const BigramModel model(read_rows(input, base.size() + 1, base.size()), base, 1);
  const std::string_view text = input.rest();
  PreparedText prepared;
  tokenizer.splitter().prepare(text, true, prepared);
  auto worker = tokenizer.borrow();
  check_text(tokenizer, text, &model, *worker, prepared, draw, count);
  tokenizer.give_back(std::move(worker));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  try {
    const SplitOptions options = read_options(input);
    const auto summation = Summation(input.below(4));
    const Tokenizer tokenizer(Normalizer(""), options, read_vocabulary(input, 24, summation));
    const Draw draw{double(input.byte()) / 64, input.byte()};
    const size_t count = 1 + input.below(4);
    if (input.flag())
      attack_bigram(tokenizer, input, draw, count);
    else
      attack_conditional(tokenizer, input, draw, count);
  } catch (const std::invalid_argument&) {
  }
  return 0;
}

// Vocabularies that anybody may have written: texts become ids and come back.

#include "tokenizer.hpp"

#include <stdexcept>

#include "input.hpp"
#include "segmentation.hpp"
#include "texts.hpp"

using namespace pairpiece;

namespace {

// Ids that no text has become, of all types.
void decode_any(const Tokenizer& tokenizer, Input input) {
  std::vector<PieceId> ids;
  while (!input.empty() && ids.size() < 64)
    ids.push_back(PieceId(input.word() % tokenizer.vocabulary().size()));
  const std::string text = tokenizer.decode(ids);
  require(sanitize(text) == text, "decoded text is well-formed");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  try {
    const SplitOptions options = read_options(input);
    const auto summation = Summation(input.below(4));
    Normalizer normalizer = read_normalizer(input);
    const Tokenizer tokenizer(std::move(normalizer), options,
                              read_vocabulary(input, 64, summation));
    const Draw draw{double(input.byte()) / 64, input.byte()};
    const size_t count = 1 + input.below(8);
    decode_any(tokenizer, input);
    const std::string_view text = input.rest();
    auto worker = tokenizer.borrow();
    PreparedText prepared;
    tokenizer.splitter().prepare(text, true, prepared);
    check_text(tokenizer, text, Unigram(), *worker, prepared, draw, count);
    tokenizer.give_back(std::move(worker));
  } catch (const std::invalid_argument&) {
  }
  return 0;
}

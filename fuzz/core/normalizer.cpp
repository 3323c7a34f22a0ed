// Normalisation tables that anybody may have written, and texts that go through them.

#include "normalizer.hpp"

#include <stdexcept>

#include "charsmap.hpp"
#include "input.hpp"
#include "utf8.hpp"

using namespace pairpiece;

namespace {

void attack(const Normalizer& normalizer, std::string_view text) {
  std::string out, again;
  std::vector<CharacterRange> origins;
  const uint32_t end = normalizer.normalize(text, out, &origins, 3);
  require(normalizer.normalize(text, again, nullptr) + 3 == end && again == out,
          "origins change nothing else");
  require(sanitize(out) == out, "normalised text is well-formed");
  require(out.size() <= 16 * text.size(), "text grows sixteenfold at most");
  require(origins.size() == out.size(), "every byte has its origin");
  uint32_t characters = 3, first = 3;
  for (size_t i = 0; i < text.size(); ++characters) i += decode_at(text, i).bytes;
  require(end == characters, "all characters are counted");
  for (const auto& [from, to] : origins) {
    require(first <= from && from < to && to <= end, "origins are characters of the text, in order");
    first = from;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  std::string charsmap;
  if (input.flag()) {
    const size_t bytes = size_t(input.byte()) << 8 | input.byte();
    charsmap = input.text(bytes);
  } else {
    charsmap = small_charsmap(input);
  }
  try {
    attack(Normalizer(charsmap), input.rest());
  } catch (const std::invalid_argument&) {
  }
  return 0;
}

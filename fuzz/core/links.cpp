// Word links: from any evidence, and from any two directions of an aligner.

#include <limits>
#include <set>

#include "input.hpp"
#include "symmetrization.hpp"
#include "word_links.hpp"

using namespace pairpiece;

namespace {

std::vector<Link> read_links(Input& input) {
  std::set<Link> links;
  const uint32_t most = 1 + input.below(64);
  for (uint32_t count = input.byte(); count > 0 && !input.empty(); --count) {
    const uint32_t source = input.below(most);
    links.emplace(source, input.below(most));
  }
  return {links.begin(), links.end()};
}

void check_links(const std::vector<Link>& links, size_t sources, size_t targets) {
  for (size_t i = 0; i < links.size(); ++i) {
    require(i == 0 || links[i - 1] < links[i], "links are sorted, none is there twice");
    require(links[i].first < sources && links[i].second < targets, "links are between the words");
  }
}

void attack_directions(Input& input) {
  const std::vector<Link> forward = read_links(input), reverse = read_links(input);
  for (const Growth growth : {Growth::passes, Growth::outward}) {
    const std::vector<Link> links = grow_diag_final_and(forward, reverse, growth);
    check_links(links, 64, 64);
    const auto has = [](const std::vector<Link>& all, const Link& link) {
      return std::binary_search(all.begin(), all.end(), link);
    };
    for (const Link& link : links)
      require(has(forward, link) || has(reverse, link), "no link comes from nowhere");
    for (const Link& link : forward)
      require(!has(reverse, link) || has(links, link), "links of both directions stay");
    require(grow_diag_final_and(links, links, growth) == links, "links that agree stay as they are");
  }
}

void attack_evidence(Input& input) {
  constexpr double kEvidence[] = {0, 0, 1e-300, 0.5, 1, 3, 100, 1e300};
  const size_t sources = 1 + input.below(24), targets = 1 + input.below(24);
  std::vector<double> evidence(sources * targets);
  for (double& one : evidence) {
    const uint8_t code = input.byte();
    one = kEvidence[code & 7] * (1 + (code >> 3));
  }
  check_links(find_links(evidence, sources, targets), sources, targets);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  if (input.flag())
    attack_directions(input);
  else
    attack_evidence(input);
  return 0;
}

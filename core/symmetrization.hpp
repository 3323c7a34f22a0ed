// One set of word links from two, those of each direction of an aligner.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace pairpiece {

using Link = std::pair<uint32_t, uint32_t>;  // (source word, target word)

// Which link grows first, where two want the same word.
enum class Growth : uint8_t {
  passes,   // pass after pass over all links, in order: the published definition
  outward,  // the one that is fewer steps from a link of both directions
};

// grow-diag-final-and (Koehn et al., 2003): the links that both directions have; then, again and
// again, those of one direction that lie beside a link and have a word that is still free; then, of
// the forward and after them of the reverse direction, those between two words that are still free.
// Both directions must be sorted and have no link twice; so has the result.
std::vector<Link> grow_diag_final_and(std::span<const Link> forward, std::span<const Link> reverse,
                                      Growth growth);

}  // namespace pairpiece

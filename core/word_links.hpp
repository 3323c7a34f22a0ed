// Word links from evidence, symmetrised as in training.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "symmetrization.hpp"

namespace pairpiece {

// Links between the words of a sentence and its translation, sorted.
// `evidence[target × sources + source]` says how much likelier the target word is given the source
// word than given none; all zero where nothing can be said.
std::vector<Link> find_links(std::span<const double> evidence, size_t sources, size_t targets);

}  // namespace pairpiece

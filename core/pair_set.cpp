#include "pair_set.hpp"

#include <stdexcept>

namespace pairpiece {

void PairSet::check() const {
  const size_t pairs = count.size();
  bool good = pair_begin.size() == words.size() + 1 && expected.size() == pairs &&
              source_begin.size() == pairs + 1 && multiplicity.size() == source.size() &&
              pair_begin.front() == 0 && pair_begin.back() == pairs &&
              source_begin.front() == 0 && source_begin.back() == source.size();
  for (size_t w = 0; good && w < words.size(); ++w)
    good = pair_begin[w] <= pair_begin[w + 1] && !words[w].empty();
  for (size_t p = 0; good && p < pairs; ++p)
    good = source_begin[p] < source_begin[p + 1] && source_begin[p + 1] <= source.size() &&
           count[p] > 0 && expected[p] >= 0;
  for (size_t i = 0; good && i < source.size(); ++i)
    good = source[i] < sources && multiplicity[i] > 0;
  if (!good) throw std::invalid_argument("the pair arrays are inconsistent");
}

}  // namespace pairpiece

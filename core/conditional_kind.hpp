// What p(t | S) is made of: the two kinds of conditional model, in learning and in tokenizing.
#pragma once

#include <cstdint>

namespace pairpiece {

enum class Conditional : uint8_t {
  mixture,  // the mean over s of smoothed p(t|s) (docs/algorithm.md, eq. 6–7)
  pooled,   // summed counts over summed counts (eq. 2)
};

}  // namespace pairpiece

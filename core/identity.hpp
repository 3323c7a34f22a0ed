// Numbers that tell models apart for caches; an address would come back after a model is freed.
#pragma once

#include <atomic>
#include <cstdint>

namespace pairpiece {

inline uint64_t next_identity() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

}  // namespace pairpiece

// A hint that memory will be read soon, where the compiler can give one.
#pragma once

namespace pairpiece {

inline void prefetch([[maybe_unused]] const void* place) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(place);
#endif
}

}  // namespace pairpiece

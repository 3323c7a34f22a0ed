// Values read from the bytes of an input, and what must hold for all inputs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace pairpiece {

// Reads from the front; at the end there are zeros and empty texts.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  bool empty() const { return rest_.empty(); }
  uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto first = static_cast<uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    return first;
  }
  bool flag() { return byte() & 1; }
  uint32_t below(uint32_t limit) { return byte() % limit; }
  uint32_t word() {
    uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = value << 8 | byte();
    return value;
  }
  std::string_view text(size_t size) {
    const std::string_view front = rest_.substr(0, size);
    rest_.remove_prefix(front.size());
    return front;
  }
  std::string_view rest() { return text(rest_.size()); }

 private:
  std::string_view rest_;
};

inline void require(bool good, const char* promise) {
  if (good) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

}  // namespace pairpiece

// A trie finds the keys that begin a text, as looking at each of them does.

#include "trie.hpp"

#include "input.hpp"

using namespace pairpiece;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  std::vector<std::string> keys;
  for (size_t count = input.byte(); count > 0 && !input.empty(); --count) {
    const uint8_t code = input.byte();
    // Keys may go on from one before.
    std::string key = keys.empty() || code < 128 ? "" : keys[code % keys.size()];
    key += input.text(code & 7);
    keys.push_back(std::move(key));
  }
  const Trie trie(keys);
  const auto check = [&](std::string_view text) {
    std::vector<int32_t> found, expected;
    for (size_t length = 1; length <= text.size(); ++length) {
      const auto first = std::find(keys.begin(), keys.end(), text.substr(0, length));
      if (first != keys.end()) expected.push_back(int32_t(first - keys.begin()));
    }
    trie.each_prefix(text, [&](size_t bytes, int32_t id) {
      found.push_back(id);
      require(keys[size_t(id)] == text.substr(0, bytes), "a key is found where it is");
    });
    require(found == expected, "all keys that begin a text are found, shortest first");
  };
  for (const std::string& key : keys) check(key);
  check(input.text(64));
  return 0;
}

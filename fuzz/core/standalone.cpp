// Runs a target without a fuzzing engine: all files that are named, and so many inputs that are made
// from them with a seed, the same on every machine.
//
//     fuzz_trie -runs=5000 -seed=1 FILE_OR_FOLDER …
//
// An input that makes the target abort is left in the file `crash` of the current folder.

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr size_t kLongest = 2048;

std::string current;  // the input that is running

void run(std::string input) {
  current = std::move(input);
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(current.data()), current.size());
}

extern "C" void keep_current(int) {
  std::ofstream("crash", std::ios::binary) << current;
  std::_Exit(77);
}

// The distributions of the standard library differ between its makers, the generator does not.
class Mutation {
 public:
  explicit Mutation(uint32_t seed) : random_(seed) {}

  size_t below(size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  std::string of(std::string input, const std::vector<std::string>& others) {
    for (size_t steps = 1 + below(6); steps > 0; --steps) step(input, others);
    input.resize(std::min(input.size(), kLongest));
    return input;
  }

 private:
  void step(std::string& input, const std::vector<std::string>& others) {
    constexpr uint8_t kOdd[] = {0, 1, 0x20, 0x7F, 0x80, 0xC2, 0xE2, 0xED, 0xF0, 0xFE, 0xFF};
    const size_t place = below(input.size() + 1);
    const size_t size = below(std::min<size_t>(input.size() - place, 16) + 1);
    switch (below(6)) {
      case 0:  // bytes from nowhere
        for (size_t count = 1 + below(16); count > 0; --count)
          input.insert(place, 1, char(random_()));
        break;
      case 1:
        if (place < input.size()) input[place] = char(kOdd[below(std::size(kOdd))]);
        break;
      case 2:
        if (place < input.size()) input[place] = char(input[place] ^ 1 << below(8));
        break;
      case 3:
        input.erase(place, size);
        break;
      case 4:
        input.insert(below(input.size() + 1), input.substr(place, size));
        break;
      default: {
        const std::string& other = others[below(others.size())];
        const size_t from = below(other.size() + 1);
        input.replace(place, size, other, from, below(64));
      }
    }
  }

  std::mt19937 random_;
};

std::vector<std::string> contents(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> paths{path};
  if (std::filesystem::is_directory(path)) {
    paths.clear();
    for (const auto& entry : std::filesystem::directory_iterator(path)) paths.push_back(entry);
    std::sort(paths.begin(), paths.end());
  }
  std::vector<std::string> found;
  for (const auto& one : paths) {
    std::ifstream file(one, std::ios::binary);
    found.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return found;
}

uint32_t number(std::string_view text) {
  uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

int main(int count, char** arguments) {
  uint32_t runs = 0, seed = 0;
  std::vector<std::string> corpus;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument.starts_with("-runs="))
      runs = number(argument.substr(6));
    else if (argument.starts_with("-seed="))
      seed = number(argument.substr(6));
    else
      for (std::string& content : contents(argument)) corpus.push_back(std::move(content));
  }
  std::signal(SIGABRT, keep_current);
  corpus.emplace_back();
  for (const std::string& input : corpus) run(input);
  Mutation mutation(seed);
  // Half of the inputs are new ones, and a few of these are gone on from.
  for (uint32_t i = 0; i < runs; ++i) {
    std::string input = corpus[mutation.below(corpus.size())];
    for (size_t rounds = 1 + mutation.below(8); rounds > 0; --rounds)
      input = mutation.of(std::move(input), corpus);
    if (corpus.size() < 1000 && mutation.below(8) == 0) corpus.push_back(input);
    run(std::move(input));
  }
  std::printf("%zu inputs\n", corpus.size() + runs);
  return 0;
}

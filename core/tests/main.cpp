#include "check.hpp"

int main() {
  int failed = 0;
  for (const Test& test : tests()) {
    const int before = failures;
    test.run();
    failed += failures > before;
    std::printf("%s %s\n", failures > before ? "FAILED" : "ok    ", test.name);
  }
  std::printf("%d passed, %d failed\n", int(tests().size()) - failed, failed);
  return failed > 0;
}

// A test is a function made with TEST; CHECK counts failures and goes on.
#pragma once

#include <cstdio>
#include <stdexcept>
#include <vector>

struct Test {
  const char* name;
  void (*run)();
};

inline std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}
inline int failures = 0;

struct Registration {
  Registration(const char* name, void (*run)()) { tests().push_back({name, run}); }
};

#define TEST(name)                                        \
  static void name();                                     \
  static const Registration registration_##name(#name, name); \
  static void name()

#define CHECK(condition)                                                         \
  do {                                                                           \
    if (!(condition)) {                                                          \
      ++failures;                                                                \
      std::printf("%s:%d: CHECK(%s) failed\n", __FILE__, __LINE__, #condition); \
    }                                                                            \
  } while (false)

// Whether a call complains about its arguments.
template <class Call>
bool refused(Call call) {
  try {
    call();
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

// Loops over threads whose results do not depend on how many there are: the body may write only to
// places that belong to its own items.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace pairpiece {

// Asked now and then, always from the calling thread; true asks the work to stop.
using Interrupted = std::function<bool()>;

// Calls body(thread, item) for the items of [0, items), which threads take in chunks; the calling
// thread is thread 0.
template <class Body>
void parallel_for(size_t threads, size_t items, size_t chunk, Body body) {
  threads = std::max<size_t>(1, std::min(threads, (items + chunk - 1) / chunk));
  std::atomic<size_t> next{0};
  std::vector<std::exception_ptr> failures(threads);
  const auto work = [&](size_t thread) {
    try {
      for (size_t begin; (begin = next.fetch_add(chunk)) < items;)
        for (size_t item = begin; item < std::min(begin + chunk, items); ++item) body(thread, item);
    } catch (...) {  // such as a lack of memory: carried over to the calling thread
      failures[thread] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (size_t thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
    work(0);
  }
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace pairpiece

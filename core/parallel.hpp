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

// Calls body(thread, begin, end) for chunks of [0, items); the calling thread is thread 0.
template <class Body>
void parallel_for(size_t threads, size_t items, size_t chunk, Body body) {
  threads = std::min(threads, (items + chunk - 1) / chunk);
  if (threads <= 1) {
    if (items > 0) body(size_t{0}, size_t{0}, items);
    return;
  }
  std::atomic<size_t> next{0};
  std::vector<std::exception_ptr> failures(threads);
  const auto work = [&](size_t thread) {
    try {
      for (size_t begin; (begin = next.fetch_add(chunk)) < items;)
        body(thread, begin, std::min(begin + chunk, items));
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

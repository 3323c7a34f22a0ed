// Loops over threads whose results do not depend on how many there are: the body may write only to
// places that belong to its own items.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <system_error>
#include <thread>
#include <vector>

namespace pairpiece {

// Asked now and then, always from the calling thread; true asks the work to stop.
using Interrupted = std::function<bool()>;

// More threads than processors only take memory.  Sixteen are had anyway, so that what threads do
// can be seen on any machine.
inline size_t sensible_threads(size_t threads) {
  static const size_t most = std::max<size_t>(16, std::thread::hardware_concurrency());
  return std::clamp<size_t>(threads, 1, most);
}

// How many threads there is work for.
inline size_t threads_for(size_t threads, size_t items, size_t chunk) {
  return std::max<size_t>(1, std::min(sensible_threads(threads), (items + chunk - 1) / chunk));
}

// Calls body(thread, item) for the items of [0, items), which as many as threads_for(…) threads take
// in chunks, or fewer if the system gives no more; the calling thread is thread 0.
template <class Body>
void parallel_for(size_t threads, size_t items, size_t chunk, Body body) {
  threads = threads_for(threads, items, chunk);
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
    try {
      for (size_t thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
    } catch (const std::system_error&) {  // those there are do the work
    }
    work(0);
  }
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace pairpiece

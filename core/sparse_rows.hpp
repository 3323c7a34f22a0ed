// Counts by row and column, of which most are zero and not stored.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace pairpiece {

struct SparseRows {
  std::vector<uint64_t> begin;   // rows + 1 offsets into the next two
  std::vector<uint32_t> column;  // ascending within a row
  std::vector<float> count;

  size_t rows() const { return begin.size() - 1; }

  // Throws std::invalid_argument unless all offsets and columns are in range and in order.
  void check(size_t rows, size_t columns) const {
    bool good = begin.size() == rows + 1 && begin.front() == 0 && begin.back() == column.size() &&
                column.size() == count.size();
    for (size_t r = 0; good && r < rows; ++r) {
      good = begin[r] <= begin[r + 1] && begin[r + 1] <= column.size();
      for (uint64_t i = begin[r]; good && i < begin[r + 1]; ++i)
        good = column[i] < columns && (i == begin[r] || column[i - 1] < column[i]);
    }
    if (!good) throw std::invalid_argument("the table's rows are inconsistent");
  }

  double at(size_t row, uint32_t wanted) const {
    const auto first = column.begin() + ptrdiff_t(begin[row]);
    const auto last = column.begin() + ptrdiff_t(begin[row + 1]);
    const auto found = std::lower_bound(first, last, wanted);
    return found != last && *found == wanted ? double(count[size_t(found - column.begin())]) : 0;
  }

  // The same counts by column.
  SparseRows transposed(size_t columns) const {
    SparseRows out{std::vector<uint64_t>(columns + 1, 0), std::vector<uint32_t>(column.size()),
                   std::vector<float>(column.size())};
    for (const uint32_t c : column) ++out.begin[c + 1];
    std::partial_sum(out.begin.begin(), out.begin.end(), out.begin.begin());
    std::vector<uint64_t> next(out.begin.begin(), out.begin.end() - 1);
    for (uint32_t r = 0; r < rows(); ++r) {
      for (uint64_t i = begin[r]; i < begin[r + 1]; ++i) {
        const uint64_t entry = next[column[i]]++;
        out.column[entry] = r;
        out.count[entry] = count[i];
      }
    }
    return out;
  }
};

}  // namespace pairpiece

// Counts by row and column, of which most are zero and not stored.
#pragma once

#include <cstdint>
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
};

}  // namespace pairpiece

// A count of the pages of memory that have been touched.
#pragma once

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace patchio::testing {

/// Returns the bytes of the range that lie in memory, in pages that begin in the range. Expects that all of
/// it is mapped.
inline std::size_t TouchedBytes(const void* begin, std::size_t bytes)
{
  const std::size_t page = ::sysconf(_SC_PAGESIZE);
  const auto from = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (from + page - 1) / page * page, end = (from + bytes + page - 1) / page * page;
  std::vector<unsigned char> pages((std::max(end, first) - first) / page);
  EXPECT_EQ(::mincore(reinterpret_cast<void*>(first), pages.size() * page, pages.data()), 0) << "not mapped";
  return page *
         std::count_if(pages.begin(), pages.end(), [](unsigned char flags) { return (flags & 1) != 0; });
}

}  // namespace patchio::testing

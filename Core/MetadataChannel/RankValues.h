// Work divided over the ranks, and plain values of all of them.
#pragma once

#include "Support/Communicator.h"

#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace patchio {

/// Share of `count` things for one of several ranks: the first, and the one behind the last.
inline std::pair<std::size_t, std::size_t> ShareOf(std::size_t count, int rank, int ranks)
{
  return {count * rank / ranks, count * (rank + 1) / ranks};
}

/// Collective: plain values of each rank one after another, in rank order; how many may differ.
template <typename T>
std::vector<T> GatherValues(Communicator& comm, const std::vector<T>& mine)
{
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all;
  for (const std::string& text :
      comm.AllGather(std::string(reinterpret_cast<const char*>(mine.data()), mine.size() * sizeof(T)))) {
    const std::size_t before = all.size();
    all.resize(before + text.size() / sizeof(T));
    if (!text.empty()) {
      std::memcpy(all.data() + before, text.data(), text.size());
    }
  }
  return all;
}

}  // namespace patchio

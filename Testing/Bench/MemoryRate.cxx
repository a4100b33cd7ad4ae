// Prints the rates of this machine's memory in GB/s as JSON: memcpy on one thread into allocated pages, into
// new pages of 4 KiB, and into new huge pages. These are the upper limits for `./dev bench limits`.
#include "Base/Stopwatch.h"

#include <nlohmann/json.hpp>

#include <sys/mman.h>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr std::size_t Bytes = std::size_t(512) << 20;
constexpr std::size_t HugePage = std::size_t(2) << 20;

/// New memory for each object. advice: the kind of pages, for madvise().
class Fresh
{
public:
  explicit Fresh(int advice)
      : Memory(::mmap(nullptr, Bytes + HugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
  {
    ::madvise(this->Memory, Bytes + HugePage, advice);
  }
  ~Fresh() { ::munmap(this->Memory, Bytes + HugePage); }
  Fresh(const Fresh&) = delete;
  Fresh& operator=(const Fresh&) = delete;
  char* Get() const
  {
    const auto address = reinterpret_cast<std::size_t>(this->Memory);
    return reinterpret_cast<char*>((address + HugePage - 1) / HugePage * HugePage);
  }

private:
  void* Memory;
};

double Rate(const std::vector<char>& source, char* target)
{
  const patchio::Stopwatch watch;
  std::memcpy(target, source.data(), Bytes);
  return Bytes * 1e-9 / watch.Seconds();
}

}  // namespace

int main()
{
  const std::vector<char> source(Bytes, 1);
  {
    // Gets memory from the host of a virtual machine, so that the measurements do not wait for it.
    const Fresh warm(MADV_HUGEPAGE);
    Rate(source, warm.Get());
  }
  const Fresh there(MADV_HUGEPAGE), small(MADV_NOHUGEPAGE), huge(MADV_HUGEPAGE);
  Rate(source, there.Get());
  const nlohmann::json json{{"memcpy_into_memory_that_is_there", Rate(source, there.Get())},
      {"memcpy_into_fresh_4_KiB_pages", Rate(source, small.Get())},
      {"memcpy_into_fresh_huge_pages", Rate(source, huge.Get())}};
  std::printf("%s\n", json.dump().c_str());
}

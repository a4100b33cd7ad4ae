#include "Base/MachineName.h"

#include <fmt/format.h>

#include <unistd.h>
#include <atomic>

namespace patchio {

std::string MachineName()
{
  char name[256] = "";
  ::gethostname(name, sizeof(name) - 1);
  return name;
}

std::string TemporaryName(const std::string& path)
{
  static std::atomic<unsigned> counter{0};
  return fmt::format("{}.{}.{}.{}.tmp", path, MachineName(), ::getpid(), counter++);
}

}  // namespace patchio

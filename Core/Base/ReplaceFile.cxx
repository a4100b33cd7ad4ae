#include "Base/ReplaceFile.h"

#include "Base/Error.h"
#include "Base/MachineName.h"
#include "Base/PlainFile.h"
#include "Base/RunOnAllRanks.h"

#include <cerrno>
#include <cstdio>

namespace patchio {

void ReplaceFile(const std::string& path, const std::string& text)
{
  const std::string temporary = TemporaryName(path);
  std::string fault = CatchError([&] {
    const PlainFile file(temporary, PlainFile::Purpose::Create);
    file.Write(0, text.data(), text.size());
    file.Flush();
    if (std::rename(temporary.c_str(), path.c_str()) != 0) {
      throw SystemError(path, "a file that can be replaced", errno);
    }
  });
  if (!fault.empty()) {
    std::remove(temporary.c_str());
    const std::size_t at = fault.find(temporary);
    throw Error(at == std::string::npos ? fault : fault.replace(at, temporary.size(), path));
  }
}

}  // namespace patchio

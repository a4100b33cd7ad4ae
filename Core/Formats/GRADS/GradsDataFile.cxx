#include "Formats/GRADS/GradsDataFile.h"

#include "Support/Error.h"
#include "Support/RegularFile.h"

#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>

namespace patchio::grads {

DataFile::DataFile(const std::string& path) : Handle(OpenRegularFile(path))
{
  if (this->Handle < 0) {
    throw FileError(path, "a data file that can be opened", SystemMessage(errno));
  }
}

DataFile::~DataFile()
{
  ::close(this->Handle);
}

std::int64_t DataFile::Bytes() const
{
  struct stat status = {};
  return ::fstat(this->Handle, &status) == 0 ? static_cast<std::int64_t>(status.st_size) : 0;
}

bool DataFile::Read(std::int64_t offset, void* bytes, std::size_t count) const
{
  return ::pread(this->Handle, bytes, count, offset) == static_cast<ssize_t>(count);
}

}  // namespace patchio::grads

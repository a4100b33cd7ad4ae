// A data file that is looked into before its values are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace patchio::grads {

/// Open for reading.
class DataFile
{
public:
  /// Throws Error when it cannot be opened.
  explicit DataFile(const std::string& path);
  ~DataFile();
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;

  std::int64_t Bytes() const;
  /// False when they are not there.
  bool Read(std::int64_t offset, void* bytes, std::size_t count) const;

private:
  int Handle;
};

}  // namespace patchio::grads

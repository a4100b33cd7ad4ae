// The files that a study writes and reads, and getting them out of the memory.
#pragma once

#include "Base/Communicator.h"

#include <cstdint>
#include <string>

namespace patchio::probe {

/// A folder of its own inside the probed one; gone with everything in it when this ends.
class TestFolder
{
public:
  /// Collective. Throws Error, on all ranks, when there is no room for `bytes` or it cannot be made.
  TestFolder(Communicator& ranks, const std::string& directory, std::uint64_t bytes);
  /// Not collective; rank 0 removes.
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& Path() const { return this->Name; }
  /// A file in it that a signal removes as well.
  std::string File(const std::string& name);

private:
  Communicator& Ranks;
  std::string Name;
};

/// Writes the pattern of `seed` over `bytes` bytes of the file from `offset` on and waits until the storage
/// has them. Ends early when interrupted. Throws Error.
void WritePattern(const std::string& path, std::uint64_t seed, std::uint64_t offset, std::uint64_t bytes);

/// Asks this machine to forget what it has of the file, which must have been written down before.
void DropFromMemory(const std::string& path);

/// The part of the file that this machine has in memory, 0 to 1; -1 where it does not say.
double ResidentPart(const std::string& path);

}  // namespace patchio::probe

// The circumstances of a study: host, system, MPI, file system, and this machine's memory.
#pragma once

#include "Base/Communicator.h"
#include "Probe/Functions.h"
#include "Probe/Result.h"

#include <cstdint>
#include <string>

namespace patchio::probe {

/// Collective: stores host, system, MPI, file system and start time in `result`.
void DescribeCircumstances(Communicator& ranks, const std::string& directory, Result& result);

/// Collective: writes a file of `bytes` bytes, and reads it on rank 0, first after dropping it from memory
/// and then again. Throws Error if this fails.
CacheCheck CheckCache(Communicator& ranks, const std::string& file, std::uint64_t bytes);

/// Returns a warning for the user; empty if files can be dropped from memory.
std::string CacheWarning(const CacheCheck& check);

/// Returns whether a read came from memory. rate: bytes/s that the storage would have to deliver. resident:
/// part of the file in memory before the read, 0 to 1; -1: not known.
bool LooksCached(const CacheCheck& check, double rate, double resident, int ranks);

/// Returns whether the MPI library declares the function without implementing it, so that a call for a file
/// at `path` would end the process. One case is known: in Open MPI, ROMIO has no non-blocking collective
/// functions (seen in 4.1.4; open-mpi/ompi#9432). Open MPI uses ROMIO if the user asks for it, and by default
/// on Lustre.
bool LibraryLacks(const Function& function, const std::string& path);

}  // namespace patchio::probe

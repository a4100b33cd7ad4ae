// The circumstances of a study: host, system, MPI, file system, and this machine's memory.
#pragma once

#include "Base/Communicator.h"
#include "Probe/Functions.h"
#include "Probe/Result.h"

#include <cstdint>
#include <string>

namespace patchio::probe {

/// Collective. Host, system, MPI, file system and start time into `result`.
void DescribeCircumstances(Communicator& ranks, const std::string& directory, Result& result);

/// Collective. Writes a file of `bytes` bytes and reads it, dropped from memory and not dropped, from rank 0.
/// Throws Error when it cannot.
CacheCheck CheckCache(Communicator& ranks, const std::string& file, std::uint64_t bytes);

/// A warning for the user; empty when files do leave the memory.
std::string CacheWarning(const CacheCheck& check);

/// Returns whether a reading rate, in bytes/s of the storage's bytes, is that of memory rather than of a
/// storage.
bool LooksCached(const CacheCheck& check, double rate, double resident, int ranks);

/// Returns whether the MPI library declares the function and does not have it, so that a call for a file at
/// `path` would end the process. Known of one: in Open MPI, ROMIO has no non-blocking collective functions
/// (seen in 4.1.4; open-mpi/ompi#9432). ROMIO is at work where the user asked for it, and on Lustre by
/// default.
bool LibraryLacks(const Function& function, const std::string& path);

}  // namespace patchio::probe

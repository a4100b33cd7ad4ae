// The circumstances of a study: host, system, MPI, file system, and this machine's page cache.
#pragma once

#include "Base/Communicator.h"
#include "Probe/Functions.h"
#include "Probe/Result.h"

#include <cstdint>
#include <string>

namespace patchio::probe {

/// Sets result.Started, and result.Machine: hosts, ranks, system, directory, file system and MPI. directory:
/// folder on the storage. Collective: every rank of the communicator calls it.
void DescribeCircumstances(Communicator& ranks, const std::string& directory, Result& result);

/// Tests on rank 0 whether a file can be dropped from the page cache: writes a file of `bytes` bytes, drops
/// the file, and reads the file twice. Returns the same result on all ranks; after a signal, its rates are 0.
/// Throws Error, on all ranks, if the file cannot be written or read. Collective: every rank of the
/// communicator calls it.
CacheCheck CheckCache(Communicator& ranks, const std::string& file, std::uint64_t bytes);

/// Returns a warning for the user; empty if the check shows that files can be dropped from the page cache.
std::string CacheWarning(const CacheCheck& check);

/// Returns whether a read probably came from the page cache. rate: bytes/s that the storage must have
/// delivered if the read did not come from the cache. resident: fraction of the file in the cache before the
/// read, 0 to 1; -1: unknown. rankCount: number of ranks that have read.
bool IsProbablyCached(const CacheCheck& check, double rate, double resident, int rankCount);

/// Returns whether the MPI library declares the function without implementing it, so that a call for a file
/// at `path` would end the process. One case is known: in Open MPI, ROMIO has no non-blocking collective
/// functions (seen in 4.1.4; open-mpi/ompi#9432). Open MPI uses ROMIO on Lustre by default, and elsewhere if
/// the user chooses ROMIO.
bool LibraryLacks(const Function& function, const std::string& path);

}  // namespace patchio::probe

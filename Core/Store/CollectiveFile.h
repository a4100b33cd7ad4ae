// Files that all ranks of an MPI communicator read or write together.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace patchio {

/// The fault of ranks that have none of their own; another rank's says the cause.
constexpr const char* FaultElsewhere = "Opening a file failed on some ranks.";

// Collective: each rank sets its view of the file, and all read or write at once. They give what went wrong
// on this rank, empty when nothing did. A file that one rank cannot open is a fault on all of them.

/// Writes this rank's bytes at `begin`. The file must exist.
std::string WriteCollectively(
    MPI_Comm comm, const std::string& path, std::uint64_t begin, std::uint64_t bytes, const std::byte* data);

/// Reads the `bytes` from `begin` into memory that all ranks see; each rank reads its slice to its part of
/// it.
std::string ReadCollectively(
    MPI_Comm comm, const std::string& path, std::uint64_t begin, std::uint64_t bytes, std::byte* into);

}  // namespace patchio

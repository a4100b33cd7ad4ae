// Locations that are not ordinary extents, as bytes, and whether such ones can be right.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"
#include "Support/Bytes.h"

#include <cstdint>
#include <vector>

namespace patchio {

/// Writes a table value by value; Files and Problems are left out. `numbers[i]` takes the place of file i.
void PutLocations(ByteWriter& out, const LocationTable& table, const std::vector<std::uint32_t>& numbers);

/// Reads it back. Throws Error when the bytes hold no table, or one that refers to something it does not
/// hold, or to a file of `files` or more.
LocationTable GetLocations(ByteReader& in, std::uint64_t files);

/// Throws Error unless the location, from GetLocations(), can be carried out for this <patch, variable>:
/// inside the files, of the size that the catalog asks for.
void CheckLocation(const Catalog& catalog, const PatchVariable& request, const LocationTable& table,
    const Location& location, const std::vector<std::uint64_t>& fileBytes);

/// Appends the location with all that it refers to; gives its copy, with the numbers of its new place.
/// `numbers[i]` takes the place of file i. `from` and `to` are different tables.
Location AppendLocation(const LocationTable& from, const Location& location, LocationTable& to,
    const std::vector<std::uint32_t>& numbers);

/// Bytes that the location has in its file or files; 0 where only the library knows.
std::uint64_t StoredBytes(const LocationTable& table, const Location& location);

}  // namespace patchio

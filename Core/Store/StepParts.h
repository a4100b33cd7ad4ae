// The master's two parts of the sidecar of a time step, as bytes and as records.
#pragma once

#include "Catalog/Catalog.h"
#include "Store/Fingerprint.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace patchio {

/// The first part: enough to see whose sidecar it is and whether it still holds.
struct StepHead
{
  std::string Path;  ///< absolute, of the describing file; empty in a sidecar beside it
  std::string FormatName;
  Fingerprint Described;
  std::int64_t Step = 0;
  double Time = 0;
};

/// The second part.
struct StepDescription
{
  std::vector<std::string> Files;  ///< below the folder of the describing file
  std::vector<Fingerprint> Prints;
  Catalog Data;
};

std::vector<std::byte> Encode(const StepHead& head);
/// Throws Error.
StepHead DecodeHead(const std::vector<std::byte>& bytes);

/// The description of a step, to be encoded. Throws Error when one of its files lies outside the folder of
/// the describing file, Catalog::Path.
StepDescription Describe(
    const Catalog& catalog, const std::vector<std::string>& files, const std::vector<Fingerprint>& prints);
std::vector<std::byte> Encode(const StepDescription& description);
/// Files get the folder of `path`, the describing file, before their names; the catalog is checked. Throws
/// Error.
StepDescription DecodeDescription(const std::vector<std::byte>& bytes, const std::string& path);

}  // namespace patchio

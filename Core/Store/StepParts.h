// The two parts of a step's index file that rank 0 writes, as records and as bytes.
#pragma once

#include "Catalog/Catalog.h"
#include "Store/Fingerprint.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace patchio {

/// The first part: the data that show which file the index describes, and whether it is still valid.
struct StepIndexHead
{
  std::string Path;  ///< absolute path of the describing file; empty in an index file in the same folder
  std::string FormatName;
  Fingerprint Described;
  std::int64_t Step = 0;
  double Time = 0;
};

/// The second part: the step's files and catalog.
struct StepDescription
{
  std::vector<std::string> Files;  ///< names relative to the folder of the describing file
  std::vector<Fingerprint> Prints;
  Catalog Data;
};

std::vector<std::byte> Encode(const StepIndexHead& head);
/// Reads the bytes of Encode(const StepIndexHead&). Throws Error.
StepIndexHead DecodeHead(const std::vector<std::byte>& bytes);

/// Makes the description of a step, ready for Encode(). Throws Error when one of the files lies outside the
/// folder of the describing file, Catalog::Path.
StepDescription Describe(
    const Catalog& catalog, const std::vector<std::string>& files, const std::vector<Fingerprint>& prints);
std::vector<std::byte> Encode(const StepDescription& description);
/// Reads the bytes of Encode(const StepDescription&) and checks the catalog. The names of files get the
/// folder of `path`, the describing file. Throws Error.
StepDescription DecodeDescription(const std::vector<std::byte>& bytes, const std::string& path);

}  // namespace patchio

// The two parts of the index file of a step that rank 0 writes, as records and as bytes.
#pragma once

#include "Catalog/Catalog.h"
#include "Store/Fingerprint.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace patchio {

/// The first part of an index file: data that show which step the index file belongs to, and whether the
/// index file is still valid.
struct StepIndexHead
{
  std::string Path;  ///< absolute path of the describing file; empty in an index file in the same folder
  std::string FormatName;
  Fingerprint DescribingPrint;  ///< fingerprint of the describing file
  std::int64_t Step = 0;
  double Time = 0;
};

/// The second part of an index file: the files and the catalog of the step.
struct StepDescription
{
  std::vector<std::string> Files;   ///< paths; in the index file, relative to the describing file's folder
  std::vector<Fingerprint> Prints;  ///< fingerprint of each of Files
  Catalog Data;
};

/// Returns the first part as bytes.
std::vector<std::byte> Encode(const StepIndexHead& head);
/// Parses the result of Encode(const StepIndexHead&). Throws Error if the bytes are not the head of the index
/// file of a step.
StepIndexHead DecodeHead(const std::vector<std::byte>& bytes);

/// Makes the second part. `files`: paths of the files of the index; `prints`: fingerprints of `files`. Throws
/// Error if a file lies outside the folder of the describing file, Catalog::Path.
StepDescription MakeDescription(
    const Catalog& catalog, const std::vector<std::string>& files, const std::vector<Fingerprint>& prints);
/// Returns the second part as bytes.
std::vector<std::byte> Encode(const StepDescription& description);
/// Parses the result of Encode(const StepDescription&), and checks the catalog. StepDescription::Files of the
/// result are paths with the folder of `path`, the describing file. Throws Error if the bytes are damaged.
StepDescription DecodeDescription(const std::vector<std::byte>& bytes, const std::string& path);

}  // namespace patchio

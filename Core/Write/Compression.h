// Whether and how the values of a step are compressed: what the user asks for, and what follows from it.
#pragma once

#include "Write/StepWriter.h"

#include <cstdint>
#include <vector>

namespace patchio::container {

/// What a user may ask for.
enum class CompressionChoice : std::uint8_t
{
  Off,
  Deflate,
  Zstd,
  Auto  ///< deflate, where a sample of the values becomes at least a tenth smaller
};
constexpr CompressionChoice LastCompressionChoice = CompressionChoice::Auto;

/// "off" and so on.
const char* NameOf(CompressionChoice choice);

/// Collective: what StepToWrite::Compression shall be. sample: values of this rank's patches, which Auto
/// looks at.
std::vector<FilterKind> ChooseCompression(Communicator& ranks, const StepToWrite& step,
    CompressionChoice choice, const std::vector<PatchValues>& sample);

}  // namespace patchio::container

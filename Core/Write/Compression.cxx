#include "Write/Compression.h"

#include "Base/RunOnAllRanks.h"
#include "Formats/Container/StepLayout.h"
#include "Write/ChunkEncoder.h"

#include <algorithm>
#include <cstddef>

namespace patchio::container {
namespace {

/// Bytes of each variable of the sample, as they are and compressed.
std::vector<double> TryDeflate(const StepToWrite& step, const std::vector<PatchValues>& sample)
{
  constexpr std::size_t most = 4 << 20, piece = 64 << 10;  // bytes of a variable, and at once
  ChunkEncoder encoder;
  std::vector<double> sizes(2 * step.Types.size(), 0);
  for (const PatchValues& one : sample) {
    const auto* values = static_cast<const std::byte*>(one.Values);
    const std::size_t element = SizeOf(step.Types[one.Variable]);
    const std::size_t bytes = ValuesOf(step.Data, one.Variable, one.Patch) * element;
    double* const of = &sizes[2 * one.Variable];
    for (std::size_t done = 0; done < bytes && of[0] < most; done += piece) {
      const std::size_t part = std::min(piece, bytes - done);
      of[0] += static_cast<double>(part);
      of[1] +=
          static_cast<double>(encoder.Encode(FilterKind::Deflate, element, values + done, part).Bytes.size());
    }
  }
  return sizes;
}

}  // namespace

const char* NameOf(CompressionChoice choice)
{
  switch (choice) {
    case CompressionChoice::Deflate:
      return "deflate";
    case CompressionChoice::Zstd:
      return "zstd";
    case CompressionChoice::Auto:
      return "auto";
    case CompressionChoice::Off:
      break;
  }
  return "off";
}

std::vector<FilterKind> ChooseCompression(Communicator& ranks, const StepToWrite& step,
    CompressionChoice choice, const std::vector<PatchValues>& sample)
{
  constexpr double worthwhile = 0.9;
  const FilterKind filter = choice == CompressionChoice::Zstd      ? FilterKind::Zstd
                            : choice == CompressionChoice::Deflate ? FilterKind::Deflate
                                                                   : FilterKind::None;
  std::vector<FilterKind> chosen(step.Types.size(), filter);
  if (choice != CompressionChoice::Auto) {
    return chosen;
  }
  std::vector<double> sizes;
  RunOnAllRanks(ranks, [&] { sizes = TryDeflate(step, sample); });
  const std::vector<double> all = ranks.AllGather(sizes);
  sizes.assign(sizes.size(), 0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    sizes[i % sizes.size()] += all[i];
  }
  for (std::size_t v = 0; v < chosen.size(); ++v) {
    chosen[v] = sizes[2 * v + 1] < worthwhile * sizes[2 * v] ? FilterKind::Deflate : FilterKind::None;
  }
  return chosen;
}

}  // namespace patchio::container

#include "Formats/GRADS/GradsByteOrder.h"

#include "Formats/GRADS/GradsFiles.h"
#include "Support/ByteOrder.h"
#include "Support/PlainFile.h"
#include "Support/RunOnAllRanks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

namespace patchio::grads {
namespace {

constexpr std::int64_t MostVariables = 8;  ///< that are looked at
constexpr std::int64_t ValuesOfRun = 64;   ///< read at once
constexpr int RunsOfField = 2;
constexpr std::size_t FewestWords = 16;  ///< different ones; fewer say nothing

float ValueOf(std::uint32_t word, bool bigEndian)
{
  word = bigEndian == HostIsLittleEndian() ? __builtin_bswap32(word) : word;
  float value = 0;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

/// Hardly any quantity has other values. Two thirds of numbers whose bytes are turned around have, or all
/// where mantissas end with zeros.
bool IsPlausible(float value)
{
  constexpr float least = 1e-12f, most = 1e12f;
  return std::abs(value) >= least && std::abs(value) <= most;
}

/// True for zero, and for the value that stands for none.
bool SaysNothing(float value, const std::optional<double>& undefined)
{
  return value == 0 || (undefined && std::abs(value - *undefined) <= std::abs(*undefined) / 1e5);
}

/// Some different words of a step's fields, as they lie in the file.
std::set<std::uint32_t> SampleOf(const Descriptor& descriptor, std::int64_t step)
{
  const PlainFile file(FileName(descriptor, step, 0));
  const FileLayout layout(descriptor);
  const StepPlace place = PlaceOfStep(descriptor, step);
  const auto points = static_cast<std::int64_t>(descriptor.X.size() * descriptor.Y.size());
  const auto variables = static_cast<std::int64_t>(descriptor.Variables.size());
  const std::int64_t looked = std::min(variables, MostVariables);
  std::set<std::uint32_t> words;
  std::vector<std::uint32_t> run(static_cast<std::size_t>(std::min(points, ValuesOfRun)));
  const auto count = static_cast<std::int64_t>(run.size());
  for (std::int64_t i = 0; i < looked; ++i) {
    const auto variable = static_cast<int>(i * variables / looked);
    const std::int64_t field = layout.Offset(place, 0, variable, descriptor.Variables[variable].Fields() / 2);
    for (int r = 1; r <= RunsOfField; ++r) {
      const std::int64_t first = (points - count) * r / (RunsOfField + 1);
      const std::size_t bytes = run.size() * sizeof(run[0]);
      if (file.ReadSome(static_cast<std::uint64_t>(field + first * 4), run.data(), bytes) == bytes) {
        words.insert(run.begin(), run.end());
      }
    }
  }
  return words;
}

}  // namespace

std::string DoubtsAboutByteOrder(const Descriptor& descriptor, std::int64_t step)
{
  if (descriptor.Type != ElementType::Float32 || descriptor.Sequential) {
    return {};
  }
  std::set<std::uint32_t> sample;
  // A file that cannot be opened, or a member of the ensemble that is not there, says so when it is read.
  const std::string ignored = CatchError([&] { sample = SampleOf(descriptor, step); });
  std::size_t words = 0, asDescribed = 0, otherwise = 0;
  for (const std::uint32_t word : sample) {
    const float value = ValueOf(word, descriptor.BigEndian);
    const float other = ValueOf(word, !descriptor.BigEndian);
    if (!SaysNothing(value, descriptor.Undefined) && !SaysNothing(other, descriptor.Undefined)) {
      ++words;
      asDescribed += IsPlausible(value) ? 1 : 0;
      otherwise += IsPlausible(other) ? 1 : 0;
    }
  }
  const bool doubtful = words >= FewestWords && asDescribed * 2 < words && otherwise * 5 >= words * 4;
  if (!doubtful) {
    return {};
  }
  const char* const orders[] = {"little", "big"};
  const char* const order = orders[descriptor.BigEndian ? 1 : 0];
  const char* const right = orders[descriptor.BigEndian ? 0 : 1];
  return fmt::format(
      "{}: the byte order seems to be wrong. Of {} different values, {} make sense as {}-endian numbers, but "
      "{} as {}-endian numbers. If the values shown are wrong, write OPTIONS {}_endian into {}.",
      FileName(descriptor, step, 0), words, asDescribed, order, otherwise, right, right, descriptor.Path);
}

}  // namespace patchio::grads

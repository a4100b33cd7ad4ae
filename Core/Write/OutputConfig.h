// The output configuration of a simulation, a JSON text: the variables to write, the steps, the format and
// the mode. The channels follow B. Yang et al., "Input/Output analysis and optimization for GRAPES regional
// model" (2022).
#pragma once

#include "Base/Communicator.h"
#include "Catalog/Location.h"
#include "Write/Sensor.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace patchio::output {

/// A range of steps: First, First + Every, First + 2 Every, ... up to Last. The configuration calls a range
/// of steps a window.
struct StepRange
{
  std::int64_t First = 0;
  std::int64_t Last = std::numeric_limits<std::int64_t>::max();
  std::int64_t Every = 1;  ///< at least 1

  bool Contains(std::int64_t step) const
  {
    return step >= this->First && step <= this->Last && (step - this->First) % this->Every == 0;
  }
};

/// The format of a channel's files.
enum class TargetFormat
{
  Container,  ///< NAME.pio, see Documentation/Container.md
  Grads,      ///< a binary file of floats with a descriptor NAME.ctl; one level, each variable on all patches
  Kwave       ///< samples of a sensor, in files like k-Wave's; see SensorPortion
};

/// Returns the name of a format in the configuration: "container", "grads" or "kwave".
const char* NameOf(TargetFormat format);

/// A channel: files of one format that a simulation writes at chosen steps.
struct Channel
{
  std::string Name;  ///< name for messages
  std::string Path;
  std::string Mask;  ///< path of the file with the sensor mask; empty: no mask
  TargetFormat Format = TargetFormat::Container;
  std::vector<std::string> Variables;  ///< names of the variables; empty: all
  std::vector<StepRange> StepRanges;   ///< at least one; a step in several ranges is written once
  bool Overwrite = false;              ///< true: replace the output of another run
  FilterType Compression = FilterType::None;
  int RanksPerFile = 0;  ///< for the format Container; see StepWriter::StepWriter()
  std::string Start =
      "00:00Z01jan2000";         ///< for the format Grads: time of the first step, in GrADS's notation
  std::string Interval = "1hr";  ///< for the format Grads: time between two steps, in GrADS's notation
  Sensor SensorCells;            ///< for the format Kwave: the sensor
  int StepsAtOnce = 0;  ///< for the format Kwave: number of steps per write; 0: from the storage profile
  /// For the format Kwave: age of the oldest gathered step at which the next step causes a write; 0: never.
  double FlushSeconds = 0;
  std::uint64_t Memory = 0;  ///< for the format Kwave: limit on the bytes of gathered steps on each rank

  /// Returns whether a range of steps contains `step`.
  bool WritesStep(std::int64_t step) const;
  /// Returns an upper limit on the number of steps that the channel writes: the sum over all ranges of steps.
  std::int64_t MostSteps() const;
};

/// The threads or ranks that write the steps.
enum class Mode
{
  Direct,  ///< a call returns after the write of the step; the calling thread writes
  Thread,  ///< a call returns when the values are copied; a thread of each rank writes the values
  Ranks    ///< a call returns when the values are being sent to I/O ranks, which write the values
};

/// Returns the name of a mode in the configuration: "direct", "thread" or "ranks".
const char* NameOf(Mode mode);

/// The choice of the I/O ranks.
enum class IoLayout
{
  Independent,  ///< the last ranks, which usually have machines without compute ranks
  Shared        ///< a few ranks of each machine, so that values do not leave the machine
};

/// Returns the name of a layout in the configuration: "independent" or "shared".
const char* NameOf(IoLayout layout);

/// The channels of a simulation, and the settings for all channels.
struct OutputConfig
{
  Mode WriteMode = Mode::Thread;
  int IoRanks = 0;  ///< number of I/O ranks with Mode::Ranks; 0: DefaultIoRankCount()
  IoLayout Layout = IoLayout::Independent;
  /// Limit on the bytes of pending steps on each rank, in addition to Channel::Memory.
  std::uint64_t Memory = std::uint64_t(1) << 30;
  double WaitSeconds = 600;  ///< longest wait for other ranks or for the storage
  int Threads = 0;           ///< number of concurrent writes on each rank; 0: from the storage profile
  std::vector<Channel> Channels;
};

/// Reads a configuration. `textOrPath`: a JSON text, which begins with '{', or the path of a file with such a
/// text. Documentation/Guide/Output.md lists the keys. Throws Error for unknown keys, invalid values, and
/// files that cannot be read.
OutputConfig ReadOutputConfig(const std::string& textOrPath);

/// Throws Error, the same on all ranks, if the configuration of a rank differs from the configuration of rank
/// 0. The Error has the first key that differs, and both values. Collective: every rank of `ranks` calls it.
void CheckSameConfig(const OutputConfig& config, Communicator& ranks);

/// Throws Error if two channels write to the same file, even if their paths are spelled differently, if one
/// channel writes into the container of the other, or if a channel writes to a file with a mask. Not
/// collective.
void CheckPaths(const OutputConfig& config);

/// Makes the parent folders of `path`. Throws Error if a folder cannot be made, or if files cannot be made in
/// `path` (if `path` is a folder) or in the parent folder of `path`. Not collective.
void MakeWritableFolder(const std::string& path);

/// A set of variables as a short list of integers, after B. Yang et al. (2022, see the top of this file). The
/// variables are sorted by name. Each variable has a binary digit, which is 1 if the set contains the
/// variable. Each group of 31 digits forms an integer, with the first digit as the highest. The remaining
/// digits form the last integer.
using VariableCode = std::vector<std::int32_t>;

/// Encodes a set of variables. `names`: names of all variables. `selected`: one flag per variable, whether
/// the set contains the variable.
VariableCode CodeOf(const std::vector<std::string>& names, const std::vector<bool>& selected);
/// Returns one flag per variable: whether the set contains the variable. Throws Error if `code` is not a
/// result of CodeOf() for names.size() variables.
std::vector<bool> Decode(const VariableCode& code, const std::vector<std::string>& names);

/// Returns a code that differs from the codes of all sets, and tells the I/O ranks that no step follows.
VariableCode EndMark();

}  // namespace patchio::output

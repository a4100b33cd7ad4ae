// The output configuration of a simulation, a JSON text: the variables to write, the steps, the format and
// the mode. The channels are those of B. Yang et al., "Input/Output analysis and optimization for GRAPES
// regional model" (2022).
#pragma once

#include "Base/Communicator.h"
#include "Catalog/Location.h"
#include "Write/Sensor.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace patchio::output {

/// The steps First, First + Every, First + 2 Every, ... up to Last.
struct Window
{
  std::int64_t First = 0;
  std::int64_t Last = std::numeric_limits<std::int64_t>::max();
  std::int64_t Every = 1;  ///< at least 1

  bool Has(std::int64_t step) const
  {
    return step >= this->First && step <= this->Last && (step - this->First) % this->Every == 0;
  }
};

/// The format of a channel's files.
enum class TargetFormat
{
  Container,  ///< NAME.pio, see Documentation/Container.md
  Grads,      ///< flat binary floats with a descriptor NAME.ctl; one level, each variable on all patches
  Kwave       ///< samples of a sensor, in files like k-Wave's; see SensorSeries
};

/// Returns the name in the configuration: "container", "grads" or "kwave".
const char* NameOf(TargetFormat format);

/// A channel: files of one format that a simulation writes at chosen steps.
struct Channel
{
  std::string Name;  ///< name for messages
  std::string Path;
  std::string Mask;  ///< path of the file with the sensor mask; empty: none
  TargetFormat Format = TargetFormat::Container;
  std::vector<std::string> Variables;  ///< empty: all
  std::vector<Window> Windows;         ///< at least one; a step in several windows is written once
  bool Overwrite = false;              ///< true: replace the output of another run
  FilterKind Compression = FilterKind::None;
  int RanksPerFile = 0;  ///< for containers; see StepWriter
  std::string Start =
      "00:00Z01jan2000";         ///< for the format Grads: time of the first step in GrADS's notation
  std::string Interval = "1hr";  ///< for the format Grads: time between steps of the file
  Sensor Sees;                   ///< for the format Kwave: the sensor
  int StepsAtOnce = 0;           ///< for the format Kwave; 0: from the storage's profile
  double FlushSeconds = 0;       ///< for the format Kwave: longest time of gathering; 0: no limit
  std::uint64_t Memory = 0;      ///< for the format Kwave: bytes on each rank for gathered steps

  /// Returns whether the channel writes the step.
  bool Wants(std::int64_t step) const;
  /// Returns an upper limit on the number of steps that the channel writes.
  std::int64_t MostSteps() const;
};

/// The threads or ranks that write the steps.
enum class Mode
{
  Direct,  ///< a call returns when its step is on the storage
  Thread,  ///< a call returns when its values are copied; a thread of each rank writes them
  Ranks    ///< a call returns when its values are being sent to I/O ranks, which write them
};

/// Returns the name in the configuration: "direct", "thread" or "ranks".
const char* NameOf(Mode mode);

/// The choice of the I/O ranks.
enum class IoLayout
{
  Independent,  ///< the last ranks, which usually have machines without compute ranks
  Shared        ///< a few ranks of each machine, so that values do not leave the machine
};

/// Returns the name in the configuration: "independent" or "shared".
const char* NameOf(IoLayout layout);

/// The output configuration of a simulation.
struct OutputConfig
{
  Mode How = Mode::Thread;
  int IoRanks = 0;  ///< number of I/O ranks with Mode::Ranks; 0: see AdaptiveCount()
  IoLayout Layout = IoLayout::Independent;
  /// Bytes that pending steps may take on each rank, in addition to Channel::Memory.
  std::uint64_t Memory = std::uint64_t(1) << 30;
  double WaitSeconds = 600;  ///< the longest wait for other ranks or the storage
  int Threads = 0;           ///< writes in flight per rank; 0: from the storage's profile
  std::vector<Channel> Channels;
};

/// Reads a configuration. `textOrPath`: a JSON text, which begins with '{', or the path of a file with such a
/// text. Documentation/Guide/Output.md lists the keys. Throws Error for invalid values and unknown keys.
OutputConfig ReadOutputConfig(const std::string& textOrPath);

/// Throws Error, the same on all ranks, if the configuration of a rank differs from that of rank 0. The Error
/// names the first key that differs, with both values. Collective: every rank of `ranks` calls it.
void CheckAlike(const OutputConfig& config, Communicator& ranks);

/// Throws Error if two channels write to the same file, even if their paths are spelled differently, or if
/// one channel writes into the container of the other. Not collective.
void CheckPaths(const OutputConfig& config);

/// Makes the folders above `path`. Throws Error if it cannot make them, or if the folder `path` or its parent
/// folder is not writable. Not collective.
void CheckPlace(const std::string& path);

/// A set of variables as a short list of integers, after B. Yang et al. (2022, see the top of this file). The
/// variables are in the order of their names. Each variable has a binary digit: 1 if the variable is in the
/// set. Each group of 31 digits is an integer whose first digit is the highest; the last group has zeros on
/// the left.
using VariableCode = std::vector<std::int32_t>;

/// Encodes a set of variables. `names`, `wanted`: name of each variable, and whether it is in the set.
VariableCode CodeOf(const std::vector<std::string>& names, const std::vector<bool>& wanted);
/// Returns one flag per variable: whether the variable is in the set. Throws Error if `code` is not a code
/// for this number of variables.
std::vector<bool> Decode(const VariableCode& code, const std::vector<std::string>& names);

/// Returns the code that means that no step follows. This code differs from the codes of all sets.
VariableCode EndMark();

}  // namespace patchio::output

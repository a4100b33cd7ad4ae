// What a simulation shall write, when, and how: its output configuration, a JSON text. The channels are those
// of the GRAPES I/O framework (paper 5, section on I/O channels).
#pragma once

#include "Base/Communicator.h"
#include "Catalog/Extent.h"
#include "Write/RankMap.h"
#include "Write/Sensor.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace patchio::output {

/// Steps First, First + Every, ... up to Last.
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

enum class TargetFormat
{
  Container,  ///< NAME.pio, see Documentation/Container.md
  Grads,      ///< flat binary floats and their descriptor NAME.ctl; one level, each variable everywhere
  Kwave       ///< what a sensor sees, in files like k-Wave's: see SensorSeries
};

/// "container" and so on.
const char* NameOf(TargetFormat format);

struct Channel
{
  std::string Name;  ///< for messages
  std::string Path;
  std::string Mask;  ///< path of the file with the sensor mask; empty: none
  TargetFormat Format = TargetFormat::Container;
  std::vector<std::string> Variables;  ///< empty: all
  std::vector<Window> Windows;         ///< at least one; a step in several is written once
  bool Overwrite = false;              ///< replace what another run has written
  FilterKind Compression = FilterKind::None;
  int RanksAFile = 0;  ///< of containers, see StepWriter
  std::string Start =
      "00:00Z01jan2000";         ///< of the format Grads: the time of the first step, as GrADS has it
  std::string Interval = "1hr";  ///< of the format Grads, between steps of the file
  Sensor Sees;                   ///< of the format Kwave
  int StepsAtOnce = 0;           ///< of the format Kwave; 0: as the storage's profile says
  double FlushSeconds = 0;       ///< of the format Kwave: the longest that steps are gathered; 0: any time
  std::uint64_t Memory = 0;      ///< of the format Kwave: bytes on each rank for steps that are gathered

  bool Wants(std::int64_t step) const;
  /// At least as many as it wants.
  std::int64_t MostSteps() const;
};

enum class Mode
{
  Direct,  ///< a call returns when its step is on the storage
  Thread,  ///< a call returns when its values are copied; a thread of each rank writes them
  Ranks    ///< a call returns when its values are on their way to I/O ranks, which write them
};

/// "direct" and so on.
const char* NameOf(Mode mode);

struct OutputConfig
{
  Mode How = Mode::Thread;
  int IoRanks = 0;  ///< of Mode::Ranks; 0: see AdaptiveCount()
  IoLayout Layout = IoLayout::Independent;
  /// Bytes that steps on their way may take on each rank, apart from Channel::Memory.
  std::uint64_t Memory = std::uint64_t(1) << 30;
  double WaitSeconds = 600;  ///< the longest wait for other ranks or the storage
  int Threads = 0;           ///< writes in flight of each rank; 0: as the storage's profile says
  std::vector<Channel> Channels;
};

/// From a JSON text, which begins with '{', or from the file of that name. Documentation/Output.md lists the
/// keys. Throws Error for what is not understood: unknown keys too.
OutputConfig ReadOutputConfig(const std::string& textOrPath);

/// Collective: every rank of `ranks` calls it. Throws Error, the same on all ranks, if the configuration of a
/// rank differs from that of rank 0. The Error names the first key that differs, with both values.
void CheckAlike(const OutputConfig& config, Communicator& ranks);

/// Throws Error if two channels write to the same file, however their paths are spelled, or one of them into
/// the container of the other. Not collective.
void CheckPaths(const OutputConfig& config);

/// Makes the folders above `path`. Not collective. Throws Error if that fails, or if the folder `path`, or
/// the one above it, is not writable.
void CheckPlace(const std::string& path);

/// The variables are sorted by name, and each has a digit, 1 where it is wanted. Groups of 31 digits are
/// binary numbers, of which the first digit is the highest; the last group has zeros on its left.
using VariableCode = std::vector<std::int32_t>;

/// names, wanted: of each variable, by number.
VariableCode CodeOf(const std::vector<std::string>& names, const std::vector<bool>& wanted);
/// Which variables are wanted, by number. Throws Error for what is no code of so many variables.
std::vector<bool> Decode(const VariableCode& code, const std::vector<std::string>& names);

/// Says that no step follows: no set has this code.
VariableCode EndMark();

}  // namespace patchio::output

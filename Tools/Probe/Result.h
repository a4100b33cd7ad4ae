// The findings of a study, and their file. The schema is in Documentation/Guide/StorageProbe.md.
#pragma once

#include "Probe/Curve.h"
#include "Probe/TestData.h"
#include "Tuning/RateFit.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace patchio::probe {

/// Bytes of a KB, in which files give rates.
constexpr double Kilo = 1000;

/// WhyIncomplete of a study that a signal ended.
constexpr const char* Interruption = "it was interrupted";

/// A measured point: a function, a view, a file size and a block size.
struct PointKey
{
  std::string Function;
  View Shape = View::Own;
  std::uint64_t FileBytes = 0;  ///< as asked for; files are smaller by what the ranks cannot divide
  std::uint64_t Block = 0;      ///< bytes of one call of one rank

  bool operator<(const PointKey& other) const { return this->Tied() < other.Tied(); }
  bool operator==(const PointKey& other) const { return this->Tied() == other.Tied(); }

private:
  std::tuple<const std::string&, View, std::uint64_t, std::uint64_t> Tied() const
  {
    return std::tie(this->Function, this->Shape, this->FileBytes, this->Block);
  }
};

struct PointResult
{
  PointKey Key;
  std::vector<double> Seconds;      ///< of each repetition: in the function, on the slowest rank
  std::vector<double> SyncSeconds;  ///< writing: in MPI_File_sync after it; else 0
  std::vector<double> Rates;        ///< bytes/s of all ranks together, with the sync where it counts
  double OpenSeconds = 0;           ///< the last repetition's MPI_File_open, and MPI_File_set_view
  double ViewSeconds = 0;
  std::uint64_t Bytes = 0;   ///< moved by all ranks in the last repetition
  bool Cut = false;          ///< the time for one measurement was over before the whole file was moved
  bool Cached = false;       ///< so fast, or so much in memory before it, that it tells little of the storage
  std::string Error;         ///< why the function gives no rate; empty where it does
  bool WrongValues = false;  ///< the reason is that values were not those that had been written
};

/// A peak or dip, looked at again.
struct FeatureResult
{
  std::string Function;
  View Shape = View::Own;
  std::uint64_t FileBytes = 0;
  Feature First;                    ///< as it was in the study
  bool Stable = false;              ///< it was there again in fresh measurements
  Feature Again;                    ///< where the fresh measurements see it, if they do
  std::vector<CurvePoint> Refined;  ///< the fresh measurements, with smaller steps
};

/// Reading and writing at once; bytes/s of all readers, of all writers, a value for each repetition.
struct InfluenceResult
{
  std::uint64_t FileBytes = 0, Block = 0;
  int Readers = 0, Writers = 0;
  std::vector<double> ReadAlone, WriteAlone, ReadBoth, WriteBoth;
};

/// The rate over the requests in flight on the whole system, which the quick mode measures.
struct FlightResult
{
  std::vector<RateSample> Samples;  ///< none in a study
  std::uint64_t RequestBytes = 0;   ///< 0: not known
  int Best = 0;                     ///< N*; 0: not known
  ConcurrencyRange Sure;            ///< where N* may lie, where it is known
  std::string Law;                  ///< as fitted, for people
  std::vector<RateSample> Fitted;   ///< for drawing
};

/// A test of whether files can be put out of this machine's memory.
struct CacheCheck
{
  double ColdRate = 0;   ///< bytes/s of one rank reading a file that was dropped
  double WarmRate = 0;   ///< of reading it again
  double Resident = -1;  ///< part of the file in memory after it was dropped; -1: unknown
  bool Trusted = false;  ///< files do leave the memory, and that makes a difference
};

struct Result
{
  bool Complete = false;
  std::string WhyIncomplete = "it is still running, or was killed";
  std::string Started;     ///< UTC, ISO 8601
  double Seconds = 0;      ///< the study's
  std::string Label;       ///< the user's
  nlohmann::json Machine;  ///< the member `machine` of the file
  std::uint64_t Piece = 0;
  int Repetitions = 0;
  int InFlight = 1;
  bool Sync = true;
  CacheCheck Cache;
  std::vector<std::string> Warnings;
  std::map<PointKey, PointResult> Points;
  std::vector<FeatureResult> Features;
  std::vector<InfluenceResult> Influence;
  FlightResult Flight;
};

struct Spread
{
  double Min = 0, Mean = 0, Max = 0;
};

/// All 0 where there are no values.
Spread SpreadOf(const std::vector<double>& values);

/// One function, view and file size: the rate over the block size. Only points that have rates.
std::vector<CurvePoint> CurveOf(
    const Result& result, const std::string& function, View view, std::uint64_t fileBytes);

/// Writes result.json and matrices.csv into `folder`, each at once: who reads them at any time finds a whole
/// file. Throws Error.
void SaveResult(const Result& result, const std::string& folder);

}  // namespace patchio::probe

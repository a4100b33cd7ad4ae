// The results of a study, and their file. Documentation/Guide/StorageProbe.md has the schema.
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

/// Bytes per KB. Rates in files are in KB/s.
constexpr double Kilo = 1000;

/// The value of WhyIncomplete if a signal ended the study.
constexpr const char* Interruption = "it was interrupted";

/// A measured point: a function, a view, a file size and a block size.
struct PointKey
{
  std::string Function;
  View FileView = View::Own;
  /// Requested size; the file may be smaller, so that all ranks have equal parts.
  std::uint64_t FileBytes = 0;
  std::uint64_t Block = 0;  ///< bytes of one call of one rank

  bool operator<(const PointKey& other) const { return this->AsTuple() < other.AsTuple(); }
  bool operator==(const PointKey& other) const { return this->AsTuple() == other.AsTuple(); }

private:
  std::tuple<const std::string&, View, std::uint64_t, std::uint64_t> AsTuple() const
  {
    return std::tie(this->Function, this->FileView, this->FileBytes, this->Block);
  }
};

struct PointResult
{
  PointKey Key;
  std::vector<double> Seconds;      ///< time in the function on the slowest rank, for each repetition
  std::vector<double> SyncSeconds;  ///< writes: time of the sync after the write; reads: 0
  std::vector<double> Rates;  ///< bytes/s of all ranks together, including the sync if the study measures it
  double OpenSeconds = 0;     ///< time of MPI_File_open in the last repetition
  double ViewSeconds = 0;     ///< time of MPI_File_set_view in the last repetition
  std::uint64_t Bytes = 0;    ///< bytes that all ranks have read or written in the last repetition
  bool Cut = false;           ///< true: a measurement skipped a part of the file for lack of time
  /// True: a read probably came from the page cache, so the rate says little about the storage.
  bool Cached = false;
  std::string Error;         ///< why the function has no rate; empty if it has rates
  bool WrongValues = false;  ///< true: the error is that values differ from the written values
};

/// A peak or dip that was measured again.
struct FeatureResult
{
  std::string Function;
  View FileView = View::Own;
  std::uint64_t FileBytes = 0;
  Feature First;                    ///< the feature in the first measurements
  bool Stable = false;              ///< true: the new measurements have the feature, too
  Feature Reproduced;               ///< the feature in the new measurements, if Stable is true
  std::vector<CurvePoint> Refined;  ///< the new measurements, with smaller steps
};

/// Simultaneous reads and writes: bytes/s of all readers and of all writers, one value for each repetition.
struct InfluenceResult
{
  std::uint64_t FileBytes = 0, Block = 0;
  int Readers = 0, Writers = 0;
  std::vector<double> ReadAlone, WriteAlone, ReadBoth, WriteBoth;
};

/// The rate over the number of requests in flight on the whole system, from the quick mode.
struct ConcurrencyScan
{
  std::vector<RateSample> Samples;  ///< empty without the quick mode
  std::uint64_t RequestBytes = 0;   ///< bytes of a request; 0: unknown
  int Best = 0;                     ///< N*; 0: unknown
  ConcurrencyRange Interval;        ///< confidence interval of N*, if N* is known
  std::string Law;                  ///< the fitted F(N), as text
  std::vector<RateSample> Fitted;   ///< points of the fitted F(N), for plots
};

/// The result of a test whether files can be dropped from this machine's page cache.
struct CacheCheck
{
  double ColdRate = 0;        ///< bytes/s at which one rank reads a file that was dropped
  double WarmRate = 0;        ///< bytes/s at which the rank reads the file again
  double Resident = -1;       ///< fraction of the dropped file in the page cache, 0 to 1; -1: unknown
  bool CanDropFiles = false;  ///< true: dropping a file works and makes reads slower
};

struct Result
{
  bool Complete = false;
  std::string WhyIncomplete = "it is still running, or was killed";
  std::string Started;     ///< start time in UTC, ISO 8601
  double Seconds = 0;      ///< duration of the study
  std::string Label;       ///< text from the user
  nlohmann::json Machine;  ///< the member `machine` of the file
  std::uint64_t PieceBytes = 0;
  int Repetitions = 0;
  int Concurrency = 1;
  bool Sync = true;
  CacheCheck Cache;
  std::vector<std::string> Warnings;
  std::map<PointKey, PointResult> Points;
  std::vector<FeatureResult> Features;
  std::vector<InfluenceResult> Influence;
  ConcurrencyScan Scan;
};

struct Spread
{
  double Min = 0, Mean = 0, Max = 0;
};

/// Returns the least, mean and greatest value; all 0 if there are no values.
Spread SpreadOf(const std::vector<double>& values);

/// Returns the rates over the block size for one function, view and file size, without the points that have
/// no rates.
std::vector<CurvePoint> CurveOf(
    const Result& result, const std::string& function, View view, std::uint64_t fileBytes);

/// Least number of seconds between two repeated calls of SaveResult() during the measurements.
constexpr double LeastSaveInterval = 2;

/// Writes result.json and matrices.csv into `folder`. Replaces each file atomically, so that other programs
/// always find a complete file. Throws Error if a file cannot be written.
void SaveResult(const Result& result, const std::string& folder);

}  // namespace patchio::probe

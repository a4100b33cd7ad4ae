#include "Probe/Result.h"

#include "Base/Error.h"
#include "Base/File.h"
#include "Probe/Statistics.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <set>

namespace patchio::probe {
namespace {

using nlohmann::json;

json InKilobytes(const std::vector<double>& rates)
{
  json list = json::array();
  for (const double rate : rates) {
    list.push_back(rate / Kilo);
  }
  return list;
}

json Describe(const Spread& spread, double unit)
{
  return {{"min", spread.Min / unit}, {"mean", spread.Mean / unit}, {"max", spread.Max / unit}};
}

json Describe(const PointResult& point)
{
  json out = {{"function", point.Key.Function}, {"view", NameOf(point.Key.Shape)},
      {"file_bytes", point.Key.FileBytes}, {"block_bytes", point.Key.Block}};
  if (!point.Error.empty()) {
    out["error"] = point.Error;
    out["wrong_values"] = point.WrongValues;
  }
  if (!point.Rates.empty()) {
    out["bytes"] = point.Bytes;
    out["cut"] = point.Cut;
    out["cached"] = point.Cached;
    out["open_seconds"] = point.OpenSeconds;
    out["view_seconds"] = point.ViewSeconds;
    out["seconds"] = Describe(SpreadOf(point.Seconds), 1);
    out["seconds"]["all"] = point.Seconds;
    out["sync_seconds"] = point.SyncSeconds;
    out["kb_per_s"] = Describe(SpreadOf(point.Rates), Kilo);
    out["kb_per_s"]["all"] = InKilobytes(point.Rates);
  }
  return out;
}

json Describe(const Feature& feature)
{
  return {{"kind", feature.Peak ? "peak" : "dip"}, {"block_bytes", feature.Block}, {"height", feature.Height},
      {"certainty", feature.Certainty}};
}

json Describe(const FeatureResult& feature)
{
  json refined = json::array();
  for (const CurvePoint& point : feature.Refined) {
    refined.push_back({{"block_bytes", point.Block}, {"kb_per_s", InKilobytes(point.Rates)}});
  }
  json out = {{"function", feature.Function}, {"view", NameOf(feature.Shape)},
      {"file_bytes", feature.FileBytes}, {"first", Describe(feature.First)}, {"stable", feature.Stable},
      {"refined", refined}};
  if (feature.Stable) {
    out["again"] = Describe(feature.Again);
  }
  return out;
}

/// 0 where one of them is not known.
double RatioOfMeans(const std::vector<double>& both, const std::vector<double>& alone)
{
  const double mean = SpreadOf(alone).Mean;
  return mean > 0 ? SpreadOf(both).Mean / mean : 0;
}

json Describe(const InfluenceResult& row)
{
  return {{"file_bytes", row.FileBytes}, {"block_bytes", row.Block}, {"readers", row.Readers},
      {"writers", row.Writers}, {"read_alone_kb_per_s", InKilobytes(row.ReadAlone)},
      {"write_alone_kb_per_s", InKilobytes(row.WriteAlone)},
      {"read_both_kb_per_s", InKilobytes(row.ReadBoth)}, {"write_both_kb_per_s", InKilobytes(row.WriteBoth)},
      {"read_ratio", RatioOfMeans(row.ReadBoth, row.ReadAlone)},
      {"write_ratio", RatioOfMeans(row.WriteBoth, row.WriteAlone)}};
}

json InKilobytes(const std::vector<RateSample>& samples)
{
  json list = json::array();
  for (const RateSample& sample : samples) {
    list.push_back(
        {{"in_flight", sample.Concurrency}, {"kb_per_s", sample.Rate / Kilo}, {"pass", sample.Pass}});
  }
  return list;
}

json Describe(const FlightResult& flight)
{
  json out = {{"request_bytes", flight.RequestBytes}, {"samples", InKilobytes(flight.Samples)}};
  if (flight.Best > 0) {
    out["best"] = flight.Best;
    out["best_least"] = flight.Sure.Least;
    out["best_most"] = flight.Sure.Most;
    out["law"] = flight.Law;
    out["fitted"] = InKilobytes(flight.Fitted);
  }
  return out;
}

/// The points of one function and view.
struct Series
{
  std::string Function;
  View Shape;
  std::vector<const PointResult*> Points;
};

std::vector<Series> SeriesOf(const Result& result)
{
  std::vector<Series> all;
  for (const auto& [key, point] : result.Points) {
    if (all.empty() || all.back().Function != key.Function || all.back().Shape != key.Shape) {
      all.push_back({key.Function, key.Shape, {}});
    }
    all.back().Points.push_back(&point);
  }
  return all;
}

std::vector<std::uint64_t> Distinct(const Result& result, std::uint64_t PointKey::*member)
{
  std::set<std::uint64_t> values;
  for (const auto& [key, point] : result.Points) {
    values.insert(key.*member);
  }
  return {values.begin(), values.end()};
}

/// A quantity of the matrices.
struct Quantity
{
  const char* Name;
  double Spread::*Part;
  bool Rate;

  double Of(const PointResult& point) const
  {
    return this->Rate ? SpreadOf(point.Rates).*this->Part / Kilo : SpreadOf(point.Seconds).*this->Part;
  }
};

constexpr Quantity Quantities[] = {{"kb_per_s_min", &Spread::Min, true},
    {"kb_per_s_mean", &Spread::Mean, true}, {"kb_per_s_max", &Spread::Max, true},
    {"seconds_min", &Spread::Min, false}, {"seconds_mean", &Spread::Mean, false},
    {"seconds_max", &Spread::Max, false}};

/// The point of a series at a file and block size that has rates; null where there is none.
const PointResult* Find(const Series& series, std::uint64_t fileBytes, std::uint64_t block)
{
  for (const PointResult* point : series.Points) {
    if (point->Key.FileBytes == fileBytes && point->Key.Block == block && !point->Rates.empty()) {
      return point;
    }
  }
  return nullptr;
}

json DescribeMatrices(const Result& result)
{
  const std::vector<std::uint64_t> files = Distinct(result, &PointKey::FileBytes);
  const std::vector<std::uint64_t> blocks = Distinct(result, &PointKey::Block);
  json matrices = json::array();
  for (const Series& series : SeriesOf(result)) {
    json matrix = {{"function", series.Function}, {"view", NameOf(series.Shape)}, {"file_bytes", files},
        {"block_bytes", blocks}};
    for (const Quantity& quantity : Quantities) {
      json rows = json::array();
      for (const std::uint64_t file : files) {
        json row = json::array();
        for (const std::uint64_t block : blocks) {
          const PointResult* point = Find(series, file, block);
          row.push_back(point ? json(quantity.Of(*point)) : json());
        }
        rows.push_back(row);
      }
      matrix[quantity.Name] = rows;
    }
    matrices.push_back(matrix);
  }
  return matrices;
}

/// A matrix is the rows of one function, view and quantity: file sizes down, block sizes across.
std::string MatricesAsCsv(const Result& result)
{
  const std::vector<std::uint64_t> files = Distinct(result, &PointKey::FileBytes);
  const std::vector<std::uint64_t> blocks = Distinct(result, &PointKey::Block);
  std::string text = "function,view,quantity,file_bytes";
  for (const std::uint64_t block : blocks) {
    text += fmt::format(",{}", block);
  }
  text += "\n";
  for (const Series& series : SeriesOf(result)) {
    for (const Quantity& quantity : Quantities) {
      for (const std::uint64_t file : files) {
        text += fmt::format("{},{},{},{}", series.Function, NameOf(series.Shape), quantity.Name, file);
        for (const std::uint64_t block : blocks) {
          const PointResult* point = Find(series, file, block);
          text += point ? fmt::format(",{:.6g}", quantity.Of(*point)) : ",";
        }
        text += "\n";
      }
    }
  }
  return text;
}

json Describe(const Result& result)
{
  json points = json::array(), features = json::array(), influence = json::array();
  for (const auto& [key, point] : result.Points) {
    points.push_back(Describe(point));
  }
  for (const FeatureResult& feature : result.Features) {
    features.push_back(Describe(feature));
  }
  for (const InfluenceResult& row : result.Influence) {
    influence.push_back(Describe(row));
  }
  json out = {{"schema", ResultSchema}, {"version", ResultVersion}, {"complete", result.Complete}};
  if (!result.Complete) {
    out["why_incomplete"] = result.WhyIncomplete;
  }
  out["started"] = result.Started;
  out["seconds"] = result.Seconds;
  out["label"] = result.Label;
  out["machine"] = {{"host", result.Host}, {"hosts", result.Hosts}, {"ranks", result.Ranks},
      {"system", result.System}, {"directory", result.Directory}, {"file_system", result.FileSystem},
      {"mpi", result.Mpi}, {"mpi_io", result.MpiIo}};
  out["settings"] = {{"piece_bytes", result.Piece}, {"repetitions", result.Repetitions},
      {"in_flight", result.InFlight}, {"sync", result.Sync}};
  out["cache"] = {{"cold_kb_per_s", result.Cache.ColdRate / Kilo},
      {"warm_kb_per_s", result.Cache.WarmRate / Kilo}, {"resident", result.Cache.Resident},
      {"trusted", result.Cache.Trusted}};
  out["warnings"] = result.Warnings;
  out["points"] = points;
  out["matrices"] = DescribeMatrices(result);
  out["features"] = features;
  out["influence"] = influence;
  if (!result.Flight.Samples.empty()) {
    out["flight"] = Describe(result.Flight);
  }
  return out;
}

}  // namespace

std::vector<CurvePoint> CurveOf(
    const Result& result, const std::string& function, View view, std::uint64_t fileBytes)
{
  std::vector<CurvePoint> curve;
  for (auto at = result.Points.lower_bound({function, view, fileBytes, 0}); at != result.Points.end(); ++at) {
    const PointResult& point = at->second;
    if (point.Key.Function != function || point.Key.Shape != view || point.Key.FileBytes != fileBytes) {
      break;
    }
    if (!point.Rates.empty()) {
      curve.push_back({point.Key.Block, point.Rates});
    }
  }
  return curve;
}

void SaveResult(const Result& result, const std::string& folder)
{
  // Texts of the system and of MPI need not be UTF-8.
  ReplaceFile(
      folder + "/result.json", Describe(result).dump(1, ' ', false, json::error_handler_t::replace) + "\n");
  ReplaceFile(folder + "/matrices.csv", MatricesAsCsv(result));
}

}  // namespace patchio::probe

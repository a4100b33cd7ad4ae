#include "Probe/Result.h"

#include "Base/File.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

namespace patchio::probe {
namespace {

using nlohmann::json;

std::vector<double> InKilobytes(std::vector<double> rates)
{
  for (double& rate : rates) {
    rate /= Kilo;
  }
  return rates;
}

json JsonOfSpread(const std::vector<double>& values)
{
  const Spread spread = SpreadOf(values);
  return {{"min", spread.Min}, {"mean", spread.Mean}, {"max", spread.Max}, {"all", values}};
}

json JsonOf(const PointResult& point)
{
  json out = {{"function", point.Key.Function}, {"view", NameOf(point.Key.FileView)},
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
    out["seconds"] = JsonOfSpread(point.Seconds);
    out["sync_seconds"] = point.SyncSeconds;
    out["kb_per_s"] = JsonOfSpread(InKilobytes(point.Rates));
  }
  return out;
}

json JsonOf(const Feature& feature)
{
  return {{"kind", feature.Peak ? "peak" : "dip"}, {"block_bytes", feature.Block}, {"height", feature.Height},
      {"certainty", feature.Certainty}};
}

json JsonOf(const FeatureResult& feature)
{
  json refined = json::array();
  for (const CurvePoint& point : feature.Refined) {
    refined.push_back({{"block_bytes", point.Block}, {"kb_per_s", InKilobytes(point.Rates)}});
  }
  json out = {{"function", feature.Function}, {"view", NameOf(feature.FileView)},
      {"file_bytes", feature.FileBytes}, {"first", JsonOf(feature.First)}, {"stable", feature.Stable},
      {"refined", refined}};
  if (feature.Stable) {
    out["again"] = JsonOf(feature.Reproduced);
  }
  return out;
}

/// Returns the ratio of the mean of `both` to the mean of `alone`; 0 if either has no values.
double RatioOfMeans(const std::vector<double>& both, const std::vector<double>& alone)
{
  const double mean = SpreadOf(alone).Mean;
  return mean > 0 ? SpreadOf(both).Mean / mean : 0;
}

json JsonOf(const InfluenceResult& row)
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

json JsonOf(const ConcurrencyScan& scan)
{
  json out = {{"request_bytes", scan.RequestBytes}, {"samples", InKilobytes(scan.Samples)}};
  if (scan.Best > 0) {
    out["best"] = scan.Best;
    out["best_least"] = scan.Interval.Least;
    out["best_most"] = scan.Interval.Most;
    out["law"] = scan.Law;
    out["fitted"] = InKilobytes(scan.Fitted);
  }
  return out;
}

/// The quantities of the matrices as JSON keys: the quantity of a point, and its statistic.
constexpr std::pair<const char*, const char*> Quantities[] = {{"kb_per_s", "min"}, {"kb_per_s", "mean"},
    {"kb_per_s", "max"}, {"seconds", "min"}, {"seconds", "mean"}, {"seconds", "max"}};

std::string NameOf(const std::pair<const char*, const char*>& quantity)
{
  return fmt::format("{}_{}", quantity.first, quantity.second);
}

/// Returns a matrix for each function, view and quantity, with file sizes as rows and block sizes as columns,
/// and null where a point has no rate. points: sorted by function and view.
json JsonOfMatrices(const json& points)
{
  std::set<std::uint64_t> files, blocks;
  for (const json& point : points) {
    files.insert(point["file_bytes"].get<std::uint64_t>());
    blocks.insert(point["block_bytes"].get<std::uint64_t>());
  }
  json all = json::array();
  for (const json& point : points) {
    if (all.empty() || all.back()["function"] != point["function"] || all.back()["view"] != point["view"]) {
      all.push_back({{"function", point["function"]}, {"view", point["view"]}, {"file_bytes", files},
          {"block_bytes", blocks}});
      for (const auto& quantity : Quantities) {
        all.back()[NameOf(quantity)] = json(files.size(), json(blocks.size(), json()));
      }
    }
    if (point.contains("kb_per_s")) {
      const auto row = std::distance(files.begin(), files.find(point["file_bytes"].get<std::uint64_t>()));
      const auto column =
          std::distance(blocks.begin(), blocks.find(point["block_bytes"].get<std::uint64_t>()));
      for (const auto& quantity : Quantities) {
        all.back()[NameOf(quantity)][row][column] = point[quantity.first][quantity.second];
      }
    }
  }
  return all;
}

/// Returns the matrices as CSV, one below the other.
std::string MatricesAsCsv(const json& matrices)
{
  std::string text = "function,view,quantity,file_bytes";
  for (const json& block : matrices.empty() ? json::array() : matrices[0]["block_bytes"]) {
    text += fmt::format(",{}", block.get<std::uint64_t>());
  }
  text += "\n";
  for (const json& matrix : matrices) {
    for (const auto& quantity : Quantities) {
      const json& rows = matrix[NameOf(quantity)];
      for (std::size_t row = 0; row < rows.size(); ++row) {
        text += fmt::format("{},{},{},{}", matrix["function"].get<std::string>(),
            matrix["view"].get<std::string>(), NameOf(quantity),
            matrix["file_bytes"][row].get<std::uint64_t>());
        for (const json& value : rows[row]) {
          text += value.is_null() ? "," : fmt::format(",{:.6g}", value.get<double>());
        }
        text += "\n";
      }
    }
  }
  return text;
}

json JsonOf(const Result& result)
{
  json points = json::array(), features = json::array(), influence = json::array();
  for (const auto& [key, point] : result.Points) {
    points.push_back(JsonOf(point));
  }
  for (const FeatureResult& feature : result.Features) {
    features.push_back(JsonOf(feature));
  }
  for (const InfluenceResult& row : result.Influence) {
    influence.push_back(JsonOf(row));
  }
  json out = {{"schema", "patchio-probe"}, {"version", 1}, {"complete", result.Complete}};
  if (!result.Complete) {
    out["why_incomplete"] = result.WhyIncomplete;
  }
  out["started"] = result.Started;
  out["seconds"] = result.Seconds;
  out["label"] = result.Label;
  out["machine"] = result.Machine;
  out["settings"] = {{"piece_bytes", result.PieceBytes}, {"repetitions", result.Repetitions},
      {"in_flight", result.Concurrency}, {"sync", result.Sync}};
  out["cache"] = {{"cold_kb_per_s", result.Cache.ColdRate / Kilo},
      {"warm_kb_per_s", result.Cache.WarmRate / Kilo}, {"resident", result.Cache.Resident},
      {"trusted", result.Cache.CanDropFiles}};
  out["warnings"] = result.Warnings;
  out["points"] = points;
  out["matrices"] = JsonOfMatrices(points);
  out["features"] = features;
  out["influence"] = influence;
  if (!result.Scan.Samples.empty()) {
    out["flight"] = JsonOf(result.Scan);
  }
  return out;
}

}  // namespace

Spread SpreadOf(const std::vector<double>& values)
{
  if (values.empty()) {
    return {};
  }
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {*least, std::accumulate(values.begin(), values.end(), 0.0) / values.size(), *most};
}

std::vector<CurvePoint> CurveOf(
    const Result& result, const std::string& function, View view, std::uint64_t fileBytes)
{
  std::vector<CurvePoint> curve;
  for (auto at = result.Points.lower_bound({function, view, fileBytes, 0}); at != result.Points.end(); ++at) {
    const PointResult& point = at->second;
    if (point.Key.Function != function || point.Key.FileView != view || point.Key.FileBytes != fileBytes) {
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
  const json out = JsonOf(result);
  // Texts of the system and of MPI may not be UTF-8.
  ReplaceFile(folder + "/result.json", out.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
  ReplaceFile(folder + "/matrices.csv", MatricesAsCsv(out["matrices"]));
}

}  // namespace patchio::probe

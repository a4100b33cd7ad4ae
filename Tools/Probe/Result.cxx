#include "Probe/Result.h"

#include "Probe/Statistics.h"
#include "Support/Error.h"
#include "Support/RegularFile.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unistd.h>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>

namespace patchio::probe {
namespace {

using nlohmann::json;

constexpr const char* Schema = "patchio-probe";
constexpr int Version = 1;
constexpr double Kilo = 1000;  // bytes of a KB
constexpr std::uintmax_t MostBytes = std::uintmax_t(256) << 20;

// ---- writing
// -------------------------------------------------------------------------------------------------

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

// ---- matrices
// ------------------------------------------------------------------------------------------------

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
  json out = {{"schema", Schema}, {"version", Version}, {"complete", result.Complete}};
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

// ---- reading
// -------------------------------------------------------------------------------------------------

void Demand(bool good, const std::string& what)
{
  if (!good) {
    throw std::invalid_argument(what);
  }
}

double Number(const json& value, const std::string& name, double least)
{
  const double number = value.at(name).get<double>();
  Demand(std::isfinite(number) && number >= least, fmt::format("{} is {}", name, number));
  return number;
}

std::uint64_t Whole(const json& value, const std::string& name)
{
  const json& number = value.at(name);
  Demand(number.is_number_unsigned(), name + " is no positive whole number");
  return number.get<std::uint64_t>();
}

int Count(const json& value, const std::string& name)
{
  const std::uint64_t number = Whole(value, name);
  Demand(number <= 1u << 30, fmt::format("{} is {}", name, number));
  return static_cast<int>(number);
}

/// Rates in KB/s as bytes/s.
std::vector<double> Rates(const json& list)
{
  std::vector<double> rates;
  for (const json& value : list) {
    const double rate = value.get<double>() * Kilo;
    Demand(std::isfinite(rate) && rate > 0, fmt::format("a rate is {} KB/s", rate / Kilo));
    rates.push_back(rate);
  }
  return rates;
}

std::vector<double> Times(const json& list)
{
  std::vector<double> times;
  for (const json& value : list) {
    times.push_back(value.get<double>());
    Demand(std::isfinite(times.back()) && times.back() >= 0, fmt::format("a time is {} s", times.back()));
  }
  return times;
}

std::string FunctionName(const json& value)
{
  const std::string name = value.at("function").get<std::string>();
  const auto letter = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  Demand(!name.empty() && name.size() < 64 && std::all_of(name.begin(), name.end(), letter),
      "the name of a function is not one");
  return name;
}

View ReadView(const json& value)
{
  try {
    return ViewNamed(value.at("view").get<std::string>());
  } catch (const Error& error) {
    throw std::invalid_argument(error.what());
  }
}

PointResult ReadPoint(const json& value)
{
  PointResult point;
  point.Key.Function = FunctionName(value);
  point.Key.Shape = ReadView(value);
  point.Key.FileBytes = Whole(value, "file_bytes");
  point.Key.Block = Whole(value, "block_bytes");
  Demand(point.Key.Block > 0, "a block has no bytes");
  point.Error = value.value("error", "");
  point.WrongValues = value.value("wrong_values", false);
  if (value.contains("kb_per_s")) {
    point.Rates = Rates(value.at("kb_per_s").at("all"));
    point.Seconds = Times(value.at("seconds").at("all"));
    point.SyncSeconds = Times(value.at("sync_seconds"));
    point.Bytes = Whole(value, "bytes");
    point.Cut = value.at("cut").get<bool>();
    point.Cached = value.at("cached").get<bool>();
    point.OpenSeconds = Number(value, "open_seconds", 0);
    point.ViewSeconds = Number(value, "view_seconds", 0);
    Demand(!point.Rates.empty() && point.Seconds.size() == point.Rates.size(),
        "a point has not as many times as rates");
  }
  return point;
}

Feature ReadFeature(const json& value)
{
  Feature feature;
  feature.Peak = value.at("kind").get<std::string>() == "peak";
  feature.Block = Whole(value, "block_bytes");
  feature.Height = Number(value, "height", 0);
  feature.Certainty = Number(value, "certainty", 0);
  return feature;
}

FeatureResult ReadFeatureResult(const json& value)
{
  FeatureResult feature;
  feature.Function = FunctionName(value);
  feature.Shape = ReadView(value);
  feature.FileBytes = Whole(value, "file_bytes");
  feature.First = ReadFeature(value.at("first"));
  feature.Stable = value.at("stable").get<bool>();
  if (feature.Stable) {
    feature.Again = ReadFeature(value.at("again"));
  }
  for (const json& point : value.at("refined")) {
    feature.Refined.push_back({Whole(point, "block_bytes"), Rates(point.at("kb_per_s"))});
  }
  return feature;
}

InfluenceResult ReadInfluence(const json& value)
{
  InfluenceResult row;
  row.FileBytes = Whole(value, "file_bytes");
  row.Block = Whole(value, "block_bytes");
  row.Readers = Count(value, "readers");
  row.Writers = Count(value, "writers");
  row.ReadAlone = Rates(value.at("read_alone_kb_per_s"));
  row.WriteAlone = Rates(value.at("write_alone_kb_per_s"));
  row.ReadBoth = Rates(value.at("read_both_kb_per_s"));
  row.WriteBoth = Rates(value.at("write_both_kb_per_s"));
  return row;
}

std::vector<RateSample> ReadSamples(const json& list)
{
  std::vector<RateSample> samples;
  for (const json& item : list) {
    RateSample sample;
    sample.Concurrency = Count(item, "in_flight");
    sample.Rate = Number(item, "kb_per_s", 0) * Kilo;
    sample.Pass = Count(item, "pass");
    Demand(sample.Concurrency >= 1 && sample.Rate > 0, "a rate over the requests in flight is none");
    samples.push_back(sample);
  }
  return samples;
}

FlightResult ReadFlight(const json& value)
{
  FlightResult flight;
  flight.RequestBytes = Whole(value, "request_bytes");
  flight.Samples = ReadSamples(value.at("samples"));
  if (value.contains("best")) {
    flight.Best = Count(value, "best");
    flight.Sure = {Count(value, "best_least"), Count(value, "best_most")};
    flight.Law = value.at("law").get<std::string>();
    flight.Fitted = ReadSamples(value.at("fitted"));
  }
  return flight;
}

void ReadCircumstances(const json& value, Result& result)
{
  result.Complete = value.at("complete").get<bool>();
  result.WhyIncomplete = value.value("why_incomplete", "");
  result.Started = value.at("started").get<std::string>();
  result.Seconds = Number(value, "seconds", 0);
  result.Label = value.at("label").get<std::string>();
  const json& machine = value.at("machine");
  result.Host = machine.at("host").get<std::string>();
  result.System = machine.at("system").get<std::string>();
  result.Directory = machine.at("directory").get<std::string>();
  result.FileSystem = machine.at("file_system").get<std::string>();
  result.Mpi = machine.at("mpi").get<std::string>();
  result.MpiIo = machine.at("mpi_io").get<std::string>();
  result.Ranks = Count(machine, "ranks");
  result.Hosts = Count(machine, "hosts");
  Demand(result.Ranks >= 1, "there are no ranks");
  const json& settings = value.at("settings");
  result.Piece = Whole(settings, "piece_bytes");
  result.Repetitions = Count(settings, "repetitions");
  result.InFlight = Count(settings, "in_flight");
  result.Sync = settings.at("sync").get<bool>();
  const json& cache = value.at("cache");
  result.Cache.ColdRate = Number(cache, "cold_kb_per_s", 0) * Kilo;
  result.Cache.WarmRate = Number(cache, "warm_kb_per_s", 0) * Kilo;
  result.Cache.Resident = Number(cache, "resident", -1);
  result.Cache.Trusted = cache.at("trusted").get<bool>();
  result.Warnings = value.at("warnings").get<std::vector<std::string>>();
}

Result ReadResult(const json& value)
{
  Demand(value.is_object() && value.value("schema", "") == Schema, "it is no result of patchio probe");
  Demand(value.at("version") == Version,
      fmt::format("its version is {}, not {}", value.at("version").dump(), Version));
  Result result;
  ReadCircumstances(value, result);
  for (const json& item : value.at("points")) {
    const PointResult point = ReadPoint(item);
    Demand(result.Points.emplace(point.Key, point).second, "a point is there twice");
  }
  for (const json& item : value.at("features")) {
    result.Features.push_back(ReadFeatureResult(item));
  }
  for (const json& item : value.at("influence")) {
    result.Influence.push_back(ReadInfluence(item));
  }
  if (value.contains("flight")) {
    result.Flight = ReadFlight(value.at("flight"));
  }
  return result;
}

std::string TextOf(const std::string& path)
{
  CheckRegularFile(path);
  std::error_code fault;
  const std::uintmax_t bytes = std::filesystem::file_size(path, fault);
  if (fault || bytes > MostBytes) {
    throw FileError(path, "a result of patchio probe",
        fault ? fault.message() : fmt::format("{} bytes, more than such a file has", bytes));
  }
  std::string text(bytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(bytes));
  text.resize(file.gcount());
  return text;
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

void ReplaceFile(const std::string& path, const std::string& text)
{
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  bool good = file != nullptr;
  good = good && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  good = file && std::fclose(file) == 0 && good;
  good = good && std::rename(temporary.c_str(), path.c_str()) == 0;
  if (!good) {
    const std::string reason = SystemMessage(errno);
    std::remove(temporary.c_str());
    throw FileError(path, "a file to write results to", reason, "Give another --output");
  }
}

void SaveResult(const Result& result, const std::string& folder)
{
  // Texts of the system and of MPI need not be UTF-8.
  ReplaceFile(
      folder + "/result.json", Describe(result).dump(1, ' ', false, json::error_handler_t::replace) + "\n");
  ReplaceFile(folder + "/matrices.csv", MatricesAsCsv(result));
}

Result LoadResult(const std::string& path)
{
  try {
    return ReadResult(json::parse(TextOf(path)));
  } catch (const json::exception& error) {
    throw FileError(
        path, "a result of patchio probe", PlainText(error.what()), "Give the result.json of a study");
  } catch (const std::invalid_argument& error) {
    throw FileError(path, "a result of patchio probe", PlainText(error.what()));
  }
}

}  // namespace patchio::probe

// Reading results that anybody may have written.
#include "Base/Error.h"
#include "Base/File.h"
#include "Probe/Result.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace patchio::probe {
namespace {

using nlohmann::json;

constexpr std::uintmax_t MostBytes = std::uintmax_t(256) << 20;

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
  Demand(number.is_number_unsigned(), name + " is not a positive whole number");
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
      "a function has no valid name");
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
        "a point has different numbers of times and rates");
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
    Demand(sample.Concurrency >= 1 && sample.Rate > 0, "a rate of concurrent requests is not a valid rate");
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
  Demand(result.Ranks >= 1, "the number of ranks is missing");
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
  Demand(
      value.is_object() && value.value("schema", "") == ResultSchema, "it is not a result of patchio probe");
  Demand(value.at("version") == ResultVersion,
      fmt::format("its version is {}, not {}",
          value.at("version").dump(-1, ' ', true, json::error_handler_t::replace), ResultVersion));
  Result result;
  ReadCircumstances(value, result);
  for (const json& item : value.at("points")) {
    const PointResult point = ReadPoint(item);
    Demand(result.Points.emplace(point.Key, point).second, "a point occurs twice");
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
  if (fault) {
    throw SystemError(path, "a result of patchio probe", fault.value());
  }
  if (bytes > MostBytes) {
    throw FileError(
        path, "a result of patchio probe", fmt::format("{} bytes, too large for a result", bytes));
  }
  std::string text(bytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(bytes));
  text.resize(file.gcount());
  return text;
}

}  // namespace

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

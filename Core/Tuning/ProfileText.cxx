// Conversion of storage profiles from and to JSON.
#include "Base/Error.h"
#include "Base/Text.h"
#include "Tuning/RateFit.h"
#include "Tuning/StorageProfile.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <limits>

namespace patchio {
namespace {

/// Json is for reading, because it finds names fast in large files; OrderedJson is for writing, because it
/// keeps the order.
using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t MostText = 4096;     ///< characters of a text
constexpr std::size_t MostSamples = 4096;  ///< per profile
constexpr std::size_t MostEntries = 1000;  ///< per table
constexpr double MostTime = 4e9;           ///< seconds since 1970: in the year 2096

// ---- Writing ----

OrderedJson JsonOf(const Mount& mount)
{
  OrderedJson json;
  json["point"] = mount.Point;
  json["type"] = mount.Type;
  json["source"] = mount.Source;
  json["options"] = mount.Options;
  json["root"] = mount.Root;
  json["device"] = fmt::format("{}:{}", mount.Major, mount.Minor);
  json["class"] = NameOf(mount.Class);
  if (mount.StripeCount > 0) {
    json["stripe_count"] = mount.StripeCount;
  }
  return json;
}

OrderedJson JsonOf(const RateFit& fit)
{
  OrderedJson json;
  json["law"] = NameOf(fit.Law());
  for (const RateCoefficient& coefficient : fit.Coefficients()) {
    json[coefficient.Name] = coefficient.Value;
  }
  json["residual"] = fit.Residual();
  json["noise"] = fit.Noise();
  return json;
}

/// Groups the rates, rounded to bytes per second, by N, so that users see the curve.
OrderedJson JsonOf(const std::vector<RateSample>& samples)
{
  std::map<int, std::vector<double>> rates;
  for (const RateSample& sample : samples) {
    rates[sample.Concurrency].push_back(std::round(sample.Rate));
  }
  OrderedJson json = OrderedJson::array();
  for (const auto& [concurrency, values] : rates) {
    json.push_back({{"in_flight", concurrency}, {"bytes_per_second", values}});
  }
  return json;
}

// ---- Reading ----

/// A JSON object of a profile's file. Its accessors throw Error with the file's name if a value is wrong.
class JsonObject
{
public:
  /// Wraps `json`. name: name of the member with this object; empty for the entire file. Throws Error if
  /// `json` is not an object.
  JsonObject(const Json& json, const std::string& file, const std::string& name = "")
      : Value(json), File(file)
  {
    if (!json.is_object()) {
      this->Fail(
          "an object in braces" + (name.empty() ? "" : fmt::format(" for \"{}\"", name)), Excerpt(json));
    }
  }

  [[noreturn]] void Fail(const std::string& expected, const std::string& found) const
  {
    throw FileError(this->File, expected, found, "Correct the file, or remove it from the folder");
  }

  const Json* Find(const char* name) const
  {
    const auto found = this->Value.find(name);
    return found == this->Value.end() || found->is_null() ? nullptr : &*found;
  }

  std::string Text(const char* name) const
  {
    const Json* found = this->Find(name);
    if (!found) {
      return "";
    }
    if (!found->is_string() || found->get_ref<const std::string&>().size() > MostText) {
      this->Fail(fmt::format("a text of at most {} characters for \"{}\"", MostText, name), Excerpt(*found));
    }
    return found->get<std::string>();
  }

  /// Returns the number `name`, or `defaultValue` if the object has no such member.
  double Number(const char* name, double least, double most, double defaultValue) const
  {
    const Json* found = this->Find(name);
    return found ? this->NumberInRange(*found, name, least, most) : defaultValue;
  }

  double NumberInRange(const Json& json, const std::string& name, double least, double most) const
  {
    const double value = json.is_number() ? json.get<double>() : std::numeric_limits<double>::quiet_NaN();
    if (!(value >= least && value <= most)) {
      this->Fail(fmt::format("a number from {:g} to {:g} for \"{}\"", least, most, name), Excerpt(json));
    }
    return value;
  }

  int WholeNumber(const Json& json, const std::string& name, int most) const
  {
    const double value = this->NumberInRange(json, name, 1, most);
    if (value != std::floor(value)) {
      this->Fail(fmt::format("a whole number for \"{}\"", name), Excerpt(json));
    }
    return static_cast<int>(value);
  }

  /// Parses the time `name`, as written by UtcText(). Returns 0 if the profile has no such time, or the time
  /// is "never".
  double Time(const char* name) const
  {
    const std::string text = this->Text(name);
    if (text.empty() || text == "never") {
      return 0;
    }
    std::tm parts = {};
    const char* end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    const double seconds = end && *end == '\0' ? static_cast<double>(::timegm(&parts)) : -1;
    if (!(seconds > 0 && seconds <= MostTime)) {
      this->Fail(fmt::format("a time like 2026-01-31T12:00:00Z for \"{}\"", name), Excerpt(text));
    }
    return seconds;
  }

  static std::string Excerpt(const Json& json)
  {
    constexpr std::size_t most = 40;
    if (json.is_structured()) {  // writing a deeply nested value would overflow the stack
      return json.is_array() ? "a list" : "an object";
    }
    const std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
    return text.size() <= most ? text : text.substr(0, most) + " ...";
  }

private:
  const Json& Value;
  const std::string& File;
};

/// Returns a mount point without slashes at its end. Throws Error if it does not begin with a slash.
std::string ParseMountPoint(const JsonObject& object, std::string point)
{
  if (point.empty() || point.front() != '/') {
    object.Fail("the path of a mount, beginning with a slash", JsonObject::Excerpt(point));
  }
  while (point.size() > 1 && point.back() == '/') {
    point.pop_back();
  }
  return point;
}

Mount ParseMount(const JsonObject& profile, const std::string& file)
{
  Mount mount;
  const Json* json = profile.Find("mount");
  if (!json || json->is_string()) {
    mount.Point = ParseMountPoint(profile, profile.Text("mount"));
    return mount;
  }
  if (!json->is_object()) {
    profile.Fail("the path of a mount for \"mount\"", JsonObject::Excerpt(*json));
  }
  const JsonObject object(*json, file, "mount");
  mount.Point = ParseMountPoint(object, object.Text("point"));
  mount.Type = object.Text("type");
  mount.Source = object.Text("source");
  mount.Options = object.Text("options");
  mount.Root = object.Text("root");
  mount.Class = ClassOfType(mount.Type);
  mount.StripeCount = static_cast<int>(object.Number("stripe_count", 0, MostConcurrency, 0));
  const std::string device = object.Text("device");
  if (std::sscanf(device.c_str(), "%9d:%9d", &mount.Major, &mount.Minor) != 2) {
    mount.Major = mount.Minor = 0;
  }
  return mount;
}

std::vector<RateSample> ParseSamples(const JsonObject& profile, const std::string& file)
{
  std::vector<RateSample> samples;
  const Json* json = profile.Find("samples");
  if (!json) {
    return samples;
  }
  if (!json->is_array()) {
    profile.Fail("a list for \"samples\"", JsonObject::Excerpt(*json));
  }
  for (const Json& entry : *json) {
    const JsonObject object(entry, file, "samples");
    const Json* concurrency = object.Find("in_flight");
    const Json* rates = object.Find("bytes_per_second");
    if (!concurrency || !rates) {
      object.Fail("\"in_flight\" and \"bytes_per_second\" in each of the samples", "a sample without them");
    }
    const int inFlight = object.WholeNumber(*concurrency, "in_flight", MostConcurrency);
    int pass = 0;
    for (const Json& rate : *rates) {
      samples.push_back({inFlight, object.NumberInRange(rate, "bytes_per_second", 1, 1e18), pass++});
      if (samples.size() > MostSamples) {
        object.Fail(fmt::format("at most {} samples", MostSamples), "more");
      }
    }
  }
  return samples;
}

std::map<int, int> ParseThreads(const JsonObject& profile)
{
  std::map<int, int> threads;
  const Json* json = profile.Find("threads_of_ranks");
  if (!json) {
    return threads;
  }
  if (!json->is_object() || json->size() > MostEntries) {
    profile.Fail("a table like {\"1\": 16, \"4\": 8} for \"threads_of_ranks\"", JsonObject::Excerpt(*json));
  }
  for (const auto& [ranks, value] : json->items()) {
    const std::optional<int> number = ParseNumber<int>(ranks);
    if (!number || *number < 1 || *number > MostConcurrency) {
      profile.Fail("numbers of ranks in \"threads_of_ranks\"", JsonObject::Excerpt(ranks));
    }
    threads[*number] = profile.WholeNumber(value, "threads_of_ranks", MostConcurrency);
  }
  return threads;
}

int MedianProduct(const std::map<int, int>& threads)
{
  std::vector<double> products;
  for (const auto& [ranks, each] : threads) {
    products.push_back(static_cast<double>(ranks) * each);
  }
  return static_cast<int>(std::min<double>(MedianOf(products), MostConcurrency));
}

int ParseConcurrency(const JsonObject& object, const StorageProfile& profile)
{
  if (const Json* concurrency = object.Find("best_concurrency")) {
    return object.WholeNumber(*concurrency, "best_concurrency", MostConcurrency);
  }
  if (!profile.ThreadsOfRanks.empty()) {
    return MedianProduct(profile.ThreadsOfRanks);
  }
  if (const RateFit fit = FitRates(profile.Samples); fit.Known()) {
    return fit.Best();
  }
  object.Fail(
      "\"best_concurrency\", the best number of requests in flight, or \"threads_of_ranks\"", "neither");
}

void ParseTimes(const JsonObject& object, StorageProfile& profile)
{
  profile.Source = object.Text("source") == MeasuredSource ? MeasuredSource : HandSource;
  profile.MeasuredAt = object.Time("measured_at");
  profile.ExpiresAt = object.Time("expires_at");
  const bool forEver = object.Text("expires_at") == "never" && profile.MeasuredAt > 0;
  if (profile.Source == MeasuredSource && !forEver && profile.ExpiresAt == 0) {
    // Without a date, a measured profile counts as very old.
    profile.ExpiresAt = profile.MeasuredAt + ProfileLifetime;
  }
}

std::optional<StorageModel> ParseRequestCost(const JsonObject& object)
{
  if (!object.Find("latency_seconds") && !object.Find("request_bytes_per_second")) {
    return {};
  }
  StorageModel requests;
  requests.Latency = object.Number("latency_seconds", 0, 1e3, requests.Latency);
  requests.Bandwidth = object.Number("request_bytes_per_second", 1, 1e15, requests.Bandwidth);
  return requests;
}

StorageProfile ParseProfile(const Json& json, const std::string& file)
{
  const JsonObject object(json, file);
  StorageProfile profile;
  profile.File = file;
  profile.StorageMount = ParseMount(object, file);
  profile.Samples = ParseSamples(object, file);
  profile.ThreadsOfRanks = ParseThreads(object);
  profile.Concurrency = ParseConcurrency(object, profile);
  profile.CostOfRequest = ParseRequestCost(object);
  const auto most = static_cast<double>(MostBlockBytes);
  profile.BlockBytes = static_cast<std::uint64_t>(object.Number("block_bytes", 0, most, 0));
  profile.BestFunction = object.Text("best_function");
  profile.Node = object.Text("node");
  profile.Ranks = static_cast<int>(object.Number("ranks", 0, MostConcurrency, 0));
  profile.FromReads = object.Text("measured_by") == "reads";
  ParseTimes(object, profile);
  const Json* notes = object.Find("notes");
  for (std::size_t i = 0; notes && i < std::min(notes->size(), MostEntries); ++i) {
    if (notes->is_array() && (*notes)[i].is_string()) {
      profile.Notes.push_back((*notes)[i].get<std::string>().substr(0, MostText));
    }
  }
  return profile;
}

/// Parses a table of mounts and their N*: {"/scratch": 32, "/home": 4}
std::vector<StorageProfile> ParseTable(const Json& table, const std::string& file)
{
  const JsonObject object(table, file, "storages");
  if (table.size() > MostEntries) {
    object.Fail(fmt::format("at most {} storages", MostEntries), "more");
  }
  std::vector<StorageProfile> profiles;
  for (const auto& [point, value] : table.items()) {
    StorageProfile profile;
    profile.File = file;
    profile.StorageMount.Point = ParseMountPoint(object, point);
    profile.Concurrency = object.WholeNumber(value, point, MostConcurrency);
    profile.Source = HandSource;
    profiles.push_back(profile);
  }
  return profiles;
}

Json ParseJson(const std::string& text, const std::string& file)
{
  try {
    return Json::parse(text, nullptr, true, true);  // the last argument allows comments
  } catch (const nlohmann::json::exception& error) {
    throw FileError(file, "a storage profile in JSON", PlainText(error.what()),
        "Correct the file, or remove it from the folder");
  }
}

}  // namespace

std::string UtcText(double seconds)
{
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::string TextOf(const StorageProfile& profile)
{
  OrderedJson json;
  json["mount"] = JsonOf(profile.StorageMount);
  json["source"] = profile.Source;
  if (profile.FromReads) {
    json["measured_by"] = "reads";
  }
  if (profile.MeasuredAt > 0) {
    json["measured_at"] = UtcText(profile.MeasuredAt);
  }
  json["expires_at"] = profile.ExpiresAt > 0 ? UtcText(profile.ExpiresAt) : "never";
  if (!profile.Node.empty()) {
    json["node"] = profile.Node;
  }
  if (profile.Ranks > 0) {
    json["ranks"] = profile.Ranks;
  }
  json["best_concurrency"] = profile.Concurrency;
  for (const auto& [ranks, threads] : profile.ThreadsOfRanks) {
    json["threads_of_ranks"][std::to_string(ranks)] = threads;
  }
  if (!profile.BestFunction.empty()) {
    json["best_function"] = profile.BestFunction;
  }
  if (profile.BlockBytes > 0) {
    json["block_bytes"] = profile.BlockBytes;
  }
  if (profile.CostOfRequest) {
    json["latency_seconds"] = profile.CostOfRequest->Latency;
    json["request_bytes_per_second"] = profile.CostOfRequest->Bandwidth;
  }
  json["notes"] = profile.Notes;
  json["fit"] = JsonOf(profile.Fit);
  json["samples"] = JsonOf(profile.Samples);
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

std::vector<StorageProfile> ParseProfiles(const std::string& text, const std::string& file)
{
  const Json json = ParseJson(text, file);
  const JsonObject object(json, file);
  if (const Json* table = object.Find("storages")) {
    return ParseTable(*table, file);
  }
  return {ParseProfile(json, file)};
}

}  // namespace patchio

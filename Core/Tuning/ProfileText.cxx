// Conversion of storage profiles from and to JSON.
#include "Base/Error.h"
#include "Tuning/Median.h"
#include "Tuning/StorageProfile.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
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

std::string TimeText(double seconds)
{
  const auto whole = static_cast<std::time_t>(seconds);
  std::tm parts = {};
  ::gmtime_r(&whole, &parts);
  char text[64] = "";
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

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

/// Groups the rates by N, so that users see the curve.
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
class Part
{
public:
  /// name: name of the member with this object; empty for the entire file.
  Part(const Json& json, const std::string& file, const std::string& name = "") : Value(json), File(file)
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

  /// Returns the number, or `otherwise` if there is no such member.
  double Number(const char* name, double least, double most, double otherwise) const
  {
    const Json* found = this->Find(name);
    return found ? this->Checked(*found, name, least, most) : otherwise;
  }

  double Checked(const Json& json, const std::string& name, double least, double most) const
  {
    const double value = json.is_number() ? json.get<double>() : std::numeric_limits<double>::quiet_NaN();
    if (!(value >= least && value <= most)) {
      this->Fail(fmt::format("a number from {:g} to {:g} for \"{}\"", least, most, name), Excerpt(json));
    }
    return value;
  }

  int WholeNumber(const Json& json, const std::string& name, int most) const
  {
    const double value = this->Checked(json, name, 1, most);
    if (value != std::floor(value)) {
      this->Fail(fmt::format("a whole number for \"{}\"", name), Excerpt(json));
    }
    return static_cast<int>(value);
  }

  /// Parses a time as written by TimeText(). Returns 0 if there is none.
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
    if (json.is_structured()) {
      return "a list or an object";  // its text may be nested deeper than the stack allows
    }
    const std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
    return text.size() <= most ? text : text.substr(0, most) + " ...";
  }

private:
  const Json& Value;
  const std::string& File;
};

/// Checks a mount point written by a user, and removes slashes from its end.
std::string PointOf(const Part& part, std::string point)
{
  if (point.empty() || point.front() != '/') {
    part.Fail("the path of a mount, beginning with a slash", Part::Excerpt(point));
  }
  while (point.size() > 1 && point.back() == '/') {
    point.pop_back();
  }
  return point;
}

Mount MountOfJson(const Part& profile, const std::string& file)
{
  Mount mount;
  const Json* json = profile.Find("mount");
  if (!json || json->is_string()) {
    mount.Point = PointOf(profile, profile.Text("mount"));
    return mount;
  }
  if (!json->is_object()) {
    profile.Fail("the path of a mount for \"mount\"", Part::Excerpt(*json));
  }
  const Part part(*json, file, "mount");
  mount.Point = PointOf(part, part.Text("point"));
  mount.Type = part.Text("type");
  mount.Source = part.Text("source");
  mount.Options = part.Text("options");
  mount.Root = part.Text("root");
  mount.Class = ClassOfType(mount.Type);
  mount.StripeCount = static_cast<int>(part.Number("stripe_count", 0, MostConcurrency, 0));
  const std::string device = part.Text("device");
  if (std::sscanf(device.c_str(), "%9d:%9d", &mount.Major, &mount.Minor) != 2) {
    mount.Major = mount.Minor = 0;
  }
  return mount;
}

std::vector<RateSample> SamplesOfJson(const Part& profile, const std::string& file)
{
  std::vector<RateSample> samples;
  const Json* json = profile.Find("samples");
  if (!json) {
    return samples;
  }
  if (!json->is_array()) {
    profile.Fail("a list for \"samples\"", Part::Excerpt(*json));
  }
  for (const Json& entry : *json) {
    const Part part(entry, file, "samples");
    const Json* concurrency = part.Find("in_flight");
    const Json* rates = part.Find("bytes_per_second");
    if (!concurrency || !rates) {
      part.Fail("\"in_flight\" and \"bytes_per_second\" in each of the samples", Part::Excerpt(entry));
    }
    const int inFlight = part.WholeNumber(*concurrency, "in_flight", MostConcurrency);
    int pass = 0;
    for (const Json& rate : *rates) {
      samples.push_back({inFlight, part.Checked(rate, "bytes_per_second", 1, 1e18), pass++});
      if (samples.size() > MostSamples) {
        part.Fail(fmt::format("at most {} samples", MostSamples), "more");
      }
    }
  }
  return samples;
}

std::map<int, int> ThreadsOfJson(const Part& profile)
{
  std::map<int, int> threads;
  const Json* json = profile.Find("threads_of_ranks");
  if (!json) {
    return threads;
  }
  if (!json->is_object() || json->size() > MostEntries) {
    profile.Fail("a table like {\"1\": 16, \"4\": 8} for \"threads_of_ranks\"", Part::Excerpt(*json));
  }
  for (const auto& [ranks, value] : json->items()) {
    char* end = nullptr;
    const long number = std::strtol(ranks.c_str(), &end, 10);
    if (end == ranks.c_str() || *end != '\0' || number < 1 || number > MostConcurrency) {
      profile.Fail("numbers of ranks in \"threads_of_ranks\"", Part::Excerpt(ranks));
    }
    threads[static_cast<int>(number)] = profile.WholeNumber(value, "threads_of_ranks", MostConcurrency);
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

int ConcurrencyOf(const Part& part, const StorageProfile& profile)
{
  if (const Json* given = part.Find("best_concurrency")) {
    return part.WholeNumber(*given, "best_concurrency", MostConcurrency);
  }
  if (!profile.ThreadsOfRanks.empty()) {
    return MedianProduct(profile.ThreadsOfRanks);
  }
  if (profile.Fit.Known()) {
    return profile.Fit.Best();
  }
  part.Fail(
      "\"best_concurrency\", the best number of requests in flight, or \"threads_of_ranks\"", "neither");
}

void ReadTimes(const Part& part, StorageProfile& profile)
{
  profile.Source = part.Text("source") == MeasuredSource ? MeasuredSource : HandSource;
  profile.MeasuredAt = part.Time("measured_at");
  profile.ExpiresAt = part.Time("expires_at");
  const bool forEver = part.Text("expires_at") == "never" && profile.MeasuredAt > 0;
  if (profile.Source == MeasuredSource && !forEver && profile.ExpiresAt == 0) {
    // Without a date, a measured profile counts as very old.
    profile.ExpiresAt = profile.MeasuredAt + ProfileLifetime;
  }
}

std::optional<StorageModel> RequestsOf(const Part& part)
{
  if (!part.Find("latency_seconds") && !part.Find("request_bytes_per_second")) {
    return {};
  }
  StorageModel requests;
  requests.Latency = part.Number("latency_seconds", 0, 1e3, requests.Latency);
  requests.Bandwidth = part.Number("request_bytes_per_second", 1, 1e15, requests.Bandwidth);
  return requests;
}

StorageProfile ProfileOfJson(const Json& json, const std::string& file)
{
  const Part part(json, file);
  StorageProfile profile;
  profile.File = file;
  profile.Where = MountOfJson(part, file);
  profile.Samples = SamplesOfJson(part, file);
  profile.Fit = FitRates(profile.Samples);
  profile.ThreadsOfRanks = ThreadsOfJson(part);
  profile.Concurrency = ConcurrencyOf(part, profile);
  profile.Requests = RequestsOf(part);
  const auto most = static_cast<double>(MostBlockBytes);
  profile.BlockBytes = static_cast<std::uint64_t>(part.Number("block_bytes", 0, most, 0));
  profile.BestFunction = part.Text("best_function");
  profile.Node = part.Text("node");
  profile.Ranks = static_cast<int>(part.Number("ranks", 0, MostConcurrency, 0));
  profile.FromReads = part.Text("measured_by") == "reads";
  ReadTimes(part, profile);
  const Json* notes = part.Find("notes");
  for (std::size_t i = 0; notes && i < std::min(notes->size(), MostEntries); ++i) {
    if (notes->is_array() && (*notes)[i].is_string()) {
      profile.Notes.push_back((*notes)[i].get<std::string>().substr(0, MostText));
    }
  }
  return profile;
}

/// Parses a table of mounts and their N*: {"/scratch": 32, "/home": 4}
std::vector<StorageProfile> ProfilesOfTable(const Json& table, const std::string& file)
{
  const Part part(table, file, "storages");
  if (table.size() > MostEntries) {
    part.Fail(fmt::format("at most {} storages", MostEntries), "more");
  }
  std::vector<StorageProfile> profiles;
  for (const auto& [point, value] : table.items()) {
    StorageProfile profile;
    profile.File = file;
    profile.Where.Point = PointOf(part, point);
    profile.Concurrency = part.WholeNumber(value, point, MostConcurrency);
    profile.Source = HandSource;
    profiles.push_back(profile);
  }
  return profiles;
}

Json ParsedJson(const std::string& text, const std::string& file)
{
  try {
    return Json::parse(text, nullptr, true, true);  // the last argument allows comments
  } catch (const nlohmann::json::exception& error) {
    throw FileError(file, "a storage profile in JSON", PlainText(error.what()),
        "Correct the file, or remove it from the folder");
  }
}

}  // namespace

std::string TextOf(const StorageProfile& profile)
{
  OrderedJson json;
  json["mount"] = JsonOf(profile.Where);
  json["source"] = profile.Source;
  if (profile.FromReads) {
    json["measured_by"] = "reads";
  }
  if (profile.MeasuredAt > 0) {
    json["measured_at"] = TimeText(profile.MeasuredAt);
  }
  json["expires_at"] = profile.ExpiresAt > 0 ? TimeText(profile.ExpiresAt) : "never";
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
  if (profile.Requests) {
    json["latency_seconds"] = profile.Requests->Latency;
    json["request_bytes_per_second"] = profile.Requests->Bandwidth;
  }
  json["notes"] = profile.Notes;
  json["fit"] = JsonOf(profile.Fit);
  json["samples"] = JsonOf(profile.Samples);
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

std::vector<StorageProfile> ProfilesOfText(const std::string& text, const std::string& file)
{
  const Json json = ParsedJson(text, file);
  const Part part(json, file);
  if (const Json* table = part.Find("storages")) {
    return ProfilesOfTable(*table, file);
  }
  return {ProfileOfJson(json, file)};
}

}  // namespace patchio

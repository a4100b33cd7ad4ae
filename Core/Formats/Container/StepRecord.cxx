#include "Formats/Container/StepRecord.h"

#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Text.h"
#include "Catalog/CheckCatalog.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace patchio::container {
namespace {

using nlohmann::json;

constexpr const char* FormatName = "PatchIO container";
constexpr char StepRecordType = 1;
constexpr Requirement Require("The record of the step");

/// Names of the enumerators of MeshRole.
constexpr std::array<const char*, 6> MeshRoles{
    "values", "points", "connectivity", "offsets", "types", "flags"};
static_assert(MeshRoles.size() == static_cast<std::size_t>(MeshRole::Flags) + 1);

/// Returns the enumerator whose name is the value of `key`. Throws Error for an unknown name.
template <typename Enum>
Enum ParseEnum(const json& entry, const char* key, Enum last)
{
  const auto name = entry.at(key).get<std::string>();
  if (const std::optional<Enum> value = ValueNamed(name, last)) {
    return *value;
  }
  Require.Fail(fmt::format("the unknown {} '{}'", key, PlainText(name)));
}

/// Returns the number, or null for a number that is not finite, because JSON lacks such numbers.
json FiniteOrNull(double number)
{
  return std::isfinite(number) ? json(number) : json();
}

/// Returns the number that FiniteOrNull() has encoded; infinity for null.
double NumberOrInfinity(const json& number)
{
  return number.is_null() ? std::numeric_limits<double>::infinity() : number.get<double>();
}

json JsonOf(const Variable& variable, ElementType type)
{
  json entry = {{"name", variable.Name}, {"centering", variable.Center == Centering::Cell ? "cell" : "node"},
      {"components", variable.Components}, {"type", NameOf(type)}};
  if (!variable.LongName.empty()) {
    entry["long name"] = variable.LongName;
  }
  if (variable.Positions) {
    entry["positions"] = true;
  }
  if (variable.TimeInvariant) {
    entry["steady"] = true;
  }
  if (variable.Role != MeshRole::Values) {
    entry["role"] = MeshRoles[static_cast<std::size_t>(variable.Role)];
    entry["list"] = variable.CellList;
  }
  if (variable.HasUndefined()) {
    entry["undefined"] = {FiniteOrNull(variable.UndefinedFrom), FiniteOrNull(variable.UndefinedTo)};
  }
  return entry;
}

Variable ParseVariable(const json& entry)
{
  Variable variable;
  variable.Name = entry.at("name").get<std::string>();
  variable.StoredName = variable.Name;
  variable.Center = entry.at("centering") == "cell" ? Centering::Cell : Centering::Node;
  variable.Components = entry.at("components").get<int>();
  variable.Interleaved = variable.Components > 1;
  variable.LongName = entry.value("long name", "");
  variable.Positions = entry.value("positions", false);
  variable.TimeInvariant = entry.value("steady", false);
  const auto role = std::find(MeshRoles.begin(), MeshRoles.end(), entry.value("role", "values"));
  Require(role != MeshRoles.end(), "an array of an unknown role");
  variable.Role = static_cast<MeshRole>(role - MeshRoles.begin());
  variable.CellList = entry.value("list", 0);
  if (entry.contains("undefined")) {
    variable.UndefinedFrom = NumberOrInfinity(entry["undefined"].at(0));
    variable.UndefinedTo = NumberOrInfinity(entry["undefined"].at(1));
  }
  return variable;
}

json JsonOfLevel(const StepRecord& record, std::size_t number)
{
  const Level& level = record.Data.Levels[number];
  json entry = {{"ratio", level.Ratio}, {"spacing", level.Spacing}, {"role", NameOf(level.Role)},
      {"patches", record.PatchCounts[number]}};
  if (level.FlatAxes != 0) {
    entry["flat axes"] = level.FlatAxes;
  }
  if (!record.Data.LevelNames.empty()) {
    entry["name"] = record.Data.LevelNames[number];
  }
  return entry;
}

void ParseLevel(const json& entry, StepRecord& record)
{
  Level& level = record.Data.Levels.emplace_back();
  level.Ratio = entry.at("ratio").get<Int3>();
  level.Spacing = entry.at("spacing").get<Double3>();
  level.Role = ParseEnum(entry, "role", LevelRole::Points);
  level.FlatAxes = entry.value("flat axes", std::uint64_t(0));
  if (entry.contains("name")) {
    record.Data.LevelNames.push_back(entry["name"].get<std::string>());
  }
  const std::vector<Level>& levels = record.Data.Levels;
  level.FirstPatch =
      levels.size() > 1 ? levels[levels.size() - 2].FirstPatch + levels[levels.size() - 2].PatchCount : 0;
  record.PatchCounts.push_back(entry.at("patches").get<std::vector<int>>());
  Require(
      record.PatchCounts.back().size() == record.Files.size(), "different numbers of files and patch counts");
  for (const int count : record.PatchCounts.back()) {
    Require(count >= 0 && count <= std::numeric_limits<int>::max() - level.FirstPatch - level.PatchCount,
        "an impossible number of patches");
    level.PatchCount += count;
  }
}

json JsonOfDataSets(const StepRecord& record)
{
  json entries = json::array();
  for (const DataSet& set : record.DataSets) {
    entries.push_back({{"level", set.Level}, {"variable", set.Variable}, {"file", set.File},
        {"name", set.Name}, {"values", set.Values}});
    if (set.Compression == FilterType::None) {
      entries.back()["offset"] = set.Offset;
    } else {
      entries.back()["compression"] = NameOfCompression(set.Compression);
    }
  }
  return entries;
}

FilterType ParseCompression(const json& entry)
{
  const std::string name = entry.value("compression", NameOfCompression(FilterType::None));
  for (const FilterType filter : {FilterType::None, FilterType::Deflate, FilterType::Zstd}) {
    if (name == NameOfCompression(filter)) {
      return filter;
    }
  }
  Require.Fail(fmt::format("values with the unknown compression '{}'", PlainText(name)));
}

void ParseDataSets(const json& entries, StepRecord& record)
{
  const auto below = [](int number, std::size_t count) {
    return number >= 0 && number < static_cast<int>(count);
  };
  for (const json& entry : entries) {
    DataSet& set = record.DataSets.emplace_back();
    set.Level = entry.at("level").get<int>();
    set.Variable = entry.at("variable").get<int>();
    set.File = entry.at("file").get<int>();
    set.Name = entry.at("name").get<std::string>();
    set.Compression = ParseCompression(entry);
    set.Offset = set.Compression == FilterType::None ? entry.at("offset").get<std::uint64_t>() : 0;
    set.Values = entry.at("values").get<std::uint64_t>();
    Require(below(set.Level, record.Data.Levels.size()) &&
                below(set.Variable, record.Data.Variables.size()) && below(set.File, record.Files.size()),
        "a data set of an unknown level, variable or file");
  }
}

json JsonOf(const StepRecord& record)
{
  const Catalog& data = record.Data;
  json all = {{"dimension", data.Dimension}, {"grid", NameOf(data.Grid)}, {"origin", data.Origin},
      {"files", record.Files}, {"levels", json::array()}, {"variables", json::array()},
      {"data sets", JsonOfDataSets(record)}, {"tables", json::object()}};
  for (std::size_t l = 0; l < data.Levels.size(); ++l) {
    all["levels"].push_back(JsonOfLevel(record, l));
  }
  for (std::size_t v = 0; v < data.Variables.size(); ++v) {
    all["variables"].push_back(JsonOf(data.Variables[v], record.Types[v]));
  }
  for (const auto& [name, table] : record.Tables) {
    all["tables"][name] = {{"offset", table.Offset}, {"bytes", table.Bytes}, {"checksum", table.Checksum}};
  }
  if (data.Grid == GridType::Rectilinear) {
    all["first nodes"] = {data.Axes[0].First, data.Axes[1].First, data.Axes[2].First};
    all["geographic"] = data.Geographic;
  }
  if (data.CoordinatesVariable >= 0) {
    all["coordinates"] = data.CoordinatesVariable;
  }
  if (!data.Lattice.Empty()) {
    all["lattice"] = {data.Lattice.Lower, data.Lattice.Upper};
  }
  return all;
}

StepRecord ParseRecord(const json& all)
{
  StepRecord record;
  Catalog& data = record.Data;
  data.Dimension = all.at("dimension").get<int>();
  data.Grid = ParseEnum(all, "grid", GridType::Polygonal);
  data.Origin = all.at("origin").get<Double3>();
  data.Geographic = all.value("geographic", false);
  data.CoordinatesVariable = all.value("coordinates", -1);
  record.Files = all.at("files").get<std::vector<std::string>>();
  Require(!record.Files.empty(), "no file");
  for (const std::string& file : record.Files) {
    Require(
        !file.empty() && file[0] != '.' && file.find('/') == std::string::npos, "a file outside its folder");
  }
  for (const json& level : all.at("levels")) {
    ParseLevel(level, record);
  }
  for (const json& variable : all.at("variables")) {
    data.Variables.push_back(ParseVariable(variable));
    record.Types.push_back(ParseEnum(variable, "type", LastElementType));
  }
  ParseDataSets(all.at("data sets"), record);
  for (const auto& [name, table] : all.at("tables").items()) {
    record.Tables[name] = {table.at("offset").get<std::uint64_t>(), table.at("bytes").get<std::uint64_t>(),
        table.at("checksum").get<std::uint32_t>()};
  }
  if (all.contains("first nodes")) {
    for (int axis = 0; axis < 3; ++axis) {
      data.Axes[axis].First = all["first nodes"].at(axis).get<int>();
    }
  }
  if (all.contains("lattice")) {
    data.Lattice = {all["lattice"].at(0).get<Int3>(), all["lattice"].at(1).get<Int3>()};
  }
  return record;
}

/// Reads the beginning of a record. `rest` receives the bytes behind the beginning.
StepHead ParseHead(std::string_view bytes, std::string_view& rest)
{
  constexpr std::size_t fixed = 1 + sizeof(std::int64_t) + sizeof(double) + 2 * sizeof(std::uint16_t);
  Require(bytes.size() >= fixed && bytes[0] == StepRecordType, "an invalid header");
  ByteReader reader(reinterpret_cast<const std::byte*>(bytes.data()) + 1, bytes.size() - 1);
  StepHead head;
  head.Step = reader.Get<std::int64_t>();
  head.Time = reader.Get<double>();
  const std::size_t name = reader.Get<std::uint16_t>(), date = reader.Get<std::uint16_t>();
  Require(bytes.size() - fixed >= name + date, "a header that is too short");
  head.File = std::string(bytes.substr(fixed, name));
  head.Date = std::string(bytes.substr(fixed + name, date));
  rest = bytes.substr(fixed + name + date);
  return head;
}

}  // namespace

const char* NameOfCompression(FilterType filter)
{
  return filter == FilterType::Deflate ? "deflate" : filter == FilterType::Zstd ? "zstd" : "off";
}

void MakeEncodable(Catalog& data)
{
  const std::string fault =
      data.Patches.empty() ? "The catalog has no patches." : CatchError([&] { CheckCatalog(data); });
  if (!fault.empty()) {
    throw Error(fmt::format("PatchIO cannot write step {}. {}", data.Step, fault));
  }
  UniqueNames names;
  for (const Variable& variable : data.Variables) {
    names.Add(variable.Name);
  }
  for (Variable& variable : data.Variables) {
    const std::string name =
        json::parse(json(variable.Name).dump(-1, ' ', false, json::error_handler_t::replace));
    if (name != variable.Name) {
      variable.Name = names.Add(name);
    }
  }
}

std::string Encode(const StepRecord& record)
{
  std::string bytes(1, StepRecordType);
  const auto put = [&bytes](const auto& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  put(record.Data.Step);
  put(record.Data.Time);
  put(static_cast<std::uint16_t>(record.Files[0].size()));
  put(static_cast<std::uint16_t>(record.Data.Date.size()));
  // Texts from files may contain bytes that are not UTF-8.
  return bytes + record.Files[0] + record.Data.Date +
         JsonOf(record).dump(-1, ' ', false, json::error_handler_t::replace);
}

StepRecord Decode(std::string_view bytes)
{
  std::string_view text;
  const StepHead head = ParseHead(bytes, text);
  try {
    StepRecord record = ParseRecord(json::parse(text));
    record.Data.Step = head.Step;
    record.Data.Time = head.Time;
    record.Data.Date = head.Date;
    Require(record.Files[0] == head.File, "different names for its first file");
    return record;
  } catch (const json::exception& fault) {
    Require.Fail(fmt::format("invalid JSON: {}", PlainText(fault.what())));
  }
}

StepHead DecodeStepHead(std::string_view bytes)
{
  std::string_view ignored;
  return ParseHead(bytes, ignored);
}

std::string EncodeLogHead()
{
  return json{{"format", FormatName}, {"version", FormatVersion}}.dump();
}

void CheckLogHead(std::string_view bytes)
{
  const json head = json::parse(bytes, nullptr, false);
  if (!head.is_object() || head.value("format", json()) != FormatName ||
      !head.value("version", json()).is_number_integer()) {
    throw Error("the log of another program, not a PatchIO container");
  }
  const auto version = head["version"].get<std::int64_t>();
  if (version < 1 || version > FormatVersion) {
    throw Error(fmt::format("version {}", version));
  }
}

}  // namespace patchio::container

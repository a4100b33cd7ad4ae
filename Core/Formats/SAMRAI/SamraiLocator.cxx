#include "Formats/SAMRAI/SamraiLocator.h"

#include "Formats/SAMRAI/SamraiNames.h"
#include "Support/Error.h"
#include "Support/Hdf5.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

namespace fs = std::filesystem;

namespace patchio::samrai {
namespace {

/// A data set's bytes and the number of values in them.
struct Dataset
{
  Extent Bytes;
  std::int64_t Values = 0;
};

std::string NotOpened(const std::string& reason)
{
  return "none that can be opened (" + reason + ")";
}

class Locator
{
public:
  Locator(const Catalog& catalog, const std::vector<PatchVariable>& requests)
      : Data(catalog), Requests(requests)
  {
    this->Table.Locations.resize(requests.size());
  }

  LocationTable Run()
  {
    const std::vector<std::size_t> order = this->StoredRequests();
    for (std::size_t begin = 0; begin < order.size();) {
      const int file = this->FileOf(order[begin]);
      std::size_t end = begin;
      while (end < order.size() && this->FileOf(order[end]) == file) {
        ++end;
      }
      this->LocateInFile(file, order.data() + begin, order.data() + end);
      begin = end;
    }
    return std::move(this->Table);
  }

private:
  const Patch& PatchOf(std::size_t request) const
  {
    return this->Data.Patches[this->Requests[request].Patch];
  }
  int FileOf(std::size_t request) const { return this->PatchOf(request).File; }

  std::vector<std::size_t> StoredRequests();
  void LocateInFile(int file, const std::size_t* begin, const std::size_t* end);
  void LocateOnPatch(const hdf5::File& file, const std::size_t* begin, const std::size_t* end);
  void LocateRequest(const hdf5::File& file, hid_t group, const std::string& groupName, std::size_t request);
  void LocateSparse(const hdf5::File& file, hid_t group, const std::string& groupName, std::size_t request);
  Dataset Find(const hdf5::File& file, hid_t group, const std::string& groupName, const std::string& name,
      ElementType type) const;
  void Add(std::size_t request, Encoding kind, const std::vector<Extent>& extents);
  void Problem(std::size_t request, const std::string& message);

  const Catalog& Data;
  const std::vector<PatchVariable>& Requests;
  LocationTable Table;
  std::uint64_t FileBytes = 0;  ///< size of the file at hand
};

/// Answers what the catalog alone can answer; the rest, ordered by file and patch.
std::vector<std::size_t> Locator::StoredRequests()
{
  std::vector<std::size_t> stored;
  for (std::size_t i = 0; i < this->Requests.size(); ++i) {
    const Presence presence = this->Data.PresenceOf(this->Requests[i].Variable, this->Requests[i].Patch);
    if (presence == Presence::Stored) {
      stored.push_back(i);
    } else if (presence != Presence::Absent) {
      this->Table.Locations[i].Kind = Encoding::Constant;
      this->Table.Locations[i].Value = presence == Presence::One ? 1.0f : 0.0f;
    }
  }
  std::sort(stored.begin(), stored.end(), [this](std::size_t a, std::size_t b) {
    const auto key = [this](std::size_t i) {
      return std::make_tuple(this->FileOf(i), this->Requests[i].Patch, i);
    };
    return key(a) < key(b);
  });
  return stored;
}

void Locator::LocateInFile(int file, const std::size_t* begin, const std::size_t* end)
{
  const fs::path path = fs::path(this->Data.Path).parent_path() / ClusterName(file);
  this->Table.Files.push_back(path.string());
  try {
    const hdf5::File open(path.string());
    this->FileBytes = fs::file_size(path);
    while (begin != end) {
      const int patch = this->Requests[*begin].Patch;
      const std::size_t* last =
          std::find_if(begin, end, [&](std::size_t i) { return this->Requests[i].Patch != patch; });
      this->LocateOnPatch(open, begin, last);
      begin = last;
    }
  } catch (const std::exception& error) {
    for (; begin != end; ++begin) {
      this->Problem(*begin, error.what());
    }
  }
}

void Locator::LocateOnPatch(const hdf5::File& file, const std::size_t* begin, const std::size_t* end)
{
  const Patch& patch = this->PatchOf(*begin);
  const std::string name = Numbered("/processor.", patch.Writer) + Numbered("/level.", patch.Level) +
                           Numbered("/patch.", patch.Number);
  const hdf5::QuietScope quiet;
  const hdf5::Handle group = file.OpenGroup(file.Id(), name);
  const std::string reason = group.Valid() ? "" : hdf5::LastMessage();
  for (; begin != end; ++begin) {
    try {
      if (!group.Valid()) {
        throw FileError(file.Path(), fmt::format("a group '{}'", name), NotOpened(reason),
            "The file is damaged, or does not belong to this summary");
      }
      if (this->Data.Variables[this->Requests[*begin].Variable].Material >= 0) {
        this->LocateSparse(file, group, name, *begin);
      } else {
        this->LocateRequest(file, group, name, *begin);
      }
    } catch (const Error& error) {
      this->Problem(*begin, error.what());
    }
  }
}

void Locator::LocateRequest(
    const hdf5::File& file, hid_t group, const std::string& groupName, std::size_t request)
{
  const auto [patch, number] = this->Requests[request];
  const Variable& variable = this->Data.Variables[number];
  const std::int64_t wanted = this->Data.StoredTuples(number, patch);
  std::vector<Extent> extents;
  for (int c = 0; c < variable.Components; ++c) {
    const std::string name = ComponentName(variable.StoredName, variable.Components, c);
    const Dataset dataset = this->Find(file, group, groupName, name, ElementType::Float32);
    if (dataset.Values != wanted) {
      throw FileError(file.Path(),
          fmt::format("{} values in '{}/{}', from the patch's box and ghosts", wanted, groupName, name),
          fmt::format("{}", dataset.Values),
          "The file does not fit its summary; they may come from different runs");
    }
    extents.push_back(dataset.Bytes);
  }
  this->Add(request, Encoding::Raw, extents);
}

void Locator::LocateSparse(
    const hdf5::File& file, hid_t group, const std::string& groupName, std::size_t request)
{
  const auto [patch, number] = this->Requests[request];
  const std::int64_t cells = this->Data.StoredTuples(number, patch);
  const Dataset list = this->Find(file, group, groupName, "materials/mat_list", ElementType::Int32);
  if (list.Values != cells && list.Values != 1) {
    throw FileError(file.Path(), fmt::format("1 or {} values in '{}/materials/mat_list'", cells, groupName),
        fmt::format("{}", list.Values), "The file does not fit its summary");
  }
  std::vector<Extent> extents{list.Bytes};
  if (file.HasLink(group, "materials/mix_mat")) {
    const Dataset material = this->Find(file, group, groupName, "materials/mix_mat", ElementType::Int32);
    const Dataset next = this->Find(file, group, groupName, "materials/next_mat", ElementType::Int32);
    const Dataset fraction = this->Find(file, group, groupName, "materials/vol_fracs", ElementType::Float32);
    if (next.Values != material.Values || fraction.Values != material.Values) {
      throw FileError(file.Path(), fmt::format("mix arrays of equal length in '{}/materials'", groupName),
          fmt::format("{}, {} and {} values", material.Values, next.Values, fraction.Values),
          "The file is damaged");
    }
    extents.insert(extents.end(), {material.Bytes, next.Bytes, fraction.Bytes});
  }
  this->Add(request, Encoding::SparseMaterials, extents);
  this->Table.Locations[request].Material = this->Data.Variables[number].Material;
}

Dataset Locator::Find(const hdf5::File& file, hid_t group, const std::string& groupName,
    const std::string& name, ElementType type) const
{
  const std::string full = groupName + "/" + name;
  const hdf5::Handle dataset = file.OpenDataset(group, name);
  if (!dataset.Valid()) {
    throw FileError(file.Path(), fmt::format("a data set '{}', as the summary says", full),
        NotOpened(hdf5::LastMessage()), "The file is damaged, or does not belong to this summary");
  }
  const hdf5::Handle space(H5Dget_space(dataset));
  const hdf5::Handle stored(H5Dget_type(dataset));
  const bool isFloat = H5Tget_class(stored) == H5T_FLOAT;
  const bool isInt = H5Tget_class(stored) == H5T_INTEGER;
  if (H5Tget_size(stored) != 4 || (type == ElementType::Float32 ? !isFloat : !isInt)) {
    throw FileError(file.Path(),
        fmt::format("4-byte {} in '{}'", type == ElementType::Float32 ? "floats" : "integers", full),
        "another type", "The file is damaged, or was not written by SAMRAI's VisIt writer");
  }
  Dataset result;
  result.Values = H5Sget_simple_extent_npoints(space);
  const haddr_t offset = H5Dget_offset(dataset);
  if (offset == HADDR_UNDEF) {
    throw FileError(file.Path(), fmt::format("contiguous values in '{}'", full),
        "another layout, or none written yet",
        "The dump may still be being written, or the file was repacked; repack it with 'h5repack -l CONTI'");
  }
  result.Bytes.Offset = offset;
  result.Bytes.Bytes = std::uint64_t(std::max<std::int64_t>(result.Values, 0)) * 4;
  result.Bytes.File = static_cast<int>(this->Table.Files.size()) - 1;
  result.Bytes.Type = type;
  result.Bytes.BigEndian = H5Tget_order(stored) == H5T_ORDER_BE;
  if (result.Values < 0 || offset > this->FileBytes || result.Bytes.Bytes > this->FileBytes - offset) {
    throw FileError(file.Path(), fmt::format("'{}' inside the file of {} bytes", full, this->FileBytes),
        fmt::format("{} bytes at {}", result.Bytes.Bytes, offset),
        "The file is truncated or still being written");
  }
  return result;
}

void Locator::Add(std::size_t request, Encoding kind, const std::vector<Extent>& extents)
{
  Location& location = this->Table.Locations[request];
  location.Kind = kind;
  location.First = static_cast<std::uint32_t>(this->Table.Extents.size());
  location.Count = static_cast<std::uint32_t>(extents.size());
  this->Table.Extents.insert(this->Table.Extents.end(), extents.begin(), extents.end());
}

void Locator::Problem(std::size_t request, const std::string& message)
{
  this->Table.Locations[request].Kind = Encoding::Missing;
  this->Table.Problems.push_back({request, message});
}

}  // namespace

LocationTable LocateInClusters(const Catalog& catalog, const std::vector<PatchVariable>& requests)
{
  return Locator(catalog, requests).Run();
}

}  // namespace patchio::samrai

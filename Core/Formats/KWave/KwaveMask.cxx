#include "Formats/KWave/KwaveMask.h"

#include "Support/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace fs = std::filesystem;

namespace patchio::kwave {
namespace {

constexpr const char* IndexName = "sensor_mask_index";
constexpr const char* CornersName = "sensor_mask_corners";
constexpr std::uint64_t MostCuboids = 100'000;
constexpr std::uint64_t MostCompared = std::uint64_t(1) << 24;
constexpr std::size_t MostFiles = 256;

std::vector<Cuboid> ReadCuboids(const KwaveFile& file, const MaskNeeds& needs)
{
  const std::vector<std::int64_t> corners = file.Integers(CornersName, 6 * MostCuboids);
  std::vector<Cuboid> cuboids(corners.size() / 6);
  for (std::size_t c = 0; c < cuboids.size(); ++c) {
    for (int axis = 0; axis < 3; ++axis) {
      cuboids[c].Lower[axis] = corners[6 * c + axis];
      cuboids[c].Upper[axis] = corners[6 * c + 3 + axis];
      const bool inside = cuboids[c].Lower[axis] >= 1 && cuboids[c].Lower[axis] <= cuboids[c].Upper[axis] &&
                          cuboids[c].Upper[axis] <= needs.Dims[axis];
      if (!inside) {
        throw FileError(file.Path(), fmt::format("cuboid {} of '{}' inside the domain", c + 1, CornersName),
            fmt::format("{} to {} of {} points along axis {}", cuboids[c].Lower[axis], cuboids[c].Upper[axis],
                needs.Dims[axis], axis + 1),
            "The file is damaged");
      }
    }
  }
  return cuboids;
}

bool Fits(const std::vector<Cuboid>& cuboids, const MaskNeeds& needs)
{
  const auto alike = [](const Cuboid& cuboid, const std::array<std::int64_t, 3>& extents) {
    return ExtentsOf(cuboid) == extents;
  };
  return needs.Cuboids.empty() ||
         std::equal(cuboids.begin(), cuboids.end(), needs.Cuboids.begin(), needs.Cuboids.end(), alike);
}

/// "out_2.h5" and "in_2.h5": the names under which an input may lie beside its output.
bool NamedAlike(const std::string& output, const std::string& other)
{
  const std::pair<const char*, const char*> words[] = {
      {"output", "input"}, {"out", "in"}, {"Output", "Input"}};
  for (const auto& [from, to] : words) {
    const std::size_t at = output.find(from);
    if (at != std::string::npos &&
        output.substr(0, at) + to + output.substr(at + std::string(from).size()) == other) {
      return true;
    }
  }
  return false;
}

/// HDF5 files of the folder but the one itself, those that are named alike first.
std::vector<std::string> FilesBeside(const fs::path& path)
{
  std::vector<std::string> names;
  const std::string own = path.filename().string();
  std::error_code fault, ignored;
  fs::directory_iterator entry(path.parent_path(), fault);
  while (!fault && entry != fs::directory_iterator()) {
    const std::string extension = entry->path().extension().string();
    const std::string name = entry->path().filename().string();
    if ((extension == ".h5" || extension == ".hdf5") && name != own && entry->is_regular_file(ignored)) {
      names.push_back(name);
    }
    entry.increment(fault);
  }
  std::sort(names.begin(), names.end());
  std::stable_partition(names.begin(), names.end(), [&](const std::string& n) { return NamedAlike(own, n); });
  return names;
}

/// The points of two lists in two files.
bool SamePoints(const fs::path& folder, const Mask& a, const Mask& b)
{
  if (a.Points != b.Points || a.Points > MostCompared) {
    return false;
  }
  const auto read = [&](const Mask& mask) {
    return KwaveFile((folder / mask.File).string()).Integers(IndexName, MostCompared);
  };
  return a.Points == 0 || read(a) == read(b);
}

}  // namespace

std::vector<Mask> MaskIn(const KwaveFile& file, const MaskNeeds& needs)
{
  if (needs.Type == MaskType::Corners) {
    if (!file.Has(CornersName)) {
      return {};
    }
    Mask mask;
    mask.Cuboids = ReadCuboids(file, needs);
    return Fits(mask.Cuboids, needs) ? std::vector<Mask>{mask} : std::vector<Mask>();
  }
  Mask mask;
  mask.Points = file.Describe(IndexName).Values();
  const bool fits = mask.Points > 0 && (needs.Points == 0 || mask.Points == needs.Points);
  return fits ? std::vector<Mask>{mask} : std::vector<Mask>();
}

std::vector<Mask> MaskBeside(const std::string& path, const MaskNeeds& needs)
{
  const fs::path folder = fs::path(path).parent_path();
  const std::string own = fs::path(path).filename().string();
  std::vector<Mask> found;
  std::size_t looked = 0;
  for (const std::string& name : FilesBeside(path)) {
    if (++looked > MostFiles ||
        (!found.empty() && NamedAlike(own, found[0].File) && !NamedAlike(own, name))) {
      break;
    }
    const std::string other = (folder / name).string();
    const FileType type = TypeOfFile(other);
    if (type != FileType::Input && type != FileType::Output) {
      continue;
    }
    try {
      const KwaveFile file(other);
      if (file.Count("Nx") != needs.Dims[0] || file.Count("Ny") != needs.Dims[1] ||
          file.Count("Nz") != needs.Dims[2]) {
        continue;
      }
      for (Mask& mask : MaskIn(file, needs)) {
        mask.File = name;
        found.push_back(mask);
      }
    } catch (const Error&) {
      // Another file that cannot be read is not the one that is looked for.
    }
  }
  for (std::size_t i = 1; i < found.size(); ++i) {
    if (!(found[i].Cuboids == found[0].Cuboids) || !SamePoints(folder, found[i], found[0])) {
      throw FileError(path, "the sensor mask, in the file or in one input file in its folder",
          fmt::format("different masks in {} and {}", found[0].File, found[i].File),
          "Keep only the input file of this run in the folder, or name it like the output file ('in' for "
          "'out')");
    }
  }
  found.resize(std::min<std::size_t>(found.size(), 1));
  return found;
}

}  // namespace patchio::kwave

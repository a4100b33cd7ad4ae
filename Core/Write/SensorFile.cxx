#include "Write/SensorFile.h"

#include "Base/Error.h"
#include "Formats/Format.h"
#include "Formats/KWave/KwaveNames.h"
#include "Hdf5/Output.h"
#include "Write/FloatFile.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>
#include <numeric>

namespace fs = std::filesystem;

namespace patchio::output {
namespace {

/// Large data sets begin where blocks of storages do.
constexpr std::uint64_t Alignment = 1 << 20;

std::vector<hsize_t> ShapeOf(const SensorSeries& series, std::size_t set, std::int64_t steps)
{
  const auto length = static_cast<hsize_t>(steps);
  if (series.Cuboids.empty()) {
    return {1, length, series.Points.size()};
  }
  const Box& box = series.Cuboids[set];
  return {length, static_cast<hsize_t>(box.Width(2)), static_cast<hsize_t>(box.Width(1)),
      static_cast<hsize_t>(box.Width(0))};
}

/// Unlike any other shape but those of cuboids of one cell.
std::vector<hsize_t> TimesShape(std::int64_t steps)
{
  return {static_cast<hsize_t>(steps), 1, 1, 1};
}

/// Returns all offsets of a shape in a file's description. A dataspace message of version 1 has the shape and
/// the maximum shape after its header (HDF5 File Format Specification, IV.A.2.b).
std::vector<std::uint64_t> PlacesOf(const std::vector<hsize_t>& shape, const std::vector<std::byte>& in)
{
  constexpr std::size_t head = 8;
  std::vector<std::byte> message(head, std::byte(0));
  message[0] = std::byte(1);             // version
  message[1] = std::byte(shape.size());  // axes
  message[2] = std::byte(1);             // has a maximum shape
  const auto* begin = reinterpret_cast<const std::byte*>(shape.data());
  const auto* end = begin + shape.size() * sizeof(hsize_t);
  message.insert(message.end(), begin, end);
  message.insert(message.end(), begin, end);
  std::vector<std::uint64_t> places;
  for (auto at = in.begin(); (at = std::search(at, in.end(), message.begin(), message.end())) != in.end();
       ++at) {
    places.push_back(at - in.begin() + head);
    places.push_back(places.back() + (end - begin));
  }
  return places;
}

std::uint64_t BytesOf(const std::vector<hsize_t>& shape, std::size_t bytesOfValue)
{
  return std::accumulate(shape.begin(), shape.end(), std::uint64_t(bytesOfValue), std::multiplies<>());
}

/// Returns the offset of the address of a contiguous data set in a file's description; 0: there is none. A
/// data layout message has the address of the values and then their size (HDF5 File Format Specification,
/// IV.A.2.i).
std::uint64_t PlaceOfAddress(std::uint64_t address, std::uint64_t bytes, const std::vector<std::byte>& in)
{
  std::array<std::byte, 2 * sizeof(std::uint64_t)> message;
  std::memcpy(message.data(), &address, sizeof address);
  std::memcpy(message.data() + sizeof address, &bytes, sizeof bytes);
  const auto found = std::search(in.begin(), in.end(), message.begin(), message.end());
  return found == in.end() ? 0 : found - in.begin();
}

}  // namespace

/// What HDF5 makes of a file in memory.
class SensorFile::Layout
{
public:
  Layout(const SensorSeries& series, const Catalog& data, std::int64_t steps)
      : Series(series),
        Data(data),
        Steps(steps),
        File(series.Path, Alignment, 32 + data.Variables.size() * (series.Sets() + 1), 0)
  {
  }

  void FillIn(SensorFile& to);

private:
  template <typename T>
  std::uint64_t Write(const char* name, hid_t fileType, hid_t memoryType, const std::vector<hsize_t>& shape,
      const std::vector<T>& values)
  {
    const hdf5::Handle set =
        this->File.Write(this->File.Id(), name, fileType, memoryType, shape, values.data());
    this->Describe(set, fileType);
    return H5Dget_offset(set);
  }
  std::uint64_t WriteCount(const char* name, std::int64_t value)
  {
    return this->Write<std::int64_t>(name, H5T_STD_U64LE, H5T_NATIVE_INT64, {1, 1, 1}, {value});
  }
  std::uint64_t WriteNumber(const char* name, double value)
  {
    return this->Write<double>(name, H5T_IEEE_F32LE, H5T_NATIVE_DOUBLE, {1, 1, 1}, {value});
  }
  void Describe(hid_t set, hid_t type) const
  {
    this->File.WriteText(set, "data_type", H5Tget_class(type) == H5T_FLOAT ? "float" : "long");
    this->File.WriteText(set, "domain_type", "real");
  }
  void WriteHeader() const;
  void WriteMask();

  const SensorSeries& Series;
  const Catalog& Data;
  const std::int64_t Steps;
  hdf5::OutputFile File;
};

void SensorFile::Layout::WriteHeader() const
{
  const auto text = [this](const char* name, const std::string& value) {
    this->File.WriteText(this->File.Id(), name, value);
  };
  text("created_by", "PatchIO");
  const char* const date = std::getenv("SOURCE_DATE_EPOCH");  // so that equal runs write equal bytes
  const std::time_t now = date ? static_cast<std::time_t>(std::atoll(date)) : std::time(nullptr);
  text("creation_date", fmt::format("{:%Y-%m-%d-%H-%M-%S}", fmt::gmtime(now)));
  text("file_description", "values at a sensor");
  text("file_type", "output");
  text("major_version", "1");
  text("minor_version", "2");
}

void SensorFile::Layout::WriteMask()
{
  const bool points = this->Series.Cuboids.empty();
  this->WriteCount("sensor_mask_type", points ? 0 : 1);
  std::vector<std::int64_t> corners;
  for (const Box& cuboid : this->Series.Cuboids) {
    for (const Int3& corner : {cuboid.Lower, cuboid.Upper}) {
      corners.insert(corners.end(), {corner[0] + 1, corner[1] + 1, corner[2] + 1});
    }
  }
  const std::vector<std::int64_t>& values = points ? this->Series.Points : corners;
  this->Write<std::int64_t>(points ? "sensor_mask_index" : "sensor_mask_corners", H5T_STD_U64LE,
      H5T_NATIVE_INT64,
      points ? std::vector<hsize_t>{1, 1, values.size()} : std::vector<hsize_t>{1, values.size() / 6, 6},
      values);
}

void SensorFile::Layout::FillIn(SensorFile& to)
{
  this->WriteHeader();
  const Box grid = GridOf(this->Data);
  const char* const counts[] = {"Nx", "Ny", "Nz"};
  const char* const distances[] = {"dx", "dy", "dz"};
  for (int axis = 0; axis < 3; ++axis) {
    this->WriteCount(counts[axis], grid.Width(axis));
    this->WriteNumber(distances[axis], this->Data.Levels[0].Spacing[axis]);
  }
  to.All = this->WriteCount("Nt", 0);
  to.Done = this->WriteCount("t_index", 0);
  to.TimeStep = this->WriteNumber("dt", 0);
  to.Times = this->File.Reserve(kwave::TimesName, H5T_IEEE_F64LE, TimesShape(this->Steps));
  this->WriteMask();
  for (const Variable& variable : this->Data.Variables) {
    for (std::size_t set = 0; set < this->Series.Sets(); ++set) {
      const std::string name =
          variable.Name + (this->Series.Cuboids.empty() ? "" : fmt::format("/{}", set + 1));
      to.Begins.push_back(this->File.Reserve(name, H5T_IEEE_F32LE, ShapeOf(this->Series, set, this->Steps)));
      this->Describe(hdf5::Handle(H5Dopen2(this->File.Id(), name.c_str(), H5P_DEFAULT)), H5T_IEEE_F32LE);
    }
  }
  hdf5::FileImage image = this->File.TakeImage();
  image.Bytes.resize(std::min<std::uint64_t>(image.Bytes.size(), image.Size));
  to.Image = std::move(image.Bytes);
  to.Size = image.Size;
}

SensorFile::SensorFile(const SensorSeries& series, const Catalog& data, std::int64_t steps)
    : Path(series.Path)
{
  steps = std::max<std::int64_t>(steps, 2);  // shapes of one step are those of single numbers, too
  const std::lock_guard<std::mutex> guard(hdf5::OutputLock());
  Layout(series, data, steps).FillIn(*this);
  std::vector<std::vector<hsize_t>> shapes{TimesShape(steps)};
  for (std::size_t set = 0; set < series.Sets(); ++set) {
    shapes.push_back(ShapeOf(series, set, steps));
  }
  std::sort(shapes.begin(), shapes.end());
  shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
  for (const std::vector<hsize_t>& shape : shapes) {
    for (const std::uint64_t place : PlacesOf(shape, this->Image)) {
      this->Lengths.push_back(place + (shape.size() == 3 ? sizeof(hsize_t) : 0));
    }
  }
  const auto add = [&](std::uint64_t address, std::uint64_t bytes) {
    this->Addresses.push_back({PlaceOfAddress(address, bytes, this->Image), address});
  };
  add(this->Times, BytesOf(TimesShape(steps), sizeof(double)));
  for (std::size_t i = 0; i < this->Begins.size(); ++i) {
    add(this->Begins[i], BytesOf(ShapeOf(series, i % series.Sets(), steps), sizeof(float)));
  }
  const bool isUnknown = std::any_of(this->Addresses.begin(), this->Addresses.end(),
      [](const AddressPlace& place) { return place.At == 0; });
  if (isUnknown || this->Lengths.size() != 2 * this->Addresses.size()) {
    throw FileError(this->Path, "data sets as HDF5 1.10 describes them", "others",
        "Write this channel as a container, and report the HDF5 version");
  }
}

void SensorFile::Create(bool overwrite)
{
  ClearPlace(this->Path, overwrite, "a k-Wave file", [this] {
    const Format* const format = FindFormat(this->Path);
    return format && format->Name() == std::string("k-Wave");
  });
  for (const std::uint64_t place : this->Lengths) {
    std::memset(this->Image.data() + place, 0, sizeof(std::uint64_t));
  }
  // HDF5 2 opens no data set without values that has an address.
  for (const AddressPlace& place : this->Addresses) {
    std::memset(this->Image.data() + place.At, 0xFF, sizeof(std::uint64_t));
  }
  this->File = std::make_unique<PlainFile>(this->Path, PlainFile::Purpose::Create);
  this->File->SetSize(this->Size);  // writes that make a file longer wait for each other
  this->File->Write(0, this->Image.data(), this->Image.size());
}

/// In one write, so that all change together. k-Wave counts steps from 1, which is the time 0; the first one
/// is the difference of Nt and the length. So it can say neither that steps are 4 dt apart from 3 dt on, nor
/// that their distances differ: the times are in the file besides.
void SensorFile::Commit(const std::vector<double>& times)
{
  this->File->Write(this->Times + this->Steps * sizeof(double), times.data(), times.size() * sizeof(double));
  this->First = this->Steps == 0 ? times.front() : this->First;
  this->Steps += static_cast<std::int64_t>(times.size());
  const std::int64_t steps = this->Steps;
  const double first = this->First, last = times.back();
  const double dt = steps > 1 ? (last - first) / static_cast<double>(steps - 1) : std::max(first, 0.0);
  const std::int64_t before = dt > 0 ? std::max<std::int64_t>(std::llround(first / dt), 0) : 0;
  const auto length = static_cast<std::uint64_t>(steps), number = static_cast<std::uint64_t>(before + steps);
  const auto distance = static_cast<float>(dt);
  std::uint64_t begin = this->TimeStep, end = begin + sizeof distance;
  const auto set = [&](std::uint64_t place, const auto& value) {
    std::memcpy(this->Image.data() + place, &value, sizeof value);
    begin = std::min(begin, place);
    end = std::max<std::uint64_t>(end, place + sizeof value);
  };
  for (const std::uint64_t place : this->Lengths) {
    set(place, length);
  }
  for (const AddressPlace& place : this->Addresses) {
    set(place.At, place.Address);
  }
  set(this->TimeStep, distance);
  set(this->All, number);
  set(this->Done, number);
  this->File->Write(begin, this->Image.data() + begin, end - begin);
}

void SensorFile::Flush() const
{
  if (this->File) {
    this->File->Flush();
  }
}

}  // namespace patchio::output

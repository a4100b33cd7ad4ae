#include "Write/SensorWriter.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Text.h"
#include "Formats/Format.h"
#include "Formats/KWave/KwaveFile.h"
#include "Hdf5/Output.h"
#include "Io/IoScheduler.h"
#include "Tuning/StorageProfile.h"
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
#include <utility>

namespace fs = std::filesystem;

namespace patchio::output {

namespace {

/// Alignment of large data sets in bytes, a common size of storage blocks.
constexpr std::uint64_t Alignment = 1 << 20;

/// Policy of std::async() that starts a thread or, if the system starts no more threads, leaves the work to
/// the thread that waits for the result.
constexpr auto AsyncIfPossible = std::launch::async | std::launch::deferred;

std::vector<hsize_t> ShapeOf(const SensorPortion& portion, std::size_t set, std::int64_t steps)
{
  const auto length = static_cast<hsize_t>(steps);
  if (portion.Cuboids.empty()) {
    return {1, length, portion.Points.size()};
  }
  const Box& box = portion.Cuboids[set];
  return {length, static_cast<hsize_t>(box.Width(2)), static_cast<hsize_t>(box.Width(1)),
      static_cast<hsize_t>(box.Width(0))};
}

/// Returns the shape of the data set of times, which differs from the shapes of all other data sets except
/// cuboids with one cell.
std::vector<hsize_t> TimesShape(std::int64_t steps)
{
  return {static_cast<hsize_t>(steps), 1, 1, 1};
}

/// Returns the offsets of all copies of a shape in the metadata `in` of a file. A dataspace message of
/// version 1 consists of a header, the shape and the maximum shape (HDF5 File Format Specification,
/// IV.A.2.b).
std::vector<std::uint64_t> OffsetsOfShape(const std::vector<hsize_t>& shape, const std::vector<std::byte>& in)
{
  constexpr std::size_t head = 8;
  std::vector<std::byte> message(head, std::byte(0));
  message[0] = std::byte(1);             // version
  message[1] = std::byte(shape.size());  // axes
  message[2] = std::byte(1);             // flag: the message has a maximum shape
  const auto* begin = reinterpret_cast<const std::byte*>(shape.data());
  const auto* end = begin + shape.size() * sizeof(hsize_t);
  message.insert(message.end(), begin, end);
  message.insert(message.end(), begin, end);
  std::vector<std::uint64_t> offsets;
  for (auto at = in.begin(); (at = std::search(at, in.end(), message.begin(), message.end())) != in.end();
       ++at) {
    offsets.push_back(at - in.begin() + head);
    offsets.push_back(offsets.back() + (end - begin));
  }
  return offsets;
}

std::uint64_t BytesOf(const std::vector<hsize_t>& shape, std::size_t bytesOfValue)
{
  return std::accumulate(shape.begin(), shape.end(), std::uint64_t(bytesOfValue), std::multiplies<>());
}

/// Returns the offset of the address of a contiguous data set in the metadata `in` of a file, or 0 if `in`
/// lacks the address. A data layout message contains the address and then the size of the values (HDF5 File
/// Format Specification, IV.A.2.i). `bytes`: size of the values.
std::uint64_t OffsetOfAddress(std::uint64_t address, std::uint64_t bytes, const std::vector<std::byte>& in)
{
  std::array<std::byte, 2 * sizeof(std::uint64_t)> message;
  std::memcpy(message.data(), &address, sizeof address);
  std::memcpy(message.data() + sizeof address, &bytes, sizeof bytes);
  const auto found = std::search(in.begin(), in.end(), message.begin(), message.end());
  return found == in.end() ? 0 : found - in.begin();
}

}  // namespace

/// The layout of a file, made by HDF5 in memory.
class SensorFile::Layout
{
public:
  Layout(const SensorPortion& portion, const Catalog& data, std::int64_t steps)
      : Portion(portion),
        Data(data),
        Steps(steps),
        File(portion.Path, Alignment, 32 + data.Variables.size() * (portion.SetCount() + 1), 0)
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

  const SensorPortion& Portion;
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
  const char* const date = std::getenv("SOURCE_DATE_EPOCH");  // the variable makes files reproducible
  const std::time_t now = date ? static_cast<std::time_t>(std::atoll(date)) : std::time(nullptr);
  text("creation_date", fmt::format("{:%Y-%m-%d-%H-%M-%S}", fmt::gmtime(now)));
  text("file_description", "values at a sensor");
  text("file_type", "output");
  text("major_version", "1");
  text("minor_version", "2");
}

void SensorFile::Layout::WriteMask()
{
  const bool points = this->Portion.Cuboids.empty();
  this->WriteCount("sensor_mask_type", points ? 0 : 1);
  std::vector<std::int64_t> corners;
  for (const Box& cuboid : this->Portion.Cuboids) {
    for (const Int3& corner : {cuboid.Lower, cuboid.Upper}) {
      corners.insert(corners.end(), {corner[0] + 1, corner[1] + 1, corner[2] + 1});
    }
  }
  const std::vector<std::int64_t>& values = points ? this->Portion.Points : corners;
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
  to.TotalStepsOffset = this->WriteCount("Nt", 0);
  to.StepIndexOffset = this->WriteCount("t_index", 0);
  to.TimeStepOffset = this->WriteNumber("dt", 0);
  to.TimesOffset = this->File.Reserve(kwave::TimesName, H5T_IEEE_F64LE, TimesShape(this->Steps));
  this->WriteMask();
  for (const Variable& variable : this->Data.Variables) {
    for (std::size_t set = 0; set < this->Portion.SetCount(); ++set) {
      const std::string name =
          variable.Name + (this->Portion.Cuboids.empty() ? "" : fmt::format("/{}", set + 1));
      to.Begins.push_back(this->File.Reserve(name, H5T_IEEE_F32LE, ShapeOf(this->Portion, set, this->Steps)));
      this->Describe(hdf5::Handle(H5Dopen2(this->File.Id(), name.c_str(), H5P_DEFAULT)), H5T_IEEE_F32LE);
    }
  }
  hdf5::FileImage image = this->File.CloseAndGetImage();
  image.Bytes.resize(std::min<std::uint64_t>(image.Bytes.size(), image.Size));
  to.Image = std::move(image.Bytes);
  to.Size = image.Size;
}

SensorFile::SensorFile(const SensorPortion& portion, const Catalog& data, std::int64_t steps)
    : Path(portion.Path)
{
  steps = std::max<std::int64_t>(steps, 2);  // shapes with one step could equal the shapes of other data sets
  const std::lock_guard<std::mutex> guard(hdf5::OutputLock());
  Layout(portion, data, steps).FillIn(*this);
  std::vector<std::vector<hsize_t>> shapes{TimesShape(steps)};
  for (std::size_t set = 0; set < portion.SetCount(); ++set) {
    shapes.push_back(ShapeOf(portion, set, steps));
  }
  std::sort(shapes.begin(), shapes.end());
  shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
  for (const std::vector<hsize_t>& shape : shapes) {
    for (const std::uint64_t offset : OffsetsOfShape(shape, this->Image)) {
      this->LengthOffsets.push_back(offset + (shape.size() == 3 ? sizeof(hsize_t) : 0));
    }
  }
  const auto add = [&](std::uint64_t address, std::uint64_t bytes) {
    this->Addresses.push_back({OffsetOfAddress(address, bytes, this->Image), address});
  };
  add(this->TimesOffset, BytesOf(TimesShape(steps), sizeof(double)));
  for (std::size_t i = 0; i < this->Begins.size(); ++i) {
    add(this->Begins[i], BytesOf(ShapeOf(portion, i % portion.SetCount(), steps), sizeof(float)));
  }
  const bool isUnknown = std::any_of(this->Addresses.begin(), this->Addresses.end(),
      [](const StoredAddress& stored) { return stored.Offset == 0; });
  if (isUnknown || this->LengthOffsets.size() != 2 * this->Addresses.size()) {
    throw FileError(this->Path, "data sets as HDF5 1.10 describes them", "another description",
        "Write this channel as a container, and report the HDF5 version");
  }
}

void SensorFile::Create(bool overwrite)
{
  PreparePath(this->Path, overwrite, "a k-Wave file", [this] {
    const Format* const format = FindFormat(this->Path);
    return format && format->Name() == std::string("k-Wave");
  });
  for (const std::uint64_t offset : this->LengthOffsets) {
    std::memset(this->Image.data() + offset, 0, sizeof(std::uint64_t));
  }
  // HDF5 2 does not open a data set that has an address but no values.
  for (const StoredAddress& stored : this->Addresses) {
    std::memset(this->Image.data() + stored.Offset, 0xFF, sizeof(std::uint64_t));
  }
  this->File = std::make_unique<PlainFile>(this->Path, PlainFile::Purpose::Create);
  this->File->SetSize(
      this->Size);  // sets the final size, because writes that extend a file wait for each other
  this->File->Write(0, this->Image.data(), this->Image.size());
}

/// Changes all numbers in one write, so that readers see either all new steps or none of them. k-Wave counts
/// steps from 1, the step at time 0; the number of the first step in a file follows from Nt and the length of
/// the data sets. Nt and dt cannot express steps that begin at 3 dt with a distance of 4 dt, or unequal
/// distances. So the file also contains the exact times.
void SensorFile::Commit(const std::vector<double>& times)
{
  this->File->Write(
      this->TimesOffset + this->Steps * sizeof(double), times.data(), times.size() * sizeof(double));
  this->FirstTime = this->Steps == 0 ? times.front() : this->FirstTime;
  this->Steps += static_cast<std::int64_t>(times.size());
  const std::int64_t steps = this->Steps;
  const double first = this->FirstTime, last = times.back();
  const double dt = steps > 1 ? (last - first) / static_cast<double>(steps - 1) : std::max(first, 0.0);
  const std::int64_t before = dt > 0 ? std::max<std::int64_t>(std::llround(first / dt), 0) : 0;
  const auto length = static_cast<std::uint64_t>(steps), number = static_cast<std::uint64_t>(before + steps);
  const auto distance = static_cast<float>(dt);
  std::uint64_t begin = this->TimeStepOffset, end = begin + sizeof distance;
  const auto set = [&](std::uint64_t offset, const auto& value) {
    std::memcpy(this->Image.data() + offset, &value, sizeof value);
    begin = std::min(begin, offset);
    end = std::max<std::uint64_t>(end, offset + sizeof value);
  };
  for (const std::uint64_t offset : this->LengthOffsets) {
    set(offset, length);
  }
  for (const StoredAddress& stored : this->Addresses) {
    set(stored.Offset, stored.Address);
  }
  set(this->TimeStepOffset, distance);
  set(this->TotalStepsOffset, number);
  set(this->StepIndexOffset, number);
  this->File->Write(begin, this->Image.data() + begin, end - begin);
}

void SensorFile::Flush() const
{
  if (this->File) {
    this->File->Flush();
  }
}

namespace {

/// Adds the values of the runs to the shuffle. Runs that are neighbours in the data set form one fragment.
/// `values`: values of all runs. `begin`: offset of the data set in the shuffle, in bytes. Returns the end of
/// the added values.
const float* AddRuns(
    const std::vector<SensorRun>& runs, const float* values, std::uint64_t begin, Shuffle& shuffle)
{
  for (std::size_t run = 0; run < runs.size();) {
    const std::int64_t first = runs[run].Position;
    std::int64_t end = first;
    for (; run < runs.size() && runs[run].Position == end; ++run) {
      end += runs[run].Count;
    }
    shuffle.Add(begin + first * sizeof(float), values, (end - first) * sizeof(float));
    values += end - first;
  }
  return values;
}

}  // namespace

/// The values of a data set for the gathered steps: a contiguous range of a file.
struct SensorWriter::Region
{
  std::size_t Portion = 0;
  std::uint64_t Begin = 0;   ///< offset in the shuffle, which contains all regions, in bytes
  std::uint64_t Offset = 0;  ///< offset in the file, in bytes
  std::uint64_t Bytes = 0;
  std::uint64_t StepBytes = 0;  ///< bytes of one step
};

/// A write request: a part of this rank's range in the shuffle, and the offset of the part in a file. Offsets
/// and sizes are in bytes.
struct SensorWriter::Request
{
  std::size_t Portion = 0;
  std::uint64_t Offset = 0, RangeOffset = 0, Bytes = 0;
};

SensorWriter::SensorWriter(Communicator& ranks, const Channel& channel)
    : Ranks(ranks),
      Config(channel),
      AllPortions(PortionsOf(channel.SensorCells, channel.Path)),
      StepShuffle(ranks)
{
  for (const SensorPortion& portion : this->AllPortions) {
    this->Sets += portion.SetCount();
    this->LongestPeriod = std::max(this->LongestPeriod, portion.Every);
    this->StepCapacity.push_back((channel.MostSteps() + portion.Every - 1) / portion.Every);
  }
}

void SensorWriter::LayOut(const Catalog& data)
{
  this->Variables = data.Variables.size();
  for (std::size_t portion = 0; portion < this->AllPortions.size() && this->Ranks.Rank() == 0; ++portion) {
    this->Files.emplace_back(this->AllPortions[portion], data, this->StepCapacity[portion]);
  }
}

std::vector<std::vector<float>> SensorWriter::AcquireMemory()
{
  const std::lock_guard<std::mutex> guard(this->SpareLock);
  if (this->Spare.empty()) {
    return std::vector<std::vector<float>>(this->AllPortions.size());
  }
  std::vector<std::vector<float>> values = std::move(this->Spare.back());
  this->Spare.pop_back();
  return values;
}

void SensorWriter::Add(SensorSample sample, int concurrency)
{
  const std::vector<std::int64_t> lost = this->Lost.Before(sample.Number);
  if (!lost.empty() && this->Fault.empty()) {
    this->Fault = fmt::format("Step {} was lost.", lost[0]);
  }
  if (!this->Fault.empty()) {
    throw Error(fmt::format("{}: {} PatchIO writes no later steps, because k-Wave files have no gaps.",
        this->Config.Path, this->Fault.substr(0, this->Fault.find_last_not_of('.') + 1) + "."));
  }
  this->Lost.MarkWritten(sample.Number);
  this->RunOrLoseSteps([&] { this->Gather(std::move(sample), concurrency); });
}

void SensorWriter::Flush()
{
  this->RunOrLoseSteps([this] {
    if (!this->Gathered.empty()) {
      this->WriteGathered();
    }
    if (this->Writing.Result.valid()) {
      this->FinishWrite([] {});
    }
    RunOnAllRanks(this->Ranks, [this] {
      this->Committing.Finish();
      for (const SensorFile& file : this->Files) {
        file.Flush();
      }
    });
  });
}

/// Runs `work`. If `work` fails, throws Error, and the gathered steps and all later steps are lost.
void SensorWriter::RunOrLoseSteps(const std::function<void()>& work)
{
  std::string fault = CatchError(work);
  if (!fault.empty()) {
    fault += this->Gathered.size() > 1 ? fmt::format(" PatchIO loses {}.", this->StepsText()) : "";
    this->Fault = fault;
    this->Gathered.clear();
    throw Error(fault);
  }
}

void SensorWriter::Gather(SensorSample sample, int concurrency)
{
  if (!this->Gathered.empty() && this->Gathered.back().Local != sample.Local) {
    this->WriteGathered();
  }
  if (this->Gathered.empty()) {
    this->SinceOldest = Stopwatch();
  }
  this->Gathered.push_back(std::move(sample));
  if (!this->Shared.Local || this->Shared.Local != this->Gathered.back().Local) {
    this->MakeSharedPlan(concurrency);
  }
  const bool late = this->IsFlushDue();
  if (late || static_cast<int>(this->Gathered.size()) >= this->Shared.Schedule.Steps) {
    this->WriteGathered();
  }
  if ((late || this->Shared.Schedule.Steps == 1) && this->Writing.Result.valid()) {
    this->FinishWrite([] {});
  }
}

/// Returns whether the time since the first gathered step, on the clock of rank 0, has reached
/// Channel::FlushSeconds. Returns false if FlushSeconds is 0. Collective: every writing rank calls it.
bool SensorWriter::IsFlushDue() const
{
  if (this->Config.FlushSeconds == 0) {
    return false;
  }
  std::vector<std::byte> late{std::byte(this->SinceOldest.Seconds() >= this->Config.FlushSeconds)};
  this->Ranks.Broadcast(late);
  return late.at(0) != std::byte(0);
}

/// Plans the writing ranks and the number of steps per write, for the patches of the last sample. Throws
/// Error, the same on all ranks, if a rank lacks the values, if the ranks have different steps, if the
/// patches do not cover the sensor, or if the memory does not suffice for a step. Collective: every writing
/// rank calls it.
void SensorWriter::MakeSharedPlan(int concurrency)
{
  RunOnAllRanks(this->Ranks, [this] { this->CheckSamples(); });
  this->CheckSameSteps();
  this->Shared.Local = this->Gathered.back().Local;
  std::vector<std::int64_t> mine;
  for (const std::vector<std::int64_t>& sets : this->Shared.Local->ValueCounts) {
    mine.insert(mine.end(), sets.begin(), sets.end());
  }
  std::vector<StorageModel> storage;
  if (this->Ranks.Rank() == 0) {
    if (const auto profile = FindProfile(this->Config.Path, nullptr, this->Ranks.Size())) {
      storage.push_back(profile->CostOfRequest.value_or(StorageModel()));
    }
  }
  this->Shared.ValueCounts = GatherValues(this->Ranks, mine);
  storage = GatherValues(this->Ranks, storage);
  this->CheckCoverage();
  GatheringParameters parameters;
  parameters.Threads = concurrency;
  if (!storage.empty()) {
    parameters.Storage = this->Shared.Storage = storage[0];
  }
  parameters.Steps = this->Config.StepsAtOnce;
  parameters.Period = this->LongestPeriod;
  parameters.Memory = this->Config.Memory;
  this->Shared.Schedule =
      PlanGathering(this->VolumesOf(std::vector<std::int64_t>(this->AllPortions.size(), 1)), parameters);
  if (this->Shared.Schedule.Steps == 0) {
    throw FileError(this->Config.Path,
        fmt::format(
            "steps that take at most {} on a rank", ByteText(static_cast<double>(this->Config.Memory))),
        ByteText(static_cast<double>(this->Shared.Schedule.StepBytes)),
        "Raise \"memory\" in the output configuration");
  }
}

/// Returns the bytes on each rank for steps[s] steps of each portion s.
std::vector<std::uint64_t> SensorWriter::VolumesOf(const std::vector<std::int64_t>& steps) const
{
  std::vector<std::int64_t> stepsOfSet;
  for (std::size_t portion = 0; portion < this->AllPortions.size(); ++portion) {
    stepsOfSet.insert(stepsOfSet.end(), this->AllPortions[portion].SetCount(), steps[portion]);
  }
  std::vector<std::uint64_t> volumes(this->Ranks.Size(), 0);
  for (std::size_t i = 0; i < this->Shared.ValueCounts.size(); ++i) {
    volumes[i / this->Sets] +=
        this->Shared.ValueCounts[i] * stepsOfSet[i % this->Sets] * this->Variables * sizeof(float);
  }
  return volumes;
}

/// Throws Error if a cell of the sensor does not lie on a patch of the coarsest level.
void SensorWriter::CheckCoverage() const
{
  std::size_t number = 0;
  for (const SensorPortion& portion : this->AllPortions) {
    for (std::size_t set = 0; set < portion.SetCount(); ++set, ++number) {
      std::int64_t found = 0;
      for (std::size_t i = number; i < this->Shared.ValueCounts.size(); i += this->Sets) {
        found += this->Shared.ValueCounts[i];
      }
      if (found != portion.ValueCount(set)) {
        throw FileError(portion.Path,
            fmt::format("all {} values of {} on patches of the coarsest level", portion.ValueCount(set),
                portion.Cuboids.empty() ? "the points" : fmt::format("cuboid {}", set + 1)),
            fmt::format("{} values", found), "Change the sensor in the output configuration");
      }
    }
  }
}

/// Exchanges the gathered values, waits for the previous write, and begins the next write. Each writer gets a
/// range with the number of bytes in the plan, and a number of concurrent requests in proportion to this
/// number. Collective: every writing rank calls it.
void SensorWriter::WriteGathered()
{
  this->CheckSameSteps();
  this->Open();
  const std::vector<std::int64_t> steps = this->CountSteps();
  this->CheckCapacity(steps);
  const std::vector<Region> regions = this->RegionsOf(steps);
  const std::vector<std::uint64_t> shares = WrittenBytes(this->Shared.Schedule.Plan, this->VolumesOf(steps));
  std::vector<std::uint64_t> ranges(shares.size() + 1, 0);
  std::partial_sum(shares.begin(), shares.end(), ranges.begin() + 1);
  this->StepShuffle.Begin(ranges);
  this->StepShuffle.Exchange([&] {
    this->CheckSamples();
    this->AddToShuffle(regions, this->StepShuffle);
  });
  Shuffle::Part mine;
  this->FinishWrite([&] { mine = this->StepShuffle.ReceivedPart(); });
  const int concurrency = this->Shared.Schedule.ThreadsFor(mine.Count, ranges.back());
  const auto requests = this->RequestsOf(regions, ranges[this->Ranks.Rank()], mine.Count, concurrency);
  this->Writing = {this->StepsText(),
      std::async(this->Shared.Schedule.Steps > 1 ? AsyncIfPossible : std::launch::deferred,
          [this, mine, requests, concurrency] { this->Write(requests, mine.Bytes, concurrency); })};
  this->CountGathered();
}

/// Returns the numbers of the gathered steps for messages.
std::string SensorWriter::StepsText() const
{
  const std::int64_t first = this->Gathered.front().Number, last = this->Gathered.back().Number;
  return first == last ? fmt::format("step {}", first) : fmt::format("steps {} to {}", first, last);
}

/// Throws Error, the same on all ranks, if the ranks have gathered different steps or have declared different
/// variables or grids, because the file would mix values of different steps. Collective: every writing rank
/// calls it.
void SensorWriter::CheckSameSteps() const
{
  std::vector<std::pair<std::int64_t, double>> steps;
  for (const SensorSample& sample : this->Gathered) {
    steps.emplace_back(sample.Number, sample.Time);
  }
  CheckSameOnAllRanks(this->Ranks, steps, *this->Gathered.back().Local->Declared);
}

/// Runs `work` on each rank, waits until the write in progress has ended on all ranks, and begins to commit
/// the steps of the write. Throws Error, the same on all ranks, if any of this fails. Collective: every
/// writing rank calls it.
void SensorWriter::FinishWrite(const std::function<void()>& work)
{
  RunOnAllRanks(this->Ranks, [&] {
    work();
    const std::string before = CatchError([this] { this->Committing.Finish(); });
    const std::string fault = CatchError([this] { this->Writing.Finish(); });
    if (!before.empty() || !fault.empty()) {
      throw Error(before.empty() ? fault : before);
    }
  });
  const auto written = std::exchange(this->Times, std::vector<std::vector<double>>(this->AllPortions.size()));
  if (!this->Files.empty()) {
    this->Committing = {
        this->Writing.Steps, std::async(AsyncIfPossible, [this, written] { this->Commit(written); })};
  }
}

void SensorWriter::Task::Finish()
{
  const std::string fault = this->Result.valid() ? CatchError([this] { this->Result.get(); }) : "";
  if (!fault.empty()) {
    throw Error(fmt::format("Writing {} failed. {}", this->Steps, fault));
  }
}

/// Throws Error if the files would have more steps than the windows of the channel contain. `steps`: number
/// of further steps of each portion.
void SensorWriter::CheckCapacity(const std::vector<std::int64_t>& steps) const
{
  for (std::size_t portion = 0; portion < steps.size(); ++portion) {
    if (this->StepCounts[portion] + steps[portion] > this->StepCapacity[portion]) {
      throw FileError(this->AllPortions[portion].Path,
          fmt::format("at most {} steps", this->StepCapacity[portion]), "more steps",
          "Give each step a unique number, and write each step once");
    }
  }
}

/// Commits the steps that all ranks have written. `times`: times of the steps, by portion.
void SensorWriter::Commit(const std::vector<std::vector<double>>& times)
{
  for (std::size_t portion = 0; portion < this->Files.size(); ++portion) {
    if (!times[portion].empty()) {
      this->Files[portion].Commit(times[portion]);
    }
  }
}

/// Adds the gathered steps to StepCounts and Times, and removes the gathered steps.
void SensorWriter::CountGathered()
{
  for (std::size_t portion = 0; portion < this->AllPortions.size(); ++portion) {
    for (const SensorSample& sample : this->Gathered) {
      if (this->Includes(portion, sample)) {
        ++this->StepCounts[portion];
        this->Times[portion].push_back(sample.Time);
      }
    }
  }
  this->Gathered.clear();
}

/// The first call makes the files, or throws Error, the same on all ranks, if a rank lacks values or a file
/// cannot be made. Collective: every writing rank calls it.
void SensorWriter::Open()
{
  if (!this->StepCounts.empty()) {
    return;
  }
  RunOnAllRanks(this->Ranks, [&] { this->CheckSamples(); });
  std::vector<std::uint64_t> offsets;
  RunOnAllRanks(this->Ranks, [&] {
    for (SensorFile& file : this->Files) {
      file.Create(this->Config.Overwrite);
      offsets.insert(offsets.end(), file.Offsets().begin(), file.Offsets().end());
    }
  });
  this->Offsets = GatherValues(this->Ranks, offsets);
  this->StepCounts.resize(this->AllPortions.size(), 0);
  this->Times.resize(this->AllPortions.size());
}

/// Throws Error if this rank lacks the values of a gathered step.
void SensorWriter::CheckSamples() const
{
  for (const SensorSample& sample : this->Gathered) {
    ThrowFault(sample.Fault);
  }
}

/// Returns the number of gathered steps that belong to each portion.
std::vector<std::int64_t> SensorWriter::CountSteps() const
{
  std::vector<std::int64_t> steps;
  for (std::size_t portion = 0; portion < this->AllPortions.size(); ++portion) {
    steps.push_back(std::count_if(this->Gathered.begin(), this->Gathered.end(),
        [&](const SensorSample& sample) { return this->Includes(portion, sample); }));
  }
  return steps;
}

/// Returns the regions of all portions, variable by variable and set by set, in the order of
/// SensorFile::Offsets(). `steps`: number of gathered steps of each portion.
std::vector<SensorWriter::Region> SensorWriter::RegionsOf(const std::vector<std::int64_t>& steps) const
{
  std::vector<Region> regions;
  std::uint64_t begin = 0;
  for (std::size_t portion = 0; portion < this->AllPortions.size(); ++portion) {
    for (std::size_t i = 0; i < this->Variables * this->AllPortions[portion].SetCount(); ++i) {
      Region& region = regions.emplace_back();
      region.Portion = portion;
      region.StepBytes =
          this->AllPortions[portion].ValueCount(i % this->AllPortions[portion].SetCount()) * sizeof(float);
      region.Begin = begin;
      region.Offset = this->Offsets[regions.size() - 1] + this->StepCounts[portion] * region.StepBytes;
      region.Bytes = region.StepBytes * steps[portion];
      begin += region.Bytes;
    }
  }
  return regions;
}

/// Adds this rank's values of all gathered steps to the shuffle, and releases the memory of the values.
void SensorWriter::AddToShuffle(const std::vector<Region>& regions, Shuffle& shuffle)
{
  std::vector<std::uint64_t> done(this->AllPortions.size(), 0);
  for (SensorSample& sample : this->Gathered) {
    std::size_t region = 0;
    for (std::size_t portion = 0; portion < this->AllPortions.size(); ++portion) {
      const std::size_t sets = this->AllPortions[portion].SetCount(), count = this->Variables * sets;
      const float* next = sample.Values[portion].data();
      for (std::size_t i = 0; i < count && this->Includes(portion, sample); ++i) {
        const Region& to = regions[region + i];
        next = AddRuns(
            sample.Local->Runs[portion][i % sets], next, to.Begin + done[portion] * to.StepBytes, shuffle);
      }
      done[portion] += this->Includes(portion, sample) ? 1 : 0;
      region += count;
    }
    this->ReleaseMemory(std::move(sample.Values));
  }
}

/// Returns the write requests for the bytes begin .. begin + count - 1 of the shuffle. Returns `concurrency`
/// requests or more if the sizes that suit the storage model allow that.
std::vector<SensorWriter::Request> SensorWriter::RequestsOf(
    const std::vector<Region>& regions, std::uint64_t begin, std::uint64_t count, int concurrency) const
{
  const RequestLimits limits = LimitsOf(this->Shared.Storage, ~std::uint64_t(0), 1);
  const std::uint64_t most =
      std::clamp(count / concurrency + 1, std::max<std::uint64_t>(limits.Gap, 64 << 10), limits.Bytes);
  std::vector<Request> requests;
  for (const Region& region : regions) {
    const std::uint64_t end = std::min(begin + count, region.Begin + region.Bytes);
    for (std::uint64_t at = std::max(begin, region.Begin); at < end; at += most) {
      requests.push_back(
          {region.Portion, region.Offset + (at - region.Begin), at - begin, std::min(most, end - at)});
    }
  }
  return requests;
}

/// Writes the requests, `concurrency` at a time, and flushes the files. `from`: the bytes of this rank's
/// range.
void SensorWriter::Write(const std::vector<Request>& requests, const std::byte* from, int concurrency)
{
  for (const Request& request : requests) {
    this->OpenFiles.try_emplace(
        request.Portion, this->AllPortions[request.Portion].Path, PlainFile::Purpose::Update);
  }
  RunTasksOrThrow(requests.size(), concurrency, [&](std::size_t task) {
    const Request& request = requests[task];
    this->OpenFiles.at(request.Portion).Write(request.Offset, from + request.RangeOffset, request.Bytes);
  });
  for (const auto& [portion, file] : this->OpenFiles) {
    file.Flush();
  }
}

}  // namespace patchio::output

// Locates the values of <patch, variable> in the data files. Reads one valid FAB header of each file, and the
// headers of FABs whose space up to the next FAB is larger or smaller than the header and the numbers need.
// All other headers are as expected, and are read only if values are to be verified.
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Formats/AMReX/AmrexFab.h"
#include "Formats/AMReX/AmrexFormat.h"
#include "Formats/LocateTask.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>

namespace fs = std::filesystem;

namespace patchio::amrex {
namespace {

constexpr const char* DataAdvice = "The file is damaged, or only partly copied or written";

/// A patch with requests, and the data found about its FAB.
struct RequestedFab
{
  int Patch = 0;
  std::uint64_t ValuesOffset = 0;  ///< offset of the numbers
  RealKind Kind;
  std::string Fault;  ///< reason why the numbers cannot be read; empty: no fault
};

/// A file, and the range of requested FABs in it: First .. End - 1.
struct RequestedFile
{
  std::size_t First = 0, End = 0;
  std::uint64_t Bytes = 0;
  std::vector<std::size_t> UncertainFabs;  ///< indices of FABs whose headers must be read one by one
};

/// Carries out one call of AmrexFormat::Locate().
class Locator
{
public:
  Locator(const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions& options)
      : Data(catalog), Requests(requests), Options(options), FabTable(FabLocationsOf(catalog))
  {
  }

  LocationTable Run()
  {
    this->ListFabs();
    this->ListFiles();
    this->Storage = this->Task.MakeSource(this->Table.Files);
    this->Task.RunTasks(
        this->Files.size(), [this](std::size_t file) { this->ExamineFile(static_cast<int>(file)); });
    this->ReadUncertainHeaders();
    this->LocateRequests();
    return std::move(this->Table);
  }

private:
  void ListFabs();
  void ListFiles();
  void ExamineFile(int file);
  void ReadFileSize(int file);
  void ReadHeaders(int file);
  void ReadUncertainHeaders();
  void ReadHeader(int file, RequestedFab& fab, FabHeader& header) const;
  void SetLocation(int file, RequestedFab& fab, const FabHeader& header) const;
  bool TrySetLocation(int file, RequestedFab& fab, const FabHeader& example) const;
  void CheckInside(int file, RequestedFab& fab) const;
  void LocateRequests();
  void LocateRequest(std::size_t request, int component, const RequestedFab& fab, int file);

  const FabStyle& StyleOf(const RequestedFab& fab) const
  {
    return this->FabTable.Levels[static_cast<std::size_t>(this->Data.Patches[fab.Patch].Level)];
  }
  const FabLocation& LocationOf(const RequestedFab& fab) const { return this->FabTable.Fabs[fab.Patch]; }
  int Components() const { return static_cast<int>(this->Data.Variables.size()); }
  std::uint64_t BytesOfComponent(const RequestedFab& fab) const
  {
    return static_cast<std::uint64_t>(this->Data.StoredTuples(0, fab.Patch)) * SizeOf(fab.Kind.Type);
  }
  TypedBox BoxOf(const RequestedFab& fab) const;

  const Catalog& Data;
  const std::vector<PatchVariable>& Requests;
  const LocateOptions Options;
  const FabLocations FabTable;
  LocationTable Table;
  std::vector<RequestedFab> Fabs;         ///< sorted by file and offset
  std::vector<RequestedFile> Files;       ///< in the order of Table.Files
  std::vector<std::uint32_t> FabOfPatch;  ///< per patch: position in Fabs
  std::vector<std::uint32_t> FileOfFab;   ///< per entry of Fabs: index into Table.Files
  LocateTask Task{this->Options};
  std::unique_ptr<Source> Storage;
};

/// Lists each requested patch once, in the order of the files.
void Locator::ListFabs()
{
  this->Table.Locations.resize(this->Requests.size());
  this->FabOfPatch.assign(this->Data.Patches.size(), 0);
  for (const PatchVariable& request : this->Requests) {
    std::uint32_t& known = this->FabOfPatch[request.Patch];
    if (known == 0) {
      known = 1;
      this->Fabs.push_back({request.Patch, 0, {}, {}});
    }
  }
  const auto before = [this](const RequestedFab& a, const RequestedFab& b) {
    const int fileA = this->Data.Patches[a.Patch].File, fileB = this->Data.Patches[b.Patch].File;
    return fileA != fileB ? fileA < fileB : this->LocationOf(a).Offset < this->LocationOf(b).Offset;
  };
  if (!std::is_sorted(this->Fabs.begin(), this->Fabs.end(), before)) {
    std::sort(this->Fabs.begin(), this->Fabs.end(), before);
  }
  for (std::size_t i = 0; i < this->Fabs.size(); ++i) {
    this->FabOfPatch[this->Fabs[i].Patch] = static_cast<std::uint32_t>(i);
  }
}

void Locator::ListFiles()
{
  const fs::path folder = fs::path(this->Data.Path).parent_path();
  int last = -1;
  for (std::size_t i = 0; i < this->Fabs.size(); ++i) {
    const int file = this->Data.Patches[this->Fabs[i].Patch].File;
    if (file != last) {
      last = file;
      this->Table.Files.push_back((folder / this->FabTable.Files[static_cast<std::size_t>(file)]).string());
      this->Files.emplace_back().First = i;
    }
    this->Files.back().End = i + 1;
    this->FileOfFab.push_back(static_cast<std::uint32_t>(this->Files.size() - 1));
  }
}

/// Determines the size of a file and the locations of its FABs. A fault becomes the fault of all FABs of the
/// file. This method runs in a task, so it must not throw.
void Locator::ExamineFile(int file)
{
  const std::string fault = CatchError([&] {
    this->ReadFileSize(file);
    this->ReadHeaders(file);
  });
  const RequestedFile& wanted = this->Files[static_cast<std::size_t>(file)];
  for (std::size_t i = wanted.First; i < wanted.End && !fault.empty(); ++i) {
    this->Fabs[i].Fault = fault;
  }
}

void Locator::ReadFileSize(int file)
{
  const std::string& path = this->Table.Files[static_cast<std::size_t>(file)];
  const std::optional<std::uint64_t> bytes = SizeOfFile(path);
  if (!bytes) {
    CheckRegularFile(path);  // throws an error with the cause
  }
  this->Files[static_cast<std::size_t>(file)].Bytes = bytes.value_or(0);
}

/// Reads the headers of a file up to the first valid one, which shows the lengths of the others, and lists
/// the FABs with unexpected lengths, or all others if values are to be verified. FABs without headers need no
/// reads.
void Locator::ReadHeaders(int file)
{
  RequestedFile& wanted = this->Files[static_cast<std::size_t>(file)];
  FabHeader example;
  bool haveExample = false;
  for (std::size_t i = wanted.First; i < wanted.End; ++i) {
    RequestedFab& fab = this->Fabs[i];
    if (!this->StyleOf(fab).HasHeaders) {
      fab.Kind = this->StyleOf(fab).Kind;
      fab.ValuesOffset = this->LocationOf(fab).Offset;
      this->CheckInside(file, fab);
    } else if (!haveExample) {
      this->ReadHeader(file, fab, example);
      haveExample = fab.Fault.empty();
    } else if (this->Options.Verify || !this->TrySetLocation(file, fab, example)) {
      wanted.UncertainFabs.push_back(i);
    }
  }
}

/// Reads the headers of the listed FABs one by one, on all threads.
void Locator::ReadUncertainHeaders()
{
  constexpr std::size_t inTask = 16;
  std::vector<std::size_t> uncertain;
  for (const RequestedFile& file : this->Files) {
    uncertain.insert(uncertain.end(), file.UncertainFabs.begin(), file.UncertainFabs.end());
  }
  this->Task.RunTasks((uncertain.size() + inTask - 1) / inTask, [&](std::size_t task) {
    for (std::size_t i = task * inTask; i < std::min(uncertain.size(), (task + 1) * inTask); ++i) {
      FabHeader header;
      this->ReadHeader(static_cast<int>(this->FileOfFab[uncertain[i]]), this->Fabs[uncertain[i]], header);
    }
  });
}

void Locator::ReadHeader(int file, RequestedFab& fab, FabHeader& header) const
{
  const std::string& path = this->Table.Files[static_cast<std::size_t>(file)];
  const std::uint64_t size = this->Files[static_cast<std::size_t>(file)].Bytes;
  const std::uint64_t offset = this->LocationOf(fab).Offset;
  try {
    if (offset >= size) {
      throw FileError(
          path, fmt::format("a FAB at byte {}", offset), fmt::format("a file of {} bytes", size), DataAdvice);
    }
    std::array<char, MostFabHeaderBytes> text;
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(text.size(), size - offset));
    this->Storage->Open(file)->Read(offset, text.data(), bytes);
    if (!ParseFabHeader({text.data(), bytes}, this->Data.Dimension, header)) {
      throw FileError(path, fmt::format("a FAB of 4 or 8 byte numbers at byte {}", offset),
          fmt::format("'{}'", PlainText({text.data(), std::min<std::size_t>(bytes, 60)})), DataAdvice);
    }
    this->SetLocation(file, fab, header);
  } catch (const std::exception& error) {
    fab.Fault = error.what();
  }
}

/// Sets the location of a FAB from its header. Throws Error if the header does not match the catalog.
void Locator::SetLocation(int file, RequestedFab& fab, const FabHeader& header) const
{
  const TypedBox box = this->BoxOf(fab);
  if (!(header.Box.Indices == box.Indices) || header.Box.NodeCentred != box.NodeCentred ||
      header.Components != this->Components()) {
    const int dimension = this->Data.Dimension;
    throw FileError(this->Table.Files[static_cast<std::size_t>(file)],
        fmt::format("a FAB of {} with {} components at byte {}", BoxText(box, dimension), this->Components(),
            this->LocationOf(fab).Offset),
        fmt::format("{} with {}", BoxText(header.Box, dimension), header.Components),
        "The file is damaged, or does not belong to the Cell_H in the same folder");
  }
  fab.Kind = header.Kind;
  fab.ValuesOffset = this->LocationOf(fab).Offset + header.Bytes;
  this->CheckInside(file, fab);
}

/// Sets the location of a FAB whose header was not read, from a header like `example`. Returns whether the
/// FAB has exactly the size that the header and the numbers need.
bool Locator::TrySetLocation(int file, RequestedFab& fab, const FabHeader& example) const
{
  const FabLocation& place = this->LocationOf(fab);
  const std::uint64_t end = place.Next != 0 ? place.Next : this->Files[static_cast<std::size_t>(file)].Bytes;
  fab.Kind = example.Kind;
  fab.ValuesOffset = place.Offset + FabHeaderBytes(example.PrefixBytes, this->BoxOf(fab),
                                        this->Data.Dimension, this->Components());
  const std::uint64_t components = static_cast<std::uint64_t>(this->Components());
  const std::uint64_t room =
      end > fab.ValuesOffset ? end - fab.ValuesOffset : 0;  // a comparison of products could overflow
  return end <= this->Files[static_cast<std::size_t>(file)].Bytes && room % components == 0 &&
         room / components == this->BytesOfComponent(fab);
}

void Locator::CheckInside(int file, RequestedFab& fab) const
{
  const std::uint64_t size = this->Files[static_cast<std::size_t>(file)].Bytes;
  const std::uint64_t components = static_cast<std::uint64_t>(this->Components());
  if (fab.ValuesOffset > size || this->BytesOfComponent(fab) > (size - fab.ValuesOffset) / components) {
    fab.Fault = FileError(this->Table.Files[static_cast<std::size_t>(file)],
        fmt::format("{} numbers of {} bytes for {} at byte {}",
            this->BytesOfComponent(fab) / SizeOf(fab.Kind.Type) * components, SizeOf(fab.Kind.Type),
            BoxText(this->BoxOf(fab), this->Data.Dimension), fab.ValuesOffset),
        fmt::format("a file of {} bytes", size), DataAdvice)
                    .what();
  }
}

/// Returns the box in the FAB's header, which includes ghost layers.
TypedBox Locator::BoxOf(const RequestedFab& fab) const
{
  TypedBox box;
  box.Indices = Grow(this->Data.Patches[fab.Patch].Cells, this->Data.Variables[0].Ghosts);
  for (int axis = 0; axis < this->Data.Dimension; ++axis) {
    box.NodeCentred[axis] = this->StyleOf(fab).AtNodes ? 1 : 0;
    box.Indices.Upper[axis] += box.NodeCentred[axis];
  }
  return box;
}

void Locator::LocateRequests()
{
  std::vector<int> components;
  for (const Variable& variable : this->Data.Variables) {
    components.push_back(ParseNumber<int>(variable.StoredName).value_or(-1));
  }
  this->Table.ByteRanges.reserve(this->Requests.size());
  for (std::size_t i = 0; i < this->Requests.size(); ++i) {
    const std::uint32_t fab = this->FabOfPatch[this->Requests[i].Patch];
    this->LocateRequest(
        i, components[this->Requests[i].Variable], this->Fabs[fab], static_cast<int>(this->FileOfFab[fab]));
  }
}

void Locator::LocateRequest(std::size_t request, int component, const RequestedFab& fab, int file)
{
  Location& location = this->Table.Locations[request];
  if (!fab.Fault.empty() || component < 0 || component >= this->Components()) {
    location.Kind = Encoding::Missing;
    this->Table.Problems.push_back({request,
        !fab.Fault.empty()
            ? fab.Fault
            : fmt::format("{}: the plotfile has no component for the variable '{}'. Use File > Reload Files, "
                          "or Reload() in scripts.",
                  this->Data.Path, PlainText(this->Data.Variables[this->Requests[request].Variable].Name))});
    return;
  }
  const std::uint64_t bytes = this->BytesOfComponent(fab);
  location = MakeLocation(Encoding::Raw, this->Table.ByteRanges.size(), 1);
  this->Table.ByteRanges.push_back({fab.ValuesOffset + bytes * static_cast<std::uint64_t>(component), bytes,
      file, fab.Kind.Type, fab.Kind.BigEndian});
}

}  // namespace

LocationTable AmrexFormat::Locate(
    const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions& options) const
{
  return Locator(catalog, requests, options).Run();
}

}  // namespace patchio::amrex

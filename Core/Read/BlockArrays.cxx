#include "Read/BlockArrays.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Io/Chunks.h"
#include "Io/Decode.h"

#include <algorithm>
#include <cassert>
#include <deque>
#include <numeric>
#include <utility>

namespace patchio {
namespace {

std::uint64_t BytesOf(const LoadedArray& array)
{
  return array.Tuples * array.Components * SizeOf(array.Type);
}

bool HasValues(const Location& location)
{
  return location.Kind != Encoding::Absent && location.Kind != Encoding::Missing;
}

}  // namespace

VariableRequest RequestAsStored(const Catalog& catalog, int variable)
{
  const Variable& info = catalog.Variables[variable];
  VariableRequest request{variable, info.Components, std::vector<int>(info.StoredArrays()), info.Ghosts};
  std::iota(request.Slots.begin(), request.Slots.end(), 0);
  return request;
}

BlockArrays::BlockArrays(const Catalog& catalog, const WantedArrays& wanted, ReusedArrays reused)
    : Data(catalog),
      Request(wanted),
      Reused(std::move(reused)),
      Layout(Reused.Layout()),
      Arrays(wanted.Blocks.size() * wanted.Variables.size()),
      TasksLeft(Arrays.size()),
      HasUndefined(Arrays.size())
{
  this->TakeSame();
  this->PrepareCopies();
  this->ListRequests();
}

void BlockArrays::TakeSame()
{
  for (std::size_t v = 0; v < this->Request.Variables.size(); ++v) {
    const std::vector<const LoadedArray*>& same = this->Reused.OfVariables()[v].Same;
    for (std::size_t b = 0; b < same.size(); ++b) {
      if (same[b]) {
        this->Arrays[this->IndexOf(b, v)] = ShareArray(*same[b]);
      }
    }
  }
}

void BlockArrays::PrepareCopies()
{
  for (const ReusedArrays::CopiedArray& copied : this->Reused.Copied()) {
    const std::size_t a = this->IndexOf(copied.Block, copied.Variable);
    LoadedArray& array = this->Arrays[a];
    array.Type = this->Reused.OfVariables()[copied.Variable].Copies[copied.First].From->Type;
    array.Components = this->Request.Variables[copied.Variable].OutputComponents;
    array.Tuples = this->TuplesOf(copied.Block, copied.Variable);
    this->TasksLeft[a] = 1;
  }
}

void BlockArrays::ListRequests()
{
  const std::size_t sources = this->Layout->Sources().size();
  this->Tasks.reserve(sources * this->Request.Variables.size());
  for (std::uint32_t s = 0; s < sources; ++s) {
    for (std::uint32_t v = 0; v < this->Request.Variables.size(); ++v) {
      const std::vector<std::size_t>& first = this->Reused.OfVariables()[v].First;
      if (first.empty() || first[s] < first[s + 1]) {
        this->Tasks.push_back({s, v});
      }
    }
  }
}

std::vector<PatchVariable> BlockArrays::Requests() const
{
  std::vector<PatchVariable> requests;
  requests.reserve(this->Tasks.size());
  for (const SourceVariable& wanted : this->Tasks) {
    requests.push_back(
        {this->Layout->Sources()[wanted.Source], this->Request.Variables[wanted.Variable].Variable});
  }
  return requests;
}

const Placement* BlockArrays::Begin(std::size_t request) const
{
  const SourceVariable& wanted = this->Tasks[request];
  const Reuse& reuse = this->Reused.OfVariables()[wanted.Variable];
  return reuse.First.empty() ? this->Layout->Begin(wanted.Source, this->CenteringOf(wanted.Variable))
                             : reuse.Rest.data() + reuse.First[wanted.Source];
}

const Placement* BlockArrays::End(std::size_t request) const
{
  const SourceVariable& wanted = this->Tasks[request];
  const Reuse& reuse = this->Reused.OfVariables()[wanted.Variable];
  return reuse.First.empty() ? this->Layout->End(wanted.Source, this->CenteringOf(wanted.Variable))
                             : reuse.Rest.data() + reuse.First[wanted.Source + 1];
}

template <typename Visit>
void BlockArrays::ForEachArray(std::size_t request, Visit visit) const
{
  const Placement* last = nullptr;
  for (const Placement* p = this->Begin(request); p != this->End(request); ++p) {
    if (!last || last->Block != p->Block) {  // placements of one block follow each other
      visit(this->IndexOf(p->Block, this->Tasks[request].Variable));
    }
    last = p;
  }
}

void BlockArrays::Describe(LocationTable& table)
{
  this->DropUnused(table);
  // Arrays take the types of stored values first, because constants fit into arrays of any type.
  for (const bool constants : {false, true}) {
    for (std::size_t r = 0; r < table.Locations.size(); ++r) {
      const Location& location = table.Locations[r];
      if (HasValues(location) && (location.Kind == Encoding::Constant) == constants) {
        this->TakeType(table, r);
      }
    }
  }
  for (std::size_t r = 0; r < table.Locations.size(); ++r) {
    bool alone = true;
    this->ForEachArray(r, [&](std::size_t a) { alone = alone && this->TasksLeft[a] == 0; });
    if (table.Locations[r].Kind == Encoding::Absent && !alone) {
      this->Reject(table, r, "none");
    }
  }
}

/// Removes the locations of requests that no array uses: other patches may have all nodes of a patch, or
/// finer levels cover the patch.
void BlockArrays::DropUnused(LocationTable& table) const
{
  for (std::size_t r = 0; r < table.Locations.size(); ++r) {
    if (this->Begin(r) == this->End(r)) {
      table.Locations[r] = Location();
    } else if (table.Locations[r].Kind == Encoding::Chunked) {
      this->DropUnusedChunks(table, r);
    }
  }
}

/// Gives the arrays of a request the type of its values. Rejects the request if the arrays have another type
/// already.
void BlockArrays::TakeType(LocationTable& table, std::size_t request)
{
  const Location& location = table.Locations[request];
  const ElementType type = TypeOf(table, location);
  bool fits = true;
  this->ForEachArray(request, [&](std::size_t a) {
    fits = fits &&
           (location.Kind == Encoding::Constant || this->TasksLeft[a] == 0 || this->Arrays[a].Type == type);
  });
  if (!fits) {
    this->Reject(table, request, "another type");
    return;
  }
  const std::size_t variables = this->Request.Variables.size();
  this->ForEachArray(request, [&](std::size_t a) {
    LoadedArray& array = this->Arrays[a];
    array.Type = this->TasksLeft[a]++ == 0 ? type : array.Type;
    array.Components = this->Request.Variables[a % variables].OutputComponents;
    array.Tuples = this->TuplesOf(a / variables, a % variables);
  });
}

/// Marks a request as Missing because its values do not fit into an array together with values of other
/// requests.
void BlockArrays::Reject(LocationTable& table, std::size_t request, const std::string& found) const
{
  table.Locations[request] = Location();
  table.Locations[request].Kind = Encoding::Missing;
  const std::string& name = this->Data.Variables[this->WantedOf(request).Variable].Name;
  const int patch = this->PatchOf(request);
  table.Problems.push_back(
      {request, FileError(this->Data.Path, "the same type of values of '" + name + "' on all patches",
                    found + " on patch " + std::to_string(patch), "Set Blocks to 'As patches'")
                    .what()});
}

/// Removes the chunks that no array uses, because only one of the patches that share nodes provides their
/// values.
void BlockArrays::DropUnusedChunks(LocationTable& table, std::size_t request) const
{
  const ReadTarget target = this->TargetOf(request);
  bool whole = false;
  target.ForEach([&](const Destination& destination) {
    whole = whole ||
            (destination.Place.Begin == Dims{0, 0, 0} && destination.Place.End == destination.Place.Stored);
  });
  const Location& location = table.Locations[request];
  for (std::uint32_t i = location.First; !whole && i < location.First + location.Count; ++i) {
    ChunkedArray& array = table.ChunkedArrays[i];
    const auto begin = table.Chunks.begin() + static_cast<std::ptrdiff_t>(array.FirstChunk);
    const auto end = std::stable_partition(
        begin, begin + static_cast<std::ptrdiff_t>(array.ChunkCount), [&](const Chunk& chunk) {
          bool wanted = false;
          // A corrupt array keeps its chunks, so that reading them reports the fault.
          const std::string fault = CatchError([&] {
            CheckChunkedArray(array);
            target.ForEach([&](const Destination& destination) {
              wanted = wanted || ReachesWindow(destination.Place, array, chunk.Number);
            });
          });
          return wanted || !fault.empty();
        });
    array.ChunkCount = static_cast<std::size_t>(end - begin);
  }
}

/// Returns the index box of the values of an array.
Box BlockArrays::OutputOf(std::size_t block, std::size_t variable) const
{
  return Grown(
      this->Layout->ValuesOf(block, this->CenteringOf(variable)), this->Request.Variables[variable].Ghosts);
}

std::int64_t BlockArrays::TuplesOf(std::size_t block, std::size_t variable) const
{
  if (this->Data.IsMesh()) {  // a block is a patch
    return this->Data.StoredTuples(
        this->Request.Variables[variable].Variable, this->Request.Blocks[block].Parts[0].Owner);
  }
  return this->OutputOf(block, variable).Cells();
}

double BlockArrays::Bytes() const
{
  double bytes = 0;  // a double, because sums of the sizes in corrupt files could overflow an integer
  for (std::size_t a = 0; a < this->Arrays.size(); ++a) {
    const LoadedArray& array = this->Arrays[a];
    bytes += array.Values ? 0
                          : static_cast<double>(array.Tuples) * array.Components *
                                static_cast<double>(SizeOf(array.Type));
  }
  return bytes;
}

void BlockArrays::Allocate(MemoryPool& pool, const std::vector<std::uint32_t>& order)
{
  const std::size_t variables = this->Request.Variables.size();
  pool.Check(static_cast<std::uint64_t>(this->Bytes()));
  std::vector<std::uint64_t> bytes(variables, 0);
  std::uint64_t room = 0;  // the same for all variables, so that they can reuse each other's segments
  for (std::size_t a = 0; a < this->Arrays.size(); ++a) {
    bytes[a % variables] += this->Arrays[a].Values ? 0 : BytesOf(this->Arrays[a]);
    room = std::max(room, this->RoomBehind(a));
  }
  std::deque<MemoryArena> memory;
  for (std::size_t v = 0; v < variables; ++v) {
    memory.emplace_back(pool, bytes[v], this->Request.Blocks.size(), room);
  }
  for (const std::uint32_t request : order) {
    this->ForEachArray(request, [&](std::size_t a) { this->AllocateArray(a, memory[a % variables]); });
  }
  for (const ReusedArrays::CopiedArray& copied : this->Reused.Copied()) {
    this->AllocateArray(this->IndexOf(copied.Block, copied.Variable), memory[copied.Variable]);
  }
}

void BlockArrays::AllocateArray(std::size_t array, MemoryArena& memory)
{
  if (!this->Arrays[array].Values) {
    this->Arrays[array].Values = memory.Cut(BytesOf(this->Arrays[array]));
  }
}

void BlockArrays::Copy(std::size_t number)
{
  const ReusedArrays::CopiedArray& copied = this->Reused.Copied()[number];
  const std::size_t array = this->IndexOf(copied.Block, copied.Variable);
  const Box values = this->OutputOf(copied.Block, copied.Variable);
  for (std::size_t i = copied.First; i < copied.End; ++i) {
    const ValueCopy& copy = this->Reused.OfVariables()[copied.Variable].Copies[i];
    CopyValues(copy, values, this->Arrays[array]);
    if (copy.From->HasUndefined) {
      this->HasUndefined[array] = true;
    }
    if (this->Request.FindRanges) {
      const Window place(values, values, copy.Region, {1, 1, 1}, this->Arrays[array].Components);
      this->AddToRange(array, place.Output, place.First, place.Last);
    }
  }
  this->ArrayDone(array);
}

void BlockArrays::KeepArrays(const std::vector<LoadedArray>& taken, const FileFingerprints& seen,
    const std::function<bool(std::size_t request)>& constant) const
{
  std::vector<std::vector<bool>> constants(this->Request.Variables.size());
  for (std::size_t r = 0; r < this->Tasks.size(); ++r) {
    if (constant(r)) {
      std::vector<bool>& flags = constants[this->Tasks[r].Variable];
      flags.resize(this->Layout->Sources().size(), false);
      flags[this->Tasks[r].Source] = true;
    }
  }
  this->Reused.Keep(taken, seen, std::move(constants));
}

ReadTarget BlockArrays::TargetOf(std::size_t request) const
{
  ReadTarget target;
  target.Slots = &this->WantedOf(request).Slots;
  target.Info = &this->Data.Variables[this->WantedOf(request).Variable];
  const Placement* const begin = this->Begin(request);
  for (const Placement* p = begin; p != this->End(request); ++p) {
    const std::size_t a = this->IndexOf(p->Block, this->Tasks[request].Variable);
    const LoadedArray& array = this->Arrays[a];
    Destination destination{
        array.Values.get(), this->WindowOf(request, *p), array.Type, &this->HasUndefined[a]};
    destination.Place.IsReadSoon = this->Request.FindRanges;
    if (target.Info->Interleaved) {
      destination.Place.SpreadTuples(target.Info->Components);
    }
    if (p == begin) {
      target.One = destination;
    } else {
      target.More.push_back(destination);
    }
  }
  return target;
}

Window BlockArrays::WindowOf(std::size_t request, const Placement& placement) const
{
  const VariableRequest& wanted = this->WantedOf(request);
  const Variable& variable = this->Data.Variables[wanted.Variable];
  const int patch = this->PatchOf(request);
  if (wanted.Ghosts != Int3{0, 0, 0} || this->Data.IsMesh()) {
    assert(this->Request.Blocks[placement.Block].Cells == this->Data.Patches[patch].Cells);
    ArrayShape shape;
    shape.Interior = this->Data.ArrayDims(patch, variable, {0, 0, 0});
    shape.StoredGhosts = variable.Ghosts;
    shape.OutputGhosts = wanted.Ghosts;
    shape.OutputComponents = wanted.OutputComponents;
    return shape;
  }
  Box stored = Grown(this->Data.Patches[patch].Cells, variable.Ghosts);
  if (variable.Center == Centering::Node) {
    stored = this->Data.NodesOf(this->Data.Patches[patch].Level, stored);
    if (placement.Region.Lower[0] > stored.Upper[0]) {  // the first column again; see CloseSeam()
      stored = Shift(stored, {static_cast<int>(stored.Width(0)), 0, 0});
    }
  }
  return {stored, this->Layout->ValuesOf(placement.Block, variable.Center), placement.Region, placement.Ratio,
      wanted.OutputComponents};
}

void BlockArrays::Done(std::size_t request)
{
  if (this->Request.FindRanges) {
    this->FindRanges(request);
  }
  this->ForEachArray(request, [&](std::size_t a) { this->ArrayDone(a); });
}

/// Adds the values of a request to the ranges of its arrays. Gaps and layers without stored values repeat
/// other values, so the ranges already include them.
void BlockArrays::FindRanges(std::size_t request)
{
  for (const Placement* p = this->Begin(request); p != this->End(request); ++p) {
    const Window place = this->WindowOf(request, *p);
    this->AddToRange(
        this->IndexOf(p->Block, this->Tasks[request].Variable), place.Output, place.First, place.Last);
  }
}

void BlockArrays::AddToRange(std::size_t array, const Dims& tuples, const Dims& first, const Dims& last)
{
  LoadedArray& whole = this->Arrays[array];
  ArrayRange part;
  part.AddPart(whole.Type, whole.Components, whole.Values.get(), tuples, first, last);
  const std::lock_guard<std::mutex> lock(this->RangesLock);
  whole.Range.Add(part);
}

/// Decrements the number of requests that the array waits for, and completes the array after the last one.
void BlockArrays::ArrayDone(std::size_t array)
{
  if (this->TasksLeft[array].fetch_sub(1, std::memory_order_acq_rel) == 1) {
    this->FillGapsOf(array);
    ArrayStatus& status = this->Arrays[array].Status;
    status = status == ArrayStatus::NotRead ? ArrayStatus::Read : status;
  }
}

void BlockArrays::FillGapsOf(std::size_t a)
{
  const std::size_t block = a / this->Request.Variables.size();
  const Centering centering = this->CenteringOf(a % this->Request.Variables.size());
  if (!this->Layout->Complete(block, centering)) {
    const LoadedArray& array = this->Arrays[a];
    const Box values = this->Layout->ValuesOf(block, centering);
    const Box planes = this->Layout->PlanesWithGaps(block, centering);
    const std::size_t tupleBytes = array.Components * SizeOf(array.Type);
    const std::size_t before = IndexIn(values, planes.Lower) * tupleBytes;
    FillGaps(this->Layout->Filled(block, centering, planes),
        {planes.Width(0), planes.Width(1), planes.Width(2)}, tupleBytes,
        static_cast<std::byte*>(array.Values.get()) + before);
  }
}

void BlockArrays::Fail(std::size_t request)
{
  this->ForEachArray(request, [&](std::size_t a) { this->Arrays[a].Status = ArrayStatus::Failed; });
}

bool BlockArrays::Waits(std::size_t request) const
{
  bool waits = false;
  this->ForEachArray(request, [&](std::size_t a) { waits = waits || this->TasksLeft[a] > 0; });
  return waits;
}

std::vector<LoadedArray> BlockArrays::Take()
{
  for (std::size_t a = 0; a < this->Arrays.size(); ++a) {
    LoadedArray& array = this->Arrays[a];
    array.HasUndefined = array.HasUndefined || this->HasUndefined[a];
    const bool wanted = array.Tuples > 0;
    if (array.Status == ArrayStatus::NotRead && !wanted) {
      array.Status = ArrayStatus::Absent;
    }
    if (array.Status != ArrayStatus::Read) {
      array.Values.reset();
    }
  }
  return std::move(this->Arrays);
}

}  // namespace patchio

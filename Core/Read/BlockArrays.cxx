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

BlockArrays::BlockArrays(const Catalog& catalog, const RequestedArrays& requested, ReusedArrays reused)
    : Data(catalog),
      Requested(requested),
      Reused(std::move(reused)),
      Layout(Reused.Layout()),
      Arrays(requested.Blocks.size() * requested.Variables.size()),
      Outstanding(Arrays.size()),
      HasUndefined(Arrays.size())
{
  this->ShareReusedArrays();
  this->PrepareCopies();
  this->ListRequests();
}

void BlockArrays::ShareReusedArrays()
{
  for (std::size_t v = 0; v < this->Requested.Variables.size(); ++v) {
    const std::vector<const LoadedArray*>& same = this->Reused.ReusePerVariable()[v].Same;
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
    array.Type = this->Reused.ReusePerVariable()[copied.Variable].Copies[copied.First].From->Type;
    array.Components = this->Requested.Variables[copied.Variable].OutputComponents;
    array.Tuples = this->TuplesOf(copied.Block, copied.Variable);
    this->Outstanding[a] = 1;
  }
}

void BlockArrays::ListRequests()
{
  const std::size_t sources = this->Layout->Sources().size();
  this->SourceVariables.reserve(sources * this->Requested.Variables.size());
  for (std::uint32_t s = 0; s < sources; ++s) {
    for (std::uint32_t v = 0; v < this->Requested.Variables.size(); ++v) {
      const std::vector<std::size_t>& first = this->Reused.ReusePerVariable()[v].First;
      if (first.empty() || first[s] < first[s + 1]) {
        this->SourceVariables.push_back({s, v});
      }
    }
  }
}

std::vector<PatchVariable> BlockArrays::Requests() const
{
  std::vector<PatchVariable> requests;
  requests.reserve(this->SourceVariables.size());
  for (const SourceVariable& sourceVariable : this->SourceVariables) {
    requests.push_back({this->Layout->Sources()[sourceVariable.Source],
        this->Requested.Variables[sourceVariable.Variable].Variable});
  }
  return requests;
}

const Placement* BlockArrays::Begin(std::size_t request) const
{
  const SourceVariable& sourceVariable = this->SourceVariables[request];
  const Reuse& reuse = this->Reused.ReusePerVariable()[sourceVariable.Variable];
  return reuse.First.empty()
             ? this->Layout->Begin(sourceVariable.Source, this->CenteringOf(sourceVariable.Variable))
             : reuse.Rest.data() + reuse.First[sourceVariable.Source];
}

const Placement* BlockArrays::End(std::size_t request) const
{
  const SourceVariable& sourceVariable = this->SourceVariables[request];
  const Reuse& reuse = this->Reused.ReusePerVariable()[sourceVariable.Variable];
  return reuse.First.empty()
             ? this->Layout->End(sourceVariable.Source, this->CenteringOf(sourceVariable.Variable))
             : reuse.Rest.data() + reuse.First[sourceVariable.Source + 1];
}

template <typename Visit>
void BlockArrays::ForEachArray(std::size_t request, Visit visit) const
{
  const Placement* last = nullptr;
  for (const Placement* p = this->Begin(request); p != this->End(request); ++p) {
    if (!last || last->Block != p->Block) {  // placements of one block follow each other
      visit(this->IndexOf(p->Block, this->SourceVariables[request].Variable));
    }
    last = p;
  }
}

void BlockArrays::SetTypes(LocationTable& table)
{
  this->DropUnused(table);
  // Stored values determine the types before constants, because constants fit into arrays of any type.
  for (const bool constants : {false, true}) {
    for (std::size_t r = 0; r < table.Locations.size(); ++r) {
      const Location& location = table.Locations[r];
      if (HasValues(location) && (location.Kind == Encoding::Constant) == constants) {
        this->SetType(table, r);
      }
    }
  }
  for (std::size_t r = 0; r < table.Locations.size(); ++r) {
    bool alone = true;
    this->ForEachArray(r, [&](std::size_t a) { alone = alone && this->Outstanding[a] == 0; });
    if (table.Locations[r].Kind == Encoding::Absent && !alone) {
      this->Reject(table, r, "no values");
    }
  }
}

/// Removes the locations and chunks that no array uses: other patches may have all nodes of a patch, or finer
/// levels cover the patch.
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

/// Sets the type and size of a request's arrays, which then wait for the request. Rejects the request if an
/// array already has another type; a constant fits any type.
void BlockArrays::SetType(LocationTable& table, std::size_t request)
{
  const Location& location = table.Locations[request];
  const ElementType type = TypeOf(table, location);
  bool fits = true;
  this->ForEachArray(request, [&](std::size_t a) {
    fits = fits &&
           (location.Kind == Encoding::Constant || this->Outstanding[a] == 0 || this->Arrays[a].Type == type);
  });
  if (!fits) {
    this->Reject(table, request, "another type");
    return;
  }
  const std::size_t variables = this->Requested.Variables.size();
  this->ForEachArray(request, [&](std::size_t a) {
    LoadedArray& array = this->Arrays[a];
    array.Type = this->Outstanding[a]++ == 0 ? type : array.Type;
    array.Components = this->Requested.Variables[a % variables].OutputComponents;
    array.Tuples = this->TuplesOf(a / variables, a % variables);
  });
}

/// Marks a request as Missing because its values do not fit into an array together with values of other
/// requests.
void BlockArrays::Reject(LocationTable& table, std::size_t request, const std::string& found) const
{
  table.Locations[request] = Location();
  table.Locations[request].Kind = Encoding::Missing;
  const std::string& name = this->Data.Variables[this->VariableRequestOf(request).Variable].Name;
  const int patch = this->PatchOf(request);
  table.Problems.push_back(
      {request, FileError(this->Data.Path, "the same type of values of '" + name + "' on all patches",
                    found + " on patch " + std::to_string(patch), "Set Blocks to 'As patches'")
                    .what()});
}

/// Removes the chunks that no array uses, for example because another patch provides the values of shared
/// nodes.
void BlockArrays::DropUnusedChunks(LocationTable& table, std::size_t request) const
{
  const ReadTarget target = this->TargetOf(request);
  bool whole = false;
  target.ForEach([&](const Destination& destination) {
    whole = whole || (destination.Mapping.Begin == Dims{0, 0, 0} &&
                         destination.Mapping.End == destination.Mapping.Stored);
  });
  const Location& location = table.Locations[request];
  for (std::uint32_t i = location.First; !whole && i < location.First + location.Count; ++i) {
    ChunkedArray& array = table.ChunkedArrays[i];
    const auto begin = table.Chunks.begin() + static_cast<std::ptrdiff_t>(array.FirstChunk);
    const auto end = std::stable_partition(
        begin, begin + static_cast<std::ptrdiff_t>(array.ChunkCount), [&](const Chunk& chunk) {
          bool isUsed = false;
          // A corrupt array keeps its chunks, so that reading them reports the fault.
          const std::string fault = CatchError([&] {
            CheckChunkedArray(array);
            target.ForEach([&](const Destination& destination) {
              isUsed = isUsed || ReachesOutput(destination.Mapping, array, chunk.Number);
            });
          });
          return isUsed || !fault.empty();
        });
    array.ChunkCount = static_cast<std::size_t>(end - begin);
  }
}

/// Returns the index box of the values of an array.
Box BlockArrays::OutputOf(std::size_t block, std::size_t variable) const
{
  return Grow(
      this->Layout->ValueBox(block, this->CenteringOf(variable)), this->Requested.Variables[variable].Ghosts);
}

std::int64_t BlockArrays::TuplesOf(std::size_t block, std::size_t variable) const
{
  if (this->Data.IsMesh()) {  // a block is a patch
    return this->Data.StoredTuples(
        this->Requested.Variables[variable].Variable, this->Requested.Blocks[block].Parts[0].Owner);
  }
  return this->OutputOf(block, variable).CellCount();
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
  const std::size_t variables = this->Requested.Variables.size();
  pool.CheckAvailable(static_cast<std::uint64_t>(this->Bytes()));
  std::vector<std::uint64_t> bytes(variables, 0);
  std::uint64_t padding = 0;  // the same for all variables, so that they can reuse each other's segments
  for (std::size_t a = 0; a < this->Arrays.size(); ++a) {
    bytes[a % variables] += this->Arrays[a].Values ? 0 : BytesOf(this->Arrays[a]);
    padding = std::max(padding, this->PaddingOf(a));
  }
  std::deque<MemoryArena> memory;
  for (std::size_t v = 0; v < variables; ++v) {
    memory.emplace_back(pool, bytes[v], this->Requested.Blocks.size(), padding);
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
    this->Arrays[array].Values = memory.Allocate(BytesOf(this->Arrays[array]));
  }
}

void BlockArrays::Copy(std::size_t number)
{
  const ReusedArrays::CopiedArray& copied = this->Reused.Copied()[number];
  const std::size_t array = this->IndexOf(copied.Block, copied.Variable);
  const Box values = this->OutputOf(copied.Block, copied.Variable);
  for (std::size_t i = copied.First; i < copied.End; ++i) {
    const ValueCopy& copy = this->Reused.ReusePerVariable()[copied.Variable].Copies[i];
    CopyValues(copy, values, this->Arrays[array]);
    if (copy.From->HasUndefined) {
      this->HasUndefined[array] = true;
    }
    if (this->Requested.FindRanges) {
      const ArrayMapping mapping(values, values, copy.Region, {1, 1, 1}, this->Arrays[array].Components);
      this->ExtendRange(array, mapping.Output, mapping.First, mapping.Last);
    }
  }
  this->CountDown(array);
}

void BlockArrays::CacheArrays(const std::vector<LoadedArray>& arrays, const FileFingerprints& fingerprints,
    const std::function<bool(std::size_t request)>& isConstant) const
{
  std::vector<std::vector<bool>> constants(this->Requested.Variables.size());
  for (std::size_t r = 0; r < this->SourceVariables.size(); ++r) {
    if (isConstant(r)) {
      std::vector<bool>& flags = constants[this->SourceVariables[r].Variable];
      flags.resize(this->Layout->Sources().size(), false);
      flags[this->SourceVariables[r].Source] = true;
    }
  }
  this->Reused.AddToCache(arrays, fingerprints, std::move(constants));
}

ReadTarget BlockArrays::TargetOf(std::size_t request) const
{
  ReadTarget target;
  target.Slots = &this->VariableRequestOf(request).Slots;
  target.Info = &this->Data.Variables[this->VariableRequestOf(request).Variable];
  const Placement* const begin = this->Begin(request);
  for (const Placement* p = begin; p != this->End(request); ++p) {
    const std::size_t a = this->IndexOf(p->Block, this->SourceVariables[request].Variable);
    const LoadedArray& array = this->Arrays[a];
    Destination destination{
        array.Values.get(), this->MappingOf(request, *p), array.Type, &this->HasUndefined[a]};
    destination.Mapping.IsUsedSoon = this->Requested.FindRanges;
    if (target.Info->Interleaved) {
      destination.Mapping.SetTupleWidth(target.Info->Components);
    }
    if (p == begin) {
      target.Main = destination;
    } else {
      target.Additional.push_back(destination);
    }
  }
  return target;
}

ArrayMapping BlockArrays::MappingOf(std::size_t request, const Placement& placement) const
{
  const VariableRequest& variableRequest = this->VariableRequestOf(request);
  const Variable& variable = this->Data.Variables[variableRequest.Variable];
  const int patch = this->PatchOf(request);
  if (variableRequest.Ghosts != Int3{0, 0, 0} || this->Data.IsMesh()) {
    assert(this->Requested.Blocks[placement.Block].Cells == this->Data.Patches[patch].Cells);
    ArrayShape shape;
    shape.Interior = this->Data.ArrayDims(patch, variable, {0, 0, 0});
    shape.StoredGhosts = variable.Ghosts;
    shape.OutputGhosts = variableRequest.Ghosts;
    shape.OutputComponents = variableRequest.OutputComponents;
    return shape;
  }
  Box stored = Grow(this->Data.Patches[patch].Cells, variable.Ghosts);
  if (variable.Center == Centering::Node) {
    stored = this->Data.NodesOf(this->Data.Patches[patch].Level, stored);
    if (placement.Region.Lower[0] > stored.Upper[0]) {  // the column that CloseSeam() repeats
      stored = Shift(stored, {static_cast<int>(stored.Width(0)), 0, 0});
    }
  }
  return {stored, this->Layout->ValueBox(placement.Block, variable.Center), placement.Region, placement.Ratio,
      variableRequest.OutputComponents};
}

void BlockArrays::CompleteRequest(std::size_t request)
{
  if (this->Requested.FindRanges) {
    this->AddToRanges(request);
  }
  this->ForEachArray(request, [&](std::size_t a) { this->CountDown(a); });
}

/// Adds the values of a request to the ranges of its arrays. Gaps and layers without stored values repeat
/// other values, so the ranges already include them.
void BlockArrays::AddToRanges(std::size_t request)
{
  for (const Placement* p = this->Begin(request); p != this->End(request); ++p) {
    const ArrayMapping mapping = this->MappingOf(request, *p);
    this->ExtendRange(this->IndexOf(p->Block, this->SourceVariables[request].Variable), mapping.Output,
        mapping.First, mapping.Last);
  }
}

void BlockArrays::ExtendRange(std::size_t array, const Dims& tuples, const Dims& first, const Dims& last)
{
  LoadedArray& whole = this->Arrays[array];
  ArrayRange part;
  part.AddRegion(whole.Type, whole.Components, whole.Values.get(), tuples, first, last);
  const std::lock_guard<std::mutex> lock(this->RangesLock);
  whole.Range.Add(part);
}

/// Decrements the number of requests and copies that the array waits for, and completes the array when the
/// number is 0.
void BlockArrays::CountDown(std::size_t array)
{
  if (this->Outstanding[array].fetch_sub(1, std::memory_order_acq_rel) == 1) {
    this->FillGapsOf(array);
    ArrayStatus& status = this->Arrays[array].Status;
    status = status == ArrayStatus::NotRead ? ArrayStatus::Read : status;
  }
}

void BlockArrays::FillGapsOf(std::size_t a)
{
  const std::size_t block = a / this->Requested.Variables.size();
  const Centering centering = this->CenteringOf(a % this->Requested.Variables.size());
  if (!this->Layout->IsComplete(block, centering)) {
    const LoadedArray& array = this->Arrays[a];
    const Box values = this->Layout->ValueBox(block, centering);
    const Box planes = this->Layout->PlanesWithGaps(block, centering);
    const std::size_t tupleBytes = array.Components * SizeOf(array.Type);
    const std::size_t before = IndexIn(values, planes.Lower) * tupleBytes;
    FillGaps(this->Layout->FilledFlags(block, centering, planes),
        {planes.Width(0), planes.Width(1), planes.Width(2)}, tupleBytes,
        static_cast<std::byte*>(array.Values.get()) + before);
  }
}

void BlockArrays::MarkFailed(std::size_t request)
{
  this->ForEachArray(request, [&](std::size_t a) { this->Arrays[a].Status = ArrayStatus::Failed; });
}

bool BlockArrays::IsOutstanding(std::size_t request) const
{
  bool waits = false;
  this->ForEachArray(request, [&](std::size_t a) { waits = waits || this->Outstanding[a] > 0; });
  return waits;
}

std::vector<LoadedArray> BlockArrays::TakeArrays()
{
  for (std::size_t a = 0; a < this->Arrays.size(); ++a) {
    LoadedArray& array = this->Arrays[a];
    array.HasUndefined = array.HasUndefined || this->HasUndefined[a];
    const bool hasValues = array.Tuples > 0;
    if (array.Status == ArrayStatus::NotRead && !hasValues) {
      array.Status = ArrayStatus::Absent;
    }
    if (array.Status != ArrayStatus::Read) {
      array.Values.reset();
    }
  }
  return std::move(this->Arrays);
}

}  // namespace patchio

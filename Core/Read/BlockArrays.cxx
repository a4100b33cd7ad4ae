#include "Read/BlockArrays.h"

#include "Exec/Chunks.h"
#include "Exec/Decode.h"
#include "Support/Error.h"
#include "Support/Together.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace patchio {
namespace {

bool NeedsNodes(const Catalog& catalog, const LoadRequest& request)
{
  return std::any_of(request.Variables.begin(), request.Variables.end(), [&](const VariableRequest& wanted) {
    return catalog.Variables[wanted.Variable].Center == Centering::Node;
  });
}

bool HasValues(const Location& location)
{
  return location.Kind != Encoding::Absent && location.Kind != Encoding::Missing;
}

}  // namespace

VariableRequest RequestAsStored(const Catalog& catalog, int variable)
{
  const Variable& info = catalog.Variables[variable];
  VariableRequest request{variable, info.Components, std::vector<int>(info.Components), info.Ghosts};
  std::iota(request.Slots.begin(), request.Slots.end(), 0);
  return request;
}

BlockArrays::BlockArrays(const Catalog& catalog, const LoadRequest& request)
    : Data(catalog),
      Request(request),
      Layout(catalog, request.Blocks, NeedsNodes(catalog, request)),
      Arrays(request.Blocks.size() * request.Variables.size()),
      TasksLeft(Arrays.size()),
      HasUndefined(Arrays.size())
{
}

std::vector<PatchVariable> BlockArrays::Requests() const
{
  std::vector<PatchVariable> requests;
  requests.reserve(this->Layout.Sources().size() * this->Request.Variables.size());
  for (const int patch : this->Layout.Sources()) {
    for (const VariableRequest& variable : this->Request.Variables) {
      requests.push_back({patch, variable.Variable});
    }
  }
  return requests;
}

template <typename Visit>
void BlockArrays::ForEachArray(std::size_t request, Visit visit) const
{
  const std::size_t variables = this->Request.Variables.size();
  const std::size_t source = request / variables;
  const std::size_t variable = request % variables;
  const Centering centering = this->CenteringOf(variable);
  const Placement* const end = this->Layout.End(source, centering);
  const Placement* last = nullptr;
  for (const Placement* p = this->Layout.Begin(source, centering); p != end; ++p) {
    if (!last || last->Block != p->Block) {  // those of one block follow each other
      visit(p->Block * variables + variable);
    }
    last = p;
  }
}

void BlockArrays::Describe(LocationTable& table)
{
  const std::size_t variables = this->Request.Variables.size();
  const auto reject = [&](std::size_t request, const std::string& found) {
    table.Locations[request] = Location();
    table.Locations[request].Kind = Encoding::Missing;
    const std::string& name = this->Data.Variables[this->WantedOf(request).Variable].Name;
    const int patch = this->Layout.Sources()[request / variables];
    table.Problems.push_back(
        {request, FileError(this->Data.Path, "the same kind of values of '" + name + "' on all patches",
                      found + " on patch " + std::to_string(patch), "Set Blocks to 'As patches'")
                      .what()});
  };
  // Nodes of a patch may all belong to others, and those of coarser levels are not used; then nothing is
  // read.
  for (std::size_t r = 0; r < table.Locations.size(); ++r) {
    bool goesAnywhere = false;
    this->ForEachArray(r, [&](std::size_t) { goesAnywhere = true; });
    if (!goesAnywhere) {
      table.Locations[r] = Location();
    } else if (table.Locations[r].Kind == Encoding::Chunked) {
      this->DropUnusedChunks(table, r);
    }
  }
  // Constants go into arrays of any type; so types of stored values come first.
  for (const bool constants : {false, true}) {
    for (std::size_t r = 0; r < table.Locations.size(); ++r) {
      const Location& location = table.Locations[r];
      if (!HasValues(location) || (location.Kind == Encoding::Constant) != constants) {
        continue;
      }
      const ElementType type = TypeOf(table, location);
      bool fits = true;
      this->ForEachArray(r, [&](std::size_t a) {
        fits = fits && (constants || this->TasksLeft[a] == 0 || this->Arrays[a].Type == type);
      });
      if (!fits) {
        reject(r, "another type");
        continue;
      }
      this->ForEachArray(r, [&](std::size_t a) {
        LoadedArray& array = this->Arrays[a];
        array.Type = this->TasksLeft[a]++ == 0 ? type : array.Type;
        array.Components = this->Request.Variables[a % variables].OutputComponents;
        array.Tuples = this->OutputOf(a / variables, a % variables).Cells();
      });
    }
  }
  for (std::size_t r = 0; r < table.Locations.size(); ++r) {
    bool alone = true;
    this->ForEachArray(r, [&](std::size_t a) { alone = alone && this->TasksLeft[a] == 0; });
    if (table.Locations[r].Kind == Encoding::Absent && !alone) {
      reject(r, "none");
    }
  }
}

/// Nodes that several patches share are needed from one of them only: chunks of the others need not be read.
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
          // What makes no sense is left to the reading of it, which says so.
          const std::string fault = FaultOf([&] {
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

/// Indices of the values of an array.
Box BlockArrays::OutputOf(std::size_t block, std::size_t variable) const
{
  return Grown(
      this->Layout.ValuesOf(block, this->CenteringOf(variable)), this->Request.Variables[variable].Ghosts);
}

double BlockArrays::Bytes() const
{
  double bytes = 0;  // a double cannot overflow where hostile sizes are added up
  for (std::size_t a = 0; a < this->Arrays.size(); ++a) {
    const LoadedArray& array = this->Arrays[a];
    bytes += static_cast<double>(array.Tuples) * array.Components * static_cast<double>(SizeOf(array.Type));
  }
  return bytes;
}

void BlockArrays::Allocate(SlabCutter& memory, std::size_t request)
{
  this->ForEachArray(request, [&](std::size_t a) {
    LoadedArray& array = this->Arrays[a];
    if (!array.Values) {
      array.Values = memory.Cut(array.Tuples * array.Components * SizeOf(array.Type));
    }
  });
}

ReadTarget BlockArrays::TargetOf(std::size_t request) const
{
  const std::size_t variables = this->Request.Variables.size();
  const std::size_t source = request / variables;
  const std::size_t variable = request % variables;
  const Centering centering = this->CenteringOf(variable);
  ReadTarget target;
  target.Slots = &this->WantedOf(request).Slots;
  target.Info = &this->Data.Variables[this->WantedOf(request).Variable];
  const Placement* const begin = this->Layout.Begin(source, centering);
  for (const Placement* p = begin; p != this->Layout.End(source, centering); ++p) {
    const LoadedArray& array = this->Arrays[p->Block * variables + variable];
    const Destination destination{array.Values.get(), this->WindowOf(request, *p), array.Type,
        &this->HasUndefined[p->Block * variables + variable]};
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
  const int patch = this->Layout.Sources()[request / this->Request.Variables.size()];
  if (wanted.Ghosts != Int3{0, 0, 0}) {
    assert(this->Request.Blocks[placement.Block].Cells == this->Data.Patches[patch].Cells);
    ArrayShape shape;
    shape.Interior = this->Data.ArrayDims(patch, variable.Center, {0, 0, 0});
    shape.StoredGhosts = variable.Ghosts;
    shape.OutputGhosts = wanted.Ghosts;
    shape.OutputComponents = wanted.OutputComponents;
    return shape;
  }
  Box stored = Grown(this->Data.Patches[patch].Cells, variable.Ghosts);
  if (variable.Center == Centering::Node) {
    stored = this->Data.NodesOf(this->Data.Patches[patch].Level, stored);
  }
  return {stored, this->Layout.ValuesOf(placement.Block, variable.Center), placement.Region, placement.Ratio,
      wanted.OutputComponents};
}

void BlockArrays::Done(std::size_t request)
{
  this->ForEachArray(request, [&](std::size_t a) {
    if (this->TasksLeft[a].fetch_sub(1, std::memory_order_acq_rel) == 1) {
      this->FillGapsOf(a);
      LoadedArray& array = this->Arrays[a];
      array.Status = array.Status == ArrayStatus::NotRead ? ArrayStatus::Read : array.Status;
    }
  });
}

void BlockArrays::FillGapsOf(std::size_t a)
{
  const std::size_t block = a / this->Request.Variables.size();
  const Centering centering = this->CenteringOf(a % this->Request.Variables.size());
  if (!this->Layout.Complete(block, centering)) {
    const LoadedArray& array = this->Arrays[a];
    const Box values = this->Layout.ValuesOf(block, centering);
    const Box planes = this->Layout.PlanesWithGaps(block, centering);
    const std::size_t tupleBytes = array.Components * SizeOf(array.Type);
    const std::size_t before = IndexIn(values, planes.Lower) * tupleBytes;
    FillGaps(this->Layout.Filled(block, centering, planes),
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
    array.HasUndefined = this->HasUndefined[a];
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

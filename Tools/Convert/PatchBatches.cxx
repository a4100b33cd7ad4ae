#include "Convert/PatchBatches.h"

#include "Io/ReadTask.h"
#include "Read/RankRead.h"
#include "Read/ReadRequest.h"

#include <algorithm>

namespace patchio::tools {

PatchBatches::PatchBatches(const OpenedStep& step, std::vector<int> patches, std::vector<int> variables,
    int threads, std::uint64_t batchBytes, bool inThreeDimensions)
    : Step(step),
      Patches(std::move(patches)),
      Variables(std::move(variables)),
      Threads(threads),
      BatchBytes(batchBytes),
      InThreeDimensions(inThreeDimensions),
      RowOf(step.Data().Patches.size(), 0)
{
  std::vector<PatchVariable> requests;
  for (std::size_t row = 0; row < this->Patches.size(); ++row) {
    this->RowOf[this->Patches[row]] = row;
    for (const int variable : this->Variables) {
      requests.push_back({this->Patches[row], variable});
    }
  }
  this->AllLocations = step.Locate(requests, threads, {}, true);
  this->Memory->SetKeptLimit(3 * batchBytes);
}

LocationTable PatchBatches::LocationsOf(const std::vector<PatchVariable>& requests) const
{
  LocationTable part;
  part.Files = this->AllLocations.Files;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::size_t v = std::find(this->Variables.begin(), this->Variables.end(), requests[i].Variable) -
                          this->Variables.begin();
    const std::size_t at = this->RowOf[requests[i].Patch] * this->Variables.size() + v;
    part.Locations.push_back(AppendLocation(this->AllLocations, this->AllLocations.Locations[at], part));
    if (!this->AllLocations.Checksums.empty()) {
      part.Checksums.push_back(this->AllLocations.Checksums[at]);
    }
    if (part.Locations.back().Kind == Encoding::Missing) {
      const auto why = std::find_if(this->AllLocations.Problems.begin(), this->AllLocations.Problems.end(),
          [at](const LocationProblem& problem) { return problem.Request == at; });
      part.Problems.push_back({i, why == this->AllLocations.Problems.end() ? std::string() : why->Message});
    }
  }
  return part;
}

std::uint64_t PatchBatches::BytesOf(std::size_t row) const
{
  std::uint64_t bytes = 0;
  for (std::size_t v = 0; v < this->Variables.size(); ++v) {
    const Location& location = this->AllLocations.Locations[row * this->Variables.size() + v];
    bytes +=
        static_cast<std::uint64_t>(this->Step.Data().StoredTuples(this->Variables[v], this->Patches[row])) *
        this->Step.Data().Variables[this->Variables[v]].Components *
        SizeOf(TypeOf(this->AllLocations, location));
  }
  return bytes;
}

bool PatchBatches::Next(LoadResult& result)
{
  this->FirstRow = this->EndRow;
  LoadRequest request;
  request.Threads = this->Threads;
  request.Memory = this->Memory;
  for (std::uint64_t bytes = 0; this->EndRow < this->Patches.size() && bytes < this->BatchBytes;
       ++this->EndRow) {
    bytes += this->BytesOf(this->EndRow);
    request.Blocks.push_back(BlockOfPatch(this->Step.Data(), this->Patches[this->EndRow]));
  }
  for (const int variable : this->Variables) {
    request.Variables.push_back(this->InThreeDimensions
                                    ? RequestInThreeDimensions(this->Step.Data(), variable, {0, 0, 0})
                                    : RequestAsStored(this->Step.Data(), variable));
    request.Variables.back().Ghosts = {0, 0, 0};
  }
  if (request.Blocks.empty()) {
    return false;
  }
  const auto locate = [this](
                          const std::vector<PatchVariable>& requests) { return this->LocationsOf(requests); };
  result = RankRead(locate, this->Step.Data(), request).Read();
  return true;
}

}  // namespace patchio::tools

#include "vtkPatchReaderProperties.h"

#include "Read/ReadRequest.h"
#include "Store/StepIndexFile.h"

#include <algorithm>
#include <cmath>

using namespace patchio;

void vtkPatchReaderProperties::SetListedDumpsOnly(bool on)
{
  if (on != this->ListedDumpsOnly) {
    this->ListedDumpsOnly = on;
    this->Reload();
  }
}

void vtkPatchReaderProperties::SetMetadataChannel(int mode)
{
  mode = std::clamp<int>(mode, CHANNEL_OFF, CHANNEL_REBUILD);
  if (mode != this->MetadataChannel) {
    this->MetadataChannel = mode;
    this->Reload();
  }
}

void vtkPatchReaderProperties::SetStorageLatency(double milliseconds)
{
  this->SetClamped(this->StorageLatency, milliseconds, 0, 1e6);
}

void vtkPatchReaderProperties::SetStorageBandwidth(double megabytesPerSecond)
{
  this->SetClamped(this->StorageBandwidth, megabytesPerSecond, 1e-3, 1e9);
}

void vtkPatchReaderProperties::SetClamped(double& member, double value, double least, double most)
{
  // In this order of the calls, NaN becomes `least`. vtkSetClampMacro would accept NaN.
  const double clamped = std::fmin(std::fmax(value, least), most);
  if (clamped != member) {
    member = clamped;
    this->Modified();
  }
}

StepOptions vtkPatchReaderProperties::OptionsFromProperties() const
{
  StepOptions options;
  options.FirstLevel = this->LevelRange[0];
  options.LastLevel = this->LevelRange[1];
  options.Grids = this->Grids;
  options.Partial = this->PartialArrays;
  options.HideRefined = this->BlankRefinedCells;
  options.SkipBroken = this->SkipBrokenPatches;
  options.Verify = this->VerifyValues;
  options.GhostLayer = this->AddGhostLayer && !this->OutputsAmr();
  options.PatchIds = this->AddPatchIds;
  options.Vectors = this->ComposeVectors;
  options.PointLists = this->PointLists == POINTS            ? PointForm::Points
                       : this->PointLists == POINTS_AS_IMAGE ? PointForm::Image
                                                             : PointForm::Automatic;
  options.HideUndefined = this->HideUndefined;
  options.Sphere = this->Placement == ON_SPHERE;
  options.Region.Type = this->Region == IN_BOX                 ? RegionOfInterest::Shape::InBox
                        : this->Region == ON_PLANE_OF_INTEREST ? RegionOfInterest::Shape::OnPlane
                                                               : RegionOfInterest::Shape::Everything;
  for (int axis = 0; axis < 3; ++axis) {
    options.Region.Lower[axis] = this->RegionBounds[2 * axis];
    options.Region.Upper[axis] = this->RegionBounds[2 * axis + 1];
    options.Region.Origin[axis] = this->RegionOrigin[axis];
    options.Region.Normal[axis] = this->RegionNormal[axis];
  }
  options.Slice = this->OutputsSlice();
  options.Blocks.Merge = this->Blocks == MERGED || this->Blocks == MERGED_UP_TO;
  if (this->Blocks == MERGED_UP_TO) {
    options.Blocks.Cover.MostCells = this->MaximumBlockCells;
  }
  return options;
}

IndexMode vtkPatchReaderProperties::IndexModeFromProperties() const
{
  return this->MetadataChannel == CHANNEL_OFF  ? IndexMode::Off
         : this->MetadataChannel == CHANNEL_ON ? IndexMode::On
                                               : IndexMode::Rebuild;
}

ReadRequest vtkPatchReaderProperties::RequestFromProperties() const
{
  ReadRequest request;
  request.Options = this->OptionsFromProperties();
  request.GhostCells = this->ReadGhostCells && !this->OutputsAmr();
  if (this->SkipByValue) {
    const auto [low, high] = std::minmax(this->ValueRange[0], this->ValueRange[1]);
    request.Values = ValueCondition{this->ValueArray, {low, high}};
  }
  request.Threads.Mode = this->ThreadMode == AUTOMATIC      ? patchio::ThreadMode::Automatic
                         : this->ThreadMode == FROM_STORAGE ? patchio::ThreadMode::FromStorage
                                                            : patchio::ThreadMode::Fixed;
  request.Threads.ThreadsPerRank = this->ThreadsPerRank;
  request.Threads.StorageConcurrency = this->StorageConcurrency;
  request.Threads.OtherLoad = this->OtherLoad;
  request.Policy = static_cast<patchio::ThreadPolicy>(this->ThreadPolicy);
  request.Storage = {this->StorageLatency * 1e-3, this->StorageBandwidth * 1e6};
  request.MemoryLimit = std::uint64_t(this->MemoryLimit) * 1000 * 1000;
  request.CacheMemory = std::int64_t(this->CacheMemory) * 1000 * 1000;
  request.PrefetchSteps = this->Prefetch ? this->PrefetchSteps : 0;
  return request;
}

void vtkPatchReaderProperties::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  const auto print = [&](const char* name, const auto&... values) {
    os << indent << name << ":";
    ((os << " " << values), ...);
    os << endl;
  };
  print("Grids", this->Grids);
  print("LevelRange", this->LevelRange[0], this->LevelRange[1]);
  print("BlankRefinedCells", this->BlankRefinedCells);
  print("Region", this->Region);
  print("SliceWhileReading", this->SliceWhileReading);
  print("SkipByValue", this->SkipByValue, this->ValueArray);
  print("Blocks", this->Blocks);
  print("MaximumBlockCells", this->MaximumBlockCells);
  print("AddGhostLayer", this->AddGhostLayer);
  print("AddPatchIds", this->AddPatchIds);
  print("ComposeVectors", this->ComposeVectors);
  print("PointLists", this->PointLists);
  print("HideUndefined", this->HideUndefined);
  print("PartialArrays", this->PartialArrays);
  print("Placement", this->Placement);
  print("ReadGhostCells", this->ReadGhostCells);
  print("SkipBrokenPatches", this->SkipBrokenPatches);
  print("VerifyValues", this->VerifyValues);
  print("ListedDumpsOnly", this->ListedDumpsOnly);
  print("MetadataChannel", this->MetadataChannel);
  print("ThreadMode", this->ThreadMode);
  print("ThreadPolicy", this->ThreadPolicy);
  print("ThreadsPerRank", this->ThreadsPerRank);
  print("StorageConcurrency", this->StorageConcurrency);
  print("OtherLoad", this->OtherLoad);
  print("StorageLatency", this->StorageLatency);
  print("StorageBandwidth", this->StorageBandwidth);
  print("MemoryLimit", this->MemoryLimit);
  print("Prefetch", this->Prefetch);
  print("PrefetchSteps", this->PrefetchSteps);
  print("CacheMemory", this->CacheMemory);
  print("FilterThreading", this->FilterThreading);
  print("FilterThreadsPerRank", this->FilterThreadsPerRank);
}

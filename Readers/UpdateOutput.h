// Makes the output of a loaded step.
#ifndef UpdateOutput_h
#define UpdateOutput_h

#include "Base/Communicator.h"
#include "PatchAssembler.h"
#include "Read/StepRead.h"

#include <string>
#include <vector>

class vtkDataObject;
class vtkMultiBlockDataSet;

namespace patchio {

/// The sizes of the lists of points in the blocks of one rank, by level.
struct PointLists
{
  std::vector<double> Points;  ///< number of points
  /// By level, six numbers: the lower corner, with the opposite sign, and the upper corner of the box around
  /// the points. The greatest numbers of all ranks are then the box of all ranks.
  std::vector<double> Corners;
};

/// The frames of the blocks of one rank, which later steps of the same file reuse.
struct FrameCache
{
  std::string Key;  ///< PlannedStep::GridsKey() of the step of the frames; empty: the cache is empty
  std::vector<BlockFrame> Frames;
  PointLists Lists;  ///< set by DecidePointImages(), and kept with the frames by AssembleOutput()

  /// Empties the cache unless the frames belong to a step whose PlannedStep::GridsKey() is `key`. Also
  /// empties the cache if `key` is empty.
  void DiscardUnlessKey(const std::string& key);
};

/// Returns whether lists of points become images, the same on all ranks. With PointForm::Automatic, stores
/// the sizes of this rank's lists in `cache`. Throws Error, the same on all ranks. Collective: every rank of
/// the communicator calls it.
bool DecidePointImages(Communicator& ranks, LoadedStep& loaded, FrameCache& cache);

/// Fills `output`, a multiblock data set or overlapping AMR, with this rank's blocks of the step. Reuses the
/// frames in `cache` if they belong to the same blocks of the same file, and stores the frames that the next
/// step can reuse. Overlapping AMR stays empty if it cannot represent the data. `threads`: greatest number of
/// threads. `pointsAsImages`: result of DecidePointImages(). Throws Error. Not collective.
void AssembleOutput(
    LoadedStep& loaded, int rank, int threads, bool pointsAsImages, FrameCache& cache, vtkDataObject* output);

/// Returns whether ParaView first shows a surface. If a surface of this rank's blocks would take more than 5
/// s, adds a note to the report and returns false; ParaView then shows an outline. Not collective. ParaView
/// asks only rank 0; the other ranks have about as many blocks.
bool DecideSurfaceFirst(LoadedStep& loaded);

/// Replaces the blocks of each level by a poly data: the slice that the filter Slice would make of these
/// blocks. If StepPlan::Sliced is false, or if a block of any rank is not supported, leaves `output`
/// unchanged, adds the reason to the report and returns the reason. Otherwise returns an empty text. Throws
/// Error if the memory does not suffice. Collective: every rank of the communicator calls it.
std::string SliceOutput(Communicator& ranks, LoadedStep& loaded, vtkMultiBlockDataSet* output);

}  // namespace patchio

#endif

// Makes the output of a step that was read.
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

/// Lists of points in the blocks of one rank, by level.
struct PointLists
{
  std::vector<double> Points;  ///< number of points
  /// The box around the points of each level: the lower corner, with its sign changed, then the upper corner.
  std::vector<double> Corners;
};

/// The frames of one rank's blocks, which the next steps of the same file use again.
struct KeptFrames
{
  std::string Key;  ///< GridsKey of the step that Frames are for; empty: there are none
  std::vector<BlockFrame> Frames;
  PointLists Lists;  ///< see PointsBecomeImages()

  /// Discards the frames unless they belong to a step with this PlannedStep::GridsKey().
  void DiscardUnlessKey(const std::string& key);
};

/// Collective: returns whether lists of points become images; the same on all ranks.
bool PointsBecomeImages(Communicator& ranks, LoadedStep& loaded, KeptFrames& kept);

/// Makes the output of the step, uses kept frames of the same blocks of the same file, and keeps the frames
/// that the next step can use. pointsAsImages: see PointsBecomeImages(). threads: greatest number of threads
/// that work at once. output: a multiblock data set, or overlapping AMR.
void AssembleOutput(
    LoadedStep& loaded, int rank, int threads, bool pointsAsImages, KeptFrames& kept, vtkDataObject* output);

/// Returns whether ParaView shows a surface at first. If not, it shows an outline, because a surface of this
/// rank's blocks would take more than 5 s, and adds a note to the report. The other ranks have about as many
/// blocks.
bool ShowSurfaceFirst(LoadedStep& loaded);

/// Collective: replaces the blocks of each level by a poly data: the slice that the filter Slice would make
/// of these blocks. If the plan is not StepPlan::Sliced, or if a block of any rank cannot be sliced, changes
/// nothing, adds the reason to the report and returns the reason. Otherwise returns an empty text.
std::string SliceOutput(Communicator& ranks, LoadedStep& loaded, vtkMultiBlockDataSet* output);

}  // namespace patchio

#endif

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
  std::vector<double> Points;   ///< how many
  std::vector<double> Corners;  ///< of the box around them: the lower one, negative, and the upper one
};

/// The frames of one rank's blocks, to be used again by the next steps of the same file.
struct KeptFrames
{
  std::string Key;  ///< of the step that they were made for; empty: there are none
  std::vector<BlockFrame> Frames;
  PointLists Lists;  ///< see PointsBecomeImages()

  /// Drops the frames unless they fit a step with this PlannedStep::GridsKey().
  void KeepFor(const std::string& key);
};

/// Collective. True when lists of points become images; the same on all ranks.
bool PointsBecomeImages(Communicator& ranks, LoadedStep& loaded, KeptFrames& kept);

/// Makes the output of the step, uses kept frames of the same blocks of the same file, and keeps those that
/// the next step can use. pointsAsImages: see PointsBecomeImages(). threads: that may work at once.
/// output: a multiblock data set, or overlapping AMR.
void AssembleOutput(
    LoadedStep& loaded, int rank, int threads, bool pointsAsImages, KeptFrames& kept, vtkDataObject* output);

/// Whether ParaView shows a surface at first. Otherwise an outline, because a surface of this rank's blocks
/// would take longer than some seconds; the report then says so. The other ranks have about as many blocks.
bool ShowSurfaceFirst(LoadedStep& loaded);

/// Collective. Makes a slice of an output whose plan is StepPlan::Sliced: the tree gets a poly data for each
/// level in place of its blocks, the one that the filter Slice would make of them. Where some block of any
/// rank cannot be sliced, or the plan is another, it does nothing, and says why in the report and as result.
std::string SliceOutput(Communicator& ranks, LoadedStep& loaded, vtkMultiBlockDataSet* output);

}  // namespace patchio

#endif

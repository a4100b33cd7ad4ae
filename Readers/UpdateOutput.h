// Makes the output of a step that was read.
#ifndef UpdateOutput_h
#define UpdateOutput_h

#include "PatchAssembler.h"
#include "Session/StepRead.h"
#include "Support/Communicator.h"

#include <string>
#include <vector>

class vtkMultiBlockDataSet;

namespace patchio {

/// The frames of one rank's blocks, to be used again by the next steps of the same file.
struct KeptFrames
{
  std::string Key;  ///< of the step that they were made for; empty: there are none
  std::vector<BlockFrame> Frames;
  std::vector<int> Points;  ///< the places of lists of points; see PointsBecomeImages()

  /// Drops the frames unless they fit a step with this PlannedStep::GridsKey().
  void KeepFor(const std::string& key);
};

/// Collective. True when lists of points become images; the same on all ranks.
bool PointsBecomeImages(Communicator& ranks, LoadedStep& loaded, KeptFrames& kept);

/// Makes the output of the step, uses kept frames of the same blocks of the same file, and keeps those that
/// the next step can use. pointsAsImages: see PointsBecomeImages(). threads: that may work at once.
void AssembleOutput(LoadedStep& loaded, int rank, int threads, bool pointsAsImages, KeptFrames& kept,
    vtkMultiBlockDataSet* output);

/// Collective. Makes a slice of the output where the step is to be shown so: the tree gets a poly data for
/// each level in place of its blocks, the one that the filter Slice would make of them. Gives, as it notes in
/// the report, why it cannot slice some block of any rank, and then leaves all as it is; else nothing.
std::string SliceOutput(Communicator& ranks, LoadedStep& loaded, vtkMultiBlockDataSet* output);

}  // namespace patchio

#endif

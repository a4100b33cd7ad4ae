// From a step that is read to the output.
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
  std::string Key;  ///< what they were made for; empty: nothing
  std::vector<BlockFrame> Frames;
  std::vector<int> Points;  ///< where lists of points lie; see PointsBecomeImages()

  /// Gives the frames back unless they serve a step with this PlannedStep::GridsKey().
  void KeepFor(const std::string& key);
};

/// Collective. Whether lists of points become images, the same on all ranks.
bool PointsBecomeImages(Communicator& ranks, LoadedStep& loaded, KeptFrames& kept);

/// Makes the output of the step with the frames at hand that are of the same
/// blocks of the same file, and keeps those that the next step can use. pointsAsImages: see
/// PointsBecomeImages().
void AssembleOutput(
    LoadedStep& loaded, int rank, bool pointsAsImages, KeptFrames& kept, vtkMultiBlockDataSet* output);

}  // namespace patchio

#endif

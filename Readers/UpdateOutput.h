// From an update that is read to the output.
#ifndef UpdateOutput_h
#define UpdateOutput_h

#include "PatchAssembler.h"
#include "Update/PatchUpdate.h"

#include <string>
#include <vector>

class vtkMultiBlockDataSet;

namespace patchio {

/// The frames of one rank's blocks, to be used again by the next steps of the same file.
struct KeptFrames
{
  std::string Key;  ///< what they were made for; empty: nothing
  std::vector<BlockFrame> Frames;

  /// Gives the frames back unless they serve an update with this UpdatePlan::FramesKey.
  void KeepFor(const std::string& key);
};

/// Makes the output of the update, after PatchUpdate::Read(), with the frames at hand that are of the same
/// blocks of the same file, and keeps those that the next step can use.
void AssembleOutput(PatchUpdate& update, int rank, KeptFrames& kept, vtkMultiBlockDataSet* output);

}  // namespace patchio

#endif

// One time step of VTK data, which all ranks write together.
#ifndef InputStep_h
#define InputStep_h

#include "ArraysToWrite.h"
#include "Base/Communicator.h"
#include "InputTree.h"
#include "Write/ChannelOutput.h"
#include "Write/StepWriter.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace patchio {

class InputStep
{
public:
  /// Collective: describes the data of all ranks, without writing them. data: this rank's part; may be null.
  /// Throws Error, the same on all ranks, if a container cannot hold the data.
  InputStep(Communicator& ranks, vtkDataObject* data, const ArrayChoice& isWanted);

  /// Returns the catalog of the step. The caller must set its Time, Step and Date before WriteTo().
  Catalog& Data() { return this->Whole.Data; }
  /// Returns one sentence for each kind of data that is not written; the same on all ranks.
  const std::vector<std::string>& Notes() const { return this->NotesOfAll; }

  /// Collective: gives the step to an output channel, which may write it later. The caller may change the
  /// data after the call. Throws Error on all ranks.
  void WriteTo(output::ChannelOutput& to, std::size_t channel, container::CompressionChoice compression);

private:
  void FindPieces(const std::vector<std::vector<unsigned char>>& flags, const ArrayChoice& isWanted);
  bool FindUncovered(std::vector<std::vector<unsigned char>>& flags) const;
  container::HeldValues BatchFrom(std::size_t begin, std::uint64_t most, bool copies) const;
  std::uint64_t LocalBytes() const;

  Communicator& Ranks;
  std::vector<InputGrid> Grids;   ///< grids of this rank
  std::vector<PieceForm> Pieces;  ///< pieces of all ranks
  StepCatalog Whole;
  std::vector<std::string> NotesOfAll;
};

}  // namespace patchio

#endif

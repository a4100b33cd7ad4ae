// A time step of VTK data, which all ranks write together.
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

/// A time step of VTK data, which all ranks write together to a container or to another target of an output
/// channel.
class InputStep
{
public:
  /// Describes the data of all ranks. `data`: data of this rank, which must outlive this object; may be null.
  /// Throws Error, the same on all ranks, if containers do not support the data. Collective: every rank of
  /// the communicator calls it.
  InputStep(Communicator& ranks, vtkDataObject* data, const ArrayChoice& isSelected);

  /// Returns the catalog of the step. The caller must set Catalog::Time, Catalog::Step and Catalog::Date
  /// before WriteTo().
  Catalog& GetCatalog() { return this->MergedCatalog.Data; }
  /// Returns messages for the user, mostly about data that are not written; the same on all ranks.
  const std::vector<std::string>& Notes() const { return this->AllNotes; }

  /// Writes the step to the channel with the index `channel` of `to`, which may write the values in the
  /// background. The caller may change the data after the call. Throws Error on all ranks. Collective: every
  /// rank of the communicator calls it.
  void WriteTo(output::ChannelOutput& to, std::size_t channel, container::CompressionChoice compression);

private:
  void CollectPieces(const std::vector<std::vector<unsigned char>>& flags, const ArrayChoice& isSelected);
  bool MarkUncovered(std::vector<std::vector<unsigned char>>& flags) const;
  container::HeldValues MakeBatch(std::size_t firstPatch, std::uint64_t maxBytes, bool copies) const;
  std::uint64_t LocalBytes() const;

  Communicator& Ranks;
  std::vector<InputGrid> Grids;   ///< the grids of this rank
  std::vector<GridPiece> Pieces;  ///< the pieces of the grids of all ranks
  StepCatalog MergedCatalog;
  std::vector<std::string> AllNotes;
};

}  // namespace patchio

#endif

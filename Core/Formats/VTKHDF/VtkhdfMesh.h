// The partitions of a VTKHDF file of type UnstructuredGrid or PolyData: how much each has, and where.
#pragma once

#include "Formats/VTKHDF/VtkhdfFile.h"
#include "Formats/VTKHDF/VtkhdfSteps.h"

#include <array>
#include <cstdint>
#include <vector>

namespace patchio::vtkhdf {

/// The part of each data set that a step has. Places are numbers of entries before it.
struct MeshStep
{
  std::size_t FirstPartition = 0, Partitions = 0;
  std::uint64_t Point = 0;
  std::array<std::uint64_t, MeshSize::MostLists> Cell{}, Connectivity{}, Offset{};

  std::uint64_t AllCells() const { return this->Cell[0] + this->Cell[1] + this->Cell[2] + this->Cell[3]; }
};

/// Where a step begins in one of the mesh's own arrays.
std::uint64_t PlaceOf(const MeshStep& step, const LevelArray& array);
/// Entries per component that a partition has in an array, be it the mesh's own or data.
std::uint64_t EntriesOf(const MeshSize& partition, const LevelArray& array);

/// All partitions of a file, and which of them each step has.
class Partitions
{
public:
  /// Throws Error when the file does not say or contradicts itself.
  Partitions(const Access& file, FileType type, const StepsGroup& steps);

  const std::vector<MeshStep>& Steps() const { return this->OfSteps; }
  /// The partitions of a step.
  std::vector<MeshSize> SizesOf(std::size_t step) const;
  /// True when some step has another mesh than the first one.
  bool Change() const;
  /// The mesh's own arrays, without `First`.
  std::vector<LevelArray> Arrays() const;

private:
  void ReadSizes();
  void AddUpCells();
  void ReadSteps(const StepsGroup& steps);
  std::vector<std::int64_t> PartitionsOfSteps(const StepsGroup& steps, const std::vector<std::int64_t>& point,
      std::vector<std::int64_t>& first) const;
  bool FollowEachOther(std::size_t each, const std::vector<std::int64_t>& point) const;
  std::uint64_t PlaceOfOffsets(const MeshStep& step, std::size_t list) const;

  const Access& File;
  std::vector<std::string> Lists;  ///< where the lists of cells are: "", or "Lines/" and so on
  std::vector<bool> HasList;
  std::vector<MeshSize> All;
  std::vector<std::vector<std::uint64_t>> CellsBefore;  ///< by list: before each partition, and all
  std::vector<std::uint64_t> OffsetEntries;             ///< by list: of its data set
  std::vector<MeshStep> OfSteps;
};

}  // namespace patchio::vtkhdf

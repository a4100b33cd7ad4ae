// The first tuples of all steps, which a VTKHDF file's catalog passes to Locate().
#pragma once

#include "Base/Bytes.h"
#include "Catalog/Catalog.h"
#include "Formats/VTKHDF/VtkhdfAccess.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace patchio::vtkhdf {

/// For each step, level and variable: the number of tuples in the data set before the level's first. If
/// patches change, only for the step to which the catalog is turned. Copyable.
class PlacesOfSteps
{
public:
  PlacesOfSteps() = default;
  /// Sets all numbers to 0.
  explicit PlacesOfSteps(const Catalog& catalog)
      : Steps(catalog.PatchesChange ? 1 : static_cast<std::size_t>(catalog.StepsInFile)),
        OfStep(catalog.Levels.size() * catalog.Variables.size()),
        Variables(catalog.Variables.size()),
        First(Steps * OfStep, 0)
  {
  }
  /// Reads the numbers from Catalog::FormatData. Throws Error if the catalog is not that of a VTKHDF file.
  PlacesOfSteps(const Catalog& catalog, FileType& type) : PlacesOfSteps(catalog)
  {
    ByteReader in(catalog.FormatData);
    type = static_cast<FileType>(in.Get<std::uint8_t>());
    this->LacksArrays = in.Get<std::uint8_t>() != 0;
    std::vector<std::uint64_t> first;
    in.Get(first);
    if (first.size() != this->First.size()) {
      throw Error("The description of the time step does not belong to a VTKHDF file.");
    }
    this->First = std::move(first);
  }

  /// Returns whether the catalog has all arrays of the file. If not, the file gets no index, so that each
  /// opening reports the arrays that are left out.
  bool AreOfAllArrays() const { return !this->LacksArrays; }

  std::vector<std::byte> Pack(FileType type, bool lacksArrays) const
  {
    ByteWriter out;
    out.Put(static_cast<std::uint8_t>(type));
    out.Put(static_cast<std::uint8_t>(lacksArrays));
    out.Put(this->First);
    return out.Take();
  }

  /// Sets the number for each step.
  void Set(int level, int variable, const std::vector<std::uint64_t>& places)
  {
    for (std::size_t step = 0; step < this->Steps && step < places.size(); ++step) {
      this->First[this->IndexOf(step, level, variable)] = places[step];
    }
  }
  std::uint64_t At(int step, int level, int variable) const
  {
    return this->First[this->IndexOf(this->Steps == 1 ? 0 : static_cast<std::size_t>(step), level, variable)];
  }

private:
  std::size_t IndexOf(std::size_t step, int level, int variable) const
  {
    return step * this->OfStep + static_cast<std::size_t>(level) * this->Variables +
           static_cast<std::size_t>(variable);
  }

  bool LacksArrays = false;
  std::size_t Steps = 1, OfStep = 0, Variables = 0;
  std::vector<std::uint64_t> First;
};

}  // namespace patchio::vtkhdf

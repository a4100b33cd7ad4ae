// The HDF5 file of a step, laid out: who writes the values needs no HDF5 any more.
#pragma once

#include "Catalog/Catalog.h"
#include "Container/StepRecord.h"

#include <string>
#include <vector>

namespace patchio::container {

/// Room for a table.
struct PlannedTable
{
  std::string Name;
  ElementType Type = ElementType::Float64;
  std::uint64_t Values = 0;
};

/// What one of a step's files will hold.
struct StepFilePlan
{
  const Catalog* Data = nullptr;
  const std::vector<ElementType>* Types = nullptr;  ///< of the variables
  const std::vector<int>* Rows = nullptr;           ///< see RowsOf()
  int Files = 1;                                    ///< of the step
  std::vector<DataSet> DataSets;                    ///< of this file
  std::vector<PlannedTable> Tables;
};

/// Makes the file, which must not exist, with room for all values but without the signature at its beginning: it
/// is none for any HDF5 library until GiveSignature(), so that nobody takes room for values. Returns where the
/// data sets and then the tables of the plan begin, in their order. Throws Error.
std::vector<std::uint64_t> LayOut(const std::string& path, const StepFilePlan& plan);
/// Throws Error.
void GiveSignature(const std::string& path);

}  // namespace patchio::container

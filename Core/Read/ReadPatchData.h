// Two-level reading with one call, after the ReadPatchData interface of S. Liu et al., "Two Level Parallel
// Data Read Acceleration Method for Visualization in Scientific Computing" (manuscript of 2016). The function
// does not depend on VTK. Not collective: every rank makes the call for its own patches.
#pragma once

#include "Catalog/Location.h"
#include "Io/MemoryPool.h"
#include "Tuning/IoReport.h"

#include <cstdint>
#include <string>
#include <vector>

namespace patchio {

enum class ReadError : int
{
  None = 0,
  BadSummary = 1,       ///< the summary is missing, broken or changed during the call; nothing was read
  UnknownPatch = 2,     ///< an id outside the data set, null ids, or a negative count; nothing was read
  UnknownVariable = 3,  ///< unknown or null names, or a negative count; nothing was read
  BadData = 4,          ///< some variables of some patches could not be read, see VariableData::Error
  OutOfMemory = 5,      ///< nothing was read
  Internal = 6          ///< the read failed for another reason, see Message; nothing was read
};

/// One variable on one patch.
struct VariableData
{
  std::string Name;
  ReadError Error = ReadError::None;
  bool Absent = false;  ///< the variable does not exist on this patch; no error
  ElementType Type = ElementType::Float32;
  int Components = 0;
  std::int64_t Tuples = 0;  ///< values per component, ghost layers included as stored
  std::size_t Bytes = 0;    ///< size of Data: Tuples x Components values, component fastest, axis 0 next
  Buffer Data;              ///< null unless read
};

/// All requested variables on one patch.
struct PatchData
{
  int Id = 0;  ///< global patch number
  std::vector<VariableData> Variables;
};

struct ReadPatchDataResult
{
  ReadError Error = ReadError::None;
  std::string Message;  ///< text for the user; empty without error
  std::vector<PatchData> Patches;
  IoReport Report;
};

/// Reads variables on patches of one dump, at the first step of its summary. Bad files cause no exception;
/// the result holds the error.
///
/// `summaryFile`: the file that describes the dump, for SAMRAI its summary.samrai.
/// `patchIds`, `patchCount`: global patch numbers, 0-based, each at most once.
/// `variableNames`, `variableCount`: names as in the summary; (nullptr, 0) means all variables. For both
///   lists, a null array with a count that is not 0 is an error.
/// `threads`: NT, >= 1; ThreadsOfRank() computes NT from N* and NC.
/// Returns the patches in the order of `patchIds`.
ReadPatchDataResult ReadPatchData(const std::string& summaryFile, const int* patchIds, int patchCount,
    const char* const* variableNames, int variableCount, int threads);

}  // namespace patchio

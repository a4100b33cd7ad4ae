// The arrays that each rank has of a step, and the messages by which ranks inform each other.
#pragma once

#include "Write/Declaration.h"

#include <string>
#include <vector>

namespace patchio::output {

/// A variable on a patch.
struct ArrayOfStep
{
  int Variable = 0;
  int Patch = 0;  ///< index in the catalog
  const void* Values = nullptr;
  bool Whole = true;            ///< some sink needs the whole array; see PartialTarget
  const void* Given = nullptr;  ///< the simulation's array, with ghosts
};

/// Encodes the list of a rank's arrays, sorted by variable and then by patch. `hasAll`: no patch lacks a
/// variable. That is the usual case, which takes one byte.
std::string TellArrays(const std::vector<ArrayOfStep>& arrays, bool hasAll);
/// Encodes the message that this rank cannot provide its arrays, with the reason.
std::string TellFault(const std::string& fault);

/// Throws Error if `told` is a message of TellFault().
void CheckTold(const std::string& told);

/// Decodes the list that `rank` encoded with TellArrays(): its arrays in the same order, without values.
std::vector<ArrayOfStep> ArraysTold(
    const std::string& told, int rank, const Declaration& declared, const std::vector<bool>& wanted);

}  // namespace patchio::output

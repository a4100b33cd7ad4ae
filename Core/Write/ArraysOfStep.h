// Which arrays there are of a step: what ranks tell each other of them.
#pragma once

#include "Write/Declaration.h"

#include <string>
#include <vector>

namespace patchio::output {

/// A variable on a patch.
struct ArrayOfStep
{
  int Variable = 0;
  int Patch = 0;  ///< in the catalog
  const void* Values = nullptr;
  bool Whole = true;            ///< some sink wants all of it: see PartsTarget
  const void* Given = nullptr;  ///< by the simulation, with ghosts
};

/// What a rank tells the others of its arrays of the variables that are wanted, by variable and then by
/// patch. hasAll: no patch lacks a variable, as most often, which takes one byte.
std::string TellArrays(const std::vector<ArrayOfStep>& arrays, bool hasAll);
/// That it cannot give them, and why.
std::string TellFault(const std::string& fault);

/// Throws Error when it was a fault.
void CheckTold(const std::string& told);

/// The arrays that a rank has told of, in the same order, without values.
std::vector<ArrayOfStep> ArraysTold(
    const std::string& told, int rank, const Declaration& declared, const std::vector<bool>& wanted);

}  // namespace patchio::output

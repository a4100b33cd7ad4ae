#include "Write/ArraysOfStep.h"

#include "Base/Error.h"

namespace patchio::output {
namespace {

enum Tells : char
{
  Fault = 'f',
  All = 'a',
  Some = 's'
};

}  // namespace

std::string TellArrays(const std::vector<ArrayOfStep>& arrays, bool hasAll)
{
  if (hasAll) {
    return std::string(1, Tells::All);
  }
  std::vector<std::array<int, 2>> there;
  for (const ArrayOfStep& array : arrays) {
    there.push_back({array.Variable, array.Patch});
  }
  return char(Tells::Some) + TextOfValues(there);
}

std::string TellFault(const std::string& fault)
{
  return char(Tells::Fault) + fault;
}

void CheckTold(const std::string& told)
{
  if (told[0] == Tells::Fault) {
    throw Error(told.substr(1));
  }
}

std::vector<ArrayOfStep> ArraysTold(
    const std::string& told, int rank, const Declaration& declared, const std::vector<bool>& wanted)
{
  std::vector<ArrayOfStep> arrays;
  for (const auto& [variable, patch] : ValuesInTexts<std::array<int, 2>>({told.substr(1)})) {
    arrays.push_back({variable, patch});
  }
  for (std::size_t variable = 0; variable < wanted.size() && told[0] == Tells::All; ++variable) {
    for (const int patch : wanted[variable] ? declared.PatchesOf(rank) : std::vector<int>()) {
      arrays.push_back({static_cast<int>(variable), patch});
    }
  }
  return arrays;
}

}  // namespace patchio::output

#include "Output/OutputStep.h"

namespace patchio::output {

std::uint64_t Output::Step::BytesToCopy(bool all) const
{
  std::uint64_t bytes = 0;
  for (const ArrayOfStep& array : this->Arrays) {
    bytes += array.Whole && (all || this->What->HasGhosts(array.Variable))
                 ? this->What->BytesOf(array.Variable, array.Patch)
                 : 0;
  }
  return bytes;
}

void Output::Step::CopyArrays(bool all)
{
  this->Copies.reset(new std::byte[this->BytesToCopy(all)]);  // not set to 0 first
  std::byte* next = this->Copies.get();
  for (ArrayOfStep& array : this->Arrays) {
    if (array.Whole && (all || this->What->HasGhosts(array.Variable))) {
      this->What->CopyInside(array.Variable, array.Patch, array.Values, next);
      array.Values = next;
      next += this->What->BytesOf(array.Variable, array.Patch);
    }
  }
}

void Output::Step::Pack(std::byte* to) const
{
  for (const ArrayOfStep& array : this->Arrays) {
    this->What->CopyInside(array.Variable, array.Patch, array.Values, to);
    to += this->What->BytesOf(array.Variable, array.Patch);
  }
}

}  // namespace patchio::output

// Which file holds a step, and where in it: names made of templates, and the order of values in a file.
#pragma once

#include "Formats/GRADS/GradsDescriptor.h"

#include <cstdint>
#include <string>

namespace patchio::grads {

/// Name of the file that holds a step of a member. Throws Error when the template has a part that GrADS does
/// not know.
std::string FileName(const Descriptor& descriptor, std::int64_t step, std::int64_t member);

/// True when each member of the ensemble has files of its own.
bool HasFilesOfMembers(const Descriptor& descriptor);

/// A step's place in its files.
struct StepPlace
{
  std::int64_t Index = 0;  ///< among the steps of the file
  std::int64_t Count = 1;  ///< steps that the file holds
};
/// Steps that follow each other and have the same file name lie in that file, one after another.
StepPlace PlaceOfStep(const Descriptor& descriptor, std::int64_t step);

/// Where values lie in a file.
class FileLayout
{
public:
  explicit FileLayout(const Descriptor& descriptor);

  /// Bytes from a field to the next one of the same variable.
  std::int64_t FieldStride() const { return this->Stride; }
  /// Where the first value of a field lies in its file. `level`: as stored, 0 the first.
  std::int64_t Offset(const StepPlace& step, std::int64_t member, int variable, std::int64_t level) const;
  /// Bytes that a file of so many steps has.
  std::int64_t FileBytes(std::int64_t steps) const;
  /// How many of so many steps, from the first one on, lie completely in a file of this size.
  std::int64_t StepsIn(std::int64_t steps, std::int64_t fileBytes) const;

private:
  const Descriptor& Description;
  std::vector<std::int64_t> FieldsBefore;  ///< of each variable, and of all
  std::int64_t Members = 1;                ///< in a file
  std::int64_t TimeHead = 0;
  std::int64_t Stride = 0, TimeBytes = 0;
};

}  // namespace patchio::grads

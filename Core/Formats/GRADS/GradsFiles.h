// The file of each step, with names from templates, and the order of values in a file.
#pragma once

#include "Formats/GRADS/GradsDescriptor.h"

#include <cstdint>
#include <string>

namespace patchio::grads {

/// Returns the path of the file that has a step of a member. `step` and `member` count from 0. Throws Error
/// when GrADS does not know a substitution in the template, or CHSUB has no text for the step.
std::string FileName(const Descriptor& descriptor, std::int64_t step, std::int64_t member);

/// Returns whether each member of the ensemble has its own files.
bool HasFilePerMember(const Descriptor& descriptor);

/// The position of a step in its files.
struct StepPosition
{
  std::int64_t Index = 0;  ///< number among the steps of the file
  std::int64_t Count = 1;  ///< number of steps in the file
};
/// Returns the position of a step. Consecutive steps with the same file name follow each other in that file.
StepPosition StepPositionOf(const Descriptor& descriptor, std::int64_t step);

/// The offsets of values in a file, in bytes.
class FileLayout
{
public:
  /// Keeps a reference to `descriptor`.
  explicit FileLayout(const Descriptor& descriptor);

  /// Returns the distance between two successive fields of a variable.
  std::int64_t FieldStride() const { return this->Stride; }
  /// Returns the offset of a field's first value. `level`: number of the level in the order of the file, from
  /// 0.
  std::int64_t Offset(const StepPosition& step, std::int64_t member, int variable, std::int64_t level) const;
  /// Returns the size of a file with `steps` steps.
  std::int64_t FileBytes(std::int64_t steps) const;
  /// Returns the number of complete steps, from the first, in a file of `fileBytes` bytes that should have
  /// `steps` steps. Returns 0 for a shorter file whose missing end belongs to all steps: a file with several
  /// members, or with all times of a variable before the next variable.
  std::int64_t CompleteSteps(std::int64_t steps, std::int64_t fileBytes) const;

private:
  const Descriptor& Description;
  std::vector<std::int64_t> FieldsBefore;  ///< number of fields before each variable, and of all variables
  std::int64_t Members = 1;                ///< number of members per file
  std::int64_t TimeHeaderBytes = 0;
  std::int64_t Stride = 0, TimeBytes = 0;
};

}  // namespace patchio::grads

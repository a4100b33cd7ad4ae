// What a GrADS descriptor (.ctl) says: grid, times, variables, and how the data files are laid out.
#pragma once

#include "Catalog/Extent.h"
#include "Formats/GRADS/GradsCalendar.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchio::grads {

struct GradsVariable
{
  std::string Name;      ///< different from all others
  std::string LongName;  ///< the description
  int Levels = 0;        ///< 0: a field without a level
  /// Horizontal fields, one after another.
  std::int64_t Fields() const { return this->Levels > 0 ? this->Levels : 1; }
};

/// A part of CHSUB: `Text` stands for %ch from step First to Last, 1 the first.
struct Substitution
{
  std::int64_t First = 1, Last = 1;
  std::string Text;
};

struct TimeAxis
{
  std::int64_t Count = 1;
  Date Start;
  Increment Step;
  Calendar Days = Calendar::Gregorian;

  std::int64_t Minutes(std::int64_t index) const
  {
    return MinutesOfStep(this->Start, this->Step, index, this->Days);
  }
  Date DateAt(std::int64_t index) const { return DateOf(this->Minutes(index), this->Days); }
};

/// Bytes beside the values.
struct Headers
{
  std::int64_t File = 0;         ///< FILEHEADER, once
  std::int64_t Time = 0;         ///< THEADER, before each time
  std::int64_t TimeTrailer = 0;  ///< TRAILERBYTES, after each time
  std::int64_t Field = 0;        ///< XYHEADER, before each horizontal field
  std::int64_t FieldTrailer = 0;
};

/// A descriptor whose parts fit each other. All sizes are such that products of them do not overflow.
struct Descriptor
{
  std::string Path;  ///< absolute
  std::string Text;  ///< all of it
  std::string Data;  ///< name of the data file, or template for it; from the descriptor's folder on
  bool Template = false;
  bool Sequential = false;  ///< each horizontal field is a record of Fortran
  bool BigEndian = false;
  bool RowsReversed = false;    ///< north to south
  bool LevelsReversed = false;  ///< last level first, in each variable
  bool VariablesOutsideTimes = false;
  ElementType Type = ElementType::Float32;
  std::optional<double> Undefined;
  Headers Extra;
  std::vector<double> X, Y;  ///< of the file's grid; increasing
  std::vector<double> Z;     ///< levels as they are listed
  bool Pascals = false;      ///< unit of Z, if it is a pressure
  TimeAxis Times;
  std::vector<std::string> Members;  ///< of the ensemble; empty: there is none
  std::vector<GradsVariable> Variables;
  std::vector<Substitution> Substitutions;
  std::string Projection;  ///< PDEF's word; empty: X and Y are longitudes and latitudes
  std::vector<std::string> Notes;

  std::int64_t FieldBytes() const
  {
    return static_cast<std::int64_t>(this->X.size() * this->Y.size() * SizeOf(this->Type));
  }
  /// Members of the ensemble, 1 where there is none.
  std::int64_t MemberCount() const
  {
    return this->Members.empty() ? 1 : static_cast<std::int64_t>(this->Members.size());
  }
};

/// Throws Error, with the number of the line, when the file is no descriptor of gridded binary data or
/// contradicts itself.
Descriptor ReadDescriptor(const std::string& path);
/// The same of a file that was read before.
Descriptor ParseDescriptor(const std::string& path, const std::string& text);

}  // namespace patchio::grads

// Least and greatest values on patches, as a summary has them.
#include "Formats/SAMRAI/SamraiFormat.h"
#include "Formats/SAMRAI/SamraiRecords.h"
#include "Hdf5/File.h"

namespace patchio::samrai {

/// For ordinary scalars only. SAMRAI takes the ranges before it rounds doubles to floats, so they are
/// widened.
std::vector<ValueRange> SamraiFormat::RangesOf(const Catalog& catalog, int variable) const
{
  const Variable& wanted = catalog.Variables[variable];
  const hdf5::File file(catalog.Path);
  const std::string dataset = "/extents/" + wanted.StoredName + "-Extents";
  if (wanted.Components != 1 || wanted.Material >= 0 || !file.Has(dataset)) {
    return {};
  }
  std::vector<MinMax> records(catalog.Patches.size());
  file.Records(dataset, records.size(), MembersOfMinMax(Members::All), sizeof(MinMax), records.data());
  std::vector<ValueRange> ranges;
  for (const MinMax& record : records) {
    ranges.push_back(record.Defined ? RangeOfFloats(record.Min, record.Max) : ValueRange::None());
  }
  return ranges;
}

}  // namespace patchio::samrai

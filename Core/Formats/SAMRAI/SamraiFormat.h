// The format of SAMRAI's VisIt dumps: dumps.visit, summary.samrai and processor_cluster.*.samrai. README.md
// in this folder documents the format.
#pragma once

#include "Formats/Format.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace patchio::samrai {

// Names of files, folders, groups and data sets in a dump.
constexpr const char* DumpListName = "dumps.visit";
constexpr const char* SummaryName = "summary.samrai";
constexpr const char* DumpPrefix = "visit_dump.";

/// Returns a name like "patch.00012": the prefix and a number >= 0 with at least five digits.
inline std::string Numbered(const std::string& prefix, std::int64_t number)
{
  return fmt::format("{}{:05}", prefix, number);
}

inline std::string ClusterName(int file)
{
  return Numbered("processor_cluster.", file) + ".samrai";
}

/// Returns the name of the data set of one component of the variable `name`: "<name>", or "<name>.07" if the
/// variable has several components.
inline std::string ComponentName(const std::string& name, int components, int component)
{
  return components == 1 ? name : fmt::format("{}.{:02}", name, component);
}

class SamraiFormat : public Format
{
public:
  const char* Name() const override { return "SAMRAI"; }
  const char* SupportedFiles() const override { return "a SAMRAI dumps.visit or summary.samrai"; }
  bool Claims(const std::string& path) const override;
  bool SeemsBroken(const std::string& path) const override;
  Series OpenSeries(const std::string& path, const SeriesOptions& options) const override;
  Catalog ReadCatalog(const std::string& path) const override;
  std::vector<ValueRange> RangesOf(const Catalog& catalog, int variable) const override;
  LocationTable Locate(const Catalog& catalog, const std::vector<PatchVariable>& requests,
      const LocateOptions& options) const override;
};

/// Reads only the time and the step of a dump. `path`: path of the summary. Throws Error when the file is not
/// a summary, or lacks the time or the step.
TimeStep ReadSummaryHead(const std::string& path);

}  // namespace patchio::samrai

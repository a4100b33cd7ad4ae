#include "Formats/AMReX/AmrexWhereabouts.h"

#include "Support/Bytes.h"
#include "Support/Require.h"

#include <algorithm>

namespace patchio::amrex {

std::vector<std::byte> Pack(const Whereabouts& whereabouts)
{
  ByteWriter out;
  out.Put(JoinTexts(whereabouts.Files));
  for (const FabStyle& style : whereabouts.Levels) {
    out.Put(style.Kind.Type);
    out.Put<std::uint8_t>(style.Kind.BigEndian);
    out.Put<std::uint8_t>(style.Headers);
    out.Put<std::uint8_t>(style.Nodes);
  }
  out.Put(whereabouts.Fabs);
  return out.Take();
}

Whereabouts WhereaboutsOf(const Catalog& catalog)
{
  constexpr Requirement Require("What is known of the plotfile");
  Whereabouts whereabouts;
  ByteReader in(catalog.FormatData);
  std::string files;
  in.Get(files);
  whereabouts.Files = SplitTexts(files);
  for (std::size_t level = 0; level < catalog.Levels.size(); ++level) {
    FabStyle& style = whereabouts.Levels.emplace_back();
    in.Get(style.Kind.Type);
    style.Kind.BigEndian = in.Get<std::uint8_t>() != 0;
    style.Headers = in.Get<std::uint8_t>() != 0;
    style.Nodes = in.Get<std::uint8_t>() != 0;
    Require(style.Kind.Type == ElementType::Float32 || style.Kind.Type == ElementType::Float64,
        "numbers of an impossible kind");
  }
  in.Get(whereabouts.Fabs);
  Require(whereabouts.Fabs.size() == catalog.Patches.size(), "another number of patches");
  const int fileCount = static_cast<int>(whereabouts.Files.size());
  Require(std::all_of(catalog.Patches.begin(), catalog.Patches.end(),
              [fileCount](const Patch& patch) { return patch.File >= 0 && patch.File < fileCount; }),
      "patches in files without a name");
  return whereabouts;
}

}  // namespace patchio::amrex
